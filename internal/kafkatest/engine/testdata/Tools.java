import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs Kafka's command-line tools one after the other in one Java machine, whose start takes longer than they do.
 *
 * Reads lines of fields between tabs: a class, what it finds on its standard input, its arguments. Answers each with
 * lines that begin with "out " or "err ", and one like "exit 0".
 */
public class Tools {
    private static class Ended extends RuntimeException {
        final int status;

        Ended(int status) {
            super(null, null, false, false);
            this.status = status;
        }
    }

    private static Integer first;

    public static void main(String[] args) throws Exception {
        System.setProperty("org.apache.logging.log4j.level", "OFF");
        PrintStream answers = System.out;
        Exit.Procedure end = (status, message) -> {
            if (first == null)
                first = status;
            throw new Ended(status);
        };
        Exit.setExitProcedure(end);
        Exit.setHaltProcedure(end);
        Exit.setShutdownHookAdder((name, hook) -> { });
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] fields = line.split("\t", -1);
            ByteArrayOutputStream out = new ByteArrayOutputStream(), err = new ByteArrayOutputStream();
            System.setIn(new ByteArrayInputStream(fields[1].replace("\\n", "\n").getBytes()));
            System.setOut(new PrintStream(out, true));
            System.setErr(new PrintStream(err, true));
            int status = run(fields[0], Arrays.copyOfRange(fields, 2, fields.length));
            print(answers, "out ", out);
            print(answers, "err ", err);
            answers.println("exit " + status);
            answers.flush();
        }
    }

    private static int run(String name, String[] args) {
        first = null;
        try {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof Ended)) {
                e.getCause().printStackTrace();
                return 1;
            }
        } catch (ReflectiveOperationException e) {
            e.printStackTrace();
            return 1;
        }
        return first == null ? 0 : first;
    }

    private static void print(PrintStream to, String prefix, ByteArrayOutputStream text) {
        text.toString().lines().forEach(line -> to.println(prefix + line));
    }
}
