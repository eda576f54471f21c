"""The fake proxy of one case: a topic, one group whose clients receive from it, and what their calls show.

It knows no transport: the gRPC door and the bundled consumer call the same methods, from any thread. As of a real
proxy, whose group pops, messages are in flight from a receive until they are acknowledged, given back or forwarded to
the dead-letter queue; but one that was given back comes again only when the case says that its time is over, so that
nothing depends on how long a step takes.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rocketmq_conformance.conformance.remoting.grpc_codes import ClientType, Code
from rocketmq_conformance.models.client.grpc_fifo import DEAD
from rocketmq_conformance.models.client.grpc_forms import ORDINARY_FORM, GrpcForm
from rocketmq_conformance.models.client.grpc_push import ACKNOWLEDGED, ANY_QUEUE
from rocketmq_conformance.models.client.grpc_simple import STALE

#: Seconds within which a receive after one that failed is hasty.
HASTE = 0.2
#: Which share of the time that a message has to wait passes at least by clocks that are not quite alike.
_ALMOST = 0.9
#: The fault that is no answer at all.
SILENCE = 0


class ProxySettings(NamedTuple):
    """What the proxy answers to a client's settings; seconds."""

    batch: int = 32
    polling: float = 2.0
    #: What a message that failed waits for: customised, or the first time, the longest and the factor.
    backoff: tuple[float, ...] = (1.0, 2.0)
    exponential: bool = False
    attempts: int = 16
    fifo: bool = False

    def delay(self, attempt: int) -> float:
        """Seconds that a message waits that failed at this attempt."""
        if self.exponential:
            first, longest, factor = self.backoff
            return min(first * factor ** (attempt - 1), longest)
        return self.backoff[min(attempt, len(self.backoff)) - 1]


class Said(NamedTuple):
    """What a client said of itself by its settings."""

    kind: int
    group: str
    #: Topics with their expressions.
    subscriptions: tuple[tuple[str, str], ...]


class Asked(NamedTuple):
    """What a receive asked for: messages, whether the proxy is to renew them, seconds of polling, an expression of
    tags, whether it named its attempt, and seconds for which they are to be hidden."""

    batch: int
    renews: bool
    polling: float
    expression: str
    attempt: bool
    hidden: float = 0.0


@dataclass(slots=True, kw_only=True)
class Held:
    """A message at the proxy."""

    queue: int
    offset: int
    form: GrpcForm = ORDINARY_FORM
    attempts: int = 0
    handle: str = ""
    #: May it be given; is it to come again once its time is over; is it done?
    free: bool = True
    back: bool = False
    done: bool = False
    #: When it was given last (s).
    given_at: float = 0.0

    @property
    def is_out(self) -> bool:
        """Was it given, and has it not ended?"""
        return not (self.free or self.done)

    @property
    def id(self) -> str:
        """Its message id, of the form that clients of RocketMQ 5 write."""
        return f"01{self.queue + 1:012X}{0:08X}{self.offset:012X}"


class Given(NamedTuple):
    """A message as a receive is given it."""

    message: Held
    handle: str
    attempt: int


#: Is called with what a receive is answered: a code, and messages where that is OK.
Deliver = Callable[[int, Sequence[Given]], None]


@dataclass(slots=True, kw_only=True, eq=False)
class Receive:
    """A receive that is open."""

    client: str
    queue: int
    batch: int
    deliver: Deliver


@dataclass(slots=True, kw_only=True)
class ClientSeen:
    """What was seen of one client."""

    said: Said | None = None
    #: Groups and kinds of its heartbeats.
    beats: set[tuple[str, int]] = field(default_factory=set)
    #: Its receives that were open when it said that it ends; None before.
    open_at_end: int | None = None
    #: The queues that its receives named, one after the other.
    named: list[int] = field(default_factory=list)


class ProxyCase:
    """The proxy of a case; ``now`` is its clock (s)."""

    def __init__(self, topic: str, group: str, now: Callable[[], float]) -> None:
        self.topic, self.group, self._now = topic, group, now
        self.settings = ProxySettings()
        self.queues = 2
        #: The queues that each client of the group is assigned.
        self.assigned: tuple[int, ...] = (ANY_QUEUE,)
        self.clients: dict[str, ClientSeen] = {}
        self.asked: set[Asked] = set()
        #: Calls that are refused, with the code, or are not answered.
        self.faults: dict[str, int] = {}
        #: What was given, and what became of messages, since the last step began.
        self.given: list[tuple[int, int, int]] = []
        self.ended: list[tuple[int, int, str]] = []
        #: At which attempt messages were that were forwarded to the dead-letter queue.
        self.tries: list[tuple[int, int, int]] = []
        #: What receives asked for since the step began.
        self.asked_now: list[Asked] = []
        #: Refused calls, those that came again too soon, and all calls of each client.
        self.refused: Counter[str] = Counter()
        self.hasty: Counter[str] = Counter()
        self.calls: Counter[tuple[str, str]] = Counter()
        self.lock = threading.RLock()
        self._messages: list[Held] = []
        self._receives: list[Receive] = []
        #: When a call about one thing was refused last.
        self._failed: dict[tuple[str, str, object], tuple[float, int]] = {}
        self._handles = 0
        #: When the last message of a queue ended.
        self._last_end: dict[int, float] = {}

    # --- what the case does -----------------------------------------------------------------------------------

    def begin_step(self) -> None:
        """Forget what messages did."""
        with self.lock:
            self.given, self.ended, self.tries, self.asked_now = [], [], [], []
            self.refused, self.hasty, self.calls = Counter(), Counter(), Counter()

    def send(self, queue: int, form: GrpcForm = ORDINARY_FORM, messages: int = 1) -> None:
        """Messages arrive in a queue, all at once."""
        with self.lock:
            offset = sum(one.queue == queue for one in self._messages)
            self._messages += (Held(queue=queue, offset=offset + at, form=form) for at in range(messages))
            self._hand_out()

    def come_again(self) -> None:
        """The time of messages that were given back is over."""
        with self.lock:
            for message in self._messages:
                message.free = message.free or (message.back and not message.done)
            self._hand_out()

    def time_is_up(self) -> None:
        """The time of all messages is over that were given: they come again, and their handles count no more."""
        with self.lock:
            for message in self._messages:
                if message.is_out:
                    message.free, message.handle = True, self._new_handle(message)
            self._hand_out()

    def end_polls(self) -> None:
        """Answer the receives that are open: their time is up."""
        with self.lock:
            for receive in self._taken(self._receives):
                receive.deliver(Code.MESSAGE_NOT_FOUND, ())

    def holds(self) -> bool:
        """Is there a message whose end is refused, and sent again?"""
        with self.lock:
            return any(not (one.free or one.back or one.done) for one in self._messages)

    def drop(self, client: str) -> None:
        """A client's connection is gone: its receives are, too."""
        with self.lock:
            self._taken([one for one in self._receives if one.client == client])

    def waits_corrupted(self) -> bool:
        """Is there a message with a wrong checksum that has not ended?"""
        with self.lock:
            return any(one.form.corrupted and not one.done for one in self._messages)

    def is_corrupted(self, queue: int, offset: int) -> bool:
        """Is the checksum of a message wrong?"""
        return any(one.form.corrupted for one in self._messages if (one.queue, one.offset) == (queue, offset))

    def open_receives(self, client: str) -> tuple[int, ...]:
        """The queues for which receives of a client are open."""
        with self.lock:
            return tuple(sorted(one.queue for one in self._receives if one.client == client))

    # --- what clients call ------------------------------------------------------------------------------------

    def seen(self, client: str) -> ClientSeen:
        """What was seen of a client."""
        with self.lock:
            return self.clients.setdefault(client, ClientSeen())

    def fault(self, client: str, call: str, about: object = None) -> int | None:
        """A client calls; the code by which it is refused now, ``SILENCE`` for no answer, None where it is answered."""
        with self.lock:
            self.calls[client, call] += 1
            what, now = (client, call, about), self._now()
            code = self.faults.get(call)
            at, before = self._failed.pop(what, (float("-inf"), Code.OK))
            if now - at < HASTE and before != Code.TOO_MANY_REQUESTS:
                self.hasty[call] += 1
            if code is not None:
                self.refused[call] += 1
                self._failed[what] = now, code
            return code

    def is_repeated(self, call: str, seconds: float) -> bool:
        """Was a call refused within the last seconds?"""
        with self.lock:
            return any(one == call and self._now() - at < seconds for (_, one, _), (at, _) in self._failed.items())

    def refuse(self, call: str, code: int) -> None:
        """From now on a call is refused, and no other one."""
        with self.lock:
            self.faults = {call: code}
            self.calls.clear()
            if call == "ReceiveMessage":
                self.end_polls()

    def mend(self) -> None:
        """Every call is answered again."""
        with self.lock:
            self.faults = {}
            self.calls.clear()

    def say(self, client: str, said: Said) -> ProxySettings:
        """A client's settings, and those that it is to have."""
        with self.lock:
            self.seen(client).said = said
            return self.settings

    def beat(self, client: str, group: str, kind: int) -> int:
        """A heartbeat."""
        with self.lock:
            self.seen(client).beats.add((group, kind))
            code = self.fault(client, "Heartbeat")
            return Code.OK if code is None else code

    def receive(self, client: str, queue: int, asked: Asked, deliver: Deliver) -> Receive | None:
        """A receive: the one that stays open, or None where it was answered at once."""
        with self.lock:
            self.asked.add(asked)
            self.asked_now.append(asked)
            seen = self.seen(client)
            seen.named.append(queue)
            if seen.said is not None and seen.said.kind == ClientType.SIMPLE_CONSUMER:
                queue = ANY_QUEUE  # as a real proxy, which looks at the broker alone
            code = self.fault(client, "ReceiveMessage", queue)
            if code is not None and code != SILENCE:
                deliver(code, ())
                return None
            made = Receive(client=client, queue=queue, batch=asked.batch, deliver=deliver)
            self._receives.append(made)
            self._hand_out()
            return made if made in self._receives else None

    def give_up(self, receive: Receive) -> bool:
        """End a receive whose time is up, or whose client is gone; False when it was answered meanwhile."""
        with self.lock:
            return bool(self._taken([receive] if receive in self._receives else []))

    def acknowledge(self, client: str, message: str, handle: str) -> int:
        """An acknowledgement of a message by a handle."""
        with self.lock:
            code = self.fault(client, "AckMessage", message)
            return self._end(message, handle, ACKNOWLEDGED) if code is None else self._unended(message, code)

    def change(self, client: str, message: str, handle: str, seconds: float) -> tuple[int, str]:
        """A message is to be visible again in so many seconds; the code, and its new handle."""
        with self.lock:
            code = self.fault(client, "ChangeInvisibleDuration", message)
            if code is not None:
                return self._unended(message, code), ""
            code = self._end(message, handle, f"comes again after {seconds:g} s")
            return code, self._handle(message) if code == Code.OK else ""

    def forward(self, client: str, message: str, handle: str, attempt: int) -> int:
        """A message goes to the dead-letter queue; at which attempt it was, as the client says."""
        with self.lock:
            code = self.fault(client, "ForwardMessageToDeadLetterQueue", message)
            if code is not None:
                return code
            held = self._held(message)
            early = held is not None and self._is_early(held)
            code = self._end(message, handle, f"{DEAD}, too soon" if early else DEAD)
            if held is not None and code == Code.OK:
                self.tries.append((held.queue, held.offset, attempt))
            return code

    def terminate(self, client: str, group: str) -> int:
        """A client says that it ends."""
        with self.lock:
            self.seen(client).open_at_end = len(self.open_receives(client))
            return Code.OK

    def assignment(self, client: str) -> tuple[int, tuple[int, ...]]:
        """A code, and the queues of the client."""
        with self.lock:
            code = self.fault(client, "QueryAssignment")
            return (Code.OK, self.assigned) if code is None else (code, ())

    def route(self, client: str, topic: str) -> tuple[int, int]:
        """A code, and how many queues a topic has."""
        with self.lock:
            code = self.fault(client, "QueryRoute")
            if code is not None:
                return code, 0
            return (Code.OK, self.queues) if topic == self.topic else (Code.TOPIC_NOT_FOUND, 0)

    # ----------------------------------------------------------------------------------------------------------

    def _hand_out(self) -> None:
        """Answer the receives that there are messages for, each with as many as it takes."""
        for receive in list(self._receives):
            found = [one for one in self._messages if one.free and receive.queue in (one.queue, ANY_QUEUE)]
            if self.settings.fifo:
                found = self._next_in_order(found)
            if not found or receive not in self._receives:
                continue
            self._receives.remove(receive)
            given = [self._give(message) for message in found[: max(receive.batch, 1)]]
            receive.deliver(Code.OK, given)

    def _next_in_order(self, found: Sequence[Held]) -> list[Held]:
        """Those of one queue, none of whose messages is out."""
        out = {one.queue for one in self._messages if one.is_out}
        queue = next((one.queue for one in found if one.queue not in out), None)
        return [one for one in found if one.queue == queue]

    def _is_early(self, message: Held) -> bool:
        """Can a member not have tried a message of a FIFO group as often as it may, and waited each time?"""
        began = max(message.given_at, self._last_end.get(message.queue, 0.0))
        waits = sum(self.settings.delay(attempt) for attempt in range(message.attempts, self.settings.attempts))
        return self.settings.fifo and not message.form.corrupted and self._now() - began < waits * _ALMOST

    def _give(self, message: Held) -> Given:
        message.attempts += 1
        message.free = message.back = False
        message.given_at = self._now()
        message.handle = self._new_handle(message)
        self.given.append((message.queue, message.offset, message.attempts))
        return Given(message, message.handle, message.attempts)

    def _new_handle(self, message: Held) -> str:
        self._handles += 1
        return f"{message.id}-{self._handles}"

    def _handle(self, id_: str) -> str:
        message = self._held(id_)
        assert message is not None
        message.handle = self._new_handle(message)
        return message.handle

    def _held(self, id_: str) -> Held | None:
        return next((one for one in self._messages if one.id == id_), None)

    def _end(self, id_: str, handle: str, how: str) -> int:
        """A message ends so; the code."""
        message = self._held(id_)
        if message is None:
            return Code.INVALID_RECEIPT_HANDLE
        if handle != message.handle or message.done:
            self.ended.append((message.queue, message.offset, f"{how} {STALE}"))
            return Code.INVALID_RECEIPT_HANDLE
        self.ended.append((message.queue, message.offset, how))
        message.done = how == ACKNOWLEDGED or how.startswith(DEAD)
        message.back = not message.done
        if not message.form.corrupted:  # the next one does not wait for the end of these
            self._last_end[message.queue] = self._now()
        if self.settings.fifo:
            self._hand_out()
        return Code.OK

    def _unended(self, id_: str, code: int) -> int:
        """The code by which a message's end is refused: one whose handle counts no more comes again."""
        if code == Code.INVALID_RECEIPT_HANDLE:
            for message in self._messages:
                message.back = message.back or message.id == id_
        return code

    def _taken(self, receives: Sequence[Receive]) -> list[Receive]:
        """Receives that are open no more."""
        gone = list(receives)
        self._receives = [one for one in self._receives if one not in gone]
        return gone


def body_of(message: Held) -> tuple[bytes, str]:
    """The body of a message as it is sent, and its checksum."""
    form, body = message.form, f"{message.queue}/{message.offset}".encode()
    body = gzip.compress(body) if form.compressed else body
    summed = body + b"!" if form.corrupted else body
    match form.digest:
        case "CRC32":
            return body, f"{zlib.crc32(summed):X}"
        case "SHA1":
            return body, hashlib.sha1(summed, usedforsecurity=False).hexdigest().upper()
        case _:
            return body, hashlib.md5(summed, usedforsecurity=False).hexdigest().upper()
