"""Whole push consumers under load: listeners that do not return from one message, queues that fill up, and queues in
which messages keep arriving (WHOLE-LOAD-*).

A listener hangs with one message and returns from every other one. While it does, the offset of that message is the
one that is committed, whatever is consumed behind it; so the message, and what is behind it, is given once more to
whoever takes the queue meanwhile, and after a reset. What the listener returns later for a queue that was lost, or
reset, is discarded.

====================================  ==========================================================================
while a listener hangs                the queue of its message
====================================  ==========================================================================
messages arrive                       is pulled on, and keeps the offset of the message
another member takes it               begins at the message
its member is shut down, or crashes   the same
it is reset                           begins where the reset says; the message is given again if it is behind that
half a minute passes                  nothing is given again
too many messages arrive              is not pulled before listeners return
====================================  ==========================================================================
"""

from __future__ import annotations

from rocketmq_conformance.models.client.whole_moves import Flood, Free, Hang, Load, Stay
from rocketmq_conformance.models.client.whole_push import WholePushModel, WholePushState, shown
from rocketmq_conformance.models.rule import Answer, Level, Reason, Rule

RULES = (
    Rule(
        "WHOLE-LOAD-HANG",
        "While a listener does not return from a message, the other queues of its member go on, and so do pulls of its "
        "own one, as long as there are threads. Of that queue the offset of the message is committed, whatever is "
        "consumed behind it, until the listener returns.",
        "ProcessQueue#removeMessage, ConsumeMessageConcurrentlyService#processConsumeResult @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-LOAD-END",
        "A consumer that is shut down while a listener is busy with a message commits the offset of that message: "
        "the next owner of the queue is given it, and what came behind it, again.",
        "DefaultMQPushConsumerImpl#shutdown, ProcessQueue#removeMessage @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-LOAD-LONG",
        "A message whose listener does not return is neither given once more nor sent back before consumeTimeout is "
        "over, a quarter of an hour by default.",
        "ProcessQueue#cleanExpiredMsg, DefaultMQPushConsumer#getConsumeTimeout @ 4.0.0, 4.9.8, 5.3.3",
        level=Level.SHOULD,
    ),
    Rule(
        "WHOLE-LOAD-STOP",
        "A queue of which listeners have not returned from more than a thousand messages, or from messages that are "
        "more than two thousand offsets apart, is not pulled until they have. Then it is pulled on from where it was: "
        "nothing is lost, and nothing is given again.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.9.8, 5.3.3",
        level=Level.SHOULD,
    ),
    Rule(
        "WHOLE-LOAD-FAIR",
        "While messages keep arriving in one queue, those of the other queues are given, too.",
        "PullMessageService#run, #executePullRequestImmediately @ 4.0.0, 4.9.8, 5.3.3",
    ),
)

#: The first of these that fired leads an answer's reason, and says of which kind it is.
_LEADING = {
    "WHOLE-LOAD-STOP": "too many messages",
    "WHOLE-LOAD-FAIR": "a steady load",
    "WHOLE-LOAD-END": "shut down while a listener hangs",
    "WHOLE-RESET": "told an offset",
    "WHOLE-LOAD-LONG": "a listener hangs for long",
    "CONS-1-DROPPED": "hung, and lost",
    "WHOLE-LOAD-HANG": "a listener hangs, or returns",
    "WHOLE-SHARE": "queues change hands",
}
_IDLE = Reason(("WHOLE-COMMIT",), "nothing is new")


def has_members(state: object) -> bool:
    """Does a member run, and is every queue pulled?"""
    return isinstance(state, WholePushState) and bool(state.group.members) and is_dry(state)


def is_dry(state: object) -> bool:
    """Is no queue left alone as there are too many messages of it?"""
    return isinstance(state, WholePushState) and not state.group.flooded


def nothing_hangs(state: object) -> bool:
    """Does a member run, and has every listener returned, also from messages of queues that were lost?"""
    return isinstance(state, WholePushState) and has_members(state) and not _busy(state)


def hangs(state: object) -> bool:
    """Does a listener hang with a message of a queue that its member has, which is pulled?"""
    return isinstance(state, WholePushState) and bool(hung_queues(state)) and is_dry(state)


def is_busy(state: object) -> bool:
    """Has a listener not returned?"""
    return isinstance(state, WholePushState) and _busy(state)


def hung_queues(state: WholePushState) -> list[int]:
    """The numbers of the queues with a message that a listener hangs with."""
    topology = state.group.topology
    return [topology.places[queue][1] for member in state.group.members.values() for queue in member.hung]


def _busy(state: WholePushState) -> bool:
    members = state.group.members.values()
    return bool(state.group.flooded) or any(member.hung or member.discards for member in members)


class WholeLoadModel(WholePushModel):
    """The observations of a group of consumers of one profile; every method is pure."""

    __slots__ = ()

    def hang(self, state: WholePushState, queue: int) -> Answer[WholePushState]:
        """A message arrives in a queue from which its listener does not return."""
        return self._look(state._replace(group=self._group.move(state.group, Hang(queue))))

    def free(self, state: WholePushState) -> Answer[WholePushState]:
        """All listeners return."""
        return self._look(state._replace(group=self._group.move(state.group, Free())))

    def stay(self, state: WholePushState) -> Answer[WholePushState]:
        """More than half a minute passes while a listener hangs."""
        return self._look(state._replace(group=self._group.move(state.group, Stay())))

    def fill(self, state: WholePushState, queue: int) -> Answer[WholePushState]:
        """No listener returns from now on, and more messages arrive in a queue than a member has at a time."""
        return self._look(state._replace(group=self._group.move(state.group, Flood(queue))))

    def stretch(self, state: WholePushState) -> Answer[WholePushState]:
        """So many messages are consumed behind one with which a listener hangs that those which come next, from which
        no listener returns, are too far from it."""
        if not hangs(state):
            return self._look(state)
        move = Flood(hung_queues(state)[0], behind=True)
        return self._look(state._replace(group=self._group.move(state.group, move)))

    def load(self, state: WholePushState, queue: int) -> Answer[WholePushState]:
        """Messages keep arriving in a queue, and one arrives in each of the others."""
        return self._look(state._replace(group=self._group.move(state.group, Load(queue))))

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen of push consumers; what decided it stands first among its reasons."""
        before = state.group.broker.stored
        state, seen, fired = self._seen(state)
        rules = [rule for rule in fired if rule.startswith(("WHOLE-", "REB-SVC-", "CONS-1-DROPPED"))]
        if seen[1]:
            rules += ["WHOLE-FIRST", "WHOLE-COMMIT"]
        if state.group.broker.stored != before and seen[1]:
            rules.append("TIMER-PERSIST")
        if not rules:
            return shown(state, seen, _IDLE)
        led = next((rule for rule in _LEADING if rule in rules), rules[0])
        why = Reason(tuple(dict.fromkeys((led, *rules))), _LEADING.get(led, "messages are given"))
        return shown(state, seen, why)
