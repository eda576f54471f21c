"""The slave of the kit's own broker: what the kit lets through to it, and what is said of one that runs elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.broker import started_slave
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.broker.missing_needs import AT_SLAVE
from rocketmq_conformance.conformance.targets.broker.started_slave import Gate
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.release import Release

ROUND = (Request.GET_ALL_TOPIC_CONFIG, Request.GET_ALL_CONSUMER_OFFSET, Request.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
TOPICS, OFFSETS, GROUPS = ROUND


@pytest.fixture
def master() -> Iterator[FakeBroker]:
    with FakeBroker() as broker:
        yield broker


class Asked:
    """A gate, and a connection by which a slave asks; topics are asked for at the other port."""

    def __init__(self, master: FakeBroker) -> None:
        self.gate = Gate(Release(5, 5, 0), lambda: int(master.address.rpartition(":")[2]))
        port = int(self.gate.start().rpartition(":")[2])
        self._main, self._other = Connection("127.0.0.1", port), Connection("127.0.0.1", port - 2)

    def ask(self, request: Request) -> int:
        connection = self._other if request == TOPICS else self._main
        return connection.call(request).code

    def close(self) -> None:
        self._main.close()
        self._other.close()
        self.gate.stop()


@pytest.fixture
def asked(master: FakeBroker) -> Iterator[Asked]:
    asked = Asked(master)
    yield asked
    asked.close()


def let_through(asked: Asked, codes: list[int], *requests: Request) -> bool:
    """Is the slave through, that asks for this while a case waits?"""
    found: list[bool] = []
    case = threading.Thread(target=lambda: found.append(asked.gate.let_through(lambda: True)))
    case.start()
    assert wait_until(lambda: asked.gate._wanted, 10.0, 0.001)
    codes += [asked.ask(one) for one in requests]
    case.join()
    return found[0]


def test_a_slave_is_answered_while_a_case_waits_and_from_the_first_question_on(asked: Asked) -> None:
    refused, done = int(Response.SYSTEM_ERROR), int(Response.SUCCESS)
    codes: list[int] = []
    assert [asked.ask(one) for one in ROUND] == [refused] * 3
    # one that was in the middle of asking begins anew
    assert let_through(asked, codes, OFFSETS, *ROUND)
    assert codes == [refused, done, done, done]
    assert [asked.ask(one) for one in ROUND] == [refused] * 3


def test_a_slave_that_asks_a_master_in_vain_has_asked(asked: Asked, master: FakeBroker) -> None:
    codes: list[int] = []
    master.stop()
    assert let_through(asked, codes, *ROUND)
    assert codes == [int(Response.SYSTEM_ERROR)] * 3


def test_a_slave_that_does_not_ask_or_does_not_take_the_answer_is_not_through(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(started_slave, "_ASKS", 0.01)
    assert not asked.gate.let_through(lambda: True)
    monkeypatch.setattr(started_slave, "_TAKES", 0.01)
    asked.gate._asked.set()
    assert not asked.gate.let_through(lambda: False)


def test_nothing_is_played_at_a_slave_that_runs_elsewhere(master: FakeBroker) -> None:
    with FakeBroker(slave=True) as slave:
        slave.follow(master)
        adapter = BrokerAdapter(RunningBroker("127.0.0.1", int(slave.address.rpartition(":")[2])))
        try:
            hello = adapter.hello()
        finally:
            adapter.close()
    assert "broker-offsets" in hello.unsupported
    assert set(hello.unsupported.values()) == {AT_SLAVE}
