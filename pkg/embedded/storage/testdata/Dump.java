import org.apache.kafka.tools.DumpLogSegments;

/** Runs kafka-dump-log once for each group of arguments; "--" ends a group. */
public class Dump {
    public static void main(String[] args) throws Exception {
        java.util.List<String> group = new java.util.ArrayList<>();
        for (String a : args) {
            if (!a.equals("--")) {
                group.add(a);
                continue;
            }
            System.out.println("$ " + String.join(" ", group));
            DumpLogSegments.main(group.toArray(new String[0]));
            group.clear();
        }
    }
}
