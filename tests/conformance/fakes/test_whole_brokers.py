"""Two brokers of whole consumers: what routes name, and where messages, offsets and pulls are seen."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from rocketmq_conformance.conformance.fakes.whole_brokers import WholeBrokers
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP, TOPIC

PEER: Any = SimpleNamespace(number=1, address="127.0.0.1:1")
NOBODY = ((-1, -1),) * 5


def brokers() -> WholeBrokers:
    """Two brokers with two and one queues, whose messages up to 7 are consumed."""
    made = WholeBrokers(Profile())
    made.prepare((2, 1), "young", 7)
    return made


def route(made: WholeBrokers, topic: str = TOPIC) -> dict[str, int]:
    """How many queues a route names of each broker."""
    command = Command(int(Request.GET_ROUTEINFO_BY_TOPIC), {"topic": topic, "acceptStandardJsonOnly": "true"})
    answer = made.first.handle(PEER, command)
    assert answer is not None
    assert {one["brokerName"] for one in json.loads(answer.body)["brokerDatas"]} == {
        one["brokerName"] for one in json.loads(answer.body)["queueDatas"]
    }
    return {one["brokerName"]: one["readQueueNums"] for one in json.loads(answer.body)["queueDatas"]}


def test_a_route_names_the_brokers_that_are_there_and_their_queues() -> None:
    made = brokers()
    assert route(made) == {"broker-a": 2, "broker-b": 1}
    made.route((1, 2))
    assert route(made) == {"broker-a": 1, "broker-b": 2}
    made.go_away()
    assert (route(made), made.named) == ({"broker-a": 1}, (0,))
    made.come_back()
    assert (route(made), made.named) == ({"broker-a": 1, "broker-b": 2}, (0, 3, 4))


def test_a_route_says_how_many_queues_are_read_and_written_and_whether_they_may_be_read() -> None:
    made = brokers()
    command = Command(int(Request.GET_ROUTEINFO_BY_TOPIC), {"topic": TOPIC, "acceptStandardJsonOnly": "true"})
    for queues, more, settings in (((2, 1), 1, [(2, 3, 6), (1, 2, 6)]), ((1, 0), 0, [(1, 1, 6), (1, 1, 2)])):
        made.route(queues, more)
        answer = made.first.handle(PEER, command)
        assert answer is not None
        data = json.loads(answer.body)["queueDatas"]
        assert [(one["readQueueNums"], one["writeQueueNums"], one["perm"]) for one in data] == settings
    made.prepare((2, 1), "young", 7)
    assert made.more_written == 0


def test_a_broker_is_found_by_the_topic_of_its_name() -> None:
    made = brokers()
    assert [route(made, name) for name in ("broker-a", "broker-b")] == [{"broker-a": 1}, {"broker-b": 1}]


def test_other_topics_have_no_route() -> None:
    answer = brokers().first.handle(PEER, Command(int(Request.GET_ROUTEINFO_BY_TOPIC), {"topic": "other"}))
    assert answer is not None
    assert answer.code != 0


def test_messages_and_offsets_are_where_the_queue_is() -> None:
    made = brokers()
    made.send(3)
    assert [case.max_offset(0) for case in made.cases] == [12, 13]
    commit = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "0", "commitOffset": "9"}
    made.second.handle(PEER, Command(int(Request.UPDATE_CONSUMER_OFFSET), commit))
    assert made.observed({}, []) == (NOBODY, (), (7, 7, 7, 9, 7))


def test_a_broker_comes_back_at_its_address_with_what_it_had() -> None:
    made = brokers()
    made.open()
    try:
        address = made.second.broker.address
        made.go_away()
        assert not made.second.broker.running
        made.come_back()
        made.reopen()
        assert (made.second.broker.address, made.second.broker.running) == (address, True)
        assert made.observed({}, [])[2] == (7,) * 5
    finally:
        made.stop()
