"""Plays the suite ``broker-polling`` on a broker: pulls that wait, each over a connection of its slot.

A busy broker may answer late, so nothing is judged by how soon an answer comes. What must come is waited for, much
longer than a broker takes: for so long, and for as many looks as a machine takes in that time that has nothing else to
do. What must not come is waited for until another pull, the *witness*, was answered by a check: it has a message that
does not pass its filter. And a message woke a pull at once when the pull was answered and the witness was not. A broker
may still be about to hold the witness when the message comes, and a check may come in between: so that is tried again
and again, with longer pauses, until it was seen.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from typing import TypeVar, cast

from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.broker_topics import set_named_topic
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import Wish
from rocketmq_conformance.conformance.waiting import looks
from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET
from rocketmq_conformance.models.broker.broadcast import SUFFIX
from rocketmq_conformance.models.broker.broker_polling import (
    ACTIVELY,
    AFTER,
    BEFORE,
    BROADCAST,
    CLUSTERING,
    CONSUMES_ACTIVELY,
    DELETED,
    DISABLED,
    ELSEWHERE,
    FOREVER,
    HELD,
    INTERVAL,
    LEAVING,
    LEFT,
    NEW,
    OLD,
    ONE_ID,
    OTHER_TAG,
    OTHER_TAGS,
    REFUSED,
    REGISTERED,
    SLOTS,
    TAG,
    WAITING,
    PullAnswer,
)
from rocketmq_conformance.models.broker.members import PASSIVELY
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.java_text import string_hash
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites.broker_polling import (
    AwaitPull,
    ChangeHeld,
    HoldPull,
    LookAtPull,
    PullBroadcasting,
    SendTags,
    WakePull,
)

T = TypeVar("T")
#: A job's part that gives something else than a result.
_Part = Generator[Wish, list[Command], T]

#: The pause between two looks at a pull, the time that it has to be put aside, and the most that it is given, in times
#: between two checks; how many other pulls are answered meanwhile.
_PAUSE, _ASIDE, _ASIDE_MOST = 0.05, 0.02, 0.4
_OTHERS = 4
#: The time that a check may take from one pull to another, as a share of how late a broker may be.
_LINGER = 0.02
#: Error of a broker's clock, which counts whole ms (s), and may be set while a pull is held, as a share of the time
#: between two checks.
_GRAIN, _SET = 0.002, 0.004
#: How often it is tried to see that a message wakes a pull before a check, and how often that must be seen: once where
#: it must, and most times where it must not, since a busy broker may pause in the middle of a check.
_LONG_TRIES, _SHORT_TRIES = (12, 1), (6, 4)
#: Connections of the witness and of the pull that is to be woken, and queues of a topic that nothing else uses.
_WITNESS, _WOKEN = SLOTS, SLOTS + 1
#: Connections of the pull that waits for a change and of the member of its group; its topic.
_CHANGED, _MEMBER = SLOTS + 2, SLOTS + 3
_CHANGED_TOPIC = 2
_TOPIC, _WITNESS_QUEUE, _WOKEN_QUEUE = 1, 0, 1
#: Connections of the members of a group that may broadcast, of a stranger, and of the member of one that does: it shows
#: when the broker has looked at what groups pulled. The queue in which that shows.
_MEMBERS, _STRANGER, _BROADCASTER = (SLOTS + 4, SLOTS + 5), SLOTS + 6, SLOTS + 7
_PULLED_QUEUE, _MARKED_QUEUE = 0, 1


def send_tags(names: CaseNames, queue: int, tags: tuple[str, ...]) -> Requests:
    """Send messages: their offsets, once the queue shows them."""
    return (yield from jobs.send_with(names, 0, queue, [{"TAGS": tag} if tag else {} for tag in tags]))


def hold_pull(
    names: CaseNames, slot: int, queue: int, distance: int, expression: str, wait: int, suspends: bool
) -> Requests:
    """Pull over the connection of a slot."""
    names.slots.pop(slot, None)
    _keep_open(names)
    (shown,) = yield [requests.max_offset(names.topic(0), queue)]
    highest = responses.number(shown)
    if not isinstance(highest, int):
        return highest
    offset = max(highest + distance, 0)
    probe = _pull(names, 0, queue, offset, expression, None)
    (answer,) = yield [probe]
    waits = INTERVAL if names.short_polling else wait
    began = names.clock.monotonic()
    _post(names, slot, _pull(names, 0, queue, offset, expression, wait if suspends else None))
    sent = math.floor(_shares(names, began))
    if suspends and answer.code == Response.PULL_NOT_FOUND:
        yield _ASIDE * names.hold_check
        found = yield from _collected(names, slot, 0.0)
    else:
        found = yield from _collected(names, slot, names.lateness)
    if found is not None:
        return _observed(names, found, sent)
    seconds = max(waits, 0) / INTERVAL * names.hold_check
    names.slots[slot] = probe, sent, None if waits == FOREVER else names.clock.monotonic() + seconds
    return HELD, sent, _now(names)


def look_at_pull(names: CaseNames, slot: int) -> Requests:
    """See whether the pull of a slot is answered, and wait for it when there is a message that passes."""
    held = names.slots.get(slot)
    if held is None:
        return None
    probe, sent, _ = held
    _keep_open(names)
    (answer,) = yield [probe]
    found = yield from _collected(names, slot, 0.0 if answer.code else names.hold_check + names.lateness)
    return _finished(names, slot, sent, found)


def await_pull(names: CaseNames, slot: int) -> Requests:
    """Wait until the pull of a slot is answered; if nothing leads to that, until a check did not answer it."""
    held = names.slots.get(slot)
    if held is None:
        return None
    probe, sent, until = held
    _keep_open(names)
    (answer,) = yield [probe]
    now = names.clock.monotonic()
    if answer.code != Response.PULL_NOT_FOUND:
        found = yield from _collected(names, slot, names.hold_check + names.lateness)
    elif until is not None:
        found = yield from _collected(names, slot, max(until - now, 0.0) + names.hold_check + names.lateness)
    else:
        found = yield from _outlasted(names, slot)
    return _finished(names, slot, sent, found)


def wake_pull(names: CaseNames, expression: str, tag: str) -> Requests:
    """Hold a pull and send a message: the answer as if from offset 0, and whether it came before a check."""
    tries, needed = _SHORT_TRIES if names.short_polling else _LONG_TRIES
    answer, aside, seen, unseen = None, _ASIDE, 0, 0
    while seen < needed and unseen <= tries - needed:
        tried = yield from _woken(names, expression, tag, aside)
        if isinstance(tried, Err):
            return tried
        if answer is not None and tried[0] != answer:
            return tried[0], False
        answer = tried[0]
        seen, unseen = (seen + 1, unseen) if tried[1] else (seen, unseen + 1)
        aside = min(2 * aside, _ASIDE_MOST)
    return answer, seen == needed


def _woken(names: CaseNames, expression: str, tag: str, aside: float) -> _Part[Err | tuple[PullAnswer | str, bool]]:
    """Try once: the answer, or HELD, and whether it came before that of the witness."""
    error = yield from _begin_witness(names, aside)
    if error is not None:
        return error
    topic = names.topic(_TOPIC)
    (shown,) = yield [requests.max_offset(topic, _WOKEN_QUEUE)]
    first = responses.number(shown)
    if isinstance(first, Err):
        return first
    _post(names, _WOKEN, _pull(names, _TOPIC, _WOKEN_QUEUE, first, expression, FOREVER))
    yield from _put_aside(names, _WOKEN, aside)
    error = yield from _send(names, _WITNESS_QUEUE, "B")
    error = error or (yield from _send(names, _WOKEN_QUEUE, tag))
    if error is not None:
        return error
    found = yield from _collected(names, _WOKEN, names.hold_check + names.lateness)
    before = found is not None and names.collect_own(_WITNESS, 0.0) is None
    if before:
        yield _LINGER * names.lateness
        before = (yield from _collected(names, _WITNESS, 0.0)) is None
    names.close_own(_WITNESS)
    names.close_own(_WOKEN)
    if found is None:
        return HELD, False
    answer = responses.pulled(found)
    if isinstance(answer, Err):
        return answer
    code, following, offsets = cast(PullAnswer, answer)
    return (code, following - first, tuple(offset - first for offset in offsets)), before


def change_held(names: CaseNames, change: str) -> Requests:
    """Hold a pull, change something and send a message: the answer as if from offset 0.

    A broker may still be about to hold the pull when the change comes: that is tried again by another group, with a
    longer pause, until the answer is as it was the time before.
    """
    aside, last = _ASIDE, None
    while True:
        group = f"{names.prefix}-changed{len(names.used_groups)}"
        names.used_groups.add(group)
        error = yield from _changeable(names, group, change)
        if error is not None:
            return error
        answer = yield from _changed(names, group, change, aside)
        if isinstance(answer, Err) and not answer.definite:
            return answer
        if answer == last or aside >= _ASIDE_MOST:
            return answer
        aside, last = min(4 * aside, _ASIDE_MOST), answer


def _changeable(names: CaseNames, group: str, change: str) -> _Part[Err | None]:
    """Have the group and the topic of a pull that is to be changed; the error, if any."""
    topic = names.topic(_CHANGED_TOPIC)
    (answer,) = yield [requests.create_group(group, True)]
    error = responses.refused(answer)
    if error is not None:
        return error
    made = yield from set_named_topic(names, topic, BEFORE)
    if isinstance(made, Err):
        return made
    if change not in {REGISTERED, OTHER_TAGS, LEFT}:
        return None
    return _subscribe(names, group, TAG, OLD)


def _subscribe(names: CaseNames, group: str, tag: str, version: int) -> Err | None:
    """Subscribe to a tag by a heartbeat over the member's connection."""
    names.created.add(RETRY + group)
    names.own_registered.add((_MEMBER, group))
    one = requests.subscription(names.topic(_CHANGED_TOPIC), tag, version, tags=[tag], codes=[string_hash(tag)])
    beat = requests.heartbeat_of(names.client(), [requests.consumer(group, [one])])
    return responses.refused(names.ask_own(_MEMBER, beat))


def _changed(names: CaseNames, group: str, change: str, aside: float) -> _Part[Result]:
    """Try once: the answer, or HELD."""
    topic = names.topic(_CHANGED_TOPIC)
    (shown,) = yield [requests.max_offset(topic, 0)]
    first = responses.number(shown)
    if isinstance(first, Err):
        return first
    registered = change in {REGISTERED, OTHER_TAGS, LEFT}
    wait = int(FOREVER * names.hold_check * 1000 / INTERVAL)
    _post(
        names,
        _CHANGED,
        requests.pull_registered(group, topic, 0, first, OLD, wait=wait)
        if registered
        else requests.pull_by(group, topic, 0, first, TAG, "TAG", wait=wait),
    )
    yield from _put_aside(names, _CHANGED, aside)
    error: Result = None
    if change == DISABLED:
        (answer,) = yield [requests.create_group(group, False)]
        error = responses.refused(answer)
    elif change == DELETED:
        (answer,) = yield [requests.delete_group(group, CLEAN_OFFSET)]
        error = responses.refused(answer)
    elif change in AFTER:
        error = yield from set_named_topic(names, topic, AFTER[change])
    elif change == OTHER_TAGS:
        error = _subscribe(names, group, OTHER_TAG, NEW)
    elif change == LEFT:
        names.own_registered.discard((_MEMBER, group))
        error = responses.refused(names.ask_own(_MEMBER, requests.unregister(names.client(), group)))
    if isinstance(error, Err):
        return error
    sent = yield from jobs.send_with(names, _CHANGED_TOPIC, 0, [{"TAGS": TAG}])
    if isinstance(sent, Err):
        return sent
    found = yield from _collected(names, _CHANGED, names.hold_check + names.lateness)
    names.close_own(_CHANGED)
    if found is None:
        return HELD
    answered = responses.pulled(found)
    if isinstance(answered, Err):
        return answered
    code, following, offsets = cast(PullAnswer, answered)
    return code, following - first, tuple(offset - first for offset in offsets)


def pull_broadcasting(names: CaseNames, way: str, pulls: tuple[tuple[int, int], ...]) -> Requests:
    """Pull as members of a new group, and wait until the broker has looked at that."""
    group = topic = f"{names.prefix}-broadcast{len(names.used_groups)}"
    witness = f"{group}-witness"
    error = yield from _broadcastable(names, way, group, witness, topic)
    if error is not None:
        return error
    client = names.client()
    marked = [_pull_marked(names, at, group, topic, 0) for at in _MEMBERS]
    for member, offset in pulls:
        connection = _STRANGER if way == ELSEWHERE else _MEMBERS[member]
        version, wait = NEW if way == REFUSED else OLD, FOREVER if way == WAITING else None
        asked = requests.pull_registered(group, topic, _PULLED_QUEUE, offset, version, wait=wait)
        if way == WAITING:
            names.post_own(connection, asked)
            yield from _put_aside(names, connection, _ASIDE)
        else:
            names.ask_own(connection, asked)
    marked += [_pull_marked(names, at, group, topic, 1) for at in _MEMBERS]
    error = next((each for each in marked if each is not None), None)
    if error is None and way == LEAVING:
        error = responses.refused(names.ask_own(_MEMBERS[0], requests.unregister(client, group)))
    if error is not None:
        return error
    yield from _looked_at(names, group, witness, topic)
    for connection in (*_MEMBERS, _STRANGER, _BROADCASTER):
        names.close_own(connection)
    names.own_registered = {pair for pair in names.own_registered if pair[1] not in {group, witness}}
    stored, smallest = yield [
        requests.query(group + SUFFIX, topic, _PULLED_QUEUE, None),
        requests.correction(topic, (), ""),
    ]
    found, offsets = responses.number(stored), responses.corrected(smallest)
    if isinstance(offsets, Err) or (isinstance(found, Err) and not found.definite):
        return offsets if isinstance(offsets, Err) else found
    kept = dict(cast("tuple[tuple[int, int], ...]", offsets))
    return found.code if isinstance(found, Err) else found, kept.get(_PULLED_QUEUE)


def _broadcastable(names: CaseNames, way: str, group: str, witness: str, topic: str) -> _Part[Err | None]:
    """Have a topic with messages, and the members of both groups; the error, if any."""
    names.used_groups |= {group, witness}
    names.created |= {RETRY + group, RETRY + witness}
    created = yield from jobs.create_named_topic(names, topic, 2)
    if isinstance(created, Err):
        return created
    for queue in (_PULLED_QUEUE, _MARKED_QUEUE):
        sent = yield from jobs.send_named(names, topic, queue, BROADCAST, apart=False)
        if isinstance(sent, Err):
            return sent
    for answer in (yield [requests.create_group(name, True) for name in (group, witness)]):
        error = responses.refused(answer)
        if error is not None:
            return error
    subscribed = [requests.subscription(topic, "*", OLD)]
    kind = CONSUMES_ACTIVELY if way == ACTIVELY else PASSIVELY
    consumer = requests.consumer(group, subscribed, way != CLUSTERING, kind)
    client = names.client()
    beats = [(_MEMBERS[0], client, consumer), (_MEMBERS[1], client if way == ONE_ID else f"{client}1", consumer)]
    for at, identity, one in (*beats, (_BROADCASTER, client, requests.consumer(witness, subscribed, True))):
        names.own_registered.add((at, str(one["groupName"])))
        error = responses.refused(names.ask_own(at, requests.heartbeat_of(identity, [one])))
        if error is not None:
            return error
    return None


def _pull_marked(names: CaseNames, connection: int, group: str, topic: str, offset: int) -> Err | None:
    """Pull from the queue in which it shows that the broker has looked; the error, if it does not let itself be pulled
    from at all."""
    answer = responses.pulled(
        names.ask_own(connection, requests.pull_registered(group, topic, _MARKED_QUEUE, offset, OLD))
    )
    return answer if isinstance(answer, Err) and not answer.definite else None


def _looked_at(names: CaseNames, group: str, witness: str, topic: str) -> _Part[None]:
    """Wait until the broker has stored what a group pulled, or twice what another group did that broadcasts: the second
    time it has looked at everything since the first. Many brokers never do."""
    for offset in (1, 2):
        _pull_marked(names, _BROADCASTER, witness, topic, offset)
        for last in _looks(names, names.hold_check + names.lateness):
            asks = [requests.query(name + SUFFIX, topic, _MARKED_QUEUE, False) for name in (group, witness)]
            mark, seen = (responses.number(answer) for answer in (yield asks))
            if mark == 1 or last:
                return
            if seen == offset:
                break
            yield _PAUSE * names.hold_check
    yield _LINGER * names.lateness


def _outlasted(names: CaseNames, slot: int) -> _Part[Command | None]:
    """The answer to the pull of a slot, if it arrives until a check answered the witness."""
    if isinstance((yield from _begin_witness(names, _ASIDE)), Err) or isinstance(
        (yield from _send(names, _WITNESS_QUEUE, "B")), Err
    ):
        return (yield from _collected(names, slot, names.hold_check + names.lateness))
    found = None
    for _ in looks(names.hold_check + names.lateness, names.clock):
        yield _PAUSE * names.hold_check
        checked = yield from _collected(names, _WITNESS, 0.0)
        found = names.collect_own(slot, 0.0)
        if checked is not None or found is not None:
            break
    names.close_own(_WITNESS)
    if found is not None:
        return found
    yield _LINGER * names.lateness
    return (yield from _collected(names, slot, 0.0))


def _begin_witness(names: CaseNames, aside: float) -> _Part[Err | None]:
    """Hold the witness, which only a check answers once there is a message; the error, if any."""
    topic = names.topic(_TOPIC)
    if topic not in names.created:
        error = yield from jobs.create_topic(names, _TOPIC, 2)
        if isinstance(error, Err):
            return error
    _keep_open(names)
    (shown,) = yield [requests.max_offset(topic, _WITNESS_QUEUE)]
    first = responses.number(shown)
    if isinstance(first, Err):
        return first
    _post(names, _WITNESS, _pull(names, _TOPIC, _WITNESS_QUEUE, first, "C", FOREVER))
    yield from _put_aside(names, _WITNESS, aside)
    return None


def _put_aside(names: CaseNames, connection: int, aside: float) -> _Part[None]:
    """Give the broker the time to hold a pull; it answers others meanwhile, so its threads do get on."""
    for _ in range(_OTHERS):
        yield aside / _OTHERS * names.hold_check
        names.ask_own(connection, _pull(names, 0, 0, 0, "C", None))


def _keep_open(names: CaseNames) -> None:
    """Use the connections of held pulls: a broker closes one that is silent for two minutes."""
    for slot in names.slots:
        names.ask_own(slot, requests.max_offset(names.topic(0), 0))


def _send(names: CaseNames, queue: int, tag: str) -> _Part[Err | None]:
    """Send a message to the topic of the witness; the error, if any."""
    sent = yield from jobs.send_with(names, _TOPIC, queue, [{"TAGS": tag}])
    return sent if isinstance(sent, Err) else None


def _pull(names: CaseNames, topic: int, queue: int, offset: int, expression: str, wait: int | None) -> requests.Ask:
    """A pull by tags; with ``wait`` (thousandths of the time between two checks) it may be held."""
    ms = None if wait is None else int(wait * names.hold_check * 1000 / INTERVAL)
    return requests.pull_by(names.used_group(0), names.topic(topic), queue, offset, expression, "TAG", wait=ms)


def _post(names: CaseNames, connection: int, request: requests.Ask) -> None:
    """Send a request over a new connection, and another one, which is answered when the first one has arrived."""
    names.close_own(connection)
    names.post_own(connection, request)
    names.ask_own(connection, requests.max_offset(names.topic(0), 0))


def _collected(names: CaseNames, connection: int, seconds: float) -> _Part[Command | None]:
    """The answer to a posted request, if it arrives in so many seconds.

    After the time is over the broker answers one more request, and what it sent before has arrived.
    """
    found = None
    for last in _looks(names, seconds):
        yield [requests.max_offset(names.topic(0), 0)]
        found = names.collect_own(connection, 0.0)
        if found is not None:
            break
        if not last:
            yield _PAUSE * names.hold_check
    return found


def _looks(names: CaseNames, seconds: float) -> Iterator[bool]:
    """Looks for so many seconds; the time of a machine that is too busy for them does not count."""
    return looks(seconds, names.clock, math.floor(seconds / (_PAUSE * names.hold_check)))


def _finished(names: CaseNames, slot: int, sent: int, found: Command | None) -> Result:
    if found is None:
        return HELD, sent, _now(names)
    del names.slots[slot]
    names.close_own(slot)
    return _observed(names, found, sent)


def _observed(names: CaseNames, found: Command, sent: int) -> Result:
    answer = responses.pulled(found)
    return (answer, sent, _now(names)) if isinstance(answer, tuple) else answer


def _now(names: CaseNames) -> int:
    return math.ceil(_shares(names, names.clock.monotonic() + _GRAIN + _SET * names.hold_check))


def _shares(names: CaseNames, moment: float) -> float:
    """A moment in thousandths of the time between two checks since the case began."""
    return (moment - names.start) / names.hold_check * INTERVAL


PART = Part(
    jobs={
        SendTags: send_tags,
        HoldPull: hold_pull,
        LookAtPull: look_at_pull,
        AwaitPull: await_pull,
        WakePull: wake_pull,
        ChangeHeld: change_held,
        PullBroadcasting: pull_broadcasting,
    },
    needs=frozenset({Need.SILENCE}),
)
