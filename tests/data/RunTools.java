import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Base64;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/** Runs a command of mqadmin for each line on standard input; what it prints goes out as one line in Base64. */
public class RunTools {
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            PrintStream taken = new PrintStream(printed, true, "UTF-8");
            System.setOut(taken);
            System.setErr(taken);
            MQAdminStartup.main0(line.split(" "), null);
            out.println(Base64.getEncoder().encodeToString(printed.toByteArray()));
            out.flush();
        }
        System.exit(0);
    }
}
