"""A push or a simple consumer by rocketmq-python-client, as a program that `client?protocol=grpc:COMMAND` judges."""

import json
import os
import signal
import sys
import threading

from rocketmq import (
    ClientConfiguration,
    ConsumeResult,
    Credentials,
    FilterExpression,
    MessageListener,
    PushConsumer,
    SimpleConsumer,
)

ENDPOINTS, GROUP = os.environ["ROCKETMQ_ENDPOINTS"], os.environ["ROCKETMQ_GROUP"]
TOPICS = {os.environ["ROCKETMQ_TOPIC"]: FilterExpression()}
listener = {"does": "succeeds"}


class Listener(MessageListener):
    def consume(self, message):
        return ConsumeResult.SUCCESS if listener["does"] == "succeeds" else ConsumeResult.FAILURE


class Simple:
    """A simple consumer, and the messages that it was given, by their bodies."""

    def __init__(self, consumer):
        self.consumer, self.messages = consumer, {}

    def obey(self, command):
        if "receive" in command:
            for message in self.consumer.receive(command["receive"], command["seconds"]) or ():
                self.messages[message.body.decode()] = message
        elif command.get("ack") in self.messages:
            self.consumer.ack(self.messages[command["ack"]])
        elif command.get("change") in self.messages:
            self.consumer.change_invisible_duration(self.messages[command["change"]], command["seconds"])


def listen(command):
    listener["does"] = command["listen"]


def obey(do):
    for line in sys.stdin:
        try:
            do(json.loads(line))
        except Exception as error:  # the proxy refused it
            print(error, file=sys.stderr)
    os._exit(0)  # who gives commands is gone


def main():
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    configuration = ClientConfiguration(ENDPOINTS, Credentials())
    if os.environ["ROCKETMQ_KIND"] == "simple":
        print(json.dumps({"takes": ["receive"]}), flush=True)
        consumer = SimpleConsumer(configuration, GROUP, TOPICS, await_duration=int(os.environ["ROCKETMQ_AWAIT"]))
        do = Simple(consumer).obey
    else:
        print(json.dumps({"takes": ["listen"]}), flush=True)
        consumer = PushConsumer(configuration, GROUP, Listener(), TOPICS)
        do = listen
    consumer.startup()
    threading.Thread(target=obey, args=(do,), daemon=True).start()
    stop.wait()
    consumer.shutdown()
    os._exit(0)


main()
