import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Sends messages, half of them before the consumer starts, and prints what is consumed. */
public class SendAndConsume {
    private static final Set<String> CONSUMED = new ConcurrentSkipListSet<>();

    public static void main(String[] args) throws Exception {
        String address = args[0];
        boolean orderly = args[1].equals("orderly");
        boolean failing = args[1].equals("failing");
        int count = Integer.parseInt(args[2]);

        DefaultMQProducer producer = new DefaultMQProducer("P");
        producer.setNamesrvAddr(address);
        producer.start();
        send(producer, 0, count / 2);

        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("G");
        consumer.setNamesrvAddr(address);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe("T", "A || B");
        if (args[1].equals("assigned")) { // by the broker; older clients lack the method
            DefaultMQPushConsumer.class.getMethod("setClientRebalance", boolean.class).invoke(consumer, false);
        }
        if (orderly) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                note(messages);
                return ConsumeOrderlyStatus.SUCCESS;
            });
        } else if (failing) { // each message twice, and the first one once more, which is too often
            consumer.setMaxReconsumeTimes(2);
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                MessageExt message = messages.get(0);
                if (message.getReconsumeTimes() < 2) {
                    return ConsumeConcurrentlyStatus.RECONSUME_LATER;
                }
                note(messages);
                boolean first = message.getBody()[2] == '0';
                return first ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                note(messages);
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        }
        consumer.start();
        send(producer, count / 2, count);

        long until = System.currentTimeMillis() + 60_000;
        while ((CONSUMED.size() < count || passed(consumer, "T") < count + 2
                || failing && passed(consumer, "%RETRY%G") < 2 * count) && System.currentTimeMillis() < until) {
            Thread.sleep(20);
        }
        consumer.shutdown();
        producer.shutdown();
        for (String body : new TreeSet<>(CONSUMED)) {
            System.out.println("consumed " + body);
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void send(DefaultMQProducer producer, int from, int to) throws Exception {
        // nobody consumes this one; the others go to every queue, so that it is not the last of its own
        producer.send(new Message("T", "C", "no".getBytes(StandardCharsets.UTF_8)), 10_000);
        for (int at = from; at < to; at++) {
            byte[] body = String.format("%03d", at).getBytes(StandardCharsets.UTF_8);
            SendResult sent = producer.send(new Message("T", at % 2 == 0 ? "A" : "B", body), 10_000);
            System.out.println("sent " + sent.getSendStatus());
        }
    }

    /** The messages that its offsets in memory have passed: a listener's return comes before its offset moves. */
    private static long passed(DefaultMQPushConsumer consumer, String topic) {
        long sum = 0;
        for (long offset : consumer.getDefaultMQPushConsumerImpl().getOffsetStore().cloneOffsetTable(topic).values()) {
            sum += offset;
        }
        return sum;
    }

    private static void note(List<MessageExt> messages) {
        for (MessageExt message : messages) {
            CONSUMED.add(new String(message.getBody(), StandardCharsets.UTF_8));
        }
    }
}
