import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.metadata.MetadataJsonConverters;
import org.apache.kafka.common.metadata.MetadataRecordType;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Answers one question per line of standard input, fields separated by tabs:
 *
 *   schemas                           all schemas, as a JSON object by name
 *   versions                          level, then RegisterBroker's, Partition's and
 *                                     PartitionChange's version at it, for each level that
 *                                     that Kafka supports
 *   encode   TYPE     VERSION JSON    a data record's value, in hexadecimal
 *   decode   HEX                      {"type": ..., "version": ..., "data": ...}
 *   control  MESSAGE  VERSION JSON    the same of a control record, named as its class
 *   uncontrol MESSAGE VERSION HEX
 *
 * An answer is "ok" or "throws", a tab, and the result or the exception.
 */
public class Oracle {
    static final ObjectMapper MAPPER = new ObjectMapper().configure(JsonParser.Feature.ALLOW_COMMENTS, true);
    static final String MESSAGES = "org.apache.kafka.common.message.";

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line; (line = in.readLine()) != null; ) {
            try {
                out.print("ok\t" + answer(line.split("\t")) + "\n");
            } catch (Exception e) {
                Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
                out.print("throws\t" + cause.toString().replaceAll("\\s+", " ") + "\n");
            }
        }
        out.flush();
    }

    static String answer(String[] q) throws Exception {
        switch (q[0]) {
            case "schemas":
                return schemas();
            case "versions":
                return versions();
            case "encode":
                return encode(Short.parseShort(q[1]), Short.parseShort(q[2]), MAPPER.readTree(q[3]));
            case "decode":
                return decode(HexFormat.of().parseHex(q[1]));
            case "control":
                return hex((Message) converter(q[1]).getMethod("read", JsonNode.class, short.class)
                    .invoke(null, MAPPER.readTree(q[3]), Short.parseShort(q[2])), Short.parseShort(q[2]));
            case "uncontrol":
                return uncontrol(q[1], Short.parseShort(q[2]), HexFormat.of().parseHex(q[3]));
            default:
                throw new IllegalArgumentException(q[0]);
        }
    }

    static String encode(short type, short version, JsonNode json) {
        ApiMessage message = MetadataJsonConverters.readJson(json, type, version);
        var record = new ApiMessageAndVersion(message, version);
        var cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(record, cache));
        MetadataRecordSerde.INSTANCE.write(record, cache, new ByteBufferAccessor(buffer));
        return HexFormat.of().formatHex(buffer.array());
    }

    static String decode(byte[] value) {
        ApiMessageAndVersion record = MetadataRecordSerde.INSTANCE.read(
            new ByteBufferAccessor(ByteBuffer.wrap(value)), value.length);
        var node = MAPPER.createObjectNode();
        node.put("type", MetadataRecordType.fromId(record.message().apiKey()).name());
        node.put("version", record.version());
        node.set("data", MetadataJsonConverters.writeJson(record.message(), record.version()));
        return node.toString();
    }

    static Class<?> converter(String message) throws Exception {
        return Class.forName(MESSAGES + message + "JsonConverter");
    }

    static String hex(Message message, short version) {
        var cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return HexFormat.of().formatHex(buffer.array());
    }

    static String uncontrol(String name, short version, byte[] value) throws Exception {
        Class<?> type = Class.forName(MESSAGES + name);
        Object message = type.getConstructor(Readable.class, short.class)
            .newInstance(new ByteBufferAccessor(ByteBuffer.wrap(value)), version);
        return converter(name).getMethod("write", type, short.class).invoke(null, message, version).toString();
    }

    static String versions() {
        var result = new StringBuilder();
        for (MetadataVersion v : MetadataVersion.values()) {
            if (v.featureLevel() < 0 || v.compareTo(MetadataVersion.latestProduction()) > 0) {
                continue; // of ZooKeeper's clusters, or not yet fixed
            }
            result.append(v.featureLevel()).append(' ').append(v.registerBrokerRecordVersion()).append(' ')
                .append(v.partitionRecordVersion()).append(' ').append(v.partitionChangeRecordVersion()).append(';');
        }
        return result.toString();
    }

    static String schemas() throws Exception {
        var all = MAPPER.createObjectNode();
        for (Class<?> inJar : new Class<?>[] {MetadataRecordType.class, LeaderChangeMessage.class}) {
            File file = new File(inJar.getProtectionDomain().getCodeSource().getLocation().toURI());
            try (var jar = new JarFile(file)) {
                for (JarEntry e : java.util.Collections.list(jar.entries())) {
                    if (e.getName().matches("common/(metadata|message)/.*\\.json")) {
                        JsonNode schema = MAPPER.readTree(jar.getInputStream(e));
                        all.set(schema.get("name").asText(), schema);
                    }
                }
            }
        }
        return all.toString();
    }
}
