import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.SimpleConsumer;
import org.apache.rocketmq.client.apis.message.MessageView;

/** A push or a simple consumer by rocketmq-client-java, as a program that `client?protocol=grpc:COMMAND` judges. */
public class Consumer {
    private static final Pattern WORD = Pattern.compile("\"(\\w+)\": (?:\"([^\"]*)\"|(\\d+))");
    private static final Map<String, MessageView> MESSAGES = new HashMap<>();
    private static final CountDownLatch STARTED = new CountDownLatch(1);
    private static volatile boolean succeeds = true;
    private static SimpleConsumer simple;

    public static void main(String[] args) throws Exception {
        boolean isSimple = "simple".equals(System.getenv("ROCKETMQ_KIND"));
        System.out.println(isSimple ? "{\"takes\": [\"receive\"]}" : "{\"takes\": [\"listen\"]}");
        new Thread(Consumer::obey).start();
        ClientConfiguration configuration = ClientConfiguration.newBuilder()
            .setEndpoints(System.getenv("ROCKETMQ_ENDPOINTS"))
            .enableSsl(false)
            .build();
        AutoCloseable consumer = isSimple ? simple(configuration) : push(configuration);
        STARTED.countDown();
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                consumer.close();
            } catch (Exception failed) {
                failed.printStackTrace();
            }
            ended.countDown();
        }));
        ended.await();
    }

    private static AutoCloseable push(ClientConfiguration configuration) throws Exception {
        return ClientServiceProvider.loadService().newPushConsumerBuilder()
            .setClientConfiguration(configuration)
            .setConsumerGroup(System.getenv("ROCKETMQ_GROUP"))
            .setSubscriptionExpressions(Collections.singletonMap(System.getenv("ROCKETMQ_TOPIC"), FilterExpression.SUB_ALL))
            .setMessageListener(message -> succeeds ? ConsumeResult.SUCCESS : ConsumeResult.FAILURE)
            .build();
    }

    private static AutoCloseable simple(ClientConfiguration configuration) throws Exception {
        simple = ClientServiceProvider.loadService().newSimpleConsumerBuilder()
            .setClientConfiguration(configuration)
            .setConsumerGroup(System.getenv("ROCKETMQ_GROUP"))
            .setSubscriptionExpressions(Collections.singletonMap(System.getenv("ROCKETMQ_TOPIC"), FilterExpression.SUB_ALL))
            .setAwaitDuration(Duration.ofSeconds(Long.parseLong(System.getenv("ROCKETMQ_AWAIT"))))
            .build();
        return simple;
    }

    private static void obey() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Map<String, String> command = new HashMap<>();
                for (Matcher word = WORD.matcher(line); word.find();) {
                    command.put(word.group(1), word.group(2) == null ? word.group(3) : word.group(2));
                }
                try {
                    obey(command);
                } catch (Exception refused) {
                    System.err.println(refused);
                }
            }
        } catch (java.io.IOException closed) {
            // the end of the commands, too
        }
        Runtime.getRuntime().halt(0); // who gives commands is gone
    }

    private static void obey(Map<String, String> command) throws Exception {
        if (command.containsKey("listen")) {
            succeeds = "succeeds".equals(command.get("listen"));
            return;
        }
        STARTED.await();
        Duration seconds = Duration.ofSeconds(Long.parseLong(command.getOrDefault("seconds", "0")));
        if (command.containsKey("receive")) {
            for (MessageView message : simple.receive(Integer.parseInt(command.get("receive")), seconds)) {
                MESSAGES.put(StandardCharsets.UTF_8.decode(message.getBody()).toString(), message);
            }
        } else if (MESSAGES.containsKey(command.get("ack"))) {
            simple.ack(MESSAGES.get(command.get("ack")));
        } else if (MESSAGES.containsKey(command.get("change"))) {
            simple.changeInvisibleDuration(MESSAGES.get(command.get("change")), seconds);
        }
    }
}
