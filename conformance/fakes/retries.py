"""Messages that come again or later: send-backs, copies to retry topics, messages with a delay level or a time of their
own (BQ-BACK-*, BQ-DEAD-*, BQ-COPY-*, BQ-TIMER-*).

The model decides where a copy goes; here it waits for the time of its level. A broker that is stopped or killed keeps
those that wait: they are on its disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.record import Record
from rocketmq_conformance.conformance.fakes.responses import (
    ConnectionHandler,
    PlainHandler,
    command,
    refused,
)
from rocketmq_conformance.conformance.fakes.send_backs import sent_back
from rocketmq_conformance.conformance.fakes.storage import DEFAULT_RETRIES, Storage
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import VERSION, Command
from rocketmq_conformance.conformance.remoting.message import (
    Message,
    format_properties,
    message_id,
    parse_properties,
)
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker import send_back as model
from rocketmq_conformance.models.broker import timer
from rocketmq_conformance.models.broker.delay_level import effective_level
from rocketmq_conformance.models.broker.own_names import SCHEDULE_TOPIC, TIMER_TOPIC
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.send_back import (
    DELAY,
    NAMES_LIMIT,
    BackRequest,
    Filing,
    KeptMessage,
    RetrySettings,
)
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.java_text import parse_number
from rocketmq_conformance.models.outcome import Err

#: What the names of the properties with a time begin with.
_TIMER = "TIMER_"


class Retries:
    """Stores what comes again. ``clock`` gives ms since the epoch, ``levels`` are the times of the delay levels (ms),
    ``later`` calls back after some seconds while the broker runs, and ``stored`` is called with every message."""

    def __init__(
        self,
        storage: Storage,
        clock: Callable[[], int],
        levels: Sequence[int],
        later: Callable[[float, Callable[[], object]], object],
        stored: Callable[[Message], object],
    ) -> None:
        self._storage = storage
        self._clock = clock
        self.levels = levels
        self._later = later
        self._stored = stored
        #: Messages that wait: due time (ms), number, message.
        self._waiting: list[tuple[int, int, Message]] = []
        self._scheduled = [0] * len(levels)
        #: How many messages waited for a time of their own, and how long a second of such times is (ms).
        self._turns = 0
        self.second = timer.SECOND
        self._count = 0
        #: Does a group hold a lock?
        self.locked: Callable[[str], bool] = lambda group: False
        #: Takes down the messages that are sent back, in a client case; these are not stored.
        self.record: Record | None = None

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        return {int(Request.CONSUMER_SEND_MSG_BACK): lambda code, ext, body: self._send_back(ext, VERSION)}

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        """The handlers that replace them over a connection, by request code: clients have versions there."""
        return {int(Request.CONSUMER_SEND_MSG_BACK): self._send_back_from}

    def _send_back_from(self, peer: Peer, request: Command) -> Command:
        return command(self._send_back(request.ext, request.version))

    def _send_back(self, ext: dict[str, str], version: int) -> Answered:
        if self.record is not None:  # a client case, whose messages have no log
            self.record.sent_back.append(sent_back(ext))
            return 0, "", {}, b""
        asked = BackRequest(
            ext["group"], int(ext["delayLevel"]), parse_number(ext.get("maxReconsumeTimes"), 64), ext.get("originTopic")
        )
        message = self.look(int(ext["offset"]))
        filing = self.decide(message, asked, version >= NAMES_LIMIT)
        if isinstance(filing, Err):
            return refused(filing, f"message {ext['offset']} of group {asked.group} cannot be sent back")
        if filing is not None and message is not None:
            self.file(message, filing)
        return 0, "", {}, b""

    def forget(self) -> None:
        """Let nothing wait any more."""
        self._waiting.clear()

    @property
    def waiting(self) -> int:
        """The number of messages that wait for their time."""
        return len(self._waiting)

    # --- what is decided --------------------------------------------------------------------------------------

    def settings(self, group: str) -> RetrySettings:
        """The settings of a group for messages that are sent back."""
        return self._storage.retries.get(group, DEFAULT_RETRIES)

    def look(self, physical: int) -> Message | None:
        """BQ-BACK-LOOK: the message at a place of the log."""
        return self._storage.message_at(physical)

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> Filing | Err | None:
        """BQ-BACK-*, BQ-DEAD-*: what happens to a message that is sent back."""
        storage = self._storage
        found = None if message is None else self.kept(message)
        storage.state, filing, _ = model.send_back(
            storage.rules,
            storage.state,
            self.settings(asked.group),
            found,
            asked,
            len(self.levels),
            names_limit=names_limit,
        )
        return filing

    def kept(self, message: Message) -> KeptMessage:
        """A message as the model looks at it."""
        place = message_id(message.store_host, message.physical)
        return KeptMessage(message.topic, message.reconsume_times, parse_properties(message.properties), place)

    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        """BQ-COPY-*: what happens to a copy that a client sends to a retry topic."""
        storage, group = self._storage, copy.topic.removeprefix(RETRY)
        kept = KeptMessage(copy.topic, copy.reconsume_times, parse_properties(copy.properties))
        storage.state, filing, _ = model.send_copy(
            storage.rules,
            storage.state,
            self.settings(group),
            group,
            kept,
            most,
            len(self.levels),
            names_limit=names_limit,
            locked=self.locked(group),
        )
        return filing

    def pick(self, filing: Filing) -> int:
        """BQ-BACK-QUEUE: the queue of a copy."""
        return self._count % filing.queues

    def wait(self, level: int) -> int:
        """BQ-BACK-TIME: how long a message waits at a level (ms)."""
        return self.levels[level - 1]

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        """BQ-TIMER-*: until when a message waits that has a time of its own (ms since the epoch)."""
        return timer.timed(self._storage.rules, properties, level, self._clock(), self.second).due

    def untimed(self, properties: dict[str, str]) -> dict[str, str]:
        """BQ-TIMER-LEVEL: the properties of a message with a delay level."""
        return timer.without_timers(properties) if self._storage.rules.has_timers else properties

    # --- what is done -----------------------------------------------------------------------------------------

    def file(self, message: Message, filing: Filing) -> None:
        """Store the copy of a message at the time of its level."""
        self._count += 1
        queue = self.pick(filing)
        kept = filing.stored(queue)
        copy = replace(
            message,
            topic=kept.topic,
            queue=queue,
            reconsume_times=kept.times,
            properties=format_properties(dict(kept.properties)),
        )
        if filing.level:
            self._delay(copy, filing.level)
        else:
            self._put(copy)

    def copied(self, copy: Message, most: int | None, version: int) -> Message | Err:
        """The message that a copy to a retry topic becomes, to be stored or delayed."""
        filing = self.decide_copy(copy, most, version >= NAMES_LIMIT)
        if isinstance(filing, Err):
            return filing
        queue = copy.queue if filing.topic == copy.topic else 0
        properties = format_properties(dict(filing.properties))
        return replace(copy, topic=filing.topic, queue=queue, properties=properties)

    def delayed(self, draft: Message) -> Message | Err | None:
        """Keep a message that is sent until its time, or the time of its level; None for one that does not wait.

        What is returned lies where delayed messages wait.
        """
        properties, level, due = self._times(draft)
        if not level and due is None:
            return None
        storage, queue = self._storage, self._storage.queue_of(draft)
        if isinstance(queue, Err):
            return queue
        checked = send(storage.rules, storage.state, draft.topic, queue, ())[1]
        if isinstance(checked, Err):
            return checked
        if isinstance(due, Err):
            return due
        self._count += 1
        if due is not None:
            return self._timed(replace(draft, queue=queue), properties, due)
        properties = self.untimed(properties)
        stored = Filing(draft.topic, 1, level, draft.reconsume_times, {**properties, DELAY: str(level)}).stored(queue)
        self._delay(replace(draft, queue=queue, properties=format_properties(dict(stored.properties))), level)
        offset = self._scheduled[level - 1]
        self._scheduled[level - 1] += 1
        return replace(draft, topic=SCHEDULE_TOPIC, queue=queue, offset=offset)

    def added(self, draft: Message) -> dict[str, str]:
        """The properties that a broker adds to a message that waits for its time, or that of its level."""
        _, level, due = self._times(draft)
        if isinstance(due, Err) or (not level and due is None):
            return {}
        place = {model.REAL_TOPIC: draft.topic, model.REAL_QUEUE: str(max(draft.queue, 0))}
        return place if due is None else {timer.OUT: str(due), **place}

    def _times(self, draft: Message) -> tuple[dict[str, str], int, int | Err | None]:
        """The properties of a message, its level, and until when it waits that has a time of its own."""
        if DELAY not in draft.properties and _TIMER not in draft.properties:
            return {}, 0, None
        properties = parse_properties(draft.properties)
        level = effective_level(int(properties.get(DELAY, "0")), len(self.levels))
        return properties, level, self.due(properties, level)

    def _timed(self, draft: Message, properties: Mapping[str, str], due: int) -> Message:
        """BQ-TIMER-COPY: keep a message until its time."""
        kept = {**properties, **self.added(draft), timer.OUT: str(due)}
        self._keep(replace(draft, properties=format_properties(kept)), due - self._clock())
        self._turns += 1
        return replace(draft, topic=TIMER_TOPIC, queue=0, offset=self._turns - 1)

    def _delay(self, message: Message, level: int) -> None:
        self._keep(message, self.wait(level))

    def _keep(self, message: Message, wait: int) -> None:
        """Store a message in so many ms."""
        if wait <= 0:
            self._put(message)
            return
        heappush(self._waiting, (self._clock() + wait, self._count, message))
        self._later(wait / 1000, self.deliver)

    def _put(self, message: Message) -> None:
        self._stored(self._storage.put(message))

    def deliver(self) -> None:
        """Store every message whose time has come."""
        while self._waiting and self._waiting[0][0] <= self._clock():
            self._put(heappop(self._waiting)[2])

    def resume(self) -> None:
        """The broker runs again: messages that wait are delivered at their time, those that are due now."""
        self.deliver()
        for due, _, _ in self._waiting:
            self._later((due - self._clock()) / 1000, self.deliver)
