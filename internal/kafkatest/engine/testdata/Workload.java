import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** A producer or a consumer of Kafka's own, until its standard input ends. */
class Workload {
    public static void main(String[] args) throws Exception {
        Properties p = new Properties();
        p.put("bootstrap.servers", args[1]);
        String topic = args[2];
        p.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        p.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        p.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        p.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        Thread end = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                }
            } catch (java.io.IOException e) {
                // It has ended all the same.
            }
        });
        end.start();
        if (args[0].equals("produce")) {
            produce(p, topic, Integer.parseInt(args[3]), end);
        } else {
            consume(p, topic, args[3], end);
        }
    }

    /** Sends a record each so many microseconds and prints each that is acknowledged. */
    static void produce(Properties p, String topic, int everyUs, Thread end) throws Exception {
        // acks=all and enable.idempotence=true are the defaults.
        AtomicReference<Exception> failed = new AtomicReference<>();
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(p)) {
            for (int i = 0; end.isAlive() && failed.get() == null; i++) {
                String value = "java-" + i;
                producer.send(new ProducerRecord<>(topic, value, value), (at, e) -> {
                    if (e != null) {
                        failed.set(e);
                        return;
                    }
                    print("ack " + at.partition() + " " + at.offset() + " " + value);
                });
                Thread.sleep(everyUs / 1000);
            }
        }
        if (failed.get() != null) {
            throw failed.get();
        }
    }

    /** Prints what it reads as a member of a group, and commits it. */
    static void consume(Properties p, String topic, String group, Thread end) {
        p.put("group.id", group);
        p.put("enable.auto.commit", "false");
        p.put("auto.offset.reset", "earliest");
        p.put("session.timeout.ms", "6000");
        p.put("heartbeat.interval.ms", "500");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(p)) {
            consumer.subscribe(List.of(topic));
            while (end.isAlive()) {
                var records = consumer.poll(Duration.ofMillis(200));
                records.forEach(r -> print("read " + r.partition() + " " + r.offset() + " " + r.value()));
                try {
                    consumer.commitSync();
                } catch (org.apache.kafka.clients.consumer.CommitFailedException e) {
                    // The group has moved on: another member reads these again.
                } catch (org.apache.kafka.common.errors.RebalanceInProgressException e) {
                    // The next poll joins again.
                }
            }
        }
    }

    static synchronized void print(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
