"""Two clusters of a process with two consumers: what each name server names, and whose messages are whose."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.whole_clusters import WholeClusters
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import TOPIC

PEER: Any = SimpleNamespace(number=1, address="127.0.0.1:1")


def clusters() -> WholeClusters:
    """Two clusters with two and one queues."""
    made = WholeClusters(Profile())
    made.prepare((2, 1), "young", 7)
    return made


def test_each_name_server_names_its_own_broker() -> None:
    made, fields = clusters(), {"topic": TOPIC, "acceptStandardJsonOnly": "true"}
    named = []
    for case in made.cases:
        answer = case.handle(PEER, Command(int(Request.GET_ROUTEINFO_BY_TOPIC), fields))
        assert answer is not None
        named.append([(one["brokerName"], one["readQueueNums"]) for one in json.loads(answer.body)["queueDatas"]])
    assert named == [[("broker-a", 2)], [("broker-b", 1)]]


def test_what_the_second_consumer_was_given_belongs_to_the_process() -> None:
    made = clusters()
    made.second.traffic.in_group.add("other")
    brought = [("me", 0, 7, 1), ("other", 3, 7, 2), ("stranger", 1, 7, 1)]
    mine = made.in_process("me", brought)
    assert mine == [("me", 0, 7, 1), ("me", 3, 7, 2), ("stranger", 1, 7, 1)]
    assert made.given_to("me", mine, None) == mine


def test_messages_that_listeners_say_count_for_the_process_whichever_cluster_they_came_from() -> None:
    made, said = clusters(), SaidMessages()
    made.second.traffic.in_group.add("other")
    made.second.traffic.carried["other", 0, 7] = 1
    said.begin_step()
    brought = made.in_process("me", [("other", 3, 7, 1)])
    assert list(made.given_to("me", brought, said)) == []
    said.add("me", 0, 7)
    assert list(made.given_to("me", brought, said)) == [("me", 3, 7, 1)]
