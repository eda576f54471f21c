"""Plays the suite ``broker-pop-ack`` on a broker: pops, acknowledgements and waiting for what comes back, as jobs.

Each hand-out has a topic of its own, as a broker may give a pop what came back before it looks at the queue. A topic
has a queue for messages and one that stays empty, from which they are popped again. When the waiting begins, one
message more is handed out and never acknowledged, the *witness*. When it is back, what was popped before it had the
time to be.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import TypeVar

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import Message, decode_all, parse_properties
from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import Wish
from rocketmq_conformance.conformance.targets.broker.requests import Ask
from rocketmq_conformance.conformance.waiting import fair_looks
from rocketmq_conformance.models.broker.broker_pop_ack import (
    EMPTY,
    FOREVER,
    LAST,
    MESSAGES,
    OLDER,
    OTHER_BROKER,
    OTHER_GROUP,
    OTHER_TIME,
    SHORTLY,
)
from rocketmq_conformance.models.broker.pop import MIN, MOST
from rocketmq_conformance.models.broker.pop_flight import (
    BEFORE,
    BEYOND,
    CHANGE,
    GARBAGE,
    NEGATIVE_QUEUE,
    NO_ACKS,
    NO_BODY,
    NO_QUEUE,
    NO_TOPIC,
    SHORT,
)
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.broker_pop_ack import (
    Acknowledge,
    AcknowledgeBatch,
    AskBadly,
    AwaitReturns,
    BatchBadly,
    Change,
    HandOut,
)

T = TypeVar("T")
#: Messages that a pop brought, with their handles, and the topic that it named.
Given = list[tuple[Message, str, str]]
_Part = Generator[Wish, list[Command], T]

#: The short invisible time, in first delay levels; the long one (ms).
_SHORT_TIMES, _LONG = 2, 600_000
#: Error of a broker's clock, which counts whole ms (s).
_GRAIN = 0.004
#: The pause between two looks, and what is waited for once all is back, as shares of the short time. How long a
#: message may take that is due (s, and in times that a broker may be late), in looks that take no longer than theirs
#: (``fair_looks``), and how many times as long altogether.
_PAUSE, _LINGER = 0.1, 0.3
_LEAST, _LATE, _LONGEST = 2.0, 2, 5
_LANES = 128


def hand_out(names: CaseNames, count: int, hidden: int) -> Requests:
    """Send messages and pop them: which they are, and when the pop was sent."""
    first = len(names.handles)
    handed = yield from _handed(names, [f"m{first + at}" for at in range(count)], hidden)
    if isinstance(handed, Err):
        return handed
    found, began = handed
    return tuple(sorted(number for _, number in _taken(names, found, hidden) if number is not None)), began


def ack(names: CaseNames, message: int, way: str) -> Requests:
    """Acknowledge a message: when that was answered."""
    if message not in names.handles:
        return None
    topic, queue, offset, handle, _ = names.handles[message][-1]
    group = names.group(0)
    if way == OLDER and len(names.handles[message]) > 1:
        topic, queue, offset, handle, _ = names.handles[message][-2]
    elif way in {OLDER, OTHER_TIME}:
        handle = _with(handle, 1, str(int(handle.split(" ")[1]) + 1))
    elif way == OTHER_BROKER:
        handle = _with(handle, 5, "broker-other")
    elif way == OTHER_GROUP:
        group = f"{group}-other"
    (answer,) = yield [requests.ack(group, topic, queue, offset, handle)]
    error = responses.bare(answer)
    if way == LAST:
        names.due.discard(message)
    return error if isinstance(error, (Err, tuple)) else _now(names)


def ack_batch(names: CaseNames, messages: tuple[int, ...], more: bool) -> Requests:
    """Acknowledge several messages at once: when that was answered."""
    popped: dict[tuple[str, ...], list[tuple[str, int, str]]] = {}
    for message in messages:
        if message in names.handles:
            topic, _, offset, handle, own = names.handles[message][-1]
            popped.setdefault((topic, *handle.split(" ")[:6]), []).append((own, offset, handle))
            names.due.discard(message)
    if not popped:
        return None
    entries = []
    for same in popped.values():
        own, _, handle = same[0]
        beyond = [int(handle.split(" ")[0]) + 60] if more else []
        offsets = [*(offset for _, offset, _ in same), *beyond]
        entries.append(requests.batch_entry(names.group(0), own, handle, offsets))
    (answer,) = yield [requests.ack_batch(names.broker, entries)]
    error = responses.bare(answer)
    return error if isinstance(error, (Err, tuple)) else _now(names)


def change(names: CaseNames, message: int, hidden: int) -> Requests:
    """Change how long a message is hidden: when that was sent, and when it was answered."""
    if message not in names.handles:
        return None
    topic, queue, offset, handle, own = names.handles[message][-1]
    began = math.floor(_shares(names, names.clock.monotonic()))
    (answer,) = yield [requests.change_invisible(names.group(0), topic, queue, offset, handle, _time(names, hidden))]
    error = responses.refused(answer)
    if error is not None:
        return error
    told = [answer.ext.get(name, "") for name in ("popTime", "invisibleTime", "reviveQid")]
    parts = handle.split(" ")
    names.handles[message].append((topic, queue, offset, " ".join([str(offset), *told, *parts[4:]]), own))
    (names.due.discard if hidden == FOREVER else names.due.add)(message)
    return began, _now(names)


def await_returns(names: CaseNames) -> Requests:
    """Wait until what is due is back, and the witness: what came back."""
    witness = yield from _handed(names, ["w"], SHORTLY)
    if isinstance(witness, Err):
        return witness
    back: list[tuple[int, int, bool, int]] = []
    waits, until = True, math.inf
    pause, limit = _PAUSE * _unit(names), _LEAST + _LATE * names.lateness + _unit(names)
    for _ in fair_looks(limit, pause, _LONGEST * limit, names.clock):
        for topic in names.popped:
            found = yield from _pop(names, topic, EMPTY, MOST, FOREVER)
            if isinstance(found, Err):
                return found
            seen = _now(names)
            for message, number in _taken(names, found, FOREVER):
                waits = waits and number is not None
                if number is not None:
                    back.append((number, message.reconsume_times, message.topic == topic, seen))
        if not waits and not names.due:
            until = min(until, names.clock.monotonic() + _LINGER * _unit(names))
        if names.clock.monotonic() >= until:
            break
        yield pause
    return tuple(sorted(back))


def ask_badly(names: CaseNames, fault: str, request: str) -> Requests:
    """Acknowledge or change by a request that is wrong."""
    (shown,) = yield [requests.max_offset(names.topic(0), MESSAGES)]
    following = responses.number(shown)
    if isinstance(following, Err):
        return following
    if not following:
        sent = yield from jobs.send_named(names, names.topic(0), MESSAGES, 1, apart=False)
        if isinstance(sent, Err):
            return sent
        following = 1
    topic = names.topic(1 if fault == NO_TOPIC else 0)
    queue = {NO_QUEUE: 9, NEGATIVE_QUEUE: -1}.get(fault, MESSAGES)
    offset = {BEYOND: following + 1, BEFORE: -1}.get(fault, following if fault not in {GARBAGE, SHORT} else 0)
    handle = f"0 {names.now()} {_LONG} 0 0 {names.broker} {queue} {offset}"
    handle = {GARBAGE: "garbage", SHORT: "0 1"}.get(fault, handle)
    group = names.group(0)
    asked = (
        requests.change_invisible(group, topic, queue, offset, handle, _LONG)
        if request == CHANGE
        else requests.ack(group, topic, queue, offset, handle)
    )
    (answer,) = yield [asked]
    return responses.refused(answer)


def batch_badly(names: CaseNames, fault: str) -> Requests:
    """Acknowledge several messages by a request that is wrong."""
    handle = f"0 {names.now()} {_LONG} 0 0 {names.broker} 0 0"
    asked = requests.ack_batch(names.broker, [requests.batch_entry(names.group(0), names.topic(1), handle, [0])])
    if fault == NO_ACKS:
        asked = requests.ack_batch(names.broker, [])
    elif fault != NO_TOPIC:
        asked = Ask(Request.BATCH_ACK_MESSAGE, {}, b"" if fault == NO_BODY else b"garbage")
    (answer,) = yield [asked]
    return responses.refused(answer)


def _handed(names: CaseNames, keys: list[str], hidden: int) -> _Part[Err | tuple[Given, int]]:
    """Send messages to a topic of their own and pop them: what the pop brought, and when it was sent."""
    topic = f"{names.prefix}-P{len(names.popped)}"
    names.created |= {topic, f"{RETRY}{names.group(0)}_{topic}"}
    made = yield from jobs.create_named_topic(names, topic, EMPTY + 1)
    if isinstance(made, Err):
        return made
    names.popped.append(topic)
    sent = yield from jobs.send_with_to(names, topic, MESSAGES, [{"KEYS": key} for key in keys])
    if isinstance(sent, Err):
        return sent
    began = math.floor(_shares(names, names.clock.monotonic()))
    found = yield from _pop(names, topic, MESSAGES, len(keys), hidden)
    return found if isinstance(found, Err) else (found, began)


def _pop(names: CaseNames, topic: str, queue: int, most: int, hidden: int) -> _Part[Err | Given]:
    """Pop: the messages, and their handles."""
    asked = requests.pop(names.used_group(0), topic, queue, most, _time(names, hidden), MIN)
    (answer,) = yield [asked]
    found = responses.popped(answer)
    if isinstance(found, Err):
        return [] if found.code == "POLLING_TIMEOUT" else found
    starts = {(kind, number): start for kind, number, start, _ in found}
    ext = answer.ext
    given: Given = []
    for message in decode_all(answer.body):
        handle = parse_properties(message.properties).get("POP_CK", "")
        if not handle:
            kind = 1 if message.topic.startswith(RETRY) else 0
            start = starts[kind, message.queue]
            times = f"{ext['popTime']} {ext['invisibleTime']} {ext['reviveQid']}"
            handle = f"{start} {times} {kind} {names.broker} {message.queue} {message.offset}"
        given.append((message, handle, topic))
    return given


def _taken(names: CaseNames, found: Given, hidden: int) -> list[tuple[Message, int | None]]:
    """Take the handles of messages down: which messages they are, None for a witness."""
    taken: list[tuple[Message, int | None]] = []
    for message, handle, topic in found:
        key = parse_properties(message.properties).get("KEYS", "")
        if key == "w":
            taken.append((message, None))
            continue
        number = int(key.removeprefix("m"))
        *_, kind, _, queue, offset = handle.split(" ")
        retry = f"{RETRY}{names.group(0)}{'_' if kind == '1' else '+'}{topic}"
        at = (topic if kind == "0" else retry, int(queue), int(offset), handle, topic)
        names.handles.setdefault(number, []).append(at)
        (names.due.discard if hidden == FOREVER else names.due.add)(number)
        taken.append((message, number))
    return taken


def _with(handle: str, at: int, value: str) -> str:
    parts = handle.split(" ")
    parts[at] = value
    return " ".join(parts)


def _unit(names: CaseNames) -> float:
    """The short invisible time (s)."""
    return _SHORT_TIMES * names.delay


def _time(names: CaseNames, hidden: int) -> int:
    """An invisible time in ms."""
    return _LONG if hidden == FOREVER else int(_unit(names) * 1000 * hidden / SHORTLY)


def _shares(names: CaseNames, moment: float) -> float:
    """A moment in thousandths of the short time since the case began."""
    return (moment - names.start) / _unit(names) * SHORTLY


def _now(names: CaseNames) -> int:
    return math.ceil(_shares(names, names.clock.monotonic() + _GRAIN))


PART = Part(
    jobs={
        HandOut: hand_out,
        Acknowledge: ack,
        AcknowledgeBatch: ack_batch,
        Change: change,
        AwaitReturns: await_returns,
        AskBadly: ask_badly,
        BatchBadly: batch_badly,
    },
    lanes=_LANES,
    needs=frozenset({Need.CHECK_POINTS, Need.TIMERS, Need.OPEN}),
)
