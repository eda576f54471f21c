import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Collections;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.PushConsumer;

/** A push consumer by rocketmq-client-java, as a program that `client?protocol=grpc:COMMAND` judges. */
public class Consumer {
    private static volatile boolean succeeds = true;

    public static void main(String[] args) throws Exception {
        if (!"push".equals(System.getenv("ROCKETMQ_KIND"))) {
            System.out.println("{\"unsupported\": \"it is a push consumer\"}");
            return;
        }
        System.out.println("{\"takes\": [\"listen\"]}");
        new Thread(Consumer::obey).start();
        ClientConfiguration configuration = ClientConfiguration.newBuilder()
            .setEndpoints(System.getenv("ROCKETMQ_ENDPOINTS"))
            .enableSsl(false)
            .build();
        PushConsumer consumer = ClientServiceProvider.loadService().newPushConsumerBuilder()
            .setClientConfiguration(configuration)
            .setConsumerGroup(System.getenv("ROCKETMQ_GROUP"))
            .setSubscriptionExpressions(Collections.singletonMap(System.getenv("ROCKETMQ_TOPIC"), FilterExpression.SUB_ALL))
            .setMessageListener(message -> succeeds ? ConsumeResult.SUCCESS : ConsumeResult.FAILURE)
            .build();
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

    private static void obey() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.contains("\"listen\"")) {
                    succeeds = line.contains("\"succeeds\"");
                }
            }
        } catch (java.io.IOException closed) {
            // the end of the commands, too
        }
        Runtime.getRuntime().halt(0); // who gives commands is gone
    }
}
