// Licensed under the Apache License, Version 2.0.

import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A push consumer that is told by environment variables what to consume, and ends by SIGTERM. It is told on standard
 * input whether its listener succeeds, fails, or holds what it is given, when to be suspended, and to which other topic
 * to subscribe.
 */
public class Consumer {
    private static String listener = "succeeds";
    /** The message that the listener holds once, in the form of its place in a command; and how often it was told what to do. */
    private static String hung = "";
    private static int times;
    /** The consumers that run, by their groups; of two clusters the first one. */
    private static final Map<String, DefaultMQPushConsumer> RUNNING = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws Exception {
        Map<String, String> told = System.getenv();
        System.setProperty("rocketmq.client.localOffsetStoreDir", told.get("ROCKETMQ_OFFSETS"));
        Access.encrypt();
        DefaultMQPushConsumer consumer = consumer(told.get("ROCKETMQ_NAME_SERVER"), told.get("ROCKETMQ_GROUP"),
            told.get("ROCKETMQ_TOPIC"), told.get("ROCKETMQ_INSTANCE"));
        System.out.println("{\"takes\": [\"listen\", \"hold\", \"strategy\", \"pause\", \"subscribe\", \"also\", \"end\"]}");
        Thread commands = new Thread(() -> new Scanner(System.in).useDelimiter("\n").forEachRemaining(line -> obey(consumer, line)));
        commands.setDaemon(true);
        commands.start();
        try {
            consumer.start();
        } catch (MQClientException refused) {
            refused.printStackTrace();
            System.exit(1); // threads of its own may go on
        }
        RUNNING.put(told.get("ROCKETMQ_GROUP"), consumer);
        Runtime.getRuntime().addShutdownHook(new Thread(consumer::shutdown));
        new CountDownLatch(1).await();
    }

    /** A consumer that is not started. */
    private static DefaultMQPushConsumer consumer(String nameServer, String group, String topic, String instance)
        throws MQClientException {
        Map<String, String> told = System.getenv();
        DefaultMQPushConsumer consumer =
            new DefaultMQPushConsumer(group, Access.signing(), new AllocateMessageQueueAveragely());
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName(instance);
        consumer.setConsumeFromWhere(ConsumeFromWhere.valueOf(told.get("ROCKETMQ_CONSUME_FROM")));
        consumer.setConsumeTimestamp(told.get("ROCKETMQ_CONSUME_TIMESTAMP"));
        // the package of this enumeration depends on the release
        consumer.setMessageModel(Enum.valueOf(consumer.getMessageModel().getDeclaringClass(), told.get("ROCKETMQ_MODEL")));
        consumer.setVipChannelEnabled(false);
        consumer.subscribe(topic, "*");
        if (told.get("ROCKETMQ_KIND").equals("orderly")) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) ->
                succeeds(messages) ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
                succeeds(messages) ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        }
        if (told.get("ROCKETMQ_STRATEGY").equals("AVG_BY_CIRCLE")) {
            consumer.setAllocateMessageQueueStrategy(new AllocateMessageQueueAveragelyByCircle());
        }
        return consumer;
    }

    /** Starts another consumer, by {"also": [name server, group, topic, instance]}. */
    private static void startAlso(String[] values) {
        try {
            DefaultMQPushConsumer other = consumer(values[0], values[1], values[2], values[3]);
            other.start();
            RUNNING.putIfAbsent(values[1], other);
            Runtime.getRuntime().addShutdownHook(new Thread(other::shutdown));
        } catch (MQClientException refused) {
            refused.printStackTrace();
        }
    }

    /**
     * Does {"listen": "fails"}, {"hold": ["T", 0, 7]}, {"pause": true}, {"pause": false}, {"subscribe": "U"},
     * {"unsubscribe": "U"}, {"end": "G"} or "also".
     */
    private static void obey(DefaultMQPushConsumer consumer, String command) {
        if (command.contains("\"also\"")) {
            startAlso(command.replaceAll(".*\\[\"(.*)\"\\].*", "$1").split("\", \""));
        } else if (command.contains("\"end\"")) {
            RUNNING.remove(value(command)).shutdown();
        } else if (command.contains("\"subscribe\"")) {
            try {
                consumer.subscribe(value(command), "*");
            } catch (MQClientException refused) {
                refused.printStackTrace();
            }
        } else if (command.contains("\"unsubscribe\"")) {
            consumer.unsubscribe(value(command));
        } else if (command.contains("\"pause\": true")) {
            consumer.suspend();
        } else if (command.contains("\"pause\": false")) {
            consumer.resume();
        } else if (command.contains("\"hold\"")) {
            hang(command);
        } else {
            listen(value(command));
        }
    }

    /** The text that a command has. */
    private static String value(String command) {
        return command.replaceAll(".*: \"([^\"]*)\".*", "$1");
    }

    private static synchronized void hang(String command) {
        hung = command.replaceAll(".*(\\[.*\\]).*", "$1");
    }

    private static synchronized void listen(String to) {
        listener = to;
        times++;
        Consumer.class.notifyAll();
    }

    /** What the listener returns for these messages, as soon as it is not to hold, even if it is interrupted. */
    private static synchronized boolean succeeds(List<MessageExt> messages) {
        messages.forEach(Consumer::print);
        int since = times;
        boolean hangs = messages.stream().map(Consumer::place).anyMatch(hung::equals);
        hung = hangs ? "" : hung;
        while (listener.equals("holds") || hangs && times == since) {
            try {
                Consumer.class.wait();
            } catch (InterruptedException ended) {
                // a client that is shut down interrupts its threads
            }
        }
        return listener.equals("succeeds");
    }

    private static String place(MessageExt message) {
        return String.format("[\"%s\", %d, %d]", message.getTopic(), message.getQueueId(), message.getQueueOffset());
    }

    static void print(MessageExt message) {
        System.out.printf("{\"got\": [\"%s\", %d, %d, %d, \"%s\"]}%n", message.getTopic(), message.getQueueId(),
            message.getQueueOffset(), message.getBody() == null ? 0 : message.getBody().length,
            message.getKeys() == null ? "" : message.getKeys());
    }
}
