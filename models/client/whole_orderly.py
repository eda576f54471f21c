"""A group of whole orderly consumers, as an observer sees it from their traffic, and from what listeners are given.

Beside what ``whole_push`` shows there are locks: each queue is pulled by the member that has its lock at the broker.
A member that crashes leaves its locks behind until a minute has passed. When a broker restarts it has lost all locks,
and a client outside the group can be faster than the members: these keep their queues without pulling them, until
their lock timers are granted the locks again.
"""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole import ORDERLY
from rocketmq_conformance.models.client.whole_group_state import WholeGroup
from rocketmq_conformance.models.client.whole_locks import lock_holders, locks_taken
from rocketmq_conformance.models.client.whole_moves import LOCK, STRANGER
from rocketmq_conformance.models.client.whole_push import NO_OWNER, WholePushModel, WholePushState, shown
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

#: The holder of a lock that is no member.
OUTSIDER = -2
#: The rules of whole consumers, and of the locks that their traffic shows.
_SHOWN = ("WHOLE-", "REB-LOCK-", "PULL-PRE-LOCK")
_IDLE = Reason(("BQ-LOCK-3",), "nobody is there")


class WholeOrderlyModel(WholePushModel):
    """The observations of a group of orderly consumers of one profile; every method is pure."""

    __slots__ = ()

    def __init__(self, profile: Profile, topology: Topology) -> None:
        super().__init__(profile, topology, ORDERLY)

    def take_locks(self, state: WholePushState) -> Answer[WholePushState]:
        """The broker loses all locks, and a client outside the group takes those of the topic."""
        return self._look(state._replace(group=locks_taken(state.group)))

    def expire_locks(self, state: WholePushState) -> Answer[WholePushState]:
        """A minute passes at the broker, in which the members alone confirm their locks."""
        state, seen, why = self._look(state._replace(group=state.group._replace(kept={})))
        if any(state.group.members.values()) and "REB-LOCK-3" not in why.rules:
            why = replace(why, rules=(*why.rules, "REB-LOCK-3"))
        return state, seen, why

    def refuse_locks(self, state: WholePushState, code: str) -> Answer[WholePushState]:
        """From now on requests for locks are refused."""
        return self.fail(state, LOCK, code)

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen of push consumers, then the holder of each lock, and what listeners were given, in order."""
        state, seen, fired = self._seen(state)
        locks = holder_numbers(state.group)
        why = _reason(tuple(rule for rule in fired if rule.startswith(_SHOWN)), bool(seen[1]))
        return shown(state, (*seen, locks, seen[1]), why)


def holder_numbers(group: WholeGroup) -> tuple[int, ...]:
    """The numbers by which answers name the holders of the locks."""
    numbers = {STRANGER: OUTSIDER, "": NO_OWNER, **{name: at for at, name in enumerate(group.topology.members)}}
    return tuple(numbers[name] for name in lock_holders(group))


def _reason(fired: tuple[str, ...], given: bool) -> Reason:
    if given:
        fired = (*fired, "WHOLE-COMMIT", "CONS-ORDER-1")
    if "WHOLE-MOVED" in fired:
        return Reason(fired, "sent elsewhere")
    if "PULL-PRE-LOCK" in fired:
        return Reason(fired, "locks are lost, or granted again")
    if "WHOLE-RESET" in fired:
        return Reason(fired, "told an offset")
    if "WHOLE-SHARE" in fired:
        return Reason(fired, "queues change hands")
    if "REB-LOCK-4" in fired:
        return Reason(fired, "unlocked at the end")
    if given:
        return Reason(fired, "messages are given")
    return Reason(fired, "nothing is new") if fired else _IDLE
