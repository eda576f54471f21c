"""Starts a slave that may act as master (enableSlaveActingMaster), and says what either of the two sees of the other.

A master that is back asks its name server which slave there is, takes the offsets of that one, and registers only
then. A slave learns from its own name server, every second, which of the two are there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker.fake_name_server import CLUSTER, RouteServer
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.conformance.targets.broker.started_slave import StartedSlave
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.release import Release

#: What both brokers have besides: no case stores so many offsets that their data version rises, and a slave learns
#: soon that its master is back.
PAIRING: Mapping[str, str] = {
    "totalReplicas": "2",
    "inSyncReplicas": "1",
    "consumerOffsetUpdateVersionStep": "1000000000",
    "registerNameServerPeriod": "10000",
}
#: The topic whose route has the brokers of a name, which follows.
_MEMBERS = "rmq_sys_SYNC_BROKER_MEMBER_"
#: For how long a broker that is started is waited for until it is named (s): others are after a few.
_ONLINE = 40.0
#: Within which time a broker asks again which others there are (s): every second, on a machine that is not busy.
_ASKS = 60.0
_MASTER, _SLAVE = "0", "1"


class MemberServer(RouteServer):
    """A name server that knows the brokers of one name: ``members`` gives their addresses by id, ``registered`` what a
    registration is answered by."""

    def __init__(self, release: Release, registered: Callable[[], Mapping[str, str]] = dict) -> None:
        super().__init__(release)
        self._answered = registered
        self.members: Callable[[], Mapping[str, str]] = dict
        #: Has its broker registered, since it was ended last?
        self.online = False
        #: How often it was asked for the members.
        self.asked = 0

    def handle(self, peer: Peer, request: Command) -> Command:
        """Answer one request of a broker."""
        if request.code == Request.GET_ROUTEINFO_BY_TOPIC and request.ext["topic"].startswith(_MEMBERS):
            found = _members(request.ext["topic"].removeprefix(_MEMBERS), self.members())
            self.asked += 1
            return found
        if request.code == Request.REGISTER_BROKER:
            self.online = True
            return Command(0, dict(self._answered()))
        return super().handle(peer, request)


def _members(name: str, addresses: Mapping[str, str]) -> Command:
    brokers = [{"brokerAddrs": dict(addresses), "brokerName": name, "cluster": CLUSTER}] if addresses else []
    return Command(0, body=json.dumps({"brokerDatas": brokers, "queueDatas": [], "filterServerTable": {}}).encode())


class ActingSlave(StartedSlave):
    """The slave of ``master``, whose name server is ``names``."""

    def __init__(self, master: Broker, names: MemberServer, make: Callable[[Mapping[str, str], str], Broker]) -> None:
        self._of_master = names
        super().__init__(master, make)
        names.members = lambda: {_SLAVE: self._broker.address} if self._own.online else {}
        if not wait_until(lambda: self._own.online and names.online, _ONLINE, 0.05):
            self.close()
            raise CannotRunError(f"The slave is not there after {_ONLINE:.0f} s: see its log for the reason.")
        self._see(self._own, names)

    def _named(self, master: str, replication: str) -> RouteServer:
        given = {"masterAddr": master, "haServerAddr": replication}
        self._own = MemberServer(self._master.release, lambda: given if self._of_master.online else {})
        self._own.members = lambda: {_MASTER: master} if self._of_master.online else {}
        return self._own

    def synchronise(self) -> None:
        """Wait until it has asked its master; without one it does not ask."""
        if self._of_master.online:
            super().synchronise()

    def left(self) -> None:
        """Wait until it knows that its master was ended."""
        self._of_master.online = False
        self._see(self._own)

    def online(self) -> bool:
        """Wait until its master is named, and either of the two knows of the other; False when it stays offline."""
        if not wait_until(lambda: self._of_master.online, _ONLINE, 0.05):
            return False
        self._see(self._own, self._of_master)
        return True

    def _see(self, *servers: MemberServer) -> None:
        """Wait until brokers have asked twice: who asks again has taken the answer before."""
        before = [each.asked for each in servers]
        wait_until(lambda: all(one.asked >= asked + 2 for one, asked in zip(servers, before, strict=True)), _ASKS, 0.05)
