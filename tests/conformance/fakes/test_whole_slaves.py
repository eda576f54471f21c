"""A master and its slave of whole consumers: what routes name, what answers suggest, and what each node has stored."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from rocketmq_conformance.conformance.fakes.whole_slaves import SlavePair
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP, TOPIC

PEERS: list[Any] = [SimpleNamespace(number=number, address=f"127.0.0.1:{number}") for number in (1, 2)]
SLAVE, MASTER = 0, 1


def pair() -> SlavePair:
    """Two nodes with one queue, whose messages up to 7 are consumed."""
    made = SlavePair(Profile())
    made.begin(1, 7)
    return made


def asked(made: SlavePair, at: int, code: Request, **fields: object) -> Command:
    """The answer of a node."""
    ext = {"acceptStandardJsonOnly": "true", "topic": TOPIC, **{name: str(value) for name, value in fields.items()}}
    answer = made.cases[at].handle(PEERS[at], Command(int(code), ext))
    assert answer is not None
    return answer


def pulled(made: SlavePair, at: int, offset: int) -> str:
    """The node that the answer to a pull suggests."""
    queue = {"consumerGroup": GROUP, "queueId": 0, "queueOffset": offset, "maxMsgNums": 32, "commitOffset": 0}
    more = {"sysFlag": 4, "suspendTimeoutMillis": 0, "subscription": "*", "subVersion": 1}
    return asked(made, at, Request.PULL_MESSAGE, **queue, **more).ext["suggestWhichBrokerId"]


def named(made: SlavePair) -> list[str]:
    """The nodes that a route names."""
    data = json.loads(asked(made, SLAVE, Request.GET_ROUTEINFO_BY_TOPIC).body)
    return [*data["brokerDatas"][0]["brokerAddrs"]]


def committed(made: SlavePair, at: int, offset: int) -> Any:
    """What is stored at both nodes, the master first, after a commit at one of them."""
    queue = {"consumerGroup": GROUP, "queueId": 0}
    asked(made, at, Request.UPDATE_CONSUMER_OFFSET, **queue, commitOffset=offset)
    return made.observed({}, [])[2]


def test_a_route_names_the_nodes_that_are_there() -> None:
    made = pair()
    assert (named(made), made.named) == (["0", "1"], (0,))
    made.go_away()
    assert named(made) == ["1"]
    made.come_back()
    assert named(made) == ["0", "1"]
    unknown = made.first.handle(PEERS[0], Command(int(Request.GET_ROUTEINFO_BY_TOPIC), {"topic": "none"}))
    assert unknown is not None
    assert unknown.code


def test_both_nodes_have_every_message_and_suggest_the_same() -> None:
    made = pair()
    made.suggest(1)
    made.send(0)
    assert [(pulled(made, at, 12), made.cases[at].max_offset(0)) for at in (SLAVE, MASTER)] == [("1", 13)] * 2
    made.begin(1, 7)
    assert pulled(made, MASTER, 7) == "0"


def test_the_slave_takes_what_its_master_has_stored_while_that_is_there() -> None:
    made = pair()
    assert committed(made, MASTER, 9) == (9, -1, 7, -1)
    made.synchronise()
    made.go_away()
    assert committed(made, SLAVE, 12) == (9, -1, 12, -1)
    made.synchronise()
    assert made.observed({}, [])[2] == (9, -1, 12, -1)
    made.come_back()
    made.synchronise()
    assert made.observed({}, [])[2] == (9, -1, 9, -1)


def test_messages_of_one_node_count_once_the_other_one_is_pulled_behind_them() -> None:
    made = pair()
    pulled(made, MASTER, 7)
    assert made.take_brought() == []
    pulled(made, SLAVE, 7)
    assert made.take_brought() == []
    pulled(made, SLAVE, 12)
    assert sorted(made.take_brought()) == [("", 0, 7, 5), ("", 0, 7, 5)]
