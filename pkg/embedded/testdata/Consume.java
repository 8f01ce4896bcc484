import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A member of a classic group that tells what it reads and commits, until its input ends. */
public class Consume {
    public static void main(String[] args) throws Exception {
        String topic = args[1], name = args[3];
        Properties p = new Properties();
        p.put("bootstrap.servers", args[0]);
        p.put("group.id", args[2]);
        p.put("client.id", name);
        p.put("group.protocol", "classic");
        p.put("auto.offset.reset", "earliest");
        p.put("enable.auto.commit", "false");
        p.put("max.poll.records", "50");
        p.put("heartbeat.interval.ms", "100");
        p.put("retry.backoff.ms", "20");
        p.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
        if (name.startsWith("static-")) {
            p.put("group.instance.id", name);
        }
        AtomicBoolean ended = new AtomicBoolean();
        Thread input = new Thread(() -> {
            try {
                while (System.in.read() >= 0) { }
            } catch (java.io.IOException e) {
                // It has ended as well.
            }
            ended.set(true);
        });
        input.setDaemon(true);
        input.start();
        try (KafkaConsumer<String, String> c = new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer())) {
            c.subscribe(List.of(topic));
            while (!ended.get()) {
                ConsumerRecords<String, String> records = c.poll(Duration.ofMillis(50));
                Map<TopicPartition, OffsetAndMetadata> next = new java.util.HashMap<>();
                for (ConsumerRecord<String, String> r : records) {
                    System.out.println("read " + r.partition() + " " + r.offset() + " " + r.key());
                    next.put(new TopicPartition(topic, r.partition()), new OffsetAndMetadata(r.offset() + 1));
                }
                System.out.flush();
                if (next.isEmpty()) {
                    continue;
                }
                try {
                    c.commitSync(next);
                } catch (KafkaException e) {
                    System.err.println(name + ": " + e);
                    continue;
                }
                next.forEach((tp, o) -> System.out.println("committed " + tp.partition() + " " + o.offset()));
                System.out.flush();
            }
        }
    }
}
