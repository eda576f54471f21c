#!/usr/bin/env python3
# Licensed under the Apache License, Version 2.0.

"""A push consumer of the C++ client, through its Python package: of a cluster or broadcasting, concurrent or orderly.

Environment variables say what it consumes, and SIGTERM ends it. Commands on standard input say whether its listener
succeeds, fails or holds, and which message it holds.
"""

import json
import os
import signal
import sys
import threading

ENV = os.environ
# the client keeps the offset files of broadcasting members, and its log, in the home folder
ENV["HOME"] = ENV["ROCKETMQ_OFFSETS"]

from rocketmq.client import MessageModel, PushConsumer, RecvMessage  # noqa: E402

SUCCESS, LATER = 0, 1

LISTENER = {"does": "succeeds", "hung": None, "times": 0}
CHANGED = threading.Condition()


def say(**line):
    """Write a line of JSON at once, whichever thread does."""
    os.write(1, json.dumps(line).encode() + b"\n")


def listen(_, given):
    """Say what the listener was given, and return as the commands say."""
    message = RecvMessage(given)
    place = [message.topic, message.queue_id, message.queue_offset]
    say(got=[*place, len(message.body), (message.keys or b"").decode()])
    with CHANGED:
        since, hangs = LISTENER["times"], place == LISTENER["hung"]
        if hangs:
            LISTENER["hung"] = None
        CHANGED.wait_for(lambda: LISTENER["does"] != "holds" and not (hangs and LISTENER["times"] == since))
        return LATER if LISTENER["does"] == "fails" else SUCCESS


def read_commands():
    """Do {"listen": "fails"} and {"hold": ["T", 0, 7]}."""
    for line in sys.stdin:
        command = json.loads(line)
        with CHANGED:
            if "listen" in command:
                LISTENER["does"] = command["listen"]
                LISTENER["times"] += 1
                CHANGED.notify_all()
            elif "hold" in command:
                LISTENER["hung"] = command["hold"]


def refusal():
    """Why this is not what it is asked for, if so."""
    if ENV["ROCKETMQ_KIND"] == "lite":
        return "it is a push consumer"
    if ENV["ROCKETMQ_CONSUME_FROM"] != "CONSUME_FROM_LAST_OFFSET":
        return "the Python package begins at CONSUME_FROM_LAST_OFFSET alone"
    if ENV.get("ROCKETMQ_TLS") == "on":
        return "the Python package has no TLS"
    return None


def main():
    """Consume until SIGTERM."""
    if reason := refusal():
        say(unsupported=reason)
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    say(takes=["listen", "hold"])
    model = getattr(MessageModel, ENV["ROCKETMQ_MODEL"])
    consumer = PushConsumer(ENV["ROCKETMQ_GROUP"], orderly=ENV["ROCKETMQ_KIND"] == "orderly", message_model=model)
    consumer.set_namesrv_addr(ENV["ROCKETMQ_NAME_SERVER"])
    consumer.set_instance_name(ENV["ROCKETMQ_INSTANCE"])
    if "ROCKETMQ_ACCESS_KEY" in ENV:
        consumer.set_session_credentials(ENV["ROCKETMQ_ACCESS_KEY"], ENV["ROCKETMQ_SECRET_KEY"], "")
    consumer.subscribe(ENV["ROCKETMQ_TOPIC"], None)
    # an exception, by which a listener of the package fails, leaves open what the client is answered
    consumer._register_callback(listen)
    consumer.start()
    threading.Thread(target=read_commands, daemon=True).start()
    signal.sigwait([signal.SIGTERM])
    consumer.shutdown()
    os._exit(0)


main()
