import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.stats.SimpleRate;

/** Counts and measures as told on standard input: "count MS BYTES" and "rate MS". */
public class Rate {
    public static void main(String[] args) {
        MetricConfig config = new MetricConfig().samples(Integer.parseInt(args[0])).timeWindow(Long.parseLong(args[1]), TimeUnit.MILLISECONDS);
        SimpleRate rate = new SimpleRate();
        for (Scanner in = new Scanner(System.in); in.hasNext();) {
            if (in.next().equals("count")) {
                long ms = in.nextLong();
                rate.record(config, in.nextLong(), ms);
            } else {
                System.out.println(rate.measure(config, in.nextLong()));
            }
        }
    }
}
