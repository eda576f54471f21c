"""Mutants of the port's choice of nodes, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.nodes import MASTER, Nodes, Route

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "nodes")


# --- offsets -------------------------------------------------------------------------------------------------


@_mutant("D70", "Offsets are read at the node that the route names first.")
class ReadsAtFirstNode(Nodes):
    def for_read(self, route: Route) -> int | None:
        super().for_read(route)
        return next(iter(self.known), None)


@_mutant("D70", "Offsets are committed at the node that the route names first.")
class CommitsAtFirstNode(Nodes):
    def for_commit(self, route: Route) -> int | None:
        super().for_commit(route)
        return next(iter(self.known), None)


@_mutant("D70", "Offsets are committed at a slave where one is known.")
class CommitsAtSlave(Nodes):
    def for_commit(self, route: Route) -> int | None:
        node = super().for_commit(route)
        return max(self.known, default=node)


@_mutant("D250", "Offsets are read at the master alone.")
class ReadsAtMasterAlone(Nodes):
    def for_read(self, route: Route) -> int | None:
        super().for_read(route)
        return self.master()


@_mutant("D250", "Offsets are committed at the master alone.")
class CommitsAtMasterAlone(Nodes):
    def for_commit(self, route: Route) -> int | None:
        super().for_commit(route)
        return self.master()


@_mutant("D70", "A read does not look for the master where a slave is known.")
class ReadsAtSlaveAtOnce(Nodes):
    def for_read(self, route: Route) -> int | None:
        if self.any() is None:
            self.ask_route(route)
        return self.any()


@_mutant("D252", "A commit asks for the route while the master is not known.")
class CommitAsksForMaster(Nodes):
    def for_commit(self, route: Route) -> int | None:
        if self.master() is None:
            self.ask_route(route)
        return self.any()


@_mutant("D252", "A commit never asks for the route.")
class CommitAsksForNothing(Nodes):
    def for_commit(self, route: Route) -> int | None:
        return self.any()


@_mutant("D252", "The route is asked for before every read of an offset.")
class ReadAlwaysAsks(Nodes):
    def for_read(self, route: Route) -> int | None:
        self.ask_route(route)
        return self.any()


# --- bounds, locks, members ----------------------------------------------------------------------------------


@_mutant("D251", "A slave is asked for bounds where the master is not known.")
class BoundsOfSlave(Nodes):
    def for_bound(self, which: str, route: Route) -> int | None:
        super().for_bound(which, route)
        return self.any()


@_mutant("D252", "Bounds fail without asking for the route.")
class BoundsWithoutRoute(Nodes):
    def for_bound(self, which: str, route: Route) -> int | None:
        return self.master()


@_mutant("D251", "The offset of a time is asked of a slave.")
class SearchesAtSlave(Nodes):
    def for_bound(self, which: str, route: Route) -> int | None:
        node = super().for_bound(which, route)
        return max(self.known, default=node) if which == "search" and node is not None else node


@_mutant("D251", "A queue is locked at a slave where the master is not known.")
class LocksAtSlave(Nodes):
    def for_lock(self, route: Route) -> int | None:
        return self.any()


@_mutant("D252", "The route is asked for before a queue is locked.")
class LockAsksForRoute(Nodes):
    def for_lock(self, route: Route) -> int | None:
        if self.master() is None:
            self.ask_route(route)
        return self.master()


@_mutant("D250", "The members are asked of the master alone.")
class MembersOfMasterAlone(Nodes):
    def for_members(self, route: Route) -> int | None:
        super().for_members(route)
        return self.master()


@_mutant("D252", "The members are asked for without a route.")
class MembersWithoutRoute(Nodes):
    def for_members(self, route: Route) -> int | None:
        return self.any()


# --- heartbeats, and what is known ---------------------------------------------------------------------------


@_mutant("D253", "Heartbeats go to the master alone.")
class HeartbeatsToMaster(Nodes):
    def for_heartbeat(self) -> Route:
        return tuple(node for node in self.known if node == MASTER)


@_mutant("D253", "The consumer is unregistered at the master alone.")
class UnregistersAtMaster(Nodes):
    def for_end(self) -> Route:
        return tuple(node for node in self.known if node == MASTER)


@_mutant("D254", "A name server without a route makes the nodes unknown.")
class MissingRouteForgets(Nodes):
    def learned(self, route: Route) -> Route:
        return route


@_mutant("D254", "Nodes that the route no longer names stay known.")
class NodesAreKept(Nodes):
    def learned(self, route: Route) -> Route:
        return (*route, *(node for node in self.known if node not in route))
