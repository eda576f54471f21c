"""A group of whole push consumers of which one may be suspended, as their traffic shows it.

One member at a time is suspended (WHOLE-PAUSE). It stays in the group, so that its queues are not taken, and has no
rounds of rebalance, so that it takes none, and asks where none begins: the queues of a member that goes meanwhile wait
until it is resumed. While one is suspended others neither come nor, unless
it is alone then, go: queues would change hands that it keeps and goes on to commit, and what is stored would depend on
whose timer was last.
"""

from __future__ import annotations

from rocketmq_conformance.models.client.whole_moves import Resume, Suspend
from rocketmq_conformance.models.client.whole_push import Seen, WholePushModel, WholePushState, reason_of, shown
from rocketmq_conformance.models.rule import Answer, Reason

_SUSPENDED = Reason(("WHOLE-PAUSE",), "suspended", beneath=("PULL-PRE-1",))
_WAITS = Reason(("WHOLE-PAUSE",), "messages wait", beneath=("PULL-PRE-1",))
_IDLE = Reason(("WHOLE-PAUSE",), "nothing waits")
_RESUMED = Reason(("WHOLE-PAUSE",), "resumed")
_BROUGHT = Reason(("WHOLE-PAUSE", "WHOLE-FIRST", "WHOLE-COMMIT"), "resumed, and given what waited")
_UNTAKEN = Reason(("REB-SVC-PAUSE",), "the queues of a member that is gone wait")
_TAKEN = Reason(("REB-SVC-PAUSE", "WHOLE-PAUSE", "WHOLE-SHARE"), "resumed, and takes them")


def suspended(state: WholePushState) -> str | None:
    """The member that is suspended."""
    return next((name for name, member in state.group.members.items() if member.suspended), None)


def may_go(state: WholePushState, member: int) -> bool:
    """May a member go: is no other one suspended, or does that one alone remain?"""
    name, rest = suspended(state), state.group.members.keys() - {state.group.topology.members[member]}
    return name is None or name not in rest or len(rest) == 1


class WholePauseModel(WholePushModel):
    """The observations of a group of consumers of one profile; every method is pure."""

    __slots__ = ()

    def join(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member starts, unless it runs or one is suspended."""
        return self._look(state) if suspended(state) else super().join(state, member)

    def leave(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member is shut down, if it runs and may go."""
        return super().leave(state, member) if may_go(state, member) else self._without_end(state)

    def crash(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member's process is killed, if it runs and may go."""
        return super().crash(state, member) if may_go(state, member) else self._look(state)

    def pause(self, state: WholePushState, member: int, suspends: bool) -> Answer[WholePushState]:
        """A member that runs is suspended, unless another one is, or is resumed."""
        name = self._topology.members[member]
        who = state.group.members.get(name)
        if who is None or suspended(state) not in (None, name) or who.suspended == suspends:
            return self._look(state)
        group = self._group.move(state.group, Suspend(name) if suspends else Resume(name))
        state, seen, _ = self._seen(state._replace(group=group))
        if suspends:
            return self._asking(state, seen, _SUSPENDED)
        if state.group.members[name].pulls.keys() != who.pulls.keys():
            return self._asking(state, seen, _TAKEN)
        return self._asking(state, seen, _BROUGHT if seen[1] else _RESUMED)

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen, and why; a suspended member is the reason, unless others are given messages."""
        state, seen, fired = self._seen(state)
        members, logs = state.group.members, state.group.broker.logs
        name, given = suspended(state), bool(seen[1])
        if name is None or given:
            return self._asking(state, seen, reason_of(fired, given))
        if len({queue for member in members.values() for queue in member.pulls}) < len(seen[2]):
            return self._asking(state, seen, _UNTAKEN)
        kept = members[name].pulls.items()
        waiting = any(logs[self._topology.places[queue]].max > offset for queue, offset in kept)
        return self._asking(state, seen, _WAITS if waiting else _IDLE)

    @staticmethod
    def _asking(state: WholePushState, seen: Seen, why: Reason) -> Answer[WholePushState]:
        """An answer, which says of a suspended member that it has asked for no stored offset."""
        return shown(state, (*seen, None if suspended(state) is None else False), why)
