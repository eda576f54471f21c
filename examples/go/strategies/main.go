// Adapter for `rocketmq-conformance run exec:…`: the exported allocation strategies of apache/rocketmq-client-go.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

type object = map[string]any

type queue = [3]any // topic, broker name, queue id

type arguments struct {
	Me         string   `json:"me"`
	Queues     []queue  `json:"queues"`
	Members    []string `json:"members"`
	Configured []queue  `json:"configured"`
	Rooms      []string `json:"rooms"`
	Nodes      int      `json:"nodes"`
	Queue      queue    `json:"queue"`
}

type step struct {
	Do   string    `json:"do"`
	Args arguments `json:"args"`
}

type request struct {
	ID    int             `json:"id"`
	Hello json.RawMessage `json:"hello"`
	Reset json.RawMessage `json:"reset"`
	Case  *struct {
		Steps []step `json:"steps"`
	} `json:"case"`
	step
}

func main() {
	rlog.SetLogLevel("fatal") // the client logs to standard output, which carries the protocol
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for decoder := json.NewDecoder(in); ; {
		var asked request
		if decoder.Decode(&asked) != nil {
			return
		}
		answer := reply(&asked)
		answer["id"] = asked.ID
		if err := out.Encode(answer); err != nil {
			return
		}
	}
}

func reply(asked *request) object {
	switch {
	case asked.Hello != nil:
		return object{"hello": object{
			"protocol": 1, "name": "rocketmq-client-go", "version": "2.1.2",
			"suites": []string{"allocation"}, "whole_cases": true,
		}}
	case asked.Case != nil:
		answers := []object{}
		for _, one := range asked.Case.Steps {
			answers = append(answers, do(one))
		}
		return object{"steps": answers}
	case asked.Reset != nil:
		return object{"ok": nil} // nothing is remembered between steps
	default:
		return do(asked.step)
	}
}

func do(one step) (answer object) {
	defer func() {
		if recover() != nil {
			answer = object{"err": "RUNTIME"}
		}
	}()
	args := one.Args
	var strategy consumer.AllocateStrategy
	switch one.Do {
	case "allocate_averagely":
		strategy = consumer.AllocateByAveragely
	case "allocate_by_circle":
		strategy = consumer.AllocateByAveragelyCircle
	case "allocate_by_config":
		strategy = consumer.AllocateByConfig(unpacked(args.Configured))
	case "allocate_by_machine_room":
		strategy = consumer.AllocateByMachineRoom(args.Rooms)
	case "allocate_nearby":
		strategy = consumer.AllocateByMachineNearby
	case "allocate_by_consistent_hash":
		strategy = consumer.AllocateByConsistentHash(args.Nodes)
	case "identify_queue":
		only := unpacked([]queue{args.Queue})[0]
		return object{"ok": []any{only.String(), only.HashCode()}}
	default:
		return object{"unsupported": "the client does not export it"}
	}
	return object{"ok": packed(strategy("G", args.Me, unpacked(args.Queues), args.Members))}
}

func unpacked(given []queue) []*primitive.MessageQueue {
	queues := []*primitive.MessageQueue{}
	for _, one := range given {
		queues = append(queues, &primitive.MessageQueue{
			Topic: one[0].(string), BrokerName: one[1].(string), QueueId: int(one[2].(float64)), // ids have 32 bits
		})
	}
	return queues
}

func packed(queues []*primitive.MessageQueue) []queue {
	shown := []queue{}
	for _, one := range queues {
		shown = append(shown, queue{one.Topic, one.BrokerName, one.QueueId})
	}
	return shown
}
