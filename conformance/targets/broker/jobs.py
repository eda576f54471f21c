"""Jobs that the broker suites share: each turns an operation into requests, and responses into its result.

A job is a generator (see ``pipelined_jobs``). Jobs of one suite alone are in the module that bears the suite's name.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import Job, Wish
from rocketmq_conformance.conformance.waiting import fair_looks
from rocketmq_conformance.models.broker import aged_store, filed_store
from rocketmq_conformance.models.broker.fixtures import QUEUES
from rocketmq_conformance.models.broker.search import instant
from rocketmq_conformance.models.broker.state import ABSENT, Topic
from rocketmq_conformance.models.outcome import Err, Result

#: Pause between messages that are sent apart, and between polls (s).
_GAP = 0.004
LOOK = 0.002
#: How long a broker may take until it has applied an acknowledged request (s): in looks that take no longer than
#: theirs (``fair_looks``), and altogether.
APPLY_LIMIT, _LONGEST = 5.0, 120.0

#: The queues of the topics that the kit's store holds from the start.
_STORED = {aged_store.TOPIC: aged_store.QUEUES, filed_store.TOPIC: filed_store.QUEUES}

#: A job that returns the result of an operation.
Requests = Generator[Wish, list[Command], Result]


class UnsupportedHereError(Exception):
    """Raised by a job of an operation that this broker does not support; the text is the reason."""


def begin(names: CaseNames, with_topic: bool, with_group: bool) -> Job[None]:
    """Create topic 0 and group 0, for cases that use topics or groups of their own."""
    error: Result = None
    if with_group:
        error = yield from create_group(names, 0)
    if with_topic and error is None:
        error = yield from create_topic(names, 0, QUEUES)
    if isinstance(error, Err):
        raise AdapterError(
            f"The broker refuses to create a topic and a group ({error.code} {error.detail}): judge one that lets you."
        )


def leave(names: CaseNames) -> Job[None]:
    """Unregister the case's members: a broker closes the connection of one that is silent for two minutes."""
    for connection, group in sorted(names.registered):
        names.ask_as(connection, requests.unregister(names.client(), group))
    names.registered.clear()
    for connection, group in sorted(names.own_registered):
        names.ask_own(connection, requests.unregister(names.client(), group))
    names.own_registered = set()
    asks = [requests.unregister(names.client(), group) for group in sorted(names.joined)]
    names.joined.clear()
    if asks:
        yield asks


def clean_up(names: CaseNames) -> Job[None]:
    """Delete the topics and groups of the case."""
    yield from leave(names)
    asks = [requests.delete_topic(topic) for topic in sorted(names.created)]
    asks += [requests.delete_group(group, "cleanOffset", "removeOffset") for group in sorted(names.used_groups)]
    if asks:
        yield asks


def create_topic(names: CaseNames, topic: int, queues: int) -> Requests:
    """Create a topic of the case."""
    return (yield from create_named_topic(names, names.topic(topic), queues))


def create_named_topic(names: CaseNames, name: str, queues: int) -> Requests:
    """Create a topic, and wait until it exists."""
    names.created.add(name)
    (answer,) = yield [requests.create_topic(name, Topic.of(queues))]
    error = responses.refused(answer)
    if names.late_topics and error is None:
        for _ in applying(names):
            (answer,) = yield [requests.topic_stats(name)]
            error = responses.refused(answer)
            if error is None:
                break
            yield LOOK
    return error


def delete_topic(names: CaseNames, topic: int) -> Requests:
    """Delete a topic."""
    name = names.topic(topic)
    (answer,) = yield [requests.delete_topic(name)]
    for key in [key for key in names.logs if key[0] == name]:
        del names.logs[key]
    return responses.refused(answer)


def create_group(names: CaseNames, group: int) -> Requests:
    """Create a group."""
    (answer,) = yield [requests.create_group(names.used_group(group))]
    return responses.refused(answer)


def delete_group(names: CaseNames, group: int, flag: str) -> Requests:
    """Delete a group."""
    (answer,) = yield [requests.delete_group(names.used_group(group), *([flag] if flag else []))]
    return responses.refused(answer)


def commit(names: CaseNames, group: int, topic: int, queue: int | None, offset: int | None) -> Requests:
    """Commit an offset."""
    (answer,) = yield [requests.commit(names.used_group(group), names.topic(topic), queue, offset)]
    return responses.bare(answer)


def query(names: CaseNames, group: int, topic: int, queue: int | None, set_zero: bool | None = None) -> Requests:
    """Query an offset."""
    (answer,) = yield [requests.query(names.group(group), names.topic(topic), queue, set_zero)]
    return responses.number(answer)


def query_kept(names: CaseNames, queue: int, set_zero: bool | None) -> Requests:
    """Query an offset that the aged store holds."""
    (answer,) = yield [requests.query(aged_store.KEPT_GROUP, aged_store.TOPIC, queue, set_zero)]
    return responses.number(answer)


def max_offset(names: CaseNames, topic: int, queue: int) -> Requests:
    """Ask for max."""
    (answer,) = yield [requests.max_offset(names.topic(topic), queue)]
    return responses.number(answer)


def min_offset(names: CaseNames, topic: int, queue: int) -> Requests:
    """Ask for min."""
    (answer,) = yield [requests.min_offset(names.topic(topic), queue)]
    return responses.number(answer)


def earliest(names: CaseNames, topic: int, queue: int) -> Requests:
    """Ask for the store time of the first message."""
    (answer,) = yield [requests.earliest(names.topic(topic), queue)]
    return responses.number(answer, "timestamp")


def search(names: CaseNames, topic: int, queue: int, message: int, delta: int, boundary: str) -> Requests:
    """Search by a time, given from the store time of a message."""
    name = names.topic(topic)
    if name in _STORED:
        log = _STORED[name][queue] if 0 <= queue < len(_STORED[name]) else ABSENT
    else:
        log = names.logs.get((name, queue), ABSENT)
    timestamp = instant(log, message, delta, aged_store.EPOCH)
    (answer,) = yield [requests.search(name, queue, timestamp, boundary)]
    return responses.number(answer)


def send(names: CaseNames, topic: int, queue: int, count: int) -> Requests:
    """Send messages: the offsets that they got."""
    return (yield from send_named(names, names.topic(topic), queue, count, apart=False))


def send_with(names: CaseNames, topic: int, queue: int, messages: Sequence[Mapping[str, str]]) -> Requests:
    """Send messages with these properties, one after the other: their offsets, once the queue shows them."""
    return (yield from send_with_to(names, names.topic(topic), queue, messages))


def send_with_to(names: CaseNames, name: str, queue: int, messages: Sequence[Mapping[str, str]]) -> Requests:
    """The same to a topic by its name."""
    offsets: list[int] = []
    for properties in messages:
        (answer,) = yield [requests.send_with(name, int(time.time() * 1000), properties, queue=queue)]
        offset = responses.number(answer, "queueOffset")
        if isinstance(offset, Err):
            return offset
        offsets.append(offset)
    return (yield from shown(names, name, queue, max(offsets))) or tuple(offsets)


def send_anywhere(names: CaseNames, topic: int) -> Requests:
    """Send a message to no queue in particular: the queue that it went to, and its offset."""
    name = names.topic(topic)
    (answer,) = yield [requests.send(name, -1, int(time.time() * 1000))]
    queue = responses.number(answer, "queueId")
    offset = responses.number(answer, "queueOffset")
    if isinstance(queue, Err) or isinstance(offset, Err):
        return queue if isinstance(queue, Err) else offset
    return (yield from shown(names, name, queue, offset)) or (queue, offset)


def send_timed(names: CaseNames, topic: int, queue: int, count: int, apart: bool) -> Requests:
    """Send messages: (offset, store time) of each."""
    _needs_pulls(names)
    name = names.topic(topic)
    offsets = yield from send_named(names, name, queue, count, apart)
    if not isinstance(offsets, tuple):
        return offsets
    pairs: list[tuple[int, int]] = []
    while len(pairs) < count:
        (answer,) = yield [requests.pull(names.reader, name, queue, offsets[len(pairs)])]
        found = responses.store_times(answer.body)[: count - len(pairs)]
        if not found:
            return responses.refused(answer) or Err("NO_MESSAGES", detail="a pull of stored messages brought none")
        pairs += found
    log = names.logs.get((name, queue), ABSENT)
    names.logs[name, queue] = log._replace(times=(*log.times, *(stored for _, stored in pairs)))
    return tuple(pairs)


def read(names: CaseNames, topic: int, queue: int) -> Requests:
    """Pull from the beginning of a queue: the offsets of the messages."""
    _needs_pulls(names)
    (answer,) = yield [requests.pull(names.reader, names.topic(topic), queue, 0)]
    pulled = responses.pulled(answer)
    return pulled[2] if isinstance(pulled, tuple) else pulled


def _needs_pulls(names: CaseNames) -> None:
    if not names.readable:
        raise UnsupportedHereError("is seen by a pull, which the broker refuses: its brokerPermission lacks the bit 4")


def send_named(
    names: CaseNames, topic: str, queue: int, count: int, apart: bool
) -> Generator[Wish, list[Command], Err | tuple[int, ...]]:
    """The offsets that messages got, once the queue shows them."""
    ask = requests.send(topic, queue, int(time.time() * 1000))
    answers: list[Command] = []
    if apart:
        for number in range(count):
            if number:
                yield _GAP
            answers += yield [ask]
    else:
        answers = yield [ask] * count
    offsets: list[int] = []
    for answer in answers:
        offset = responses.number(answer, "queueOffset")
        if isinstance(offset, Err):
            return offset
        offsets.append(offset)
    return (yield from shown(names, topic, queue, max(offsets))) or tuple(sorted(offsets))


def applying(names: CaseNames) -> Iterator[None]:
    """Looks at whether a broker has applied a request that it acknowledged, with pauses of ``LOOK`` in between.

    When they are over it has not. TimeoutError on a machine that is too busy to say so.
    """
    return fair_looks(APPLY_LIMIT, LOOK, _LONGEST, names.clock)


def shown(names: CaseNames, topic: str, queue: int, offset: int) -> Generator[Wish, list[Command], Err | None]:
    """Wait until a queue shows the message at an offset; the error of the question, if any."""
    for _ in applying(names):
        (answer,) = yield [requests.max_offset(topic, queue)]
        shown = responses.number(answer)
        if isinstance(shown, Err):
            return shown
        if shown > offset:
            break
        yield LOOK
    return None
