"""A master and its slave that run already: what is judged without stopping either of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.properties.found import UNCLASSIFIED
from rocketmq_conformance.conformance.properties.pairs import off_default_of_pair
from rocketmq_conformance.conformance.remoting.host_port import host_port
from rocketmq_conformance.conformance.targets.broker import running_slave
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.broker_slave import MASTER_NODE, SLAVE_NODE
from rocketmq_conformance.models.broker.lifecycle import STOP
from rocketmq_conformance.models.outcome import Err, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.event import CONFORMS
from rocketmq_conformance.suites.broker_slave import SUITE, Commit, End, Query, Send, Start, Synchronise
from rocketmq_conformance.suites.declare.operation import Operation

#: How often the slave asks its master here (s).
PERIOD = 0.3


class Pair:
    """A fake master, and a slave that asks it by a timer of its own."""

    def __init__(self, **names: str) -> None:
        self.master, self.slave = FakeBroker(), FakeBroker(slave=True, **names)
        self.asks, self._ended = True, threading.Event()

    def _ask(self) -> None:
        while not self._ended.wait(PERIOD):
            if self.asks:
                self.slave.synchronise()

    @contextmanager
    def running(self) -> Iterator[Pair]:
        with self.master, self.slave:
            self.slave.follow(self.master)
            timer = threading.Thread(target=self._ask)
            timer.start()
            try:
                yield self
            finally:
                self._ended.set()
                timer.join()

    def adapter(self) -> BrokerAdapter:
        return BrokerAdapter(RunningBroker(*host_port(self.master.address), slave=host_port(self.slave.address)))


@pytest.fixture
def pair() -> Iterator[Pair]:
    with Pair().running() as pair:
        yield pair


PLAN: list[Operation] = [
    *(Send(MASTER_NODE, 0, 2), Commit(MASTER_NODE, 0, 0, 0, 1), Synchronise(), Query(SLAVE_NODE, 0, 0, 0, False)),
    *(Commit(SLAVE_NODE, 0, 0, 0, 2), Query(SLAVE_NODE, 0, 0, 0, False), Query(MASTER_NODE, 0, 0, 0, False)),
    *(End(STOP), Start(), Synchronise(), Query(SLAVE_NODE, 0, 0, 0, False)),
]


def test_what_stops_neither_is_judged_and_the_rest_is_named(pair: Pair) -> None:
    adapter = pair.adapter()
    stage = Stage(adapter, Profile())
    try:
        hello = adapter.hello()
        assert (SUITE.name in hello.unsupported, [str(one) for one in hello.properties]) == (False, [])
        assert "broker-restart" in hello.unsupported
        left_alone = adapter.apply(End(STOP))
        assert isinstance(left_alone, Unsupported)
        assert "only a broker that the kit started itself is ended" in left_alone.reason
        judged = Player(stage, Judge(SUITE, Profile())).execute([SUITE.row(one) for one in PLAN], 1)
    finally:
        stage.close()
    assert (judged.verdict, judged.reason) == (CONFORMS, "")
    queries = [step.observed for step in judged.steps if SUITE.operations[step.row[0]] is Query]
    assert (queries, len(judged.steps)) == ([1, 2, 1, 1], len(PLAN) - 2)
    for broker in (pair.master, pair.slave):
        assert wait_until(lambda of=broker: not [one for one in of.state.groups if one.startswith("conf-")], 10.0, 0.05)
        assert not [key for key in broker.state.stored if key[0].startswith("conf-")]


def test_a_step_that_the_slave_asked_meanwhile_decides_nothing(pair: Pair) -> None:
    adapter = pair.adapter()
    stage = Stage(adapter, Profile())
    try:
        adapter.hello()
        adapter.reset_many([(0, SUITE)])
        pair.asks = False
        assert adapter.apply(Query(SLAVE_NODE, 0, 0, 0, False)) == Err("QUERY_NOT_FOUND")
        pair.slave.synchronise()
        asked = adapter.apply(Commit(SLAVE_NODE, 0, 0, 0, 2))
        assert (asked, asked.detail) == (
            Err("ASKED", definite=False),
            "the slave asked its master meanwhile, before the step or after it",
        )
    finally:
        stage.close()


def test_a_slave_that_takes_nothing_is_said(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_slave, "_ASKS", 0.01)
    pair.asks = False
    adapter = pair.adapter()
    try:
        adapter.hello()
        with pytest.raises(AdapterError, match="took no offsets of its master in 0 s"):
            adapter.reset_many([(0, SUITE)])
    finally:
        adapter.close()


@pytest.mark.parametrize(
    ("slave", "sentence"),
    [
        (FakeBroker(), "is no slave"),
        (FakeBroker(slave=True, properties={"brokerName": "other"}), r"that of another master \(brokerName=other"),
    ],
)
def test_two_that_are_no_pair_are_refused(slave: FakeBroker, sentence: str) -> None:
    with FakeBroker() as master, slave:
        adapter = BrokerAdapter(RunningBroker(*host_port(master.address), slave=host_port(slave.address)))
        try:
            with pytest.raises(CannotRunError, match=sentence):
                adapter.hello()
        finally:
            adapter.close()


def test_a_slave_that_does_not_answer_is_named() -> None:
    with FakeBroker() as master:
        adapter = BrokerAdapter(RunningBroker(*host_port(master.address), slave=host_port("127.0.0.1:1")))
        try:
            with pytest.raises(CannotRunError, match="No slave answers at "):
                adapter.hello()
        finally:
            adapter.close()


def test_properties_of_slaves_are_the_slaves_and_the_two_may_differ_in_their_roles_alone() -> None:
    master = {
        "brokerRole": "ASYNC_MASTER",
        "brokerId": "0",
        "lockInStrictMode": "true",
        "enableDLegerCommitLog": "true",
    }
    slave = {"brokerRole": "SLAVE", "brokerId": "1", "slaveReadEnable": "true", "lockInStrictMode": "true"}
    found = {one.name: one for one in off_default_of_pair(Release(5, 5, 0), master, slave)}
    assert sorted(found) == ["enableDLegerCommitLog", "lockInStrictMode", "slaveReadEnable"]
    assert found["enableDLegerCommitLog"].kind == UNCLASSIFIED
    lowered = [{**each, "accessMessageInMemoryMaxRatio": ratio} for each, ratio in ((master, "40"), (slave, "30"))]
    assert sorted(one.name for one in off_default_of_pair(Release(5, 5, 0), *lowered)) == sorted(found)
    odd = {**slave, "lockInStrictMode": "false", "brokerId": "2"}
    found = {one.name: one for one in off_default_of_pair(Release(5, 5, 0), {**master, "slaveReadEnable": "true"}, odd)}
    assert [found[name].kind for name in ("brokerId", "lockInStrictMode")] == [UNCLASSIFIED] * 2
    assert str(found["slaveReadEnable"]) == "slaveReadEnable=true"
