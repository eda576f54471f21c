"""Pulls: answering them, and holding those that find nothing new (BQ-PULL-*)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.responses import (
    ConnectionHandler,
    PlainHandler,
    command,
    place,
    refused,
    required,
)
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker import names
from rocketmq_conformance.models.broker import pull as model
from rocketmq_conformance.models.broker.pull import COMMIT, SUBSCRIPTION, PullMessageRequest, PullResult
from rocketmq_conformance.models.broker.pull_fields import PullFields, missing_error
from rocketmq_conformance.models.broker.slave import refuses_pulls
from rocketmq_conformance.models.broker.subscription import StoredEntry, TagCodes, carried_codes, passes_filter
from rocketmq_conformance.models.java_text import parse_number
from rocketmq_conformance.models.outcome import Err, Result

#: Seconds between two looks of a broker at its held pulls, whether or not what arrived passes their filter.
HOLD_CHECK = 5.0

_REMARKS = {
    "SUBSCRIPTION_GROUP_NOT_EXIST": "subscription group [{group}] does not exist",
    "TOPIC_NOT_EXIST": "topic[{topic}] not exist, apply first please!",
    "NO_PERMISSION": "group[{group}] or topic[{topic}]: pulling message is forbidden",
    "SYSTEM_BUSY": "[REJECTREQUEST]system busy, start flow control for a while",
    "SYSTEM_ERROR": "queueId[{queue}] of topic[{topic}], the expression type or maxMsgNums is illegal",
    "INVALID_PARAMETER": "queueId[{queue}] is illegal, topic:[{topic}]",
    "SUBSCRIPTION_PARSE_FAILED": "parse the consumer's subscription failed",
    "SUBSCRIPTION_NOT_EXIST": "the consumer's subscription not exist",
    "SUBSCRIPTION_NOT_LATEST": "the consumer's subscription not latest",
    "FILTER_DATA_NOT_EXIST": "The broker's consumer filter data is not exist!Your expression may be wrong!",
    "FILTER_DATA_NOT_LATEST": "the consumer's consumer filter data not latest",
}

#: Numbers without which there is no pull, and their bits.
_REQUIRED = {"queueId": 32, "queueOffset": 64, "maxMsgNums": 32}
#: All numbers of a pull.
_NUMBERS = {**_REQUIRED, "sysFlag": 32, "commitOffset": 64, "suspendTimeoutMillis": 64, "subVersion": 64}

Later = Callable[[float, Callable[[], object]], asyncio.TimerHandle]


@dataclass(eq=False)
class HeldPull:
    """One pull that waits until ``until`` (ms since the epoch); without checks it has timers of its own: for that time,
    and for messages that do not pass."""

    peer: Peer
    request: Command
    offset: int
    codes: TagCodes | Err
    until: int
    timer: asyncio.TimerHandle | None = None
    check: asyncio.TimerHandle | None = None

    def release(self) -> None:
        for timer in (self.timer, self.check):
            if timer is not None:
                timer.cancel()


class Pulls:
    """Answers pulls from a storage.

    ``later`` calls back after some seconds; ``registered`` knows the tags that a group subscribes to in a topic, for a
    version; ``pulled`` is called with group and topic of every pull, ``read`` with the messages that are read (topic,
    queue, first offset); ``lite`` is whether LITE_PULL_MESSAGE is known (BQ-PULL-LITE). ``clock`` gives ms since the
    epoch. Held pulls are checked every ``hold_check`` seconds, as brokers do (BQ-PULL-CHECK); with None each is
    answered exactly when its time is up.
    """

    def __init__(
        self,
        storage: Storage,
        registered: Callable[[str, str, int], TagCodes | Err],
        pulled: Callable[[str, str], object],
        read: Callable[[str, int, int], object],
        later: Later,
        lite: bool,
        clock: Callable[[], int],
        hold_check: float | None = None,
    ) -> None:
        self._storage = storage
        self._registered = registered
        self._pulled = pulled
        self._read = read
        self._later = later
        self._lite = lite
        self._clock = clock
        self._hold_check = hold_check
        #: Called with each pull over a connection that was not refused: the connection, group, topic, queue, and the
        #: offset that it asked for or was sent to.
        self.pulled_from: Callable[[int, str, str, int, int], object] = lambda number, group, topic, queue, offset: None
        #: The node of the broker that answers suggest for the next pull.
        self.suggested = 0
        #: What a release says of topic and group in each answer.
        self.flags: Mapping[str, str] = {}
        #: When held pulls are checked next (ms since the epoch), and the timer that wakes the broker for it.
        self._due = 0
        self._timer: asyncio.TimerHandle | None = None
        self._held: dict[tuple[str, int], list[HeldPull]] = {}

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        return dict.fromkeys(self._codes_served(), self._pull_at_once)

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        """The handlers that replace them over a connection, by request code: pulls can be held there."""
        return dict.fromkeys(self._codes_served(), self.pull)

    def _codes_served(self) -> tuple[int, ...]:
        codes = (Request.PULL_MESSAGE, Request.LITE_PULL_MESSAGE) if self._lite else (Request.PULL_MESSAGE,)
        return tuple(map(int, codes))

    @property
    def held(self) -> int:
        """How many pulls wait."""
        return sum(len(waiting) for waiting in self._held.values())

    def pull(self, peer: Peer, request: Command) -> Command | None:
        """The answer to a pull that has just arrived; None when it is held."""
        flags = int(request.ext["sysFlag"])
        codes, response = self._first_look(request, flags)
        self._pulled_from(peer, request, response)
        self.answered(peer, request, response)
        if not self.holds(Response(response.code).name, flags):
            return response
        self.hold(peer, request, codes)
        return None

    def hold(self, peer: Peer, request: Command, codes: TagCodes | Err) -> None:
        """Put a pull aside until a message wakes it, or a check."""
        wait = self.wait(request.ext)
        held = HeldPull(peer, request, int(request.ext["queueOffset"]), codes, self._clock() + wait)
        self._held.setdefault(place(request.ext), []).append(held)
        if self._hold_check is None:
            held.timer = self._later(wait / 1000, partial(self._wake, held))
        elif self._timer is None:
            # checks go on while nothing is held: this is when the next one is
            late = self._clock() - self._due
            self._due += (late // self.interval() + 1) * self.interval() if late >= 0 else 0
            self._await_check()

    def _pull_at_once(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """The response to a pull in process: its caller waits, so no message can arrive meanwhile."""
        response = self._first_look(Command(code, ext), int(ext["sysFlag"]))[1]
        return response.code, response.remark, response.ext, response.body

    def _first_look(self, request: Command, flags: int) -> tuple[TagCodes | Err, Command]:
        ext = request.ext
        if self._storage.rules.pull_fails_at_once:
            for name, bits in _NUMBERS.items():
                if name in ext:
                    required(ext, name, bits)
        return self._look(request, bool(flags & COMMIT))

    def _look(self, request: Command, commits: bool) -> tuple[TagCodes | Err, Command]:
        """BQ-PULL-AGAIN: the subscription of a pull, and its answer, by what the broker knows now."""
        ext = request.ext
        rules = self._storage.rules
        if rules.readable and not refuses_pulls(rules):
            self._storage.know_group(ext["consumerGroup"])
        codes = self.subscribed(ext, int(ext["sysFlag"]))
        return codes, self._judge(request, codes, commits)

    def arrived(self, topic: str, queue: int) -> None:
        """A message was stored: pulls whose filter it passes, or whose time is up, are judged again at once, others at
        their next check; without long polling all of them."""
        for held in list(self._held.get((topic, queue), ())):
            entry = self._storage.entries(topic, queue)[-1]
            if self._storage.rules.long_polling and (self.wakes(held.codes, entry) or self._is_up(held)):
                self._wake(held)
            elif self._hold_check is None and held.check is None:
                held.check = self._later(self.interval() / 1000, partial(self._wake, held))

    def check(self) -> None:
        """BQ-PULL-CHECK: if it is time, judge the held pulls again that have new messages, or whose time is up."""
        if self._hold_check is None or not self._held or self._clock() < self._due:
            return
        for held in [held for waiting in self._held.values() for held in waiting]:
            if self.has_news(held) or self._is_up(held):
                self._wake(held)
        self._due = self._clock() + self.interval()

    def _await_check(self) -> None:
        """Check when it is time, as long as anything is held."""
        self._timer = None
        self.check()
        if self._held:
            self._timer = self._later(max(self._due - self._clock(), 1) / 1000, self._await_check)

    def holds(self, code: str, flags: int) -> bool:
        """BQ-PULL-10: is a pull held that would be answered so?"""
        return model.is_held(code, flags)

    def wait(self, ext: Mapping[str, str]) -> int:
        """For how long a pull is held at least, unless a message wakes it (ms)."""
        rules = self._storage.rules
        return int(ext["suspendTimeoutMillis"]) if rules.long_polling else rules.short_polling

    def interval(self) -> int:
        """The time between two checks (ms)."""
        rules = self._storage.rules
        return int((self._hold_check or HOLD_CHECK) * 1000) if rules.long_polling else max(rules.short_polling, 1)

    def wakes(self, codes: TagCodes | Err, entry: StoredEntry) -> bool:
        """Does a message wake a pull with this subscription?"""
        return not isinstance(codes, Err) and passes_filter(self._storage.rules, codes, entry)

    def has_news(self, held: HeldPull) -> bool:
        """Did a message arrive since a pull was held?"""
        topic, queue = place(held.request.ext)
        log = self._storage.state.logs.get((topic, queue))
        return log is not None and log.max > held.offset

    def _is_up(self, held: HeldPull) -> bool:
        return self._hold_check is not None and self._clock() >= held.until

    def closed(self, peer: Peer) -> None:
        """A connection was closed: drop the pulls it waits for."""
        for waiting in list(self._held.values()):
            for held in [held for held in waiting if held.peer is peer]:
                self._drop(held)

    def fail_held(self, topic: str | None = None, queue: int | None = None) -> None:
        """Answer every held pull, or each of one topic or queue, by an error."""
        for held in self.forget_held(topic, queue):
            self._end(held, command(refused(Err("SYSTEM_ERROR"), "the broker does not hold pulls any more")))

    def end_held(self, ends: Callable[[Command], bool]) -> None:
        """Answer held pulls before their time is up: those that are to end."""
        for held in [held for waiting in self._held.values() for held in waiting if ends(held.request)]:
            self._wake(held)

    def forget_held(self, topic: str | None = None, queue: int | None = None) -> list[HeldPull]:
        """Do not answer any of the held pulls, or those of one topic or queue; which they were."""
        found = [
            held
            for place, waiting in self._held.items()
            if topic in (None, place[0]) and queue in (None, place[1])
            for held in waiting
        ]
        for held in found:
            self._drop(held)
        return found

    def _wake(self, held: HeldPull) -> None:
        self._drop(held)
        # all but what wakes it counts as it is now
        _, response = self._look(held.request, False)
        self._pulled_from(held.peer, held.request, response)
        self.answered(held.peer, held.request, response)
        self._end(held, response)

    def _pulled_from(self, peer: Peer, request: Command, response: Command) -> None:
        if "nextBeginOffset" in response.ext:
            moved = response.code == Response.PULL_OFFSET_MOVED
            offset = int(response.ext["nextBeginOffset"] if moved else request.ext["queueOffset"])
            self.pulled_from(peer.number, request.ext["consumerGroup"], *place(request.ext), offset)

    def _end(self, held: HeldPull, response: Command) -> None:
        held.peer.answer(held.request, response)

    def answered(self, peer: Peer, request: Command, response: Command) -> None:
        """A pull over a connection was judged: this is its response, unless it is held."""

    def _drop(self, held: HeldPull) -> None:
        held.release()
        key = place(held.request.ext)
        self._held[key].remove(held)
        if not self._held[key]:
            del self._held[key]
        if not self._held and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def subscribed(self, ext: Mapping[str, str], flags: int) -> TagCodes | Err:
        """BQ-PULL-SUB: the subscription of a pull, the one that it carries or the registered one."""
        if flags & SUBSCRIPTION:
            return carried_codes(self._storage.rules, ext.get("subscription"), ext.get("expressionType"))
        return self._registered(ext["consumerGroup"], ext["topic"], int(ext["subVersion"]))

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        """BQ-PULL-*: what a pull finds (``PullResult``), or the error."""
        storage = self._storage
        entries = storage.entries(asked.topic, asked.queue)
        storage.state, result, _ = names.pull_named(storage.rules, storage.state, asked, codes, entries)
        return cast(Result, result)

    def _judge(self, request: Command, codes: TagCodes | Err, commits: bool) -> Command:
        ext, storage = request.ext, self._storage
        group, topic = ext.get("consumerGroup"), ext.get("topic")
        queue, offset, most = (parse_number(ext.get(name), bits) for name, bits in _REQUIRED.items())
        if group is None or topic is None or queue is None or offset is None or most is None:
            fields = PullFields(group, topic, queue, offset, most)
            return command(refused(missing_error(storage.rules, storage.state, fields)))
        commit = required(ext, "commitOffset") if commits else None
        asked = PullMessageRequest(group, topic, queue, offset, most, commit)
        if int(ext["sysFlag"]) & SUBSCRIPTION and model.subscribes(storage.rules, storage.state, asked, codes):
            self._pulled(group, topic)
        result = self.find(asked, codes)
        if isinstance(result, Err):
            return command(refused(result, _REMARKS[result.code].format(group=group, topic=topic, queue=queue)))
        status, following, low, high, found = cast(PullResult, result)
        storage.pulled((group, topic, queue), following)
        body = storage.stored(topic, queue, found) if found else b""
        if found:
            self._read(topic, queue, found[0])
        answer = {
            "suggestWhichBrokerId": str(self.suggested),
            "nextBeginOffset": str(following),
            "minOffset": str(low),
            "maxOffset": str(high),
            **self.flags,
        }
        return Command(int(Response[model.response_code(status, offset, storage.rules)]), answer, body, remark=status)
