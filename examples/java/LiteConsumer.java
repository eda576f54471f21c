// Licensed under the Apache License, Version 2.0.

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * The same as a lite pull consumer, which polls until SIGTERM; from release 4.6.1 on. It commits automatically or, from
 * 4.9.4 and 5.0.0 on, when a command on standard input asks for it. Commands there also name the queues to assign, if it
 * shares none.
 */
public class LiteConsumer {
    /** Commits what was polled of some queues at once. */
    private static final Method COMMIT = commit();
    /** The queues of topics. */
    private static final Map<String, Collection<MessageQueue>> KNOWN = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        Map<String, String> told = System.getenv();
        Access.encrypt();
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(told.get("ROCKETMQ_GROUP"), Access.signing());
        consumer.setNamesrvAddr(told.get("ROCKETMQ_NAME_SERVER"));
        consumer.setInstanceName(told.get("ROCKETMQ_INSTANCE"));
        consumer.setConsumeFromWhere(ConsumeFromWhere.valueOf(told.get("ROCKETMQ_CONSUME_FROM")));
        consumer.setConsumeTimestamp(told.get("ROCKETMQ_CONSUME_TIMESTAMP"));
        consumer.setVipChannelEnabled(false);
        if (told.get("ROCKETMQ_QUEUES").equals("SHARED")) {
            consumer.subscribe(told.get("ROCKETMQ_TOPIC"), "*");
        }
        if (told.get("ROCKETMQ_COMMIT").equals("ON_DEMAND")) {
            consumer.setAutoCommit(false);
            consumer.setPersistConsumerOffsetInterval((int) TimeUnit.HOURS.toMillis(1));
        }
        System.out.println(COMMIT == null ? "{\"takes\": [\"assign\"]}" : "{\"takes\": [\"assign\", \"commit\"]}");
        consumer.start();
        Runtime.getRuntime().addShutdownHook(new Thread(consumer::shutdown));
        Thread commands = new Thread(() -> new Scanner(System.in).useDelimiter("\n").forEachRemaining(line -> obey(consumer, line)));
        commands.setDaemon(true);
        commands.start();
        while (consumer.isRunning()) {
            consumer.poll(100).forEach(Consumer::print);
        }
    }

    /** Does what a line says, such as {"seek": ["T", 0, 7]}, {"commit": "T"} or {"assign": [["T", 0], ["T", 1]]}. */
    private static void obey(DefaultLitePullConsumer consumer, String line) {
        Matcher command = Pattern.compile("\\{\"(\\w+)\": (.*)}").matcher(line);
        if (!command.matches()) {
            return;
        }
        String value = command.group(2);
        try {
            List<MessageQueue> queues = queues(consumer, value);
            switch (command.group(1)) {
                case "assign":
                    consumer.assign(queues);
                    break;
                case "pause_queues":
                    consumer.pause(queues);
                    break;
                case "resume_queues":
                    consumer.resume(queues);
                    break;
                case "seek":
                    consumer.seek(queues.get(0), Long.parseLong(value.replaceAll(".*, |]", "")));
                    break;
                case "seek_to_begin":
                    consumer.seekToBegin(queues.get(0));
                    break;
                case "seek_to_end":
                    consumer.seekToEnd(queues.get(0));
                    break;
                case "commit":
                    // nothing was polled of the queues that others have
                    COMMIT.invoke(consumer, new HashSet<>(known(consumer, value.replace("\"", ""))), true);
                    break;
                default:
                    System.err.println(line);
            }
        } catch (Exception refused) {
            System.err.println(refused);
        }
    }

    /** The queues of a topic that a value names as ["T", 0]. */
    private static List<MessageQueue> queues(DefaultLitePullConsumer consumer, String value) throws Exception {
        List<MessageQueue> found = new ArrayList<>();
        Matcher named = Pattern.compile("\\[\"([^\"]*)\", (\\d+)").matcher(value);
        while (named.find()) {
            for (MessageQueue queue : known(consumer, named.group(1))) {
                if (queue.getQueueId() == Integer.parseInt(named.group(2))) {
                    found.add(queue);
                }
            }
        }
        return found;
    }

    /** The queues of a topic, however busy the name server is; they are asked for once. */
    private static Collection<MessageQueue> known(DefaultLitePullConsumer consumer, String topic) throws InterruptedException {
        while (!KNOWN.containsKey(topic)) {
            try {
                KNOWN.put(topic, consumer.fetchMessageQueues(topic));
            } catch (MQClientException failed) {
                System.err.println(failed);
                TimeUnit.SECONDS.sleep(1);
            }
        }
        return KNOWN.get(topic);
    }

    private static Method commit() {
        try {
            return DefaultLitePullConsumer.class.getMethod("commit", Set.class, boolean.class);
        } catch (NoSuchMethodException older) {
            return null;
        }
    }
}
