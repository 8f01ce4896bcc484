import java.util.TreeMap;

import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.server.config.AbstractKafkaConfig;

/** Prints the bounds of a broker's numbers as Kafka's own checks say them: name, bounds. */
public class Bounds {
    public static void main(String[] args) {
        for (ConfigDef.ConfigKey k : new TreeMap<>(AbstractKafkaConfig.CONFIG_DEF.configKeys()).values()) {
            if (k.validator instanceof ConfigDef.Range) {
                System.out.println(k.name + " " + k.validator);
            }
        }
    }
}
