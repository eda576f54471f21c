"""The operations of the broker suites as jobs: which requests each of them is, and what its result is."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import Job, Wish
from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_offsets import AGED
from rocketmq_conformance.models.broker.fixtures import GROUPS, QUEUES, TOPICS
from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME
from rocketmq_conformance.models.broker.search import instant
from rocketmq_conformance.models.broker.state import ABSENT, QueueLog
from rocketmq_conformance.models.outcome import Err, Result

#: Pause between messages that are sent apart, and between looks at something that takes its time (s).
_GAP = 0.004
_LOOK = 0.002
#: How long a broker may take to apply what it has acknowledged (s).
_APPLY_LIMIT = 20.0

#: How long locks live unless rocketmq.broker.rebalance.lockMaxLiveTime says otherwise (s).
DEFAULT_LEASE = MAX_LIVE_TIME / 1000

Requests = Generator[Wish, list[Command], Result]


@dataclass
class Names:
    """The names of one case, that no other case uses, and what the case left behind under them."""

    prefix: str
    #: Group that reads store times.
    reader: str
    #: Does the broker acknowledge a topic before it is there?
    late_topics: bool = False
    #: Store times by (topic, queue), as the broker gave them.
    logs: dict[tuple[str, int], QueueLog] = field(default_factory=dict)
    created: set[str] = field(default_factory=set)
    used_groups: set[str] = field(default_factory=set)
    #: When the case began (s, monotonic), and how long the broker's locks live (s).
    begun: float = field(default_factory=time.monotonic)
    lease: float = DEFAULT_LEASE
    #: Groups that a member of the case is registered in.
    joined: set[str] = field(default_factory=set)
    #: Takes what the broker told the members of a group about a reset; None when it told them nothing.
    told: Callable[[str], Command | None] = lambda group: None
    #: Sends a request, or the first half of it, over a connection that is cut then.
    cut: Callable[[requests.Ask, str], None] = lambda ask, where: None
    #: Asks over a connection of a member's own, by number, and waits for the answer.
    ask_as: Callable[[int, requests.Ask], Command] = field(default=lambda connection, ask: Command(0))
    #: (connection, group) pairs of members that are registered over connections of their own.
    registered: set[tuple[int, str]] = field(default_factory=set)
    #: Topics whose routes the broker is known to have.
    routed: set[str] = field(default_factory=set)

    def topic(self, index: int) -> str:
        """The name of a topic."""
        return aged_store.TOPIC if index == AGED else f"{self.prefix}-{TOPICS[index]}"

    def group(self, index: int) -> str:
        """The name of a group."""
        return f"{self.prefix}-{GROUPS[index]}"

    def client(self) -> str:
        """The client id of the case's member."""
        return f"{self.prefix}-member"

    def plain(self, text: str) -> str:
        """A text without what makes the case's names its own."""
        return text.replace(f"{self.prefix}-", "").replace(self.reader, "READER")

    def used_group(self, index: int) -> str:
        """The same, for a request that may leave something behind under the name."""
        self.used_groups.add(self.group(index))
        return self.group(index)


def begin(names: Names, with_topic: bool, with_group: bool) -> Job[None]:
    """Topic 0 and group 0 as every case has them that asks for a topic or group of its own."""
    error: Result = None
    if with_group:
        error = yield from _create_group(names, 0)
    if with_topic and error is None:
        error = yield from _create_topic(names, 0, QUEUES)
    if isinstance(error, Err):
        raise AdapterError(
            f"The broker refuses to create a topic and a group ({error.code} {error.detail}): judge one that lets you."
        )


def leave(names: Names) -> Job[None]:
    """Unregister the case's members: a broker closes the connection of one that is silent for two minutes."""
    for connection, group in sorted(names.registered):
        names.ask_as(connection, requests.unregister(names.client(), group))
    names.registered.clear()
    asks = [requests.unregister(names.client(), group) for group in sorted(names.joined)]
    names.joined.clear()
    if asks:
        yield asks


def clean_up(names: Names) -> Job[None]:
    """Delete what the case left behind."""
    yield from leave(names)
    asks = [requests.delete_topic(topic) for topic in sorted(names.created)]
    asks += [requests.delete_group(group, "cleanOffset", "removeOffset") for group in sorted(names.used_groups)]
    if asks:
        yield asks


def _create_topic(names: Names, topic: int, queues: int) -> Requests:
    return (yield from create_topic(names, names.topic(topic), queues))


def create_topic(names: Names, name: str, queues: int) -> Requests:
    """Create a topic, and wait until it is there."""
    names.created.add(name)
    (answer,) = yield [requests.create_topic(name, queues)]
    error = requests.refused(answer)
    until = time.monotonic() + _APPLY_LIMIT
    while names.late_topics and error is None:
        (answer,) = yield [requests.topic_stats(name)]
        if answer.code == Response.SUCCESS or time.monotonic() > until:
            return requests.refused(answer)
        yield _LOOK
    return error


def _delete_topic(names: Names, topic: int) -> Requests:
    name = names.topic(topic)
    (answer,) = yield [requests.delete_topic(name)]
    for key in [key for key in names.logs if key[0] == name]:
        del names.logs[key]
    return requests.refused(answer)


def _create_group(names: Names, group: int) -> Requests:
    (answer,) = yield [requests.create_group(names.used_group(group))]
    return requests.refused(answer)


def _delete_group(names: Names, group: int, flag: str) -> Requests:
    (answer,) = yield [requests.delete_group(names.used_group(group), *([flag] if flag else []))]
    return requests.refused(answer)


def _commit(names: Names, group: int, topic: int, queue: int | None, offset: int | None) -> Requests:
    (answer,) = yield [requests.commit(names.used_group(group), names.topic(topic), queue, offset)]
    return requests.refused(answer)


def _query(names: Names, group: int, topic: int, queue: int | None, set_zero: bool | None = None) -> Requests:
    (answer,) = yield [requests.query(names.group(group), names.topic(topic), queue, set_zero)]
    return requests.number(answer)


def _query_kept(names: Names, queue: int, set_zero: bool | None) -> Requests:
    (answer,) = yield [requests.query(aged_store.KEPT, aged_store.TOPIC, queue, set_zero)]
    return requests.number(answer)


def _max(names: Names, topic: int, queue: int) -> Requests:
    (answer,) = yield [requests.max_offset(names.topic(topic), queue)]
    return requests.number(answer)


def _min(names: Names, topic: int, queue: int) -> Requests:
    (answer,) = yield [requests.min_offset(names.topic(topic), queue)]
    return requests.number(answer)


def _earliest(names: Names, topic: int, queue: int) -> Requests:
    (answer,) = yield [requests.earliest(names.topic(topic), queue)]
    return requests.number(answer, "timestamp")


def _search(names: Names, topic: int, queue: int, message: int, delta: int, boundary: str) -> Requests:
    name = names.topic(topic)
    if name == aged_store.TOPIC:
        log = aged_store.QUEUES[queue] if 0 <= queue < len(aged_store.QUEUES) else ABSENT
    else:
        log = names.logs.get((name, queue), ABSENT)
    timestamp = instant(log, message, delta, aged_store.EPOCH)
    (answer,) = yield [requests.search(name, queue, timestamp, boundary)]
    return requests.number(answer)


def _send(names: Names, topic: int, queue: int, count: int) -> Requests:
    return (yield from _sent(names.topic(topic), queue, count, apart=False))


def _send_timed(names: Names, topic: int, queue: int, count: int, apart: bool) -> Requests:
    name = names.topic(topic)
    offsets = yield from _sent(name, queue, count, apart)
    if not isinstance(offsets, tuple):
        return offsets
    pairs: list[tuple[int, int]] = []
    while len(pairs) < count:
        (answer,) = yield [requests.pull(names.reader, name, queue, offsets[len(pairs)])]
        found = requests.store_times(answer.body)[: count - len(pairs)]
        if not found:
            return requests.refused(answer) or Err("NO_MESSAGES", detail="a pull of stored messages brought none")
        pairs += found
    log = names.logs.get((name, queue), ABSENT)
    names.logs[name, queue] = log._replace(times=(*log.times, *(stored for _, stored in pairs)))
    return tuple(pairs)


def _read(names: Names, topic: int, queue: int) -> Requests:
    (answer,) = yield [requests.pull(names.reader, names.topic(topic), queue, 0)]
    pulled = requests.pulled(answer)
    return pulled[2] if isinstance(pulled, tuple) else pulled


def _sent(topic: str, queue: int, count: int, apart: bool) -> Generator[Wish, list[Command], Err | tuple[int, ...]]:
    """The offsets that messages got, once the queue shows them."""
    ask = requests.send(topic, queue, int(time.time() * 1000))
    answers: list[Command] = []
    if apart:
        for _ in range(count):
            answers += yield [ask]
            yield _GAP
    else:
        answers = yield [ask] * count
    offsets: list[int] = []
    for answer in answers:
        offset = requests.number(answer, "queueOffset")
        if isinstance(offset, Err):
            return offset
        offsets.append(offset)
    until = time.monotonic() + _APPLY_LIMIT
    while True:
        (answer,) = yield [requests.max_offset(topic, queue)]
        shown = requests.number(answer)
        if isinstance(shown, Err):
            return shown
        if shown > max(offsets) or time.monotonic() > until:
            return tuple(sorted(offsets))
        yield _LOOK


#: By the operation's name.
OPERATIONS: dict[str, Callable[..., Requests]] = {
    "create_topic": _create_topic,
    "delete_topic": _delete_topic,
    "create_group": _create_group,
    "delete_group": _delete_group,
    "commit": _commit,
    "query": _query,
    "query_kept": _query_kept,
    "max": _max,
    "min": _min,
    "earliest": _earliest,
    "search": _search,
    "send": _send,
    "send_timed": _send_timed,
    "read": _read,
}
