"""A push consumer by rocketmq-python-client, as a program that `client?protocol=grpc:COMMAND` judges."""

import json
import os
import signal
import sys
import threading

from rocketmq import ClientConfiguration, ConsumeResult, Credentials, FilterExpression, MessageListener, PushConsumer

listener = {"does": "succeeds"}


class Listener(MessageListener):
    def consume(self, message):
        return ConsumeResult.SUCCESS if listener["does"] == "succeeds" else ConsumeResult.FAILURE


def obey():
    for line in sys.stdin:
        listener["does"] = json.loads(line).get("listen", listener["does"])
    os._exit(0)  # who gives commands is gone


def main():
    if os.environ["ROCKETMQ_KIND"] != "push":
        print(json.dumps({"unsupported": "it is a push consumer"}), flush=True)
        return
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    print(json.dumps({"takes": ["listen"]}), flush=True)
    threading.Thread(target=obey, daemon=True).start()
    consumer = PushConsumer(
        ClientConfiguration(os.environ["ROCKETMQ_ENDPOINTS"], Credentials()),
        os.environ["ROCKETMQ_GROUP"],
        Listener(),
        {os.environ["ROCKETMQ_TOPIC"]: FilterExpression()},
    )
    consumer.startup()
    stop.wait()
    consumer.shutdown()
    os._exit(0)


main()
