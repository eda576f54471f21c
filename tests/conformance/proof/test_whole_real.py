"""Members that come and go on a real broker: what the broker knows, and who has its locks."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.proof.whole_cases import handovers
from rocketmq_conformance.conformance.proof.whole_real import RealCase, names, stored, topics
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.models.client.whole import ORDERLY
from rocketmq_conformance.models.client.whole_moves import STRANGER, Arrive, LockElsewhere, UnlockElsewhere

EVERY = list(handovers())
AT = next(number for number, case in enumerate(EVERY) if case.kind == ORDERLY and case.queues == 2)
TOPIC, GROUP = names(AT, 0)


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with FakeBroker() as running:
        running.create_topic(TOPIC, 2)
        running.create_group(GROUP)
        yield running


@pytest.fixture
def case(broker: FakeBroker) -> Iterator[RealCase]:
    port = int(broker.address.rpartition(":")[2])
    cluster = cast(Any, SimpleNamespace(broker=SimpleNamespace(port=port), name_server=broker.address))
    with RealCase(cast(Any, None), cluster, AT, 0, EVERY[AT]) as opened:
        for name in ("a", "b"):
            consumer = SimpleNamespace(client_id=f"client-{name}", __exit__=lambda *_: None)
            opened.consumers[name] = cast(Any, consumer)
        yield opened
        opened.consumers.clear()


def test_every_attempt_has_a_topic_and_what_its_group_stored() -> None:
    made = topics(EVERY)
    kept = stored(EVERY)
    assert len(made) % len(EVERY) == 0
    assert len(kept) < len(made), "some groups are new"
    for (_, topic), offsets in kept.items():
        assert [*offsets] == [*range(len(made[topic]))]


def test_the_broker_says_who_has_a_lock(case: RealCase) -> None:
    first, second = case.queues()
    for _ in range(2):  # asking changes nothing
        assert case.holders() == ("", "")
    case.move(LockElsewhere())
    assert case.holders() == (STRANGER, STRANGER)
    case.move(UnlockElsewhere())
    case.ask(requests.lock(GROUP, "client-b", [first]))
    for _ in range(2):
        assert case.holders() == ("b", "")
    case.ask(requests.lock(GROUP, "client-a", [second]))
    assert case.holders() == ("b", "a")
    case.ask(requests.unlock(GROUP, "client-b", [first]))
    case.ask(requests.lock(GROUP, "somebody unknown", [first]))
    assert case.holders() == ("?", "a")


def test_what_is_stored_is_asked_for_queue_by_queue(case: RealCase, broker: FakeBroker) -> None:
    for _ in range(2):
        case.move(Arrive())
    for queue in range(2):
        broker.expire(TOPIC, queue, 1)
    assert case.stored() == (-1, -1)
    case.ask(requests.commit(GROUP, TOPIC, 1, 2))
    assert case.stored() == (-1, 2)


def test_a_message_that_is_refused_ends_the_case(case: RealCase) -> None:
    with pytest.raises(CannotRunError, match="refused a message"):
        case.send(7)
