"""Plays the suite ``broker-retry`` on a broker: messages are sent back, and looked for where they come again.

A copy shows in a queue of the group's retry topic, or of its dead-letter topic, after the time of its level. That
nothing comes is certain only when something else came that was sent back later: levels are queues.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import cast

from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import (
    Message,
    decode_all,
    message_id,
    parse_properties,
)
from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.broker_topics import set_named_topic
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import Wish
from rocketmq_conformance.conformance.targets.broker.requests import Ask
from rocketmq_conformance.conformance.waiting import looks
from rocketmq_conformance.models.broker import broker_retry as model
from rocketmq_conformance.models.broker.broker_retry import FIRST, KINDS, LEVELS, MOST_QUEUES, compared
from rocketmq_conformance.models.broker.delay_level import effective_level
from rocketmq_conformance.models.broker.send_back import DELAY, ORIGIN, REAL_TOPIC, RETRY_TOPIC, RetrySettings
from rocketmq_conformance.models.broker.state import DEAD, RETRY, Topic
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.broker_offsets import CreateTopic, DeleteGroup, DeleteTopic
from rocketmq_conformance.suites.broker_retry import (
    OwnQueues,
    SendBack,
    SendCopy,
    SendLater,
    SendLockedCopy,
    SendOne,
    SetOwnTopic,
    SetRetries,
)

#: A place at which no message begins (bytes).
_NOWHERE = 1 << 40
#: Parts of the answer about a copy that can be read.
_WHOLE = 6
#: The name of the broker in locks, which no broker compares with its own.
_LOCKED_BROKER = "broker-a"
#: Pause between looks, in times of level 1: brokers look every 100 ms whether a level's time is over.
_LOOK = 0.02
#: Most cases wait for their copies.
_LANES = 64
#: From when on a copy is doubted, in times of level 1 after that of its level.
_DOUBT = 0.3
#: Error of a broker's clock, which counts whole ms (s).
_GRAIN = 0.004
#: Seconds in which a broker delivers what is due: one that fails to store a message tries again after ten.
_LIMIT = 20.0
#: A limit of times that no message reaches.
_NO_LIMIT = 1 << 30
#: The kinds of topics in which a copy can show, by the prefix of their names.
_WHERE = {RETRY: "retry", DEAD: "dead"}

#: A queue that has one message more: where it belongs, topic, queue, offset.
_Grown = tuple[str, str, int, int]


def set_retries(names: CaseNames, group: int, queues: int, most: int) -> Requests:
    """Create or change a group."""
    (answer,) = yield [requests.create_group(names.used_group(group), True, queues, most)]
    return responses.refused(answer)


def set_own_topic(names: CaseNames, group: int, dead: bool, queues: int, perm: int) -> Requests:
    """Create or change the retry topic or the dead-letter topic of a group."""
    topic = (DEAD if dead else RETRY) + names.group(group)
    return (yield from set_named_topic(names, topic, Topic(queues, queues, perm)))


def own_queues(names: CaseNames, group: int, dead: bool) -> Requests:
    """Ask for the queues of the retry topic or the dead-letter topic of a group."""
    (answer,) = yield [requests.topic_stats((DEAD if dead else RETRY) + names.group(group))]
    return responses.queues_in_stats(answer)


def send_one(names: CaseNames, topic: int, kind: int) -> Requests:
    """Send a message: its offset, once the queue shows it."""
    name = names.topic(topic)
    (answer,) = yield [requests.send_with(name, _now(), KINDS[kind])]
    offset = responses.number(answer, "queueOffset")
    if isinstance(offset, Err):
        return offset
    error = yield from jobs.shown(names, name, 0, offset)
    if error is not None:
        return error
    (answer,) = yield [requests.pull(names.reader, name, 0, offset)]
    found = _messages(answer)
    if isinstance(found, Err):
        return found
    names.shown += found[:1]
    return offset


def send_back(
    names: CaseNames, group: int, message: int, level: int, most: int | None, origin: str | None, old: bool
) -> Requests:
    """Send a message back: where its copy shows."""
    name = names.used_group(group)
    found = names.shown[-1 - message] if message < len(names.shown) else None
    physical = _NOWHERE if found is None else found.physical
    ask = requests.send_back(name, physical, level, most, _named(names, found, origin))
    kept = [] if found is None else [_delay(found)]
    wanted = level or 3 + (0 if found is None else found.reconsume_times)
    return (yield from _followed(names, name, ask, old, [wanted, *kept] if found else []))


def send_copy(names: CaseNames, group: int, times: int, most: int | None, level: int, old: bool) -> Requests:
    """Send a copy to the retry topic: where it shows."""
    name = names.used_group(group)
    properties = {RETRY_TOPIC: names.topic(0)} | ({DELAY: str(level)} if level else {})
    ask = requests.send_with(RETRY + name, _now(), properties, times, most)
    return (yield from _followed(names, name, ask, old, [level]))


def send_locked_copy(names: CaseNames, holds: bool, level: int) -> Requests:
    """Send a copy while its group holds a lock: where it shows. What took longer than the lease says nothing, and is
    done again by another group."""
    for _ in looks(_LIMIT, names.clock):
        name = f"{names.prefix}-{model.LOCKED}{len(names.used_groups)}"
        names.used_groups.add(name)
        sent = {RETRY_TOPIC: names.topic(0)} | ({DELAY: str(level)} if level else {})
        copy = requests.send_with(RETRY + name, _now(), sent, 1, RetrySettings().most)
        queues = [(names.topic(0), _LOCKED_BROKER, 0)]
        began = names.clock.monotonic()
        for ask in (requests.lock, requests.unlock)[: 1 if holds else 2]:
            (answer,) = yield [ask(name, names.client(), queues)]
            error = responses.refused(answer)
            if error is not None:
                return error
        shown = yield from _followed(names, name, copy, False, [level])
        if not isinstance(shown, tuple) or len(shown) < _WHOLE:
            return shown
        *place, properties, waited = shown
        names.shown.pop()  # no other step can name it
        if not holds or names.answered - began < names.lease:
            plain = name.rpartition("-")[2]
            kept = cast("tuple[tuple[str, str], ...]", properties)
            return *place, tuple((one, text.replace(plain, model.LOCKED)) for one, text in kept), waited
    return Err("LATE", definite=False, detail=f"no copy was answered within the lease of {names.lease} s")


def send_later(names: CaseNames, topic: int, time: str, level: int | None) -> Requests:
    """Send a message with a time of its own, and see it come: its offset, its properties, and how much too early it
    came (ms), by the broker's clock, which may be another than this machine's."""
    name = names.topic(topic)
    (answer,) = yield [requests.max_offset(name, 0)]
    before = responses.number(answer)
    if isinstance(before, Err):
        return before
    second, now, began = int(names.delay * 1000), names.now(), names.clock.monotonic()
    sent = model.sent(time, level, now, second)
    (answer,) = yield [requests.send_with(name, now, sent)]
    error = responses.refused(answer)
    if error is not None:
        return error
    for last in looks(_LIMIT, names.clock):
        (answer,) = yield [requests.max_offset(name, 0)]
        shown, seconds = responses.number(answer), names.clock.monotonic() - began
        if isinstance(shown, Err) or shown > before:
            break
        if last:
            return Err("NOT_DELIVERED", definite=False, detail=f"a message did not come within {_LIMIT:.0f} s")
        yield _LOOK * names.delay
    (answer,) = yield [requests.pull(names.reader, name, 0, before)]
    found = _messages(answer)
    if isinstance(found, Err):
        return found
    names.shown += found[:1]
    properties, came = _plain(names, parse_properties(found[0].properties)), found[0].store_time
    if REAL_TOPIC not in properties and model.is_over(sent, now, came):
        return Err("LATE", definite=False, detail="a message came to the broker after the time that it was sent for")
    early = model.least(sent, second, came - int(seconds * 1000) - 1) - came if REAL_TOPIC in properties else 0
    return before, model.timed_compared(properties, sent), max(early, 0)


def _followed(names: CaseNames, group: str, ask: Ask, old: bool, levels: list[int]) -> Requests:
    """Send a request, and see where the copy shows that it makes; ``levels`` at which it may wait."""
    names.created |= {prefix + group for prefix in _WHERE}
    began = names.clock.monotonic()
    if old:
        answer = names.ask_as_old(ask)
    else:
        (answer,) = yield [ask]
    names.answered = names.clock.monotonic()
    error = responses.refused(answer)
    if error is not None or not levels:
        return error
    grown = yield from _awaited(names, group, began, sorted({effective_level(level, len(LEVELS)) for level in levels}))
    if grown is None or isinstance(grown, Err):
        return grown
    waited = int((names.clock.monotonic() - began + _GRAIN) / names.delay * LEVELS[0])
    where, topic, queue, offset = grown
    (answer,) = yield [requests.pull(names.reader, topic, queue, offset)]
    error = responses.refused(answer)
    if error is not None:
        return where, queue, offset, error.code
    found = _messages(answer)
    if isinstance(found, Err):
        return found
    copy = found[0]
    properties = _plain(names, parse_properties(copy.properties))
    names.shown.append(copy)
    return where, queue, offset, copy.reconsume_times, compared(properties), waited


def _awaited(
    names: CaseNames, group: str, began: float, levels: list[int]
) -> Generator[Wish, list[Command], _Grown | Err | None]:
    """Wait for a message more in a topic of the group; None when none came, but one that was sent later did."""
    longest = max((LEVELS[level - 1] for level in levels if level > 0), default=0) / LEVELS[0]
    until = began + (longest + _DOUBT) * names.delay
    for _ in looks(until - names.clock.monotonic(), names.clock):
        grown = yield from _grown(names, group)
        if grown is not None:
            return grown
        yield _LOOK * names.delay
    error = yield from _later_ones(names, levels)
    return error or (yield from _grown(names, group))


def _later_ones(names: CaseNames, levels: list[int]) -> Generator[Wish, list[Command], Err | None]:
    """Send a copy at each of these levels to the retry topic of a group that nothing else uses, and wait for them."""
    group = f"{names.prefix}-later"
    names.used_groups.add(group)
    names.created |= {prefix + group for prefix in _WHERE}
    topic = RETRY + group
    answers = yield [
        requests.send_with(topic, _now(), {DELAY: str(level)} if level else {}, 0, _NO_LIMIT) for level in levels
    ]
    for answer in answers:
        error = responses.refused(answer)
        if error is not None:
            return error
    key = topic, 0
    wanted = names.seen.get(key, 0) + len(levels)
    for _ in looks(_LIMIT, names.clock):
        (answer,) = yield [requests.max_offset(*key)]
        shown = responses.number(answer)
        if isinstance(shown, Err):
            return shown
        if shown >= wanted:
            names.seen[key] = shown
            return None
        yield _LOOK * names.delay
    # not even the copies that were sent to compare with: that says nothing of the one that is waited for
    detail = f"no copy came within {_LIMIT:.0f} s at all of the levels {levels}"
    return Err("NOT_DELIVERED", definite=False, detail=detail)


def _grown(names: CaseNames, group: str) -> Generator[Wish, list[Command], _Grown | None]:
    """The first queue of the group's topics that has a message more than was seen."""
    keys = [(RETRY + group, queue) for queue in range(MOST_QUEUES)] + [(DEAD + group, 0)]
    answers = yield [requests.max_offset(topic, queue) for topic, queue in keys]
    for (topic, queue), answer in zip(keys, answers, strict=True):
        shown, seen = responses.number(answer), names.seen.get((topic, queue), 0)
        if isinstance(shown, int) and shown > seen:
            names.seen[topic, queue] = seen + 1
            return _WHERE[topic.removesuffix(group)], topic, queue, seen
    return None


def _named(names: CaseNames, found: Message | None, origin: str | None) -> str | None:
    """The topic that a request names (originTopic)."""
    if origin is None:
        return None
    if found is None:
        return names.topic(0)
    return parse_properties(found.properties).get(RETRY_TOPIC, found.topic) if origin == FIRST else found.topic


def _delay(message: Message) -> int:
    """The level at which a message waited."""
    return int(parse_properties(message.properties).get(DELAY, "0"))


def _plain(names: CaseNames, properties: dict[str, str]) -> dict[str, str]:
    """Properties with the names of the plan, and the numbers of messages instead of their ids."""
    plain = dict(properties)
    for name in (RETRY_TOPIC, REAL_TOPIC):
        if name in plain:
            plain[name] = names.plain(plain[name])
    ids = [message_id(message.store_host, message.physical) for message in names.shown]
    if plain.get(ORIGIN) in ids:
        plain[ORIGIN] = model.message_id(ids.index(plain[ORIGIN]))
    return plain


def _messages(answer: Command) -> list[Message] | Err:
    """The messages in a pull's response, at least one, or the error."""
    error = responses.refused(answer)
    if error is not None:
        return error
    try:
        return decode_all(answer.body) or Err("NO_MESSAGES", detail="a pull of a stored message brought none")
    except ValueError as broken:
        return Err("NO_MESSAGES", detail=f"a pull brought what is no message: {broken}")


def _now() -> int:
    """When a message is born (ms since the epoch)."""
    return int(time.time() * 1000)


PART = Part(
    lanes=_LANES,
    jobs={
        CreateTopic: jobs.create_topic,
        DeleteTopic: jobs.delete_topic,
        SetRetries: set_retries,
        DeleteGroup: jobs.delete_group,
        SetOwnTopic: set_own_topic,
        SendOne: send_one,
        SendBack: send_back,
        SendCopy: send_copy,
        SendLockedCopy: send_locked_copy,
        SendLater: send_later,
        OwnQueues: own_queues,
    },
    needs=frozenset({Need.LEVELS, Need.OPEN, Need.SILENCE}),
)
