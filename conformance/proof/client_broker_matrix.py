"""Proof of client-broker pairs: a real client of each release with a real broker of each release, over TCP.

Elsewhere client and broker are proven separately, the client against a fake broker. Here they act together: what a
group commits and reads back, where its consumers start, and the results of max, min and search by time. Every client
has groups of its own; all share one topic, which comes with the store: its queues are young, never written, with
expired messages, and with nothing but expired messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.proof.evidence import ProofResult, Tally
from rocketmq_conformance.conformance.proof.selection import Part
from rocketmq_conformance.conformance.proof.side_by_side import More
from rocketmq_conformance.conformance.proof.unit import Unit
from rocketmq_conformance.conformance.targets.broker import launch_config as needs
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease, java_release
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.lifecycle import reopened
from rocketmq_conformance.models.broker.search import max_offset, min_offset, search
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Topic
from rocketmq_conformance.models.client.initial_broker import TIMES, log_of_shape
from rocketmq_conformance.models.client.offset_table import STORE
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP, StartModel
from rocketmq_conformance.models.client.whole import LITE, PUSH
from rocketmq_conformance.models.outcome import Result, agrees
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import NEWEST, Release
from rocketmq_conformance.models.rule import Answer
from rocketmq_conformance.reports.proof import PAIR
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.pair import PairedClient

RELEASES = ("4.7.1", "4.9.4", "4.9.7", "5.0.0", "5.1.1", "5.1.4", "5.2.0", "5.3.3", "5.4.0", "5.5.0")
#: Queues of the topic by their index in the layout, and what each is like.
_SHAPES = {0: "young", 1: "empty", 5: "expired", 6: "gone"}
#: Offsets that a group commits: nothing, the first offset, one inside, one beyond max.
_STORED = (None, 0, 5, 100)
_KINDS = {PUSH: "start-push", LITE: "start-lite-pull"}
#: Before, at, between and after the messages (consumers read them in the machine's time zone, UTC).
_TIMESTAMPS = ("20200101000000", "20240101000000", "20240401000000", "20240701003000", "20300101000000")
_FUTURE = 4_000_000_000_000
_TIMES = sorted({0, _FUTURE, *(time + delta for time in TIMES for delta in (-1, 0, 1))})
#: How often what differs is asked again: on a busy machine a client gives up before the answer comes.
_AGAIN = 2
#: Timeout of a one-way commit (s).
_ARRIVES = 3.0


class PairState:
    """The model's state of client and broker."""

    def __init__(self, client: Release, broker: Release, java: int) -> None:
        self.model = StartModel(Profile(client, broker, java), ORDINARY)
        rules = self.model.store.broker
        self.broker = BrokerState(
            topics={TOPIC: Topic.of(len(_SHAPES))},
            groups=frozenset({GROUP}),
            logs={
                (TOPIC, ORDINARY.queues[at].id): reopened(rules, log_of_shape(shape)) for at, shape in _SHAPES.items()
            },
        )


def logs() -> list[QueueLog]:
    """The queues of the topic, as the store has them."""
    return [log_of_shape(shape) for shape in _SHAPES.values()]


def prove_pair(client: JavaRelease, cluster: Cluster, java: int) -> Tally:
    """Every table of one pair; groups that carry the client's release in their names are created and used."""
    from rocketmq_conformance.conformance.targets.java_client.pair import PairedClient

    tally = Tally(PAIR, client.version)
    state = PairState(client.release, cluster.release, java)
    paired = PairedClient(client, cluster.name_server)
    try:
        for kind, suite in _KINDS.items():
            for stored in _STORED:
                group = f"G-{client.version.replace('.', '-')}-{suite}-{stored}"
                cluster.do(requests.create_group(group))
                paired.join(group, suite)
                _Table(tally, state, paired, cluster, group, kind).ask(stored)
        _bounds(tally, state, paired)
    finally:
        paired.close()
    return tally


class _Table:
    """The cases of one group: commits, reads and start offsets."""

    def __init__(
        self, tally: Tally, state: PairState, client: PairedClient, cluster: Cluster, group: str, kind: str
    ) -> None:
        self._tally, self._model, self._client, self._cluster = tally, state.model, client, cluster
        self._group, self._kind = group, kind
        self._state = RemoteStore(broker=state.broker)

    def ask(self, stored: int | None) -> None:
        """Compare everything about one stored offset, in every queue."""
        for at, queue in enumerate(_SHAPES):
            if stored is not None:
                self._commit(queue, stored, one_way=at % 2 == 1)
            self._check(
                "read",
                queue,
                self._model.store.read(self._state, queue, STORE, "answer"),
                partial(self._client.read, queue, "store"),
            )
            for where, timestamp, checked in self._starts():
                # lite pull reads memory first: start with an empty one
                self._client.join(self._group, _KINDS[self._kind])
                self._state = RemoteStore(broker=self._state.broker)
                self._start(queue, where, timestamp, checked)

    def _starts(self) -> Iterator[tuple[str, str | None, bool]]:
        wheres = [(LAST, None), (FIRST, None), *((TIMESTAMP, text) for text in _TIMESTAMPS)]
        for (where, timestamp), checked in product(wheres, (False, True)):
            if not checked or self._model.client.checked_start:
                yield where, timestamp, checked

    def _start(self, queue: int, where: str, timestamp: str | None, checked: bool) -> None:
        decide = self._model.push if self._kind == PUSH else self._model.lite_pull
        answer = decide(self._state, queue, where, timestamp, "UTC", checked, "answer", "answer")
        text = f"{self._kind} starts {where} {timestamp or ''}".rstrip()
        self._check(text, queue, answer, lambda: self._client.start(queue, where, timestamp, "UTC", checked))

    def _commit(self, queue: int, offset: int, one_way: bool) -> None:
        """A commit: the offset that the broker stores after it, with or without a response."""
        after, _, why = self._model.store.commit(self._state, queue, offset, one_way, "answer")
        answered = self._client.commit(queue, offset, one_way)
        wait_until(lambda: not one_way or self._stands_at(queue) == offset, _ARRIVES, 0.02)
        stands = self._stands_at(queue)
        self._state = after
        observed: Result = stands if answered is None else answered
        self._tally.add(
            offset, why, observed, lambda: f"commit {offset} in {ORDINARY.queues[queue]}, one way {one_way}"
        )

    def _stands_at(self, queue: int) -> Result:
        topic, _, number = ORDINARY.queues[queue]
        return responses.number(self._cluster.ask(requests.query(self._group, topic, number, None)))

    def _check(self, what: str, queue: int, answer: Answer[RemoteStore], call: Callable[[], Result]) -> None:
        self._state, expected, why = answer
        observed = call()
        for _ in range(_AGAIN):
            if agrees(expected, observed):
                break
            observed = call()
        self._tally.add(expected, why, observed, lambda: f"{what} in a queue that is {_SHAPES[queue]}")


def _bounds(tally: Tally, state: PairState, client: PairedClient) -> None:
    """Max, min and every search of each queue."""
    broker, rules = state.broker, state.model.store.broker
    for queue, shape in _SHAPES.items():
        topic, _, number = ORDINARY.queues[queue]
        asked: list[tuple[str, Answer[BrokerState], Result]] = [
            ("max", max_offset(broker, topic, number), client.max(queue)),
            ("min", min_offset(broker, topic, number), client.min(queue)),
        ]
        for at in _TIMES:
            found = client.search(queue, at)
            asked.append((f"search {at}", search(rules, broker, topic, number, at), found))
        for what, (_, expected, why), observed in asked:
            tally.add(expected, why, observed, partial("{} in a queue that is {}".format, what, shape))


def prove(units: Iterable[Unit], more: More = lambda: True, *, name_server: Release = NEWEST) -> Iterator[ProofResult]:
    """The results of pairs, a broker's one after the other, that find each other by a name server of this release.

    No other pair begins once the time is up.
    """
    java = needs.java_feature(needs.java())
    by_broker: dict[str, list[Unit]] = {}
    for unit in units:
        by_broker.setdefault(unit.against, []).append(unit)
    for broker, pairs in by_broker.items():
        if not more():
            return
        release, left = Release.parse(broker), list(pairs)
        try:
            with Cluster(release, lambda home: write_store(home, {TOPIC: logs()}, {}), name_server) as cluster:
                cluster.await_route(TOPIC)
                while left and more():
                    yield _proven(left[0], cluster, java)
                    del left[0]
        except CannotRunError as error:
            yield from (ProofResult.missing(unit, error) for unit in left)


def parts() -> list[Part]:
    """The parts of a pair's proof: one, which is played as a whole."""
    return [Part.of(*(SUITES[name] for name in ("remote-store", *_KINDS.values())))]


def _proven(unit: Unit, cluster: Cluster, java: int) -> ProofResult:
    try:
        client = java_release(unit.release)
    except CannotRunError as error:
        return ProofResult.missing(unit, error)
    began = time.monotonic()
    tally = prove_pair(client, cluster, java)
    counted = f"{tally.cases} cases, {tally.differences} differences, {time.monotonic() - began:.1f} s"
    return ProofResult(
        unit=unit,
        lines=[f"{unit}: {counted}", *(f"  {example}" for example in tally.examples[:5])],
        rows=[replace(row, against=unit.against) for row in tally.rows()],
        differences=tally.differences,
    )
