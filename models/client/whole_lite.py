"""A group of whole lite pull consumers that are polled all the time, as their traffic and what is polled show them.

They differ from push consumers (``whole_push``) in what they do when they are sent elsewhere: the next pull asks
there, and nothing is stored before a message was polled. What was polled is committed by timers.
"""

from __future__ import annotations

from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole import LITE
from rocketmq_conformance.models.client.whole_moves import Seek
from rocketmq_conformance.models.client.whole_push import NO_OWNER, WholePushModel, WholePushState, shown
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

_DESERTED = Reason(("WHOLE-SHARE",), "nobody is there")
_IDLE = Reason(("LITE-COMMIT",), "nothing is new")


class WholeLiteModel(WholePushModel):
    """The observations of a group of lite pull consumers of one profile; every method is pure."""

    __slots__ = ()

    def __init__(self, profile: Profile, topology: Topology) -> None:
        super().__init__(profile, topology, LITE)

    def seek(self, state: WholePushState, member: int, queue: int, offset: int) -> Answer[WholePushState]:
        """A member seeks, if it runs and the topic has the queue."""
        name = self._topology.members[member]
        if name not in state.group.members or queue >= state.setting.queues:
            return self._look(state)
        return self._look(state._replace(group=self._group.move(state.group, Seek(queue, offset, name))))

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen of push consumers, then no locks, and what was polled."""
        state, seen, fired = self._seen(state)
        unlocked = tuple(NO_OWNER for _ in seen[0])
        why = _reason(tuple(rule for rule in fired if rule.startswith("WHOLE-")), bool(seen[1]))
        if why is None:
            why = _IDLE if state.group.members else _DESERTED
        return shown(state, (*seen, unlocked, seen[1]), why)


def _reason(fired: tuple[str, ...], given: bool) -> Reason | None:
    if given:
        fired = (*fired, "LITE-COMMIT", "LITE-POLL")
    if "WHOLE-MOVED-LITE" in fired:
        return Reason(fired, "sent elsewhere")
    if "WHOLE-SEEK" in fired:
        return Reason(fired, "sought")
    if "WHOLE-RESET-LITE" in fired:
        return Reason(fired, "told an offset")
    if "WHOLE-SHARE" in fired:
        return Reason(fired, "queues change hands")
    if given:
        return Reason(fired, "messages are polled")
    return Reason(fired, "nothing is new") if fired else None
