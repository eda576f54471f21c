// Licensed under the Apache License, Version 2.0.

// A push consumer that is told by environment variables what to consume, and ends by SIGTERM.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

func main() {
	if os.Getenv("ROCKETMQ_KIND") != "push" || os.Getenv("ROCKETMQ_MODEL") != "CLUSTERING" {
		exitOn(errors.New("this is a concurrent push consumer of a cluster: judge it by -k whole-push"))
	}
	where := map[string]consumer.ConsumeFromWhere{
		"CONSUME_FROM_LAST_OFFSET":  consumer.ConsumeFromLastOffset,
		"CONSUME_FROM_FIRST_OFFSET": consumer.ConsumeFromFirstOffset,
		"CONSUME_FROM_TIMESTAMP":    consumer.ConsumeFromTimestamp,
	}
	member, err := rocketmq.NewPushConsumer(
		consumer.WithNameServer(primitive.NamesrvAddr{os.Getenv("ROCKETMQ_NAME_SERVER")}),
		consumer.WithGroupName(os.Getenv("ROCKETMQ_GROUP")),
		consumer.WithInstance(os.Getenv("ROCKETMQ_INSTANCE")),
		consumer.WithConsumeFromWhere(where[os.Getenv("ROCKETMQ_CONSUME_FROM")]),
		consumer.WithConsumeTimestamp(os.Getenv("ROCKETMQ_CONSUME_TIMESTAMP")),
	)
	exitOn(err)
	exitOn(member.Subscribe(os.Getenv("ROCKETMQ_TOPIC"), consumer.MessageSelector{},
		func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
			for _, message := range messages {
				fmt.Printf("{\"got\": [%q, %d, %d]}\n", message.Topic, message.Queue.QueueId, message.QueueOffset)
			}
			return consumer.ConsumeSuccess, nil
		}))
	exitOn(member.Start())
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
	exitOn(member.Shutdown())
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
