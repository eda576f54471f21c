"""Proof of predictions for groups that pop: what ``predict start`` and ``predict reset`` say of a real broker, and what
pops and consumers are then given there.

Queues have their first message, were never written to, or lost some or all of their messages to expiry, each with every
kind of stored offset. Compared are the offset where each queue's first pop starts and its first message, for both modes
and with initPopOffsetByCheckMsgInMem switched off; the first message that a real consumer in POP mode is given; what
messages that came back give to a group that stored nothing of their topic; and where pops go on after resets, of groups
with and without a consumer that runs, while a message is in flight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.api import consumer_of, read_group
from rocketmq_conformance.conformance.predict.facts import GRPC, POP, pop_retry_topics
from rocketmq_conformance.conformance.predict.reset import BEGINNING, BY_TOOL, END, ResetPrediction, predict_reset
from rocketmq_conformance.conformance.predict.start import QueueStart, predict_start
from rocketmq_conformance.conformance.proof.predicted_starts import Agreement, agreement
from rocketmq_conformance.conformance.remoting.codes import Response, response_name
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.configuration import POP_CHECKS_MEMORY
from rocketmq_conformance.models.broker.pop import MAX, MIN
from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.broker.switches import POP_STARTS_AT_ZERO
from rocketmq_conformance.models.client.initial_broker import log_of_shape
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.release import NEWEST, Release

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

#: Every broker from 5.0.0 on that can be had.
RELEASES = (
    *("5.0.0", "5.1.0", "5.1.1", "5.1.3", "5.1.4", "5.2.0", "5.3.0", "5.3.1", "5.3.2", "5.3.3", "5.4.0", "5.5.0"),
    "5.5.1",
)
TOPIC, BESIDE, ANEW = "POPPED", "POPPED-BESIDE", "POPPED-ANEW"
_SHAPES = ("young", "empty", "expired", "gone")
_STORED = (None, 0, 5, 12, 100)
_QUEUES = tuple(product(_SHAPES, _STORED))
#: The queues that resets are of: all of them have a stored offset, without which a broker refuses.
_RESET = tuple((shape, offset) for shape, offset in _QUEUES if offset is not None and shape != "empty")
AT = {END: -1, BEGINNING: 0}
#: For how long a message is invisible that is to come back, and for how long others are (ms).
_SHORT, _LONG = 1_000, 600_000
#: Timeouts of what comes back and of all messages (s), and how long no more may come.
_BACK, _GIVEN, _SILENCE = 60.0, 90.0, 15.0
#: How many messages came back: they are sent to a retry topic. No release gives those that have no properties.
_AGAIN = 3
#: How long other messages than the predicted ones are waited for (s).
_BESIDES = 3.0
#: The groups that are reset: without a consumer to each target, and one with a consumer.
RUNNING = "P-reset-running"


def _stopped(target: str) -> str:
    """The group without a member that is reset to a target."""
    return f"P-reset-{target}"


_RESETS = (*map(_stopped, AT), RUNNING)


class PopCase(NamedTuple):
    """One group whose starts are compared."""

    kind: str
    where: str
    #: How it is asked: by pops of each queue ("asked"), of messages that came back ("again"), or by a real consumer
    #: ("real").
    how: str
    #: Is initPopOffsetByCheckMsgInMem switched off?
    cold: bool = False

    @property
    def group(self) -> str:
        """The group's name."""
        return "-".join(("P", self.kind, self.where.split("_")[2], self.how, *(("cold",) if self.cold else ())))

    @property
    def mode(self) -> int:
        """The initMode that its consumers ask for."""
        return MIN if self.kind == POP and self.where == FIRST else MAX

    @property
    def looked_at(self) -> str:
        """The topic whose starts are compared."""
        return pop_retry_topics(self.group, BESIDE)[0] if self.how == "again" else TOPIC


def start_cases(release: Release) -> list[PopCase]:
    """The groups whose starts are compared."""
    kinds = [(POP, FIRST), (POP, LAST), (GRPC, LAST)]
    found = [PopCase(kind, where, how) for how in ("asked", "again") for kind, where in kinds]
    found += [PopCase(POP, where, "real") for where in (FIRST, LAST)]
    return found + [PopCase(GRPC, LAST, how, True) for how in ("asked", "again") if POP_STARTS_AT_ZERO.on(release)]


def prove_pops(releases: Sequence[str] = RELEASES) -> Iterator[Agreement]:
    """The agreement of brokers of these releases, in their order."""
    for release in releases:
        known = Release.parse(release)
        groups = len(start_cases(known)) + len(_RESETS)
        yield agreement("pops", release, groups, partial(_compare, known))


def _compare(release: Release) -> tuple[int, list[str]]:
    """How many queues were compared, and what differs."""
    cases = start_cases(release)
    with Cluster(release, partial(_fill, cases), NEWEST) as cluster:
        cluster.await_route(TOPIC)
        for group in (*(case.group for case in cases), *_RESETS):
            cluster.do(requests.create_group(group))
        counted, differences = 0, []
        for case in cases:
            compared, found = _started(cluster, case)
            counted += compared
            differences += found
        for target in AT:
            differences += _reset_stopped(cluster, target)
        differences += _reset_running(cluster)
        return counted + len(_RESETS) * len(_RESET), differences


def _fill(cases: Sequence[PopCase], home: Path) -> None:
    """The store: the topics, and what every group stored."""
    topics: dict[str, Sequence[QueueLog]] = {
        TOPIC: [log_of_shape(shape) for shape, _ in _QUEUES],
        BESIDE: [log_of_shape("empty")],
        ANEW: [log_of_shape(shape) for shape, _ in _RESET],
    }
    stored = {}
    offsets = {queue: offset for queue, (_, offset) in enumerate(_QUEUES) if offset is not None}
    for case in cases:
        if case.how == "again":
            topics[case.looked_at] = [log_of_shape("empty")]
        else:
            stored[case.group, TOPIC] = offsets
    for group in _RESETS:
        stored[group, ANEW] = {queue: offset for queue, (_, offset) in enumerate(_RESET) if offset is not None}
    write_store(home, topics, stored)


def _started(cluster: Cluster, case: PopCase) -> tuple[int, list[str]]:
    """How many queues of a group were compared, and what differs."""
    if case.cold:
        cluster.do(requests.set_property(POP_CHECKS_MEMORY, "false"))
    for _ in range(_AGAIN if case.how == "again" else 0):
        cluster.send(case.looked_at, 0)
    topic = BESIDE if case.how == "again" else TOPIC
    facts = read_group(cluster.name_server, case.group, (topic,))
    consumer = consumer_of(facts, kind=case.kind, where=case.where)
    starts = [start for start in predict_start(facts, consumer).queues if start.facts.topic == case.looked_at]
    if case.how == "real":
        found = _first_given(cluster, case, starts)
    else:
        found = [_popped(cluster, case.group, topic, start.facts.queue, case.mode) for start in starts]
    if case.cold:
        cluster.do(requests.set_property(POP_CHECKS_MEMORY, "true"))
    differences = []
    for start, (begun, first) in zip(starts, found, strict=True):
        due = start.first if _gives(start) else None
        # 5.0.0 says where a pop starts after a correction
        wanted = begun if begun is None or start.moved_by else start.start
        if (begun, first) != (wanted, due):
            shape = _QUEUES[start.facts.queue]
            differences.append(
                f"{case.group}, queue {shape}: predicted {start.start} and message {due}, popped from {begun} and got "
                f"{first}"
            )
    return len(starts), differences


def _gives(start: QueueStart) -> bool:
    """Is there a message to be given?"""
    return start.first is not None and start.first < start.facts.max and start.facts.earliest >= 0


def _popped(
    cluster: Cluster, group: str, topic: str, queue: int, mode: int, invisible: int = _LONG
) -> tuple[int | None, int | None]:
    """Where a pop of one message starts, and its offset, whichever topic it is of; None for nothing."""
    found = responses.popped(cluster.ask(requests.pop(group, topic, queue, 1, invisible, mode, "*")))
    if not isinstance(found, Err):
        ((_, _, start, (offset,)),) = found
        return start, offset
    if found.code != "POLLING_TIMEOUT":
        raise CannotRunError(f"Broker {cluster.release} refused a pop with {found.code} ({found.detail}).")
    return None, None


def _first_given(cluster: Cluster, case: PopCase, starts: Sequence[QueueStart]) -> list[tuple[int | None, int | None]]:
    """The first message of each queue that a real consumer is given."""
    due = {(start.facts.queue, start.first) for start in starts if _gives(start)}
    with _consumer(cluster, case.group, TOPIC, case.where) as consumer:
        wait_until(lambda: due <= set(consumer.given), _GIVEN, 0.1)
        wait_until(lambda: False, _BESIDES, 1.0)
        given = list(consumer.given)
    every = [[offset for queue, offset in given if queue == start.facts.queue] for start in starts]
    return [(None, min(offsets, default=None)) for offsets in every]


def _consumer(cluster: Cluster, group: str, topic: str, where: str) -> WholeConsumer:
    """A consumer in POP mode."""
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer, quick_release

    cluster.do(requests.set_mode(topic, group, "POP", 0))
    name = f"{group}-{cluster.release}"
    return WholeConsumer(
        quick_release(str(NEWEST)), PUSH, cluster.name_server, group, topic, where, client=name, pops=True
    )


def _reset_stopped(cluster: Cluster, target: str) -> Iterator[str]:
    """What differs where no member is online. A message is in flight meanwhile, and comes back."""
    group = _stopped(target)
    _, flying = _popped(cluster, group, ANEW, 0, MAX, _SHORT)
    facts = read_group(cluster.name_server, group, (ANEW,))
    predicted = predict_reset(replace(facts, kind=GRPC), ANEW, target, others=False)
    yield from _made(cluster, group, target, predicted)
    for each in predicted.queues:
        due = None if each.after is None or not each.lag else max(each.after, each.facts.oldest)
        _, first = _popped(cluster, group, ANEW, each.facts.queue, MAX)
        if first != due:
            yield f"{group}, queue {_RESET[each.facts.queue]}: predicted {each.after}, popped message {first}"
    if flying is None or not wait_until(partial(_is_back, cluster, group), _BACK, 0.5):
        yield f"{group}: what was in flight ({flying}) did not come back"


def _is_back(cluster: Cluster, group: str) -> bool:
    (answer,) = (cluster.ask(requests.max_offset(pop_retry_topics(group, ANEW)[0], 0)),)
    return responses.number(answer) == 1


def _made(cluster: Cluster, group: str, target: str, predicted: ResetPrediction) -> Iterator[str]:
    """Make a reset as mqadmin does, which commits where the broker answers that no member is online."""
    answer = cluster.ask(requests.reset(group, ANEW, AT[target], True, None, None))
    by_tool = answer.code == Response.CONSUMER_NOT_ONLINE
    if by_tool != (predicted.ways == (BY_TOOL,)) or (answer.code and not by_tool):
        yield f"{group}: predicted {predicted.ways}, was {response_name(answer.code)} {answer.remark}"
    for each in predicted.queues if by_tool else ():
        cluster.do(requests.commit(group, ANEW, each.facts.queue, each.after))


def _reset_running(cluster: Cluster) -> Iterator[str]:
    """What differs where a real consumer in POP mode runs that has consumed everything, and is reset to the
    beginning."""
    ends = {queue: log_of_shape(shape).max for queue, (shape, _) in enumerate(_RESET)}
    with _consumer(cluster, RUNNING, ANEW, LAST) as consumer:

        def stands() -> dict[int, int]:
            known = read_group(cluster.name_server, RUNNING, (ANEW,))
            return {one.queue: one.stored for one in known.queues if one.topic == ANEW and one.stored is not None}

        if not wait_until(lambda: stands() == ends, _GIVEN, 0.2):
            raise CannotRunError(f"{consumer.name} did not get to the end within {_GIVEN:.0f} s: try again.")
        before = len(consumer.given)
        facts = read_group(cluster.name_server, RUNNING, (ANEW,))
        predicted = predict_reset(replace(facts, kind=POP), ANEW, BEGINNING, others=False)
        cluster.do(requests.reset(RUNNING, ANEW, AT[BEGINNING], True, None, None))
        due = {
            (one.facts.queue, offset)
            for one in predicted.queues
            if predicted.made and one.after is not None
            for offset in range(max(one.after, one.facts.oldest), one.facts.max)
        }
        wait_until(lambda: bool(due) and due <= set(consumer.given[before:]), _GIVEN if due else _SILENCE, 0.1)
        given = set(consumer.given[before:])
        if given != due:
            yield f"{RUNNING}: predicted that {sorted(due)} come again, and {sorted(given)} came"
        if (now := stands()) != ends:
            yield f"{RUNNING}: predicted that it stands at {ends} at last, and it stands at {now}"
