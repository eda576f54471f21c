"""A real broker that is asked and written to while programs use it."""

from __future__ import annotations

import re
import threading
import time

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.cluster import ROUTE_LIMIT
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.outcome import Err

#: Timeout of a request (s).
_PATIENCE = 20.0
#: How long the table of stored offsets counts for all cases (s).
_FRESH = 0.2
#: The table of stored offsets, an entry of it, and an offset in that; keys are numbers as Java writes them, or texts.
_OFFSETS = re.compile(rb'"offsetTable":\{((?:"[^"]*":\{[^}]*\},?)*)\}')
_ENTRY = re.compile(rb'"([^"]*)":\{([^}]*)\}')
_OFFSET = re.compile(rb'"?(\d+)"?:(-?\d+)')

Address = tuple[str, int]


class BrokerInUse:
    """A broker and its name server; every method may be called from any thread."""

    def __init__(self, address: Address, name_server: Address) -> None:
        self.address, self.name_server = address, name_server
        #: How many cases use it.
        self.cases = 0
        self._lock = threading.Lock()
        self._connections: dict[Address, Connection] = {}
        self._offsets: dict[str, dict[int, int]] = {}
        self._asked = 0.0

    def ask(self, request: requests.Ask) -> Command:
        """Send a request to the broker; its response. AdapterError when there is none."""
        return self._ask(self.address, request)

    def do(self, request: requests.Ask) -> Command:
        """Send a request that must succeed; AdapterError when it does not."""
        answer = self.ask(request)
        error = responses.refused(answer)
        if error is not None:
            raise AdapterError(
                f"The broker refused request {int(request.code)} with {error.code} ({error.detail}): judge through one "
                "that lets you."
            )
        return answer

    def number(self, request: requests.Ask) -> int:
        """Ask for an offset."""
        found = responses.number(self.do(request))
        if isinstance(found, Err):
            raise AdapterError(f"The broker answered request {int(request.code)} without an offset: {found.detail}.")
        return found

    def stored(self, group: str, topic: str) -> dict[int, int]:
        """The stored offsets of a group, by queue, as they were a moment ago.

        A question for one of them does not tell none from 0 (BQ-QCO-1), and so the whole table is asked for.
        """
        with self._lock:
            if time.monotonic() - self._asked > _FRESH:
                # the time before it was asked for: what is stored from then on may be missing
                asked = time.monotonic()
                self._offsets = offset_table(self._call(self.address, requests.stored_offsets()).body)
                self._asked = asked
            return self._offsets.get(f"{topic}@{group}", {})

    def create(self, topic: str, queues: int) -> None:
        """Create a topic, or change its number of queues, and wait until its route says so."""
        self.do(requests.create_topic(topic, Topic.of(queues)))
        self.await_route(topic, queues)

    def await_route(self, topic: str, queues: int) -> None:
        """Wait until the name server names so many queues; AdapterError when it does not in time."""
        if not wait_until(lambda: self._routed(topic) == queues, ROUTE_LIMIT, 0.05):
            raise AdapterError(f"The name server does not know {topic} after {ROUTE_LIMIT:.0f} s: try again.")

    def fill(self, topic: str, queue: int, messages: int) -> None:
        """Send so many messages to a queue."""
        for _ in range(messages):
            self.do(requests.send(topic, queue, int(time.time() * 1000)))

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            for connection in self._connections.values():
                connection.close()
            self._connections.clear()

    def _routed(self, topic: str) -> int:
        answer = self._ask(self.name_server, requests.Ask(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}))
        if answer.code:
            return 0
        return int(java_json.loads(answer.body.decode())["queueDatas"][0]["readQueueNums"])

    def _ask(self, where: Address, request: requests.Ask) -> Command:
        with self._lock:
            return self._call(where, request)

    def _call(self, where: Address, request: requests.Ask) -> Command:
        connection = self._connections.pop(where, None)
        try:
            if connection is None or connection.lost():  # brokers close one that is idle
                connection = Connection(*where, _PATIENCE)
            answer = connection.call(request.code, request.ext, request.body)
        except OSError as error:
            if connection is not None:
                connection.close()
            raise AdapterError(
                f"The broker that cases go through does not answer ({error}): start it again."
            ) from error
        self._connections[where] = connection
        return answer


def offset_table(body: bytes) -> dict[str, dict[int, int]]:
    """The stored offsets in an answer to GET_ALL_CONSUMER_OFFSET, by topic@group and queue.

    It is read many times a second, and so not as a whole. From 5.0.0 on there are tables of other offsets beside it.
    """
    table = _OFFSETS.search(body)
    entries = _ENTRY.findall(table[1]) if table else ()
    return {
        name.decode(): {int(queue): int(offset) for queue, offset in _OFFSET.findall(offsets)}
        for name, offsets in entries
    }
