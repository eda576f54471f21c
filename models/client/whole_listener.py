"""A group of whole push consumers whose listeners fail or hold what they are given, as their traffic shows them.

Beside what ``whole_push`` shows there is the group's retry topic: what a listener fails is sent back to the broker,
waits there for its delay level, and comes again by that topic's only queue, to whoever has it. A listener that holds
messages does not return: they are not committed, also when the next pull finds nothing and names the offset behind
them (PULL-NON-1), and whoever takes the queue over is given them again.
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.client.plan_words import EVERY, HOLDS, NOTHING
from rocketmq_conformance.models.client.start import TIMESTAMP
from rocketmq_conformance.models.client.whole_moves import CLOSING, RETRIES, SEND_BACK, Deliver, Fail, Listen, Mend
from rocketmq_conformance.models.client.whole_push import NO_OWNER, Setting, WholePushModel, WholePushState, shown
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "WHOLE-BACK-ALONE",
        "A request to take a message back that is refused by any code, or not answered, or whose connection is closed, "
        "concerns that message alone: a copy of it is sent, once, and others are taken back.",
        "DefaultMQPushConsumerImpl#sendMessageBack, MQClientAPIImpl#consumerSendMessageBack @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "WHOLE-BACK-ONCE",
        "The answer to a request to take a message back that comes a second late, or more than once, counts as one in "
        "time: no copy of the message is sent, and the next one is not taken for answered.",
        "MQClientAPIImpl#consumerSendMessageBack @ 4.0.0, 4.9.8, 5.5.0; "
        "NettyRemotingAbstract#processResponseCommand @ 4.9.8, 5.3.3",
    ),
)
_SHOWN = ("WHOLE-", "CONS-", "PULL-NON-1")
#: Rules that decide what is seen, the first that fires; the kind of state, and what it is when messages come again.
_DECIDING = (
    ("WHOLE-BACK-ALONE", "one alone is sent back as a copy", "sent back again, and one alone as a copy"),
    (
        "WHOLE-BACK-ONCE",
        "one alone is answered late, or twice",
        "sent back again, and one alone answered late, or twice",
    ),
    ("CONS-BACK-COPY", "sent back as copies", "sent back again"),
    ("CONS-BACK", "sent back", "sent back again"),
    ("CONS-1-DROPPED", "held, and lost", "held, and lost"),
    ("CONS-1", "held", "come again, and held"),
    ("WHOLE-MOVED", "sent elsewhere", "sent elsewhere"),
)
_IDLE = Reason(("CONS-1",), "nothing is new")
_COMING = Reason(("CONS-1-BACK",), "nobody is there")


def takes_back(state: WholePushState) -> bool:
    """Does the broker take messages back?"""
    return SEND_BACK not in state.group.fails


def takes_back_of_one(state: WholePushState) -> bool:
    """Does it, and does one member alone run? Others would take the queues of one that loses its connection."""
    return takes_back(state) and len(state.group.members) == 1


class WholeListenerModel(WholePushModel):
    """The observations of a group of consumers of one profile; every method is pure."""

    __slots__ = ()

    def listen(self, state: WholePushState, member: int, listener: str) -> Answer[WholePushState]:
        """A member's listener succeeds, fails or holds from now on, if the member runs."""
        name = self._topology.members[member]
        if name not in state.group.members:
            return self._look(state)
        return self._look(state._replace(group=self._group.move(state.group, Listen(name, listener))))

    def leave(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member is shut down, if it runs and its listener does not hold."""
        who = state.group.members.get(self._topology.members[member])
        if who is not None and who.listener == HOLDS:
            return self._without_end(state)
        return super().leave(state, member)

    def deliver(self, state: WholePushState) -> Answer[WholePushState]:
        """So much time passes at the broker that everything that was sent back comes again."""
        return self._look(state._replace(group=self._group.move(state.group, Deliver())))

    def refuse(self, state: WholePushState, refuses: bool) -> Answer[WholePushState]:
        """The broker refuses requests to take a message back from now on, or takes them again."""
        move = Fail(SEND_BACK) if refuses else Mend()
        return self._look(state._replace(group=self._group.move(state.group, move)))

    def refuse_one(self, state: WholePushState, queue: int, answer: str) -> Answer[WholePushState]:
        """A message arrives in every queue, and the request to take that of one queue back is answered in this way."""
        failing = state.group._replace(fails={SEND_BACK: Fail(SEND_BACK, answer, queue=queue)})
        after, seen, why = self.send(state._replace(group=failing), EVERY)
        group = after.group._replace(fails={})
        if answer in CLOSING and "WHOLE-BACK-ALONE" in why.rules:
            group = group._replace(members={name: one._replace(cut=True) for name, one in group.members.items()})
        return after._replace(group=group), seen, why

    def _begun(self, setting: Setting) -> WholePushState:
        state = super()._begun(setting)
        broker = state.group.broker
        broker = broker._replace(topics={**broker.topics, self._topology.retry_topic: Topic.of(1)})
        return state._replace(group=state.group._replace(broker=broker))

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen of push consumers, then the retry queue: its owner and offset, where the group begins there
        (``retry_begins``), and the number of messages that wait at the broker to come again."""
        state, seen, fired = self._seen(state)
        group, topology = state.group, self._topology
        queue = topology.topic_queues[topology.retry_topic][0]
        owner = next((name for name, member in group.members.items() if queue in member.pulls), None)
        place: tuple[Value, ...] = NO_OWNER, NOTHING
        if owner is not None:
            place = topology.members.index(owner), group.members[owner].pulls[queue]
        stored = retry_begins(group.where, group.broker.stored.get(topology.stored_keys[queue], NOTHING))
        why = _reason(tuple(rule for rule in fired if rule.startswith(_SHOWN)), seen[1], group.delayed)
        return shown(state, (*seen, (*place, stored, group.delayed)), why)


def retry_begins(where: str, stored: int) -> int:
    """Where a group begins its retry queue that has stored this (-1: nothing): at 0 without an offset, whether its
    members commit that or not; with TIMESTAMP at max (START-PUSH-1), and so -1 is no 0 there."""
    return stored if where == TIMESTAMP else max(stored, 0)


def _reason(fired: tuple[str, ...], given: tuple[tuple[int, int, int, int], ...], delayed: int) -> Reason:
    """Why a step shows what it shows; the rule that decides it stands first."""
    again = any(queue == RETRIES for _, queue, _, _ in given)
    for rule, state, state_again in _DECIDING:
        if rule in fired:
            return Reason(_led_by(rule, fired), state_again if again else state)
    if again:
        return Reason(_led_by("CONS-1-BACK", fired), "come again")
    if "WHOLE-SHARE" in fired:
        return Reason(_led_by("WHOLE-SHARE", fired), "queues change hands")
    if given:
        return Reason(_led_by("WHOLE-COMMIT", fired), "messages are given")
    if "PULL-NON-1" in fired:
        return Reason(_led_by("PULL-NON-1", fired), "held, and pulls find nothing")
    if fired:
        return Reason(fired, "nothing is new")
    return _COMING if delayed else _IDLE


def _led_by(rule: str, fired: tuple[str, ...]) -> tuple[str, ...]:
    return (rule, *(one for one in fired if one != rule))
