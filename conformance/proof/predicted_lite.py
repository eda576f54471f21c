"""Proof of predicted resets of running lite pull consumers: what ``predict reset`` says, and what real ones then do.

Some are polled all the time, and have consumed everything; others were not polled yet, and have cached everything.
Compared is what each of them is given after the reset, queue by queue, and where its group then stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from itertools import product
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.api import read_group
from rocketmq_conformance.conformance.predict.remedies import LITE_HELD
from rocketmq_conformance.conformance.predict.reset import (
    AT_TIME,
    BEGINNING,
    END,
    QueueReset,
    ResetPrediction,
    predict_reset,
)
from rocketmq_conformance.conformance.proof.predicted_resets import AT, SHAPES, TIME, TOPIC, stands
from rocketmq_conformance.conformance.proof.predicted_starts import Agreement, agreement
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.client.initial_broker import log_of_shape
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole import LITE
from rocketmq_conformance.models.release import NEWEST, Release

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

#: (client, broker): a client from 5.0.0 on gets nothing from a broker before it.
PAIRS = (
    *(("4.9.8", broker) for broker in ("4.7.1", "4.9.7", "5.5.0")),
    *(("5.5.0", broker) for broker in ("5.0.0", "5.1.4", "5.2.0", "5.5.0")),
)
_STORED = {0: 7, 1: 0, 2: 9, 3: 12}
#: Timeouts of what must happen (s); how long what must not happen is waited for: a held pull, and commits after it.
_LIMIT, _QUIET = 60.0, LITE_HELD + 10.0


class LiteCase(NamedTuple):
    """One group, and whether its consumer is polled before the reset."""

    target: str
    polled: bool

    @property
    def group(self) -> str:
        """The group's name."""
        return f"L-{self.target}-{'polled' if self.polled else 'cached'}"


_CASES = [LiteCase(*each) for each in product((END, BEGINNING, AT_TIME), (True, False))]


class _Running(NamedTuple):
    """A consumer, and what lets it be polled."""

    consumer: WholeConsumer
    gate: Event


def prove_predicted_lite(client: str, broker: str) -> Agreement:
    """The agreement of resets of lite pull consumers of a release on a broker of another one."""
    return agreement(f"lite pull {client}", broker, len(_CASES), lambda: _compare(client, Release.parse(broker)))


def _compare(client: str, release: Release) -> tuple[int, list[str]]:
    """How many queues were compared, and what differs."""
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer, quick_release

    classes = quick_release(client)
    logs = [log_of_shape(shape) for shape in SHAPES]
    every = {(case.group, TOPIC): _STORED for case in _CASES}
    with (
        Cluster(release, lambda home: write_store(home, {TOPIC: logs}, every), NEWEST) as cluster,
        ExitStack() as open_,
    ):
        cluster.await_route(TOPIC)
        running = {}
        for case in _CASES:
            cluster.do(requests.create_group(case.group))
            gate = Event()
            if case.polled:
                gate.set()
            # a poll that waits for its gate is not to hold up the end
            open_.callback(gate.set)
            made = WholeConsumer(
                classes, LITE, cluster.name_server, case.group, TOPIC, LAST, client=case.group, gate=_until(gate)
            )
            running[case] = _Running(open_.enter_context(made), gate)
        for case, one in running.items():
            one.consumer.await_start(len(SHAPES))
            _await_progress(cluster, case, one)
        predicted = {case: _reset(cluster, case) for case in running}
        return len(_CASES) * len(SHAPES), _observed(cluster, running, predicted)


def _until(gate: Event) -> Callable[[], None]:
    """What a poll waits for."""

    def wait() -> None:
        gate.wait()

    return wait


def _await_progress(cluster: Cluster, case: LiteCase, one: _Running) -> None:
    """Until everything is consumed and committed, or cached, and all pulls wait for messages."""
    facts = read_group(cluster.name_server, case.group, [TOPIC])
    if facts.kind != "lite":
        raise CannotRunError(f"The heartbeat of {one.consumer.name} says that it is {facts.kind or 'not there'}.")
    ends = tuple((queue.queue, queue.max) for queue in facts.queues)
    if case.polled:
        done = wait_until(lambda: stands(cluster, case.group) == ends, _LIMIT, 0.2)
    else:
        done = wait_until(lambda: one.consumer.pulled_to() == dict(ends), _LIMIT, 0.2)
    if not done:
        raise CannotRunError(f"{one.consumer.name} did not get to the end within {_LIMIT:.0f} s: try again.")


def _reset(cluster: Cluster, case: LiteCase) -> ResetPrediction:
    """The prediction; then the reset is made."""
    facts = read_group(cluster.name_server, case.group, [TOPIC], TIME)
    cluster.do(requests.reset(case.group, TOPIC, AT[case.target], True, None, None))
    return predict_reset(facts, TOPIC, case.target, others=False)


def _observed(
    cluster: Cluster, running: Mapping[LiteCase, _Running], predicted: Mapping[LiteCase, ResetPrediction]
) -> list[str]:
    """What differs: first while what is cached is not polled, then when it is."""
    before = {case: len(one.consumer.given) for case, one in running.items()}
    wait_until(lambda: False, _QUIET, 1.0)
    differences = []
    for case in running:
        # of those that are not polled, commits store again what they stood at
        if not case.polled:
            differences += _compared(case, "stands at", tuple(_STORED.items()), stands(cluster, case.group))
    for case, one in running.items():
        one.gate.set()
        expected = [_expected(each, case.polled, predicted[case].made) for each in predicted[case].queues]

        def given(case: LiteCase = case, one: _Running = one) -> list[list[int]]:
            since = one.consumer.given[before[case] :]
            return [[offset for number, offset in since if number == queue] for queue in range(len(SHAPES))]

        wait_until(lambda given=given, expected=expected: given() == expected, _LIMIT, 0.1)  # type: ignore[misc]
        differences += _compared(case, "is given", expected, given())
    for case in running:
        ends = tuple((each.facts.queue, _end(each, case.polled)) for each in predicted[case].queues)
        wait_until(lambda case=case, ends=ends: stands(cluster, case.group) == ends, _LIMIT, 0.2)  # type: ignore[misc]
        differences += _compared(case, "ends at", ends, stands(cluster, case.group))
    return differences


def _expected(each: QueueReset, polled: bool, made: bool) -> list[int]:
    """The offsets that are given: what was cached, and then what comes again."""
    facts = each.facts
    assert facts.stored is not None
    cached = [] if polled else range(max(facts.stored, facts.oldest), facts.max)
    again = range(max(each.after, facts.oldest), facts.max) if made and each.after is not None else []
    return [*cached, *again]


def _end(each: QueueReset, polled: bool) -> int:
    """Where a group stands at last: messages that came again while they were cached count for no commit."""
    facts = each.facts
    assert facts.stored is not None
    came_again = not polled and each.after is not None and each.after < facts.stored < facts.max
    return facts.stored if came_again else facts.max


def _compared(case: LiteCase, what: str, predicted: object, observed: object) -> list[str]:
    return [] if predicted == observed else [f"{case.group} {what}: predicted {predicted}, was {observed}"]
