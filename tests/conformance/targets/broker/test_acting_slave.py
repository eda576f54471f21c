"""A slave that may act as master, and its master: what their name servers say, and how long one is waited for."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from types import SimpleNamespace

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.host_port import host_port
from rocketmq_conformance.conformance.targets.broker import acting_slave
from rocketmq_conformance.conformance.targets.broker.acting_slave import PAIRING, ActingSlave, MemberServer
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.models.release import Release

NEW = Release(5, 5, 0)


class Node(FakeBroker):
    """A broker as it talks with its name server: it registers when it may, and asks for the members all the time."""

    def __init__(self, names: str, comes: bool = True) -> None:
        super().__init__()
        self.release, self.comes = NEW, comes
        self.names = host_port(names).port
        self.known: dict[str, str] = {}
        self.given: Mapping[str, str] = {}
        self._ended = threading.Event()
        self._registering = threading.Lock()

    @property
    def port(self) -> int:
        return host_port(self.address).port

    def begin(self) -> None:
        threading.Thread(target=self._talk, daemon=True).start()

    def start(self) -> str:
        address = super().start()
        self.begin()
        return address

    def leave(self) -> None:
        """Register no more, from now on."""
        with self._registering:
            self.comes = False

    def close(self) -> None:
        self._ended.set()
        self.stop()

    def _talk(self) -> None:
        with Connection("127.0.0.1", self.names) as line:
            while not self._ended.wait(0.005):
                with self._registering:
                    if self.comes:
                        self.given = line.call(Request.REGISTER_BROKER, {}).ext
                topic = "rmq_sys_SYNC_BROKER_MEMBER_broker-a"
                answer = json.loads(line.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}).body)
                self.known = {k: v for each in answer["brokerDatas"] for k, v in each["brokerAddrs"].items()}


@pytest.fixture
def names() -> Iterator[MemberServer]:
    names = MemberServer(NEW)
    names.start()
    yield names
    names.stop()


@pytest.fixture
def master(names: MemberServer) -> Iterator[Node]:
    node = Node(names.start())
    node.start()
    yield node
    node.close()


def test_either_of_the_two_knows_of_the_other_while_that_one_is_there(names: MemberServer, master: Node) -> None:
    made: list[Node] = []

    def make(role: Mapping[str, str], at: str) -> Node:
        assert (role["brokerRole"], role["brokerId"]) == ("SLAVE", "1")
        made.append(Node(at))
        return made[0]

    slave = ActingSlave(master, names, make)  # type: ignore[arg-type]
    try:
        (node,) = made
        assert master.known == {"1": node.address}
        assert (set(node.known), node.known["0"]) == ({"0"}, node.given["masterAddr"])
        assert node.given["masterAddr"] != master.address
        master.leave()
        slave.left()
        assert node.known == {}
        slave.synchronise()  # it asks no one
        master.comes = True
        assert slave.online()
        assert set(node.known) == {"0"}
    finally:
        slave.close()


def test_one_that_does_not_come_online_is_said(
    names: MemberServer, master: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acting_slave, "_ONLINE", 0.01)
    with pytest.raises(CannotRunError, match="is not there after"):
        ActingSlave(master, names, lambda role, at: Node(at, comes=False))  # type: ignore[arg-type, return-value]


def test_a_broker_is_set_up_for_a_pair_where_its_slave_may_act() -> None:
    acts = {"enableSlaveActingMaster": "true"}
    assert StartedBroker(NEW, properties=acts).pairing == PAIRING
    assert StartedBroker(NEW).pairing == {}
    for shares, pairing in ((True, PAIRING), (False, {})):
        host = SimpleNamespace(shares_ports=shares)
        assert StartedBroker(NEW, properties=acts, containers=lambda host=host: host).pairing == pairing  # type: ignore[misc]
