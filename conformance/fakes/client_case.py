"""The environment of a client case: a fake broker in the case's initial state, and what a plan does to it.

Here is all that the operations of a plan can do beside those of the implementation: other members commit, lists,
routes and assignments change, locks are lost, time passes. The broker decides how it answers then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rocketmq_conformance.conformance.fakes.assignments import Assignments
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.cluster_door import ClusterDoor
from rocketmq_conformance.conformance.fakes.dispatch import Dispatcher
from rocketmq_conformance.conformance.fakes.responses import document
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.server import Handler
from rocketmq_conformance.models.broker import lock
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.lock import NO_LOCKS, Locks
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.group_state import readable_queues
from rocketmq_conformance.models.client.initial_broker import initial_broker, reshaped
from rocketmq_conformance.models.client.rebalance_broker import more_routes
from rocketmq_conformance.models.client.rebalance_broker_round import (
    TopicAssignment,
    assignment_body,
    assignments_of,
    initial_assignments,
)
from rocketmq_conformance.models.client.rebalance_orderly import STRANGER
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Answers requests at both doors of a fake broker.
Door = Dispatcher | ClusterDoor


class ClientCase:
    """The broker of client cases, one after the other. ``now`` is its clock: ms since the case began."""

    def __init__(self, profile: Profile, topology: Topology = ORDINARY) -> None:
        self.now = 0
        self.topology = topology
        self.broker = FakeBroker(profile, name=topology.brokers[0], clock=self._clock)
        #: Answers requests at both doors.
        self.door: Door = self.broker.dispatcher
        if len(topology.brokers) > 1:
            self._cluster = ClusterDoor(self.broker.dispatcher, topology)
            self.door, self.broker.administration.spread = self._cluster, self._cluster.spread
            self.answer_by(None)
        self.exchange = self.door.exchange
        self._script = self.broker.script
        self._storage = self.broker.storage
        self._consumers = self.broker.consumers
        self._assignments: Assignments = self.broker.assignments
        self._administration = self.broker.administration
        self._record = self.broker.record
        self._record.keys = {place: at for at, place in enumerate(topology.places) if at not in topology.unrouted}
        # mappings are replaced, never changed: a case begins with those of the one before
        self._initial = initial_broker(topology)
        self._routes = {**topology.routes, **more_routes(topology)}
        self._listed = {name: topology.clients for name in (topology.group, topology.other_group) if name}
        assignments = initial_assignments(topology)
        self._assigned = {topic: self._assignment_text(topic, given) for topic, given in assignments.items()}
        #: The effects that reached the broker since the last call and show in no response.
        self.take_commits: Callable[[], tuple[Value, ...]] = self._record.take
        broker = self.broker
        for part in (broker.offsets, broker.unlocks, broker.assignments, broker.sends, broker.retries):
            part.record = self._record
        # whatever its release: a plan says what is assigned
        self.broker.dispatcher.add({int(Request.QUERY_ASSIGNMENT): self._assignments.query})
        self.begin()

    def begin(self) -> None:
        """Begin a case: everything is as ``models.client.initial_broker`` has it."""
        self.now = 0
        self._script.calm()
        self._storage.begin(self._initial)
        self._consumers.begin(self._listed)
        self._administration.routes = self._routes
        self._assignments.given = self._assigned
        self._record.clear()

    def answer_by(self, handler: Handler | None) -> None:
        """Let another handler answer over TCP, such as one that records the messages; None: the case's own."""
        self.broker.answer_by(handler or self.door)

    def name_server(self) -> str:
        """The address of the name server; opens the TCP doors on first use."""
        if self.broker.running:
            return self.broker.address
        address = self.broker.open()
        if self.door is not self.broker.dispatcher:
            others = (self.broker.open_another() for _ in self.topology.brokers[1:])
            self._cluster.listen((address, *others))
        return address

    # --- what there is --------------------------------------------------------------------------------------

    @property
    def address(self) -> str:
        """Where routes say that the broker is."""
        return self.broker.address

    @property
    def state(self) -> BrokerState:
        """Topics, groups, queues and stored offsets at this moment."""
        return self._storage.state

    @property
    def locks(self) -> Locks:
        """The owners of locked queues at this moment."""
        return self._consumers.locks

    # --- operations of the environment ----------------------------------------------------------------------

    def pass_time(self, millis: int) -> None:
        """Time passes for the broker."""
        self.now += millis

    def commit_elsewhere(self, queue: int, offset: int) -> Result:
        """Another member of the group commits."""
        storage = self._storage
        storage.state = commit_offset(storage.rules, storage.state, *self.topology.stored_keys[queue], offset)[0]
        return None

    def shape(self, queue: int, shape: str) -> Result:
        """Put a queue into one of ``models.client.initial_broker.SHAPES``."""
        place = self.topology.places[queue]
        self._storage.reshape(reshaped(self._storage.state, place, shape), *place)
        return None

    def list_members(self, members: tuple[int, ...]) -> Result:
        """List the client ids of these members from now on."""
        clients = self.topology.clients
        self._consumers.listed = {self.topology.group: tuple([clients[member] for member in members])}
        return None

    def assign(self, topic: str, pull: tuple[int, ...], pop: tuple[int, ...], oddity: str) -> Result:
        """Assign these queues of a topic from now on."""
        before = self._assignments.given or {}
        given = assignments_of(self.topology)(topic, pull, pop, oddity)
        self._assignments.given = {**before, topic: self._assignment_text(topic, given)}
        return None

    def route(self, topic: str, queues: int) -> Result:
        """Give a topic's route so many readable queues, or as many as there are; -1 takes the route away."""
        before = self._administration.routes or {}
        self._administration.routes = {**before, topic: readable_queues(self.topology, topic, queues)}
        return None

    def forget_locks(self) -> Result:
        """Forget all locks, as a broker does that restarts."""
        self._consumers.locks = NO_LOCKS
        return None

    def lock_elsewhere(self, queue: int, restarted: bool) -> Result:
        """A client of the group that is no member asks for a lock, of a broker that may have just restarted."""
        if restarted:
            self.forget_locks()
        locks, group, place = self._consumers.locks, self.topology.group, self.topology.queues[queue]
        self._consumers.locks = lock.lock(locks, group, STRANGER, place, self.now)[0]
        return None

    def _assignment_text(self, topic: str, given: TopicAssignment) -> bytes:
        return _assignment_text(topic, given, self.topology.brokers[0])

    def _clock(self) -> int:
        return self.now


@lru_cache(maxsize=1024)
def _assignment_text(topic: str, given: TopicAssignment, broker: str) -> bytes:
    """The body of an assignment."""
    return document(assignment_body(given, topic, broker))
