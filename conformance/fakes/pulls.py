"""Pulls: answering them, and holding those that find nothing new (BQ-PULL-*)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

from rocketmq_conformance.conformance.fakes.responses import (
    Answered,
    ConnectionHandler,
    PlainHandler,
    command,
    optional,
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
from rocketmq_conformance.models.broker.pull import (
    COMMIT,
    SUBSCRIPTION,
    PullMessageRequest,
    PullResult,
    RegisteredSubscription,
    TagCodes,
)
from rocketmq_conformance.models.broker.pull_fields import PullFields, missing_error
from rocketmq_conformance.models.outcome import Err, Result

#: Seconds after which a broker looks at its held pulls again, whether or not what arrived passes their filter.
HOLD_CHECK = 5.0

_REMARKS = {
    "SUBSCRIPTION_GROUP_NOT_EXIST": "subscription group [{group}] does not exist",
    "TOPIC_NOT_EXIST": "topic[{topic}] not exist, apply first please!",
    "NO_PERMISSION": "group[{group}] or topic[{topic}]: pulling message is forbidden",
    "SYSTEM_ERROR": "queueId[{queue}] of topic[{topic}], the expression type or maxMsgNums is illegal",
    "INVALID_PARAMETER": "queueId[{queue}] is illegal, topic:[{topic}]",
    "SUBSCRIPTION_PARSE_FAILED": "parse the consumer's subscription failed",
    "SUBSCRIPTION_NOT_EXIST": "the consumer's subscription not exist",
    "SUBSCRIPTION_NOT_LATEST": "the consumer's subscription not latest",
}

#: Numbers without which there is no pull, and their bits.
_REQUIRED = {"queueId": 32, "queueOffset": 64, "maxMsgNums": 32}
#: All numbers of a pull.
_NUMBERS = {**_REQUIRED, "sysFlag": 32, "commitOffset": 64, "suspendTimeoutMillis": 64, "subVersion": 64}

Later = Callable[[float, Callable[[], object]], asyncio.TimerHandle]


@dataclass(eq=False)
class _Held:
    """One pull that waits; ``timer`` is when it is judged again at the latest."""

    peer: Peer
    request: Command
    offset: int
    codes: TagCodes | Err
    timer: asyncio.TimerHandle | None = None
    check: asyncio.TimerHandle | None = None

    def release(self) -> None:
        for timer in (self.timer, self.check):
            if timer is not None:
                timer.cancel()


class Pulls:
    """Answers pulls from a storage. ``later`` calls back after some seconds; ``subscription`` knows what a group
    registered for a topic, ``pulled`` is called with the group and topic of every pull, ``read`` with the messages
    that are read (topic, queue, first offset); ``lite`` is whether LITE_PULL_MESSAGE is known (BQ-PULL-LITE)."""

    def __init__(
        self,
        storage: Storage,
        subscription: Callable[[str, str], RegisteredSubscription | None],
        pulled: Callable[[str, str], object],
        read: Callable[[str, int, int], object],
        later: Later,
        lite: bool,
    ) -> None:
        self._storage = storage
        self._subscription = subscription
        self._pulled = pulled
        self._read = read
        self._later = later
        self._lite = lite
        self._held: dict[tuple[str, int], list[_Held]] = {}

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
        if not model.is_held(Response(response.code).name, flags):
            return response
        held = _Held(peer, request, int(request.ext["queueOffset"]), codes)
        seconds = int(request.ext["suspendTimeoutMillis"]) / 1000
        held.timer = self._later(seconds, partial(self._wake, held))
        self._held.setdefault(place(request.ext), []).append(held)
        return None

    def _pull_at_once(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """The response to a pull in process: its caller waits, so no message can arrive meanwhile."""
        response = self._first_look(Command(code, ext), int(ext["sysFlag"]))[1]
        return response.code, response.remark, response.ext, response.body

    def _first_look(self, request: Command, flags: int) -> tuple[TagCodes | Err, Command]:
        ext, rules = request.ext, self._storage.rules
        if rules.pull_fails_at_once:
            for name, bits in _NUMBERS.items():
                if name in ext:
                    required(ext, name, bits)
        if rules.readable:
            self._storage.know_group(ext["consumerGroup"])
        codes = self._codes(request, flags)
        return codes, self._judge(request, codes, bool(flags & COMMIT))

    def arrived(self, topic: str, queue: int, tag: str | None) -> None:
        """A message was stored: pulls whose filter it passes are judged again at once, others at their next check."""
        for held in list(self._held.get((topic, queue), ())):
            if not isinstance(held.codes, Err) and model.passes_filter(held.codes, tag):
                self._wake(held)
            elif held.check is None:
                held.check = self._later(HOLD_CHECK, partial(self._wake, held))

    def closed(self, peer: Peer) -> None:
        """A connection was closed: drop the pulls it waits for."""
        for waiting in list(self._held.values()):
            for held in [held for held in waiting if held.peer is peer]:
                self._drop(held)

    def _wake(self, held: _Held) -> None:
        self._drop(held)
        held.peer.answer(held.request, self._judge(held.request, held.codes, False))

    def _drop(self, held: _Held) -> None:
        held.release()
        key = place(held.request.ext)
        self._held[key].remove(held)
        if not self._held[key]:
            del self._held[key]

    def _codes(self, request: Command, flags: int) -> TagCodes | Err:
        ext = request.ext
        if flags & SUBSCRIPTION:
            return model.carried_codes(self._storage.rules, ext.get("subscription"), ext.get("expressionType"))
        registered = self._subscription(ext["consumerGroup"], ext["topic"])
        return model.registered_codes(self._storage.rules, registered, int(ext["subVersion"]))

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        """BQ-PULL-*: what a pull finds (``Pulled``), or the error."""
        storage = self._storage
        entries = storage.entries(asked.topic, asked.queue)
        storage.state, result, _ = names.pull_named(storage.rules, storage.state, asked, codes, entries)
        return cast(Result, result)

    def _judge(self, request: Command, codes: TagCodes | Err, commits: bool) -> Command:
        ext, storage = request.ext, self._storage
        group, topic = ext.get("consumerGroup"), ext.get("topic")
        queue, offset, most = (optional(ext, name, bits) for name, bits in _REQUIRED.items())
        if group is None or topic is None or queue is None or offset is None or most is None:
            fields = PullFields(group, topic, queue, offset, most)
            return command(refused(missing_error(storage.rules, storage.state, fields)))
        commit = required(ext, "commitOffset") if commits else None
        asked = PullMessageRequest(group, topic, queue, offset, most, commit)
        result = self.find(asked, codes)
        if isinstance(result, Err):
            return command(refused(result, _REMARKS[result.code].format(group=group, topic=topic, queue=queue)))
        status, following, low, high, found = cast(PullResult, result)
        if int(ext["sysFlag"]) & SUBSCRIPTION:
            self._pulled(group, topic)
        body = storage.stored(topic, queue, found) if found else b""
        if found:
            self._read(topic, queue, found[0])
        answer = {
            "suggestWhichBrokerId": "0",
            "nextBeginOffset": str(following),
            "minOffset": str(low),
            "maxOffset": str(high),
        }
        return Command(int(Response[model.response_code(status, offset)]), answer, body, remark=status)
