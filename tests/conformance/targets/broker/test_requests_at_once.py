"""Requests of several clients at the same time: what overlaps by the moments, and what has no answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.host_port import host_port
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.pipeline import Pipeline
from rocketmq_conformance.conformance.targets.broker.requests_at_once import Exchanged, Sending, exchange


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with FakeBroker() as running:
        yield running


def _exchanged(broker: FakeBroker, sendings: Sequence[Sending], patience: float = 5.0) -> list[Exchanged]:
    _, port = host_port(broker.address)
    opened: dict[int, Connection] = {}

    def connection(by: int) -> Connection:
        if by not in opened or opened[by].closed:
            opened[by] = Pipeline("127.0.0.1", port)
        return opened[by]

    def cut(ask: requests.Ask) -> None:
        Connection("127.0.0.1", port).send_and_close(ask.code, ask.ext, ask.body, whole=True)

    try:
        return exchange(sendings, connection, lambda by: opened.pop(by).close(), cut, patience)
    finally:
        for one in opened.values():
            one.close()


_commit = partial(requests.commit, "G", "T", 0)
_QUERY = requests.query("G", "T", 0, None)


def test_each_client_waits_for_its_answers_and_not_for_those_of_others(broker: FakeBroker) -> None:
    broker.faults.arm(Request.UPDATE_CONSUMER_OFFSET, "slow:200")
    first, second, third = _exchanged(broker, [Sending(0, _commit(3)), Sending(1, _QUERY), Sending(1, _QUERY)])
    assert first.answered is not None
    assert second.answered is not None
    assert third.answered is not None
    assert max(first.sent, second.sent) < second.answered < third.sent < third.answered < first.answered


def test_a_request_whose_answer_is_not_heard_has_none_and_holds_nothing_up(broker: FakeBroker) -> None:
    unheard, heard = _exchanged(broker, [Sending(0, _commit(3), heard=False), Sending(0, _QUERY)])
    assert (unheard.answered, unheard.answer) == (None, None)
    assert heard.answered is not None
    assert unheard.sent < heard.sent


def test_a_connection_that_breaks_leaves_its_request_without_an_answer(broker: FakeBroker) -> None:
    broker.faults.arm(Request.UPDATE_CONSUMER_OFFSET, "cut*1")
    broken, after = _exchanged(broker, [Sending(0, _commit(3)), Sending(0, _QUERY)])
    assert broken.answered is None
    assert after.answer is not None


def test_who_waits_too_long_for_an_answer_sends_nothing_more(broker: FakeBroker) -> None:
    broker.faults.arm(Request.UPDATE_CONSUMER_OFFSET, "silent")
    silent, unsent, other = _exchanged(
        broker, [Sending(0, _commit(3)), Sending(0, _QUERY), Sending(1, _QUERY)], patience=0.3
    )
    assert (silent.answered, unsent.answered) == (None, None)
    assert other.answer is not None
    assert len({silent.sent, unsent.sent, other.sent, other.answered}) == 4
