"""Calls of a gRPC client, one at a time, and a program that makes them as a push consumer does."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import grpc

from rocketmq_conformance.conformance.remoting.grpc_codes import ClientType, Code
from rocketmq_conformance.conformance.remoting.grpc_messages import METHODS, SERVICE, message_class


class GrpcCalls:
    """The calls of one client at an address."""

    def __init__(self, address: str, client: str = "client") -> None:
        self._channel = grpc.insecure_channel(address)
        self._metadata = (("x-mq-client-id", client),) if client else ()

    def call(self, name: str, requests: Any = None, **fields: Any) -> Any:
        """Make a call; a stream of answers is an iterator."""
        method = METHODS[name]
        request = message_class(method.request)
        kind = {(False, False): "unary_unary", (False, True): "unary_stream", (True, True): "stream_stream"}
        made = getattr(self._channel, kind[method.streams_requests, method.streams_responses])(
            f"/{SERVICE}/{name}",
            request_serializer=request.SerializeToString,
            response_deserializer=message_class(method.response).FromString,
        )
        return made(request(**fields) if requests is None else requests, metadata=self._metadata)

    def settings(
        self, group: str, topic: str, ends: threading.Event, kind: ClientType = ClientType.PUSH_CONSUMER
    ) -> Any:
        """The settings that the proxy answers; the stream stays open until the event."""
        expression = {"type": 1, "expression": "*"}
        said = {"group": {"name": group}, "subscriptions": [{"topic": {"name": topic}, "expression": expression}]}
        settings = {"client_type": int(kind), "subscription": said}

        def commands() -> Any:
            yield message_class("TelemetryCommand")(settings=settings)
            ends.wait()

        return next(self.call("Telemetry", commands())).settings

    def receive(
        self, group: str, topic: str, queue: int, batch: int, polling: float, **more: Any
    ) -> tuple[int, list[Any]]:
        """A code, and messages."""
        code, messages = 0, []
        for answer in self.call(
            "ReceiveMessage",
            group={"name": group},
            message_queue={"topic": {"name": topic}, "id": queue},
            filter_expression={"type": 1, "expression": "*"},
            batch_size=batch,
            long_polling_timeout={"seconds": int(polling)},
            **(more or {"auto_renew": True}),
        ):
            if answer.HasField("status"):
                code = answer.status.code
            elif answer.HasField("message"):
                messages.append(answer.message)
        return code, messages

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()


class Consumer:
    """A push consumer with timers of a tenth of the usual time."""

    def __init__(self, calls: GrpcCalls, group: str, topic: str) -> None:
        self.calls, self.group, self.topic = calls, group, topic
        self.ends = threading.Event()
        self.queues: dict[int, threading.Thread] = {}
        self.assigned: set[int] = set()
        self.succeeds = True

    def start(self) -> None:
        """Send settings, and begin."""
        self.settings = self.calls.settings(self.group, self.topic, self.ends)
        for seconds, do in ((1.0, self.beat), (0.5, self.scan)):
            threading.Thread(target=self._every, args=(seconds, do), daemon=True).start()

    def _every(self, seconds: float, do: Callable[[], None]) -> None:
        while not self.ends.wait(0 if do == self.scan and not self.queues else seconds):
            do()
            time.sleep(0.05)

    def beat(self) -> None:
        """Send a heartbeat."""
        self.calls.call("Heartbeat", group={"name": self.group}, client_type=int(ClientType.PUSH_CONSUMER))

    def scan(self) -> None:
        """Ask for the assignment."""
        answer = self.calls.call("QueryAssignment", topic={"name": self.topic}, group={"name": self.group})
        if answer.status.code != Code.OK:
            return
        self.assigned = {one.message_queue.id for one in answer.assignments}
        for queue in self.assigned:
            if queue not in self.queues or not self.queues[queue].is_alive():
                self.queues[queue] = threading.Thread(target=self._receive, args=(queue,), daemon=True)
                self.queues[queue].start()

    def _receive(self, queue: int) -> None:
        subscription = self.settings.subscription
        while queue in self.assigned and not self.ends.is_set():
            batch, polling = subscription.receive_batch_size, subscription.long_polling_timeout.seconds
            code, messages = self.calls.receive(self.group, self.topic, queue, batch, polling)
            if subscription.fifo:
                threading.Thread(target=self._consume_in_order, args=(messages,), daemon=True).start()
            else:
                for message in messages:
                    self._consume(message)
            if code not in (Code.OK, Code.MESSAGE_NOT_FOUND):
                time.sleep(0.4)

    def _consume(self, message: Any) -> None:
        properties = message.system_properties
        what = {"message_id": properties.message_id, "receipt_handle": properties.receipt_handle}
        if self.succeeds:
            self.calls.call("AckMessage", group={"name": self.group}, topic={"name": self.topic}, entries=[what])
        else:
            waits = self.settings.backoff_policy.customized_backoff.next
            delay = waits[min(properties.delivery_attempt, len(waits)) - 1]
            self.calls.call("ChangeInvisibleDuration", **what, invisible_duration={"seconds": delay.seconds})

    def _consume_in_order(self, messages: list[Any]) -> None:
        for message in messages:
            self._consume_until_it_ends(message)

    def _consume_until_it_ends(self, message: Any) -> None:
        """What fails is tried as often as it may be, and what is refused sent again."""
        properties, most = message.system_properties, self.settings.backoff_policy.max_attempts
        what = {"message_id": properties.message_id, "receipt_handle": properties.receipt_handle}
        whole = hashlib.md5(message.body).hexdigest().upper() == properties.body_digest.checksum
        attempt = properties.delivery_attempt
        while whole and not (consumed := self.succeeds) and attempt < most:
            time.sleep(self.settings.backoff_policy.customized_backoff.next[attempt - 1].seconds)
            attempt += 1
        entries = [what]
        while True:
            if whole and consumed:
                code = self.calls.call("AckMessage", group={"name": self.group}, entries=entries).status.code
            else:
                code = self.calls.call(
                    "ForwardMessageToDeadLetterQueue", **what, delivery_attempt=attempt, max_delivery_attempts=most
                ).status.code
            if code == Code.OK:
                return
            time.sleep(0.4)

    def obey(self, command: dict[str, Any]) -> None:
        """Do what a command asks for."""
        self.succeeds = command["listen"] == "succeeds"

    def stop(self) -> None:
        """Wait for the receives, and say that it ends."""
        self.ends.set()
        for thread in self.queues.values():
            thread.join(5)
        self.calls.call("NotifyClientTermination", group={"name": self.group})
        self.calls.close()


class SimpleConsumer:
    """A simple consumer, whose heartbeats come every second."""

    def __init__(self, calls: GrpcCalls, group: str, topic: str) -> None:
        self.calls, self.group, self.topic = calls, group, topic
        self.ends = threading.Event()
        self.queue = 0
        #: Ids and handles of messages by their bodies.
        self.messages: dict[str, dict[str, str]] = {}

    def start(self) -> None:
        """Send settings, and begin to send heartbeats."""
        self.calls.settings(self.group, self.topic, self.ends, ClientType.SIMPLE_CONSUMER)
        threading.Thread(target=self._beat, daemon=True).start()

    def _beat(self) -> None:
        while not self.ends.wait(1):
            self.calls.call("Heartbeat", group={"name": self.group}, client_type=int(ClientType.SIMPLE_CONSUMER))

    def obey(self, command: dict[str, Any]) -> None:
        """Do what a command asks for."""
        if "receive" in command:
            self.queue = 1 - self.queue
            hidden = {"invisible_duration": {"seconds": command["seconds"]}}
            batch, polling = command["receive"], float(os.environ["ROCKETMQ_AWAIT"])
            for message in self.calls.receive(self.group, self.topic, self.queue, batch, polling, **hidden)[1]:
                properties = message.system_properties
                what = {"message_id": properties.message_id, "receipt_handle": properties.receipt_handle}
                self.messages[message.body.decode()] = what
        elif "ack" in command and command["ack"] in self.messages:
            self.calls.call("AckMessage", group={"name": self.group}, entries=[self.messages[command["ack"]]])
        elif "change" in command and command["change"] in self.messages:
            what = self.messages[command["change"]]
            hidden = {"invisible_duration": {"seconds": command["seconds"]}}
            answer = self.calls.call("ChangeInvisibleDuration", **what, **hidden)
            if answer.status.code == Code.OK:
                what["receipt_handle"] = answer.receipt_handle

    def stop(self) -> None:
        """Say that it ends."""
        self.ends.set()
        self.calls.call("NotifyClientTermination", group={"name": self.group})
        self.calls.close()


def main() -> None:
    """Run the consumer that the environment asks for."""
    simple = os.environ["ROCKETMQ_KIND"] == "simple"
    print(json.dumps({"takes": ["receive" if simple else "listen"]}), flush=True)
    calls = GrpcCalls(os.environ["ROCKETMQ_ENDPOINTS"], os.environ["ROCKETMQ_INSTANCE"])
    kind = SimpleConsumer if simple else Consumer
    consumer = kind(calls, os.environ["ROCKETMQ_GROUP"], os.environ["ROCKETMQ_TOPIC"])
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())

    def obey() -> None:
        for line in sys.stdin:
            consumer.obey(json.loads(line))
        os._exit(0)

    consumer.start()
    threading.Thread(target=obey, daemon=True).start()
    stop.wait()
    consumer.stop()


if __name__ == "__main__":
    main()
