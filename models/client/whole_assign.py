"""A whole lite pull consumer whose application assigns queues, pauses and seeks, as its traffic and its polls show it.

It is polled all the time and commits by itself, so that what was polled is stored before anything else happens. No
other member has a part in what it does: it shares no queues, and asks for no list of members.
"""

from __future__ import annotations

from rocketmq_conformance.models.client.whole_lite import WholeLiteModel
from rocketmq_conformance.models.client.whole_moves import (
    AssignQueues,
    Join,
    Move,
    PauseQueues,
    ResumeQueues,
    Seek,
    SeekToBound,
)
from rocketmq_conformance.models.client.whole_push import NO_OWNER, Setting, WholePushState, shown
from rocketmq_conformance.models.rule import Answer, Reason

#: The rule that leads where several have fired, and what it says.
_LEADING = {
    "WHOLE-MOVED-LITE": "sent elsewhere",
    "WHOLE-SEEK-PAUSED": "a seek waits, or waited",
    "WHOLE-SEEK-ENDS": "sought a bound",
    "WHOLE-SEEK": "sought",
    "WHOLE-PAUSE-QUEUES": "paused or resumed",
    "WHOLE-ASSIGN": "assigned",
}
_CHOSEN = Reason(("WHOLE-ASSIGN",), "before it starts")
_UNASSIGNED = Reason(("WHOLE-ASSIGN",), "not assigned")
_WAITS = Reason(("WHOLE-PAUSE-QUEUES",), "messages wait")
_IDLE = Reason(("LITE-COMMIT",), "nothing is new")
_DESERTED = Reason(("WHOLE-ASSIGN",), "nobody is there")


class WholeAssignModel(WholeLiteModel):
    """The observations of a group of one lite pull consumer of one profile; every method is pure."""

    __slots__ = ()

    def prepare(
        self, state: WholePushState, queues: int, shape: str, stored: int, where: str
    ) -> Answer[WholePushState]:
        """Choose how the case begins; nothing happens once the consumer has started."""
        state, seen, _ = super().prepare(state, queues, shape, stored, where)
        return state, seen, _CHOSEN

    def start(self, state: WholePushState, member: int, queues: tuple[int, ...]) -> Answer[WholePushState]:
        """The consumer starts and assigns queues, unless it runs."""
        name = self._topology.members[member]
        if name in state.group.members:
            return self._look(state)
        group = self._group.move(state.group, Join(name))
        group = self._group.move(group, AssignQueues(queues, name))
        return self._look(state._replace(group=group, begun=True))

    def assign(self, state: WholePushState, member: int, queues: tuple[int, ...]) -> Answer[WholePushState]:
        """The consumer assigns queues, if it runs."""
        return self._does(state, member, AssignQueues(queues, self._topology.members[member]))

    def pause(self, state: WholePushState, member: int, queues: tuple[int, ...]) -> Answer[WholePushState]:
        """The consumer pauses queues, if it runs."""
        return self._does(state, member, PauseQueues(queues, self._topology.members[member]))

    def resume(self, state: WholePushState, member: int, queues: tuple[int, ...]) -> Answer[WholePushState]:
        """The consumer goes on with queues, if it runs."""
        return self._does(state, member, ResumeQueues(queues, self._topology.members[member]))

    def seek(self, state: WholePushState, member: int, queue: int, offset: int) -> Answer[WholePushState]:
        """The consumer seeks to an offset, if it runs."""
        return self._does(state, member, Seek(queue, offset, self._topology.members[member]))

    def seek_to_begin(self, state: WholePushState, member: int, queue: int) -> Answer[WholePushState]:
        """The consumer seeks to the begin of a queue, if it runs."""
        return self._does(state, member, SeekToBound(queue, False, self._topology.members[member]))

    def seek_to_end(self, state: WholePushState, member: int, queue: int) -> Answer[WholePushState]:
        """The consumer seeks to the end of a queue, if it runs."""
        return self._does(state, member, SeekToBound(queue, True, self._topology.members[member]))

    def _does(self, state: WholePushState, member: int, move: Move) -> Answer[WholePushState]:
        if self._topology.members[member] not in state.group.members:
            return self._look(state)
        return self._look(state._replace(group=self._group.move(state.group, move)))

    def _begun(self, setting: Setting) -> WholePushState:
        state = super()._begun(setting)
        return state._replace(group=state.group._replace(by_hand=True))

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen of lite pull consumers."""
        state, seen, fired = self._seen(state)
        unlocked = tuple(NO_OWNER for _ in seen[0])
        why = self._reason(state, tuple(rule for rule in fired if rule.startswith("WHOLE-")), bool(seen[1]))
        return shown(state, (*seen, unlocked, seen[1]), why)

    def _reason(self, state: WholePushState, fired: tuple[str, ...], given: bool) -> Reason:
        if given:
            fired = (*fired, "LITE-COMMIT", "LITE-POLL")
        leading = next((rule for rule in _LEADING if rule in fired), "")
        if leading:
            kind = f"{_LEADING[leading]}, and messages are polled" if given else _LEADING[leading]
            return Reason((leading, *(rule for rule in fired if rule != leading)), kind)
        if given:
            return Reason(fired, "messages are polled")
        if not state.group.members:
            return _DESERTED
        (member,) = state.group.members.values()
        logs = state.group.broker.logs
        paused = member.pulls.keys() & member.paused
        if any(logs[self._topology.places[queue]].max > member.pulls[queue] for queue in paused):
            return _WAITS
        return _UNASSIGNED if len(member.assigned) < state.setting.queues else _IDLE
