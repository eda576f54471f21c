"""Where a broadcasting consumer starts: its offset store has a file behind it, and not the broker (START-BC-1).

The consumer begins with what its file holds, as a push or as a lite pull consumer. Files may be damaged, as long as one
of the two can be read: a consumer that cannot load them does not begin at all (OFF-L-LOAD). Other members commit for
the group, as if it were a cluster; that must not matter.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.broadcast import file_store, files_of
from rocketmq_conformance.models.client.initial_broker import initial_broker
from rocketmq_conformance.models.client.local_store import LocalStore
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import TIMESTAMP, StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

_BEGINS = {
    (kind, source): Reason(("REB-BC-STORE", "OFF-L-LOAD"), f"{kind}, {source}")
    for kind in ("push", "lite pull")
    for source in ("main", "backup", "no file")
}


class StartBroadcastState(NamedTuple):
    """A broadcasting consumer: a lite pull one, or a push one."""

    lite: bool = False
    store: LocalStore = LocalStore()
    broker: BrokerState = BrokerState()


def initial_state(topology: Topology) -> StartBroadcastState:
    """A new push consumer without a file."""
    return StartBroadcastState(broker=initial_broker(topology))


class StartBroadcastModel:
    """The starts of broadcasting consumers for one profile and topology; every method is pure."""

    __slots__ = ("local", "start")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.start = StartModel(profile, topology)
        self.local = self.start.local

    def begin_push(self, state: StartBroadcastState) -> Answer[StartBroadcastState]:
        """REB-BC-STORE: a push consumer begins, in place of the one before."""
        return self._begin(state, False)

    def begin_lite_pull(self, state: StartBroadcastState) -> Answer[StartBroadcastState]:
        """REB-BC-STORE: a lite pull consumer begins, in place of the one before."""
        return self._begin(state, True)

    def _begin(self, state: StartBroadcastState, lite: bool) -> Answer[StartBroadcastState]:
        files = file_store({}, files_of(state.store))
        loaded, result, _ = self.local.restart(files)
        why = _BEGINS["lite pull" if lite else "push", self.local.stored(files)[1]]
        return StartBroadcastState(lite, loaded, state.broker), result, why

    def begins_at(
        self,
        checked: bool,
        state: StartBroadcastState,
        queue: int,
        where: str,
        fault: str,
        bound_fault: str,
    ) -> Answer[StartBroadcastState]:
        """START-BC-1: the start of a queue; ``fault`` is how the broker would play a query."""
        return self._started(state, queue, where, None, "UTC", checked, bound_fault)

    def begins_at_time(
        self,
        checked: bool,
        state: StartBroadcastState,
        queue: int,
        timestamp: str | None,
        zone: str,
        fault: str,
        bound_fault: str,
    ) -> Answer[StartBroadcastState]:
        """START-BC-1, START-TS-1: the start of a queue by time."""
        return self._started(state, queue, TIMESTAMP, timestamp, zone, checked, bound_fault)

    def _started(
        self,
        state: StartBroadcastState,
        queue: int,
        where: str,
        timestamp: str | None,
        zone: str,
        checked: bool,
        bound_fault: str,
    ) -> Answer[StartBroadcastState]:
        start = self.start.lite_pull_from_file if state.lite else self.start.push_from_file
        store, found, why = start(state.store, state.broker, queue, where, timestamp, zone, checked, bound_fault)
        return state._replace(store=store), found, why

    # --- the store ----------------------------------------------------------------------------------------

    def update(
        self, state: StartBroadcastState, queue: int, offset: int, increase_only: bool
    ) -> Answer[StartBroadcastState]:
        """OFF-UPD-1."""
        store, result, why = self.local.update(state.store, queue, offset, increase_only)
        return state._replace(store=store), result, why

    def read(self, state: StartBroadcastState, queue: int, kind: str, fault: str) -> Answer[StartBroadcastState]:
        """OFF-L-READ: the offset in messages, or -1."""
        store, result, why = self.local.read(state.store, queue, kind)
        return state._replace(store=store), result, why

    def remove(self, state: StartBroadcastState, queue: int) -> Answer[StartBroadcastState]:
        """OFF-L-REM."""
        store, result, why = self.local.remove(state.store, queue)
        return state._replace(store=store), result, why

    def persist_all(self, state: StartBroadcastState, queues: tuple[int, ...]) -> Answer[StartBroadcastState]:
        """OFF-L-PALL."""
        store, result, why = self.local.persist_all(state.store, queues)
        return state._replace(store=store), result, why

    def damage(self, state: StartBroadcastState, which: str, how: str) -> Answer[StartBroadcastState]:
        """A file is lost, or empty."""
        store, result, why = self.local.damage(state.store, which, how)
        return state._replace(store=store), result, why

    # --- the environment ----------------------------------------------------------------------------------

    def shape(self, state: StartBroadcastState, queue: int, shape: str) -> Answer[StartBroadcastState]:
        """The queue's log becomes another one."""
        after, result, why = self.start.shape(RemoteStore(broker=state.broker), queue, shape)
        return state._replace(broker=after.broker), result, why

    def commit_elsewhere(self, state: StartBroadcastState, queue: int, offset: int) -> Answer[StartBroadcastState]:
        """A member of a cluster with the group's name commits."""
        after, result, why = self.start.store.commit_elsewhere(RemoteStore(broker=state.broker), queue, offset)
        return state._replace(broker=after.broker), result, why
