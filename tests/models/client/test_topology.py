"""Topologies: what follows from the queues, and where queues of two brokers have the same id."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.suites.declare.topologies import LOST_QUEUE, ORDINARY, RETRY_TOPIC, TOPIC, TWO_BROKERS

pytestmark = pytest.mark.branches


def test_places_have_the_ids_of_queues_where_these_are_distinct() -> None:
    assert ORDINARY.places == tuple((queue.topic, queue.id) for queue in ORDINARY.queues)
    assert ORDINARY.stored_keys == tuple(("G", *place) for place in ORDINARY.places)


def test_queues_with_the_same_id_have_places_of_their_own() -> None:
    topics = TWO_BROKERS.topic_queues
    assert [TWO_BROKERS.queues[at] for at in topics[TOPIC]] == [
        ("T", "broker-a", 0),
        ("T", "broker-b", 0),
        ("T", "broker-a", 1),
        ("T", "broker-b", 1),
        ("T", "broker-b", 2),
    ]
    assert [TWO_BROKERS.places[at] for at in topics[TOPIC]] == [("T", number) for number in range(5)]
    assert len({*TWO_BROKERS.places}) == len(TWO_BROKERS.queues)


def test_topics_without_a_route_have_no_queues_to_divide() -> None:
    assert "LOST" not in ORDINARY.topic_queues
    assert ORDINARY.topic_of[LOST_QUEUE] == "LOST"
    assert ORDINARY.routes == {"T": 5, "U": 2, RETRY_TOPIC: 1}
    assert ORDINARY.brokers == ("broker-a",)
    assert TWO_BROKERS.brokers == ("broker-a", "broker-b")


def test_a_queue_is_found_by_its_broker() -> None:
    assert TWO_BROKERS.key("T", "broker-a", 0) != TWO_BROKERS.key("T", "broker-b", 0)
    with pytest.raises(ValueError, match="not in tuple"):
        TWO_BROKERS.key("T", "broker-a", 2)


def test_topologies_are_equal_by_who_is_where() -> None:
    one = Topology(name="one", group="A", topic="B", queues=(MessageQueue("B", "b", 0),))
    assert one == Topology(name="one", group="A", topic="B", queues=(MessageQueue("B", "b", 0),))
    assert one.retry_topic == "%RETRY%A"
    assert one.pop_retry_topic("B") == "%RETRY%A_B"
    assert len({one, ORDINARY, TWO_BROKERS}) == 3
