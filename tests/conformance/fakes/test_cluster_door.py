"""The door of a cluster: a request is for the queue of the broker whose address it is sent to."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.fakes.client_case import ClientCase
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP, TOPIC, TWO_BROKERS

STORED = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "0", "commitOffset": "5"}


@pytest.mark.parametrize(
    ("address", "broker"),
    [
        ("127.0.0.1:10911", "broker-a"),
        ("127.0.0.1:10921", "broker-b"),
        # where clients of old releases send, which are not told otherwise
        ("127.0.0.1:10909", "broker-a"),
        ("127.0.0.1:10919", "broker-b"),
    ],
)
def test_a_commit_is_for_the_broker_at_its_address(address: str, broker: str) -> None:
    case = ClientCase(Profile(), TWO_BROKERS)
    case.exchange(address, Request.UPDATE_CONSUMER_OFFSET, STORED, b"", False)
    assert dict(case.state.stored) == {TWO_BROKERS.stored_keys[TWO_BROKERS.key(TOPIC, broker, 0)]: 5}


def test_no_queue_is_found_where_no_broker_is() -> None:
    case = ClientCase(Profile(), TWO_BROKERS)
    with pytest.raises(ConnectionError, match=r"no broker of the case is at 127\.0\.0\.1:1"):
        case.exchange("127.0.0.1:1", Request.UPDATE_CONSUMER_OFFSET, STORED, b"", False)


def test_a_queue_that_a_broker_does_not_have_is_none_of_the_other_ones() -> None:
    case = ClientCase(Profile(), TWO_BROKERS)
    case.exchange("127.0.0.1:10911", Request.UPDATE_CONSUMER_OFFSET, {**STORED, "queueId": "3"}, b"", False)
    assert case.take_commits() == ((-1, 5, "awaited"),)
