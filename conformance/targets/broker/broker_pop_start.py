"""Plays the suite ``broker-pop-start`` on a broker: pops as jobs, each of which waits until the broker took it down.

A broker stores where a pop ends a few ms after it answered, and locks the queue meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Generator

from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.broker_admin import pull, reset_queue, reset_to_max
from rocketmq_conformance.conformance.targets.broker.broker_polling import send_tags
from rocketmq_conformance.conformance.targets.broker.broker_topics import set_group, set_named_topic, set_topic
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import LOOK, Requests, applying
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import Wish
from rocketmq_conformance.conformance.targets.broker.responses import Popped
from rocketmq_conformance.models.broker.pop import MOST
from rocketmq_conformance.models.broker.state import RETRY, Topic
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.broker_admin import Pull, ResetQueue, ResetToMax
from rocketmq_conformance.suites.broker_offsets import Commit, DeleteGroup, DeleteTopic, Query
from rocketmq_conformance.suites.broker_polling import SendTags
from rocketmq_conformance.suites.broker_pop_start import Pop, PopAll, PopRetry, ShapeTopic
from rocketmq_conformance.suites.broker_topics import SetGroup

#: For how long messages are invisible (ms): longer than any case.
_INVISIBLE = 600_000
#: How long a broker may take until it lets a queue go, once it has stored where a pop ends (s).
_RELEASE = 0.01

#: A job that waits for something.
_Waiting = Generator[Wish, list[Command], None]


def shape_topic(names: CaseNames, topic: int, queues: int, perm: int) -> Requests:
    """Create or change a topic."""
    return (yield from set_topic(names, topic, queues, queues, perm))


def pop(names: CaseNames, group: int, topic: int, queue: int, most: int, mode: int, expression: str) -> Requests:
    """Pop from a queue: the offset that it begins at, and those of the messages."""
    answer = yield from popped(names, names.used_group(group), names.topic(topic), queue, most, mode, expression)
    if isinstance(answer, Err):
        return answer
    ((_, _, start, offsets),) = answer
    return start, offsets


def pop_all(names: CaseNames, group: int, topic: int, mode: int) -> Requests:
    """Pop from all queues: the offsets of the messages of each."""
    answer = yield from popped(names, names.used_group(group), names.topic(topic), -1, MOST, mode, "*")
    return answer if isinstance(answer, Err) else tuple(sorted((queue, offsets) for _, queue, _, offsets in answer))


def pop_retry(names: CaseNames, count: int, mode: int) -> Requests:
    """Pop a message from a new retry topic: where it begins, and what is stored then."""
    group = f"{names.prefix}-R{len(names.used_groups)}"
    names.used_groups.add(group)
    topic = RETRY + group
    (answer,) = yield [requests.create_group(group)]
    error = responses.refused(answer) or (yield from set_named_topic(names, topic, Topic.of(1)))
    if count and error is None:
        sent = yield from jobs.send_named(names, topic, 0, count, apart=False)
        error = sent if isinstance(sent, Err) else None
    if isinstance(error, Err):
        return error
    found = yield from popped(names, group, topic, 0, 1, mode, "*")
    (answer,) = yield [requests.query(group, topic, 0, False)]
    stored = responses.number(answer)
    if isinstance(stored, Err) and stored.code != "QUERY_NOT_FOUND":
        return stored
    kept = None if isinstance(stored, Err) else stored
    if isinstance(found, Err):
        return found if not found.definite else (found.code, (), kept)
    ((_, _, start, offsets),) = found
    return start, offsets, kept


def popped(
    names: CaseNames, group: str, topic: str, queue: int, most: int, mode: int, expression: str
) -> Generator[Wish, list[Command], Popped | Err]:
    """What a pop brought, once the broker has stored where it ends."""
    before = yield [requests.max_offset(topic, queue), requests.query(group, topic, queue, False)]
    highest, stored = (responses.number(answer) for answer in before)
    ask = requests.pop(group, topic, queue, most, _INVISIBLE, mode, expression)
    for _ in applying(names):
        (answer,) = yield [ask]
        found, rest = responses.popped(answer), _rest(answer)
        if not (names.takes_time and queue >= 0 and most > 0 and _is_locked(found, rest)):
            break
        yield LOOK
    end = highest - rest if queue >= 0 and isinstance(highest, int) and rest is not None else None
    if isinstance(found, Err):
        passed_over = found.code == "POLLING_TIMEOUT" and expression != "*" and highest != 0 and stored != highest
        if passed_over and end is not None:
            yield from _stored(names, group, topic, queue, end)
        return found
    for _, each, _, offsets in found:
        yield from _stored(names, group, topic, each, max(offsets) + 1 if end is None else end)
    return found


def _rest(answer: Command) -> int | None:
    """How many messages are behind what a pop brought or passed over, as its answer says, whatever the code."""
    rest = answer.ext.get("restNum", "")
    return int(rest) if re.fullmatch("-?[0-9]+", rest) else None


def _is_locked(found: Popped | Err, rest: int | None) -> bool:
    """Was the queue locked, as it is while a busy broker stores where the pop before ended? There are more messages,
    and none was brought or passed over."""
    return isinstance(found, Err) and found.code == "POLLING_TIMEOUT" and (rest or 0) > 0


def _stored(names: CaseNames, group: str, topic: str, queue: int, offset: int) -> _Waiting:
    """Wait until a group has stored this offset, and the broker lets the queue go."""
    if not names.takes_time:
        return
    for _ in applying(names):
        (answer,) = yield [requests.query(group, topic, queue, False)]
        if responses.number(answer) == offset:
            break
        yield LOOK
    yield _RELEASE


PART = Part(
    jobs={
        ShapeTopic: shape_topic,
        DeleteTopic: jobs.delete_topic,
        SetGroup: set_group,
        DeleteGroup: jobs.delete_group,
        SendTags: send_tags,
        Commit: jobs.commit,
        Query: jobs.query,
        Pull: pull,
        ResetQueue: reset_queue,
        ResetToMax: reset_to_max,
        Pop: pop,
        PopAll: pop_all,
        PopRetry: pop_retry,
    },
    needs=frozenset({Need.CHECK_POINTS}),
)
