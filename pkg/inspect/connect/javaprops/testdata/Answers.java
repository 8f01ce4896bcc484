import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;

/**
 * Answers what Java and Kafka make of the questions on standard input, a line
 * for a line, in the same order. A question is a word and text in hexadecimal:
 *
 *   properties FILE   bytes of a file
 *   jaas TEXT         UTF-16 of a JAAS configuration
 *   TYPE TEXT         UTF-16 of a value of that type of ConfigDef
 *
 * An answer is the name of an exception's class behind "throws", or "ok" and
 * strings, each "-" for null, else ":" and UTF-16 in hexadecimal: half of
 * a surrogate pair has no other form.
 */
public class Answers {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err); // for what Kafka logs
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line; (line = in.readLine()) != null; ) {
            String[] question = line.split(" ", 2);
            String answer;
            try {
                answer = "ok" + answer(question[0], HEX.parseHex(question[1]));
            } catch (Exception e) {
                answer = "throws " + e.getClass().getSimpleName();
            }
            out.print(answer + "\n");
        }
        out.flush();
    }

    private static String answer(String kind, byte[] data) throws Exception {
        StringBuilder out = new StringBuilder();
        if (kind.equals("properties")) {
            Properties props = new Properties();
            props.load(new ByteArrayInputStream(data));
            props.forEach((key, value) -> add(out, key, value));
            return out.toString();
        }
        String text = new String(data, StandardCharsets.UTF_16BE);
        if (kind.equals("jaas")) {
            Map<String, Object> configs = Map.of("sasl.jaas.config", new Password(text));
            List<AppConfigurationEntry> entries = JaasContext.loadClientContext(configs).configurationEntries();
            if (entries.size() != 1)
                throw new AssertionError(entries.size() + " entries");
            AppConfigurationEntry entry = entries.get(0);
            add(out, entry.getLoginModuleName(), flag(entry));
            entry.getOptions().forEach((key, value) -> add(out, key, value));
            return out.toString();
        }
        Object value = ConfigDef.parseType("name", text, ConfigDef.Type.valueOf(kind));
        if (value instanceof List)
            ((List<?>) value).forEach(part -> add(out, part));
        else
            add(out, value instanceof Password ? ((Password) value).value() : value);
        return out.toString();
    }

    private static String flag(AppConfigurationEntry entry) {
        String text = entry.getControlFlag().toString(); // "LoginModuleControlFlag: required"
        return text.substring(text.lastIndexOf(' ') + 1);
    }

    private static void add(StringBuilder out, Object... parts) {
        for (Object part : parts) {
            out.append(part == null ? " -" : " :");
            if (part != null) // no Charset, which would lose half of a pair
                part.toString().chars().forEach(unit -> out.append(HEX.toHexDigits((char) unit)));
        }
    }
}
