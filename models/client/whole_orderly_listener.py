"""A group of whole orderly consumers whose listeners fail or hold what they are given, as it is seen from outside.

A listener is given the first message of a queue alone. While it holds that message, or fails it again and again,
nothing that comes after it is given, and nothing is committed, also when the next pull finds nothing and names the
offset behind what was pulled (PULL-NON-1); other queues go on. A queue that goes to another member
takes what was not consumed along, and the other member is given it from the committed offset on:

=================================  ===================================================================================
the listener                       the queue that its member loses
=================================  ===================================================================================
fails                              is unlocked once it is between two tries
holds a message, up to 5.1.4       stays locked until the listener returns: no other member has it meanwhile
holds a message, from 5.2.0        is unlocked 20 s after its lock was confirmed last: the other member is given the
                                   message while the listener still holds it, and what it returns is discarded
=================================  ===================================================================================

A member that gets back a queue of which its listener still holds a message gives nothing of it before that returns.
"""

from __future__ import annotations

from rocketmq_conformance.models.client.orderly_work import Given, MemberQueue, given_in_order
from rocketmq_conformance.models.client.plan_words import FAILS, HOLDS, SUCCEEDS
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_group import WholeGroupModel
from rocketmq_conformance.models.client.whole_group_state import WholeGroup, WholeMember, with_member, with_reason
from rocketmq_conformance.models.client.whole_moves import GivenMessages, Listen
from rocketmq_conformance.models.client.whole_orderly import WholeOrderlyModel, holder_numbers
from rocketmq_conformance.models.client.whole_push import WholePushState, shown
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

_CONSUMED = Reason(("CONS-ORDER-1",), "consumed")
_AGAIN = Reason(("CONS-2-SUSPEND",), "again and again")
_ONCE_MORE = Reason(("CONS-2-SUSPEND",), "once more")
_HELD = Reason(("CONS-2",), "held")
_OTHER_RUN = Reason(("CONS-2", "WHOLE-BUSY"), "another run waits")
_RETURNED = Reason(("CONS-2-AUTO", "CONS-2-COMMIT"), "returned")
_PUT_BACK = Reason(("CONS-2-SUSPEND",), "put back")
_LATE = Reason(("CONS-2-COMMIT", "WHOLE-BUSY"), "returned too late")
_KEPT = Reason(("REB-REM-2",), "keeps the lock")
_FORCED = Reason(("REB-REM-3",), "unlocked by force")
_WAITS = Reason(("WHOLE-BUSY",), "waits for the lock")
_IDLE = Reason(("BQ-LOCK-3",), "nobody is there")
#: The kind of state of an answer, by the first of these rules that fired, and which of the fired rules decide it.
_KINDS = {
    "WHOLE-MOVED": ("sent elsewhere", ("WHOLE-MOVED",)),
    "REB-REM-2": ("held, and lost", ("REB-REM-2", "WHOLE-BUSY")),
    "REB-REM-3": ("held, and lost", ("REB-REM-3",)),
    "WHOLE-BUSY": ("waits for a listener, or is late", ("WHOLE-BUSY", "WHOLE-LOCK")),
    "PULL-PRE-LOCK": ("locks are lost, or granted again", ("REB-LOCK-3", "PULL-PRE-LOCK", "CONS-2-COMMIT")),
    "CONS-2-COMMIT": ("a listener returns", ("CONS-2-AUTO", "CONS-2-COMMIT")),
    "REB-LOCK-4": ("unlocked at the end", ("REB-LOCK-4",)),
    "WHOLE-SHARE": ("queues change hands", ("WHOLE-SHARE",)),
}
_SAME = "the same queues", ("WHOLE-UNREAD", "WHOLE-LOCK", "REB-LOCK-3")
#: What the listeners do, by the first of these rules that fired.
_LISTENED = {
    "CONS-2-SUSPEND": ("CONS-2-SUSPEND",),
    "CONS-2": ("CONS-2",),
    "CONS-ORDER-1": ("CONS-ORDER-1", "WHOLE-FIRST", "WHOLE-COMMIT"),
}


class OrderlyListenerGroup(WholeGroupModel):
    """The behaviour of orderly consumers of one profile whose listeners fail or hold; every method is pure."""

    __slots__ = ("forces",)

    def __init__(self, start: StartModel) -> None:
        super().__init__(start)
        #: Is a queue unlocked in the end although a listener holds a message of it?
        self.forces = start.client.unlocks_idle

    def _let_go(self, group: WholeGroup, name: str, queue: int) -> WholeGroup:
        member = group.members[name]
        work = member.work
        held = {other: messages for other, messages in member.held.items() if other != queue}
        kept = member._replace(held=held, work=work._replace(inside=work.inside - {queue}))
        group = super()._let_go(with_member(group, name, kept), name, queue)
        if queue not in work.inside:
            return group
        member = group.members[name]
        work = member.work._replace(lost=work.lost | {queue}, clings=work.clings | {queue})
        group = with_member(group, name, member._replace(work=work))
        if self.forces:
            return with_reason(group, _FORCED)
        # its lock is renewed
        return with_reason(group._replace(kept={**group.kept, queue: name}), _KEPT)

    def _take(self, group: WholeGroup, name: str, queue: int, alone: bool) -> WholeGroup:
        if not self.forces and any(queue in member.work.clings for member in group.members.values()):
            return with_reason(group, _WAITS)
        group = super()._take(group, name, queue, alone)
        if queue in group.members[name].pulls:
            for other, member in group.members.items():
                work = member.work._replace(clings=member.work.clings - {queue})
                group = with_member(group, other, member._replace(work=work))
        return group

    def _pull(self, group: WholeGroup, name: str) -> tuple[WholeGroup, GivenMessages]:
        group, given = super()._pull(group, name)
        member = group.members[name]
        for queue in sorted(member.held.keys() - member.unlocked):
            group = self._run(group, name, queue)
        return group, given

    def _consumed(self, group: WholeGroup, name: str, queue: int, first: int, end: int) -> WholeGroup:
        """The messages were pulled; a run gives them."""
        member = group.members[name]
        held = {**member.held, queue: (member.held.get(queue, (first, end))[0], end)}
        return with_member(group, name, member._replace(held=held))

    def _run(self, group: WholeGroup, name: str, queue: int) -> WholeGroup:
        """Give the listener the messages of a queue, as far as it comes."""
        member = group.members[name]
        work, (first, end) = member.work, member.held[queue]
        if queue in work.lost:
            return with_reason(group, _OTHER_RUN)
        if member.listener == SUCCEEDS:
            lines = *work.lines, *((queue, offset) for offset in range(first, end))
            held = {other: messages for other, messages in member.held.items() if other != queue}
            memory = {**member.memory, queue: end}
            member = member._replace(held=held, memory=memory, work=work._replace(lines=lines))
            return with_reason(with_member(group, name, member), _CONSUMED)
        if member.listener == FAILS:
            work = work._replace(lines=(*work.lines, (queue, first), (queue, first)))
            return with_reason(with_member(group, name, member._replace(work=work)), _AGAIN)
        if queue not in work.inside:
            work = work._replace(inside=work.inside | {queue}, lines=(*work.lines, (queue, first)))
        return with_reason(with_member(group, name, member._replace(work=work)), _HELD)

    def _listens(self, group: WholeGroup, name: str, listener: str) -> WholeGroup:
        """The group after a member's listener does something else; the messages that it holds end that way."""
        member = group.members[name]
        if member.listener == FAILS != listener and member.held.keys() - member.unlocked - member.work.lost:
            group = with_reason(group, _ONCE_MORE)
        if listener != HOLDS:
            for queue in sorted(member.work.inside):
                group = _returned(group, name, queue, listener)
            group = _returned_late(group, name)
        return with_member(group, name, group.members[name]._replace(listener=listener))


def _returned(group: WholeGroup, name: str, queue: int, listener: str) -> WholeGroup:
    """The group after a listener returned the first message of a queue that its member still has."""
    member = group.members[name]
    work = member.work._replace(inside=member.work.inside - {queue})
    if listener == FAILS:
        return with_reason(with_member(group, name, member._replace(work=work)), _PUT_BACK)
    first, end = member.held[queue]
    held = {other: messages for other, messages in member.held.items() if other != queue}
    if first + 1 < end:
        held[queue] = first + 1, end
    member = member._replace(work=work, held=held, memory={**member.memory, queue: first + 1})
    return with_reason(with_member(group, name, member), _RETURNED)


def _returned_late(group: WholeGroup, name: str) -> WholeGroup:
    """The group after a member's listener returned what was held of queues that it has lost: that is discarded."""
    member = group.members[name]
    if not member.work.lost:
        return group
    kept = {queue: holder for queue, holder in group.kept.items() if queue not in member.work.clings}
    work = member.work._replace(lost=frozenset(), clings=frozenset())
    return with_reason(with_member(group._replace(kept=kept), name, member._replace(work=work)), _LATE)


class WholeOrderlyListenerModel(WholeOrderlyModel):
    """The observations of a group of orderly consumers of one profile; every method is pure."""

    __slots__ = ()

    def __init__(self, profile: Profile, topology: Topology) -> None:
        super().__init__(profile, topology)
        self._group = OrderlyListenerGroup(StartModel(profile, topology))

    def join(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member starts, unless it runs or queues may not move."""
        return super().join(state, member) if may_move(state) else self._look(state)

    def crash(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member's process is killed, if it runs, unless queues may not move."""
        return super().crash(state, member) if may_move(state) else self._look(state)

    def listen(self, state: WholePushState, member: int, listener: str) -> Answer[WholePushState]:
        """A member's listener succeeds, fails or holds from now on, if the member runs."""
        name = self._topology.members[member]
        if name not in state.group.members:
            return self._look(state)
        return self._look(state._replace(group=self._group.move(state.group, Listen(name, listener))))

    def leave(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member is shut down, if it runs and its listener does not hold, unless queues may not move."""
        who = state.group.members.get(self._topology.members[member])
        if (who is not None and who.listener == HOLDS) or not may_move(state):
            return self._without_end(state)
        return super().leave(state, member)

    def take_locks(self, state: WholePushState) -> Answer[WholePushState]:
        """The broker loses all locks to a client outside the group, unless a queue is between two members."""
        return super().take_locks(state) if not is_between(state) else self._look(state)

    def expire_locks(self, state: WholePushState) -> Answer[WholePushState]:
        """A minute passes at the broker, in which the members alone confirm their locks, unless a queue is between two
        members, each of which would ask for its lock."""
        if is_between(state):
            return self._look(state)
        group = state.group
        confirmed = Reason(("REB-LOCK-3",), "confirmed")
        reasons = (*group.reasons, confirmed) if any(member.pulls for member in group.members.values()) else ()
        return self._look(state._replace(group=group._replace(kept={}, reasons=reasons)))

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen of push consumers, then the holder of each lock, what listeners were given, in order, and what
        they were given once more in the queues that their members have."""
        state, seen, fired = self._seen(state)
        owners = tuple(place[0] if isinstance(place, tuple) else place for place in seen[0])
        locks = holder_numbers(state.group)
        given, again, group = _given_since(state.group, owners)
        why = _reason(frozenset(fired))
        return shown(state._replace(group=group), (*seen, locks, given, again), why)


def is_between(state: WholePushState) -> bool:
    """Has a queue been lost whose message a listener held, and has no member taken it since?

    A member whose queue comes back in that moment does not pull it for two minutes (REB-DROP-KEPT).
    """
    return any(member.work.clings for member in state.group.members.values())


def may_move(state: WholePushState) -> bool:
    """May queues change hands? Not while one is between two members, or its lock is lost and its message held."""
    held = any(member.work.inside & member.unlocked for member in state.group.members.values())
    return not held and not is_between(state)


def _given_since(group: WholeGroup, owners: tuple[Value, ...]) -> tuple[Given, Given, WholeGroup]:
    """What listeners were given since the last look, and once more; and the group after that."""
    latest: dict[MemberQueue, int] = {}
    lines: list[tuple[int, int, int]] = []
    for name, member in group.members.items():
        number = group.topology.members.index(name)
        latest |= {(number, queue): offset for queue, offset in member.work.latest.items()}
        lines += [(number, group.topology.places[queue][1], offset) for queue, offset in member.work.lines]
    given, again, latest = given_in_order(latest, lines)
    members: dict[str, WholeMember] = {}
    for name, member in group.members.items():
        number = group.topology.members.index(name)
        mine = {queue: offset for (who, queue), offset in latest.items() if who == number == owners[queue]}
        members[name] = member._replace(work=member.work._replace(lines=(), latest=mine))
    return given, tuple(one for one in again if one[0] == owners[one[1]]), group._replace(members=members)


def _reason(fired: frozenset[str]) -> Reason:
    """The reason of an answer: what decided it, and what listeners did beside that."""
    if not fired:
        return _IDLE
    listened = next((rules for rule, rules in _LISTENED.items() if rule in fired), ())
    if "PULL-NON-1" in fired:
        listened = (*listened, "PULL-NON-1")
    kind, decided = next((found for rule, found in _KINDS.items() if rule in fired), _SAME)
    if kind == _SAME[0] and listened:
        return Reason(listened, kind)
    decided = tuple(rule for rule in decided if rule in fired) or ("WHOLE-FIRST",)
    return Reason(tuple(dict.fromkeys((*listened, *decided))), kind)
