"""Whole broadcasting consumers of one group, as an observer sees them from their traffic and their listeners.

Each member has every queue, and keeps its offsets in a file of its own, which outlives it: one that comes back goes on
where it was, and one that was never there begins by ConsumeFromWhere. A file learns of a queue once it was pulled: of
one in which nothing was found, too. The broker is asked for no stored offset, and given none.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, cast

from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState
from rocketmq_conformance.models.client.broadcast import file_store
from rocketmq_conformance.models.client.initial_broker import TIMES
from rocketmq_conformance.models.client.local_store import MISSING
from rocketmq_conformance.models.client.member_settings import TIMESTAMP_TEXT
from rocketmq_conformance.models.client.plan_words import EVERY, HOLDS
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole import BROADCAST, first_message
from rocketmq_conformance.models.client.whole_end import NOT_ENDED, end_reason, ended, with_end
from rocketmq_conformance.models.client.whole_group_state import with_starts
from rocketmq_conformance.models.client.whole_push import NO_OWNER, Setting, initial_broker
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, reasons_by_kind

#: Offsets by queue.
Offsets = Mapping[int, int]
#: What is seen: places, messages that pulls brought, stored offsets, locks, and messages that listeners were given.
Seen = tuple[Value, tuple[tuple[int, int, int, int], ...], Value, Value, Value]
_NOTHING: Mapping[str, Offsets] = MappingProxyType({})

_CHOSEN = Reason(("REB-BC-1",), "before anyone joins")
_SEEN = reasons_by_kind(("REB-BC-1", "REB-BC-STORE"), "nothing is new", "nobody is there")
_GIVEN = Reason(("REB-BC-1", "REB-BC-STORE", "WHOLE-FIRST"), "messages are given")
_MOVED = Reason(("REB-BC-1", "REB-BC-STORE", "WHOLE-MOVED"), "sent elsewhere")
_NO_FILE, _OTHERS_ELSEWHERE = "no file", "no file, and others begin elsewhere"
_BY_FILE, _AS_WITHOUT = "by its file", "by its file as without one"
_FIRST = ("START-BC-1", "REB-BC-1", "REB-BC-STORE", "WHOLE-FIRST")
_BEGUN = {
    **reasons_by_kind(_FIRST, _NO_FILE, _AS_WITHOUT),
    **reasons_by_kind(_FIRST, _OTHERS_ELSEWHERE, beneath=("OFF-L-PATH",)),
    **reasons_by_kind(_FIRST, _BY_FILE, beneath=("OFF-L-READ", "OFF-L-PALL")),
}


class WholeBroadcastState(NamedTuple):
    """The members and their broker; ``begun``: has any member joined?"""

    setting: Setting
    broker: BrokerState
    #: Of each member that runs, by name: where it waits in each queue.
    members: Mapping[str, Offsets] = _NOTHING
    #: What the files hold, by the client id of their member (OFF-L-PATH).
    files: Mapping[str, Offsets] = _NOTHING
    begun: bool = False
    #: The client ids of members, by name, as far as they were seen.
    clients: Mapping[str, str] = MappingProxyType({})
    #: What listeners do that are not to succeed, and the first messages that they hold, by queue; by name.
    listeners: Mapping[str, str] = MappingProxyType({})
    held: Mapping[str, Offsets] = _NOTHING
    #: The members whose listeners have failed messages since they started.
    dropped: frozenset[str] = frozenset()

    def client_of(self, name: str) -> str:
        """The client id of a member; its name, where none was seen."""
        return self.clients.get(name, name)


class WholeBroadcastModel:
    """The observations of broadcasting consumers of one profile and topology; every method is pure."""

    __slots__ = ("_rules", "_start", "_topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self._topology = topology
        self._start = StartModel(profile, topology)
        self._rules = self._start.store.broker

    def initial(self) -> WholeBroadcastState:
        """Before anything happened."""
        return self._begun(Setting())

    def prepare(
        self, state: WholeBroadcastState, queues: int, shape: str, stored: int, where: str
    ) -> Answer[WholeBroadcastState]:
        """Choose how the case begins; nothing happens once a member has joined."""
        if not state.begun:
            state = self._begun(Setting(queues, shape, stored, where))
        return state, None, _CHOSEN

    def learn(self, state: WholeBroadcastState, clients: tuple[str, ...]) -> WholeBroadcastState:
        """The state once these client ids of members were seen."""
        known = {name: client for name, client in zip(self._topology.members, clients, strict=False) if client}
        return state._replace(clients={**state.clients, **known})

    def join(self, state: WholeBroadcastState, member: int) -> Answer[WholeBroadcastState]:
        """A member starts, unless it runs."""
        name = self._topology.members[member]
        if name in state.members:
            return self._look(state)
        without, _ = self._starts(state, None)
        client = state.client_of(name)
        pulls, starts = self._starts(state, state.files.get(client))
        if client in state.files:
            kind = _AS_WITHOUT if pulls == without else _BY_FILE
        else:
            others = any(self._starts(state, file)[0] != pulls for file in state.files.values())
            kind = _OTHERS_ELSEWHERE if others else _NO_FILE
        members = dict(sorted({**state.members, name: pulls}.items()))
        state, seen, why = self._look(state._replace(members=members, begun=True))
        if why is not _MOVED:
            # it shows where each queue began
            why = with_starts(_BEGUN[kind], starts.values())
        return state, seen, why

    def leave(self, state: WholeBroadcastState, member: int) -> Answer[WholeBroadcastState]:
        """A member is shut down, if it runs."""
        runs = self._topology.members[member] in state.members
        state, seen, why = self.crash(state, member)
        if not runs:
            return state, with_end(seen, NOT_ENDED), why
        end = ended(BROADCAST)
        return state, with_end(seen, end), end_reason(why, end)

    def crash(self, state: WholeBroadcastState, member: int) -> Answer[WholeBroadcastState]:
        """A member ends, if it runs: its file has been written by then, whether it is shut down or killed."""
        left = {name: pulls for name, pulls in state.members.items() if name != self._topology.members[member]}
        return self._look(state._replace(members=left))

    def come_back(self, state: WholeBroadcastState, member: int, crashes: bool) -> Answer[WholeBroadcastState]:
        """A member ends, a message arrives in every queue, and it starts again, if it runs."""
        if self._topology.members[member] not in state.members:
            return self._look(state)
        state, _, _ = self.crash(state, member)
        state, arrived, _ = self.send(state, EVERY)
        state, seen, why = self.join(state, member)
        _, by_others, *_ = cast(Seen, arrived)
        places, by_itself, stored, *locks = cast(Seen, seen)[:4]
        brought = tuple(sorted((*by_others, *by_itself)))
        return state, (places, brought, stored, *locks, *(brought for _ in locks)), why

    def send(self, state: WholeBroadcastState, queue: int) -> Answer[WholeBroadcastState]:
        """A message arrives in a queue, if there is one, or in every queue."""
        broker = state.broker
        for number in range(state.setting.queues):
            if queue in (number, EVERY):
                broker = send(self._rules, broker, self._topology.topic, number, TIMES[-1:])[0]
        return self._look(state._replace(broker=broker))

    def freeze(self, state: WholeBroadcastState, member: int) -> Answer[WholeBroadcastState]:
        """A message arrives in every queue while a member is frozen: it is late, and loses nothing."""
        return self.send(state, EVERY)

    def look(self, state: WholeBroadcastState) -> Answer[WholeBroadcastState]:
        """Time passes, a round of rebalance at least."""
        return self._look(state)

    def _begun(self, setting: Setting) -> WholeBroadcastState:
        return WholeBroadcastState(setting, initial_broker(self._rules, self._topology, setting))

    def _starts(self, state: WholeBroadcastState, file: Offsets | None) -> tuple[Offsets, Mapping[int, Reason]]:
        """Where a member with this file begins in each queue, and why."""
        store = file_store({}, (MISSING if file is None else file, MISSING))
        pulls, starts = {}, {}
        for at in self._queues(state):
            store, found, starts[at] = self._start.push_from_file(
                *(store, state.broker, at, state.setting.where, TIMESTAMP_TEXT, "UTC"),
                *(self._start.client.checked_start, "answer"),
            )
            assert isinstance(found, int)  # every broker answers
            pulls[at] = found
        return pulls, starts

    def _queues(self, state: WholeBroadcastState) -> tuple[int, ...]:
        """The queues of the topic."""
        return self._topology.topic_queues[self._topology.topic][: state.setting.queues]

    def _look(self, state: WholeBroadcastState) -> Answer[WholeBroadcastState]:
        """Who waits where in each queue, the messages that pulls brought, the stored offsets, no locks, and the
        messages that listeners were given."""
        why = _SEEN["nothing is new" if state.members else "nobody is there"]
        members, files, names = dict(state.members), dict(state.files), self._topology.members
        held = dict(state.held)
        given: list[tuple[int, int, int, int]] = []
        for name, pulls in state.members.items():
            waits = dict(pulls)
            for at, offset in pulls.items():
                number = self._topology.places[at][1]
                _, first, fired = first_message(self._start, state.broker, BROADCAST, at, offset)
                end = state.broker.logs.get(self._topology.places[at], ABSENT).max
                if any("WHOLE-MOVED" in one.rules for one in fired):
                    why = _MOVED
                if first < end:
                    why = why if why is _MOVED else _GIVEN
                    given.append((names.index(name), number, first, end - first))
                    if state.listeners.get(name) == HOLDS:
                        held[name] = {at: first, **held.get(name, {})}
                waits[at] = max(first, end)
            members[name], files[state.client_of(name)] = waits, {**waits, **held.get(name, {})}
        state = state._replace(members=members, files=files, held=held)
        places = tuple(
            tuple((names.index(name), waits[at]) for name, waits in members.items()) for at in self._queues(state)
        )
        keys = [self._topology.stored_keys[at] for at in self._queues(state)]
        stored = tuple(state.broker.stored.get(key, -1) for key in keys)
        unlocked = tuple(NO_OWNER for _ in keys)
        brought = tuple(sorted(given))
        return state, (places, brought, stored, unlocked, brought), why
