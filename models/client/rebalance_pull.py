"""A group of lite pull consumers: their queues, pulls, polls and commits (REB-VAR-*, LITE-*).

The members rebalance as push consumers do (see ``rebalance``), but their applications ask for messages. Pull tasks, one
for each assigned queue, fetch them; ``poll`` returns them in the order of their arrival, and a commit writes the polled
offsets into the offset table, from where the timer sends them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rocketmq_conformance.models.client import group_state as group
from rocketmq_conformance.models.client.broadcast import NO_FILES, file_store, files_of
from rocketmq_conformance.models.client.group_state import (
    RebalanceState,
    client_id,
    known_routes,
    rebalance_state,
    widen,
    with_member,
)
from rocketmq_conformance.models.client.member import (
    BROADCASTING,
    CLUSTERING,
    Member,
    new_member,
    subscribed_topics,
    with_memory,
)
from rocketmq_conformance.models.client.member_settings import MEMBER_TIME
from rocketmq_conformance.models.client.offset_table import MEMORY_THEN_STORE, UNFROZEN
from rocketmq_conformance.models.client.rebalance import RebalanceModel
from rocketmq_conformance.models.client.rebalance_pull_round import (
    EMPTY_CACHE,
    NEW_PULL_MEMBER,
    AssignedQueue,
    QueueCache,
    RebalancePullMember,
    RebalancePullRound,
    RebalancePullRoundModel,
    assigned_queue,
    cache_of,
    pull_member,
)
from rocketmq_conformance.models.client.rebalance_round import NO_MEMBER, listed_members
from rocketmq_conformance.models.client.remote_store import RemoteStore, remote_store
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.fast_tuples import maker, replaced
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Rule, reasons_by_kind

RULES = (
    Rule(
        "REB-VAR-SUB",
        "Subscribing makes a lite pull consumer learn the routes of all its topics; it subscribes to no retry topic.",
        "DefaultLitePullConsumerImpl#subscribe, #updateTopicSubscribeInfoWhenSubscriptionChanged @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "REB-VAR-UNSUB",
        "Unsubscribing ends the pulls of a topic at once and forgets where they were, but its queues are owned until "
        "the next round, and messages that were pulled can still be polled until their process queue is dropped.",
        "DefaultLitePullConsumerImpl#unsubscribe, AssignedMessageQueue#removeAssignedMessageQueue "
        "@ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LITE-PULL",
        "An assigned queue is pulled from where the last answer ended, the first time from its start, which is asked "
        "for anew; without a start nothing is asked for.",
        "DefaultLitePullConsumerImpl#nextPullOffset, DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.1, "
        "4.9.0, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LITE-PULL-0",
        "The first lite pull consumers pull from the offset in memory or in the store, broadcasting from 0 when there "
        "is none; in a cluster without one nothing is asked for.",
        "DefaultLitePullConsumerImpl#nextPullOffset @ 4.6.0",
        releases="4.6.0",
    ),
    Rule(
        "LITE-POLL",
        "Messages are polled in the order in which they were pulled, except those whose process queue was dropped. "
        "The next commit of the queue, if it is assigned then, writes the first offset that waits in the process "
        "queue, or the one after the last that was new; nothing when the process queue was empty already.",
        "DefaultLitePullConsumerImpl#poll, ProcessQueue#removeMessage @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LITE-COMMIT",
        "A commit writes the consumed offsets of all assigned queues into memory, lower ones too; timers send them.",
        "DefaultLitePullConsumerImpl#commitAll @ 4.6.1, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LITE-COMMIT-0",
        "The commit of the first lite pull consumers also sends those that memory does not hold yet, and waits.",
        "DefaultLitePullConsumerImpl#commitSync @ 4.6.0",
        releases="4.6.0",
    ),
    Rule(
        "LITE-COMMIT-BC",
        "Up to 4.9.3, and in the previews of 5.0.0, the commit of a broadcasting lite pull consumer also writes the "
        "offsets of all assigned queues into its file, which then holds no others. No commit of one reaches a broker.",
        "DefaultLitePullConsumerImpl#commitAll @ 4.9.3, 4.9.4, 5.0.0-ALPHA, 5.0.0",
        releases="4.6.0 – 4.9.3, 5.0.0-PREVIEW, 5.0.0-ALPHA",
    ),
)

_PULL = reasons_by_kind(("LITE-PULL",), "first pull", "goes on", "nothing assigned", "no member")
_PULL |= reasons_by_kind(("LITE-PULL", "REB-MQC-UNKNOWN"), "dropped")
_PULL |= reasons_by_kind(("LITE-PULL", "START-LITE-1"), "no start")
_PULL_0 = reasons_by_kind(("LITE-PULL-0",), "first pull", "no start")
_POLL = reasons_by_kind(
    ("LITE-POLL",), "polled", "polled, not assigned", "polled again", "nothing to poll", "no member"
)
_POLL |= reasons_by_kind(("LITE-POLL", "REB-VAR-UNSUB"), "polled, assigned anew")
_COMMIT = reasons_by_kind(("LITE-COMMIT",), "into memory", "nothing consumed", "no member")
_COMMIT |= reasons_by_kind(("LITE-COMMIT-0",), "sent at once", "known already")
_COMMIT |= reasons_by_kind(("LITE-COMMIT-BC", "OFF-L-PALL"), "file written")
_COMMIT |= reasons_by_kind(
    ("LITE-COMMIT", "REB-BC-STORE"), "into memory, broadcasting", "nothing consumed, broadcasting"
)
_SUBSCRIBE = reasons_by_kind(("REB-VAR-SUB",), "subscribed", "subscribed already", "no member")
_UNSUBSCRIBE = reasons_by_kind(("REB-VAR-UNSUB",), "pulls end", "nothing assigned", "no member")


class RebalancePullState(NamedTuple):
    """A group of lite pull consumers, and each one's state beside the table."""

    group: RebalanceState
    kept: tuple[RebalancePullMember, ...]


_state = maker(RebalancePullState)


def initial_state(topology: Topology) -> RebalancePullState:
    """The initial state: new lite pull consumers."""
    state = group.initial_state(topology)
    members = tuple(
        [_new_member(topology, client, CLUSTERING, LAST, "AVG", state.routes) for client in topology.clients]
    )
    return RebalancePullState(state._replace(members=members), (NEW_PULL_MEMBER,) * len(members))


def _new_member(
    topology: Topology, client: str, mode: str, where: str, strategy: str, routes: Mapping[str, int]
) -> Member:
    """A new member: it has no retry topic, as if it were broadcasting."""
    topics = subscribed_topics(topology, BROADCASTING)
    return new_member(client, mode, where, strategy, topics, known_routes(topics, routes))


class RebalancePullModel:
    """The operations of a group of lite pull consumers, for one profile; every method is pure."""

    __slots__ = ("client", "group", "rebalancing", "start", "store", "topology")
    #: Wraps an operation that has nothing to do with assignments.
    of_group = staticmethod(widen(_state))

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.topology = topology
        self.group = RebalanceModel(profile, topology)
        self.start = self.group.rebalancing.start
        self.store = self.group.store
        self.client = self.start.client
        self.rebalancing = RebalancePullRoundModel(self.start)

    # --- operations of members ----------------------------------------------------------------------------

    def rebalance(
        self, state: RebalancePullState, member: int, list_fault: str, fault: str, bound_fault: str
    ) -> Answer[RebalancePullState]:
        """REB-DO-1: (owned queues, assigned queues, balanced or None, commits (queue, offset)), or None for no
        member."""
        before, kept = state
        broker, routes, listed, now, members, files = before
        who = members[member]
        if who is None:
            return state, None, NO_MEMBER
        lite = kept[member]
        current = RebalancePullRound(who, broker, now, fault, bound_fault, lite.assigned)
        current.files = files.get(who.client, NO_FILES)
        lite, answer, why = self.rebalancing.pull_round(current, lite, routes, listed_members(listed, list_fault))
        after = current.after()
        if lite is not kept[member]:
            kept = replaced(kept, member, lite)
        elif after is who:
            return state, answer, why
        members = replaced(members, member, after)
        files = group.files_after(files, current)
        return _state((rebalance_state((current.store.broker, routes, listed, now, members, files)), kept)), answer, why

    def join(
        self, state: RebalancePullState, member: int, twin: bool, mode: str, where: str, strategy: str
    ) -> Answer[RebalancePullState]:
        """REB-BEGIN-1."""
        before = state.group
        began = _new_member(self.topology, client_id(self.topology, member, twin), mode, where, strategy, before.routes)
        after, result, why = self.group.begin(before, member, began, twin)
        return _state((after, replaced(state.kept, member, NEW_PULL_MEMBER))), result, why

    def restart(self, state: RebalancePullState, member: int) -> Answer[RebalancePullState]:
        """REB-BEGIN-1: the member's process ends without a shutdown, and one that is set up like it begins."""
        who = state.group.members[member]
        if who is None:
            return state, None, NO_MEMBER
        began = _new_member(self.topology, who.client, who.mode, who.where, who.strategy, state.group.routes)
        after, result, why = self.group.begin(state.group, member, began, False)
        return _state((after, replaced(state.kept, member, NEW_PULL_MEMBER))), result, why

    def leave(self, state: RebalancePullState, member: int) -> Answer[RebalancePullState]:
        """REB-END-1: the commits that reach the broker."""
        after, sent, why = self.group.leave(state.group, member)
        return _state((after, replaced(state.kept, member, NEW_PULL_MEMBER))), sent, why

    def subscribe(self, state: RebalancePullState, member: int, topic: str) -> Answer[RebalancePullState]:
        """REB-VAR-SUB."""
        who = state.group.members[member]
        if who is None:
            return state, None, _SUBSCRIBE["no member"]
        after = self.group.subscribe(state.group, member, topic)[0]
        after = self.group.refresh(after, member)[0]
        why = _SUBSCRIBE["subscribed already" if topic in who.topics else "subscribed"]
        return _state((after, state.kept)), None, why

    def unsubscribe(self, state: RebalancePullState, member: int, topic: str) -> Answer[RebalancePullState]:
        """REB-VAR-UNSUB."""
        if state.group.members[member] is None:
            return state, None, _UNSUBSCRIBE["no member"]
        lite = state.kept[member]
        after = _state((self.group.unsubscribe(state.group, member, topic)[0], state.kept))
        assigned = {queue: held for queue, held in lite.assigned.items() if self.topology.topic_of[queue] != topic}
        if len(assigned) == len(lite.assigned):
            return after, None, _UNSUBSCRIBE["nothing assigned"]
        return _with(after, member, pull_member((assigned, lite.pulled, lite.caches))), None, _UNSUBSCRIBE["pulls end"]

    def pull(
        self, state: RebalancePullState, member: int, found: bool, fault: str, bound_fault: str
    ) -> Answer[RebalancePullState]:
        """LITE-PULL: (queue, requested offset, -1 for none) of all assigned queues; messages are there when they are
        ``found``."""
        who = state.group.members[member]
        if who is None:
            return state, None, _PULL["no member"]
        lite = state.kept[member]
        if not lite.assigned:
            return state, (), _PULL["nothing assigned"]
        store = remote_store((who.memory, UNFROZEN, state.group.broker))
        answer: list[Value] = []
        arrived: list[tuple[int, int, int]] = []
        goes_on: dict[int, AssignedQueue] = {}
        why = _PULL["goes on"]
        for queue in sorted(lite.assigned):
            number, pulls, consumed = lite.assigned[queue]
            if _is_dropped(who, queue, number):
                answer.append((queue, -1))
                why = _PULL["dropped"]
                continue
            asked = pulls
            if asked < 0:
                store, asked = self._begin(state.group, store, who, queue, fault, bound_fault)
                reasons = _PULL if self.client.lite_starts else _PULL_0
                why = reasons["no start" if asked < 0 else "first pull"]
            answer.append((queue, max(asked, -1)))
            if asked < 0:
                continue
            if asked + found != pulls:
                goes_on[queue] = assigned_queue((number, asked + found, consumed))
            if found:
                arrived.append((queue, number, asked))
        if not goes_on:
            return state, tuple(answer), why
        lite = pull_member(
            ({**lite.assigned, **goes_on}, (*lite.pulled, *arrived), _with_arrived(lite.caches, arrived))
        )
        return _with(_with_store(state, member, who, store), member, lite), tuple(answer), why

    def _begin(
        self, state: RebalanceState, store: RemoteStore, who: Member, queue: int, fault: str, bound_fault: str
    ) -> tuple[RemoteStore, int]:
        """The offset of the first pull; negative for none."""
        if who.mode == BROADCASTING:
            return self._begin_by_file(state, store, who, queue, bound_fault)
        if self.client.lite_starts:
            store, offset, _ = self.start.lite_pull(store, queue, who.where, *MEMBER_TIME, False, fault, bound_fault)
        else:
            store, offset, _ = self.store.read(store, queue, MEMORY_THEN_STORE, fault)
        assert isinstance(offset, int)  # neither reports errors
        return store, offset

    def _begin_by_file(
        self, state: RebalanceState, store: RemoteStore, who: Member, queue: int, bound_fault: str
    ) -> tuple[RemoteStore, int]:
        """START-BC-1: the same of a broadcasting member."""
        local = file_store(store.memory, state.files.get(who.client, NO_FILES))
        if self.client.lite_starts:
            local, offset, _ = self.start.lite_pull_from_file(
                local, store.broker, queue, who.where, *MEMBER_TIME, False, bound_fault
            )
        else:
            local, offset, _ = self.start.local.read(local, queue, MEMORY_THEN_STORE)
            offset = 0 if offset == -1 else offset
        assert isinstance(offset, int)  # neither reports errors
        return remote_store((local.memory, UNFROZEN, store.broker)), offset

    def poll(self, state: RebalancePullState, member: int, messages: int) -> Answer[RebalancePullState]:
        """LITE-POLL: (queue, offset) of up to so many messages."""
        if state.group.members[member] is None:
            return state, None, _POLL["no member"]
        lite = state.kept[member]
        polled = lite.pulled[:messages]
        if not polled:
            return state, (), _POLL["nothing to poll"]
        why = _POLL["polled"]
        assigned, caches = dict(lite.assigned), dict(lite.caches)
        for queue, number, offset in polled:
            waiting, last = caches[number]
            left = tuple([other for other in waiting if other != offset])
            caches[number] = cache_of((left, last))
            consumed = -1 if not waiting else left[0] if left else last + 1
            held = assigned.get(queue)
            if held is None:
                why = _POLL["polled, not assigned"]
                continue
            if not waiting:
                why = _POLL["polled again"]
            elif held.number != number:
                why = _POLL["polled, assigned anew"]
            assigned[queue] = assigned_queue((held.number, held.pulls, consumed))
        lite = pull_member((assigned, lite.pulled[messages:], caches))
        return _with(state, member, lite), tuple([(queue, offset) for queue, _, offset in polled]), why

    def commit(self, state: RebalancePullState, member: int) -> Answer[RebalancePullState]:
        """LITE-COMMIT: the commits that reach the broker."""
        who = state.group.members[member]
        if who is None:
            return state, (), _COMMIT["no member"]
        assigned = state.kept[member].assigned
        consumed = {
            queue: held.consumed
            for queue, held in assigned.items()
            if held.consumed != -1 and not _is_dropped(who, queue, held.number)
        }
        if who.mode == BROADCASTING:
            return self._commit_to_file(state, member, who, consumed, tuple(assigned))
        store = remote_store((who.memory, UNFROZEN, state.group.broker))
        sent: list[Value] = []
        why = _COMMIT["into memory" if consumed else "nothing consumed"]
        if consumed and not self.client.lite_commits_later:
            for queue, offset in consumed.items():
                if offset != who.memory.get(queue):
                    store, stored, _ = self.store.commit(store, queue, offset, False, "answer")
                    sent += stored  # type: ignore[arg-type]
            why = _COMMIT["sent at once" if sent else "known already"]
        if consumed:
            store = remote_store(({**who.memory, **consumed}, UNFROZEN, store.broker))
        return _with_store(state, member, who, store), tuple(sorted(sent)), why  # type: ignore[type-var]

    def _commit_to_file(
        self,
        state: RebalancePullState,
        member: int,
        who: Member,
        consumed: Mapping[int, int],
        assigned: tuple[int, ...],
    ) -> Answer[RebalancePullState]:
        """LITE-COMMIT-BC: the same of a broadcasting member, of which no broker hears."""
        group, kept = state
        memory = {**who.memory, **consumed} if consumed else who.memory
        after = with_member(group, member, with_memory(who, memory))
        if self.client.lite_keeps_others:
            why = _COMMIT["into memory, broadcasting" if consumed else "nothing consumed, broadcasting"]
            return _state((after, kept)), (), why
        local = file_store(memory, group.files.get(who.client, NO_FILES))
        files = {**group.files, who.client: files_of(self.start.local.persist_all(local, assigned)[0])}
        return _state((after._replace(files=files), kept)), (), _COMMIT["file written"]


def _is_dropped(who: Member, queue: int, number: int) -> bool:
    """REB-MQC-UNKNOWN: is that the process queue of the table, and dropped?"""
    owned = who.table.get(queue)
    return owned is not None and owned.dropped and owned.number == number


def _with_arrived(caches: Mapping[int, QueueCache], arrived: list[tuple[int, int, int]]) -> Mapping[int, QueueCache]:
    """The caches when messages have arrived; a message that waits already is not new."""
    if not arrived:
        return caches
    after = dict(caches)
    for _, number, offset in arrived:
        waiting, _ = after.get(number, EMPTY_CACHE)
        if offset not in waiting:
            after[number] = cache_of((tuple(sorted((*waiting, offset))), offset))
    return after


def _with_store(state: RebalancePullState, number: int, who: Member, store: RemoteStore) -> RebalancePullState:
    """The state with another store of a member: its memory and its broker."""
    group, kept = state
    if store.memory is who.memory and store.broker is group.broker:
        return state
    return _state((with_member(group._replace(broker=store.broker), number, with_memory(who, store.memory)), kept))


def _with(state: RebalancePullState, member: int, lite: RebalancePullMember) -> RebalancePullState:
    """The state with another state of a member beside its table."""
    return _state((state.group, replaced(state.kept, member, lite)))
