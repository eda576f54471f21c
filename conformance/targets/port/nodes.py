"""The port's choice of a broker's node for each request, and what it learns for that."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import nodes as operations

MASTER = 0

Route = tuple[int, ...]


class Nodes:
    """The nodes of one broker, as a client knows them. ``route`` is what the name server has, () for none."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.clear()

    def clear(self) -> None:
        """Nothing is known."""
        self.known: Route = ()
        self.asked = False

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.transport.begin(case)
        self.clear()

    # --- what is known ------------------------------------------------------------------------------------

    def learn(self, route: Route) -> Result:
        """Learn the route."""
        self.known = self.learned(route)
        return None

    def learned(self, route: Route) -> Route:
        """The nodes known once the name server has answered."""
        return route or self.known

    def ask_route(self, route: Route) -> None:
        """Ask for the route before a request."""
        self.asked = True
        self.learn(route)

    def master(self) -> int | None:
        """The master alone."""
        return MASTER if MASTER in self.known else None

    def any(self) -> int | None:
        """The master, else a slave."""
        return self.master() if MASTER in self.known else next(iter(self.known), None)

    # --- requests -----------------------------------------------------------------------------------------

    def for_read(self, route: Route) -> int | None:
        """The node at which an offset is read."""
        if self.master() is None:
            self.ask_route(route)
        return self.any()

    def for_commit(self, route: Route) -> int | None:
        """The node at which an offset is committed."""
        if self.any() is None:
            self.ask_route(route)
        return self.any()

    def for_bound(self, which: str, route: Route) -> int | None:
        """The node that is asked for a bound."""
        if self.master() is None:
            self.ask_route(route)
        return self.master()

    def for_lock(self, route: Route) -> int | None:
        """The node at which a queue is locked."""
        return self.master()

    def for_members(self, route: Route) -> int | None:
        """The node that is asked for the members."""
        if self.any() is None:
            self.ask_route(route)
        return self.any()

    def for_heartbeat(self) -> Route:
        """The nodes that get a heartbeat."""
        return self.known

    def for_end(self) -> Route:
        """The nodes at which the consumer is unregistered."""
        return self.known

    # --- operations ---------------------------------------------------------------------------------------

    def read_stored(self, route: Route) -> Result:
        """Read a stored offset."""
        self.asked = False
        node = self.for_read(route)
        return self.asked, node

    def commit(self, route: Route) -> Result:
        """Commit an offset."""
        self.asked = False
        node = self.for_commit(route)
        return self.asked, node

    def bound(self, which: str, route: Route) -> Result:
        """Ask for a bound."""
        self.asked = False
        node = self.for_bound(which, route)
        return self.asked, node

    def lock(self, route: Route) -> Result:
        """Lock a queue."""
        self.asked = False
        node = self.for_lock(route)
        return self.asked, node

    def members(self, route: Route) -> Result:
        """Ask for the members."""
        self.asked = False
        node = self.for_members(route)
        return self.asked, node

    def heartbeat(self) -> Result:
        """Send heartbeats."""
        return tuple(sorted(self.for_heartbeat()))

    def unregister(self) -> Result:
        """Unregister, and register again."""
        return tuple(sorted(self.for_end()))

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Learn: self.learn,
            operations.ReadStored: self.read_stored,
            operations.Commit: self.commit,
            operations.Bound: self.bound,
            operations.Lock: self.lock,
            operations.Members: self.members,
            operations.Heartbeat: self.heartbeat,
            operations.Unregister: self.unregister,
        }


PART = Nodes
