"""Push consumers of RocketMQ 5's gRPC protocol, as a proxy sees them by their calls alone (GP-*).

The proxy assigns queues, answers settings, and hands messages out; a message that was given is acknowledged, or given
back for as long as the settings say. After each step the consumers have time to finish their work. A message that was
given back comes again only by a step of its own, so that an observation depends on no race. What is seen: the queues
for which each member has a receive open, what receives ask for, the messages that were given, what became of them,
what members say of themselves, and whether a call that was refused comes again, and not at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from rocketmq_conformance.models.client.grpc_forms import FORMS
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, SUCCEEDS
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.rule import Answer, Level, Reason, Rule

_JAVA = "apache/rocketmq-clients {} @ java-5.2.0"
RULES = (
    Rule(
        "GP-TEL-1",
        "A gRPC consumer's settings name its kind, its group and every subscription with its expression.",
        _JAVA.format("PushSubscriptionSettings#toProtobuf"),
    ),
    Rule(
        "GP-TEL-2",
        "Receives ask for as many messages as the settings that the proxy answered say, poll for as long as these say, "
        "and let the proxy renew what they get.",
        _JAVA.format("ProcessQueueImpl#getReceptionBatchSize, ConsumerImpl#wrapReceiveMessageRequest"),
        level=Level.SHOULD,
    ),
    Rule(
        "GP-HB-1",
        "Within 10 s of its start, and on, a gRPC consumer sends heartbeats with its group and its kind.",
        _JAVA.format("ClientManagerImpl#startUp"),
    ),
    Rule(
        "GP-ASG-1",
        "A push consumer has one receive open for each queue that it is assigned, and none for others.",
        _JAVA.format("PushConsumerImpl#syncProcessQueue"),
    ),
    Rule(
        "GP-ASG-2",
        "Within 5 s of a change of its assignment a push consumer begins to receive from queues that came, and stops "
        "receiving from those that went.",
        _JAVA.format("PushConsumerImpl#scanAssignments"),
    ),
    Rule(
        "GP-ASG-3",
        "A push consumer whose question for its assignment is refused goes on with the queues that it has.",
        _JAVA.format("PushConsumerImpl#scanAssignments"),
        level=Level.SHOULD,
    ),
    Rule(
        "GP-RCV-1",
        "When a receive has been answered, a push consumer sends the next one, and every message is given.",
        _JAVA.format("ProcessQueueImpl#onReceiveMessageResult"),
    ),
    Rule(
        "GP-RCV-2",
        "A push consumer whose receive is refused sends it again, for ever, and not at once.",
        _JAVA.format("ProcessQueueImpl#onReceiveMessageException"),
    ),
    Rule(
        "GP-ACK-1",
        "A message that the listener has consumed is acknowledged once, by the handle with which it was received.",
        _JAVA.format("ProcessQueueImpl#eraseMessage"),
    ),
    Rule(
        "GP-ACK-2",
        "A message for which the listener has failed is given back: it is to come again after the time that the "
        "settings have for this attempt.",
        _JAVA.format("ProcessQueueImpl#nackMessage"),
    ),
    Rule(
        "GP-ACK-3",
        "An acknowledgement that is refused is sent again, with the same handle, until it is taken; the same holds for "
        "what gives a message back.",
        _JAVA.format("ProcessQueueImpl#ackMessage, #changeInvisibleDuration"),
    ),
    Rule(
        "GP-ACK-4",
        "What is refused as INVALID_RECEIPT_HANDLE is not sent again: the message comes again.",
        _JAVA.format("ProcessQueueImpl#ackMessage, #changeInvisibleDuration"),
        level=Level.SHOULD,
    ),
    Rule(
        "GP-BODY-1",
        "A message is consumed whose checksum is the CRC32, MD5 or SHA-1 of its body in upper-case hexadecimal digits "
        "without leading zeros of a number, and whose body is plain or compressed by gzip.",
        _JAVA.format("MessageViewImpl#fromProtobuf"),
    ),
    Rule(
        "GP-BODY-2",
        "A message whose checksum is wrong is given to no listener: it is given back as one that failed.",
        _JAVA.format("StandardConsumeService#consume"),
    ),
    Rule(
        "GP-END-1",
        "A consumer that is shut down says so by NotifyClientTermination.",
        _JAVA.format("ClientImpl#notifyClientTermination"),
    ),
    Rule(
        "GP-END-2",
        "A push consumer that is shut down waits for its receives before it says that it ends, so that no message is "
        "given to one that is gone.",
        _JAVA.format("PushConsumerImpl#waitingReceiveRequestFinished"),
        level=Level.SHOULD,
    ),
)

#: The queue of an assignment that stands for all queues.
ANY_QUEUE = -1
QUEUES, MEMBERS = (0, 1), (0, 1)
#: Seconds for which receives poll, as the settings say.
POLLING = 2.0
#: What the proxy assigns to everyone, by the names in plans.
ASSIGNMENTS: Mapping[str, tuple[int, ...]] = {
    "any": (ANY_QUEUE,),
    "both": (0, 1),
    "first": (0,),
    "second": (1,),
    "none": (),
}
#: What the settings may have messages wait for that failed (s), by the names in plans; after the last one that stays.
#: The first two are for messages that the proxy is to give again, the others for those that wait at their member.
BACKOFFS: Mapping[str, tuple[float, ...]] = {
    "customized": (3.0, 7.0),
    "exponential": (1.0, 2.0, 4.0, 5.0),
    "short": (1.0, 2.0),
    "growing": (1.0, 2.0),
}
#: The same as settings have them: customised, or by the first, the longest and the factor; are they exponential?
SETTING_BACKOFFS: Mapping[str, tuple[tuple[float, ...], bool]] = {
    "customized": (BACKOFFS["customized"], False),
    "exponential": ((1.0, 5.0, 2.0), True),
    "short": (BACKOFFS["short"], False),
    "growing": ((1.0, 2.0, 3.0), True),
}
#: Calls that may be refused.
RECEIVE, ACK, CHANGE, ASSIGN, HEARTBEAT, FORWARD = (
    *("ReceiveMessage", "AckMessage", "ChangeInvisibleDuration"),
    *("QueryAssignment", "Heartbeat", "ForwardMessageToDeadLetterQueue"),
)
STALE_HANDLE = "INVALID_RECEIPT_HANDLE"
#: Refusals that a member repeats often enough to be seen.
REPEATED = frozenset({RECEIVE, ACK, CHANGE, FORWARD})

#: Where a message is: free to be given; with a member until those before it are done; on its way to be acknowledged,
#: given back or forwarded, which is refused for now; lost, as its handle was refused; waiting to come again; gone.
FREE, TAKEN, ACKING, BACKING, DYING, LOST, BACK, GONE = (
    *("free", "taken", "acking", "backing", "dying"),
    *("lost", "back", "gone"),
)
#: Where a message is that a member would take along when it goes.
HELD = frozenset({TAKEN, ACKING, BACKING, DYING})
#: By which call a message ends that is there.
CALLED_BY = {ACKING: ACK, BACKING: CHANGE, DYING: FORWARD}


class Message(NamedTuple):
    """A message, and how often it was given."""

    queue: int
    offset: int
    form: str = "ordinary"
    attempts: int = 0
    place: str = FREE


class Setting(NamedTuple):
    """How a case begins: what is assigned, how many messages a receive may take, what failed ones wait for, how often
    a message is tried, and whether those of a group are consumed in order."""

    assigned: str = "any"
    batch: int = 32
    backoff: str = "customized"
    attempts: int = 16
    fifo: bool = False


class GrpcPushState(NamedTuple):
    """The proxy, and the members that run with the queues that each has."""

    setting: Setting = Setting()
    begun: bool = False
    assigned: tuple[int, ...] = ASSIGNMENTS["any"]
    members: Mapping[int, tuple[int, ...]] = {}
    listener: str = SUCCEEDS
    messages: tuple[Message, ...] = ()
    #: The call that is refused, and how.
    refused: tuple[str, str] | None = None
    #: Has any member asked for messages?
    asked: bool = False


#: What a member says of itself in its settings and its heartbeats.
SETTINGS = "push consumer of the group, subscribed to all messages of the topic"
BEATS = "of the group, as a push consumer"
#: How a message ends that was consumed.
ACKNOWLEDGED = "acknowledged"
#: What comes of a call that is refused.
AGAIN = "again, after a while"
#: How a member says that it ends.
TERMINATED = "by NotifyClientTermination"

#: Rules that show in whatever members do.
_ALWAYS = ("GP-ASG-1", "GP-TEL-1", "GP-TEL-2", "GP-HB-1")


@cache
def _because(kind: str, *rules: str) -> Reason:
    return Reason(tuple(dict.fromkeys(rules)), kind)


@dataclass(slots=True)
class Work:
    """What members do until nothing is left to do: the messages afterwards, those that were given and that ended, what
    is to be said of it, and by which rules."""

    messages: list[Message]
    given: list[tuple[int, int, int]] = field(default_factory=list)
    ended: list[tuple[int, int, str]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)


class GrpcPushModel:
    """What a proxy sees of a group of push consumers; every method is pure."""

    __slots__ = ()

    def initial(self) -> GrpcPushState:
        """Before anything happened."""
        return GrpcPushState()

    def prepare(self, state: GrpcPushState, assigned: str, batch: int, backoff: str) -> Answer[GrpcPushState]:
        """Choose how the case begins; nothing happens once a member has joined."""
        return prepared(state, Setting(assigned, batch, backoff))

    def join(self, state: GrpcPushState, member: int) -> Answer[GrpcPushState]:
        """A member starts, unless it runs."""
        if member in state.members:
            return self._look(state)
        queues = () if _is_refused(state, ASSIGN) else state.assigned
        return self._look(
            state._replace(begun=True, members={**state.members, member: queues}),
            f"joins, {state.setting.batch} at a time",
        )

    def leave(self, state: GrpcPushState, member: int) -> Answer[GrpcPushState]:
        """A member is shut down, if it may go."""
        if not may_go(state, member):
            state, seen, why = self._look(state)
            return state, (*_parts(seen), None, None), why
        state, seen, why = self._look(_without(state, member), "is shut down", "GP-END-1", "GP-END-2")
        return state, (*_parts(seen), TERMINATED, 0), why

    def crash(self, state: GrpcPushState, member: int) -> Answer[GrpcPushState]:
        """A member's process is killed, if it may go."""
        return self._look(_without(state, member), "crashes") if may_go(state, member) else self._look(state)

    def send(
        self, state: GrpcPushState, queue: int, form: str = "ordinary", messages: int = 1
    ) -> Answer[GrpcPushState]:
        """Messages arrive in a queue, or in every queue."""
        for one in QUEUES:
            if queue in (one, EVERY):
                offset = sum(message.queue == one for message in state.messages)
                came = (Message(one, at, form) for at in range(offset, offset + messages))
                state = state._replace(messages=(*state.messages, *came))
        return self._look(state)

    def listen(self, state: GrpcPushState, listener: str) -> Answer[GrpcPushState]:
        """From now on every listener succeeds, or fails."""
        return self._look(state._replace(listener=listener))

    def come_again(self, state: GrpcPushState) -> Answer[GrpcPushState]:
        """The time of messages is over that were given back, or whose handle was refused."""
        messages = (one._replace(place=FREE) if one.place in (BACK, LOST) else one for one in state.messages)
        return self._look(state._replace(messages=tuple(messages)))

    def assign(self, state: GrpcPushState, assigned: str) -> Answer[GrpcPushState]:
        """The proxy assigns other queues from now on."""
        state = state._replace(assigned=ASSIGNMENTS[assigned])
        return self._look(*_reassigned(state))

    def refuse(self, state: GrpcPushState, call: str, code: str) -> Answer[GrpcPushState]:
        """From now on a call is refused, and no other one."""
        if _is_refused(state, call):
            return self._look(state._replace(refused=(call, code)))
        state, kind, *rules = _mended(state)
        return self._look(state._replace(refused=(call, code)), kind, *rules)

    def mend(self, state: GrpcPushState) -> Answer[GrpcPushState]:
        """Every call is answered again."""
        return self._look(*_mended(state))

    def look(self, state: GrpcPushState) -> Answer[GrpcPushState]:
        """Time passes: every timer of a member is due once."""
        return self._look(state)

    # ----------------------------------------------------------------------------------------------------------

    def _look(self, state: GrpcPushState, kind: str = "nothing happens", *rules: str) -> Answer[GrpcPushState]:
        """What is seen once the members have finished their work, and why."""
        work = self._work(state)
        more = [*rules, *work.rules]
        again = _repeats(state, work.messages)
        if again:
            more += ("GP-RCV-2",) if _is_refused(state, RECEIVE) else ()
        asked = state.asked or any(state.members.values())
        state = state._replace(messages=tuple(work.messages), asked=asked)
        seen: tuple[Value, ...] = (
            tuple(() if _is_refused(state, RECEIVE) else state.members.get(member, ()) for member in MEMBERS),
            ((state.setting.batch, True, f"{POLLING:g} s", "*"),) if asked else (),
            tuple(sorted(work.given)),
            tuple(work.ended),
            tuple(SETTINGS if member in state.members else None for member in MEMBERS),
            tuple(BEATS if member in state.members else None for member in MEMBERS),
            again,
            *self._more(work),
        )
        why = _because(", ".join((kind, *work.kinds)), *more, *(_ALWAYS if state.members else ("GP-ASG-1",)))
        return state, seen, why

    def _more(self, work: Work) -> tuple[Value, ...]:
        """What is seen beside that."""
        return ()

    def _work(self, state: GrpcPushState) -> Work:
        work = Work([])
        for message in state.messages:
            if message.place == FREE and receives(state, message.queue):
                message = _given(state, message)
                work.given.append((message.queue, message.offset, message.attempts))
                work.rules += ("GP-RCV-1", *_of_form(message))
            if message.place in (ACKING, BACKING):
                message, how, rule = _end(state, message)
                work.rules.append(rule)
                work.ended += [(message.queue, message.offset, how)] if how else []
            work.messages.append(message)
        if work.given:
            work.kinds.append("messages are given")
        if work.ended and work.ended[-1][2] != ACKNOWLEDGED and state.refused is None:
            tries = max(message.attempts for message in work.messages if message.place == BACK)
            times = min(tries, len(BACKOFFS[state.setting.backoff]))
            work.kinds.append(f"and back, {state.setting.backoff}, time {times}")
        work.ended.sort()
        return work


def _given(state: GrpcPushState, message: Message) -> Message:
    """A message that a member is given, whose listener does what listeners do now."""
    back = state.listener == FAILS or FORMS[message.form].corrupted
    return message._replace(attempts=message.attempts + 1, place=BACKING if back else ACKING)


def _of_form(message: Message) -> tuple[str, ...]:
    if message.form == "ordinary":
        return ()
    return ("GP-BODY-2",) if FORMS[message.form].corrupted else ("GP-BODY-1",)


def _end(state: GrpcPushState, message: Message) -> tuple[Message, str, str]:
    """A message whose end its member sends, what that shows, and by which rule."""
    back = message.place == BACKING
    if state.refused and state.refused[0] == CALLED_BY[message.place]:
        if state.refused[1] == STALE_HANDLE:
            return message._replace(place=LOST), "", "GP-ACK-4"
        return message, "", "GP-ACK-3"
    if not back:
        return message._replace(place=GONE), ACKNOWLEDGED, "GP-ACK-1"
    waits = BACKOFFS[state.setting.backoff]
    seconds = waits[min(message.attempts, len(waits)) - 1]
    return message._replace(place=BACK), f"comes again after {seconds:g} s", "GP-ACK-2"


def _repeats(state: GrpcPushState, messages: Sequence[Message]) -> str | None:
    """What comes of the call that is refused, where a member repeats it."""
    if state.refused is None:
        return None
    call = state.refused[0]
    if call == RECEIVE:
        return AGAIN if any(state.members.values()) else None
    return AGAIN if any(CALLED_BY.get(message.place) == call for message in messages) else None


def _mended(state: GrpcPushState) -> tuple[GrpcPushState, str, *tuple[str, ...]]:
    """The state in which no call is refused any more, what happens, and by which rules."""
    if state.refused is None:
        return state, "nothing happens"
    call, state = state.refused[0], state._replace(refused=None)
    if call == RECEIVE and any(state.members.values()):
        return state, "receives are taken again", "GP-RCV-2"
    if call == ASSIGN:
        return _reassigned(state)
    if any(message.place in CALLED_BY for message in state.messages):
        return state, "what was refused is taken", "GP-FIFO-4" if call == FORWARD else "GP-ACK-3"
    if keeps_lost(state):
        return state, "what was refused for good is not sent again", "GP-ACK-4"
    return state, "nothing happens"


def _reassigned(state: GrpcPushState) -> tuple[GrpcPushState, str, *tuple[str, ...]]:
    """The state once members have asked for their assignment, what happens, and by which rules."""
    if all(queues == state.assigned for queues in state.members.values()):
        return state, "nothing happens"
    if _is_refused(state, ASSIGN):
        return state, "the question is refused", "GP-ASG-3"
    kind = "queues are assigned" if state.assigned else "every queue goes"
    return state._replace(members=dict.fromkeys(state.members, state.assigned)), kind, "GP-ASG-2"


def prepared(state: GrpcPushState, setting: Setting) -> Answer[GrpcPushState]:
    """A case that begins so, unless it has begun."""
    if not state.begun:
        state = state._replace(setting=setting, assigned=ASSIGNMENTS[setting.assigned])
    return state, None, _because("before anyone joins", "GP-TEL-2")


def keeps_lost(state: GrpcPushState) -> bool:
    """Is there a message whose handle was refused, and that has not come again?"""
    return any(message.place == LOST for message in state.messages)


def may_go(state: GrpcPushState, member: int) -> bool:
    """May a member go: does it run, and is the end of no message refused, which it might take along?"""
    return member in state.members and all(one.place not in HELD for one in state.messages)


def _without(state: GrpcPushState, member: int) -> GrpcPushState:
    return state._replace(members={one: queues for one, queues in state.members.items() if one != member})


def receives(state: GrpcPushState, queue: int) -> bool:
    """Does any member receive from a queue?"""
    if _is_refused(state, RECEIVE):
        return False
    return any(queue in queues or ANY_QUEUE in queues for queues in state.members.values())


def _is_refused(state: GrpcPushState, call: str) -> bool:
    return state.refused is not None and state.refused[0] == call


def _parts(seen: object) -> tuple[Value, ...]:
    assert isinstance(seen, tuple)
    return seen
