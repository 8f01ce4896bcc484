import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.HashMap;
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

/** Members of a classic group that tell what they read and commit. Input: start NAME, stop NAME. */
public class Consume {
    static String bootstrap, topic, group;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        topic = args[1];
        group = args[2];
        Map<String, AtomicBoolean> ends = new HashMap<>();
        Map<String, Thread> members = new HashMap<>();
        say("ready - 0 0 -");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            String name = words[1];
            if (words[0].equals("start")) {
                AtomicBoolean end = new AtomicBoolean();
                Thread t = new Thread(() -> consume(name, end));
                ends.put(name, end);
                members.put(name, t);
                t.start();
            } else {
                ends.get(name).set(true);
                members.remove(name).join();
                say("stopped " + name + " 0 0 -");
            }
        }
        for (AtomicBoolean end : ends.values()) {
            end.set(true);
        }
        for (Thread t : members.values()) {
            t.join();
        }
    }

    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    static void consume(String name, AtomicBoolean end) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("group.id", group);
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
        try (KafkaConsumer<String, String> c = new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer())) {
            c.subscribe(List.of(topic));
            while (!end.get()) {
                ConsumerRecords<String, String> records = c.poll(Duration.ofMillis(50));
                Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
                for (ConsumerRecord<String, String> r : records) {
                    say("read " + name + " " + r.partition() + " " + r.offset() + " " + r.key());
                    next.put(new TopicPartition(topic, r.partition()), new OffsetAndMetadata(r.offset() + 1));
                }
                if (next.isEmpty()) {
                    continue;
                }
                try {
                    c.commitSync(next);
                } catch (KafkaException e) {
                    System.err.println(name + ": " + e);
                    continue;
                }
                next.forEach((tp, o) -> say("committed " + name + " " + tp.partition() + " " + o.offset() + " -"));
            }
        }
    }
}
