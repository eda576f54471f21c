// Licensed under the Apache License, Version 2.0.

import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * The same as a lite pull consumer, which polls until SIGTERM; from release 4.6.1 on. It commits automatically or, from
 * 4.9.4 and 5.0.0 on, when it is told to on standard input.
 */
public class LiteConsumer {
    /** Commits what was polled of some queues at once. */
    private static final Method COMMIT = commit();

    public static void main(String[] arguments) throws Exception {
        Map<String, String> told = System.getenv();
        Access.encrypt();
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(told.get("ROCKETMQ_GROUP"), Access.signing());
        consumer.setNamesrvAddr(told.get("ROCKETMQ_NAME_SERVER"));
        consumer.setInstanceName(told.get("ROCKETMQ_INSTANCE"));
        consumer.setConsumeFromWhere(ConsumeFromWhere.valueOf(told.get("ROCKETMQ_CONSUME_FROM")));
        consumer.setConsumeTimestamp(told.get("ROCKETMQ_CONSUME_TIMESTAMP"));
        consumer.setVipChannelEnabled(false);
        consumer.subscribe(told.get("ROCKETMQ_TOPIC"), "*");
        if (told.get("ROCKETMQ_COMMIT").equals("ON_DEMAND")) {
            consumer.setAutoCommit(false);
            consumer.setPersistConsumerOffsetInterval((int) TimeUnit.HOURS.toMillis(1));
        }
        if (COMMIT != null) {
            System.out.println("{\"takes\": [\"commit\"]}");
        }
        consumer.start();
        Runtime.getRuntime().addShutdownHook(new Thread(consumer::shutdown));
        Thread commands = new Thread(() -> new Scanner(System.in).useDelimiter("\n").forEachRemaining(line -> obey(consumer, line)));
        commands.setDaemon(true);
        commands.start();
        while (consumer.isRunning()) {
            consumer.poll(100).forEach(Consumer::print);
        }
    }

    /** Does {"seek": ["T", 0, 7]} or {"commit": "T"}, where that is possible. */
    private static void obey(DefaultLitePullConsumer consumer, String line) {
        Matcher seek = Pattern.compile("\\{\"seek\": \\[\"(.*)\", (\\d+), (\\d+)]}").matcher(line);
        Matcher commit = Pattern.compile("\\{\"commit\": \"(.*)\"}").matcher(line);
        try {
            if (commit.matches()) {
                // nothing was polled of the queues that others have
                COMMIT.invoke(consumer, new HashSet<>(consumer.fetchMessageQueues(commit.group(1))), true);
                return;
            }
            for (MessageQueue queue : consumer.fetchMessageQueues(seek.matches() ? seek.group(1) : "")) {
                if (queue.getQueueId() == Integer.parseInt(seek.group(2))) {
                    consumer.seek(queue, Long.parseLong(seek.group(3)));
                }
            }
        } catch (Exception refused) {
            System.err.println(refused);
        }
    }

    private static Method commit() {
        try {
            return DefaultLitePullConsumer.class.getMethod("commit", Set.class, boolean.class);
        } catch (NoSuchMethodException older) {
            return null;
        }
    }
}
