"""A group of whole lite pull consumers that commit on demand alone, as their traffic and what is polled show them.

Nothing is stored by a timer here, so that a commit shows whenever it is asked for (WHOLE-DEMAND): before it the broker
has what it had, and after it exactly what was polled. A member that ends, or lets go of a queue, takes what it has not
committed along, and whoever has the queue next begins at what is stored: messages are given again, or, where nothing is
stored, ConsumeFromWhere decides anew.
"""

from __future__ import annotations

from rocketmq_conformance.models.client.whole_lite import WholeLiteModel
from rocketmq_conformance.models.client.whole_moves import CommitNow
from rocketmq_conformance.models.client.whole_push import NO_OWNER, Setting, WholePushState, shown
from rocketmq_conformance.models.rule import Answer, Reason

_COMMITTED = Reason(("WHOLE-DEMAND",), "committed")
_UNCHANGED = Reason(("WHOLE-DEMAND",), "nothing new to commit")
_IDLE = Reason(("WHOLE-DEMAND",), "no member is there")


class WholeCommitModel(WholeLiteModel):
    """The observations of a group of lite pull consumers of one profile; every method is pure."""

    __slots__ = ()

    def commit(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member is asked to commit, if it runs."""
        name = self._topology.members[member]
        if name not in state.group.members:
            return self._look(state)
        before = state.group.broker.stored
        state, seen, _ = self._look(state._replace(group=self._group.move(state.group, CommitNow(name))))
        return state, seen, _UNCHANGED if state.group.broker.stored == before else _COMMITTED

    def _begun(self, setting: Setting) -> WholePushState:
        state = super()._begun(setting)
        return state._replace(group=state.group._replace(on_demand=True))

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen of lite pull consumers."""
        state, seen, fired = self._seen(state)
        unlocked = tuple(NO_OWNER for _ in seen[0])
        why = _reason(tuple(rule for rule in fired if rule.startswith("WHOLE-")), bool(seen[1]))
        return shown(state, (*seen, unlocked, seen[1]), why)


def _reason(fired: tuple[str, ...], given: bool) -> Reason:
    if not fired:
        return _IDLE
    if given:
        fired = (*fired, "LITE-POLL")
    given_too = ", and messages are polled" if given else ""
    if "WHOLE-MOVED-LITE" in fired:
        return Reason(fired, "sent elsewhere")
    if "WHOLE-SEEK" in fired:
        return Reason(fired, f"sought{given_too}")
    if "WHOLE-SHARE" in fired:
        return Reason(fired, f"queues change hands{given_too}")
    return Reason(fired, "polled, and not stored" if given else "nothing is new")
