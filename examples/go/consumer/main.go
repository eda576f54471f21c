// Licensed under the Apache License, Version 2.0.

// A push consumer, of a cluster or broadcasting, that is told by environment variables what to consume, and ends by SIGTERM. It is told on standard
// input whether its listener succeeds, fails, or holds what it is given, when to be suspended, and to which other topic
// to subscribe.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

var (
	listener = "succeeds"
	// hung is the message that the listener holds once, in the form of its place in a line; times is how often the
	// listener was told what to do.
	hung    string
	times   int
	changed = sync.NewCond(&sync.Mutex{})
	// running are the consumers by their groups, and of a second cluster those in others.
	running = map[string]rocketmq.PushConsumer{}
	others  []rocketmq.PushConsumer
)

func main() {
	if os.Getenv("ROCKETMQ_KIND") != "push" {
		unsupported("it is a concurrent push consumer")
	}
	if os.Getenv("ROCKETMQ_TLS") == "on" {
		unsupported("rocketmq-client-go has no TLS")
	}
	exitOn(setFolder(os.Getenv("ROCKETMQ_OFFSETS")))
	member, err := newConsumer(os.Getenv("ROCKETMQ_NAME_SERVER"), os.Getenv("ROCKETMQ_GROUP"), os.Getenv("ROCKETMQ_TOPIC"),
		os.Getenv("ROCKETMQ_INSTANCE"))
	exitOn(err)
	fmt.Println(`{"takes": ["listen", "hold", "strategy", "pause", "subscribe", "also", "end"]}`)
	exitOn(member.Start())
	running[os.Getenv("ROCKETMQ_GROUP")] = member
	// while it starts the client refuses to subscribe
	go readCommands(member)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
	for _, other := range others {
		exitOn(other.Shutdown())
	}
	for _, one := range running {
		exitOn(one.Shutdown())
	}
}

// setFolder sets the folder of the offset files of broadcasting members. The client reads that before main begins, so
// that the program replaces itself once.
func setFolder(folder string) error {
	const name = "rocketmq.client.localOffsetStoreDir"
	if folder == "" || os.Getenv(name) == folder {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(program, os.Args, append(os.Environ(), name+"="+folder))
}

// newConsumer makes a consumer that is not started.
func newConsumer(nameServer, group, topic, instance string) (rocketmq.PushConsumer, error) {
	where := map[string]consumer.ConsumeFromWhere{
		"CONSUME_FROM_LAST_OFFSET":  consumer.ConsumeFromLastOffset,
		"CONSUME_FROM_FIRST_OFFSET": consumer.ConsumeFromFirstOffset,
		"CONSUME_FROM_TIMESTAMP":    consumer.ConsumeFromTimestamp,
	}
	strategy := consumer.AllocateByAveragely
	if os.Getenv("ROCKETMQ_STRATEGY") == "AVG_BY_CIRCLE" {
		strategy = consumer.AllocateByAveragelyCircle
	}
	model := consumer.Clustering
	if os.Getenv("ROCKETMQ_MODEL") == "BROADCASTING" {
		model = consumer.BroadCasting
	}
	made, err := rocketmq.NewPushConsumer(
		consumer.WithConsumerModel(model),
		consumer.WithNameServer(primitive.NamesrvAddr{nameServer}),
		consumer.WithGroupName(group),
		consumer.WithInstance(instance),
		consumer.WithConsumeFromWhere(where[os.Getenv("ROCKETMQ_CONSUME_FROM")]),
		consumer.WithConsumeTimestamp(os.Getenv("ROCKETMQ_CONSUME_TIMESTAMP")),
		consumer.WithStrategy(strategy),
		consumer.WithCredentials(primitive.Credentials{
			AccessKey: os.Getenv("ROCKETMQ_ACCESS_KEY"),
			SecretKey: os.Getenv("ROCKETMQ_SECRET_KEY"),
		}),
	)
	if err == nil {
		err = made.Subscribe(topic, consumer.MessageSelector{}, listen)
	}
	return made, err
}

// startAlso starts another consumer.
func startAlso(nameServer, group, topic, instance string) {
	other, err := newConsumer(nameServer, group, topic, instance)
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	if running[group] != nil {
		others = append(others, other)
	} else {
		running[group] = other
	}
}

// readCommands does {"listen": "fails"}, {"hold": ["T", 0, 7]}, {"pause": true}, {"pause": false}, {"subscribe": "U"},
// {"unsubscribe": "U"}, {"end": "G"} and "also".
func readCommands(member rocketmq.PushConsumer) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var command struct {
			Listen, Subscribe, Unsubscribe, End string
			Hold                                []any
			Pause                               *bool
			Also                                []string
		}
		if json.Unmarshal(lines.Bytes(), &command) != nil {
			continue
		}
		if len(command.Also) == 4 {
			startAlso(command.Also[0], command.Also[1], command.Also[2], command.Also[3])
		} else if one := running[command.End]; one != nil {
			delete(running, command.End)
			if err := one.Shutdown(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		} else if command.Pause != nil && *command.Pause {
			member.Suspend()
		} else if command.Pause != nil {
			member.Resume()
		} else if command.Listen != "" {
			changed.L.Lock()
			listener = command.Listen
			times++
			changed.L.Unlock()
			changed.Broadcast()
		} else if command.Hold != nil {
			changed.L.Lock()
			hung = fmt.Sprint(command.Hold...)
			changed.L.Unlock()
		} else if command.Subscribe != "" {
			if err := member.Subscribe(command.Subscribe, consumer.MessageSelector{}, listen); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		} else if command.Unsubscribe != "" {
			if err := member.Unsubscribe(command.Unsubscribe); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
}

// listen is the listener.
func listen(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
	places := make([]string, 0, len(messages))
	for _, message := range messages {
		places = append(places, fmt.Sprint(message.Topic, message.Queue.QueueId, message.QueueOffset))
		fmt.Printf("{\"got\": [%q, %d, %d, %d, %q]}\n", message.Topic, message.Queue.QueueId, message.QueueOffset,
			len(message.Body), message.GetKeys())
	}
	return result(places), nil
}

// result is what the listener returns, as soon as it is not to hold.
func result(places []string) consumer.ConsumeResult {
	changed.L.Lock()
	defer changed.L.Unlock()
	since, hangs := times, false
	for _, place := range places {
		hangs = hangs || place == hung
	}
	if hangs {
		hung = ""
	}
	for listener == "holds" || hangs && times == since {
		changed.Wait()
	}
	if listener == "fails" {
		return consumer.ConsumeRetryLater
	}
	return consumer.ConsumeSuccess
}

// unsupported says why this is not what it is asked for, and ends.
func unsupported(reason string) {
	fmt.Printf("{\"unsupported\": %q}\n", reason)
	os.Exit(0)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
