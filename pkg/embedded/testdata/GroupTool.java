import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.internals.Exit;
import org.apache.kafka.tools.consumer.group.ConsumerGroupCommand;

/** Runs kafka-consumer-groups once for each line of its input: arguments, with tabs between them. */
public class GroupTool {
    static class Exited extends RuntimeException {
        final int code;

        Exited(int code) {
            this.code = code;
        }
    }

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((code, message) -> {
            throw new Exited(code);
        });
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> all = new ArrayList<>(List.of(args));
            all.addAll(List.of(line.split("\t")));
            int code = 0;
            System.setErr(System.out);
            try {
                ConsumerGroupCommand.main(all.toArray(new String[0]));
            } catch (Exited e) {
                code = e.code;
            } catch (Throwable e) {
                e.printStackTrace();
                code = 99;
            }
            System.out.println();
            System.out.println("== exit " + code);
            System.out.flush();
        }
    }
}
