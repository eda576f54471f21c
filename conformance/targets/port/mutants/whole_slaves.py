"""Mutants of the port's whole push consumers of a broker that has a slave, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_push import Line
from rocketmq_conformance.conformance.targets.port.whole_slaves import MASTER, SLAVE, WholeSlaves

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-slaves")
_UPDATE, _QUERY = int(Request.UPDATE_CONSUMER_OFFSET), int(Request.QUERY_CONSUMER_OFFSET)


class _MasterAlone(WholeSlaves):
    """Requests of some kinds go to the master, wherever it is."""

    codes: tuple[int, ...] = ()

    def for_group(self, code: int) -> int:
        return MASTER if code in self.codes else super().for_group(code)


@_mutant("D250", "While the master is away members pull nothing.")
class SlavesAreNotPulled(WholeSlaves):
    def node_of(self, line: Line, command: Command) -> int:
        return MASTER if command.code == Request.PULL_MESSAGE else super().node_of(line, command)


@_mutant("D250", "While the master is away nothing is committed.")
class SlavesTakeNoCommits(_MasterAlone):
    codes = (_UPDATE,)


@_mutant("D250", "While the master is away no offset is read.")
class SlavesAreNotAsked(_MasterAlone):
    codes = (_QUERY,)


@_mutant("D250", "While the master is away the members are not known.")
class SlavesListNoMembers(_MasterAlone):
    codes = (int(Request.GET_CONSUMER_LIST_BY_GROUP),)


@_mutant("D70", "Offsets are committed where the queue is pulled.")
class SlavesCommitsFollowPulls(WholeSlaves):
    def node_of(self, line: Line, command: Command) -> int:
        if command.code == _UPDATE:
            wanted = self.wanted(line, command.ext["queueId"])
            return wanted if wanted in self.nodes else self.nodes[0]
        return super().node_of(line, command)


@_mutant("D70", "Offsets are committed to the slave where there is one.")
class SlavesTakeAllCommits(WholeSlaves):
    def for_group(self, code: int) -> int:
        return SLAVE if code == _UPDATE else super().for_group(code)


@_mutant("D70", "Offsets are read at the slave where there is one.")
class SlavesAreAskedFirst(WholeSlaves):
    def for_group(self, code: int) -> int:
        return SLAVE if code == _QUERY else super().for_group(code)


@_mutant("D255", "The slave that an answer suggests is not pulled.")
class SlavesAreNotFollowed(WholeSlaves):
    def wanted(self, line: Line, queue: str) -> int:
        return MASTER


@_mutant("D255", "Once the slave was asked it always is.")
class SlavesAreKept(WholeSlaves):
    def wanted(self, line: Line, queue: str) -> int:
        node = super().wanted(line, queue)
        if self.nodes == (SLAVE,):
            self.stuck.add((line.number, queue))
        return SLAVE if (line.number, queue) in self.stuck else node

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.stuck: set[tuple[int, str]] = set()


@_mutant("D254", "A master that is away stays known.")
class SlavesMasterStaysKnown(WholeSlaves):
    def learned(self, nodes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted({*self.nodes, *nodes}))


@_mutant("D254", "A master that comes back is not learned.")
class SlavesForgetMaster(WholeSlaves):
    def learned(self, nodes: tuple[int, ...]) -> tuple[int, ...]:
        return self.nodes if self.nodes == (SLAVE,) else nodes


@_mutant("D253", "Heartbeats go to the master alone, or to the slave without one.")
class SlavesGetNoHeartbeats(WholeSlaves):
    def registered_at(self) -> tuple[int, ...]:
        return self.nodes[:1]
