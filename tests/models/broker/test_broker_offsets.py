"""The model of broker-offsets: times are counted from messages, and topics are meant by index."""

from __future__ import annotations

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC, BrokerOffsetsModel
from rocketmq_conformance.models.broker.fixtures import TOPICS, initial_state
from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.profile import Profile

MODEL = BrokerOffsetsModel(Profile.of(broker="5.5.0"))
STATE = initial_state()._replace(
    logs={
        (TOPICS[0], 1): QueueLog(first=10, min=10, times=(1000, 1500, 1500, 2000)),
        (aged_store.TOPIC, 0): QueueLog(times=(aged_store.EPOCH, aged_store.EPOCH + 7)),
    }
)


def test_the_earliest_time_is_that_of_the_first_message() -> None:
    assert MODEL.earliest(STATE, 0, 1)[1] == 1000
    assert MODEL.earliest(STATE, 0, 0)[1] == -1
    assert MODEL.earliest(STATE, AGED_TOPIC, 0)[1] == aged_store.EPOCH


def test_a_search_begins_at_the_time_of_a_message() -> None:
    found = [MODEL.search(STATE, 0, 1, message, delta, "")[1] for message, delta in ((0, 0), (0, 1), (2, 0), (-1, 1))]
    assert found == [10, 11, 11, 14]
    assert MODEL.search(STATE, 0, 1, 1, 0, "upper")[1] == 12
    assert MODEL.search(STATE, AGED_TOPIC, 0, 0, 1, "")[1] == 1


def test_a_search_in_a_queue_without_messages_begins_at_a_time_of_its_own() -> None:
    assert MODEL.search(STATE, 0, 0, 0, 5, "")[1] == 0
