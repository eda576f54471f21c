"""How the members of a group of whole consumers get their queues, begin them, and let go of them.

A round of rebalance gives each member its share, as far as it is known to the group and can ask who else is there
(``whole_group``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.client.member import division_of
from rocketmq_conformance.models.client.offset_table import MEMORY_THEN_STORE, STORE
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import TIMESTAMP, StartModel
from rocketmq_conformance.models.client.whole import LITE, ORDERLY, PUSH
from rocketmq_conformance.models.client.whole_group_state import (
    WholeGroup,
    client_of,
    failing,
    listed_clients,
    locks_of,
    with_failure,
    with_member,
    with_reason,
)
from rocketmq_conformance.models.client.whole_moves import (
    COMMIT,
    HEARTBEAT,
    LOCK,
    MAX,
    MEMBERS,
    QUERY,
    ROUTE,
    SEARCH,
    Fail,
)
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Reason, reasons_by_kind

_NOT_REGISTERED = {
    ROUTE: Reason(("WHOLE-UNHEARD",), "no route"),
    HEARTBEAT: Reason(("WHOLE-UNHEARD",), "no heartbeat"),
}
_REGISTERED = {
    ROUTE: Reason(("WHOLE-UNHEARD",), "no route, goes on"),
    HEARTBEAT: Reason(("WHOLE-UNHEARD",), "no heartbeat, goes on"),
}
_LOCK = reasons_by_kind(("WHOLE-LOCK",), "refused", "somebody else's", "granted", beneath=("REB-ADD-LOCK",))
_NO_START = Reason(("WHOLE-UNREAD",), "no start", beneath=("START-PUSH-ERROR", "REB-ADD-START"))
_UNREAD = replace(_NO_START, beneath=("OFF-R-READ-ERROR", *_NO_START.beneath))
_MISTAKEN = Reason(("WHOLE-MISTAKEN",), "a refusal is no stored offset", beneath=("OFF-R-READ-ERROR",))
LOST = Reason(("WHOLE-LOST",), "commit lost")
_LOCK_LOST = Reason(("REB-LOCK-3", "PULL-PRE-LOCK"), "lost", beneath=("TIMER-LOCK",))
_LOCK_BACK = Reason(("REB-LOCK-3", "PULL-PRE-LOCK"), "granted again", beneath=("TIMER-LOCK",))
_HANDED_OVER = {
    PUSH: Reason(("WHOLE-SHARE",), "handed over", beneath=("REB-DROP-1", "REB-REM-1")),
    ORDERLY: Reason(("WHOLE-SHARE",), "handed over", beneath=("REB-DROP-1",)),
    LITE: Reason(("WHOLE-SHARE",), "handed over", beneath=("REB-DROP-1", "REB-VAR-REM")),
}
_TAKEN_OVER = Reason(("WHOLE-SHARE",), "taken over")
_BUSY = Reason(("WHOLE-BUSY",), "keeps the lock")
_TRUNCATED = Reason(("REB-TRUNC-1",), "let go without a request")
DISCARDED = Reason(("CONS-1-DROPPED",), "meanwhile")


class WholeQueues:
    """The queues of the members of a group, by one profile and topology; every method is pure."""

    __slots__ = ("start", "topology")

    def __init__(self, start: StartModel) -> None:
        self.start = start
        self.topology = start.topology

    def _register(self, group: WholeGroup) -> WholeGroup:
        if not group.members:
            return group
        refused = [request for request in (ROUTE, HEARTBEAT) if request in group.fails]
        unregistered = [name for name, member in group.members.items() if not member.registered]
        if refused:
            why = _NOT_REGISTERED if unregistered else _REGISTERED
            return with_failure(group, group.fails[refused[0]], why[refused[0]])
        for name in unregistered:
            group = with_member(group, name, group.members[name]._replace(registered=True))
        return group

    def _shares(self, group: WholeGroup) -> dict[str, frozenset[int]]:
        """The queues of every member that can find out which are its own."""
        registered = [name for name, member in group.members.items() if member.registered]
        if group.by_hand:
            return {name: group.members[name].assigned for name in registered}
        if MEMBERS in group.fails:
            return {}
        listed = listed_clients(group, registered)
        return {name: self._share(group, name, listed) for name in registered if not group.members[name].suspended}

    def _share(self, group: WholeGroup, name: str, listed: tuple[str, ...]) -> frozenset[int]:
        """A member's queues; of a topic without any that can be read it keeps those that it has."""
        share_of, found = division_of(self.start.client, self.topology), set[int]()
        for topic, settings in group.broker.topics.items():
            if topic in group.unsubscribed:
                continue
            if settings.read_queues:
                client = client_of(group, name)
                found.update(share_of(group.strategy, client, topic, settings.read_queues, listed) or ())
            else:
                found.update(queue for queue in group.members[name].pulls if self.topology.topic_of[queue] == topic)
        return frozenset(found)

    def _drop(self, group: WholeGroup, name: str, queue: int) -> WholeGroup:
        if self.topology.topic_of[queue] in group.unsubscribed:
            return self._let_go(with_reason(group, _TRUNCATED), name, queue)
        group = with_reason(self._commit(group, name, queue), _HANDED_OVER[group.kind])
        return self._let_go(group, name, queue)

    def _take(self, group: WholeGroup, name: str, queue: int, alone: bool) -> WholeGroup:
        if group.kind == ORDERLY:
            if LOCK in group.fails or group.seized or group.kept.get(queue, name) != name:
                return with_reason(group, _LOCK["refused" if LOCK in group.fails else "somebody else's"])
            if any(other.busy and queue in locks_of(other) for other in group.members.values()):
                return with_reason(group, _BUSY)
            kept = {other: holder for other, holder in group.kept.items() if other != queue}
            group = with_reason(group._replace(kept=kept), _LOCK["granted"])
        group, begins = self._begins(group, name, queue)
        if not is_known(begins):
            if group.kind == ORDERLY:
                # it has the lock all the same
                group = group._replace(kept={**group.kept, queue: name})
            query = failing(group, QUERY, queue)
            return with_failure(group, query or _bound(group, queue), _UNREAD if query else _NO_START)
        if not alone:
            group = with_reason(group, _TAKEN_OVER)
        member = group.members[name]
        fresh = member.fresh | {queue} if group.kind == ORDERLY else member.fresh
        return with_member(group, name, member._replace(pulls={**member.pulls, queue: cast(int, begins)}, fresh=fresh))

    def _begins(self, group: WholeGroup, name: str, queue: int) -> tuple[WholeGroup, int | Err]:
        """The start of a queue: negative, or an error, when it cannot be computed."""
        fault = "answer"
        query = failing(group, QUERY, queue)
        if query is not None and query.later:
            group = group._replace(fails={**group.fails, QUERY: query._replace(later=False)})
        elif query is not None:
            # bytes that are no frame make the client close the connection itself
            fault = "cut" if query.fault == "garbage" else query.fault
        bound = _bound(group, queue)
        decide = self.start.lite_pull if group.kind == LITE else self.start.push
        before = RemoteStore(group.members[name].memory, frozenset(), group.broker)
        store, found, why = decide(
            before,
            queue,
            group.where,
            group.timestamp,
            "UTC",
            self.start.client.checked_start,
            fault,
            bound.fault if bound else "answer",
        )
        group = with_member(group, name, group.members[name]._replace(memory=store.memory))
        begins = cast(int | Err, found)
        if is_known(begins):
            kind = MEMORY_THEN_STORE if group.kind == LITE else STORE
            _, held, read = self.start.store.read(before, queue, kind, fault)
            if held == begins:
                why = Reason((*why.rules, *read.rules), why.kind)
            group = group._replace(starts={**group.starts, queue: why})
        if fault != "answer" and is_known(begins):
            group = with_failure(group, query, _MISTAKEN)
        return group, begins

    def _relocked(self, group: WholeGroup, name: str) -> WholeGroup:
        """The lock timer asks again for the locks that were lost."""
        member = group.members[name]
        if not member.unlocked:
            return group
        still = member.unlocked & group.kept.keys()
        if member.unlocked - still:
            group = with_reason(group, _LOCK_BACK)
        if still:
            group = with_reason(group, _LOCK_LOST)
        return with_member(group, name, member._replace(unlocked=still))

    def _commit(self, group: WholeGroup, name: str, queue: int) -> WholeGroup:
        held = group.members[name].memory.get(queue)
        if held is None or held == group.broker.stored.get(self.topology.stored_keys[queue]):
            return group
        lost = failing(group, COMMIT, queue)
        if lost:
            return with_failure(group, lost, LOST)
        key = self.topology.stored_keys[queue]
        return group._replace(broker=commit_offset(self.start.store.broker, group.broker, *key, held)[0])

    def _let_go(self, group: WholeGroup, name: str, queue: int) -> WholeGroup:
        member = group.members[name]
        memory = {other: offset for other, offset in member.memory.items() if other != queue}
        pulls = {other: offset for other, offset in member.pulls.items() if other != queue}
        fresh, unlocked = member.fresh - {queue}, member.unlocked - {queue}
        busy = queue in member.held or queue in member.hung
        if busy:
            group = with_reason(group, DISCARDED)
        held = {other: messages for other, messages in member.held.items() if other != queue}
        hung = {other: offset for other, offset in member.hung.items() if other != queue}
        taken = {other: offset for other, offset in member.taken.items() if other != queue}
        kept = member._replace(memory=memory, pulls=pulls, fresh=fresh, unlocked=unlocked, held=held, taken=taken)
        return with_member(group, name, kept._replace(hung=hung, discards=member.discards or busy))


def _bound(group: WholeGroup, queue: int) -> Fail | None:
    """How the question for max or a time fails by which a queue begins without a stored offset, if it does."""
    return failing(group, SEARCH if group.where == TIMESTAMP else MAX, queue)


def is_known(begins: int | Err) -> bool:
    """Can a queue begin at an offset that was read?"""
    return isinstance(begins, int) and begins >= 0
