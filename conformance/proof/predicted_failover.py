"""Proof of predictions for a fail-over: what ``predict failover`` says of a real pair, and what then happens to it.

A master and its slave of one release, with a name server. Groups have stored the same at both, more at the master, more
at the slave, at one of the two alone, at each in other queues, and nothing. The master is killed once its offsets are
on the disk; real consumers start at the slave and end; the master is started again, and consumers start there.
Compared are the messages that consumers are given at either time, what the slave has stored before the master is back,
and what the master has stored then. Nothing goes by the period of a slave: a group tells whether it asked meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.answers import stored_table
from rocketmq_conformance.conformance.predict.api import consumer_of, read_pair
from rocketmq_conformance.conformance.predict.failover import FailoverPrediction, predict_failover
from rocketmq_conformance.conformance.predict.start import QueueStart
from rocketmq_conformance.conformance.proof.predicted_starts import Agreement, agreement
from rocketmq_conformance.conformance.proof.routed_cluster import SHAPES, RoutedCluster, ask
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.configuration import SLAVE_READS
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.release import NEWEST, Release

TOPIC, NAME = "PREDICTED-FAILOVER", "broker-a"
#: Releases whose pairs are played as they are by default, and of 5.0.0 and later with these properties, too.
RELEASES = ("4.1.0", "4.5.2", "4.7.1", "4.9.4", "4.9.7", "5.0.0", "5.1.1", "5.1.4", "5.3.3", "5.5.0")
ACTING = {"enableSlaveActingMaster": "true", "totalReplicas": "2", "inSyncReplicas": "1"}
_READ = {SLAVE_READS: "true"}
#: Pairs that are played at a time: they mostly wait for a slave that asks every minute.
_TOGETHER = 3
#: Timeouts of a slave that asks, of offsets on the disk, and of all messages (s), and how long no more may come.
_ASKS, _WRITTEN, _GIVEN, _SILENCE = 200.0, 60.0, 60.0, 4.0
#: How long a master that is to stay offline is looked at (s): others are online after a few.
_OFFLINE = 40.0
#: A consumer first commits after 10 s.
_COMMITS = 20.0
#: How often a pair is played whose slave asked just then.
_TRIES = 4

Offsets = Mapping[int, int]
_NONE: Offsets = MappingProxyType({})


class FailoverCase(NamedTuple):
    """One group: what both have, and what is committed afterwards at the master and at the slave."""

    name: str
    both: Offsets = _NONE
    master: Offsets = _NONE
    slave: Offsets = _NONE


CASES = (
    FailoverCase("even", {0: 7, 1: 0, 2: 9, 3: 12}),
    FailoverCase("ahead", {0: 5, 2: 6}, master={0: 9, 2: 10}),
    FailoverCase("behind", {0: 3, 2: 5}, slave={0: 8, 2: 10}),
    FailoverCase("new", master={0: 4, 2: 8}),
    FailoverCase("alone", slave={0: 6, 3: 12}),
    FailoverCase("split", master={0: 4}, slave={2: 8}),
    FailoverCase("beyond", {0: 100, 2: 2}),
    FailoverCase("none"),
)


class FailoverPair(NamedTuple):
    """A pair that is played: its release and properties, and what they are in words."""

    release: str
    properties: Mapping[str, str] = MappingProxyType({})
    words: str = ""
    #: Properties of the master alone.
    of_master: Mapping[str, str] = MappingProxyType({})


def failover_pairs(releases: Sequence[str] = RELEASES) -> list[FailoverPair]:
    """Every pair of these releases."""
    found = [FailoverPair(release) for release in releases]
    for release in releases:
        if Release.parse(release) >= Release(5, 0, 0):
            found.append(FailoverPair(release, _READ, "read"))
            found.append(FailoverPair(release, {**_READ, **ACTING}, "read, acting"))
    if str(NEWEST) in releases:
        found.append(FailoverPair(str(NEWEST), ACTING, "acting"))
        # the master counts each commit, and so has the newer data version
        counts = {"consumerOffsetUpdateVersionStep": "1"}
        found.append(FailoverPair(str(NEWEST), {**_READ, **ACTING}, "read, acting, newer", counts))
    return found


def prove_failovers(pairs: Sequence[FailoverPair]) -> Iterator[Agreement]:
    """The agreement of these pairs, in their order."""
    from rocketmq_conformance.conformance.targets.java_client.whole import quick_release

    if pairs:
        quick_release(str(NEWEST))
    with ThreadPoolExecutor(_TOGETHER) as pool:
        yield from pool.map(_agreement, pairs)


def _agreement(pair: FailoverPair) -> Agreement:
    def compared() -> tuple[int, list[str]]:
        with RunningPair(pair) as cluster:
            return len(CASES) * len(SHAPES), cluster.play()

    name = f"{pair.release}, a slave{f' ({pair.words})' if pair.words else ''}"
    return agreement("fail-over", name, len(CASES), compared)


class RunningPair(RoutedCluster):
    """A master and its slave, which are started and ended with the block."""

    topic = TOPIC

    def __init__(self, pair: FailoverPair) -> None:
        super().__init__()
        self._pair = pair

    def start(self) -> None:
        """Start both, and wait for their route."""
        super().start()
        release = Release.parse(self._pair.release)
        of_master = {"brokerRole": "ASYNC_MASTER", **self._pair.of_master}
        self._master = self.broker(release, {**self._pair.properties, **of_master}, {})
        self._slave = self.broker(release, {**self._pair.properties, "brokerRole": "SLAVE", "brokerId": "1"}, {})
        self.await_route({NAME: {"0", "1"}})

    @property
    def addresses(self) -> tuple[str, str]:
        """host:port of the master and of the slave."""
        return self._master.address, self._slave.address

    def play(self) -> list[str]:
        """What differs."""
        for number in range(_TRIES):
            groups = {f"F-{case.name}-{number}": case for case in CASES}
            self._prepare(groups, number)
            predictions = {group: self._predicted(group) for group in groups}
            self._master.kill()
            self.await_route({NAME: {"1"}})
            if _stored(self._slave, _MARK).get(0) == 2 * number + 1:
                return list(self._compared(predictions))
            self._master.start()
            self.await_route({NAME: {"0", "1"}})
        raise CannotRunError(f"The slave asked its master at the wrong moment {_TRIES} times: try again.")

    def _prepare(self, groups: Mapping[str, FailoverCase], number: int) -> None:
        """Commit what both are to have; then, right after the slave has asked, what one of them is to have."""
        for group in (*groups, _MARK):
            _do(self._master, requests.create_group(group))
        for group, case in groups.items():
            self._commit(self._master, group, case.both)
        self._commit(self._master, _MARK, {0: 2 * number + 1})
        names = {*groups, _MARK}

        def asked() -> bool:
            at_slave = ask(self._slave, requests.groups())
            known = java_json.loads(at_slave.body.decode())["subscriptionGroupTable"]
            return _stored(self._slave, _MARK).get(0) == 2 * number + 1 and names <= set(known)

        if not wait_until(asked, _ASKS, 0.1):
            raise CannotRunError(f"The slave did not ask its master in {_ASKS:.0f} s: try again.")
        for group, case in groups.items():
            self._commit(self._master, group, case.master)
            self._commit(self._slave, group, case.slave)
        self._commit(self._master, _MARK, {0: 2 * number + 2})
        if not wait_until(lambda: self._is_written(2 * number + 2), _WRITTEN, 0.05):
            raise CannotRunError(
                f"The master did not write its offsets in {_WRITTEN:.0f} s: see whether its disk is full."
            )

    def _is_written(self, mark: int) -> bool:
        try:
            table = java_json.loads(self._master.offsets_file.read_text())["offsetTable"]
        except (OSError, ValueError):  # just being written
            return False
        return {int(queue): offset for queue, offset in table.get(f"{TOPIC}@{_MARK}", {}).items()}.get(0) == mark

    def _commit(self, broker: Broker, group: str, offsets: Offsets) -> None:
        for queue, offset in offsets.items():
            _do(broker, requests.commit(group, TOPIC, queue, offset))

    def _predicted(self, group: str) -> FailoverPrediction:
        facts = read_pair(self.name_server, group, [TOPIC])
        return predict_failover(facts, consumer_of(facts.master), others=False)

    def _compared(self, predictions: Mapping[str, FailoverPrediction]) -> Iterator[str]:
        """What differs, at the slave and once the master is back."""
        wanted = {group: _due(queue.gone for queue in one.queues) for group, one in predictions.items()}
        reached = {group: {one.facts.queue: one.reached for one in each.queues} for group, each in predictions.items()}
        yield from self._consumed("the slave", wanted, reached)
        yield from _kept(self._slave, "the slave", reached)
        self._master.start()
        if any(queue.offline for one in predictions.values() for queue in one.queues):
            if wait_until(lambda: self.route() == {NAME: {"0", "1"}}, _OFFLINE, 0.5):
                yield "predicted that the master stays offline, and it came online"
            return
        self.await_route({NAME: {"0", "1"}})
        after = {group: {one.facts.queue: one.after for one in each.queues} for group, each in predictions.items()}
        yield from _kept(self._master, "the master", after)
        wanted = {group: _due(queue.back for queue in one.queues) for group, one in predictions.items()}
        yield from self._consumed("the master", wanted, {})

    def _consumed(
        self,
        where: str,
        wanted: Mapping[str, Mapping[int, tuple[int | None, int]]],
        reached: Mapping[str, Mapping[int, int | None]],
    ) -> Iterator[str]:
        """What differs in the messages that real consumers are given, by group and queue: the first, and how many. They
        run until the slave has what they are to have ``reached``, or long enough."""
        with ThreadPoolExecutor(len(wanted)) as pool:
            kept = [reached.get(group) for group in wanted]
            given = dict(zip(wanted, pool.map(self._given, wanted, wanted.values(), kept), strict=True))
        for group, due in wanted.items():
            for number, expected in due.items():
                offsets = [offset for queue, offset in given[group] if queue == number]
                observed = (min(offsets, default=None), len(offsets))
                if observed != expected:
                    yield f"{group}, {SHAPES[number]}, at {where}: predicted {expected}, was {observed}"

    def _given(
        self, group: str, due: Mapping[int, tuple[int | None, int]], reached: Mapping[int, int | None] | None
    ) -> list[tuple[int, int]]:
        """What a consumer is given until nothing more comes."""
        from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer, quick_release

        classes = quick_release(str(NEWEST))
        name = f"{group}-{self._pair.release}-{self._pair.words}".replace(", ", "-")
        total = sum(count for _, count in due.values())
        with WholeConsumer(classes, PUSH, self.name_server, group, TOPIC, LAST, client=name) as consumer:
            wait_until(lambda: len(consumer.given) >= total, _GIVEN, 0.1)
            time.sleep(_SILENCE)
            if reached is not None:
                wait_until(lambda: _has(self._slave, group, reached), _COMMITS, 0.2)
            return list(consumer.given)


#: The group that shows whether the slave asked.
_MARK = "F-mark"


def _due(starts: Iterator[QueueStart | None]) -> dict[int, tuple[int | None, int]]:
    """The first message that is due in each queue, and how many."""
    found: dict[int, tuple[int | None, int]] = {}
    for start in starts:
        assert start is not None  # every broker has a slave
        count = (start.lag or 0) if start.first is not None else 0
        found[start.facts.queue] = (max(start.first or 0, start.facts.oldest) if count else None, count)
    return found


def _kept(broker: Broker, where: str, wanted: Mapping[str, Mapping[int, int | None]]) -> Iterator[str]:
    """What differs in what a broker has stored, by group and queue; the last commits may still be on their way."""
    for group, offsets in wanted.items():
        wait_until(partial(_has, broker, group, offsets), _SILENCE, 0.1)
        stored = _stored(broker, group)
        for queue, offset in offsets.items():
            if stored.get(queue) != offset:
                yield f"{group}, {SHAPES[queue]}: predicted {offset} at {where}, was {stored.get(queue)}"


def _has(broker: Broker, group: str, offsets: Mapping[int, int | None]) -> bool:
    return _stored(broker, group) == {queue: offset for queue, offset in offsets.items() if offset is not None}


def _do(broker: Broker, asked: requests.Ask) -> None:
    answer = ask(broker, asked)
    if answer.code:
        raise CannotRunError(f"{broker.process.name} refuses {asked.code}: {answer.remark}.")


def _stored(broker: Broker, group: str) -> Mapping[int, int]:
    table = stored_table(ask(broker, requests.stored_offsets())) or {}
    return {queue: offset for (topic, queue), offset in table.get(group, {}).items() if topic == TOPIC}
