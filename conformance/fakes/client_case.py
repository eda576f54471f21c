"""The environment of a client case: a fake broker in the case's initial state, and what a plan does to it.

Here is all that the operations of a plan can do beside those of the implementation: other members commit, lists,
routes and assignments change, locks are lost, time passes. The broker decides how it answers then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from rocketmq_conformance.conformance.fakes.assignments import Assignments
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.responses import document
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.broker import lock
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.lock import NO_LOCKS, Locks
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.fixtures import CLIENTS, GROUP, OTHER_GROUP, QUEUES
from rocketmq_conformance.models.client.group_state import ROUTES, listed_ids, readable_queues
from rocketmq_conformance.models.client.initial_broker import initial_broker, reshaped
from rocketmq_conformance.models.client.rebalance_broker import MORE_ROUTES
from rocketmq_conformance.models.client.rebalance_broker_round import (
    INITIAL_ASSIGNMENTS,
    TopicAssignment,
    assignment_body,
    topic_assignment,
)
from rocketmq_conformance.models.client.rebalance_orderly import STRANGER
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.models.profile import Profile

_INITIAL = initial_broker()
_ROUTES: Mapping[str, int] = {**ROUTES, **MORE_ROUTES}
_LISTED: Mapping[str, tuple[str, ...]] = {GROUP: CLIENTS, OTHER_GROUP: CLIENTS}


class ClientCase:
    """The broker of client cases, one after the other. ``now`` is its clock: ms since the case began."""

    def __init__(self, profile: Profile) -> None:
        self.now = 0
        self.broker = FakeBroker(profile, clock=self._clock)
        self.exchange = self.broker.exchange
        self._script = self.broker.script
        self._storage = self.broker.storage
        self._consumers = self.broker.consumers
        self._assignments: Assignments = self.broker.assignments
        self._administration = self.broker.administration
        self._record = self.broker.record
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
        self._storage.begin(_INITIAL)
        self._consumers.begin(_LISTED)
        self._administration.routes = _ROUTES
        self._assignments.given = _ASSIGNED
        self._record.clear()

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
        topic, _, number = QUEUES[queue]
        storage.state = commit_offset(storage.rules, storage.state, GROUP, topic, number, offset)[0]
        return None

    def shape(self, queue: int, shape: str) -> Result:
        """Put a queue into one of ``models.client.initial_broker.SHAPES``."""
        topic, _, number = QUEUES[queue]
        self._storage.reshape(reshaped(self._storage.state, queue, shape), topic, number)
        return None

    def list_members(self, members: tuple[int, ...]) -> Result:
        """List the client ids of these members from now on."""
        self._consumers.listed = {GROUP: listed_ids(members)}
        return None

    def assign(self, topic: str, pull: tuple[int, ...], pop: tuple[int, ...], oddity: str) -> Result:
        """Assign these queues of a topic from now on."""
        before = self._assignments.given or {}
        self._assignments.given = {**before, topic: _assignment_text(topic, topic_assignment(topic, pull, pop, oddity))}
        return None

    def route(self, topic: str, queues: int) -> Result:
        """Give a topic's route so many readable queues, or as many as there are; -1 takes the route away."""
        before = self._administration.routes or {}
        self._administration.routes = {**before, topic: readable_queues(topic, queues)}
        return None

    def forget_locks(self) -> Result:
        """Forget all locks, as a broker does that restarts."""
        self._consumers.locks = NO_LOCKS
        return None

    def lock_elsewhere(self, queue: int, restarted: bool) -> Result:
        """A client of the group that is no member asks for a lock, of a broker that may have just restarted."""
        if restarted:
            self.forget_locks()
        self._consumers.locks = lock.lock(self._consumers.locks, GROUP, STRANGER, QUEUES[queue], self.now)[0]
        return None

    def _clock(self) -> int:
        return self.now


@lru_cache(maxsize=1024)
def _assignment_text(topic: str, given: TopicAssignment) -> bytes:
    """The body of an assignment."""
    return document(assignment_body(given, topic))


#: The assignment of each topic in the initial state.
_ASSIGNED: Mapping[str, bytes] = {topic: _assignment_text(topic, given) for topic, given in INITIAL_ASSIGNMENTS.items()}
