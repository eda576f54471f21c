// Licensed under the Apache License, Version 2.0.

import java.util.Map;
import java.util.Scanner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;

/** The same as a lite pull consumer, which polls until SIGTERM; from release 4.6.1 on. */
public class LiteConsumer {
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
        consumer.start();
        Runtime.getRuntime().addShutdownHook(new Thread(consumer::shutdown));
        Thread commands = new Thread(() -> new Scanner(System.in).useDelimiter("\n").forEachRemaining(line -> seek(consumer, line)));
        commands.setDaemon(true);
        commands.start();
        while (consumer.isRunning()) {
            consumer.poll(100).forEach(Consumer::print);
        }
    }

    /** Does {"seek": ["T", 0, 7]}, where that is possible. */
    private static void seek(DefaultLitePullConsumer consumer, String line) {
        Matcher seek = Pattern.compile("\\{\"seek\": \\[\"(.*)\", (\\d+), (\\d+)]}").matcher(line);
        try {
            for (MessageQueue queue : consumer.fetchMessageQueues(seek.matches() ? seek.group(1) : "")) {
                if (queue.getQueueId() == Integer.parseInt(seek.group(2))) {
                    consumer.seek(queue, Long.parseLong(seek.group(3)));
                }
            }
        } catch (Exception refused) {
            System.err.println(refused);
        }
    }
}
