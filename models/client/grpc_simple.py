"""Simple consumers of RocketMQ 5's gRPC protocol, as a proxy sees them by their calls alone (GP-SIM-*).

A simple consumer does what its caller asks for: it receives once, acknowledges a message, or changes for how long it
is hidden. The proxy gives messages in the order in which they came, whatever queue a receive names. What is seen: what
receives ask for, the messages that were given, what became of them, how often each call was made, whether receives
go round the queues, and what the member says of itself.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from rocketmq_conformance.models.client.grpc_push import ACK, ACKNOWLEDGED, CHANGE, POLLING, QUEUES, RECEIVE, TERMINATED
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.rule import Answer, Level, Reason, Rule

_JAVA = "apache/rocketmq-clients {} @ java-5.2.0"
RULES = (
    Rule(
        "GP-SIM-1",
        "Receives of a simple consumer go round the queues of its route, one after the other.",
        _JAVA.format("SubscriptionLoadBalancer#takeMessageQueue"),
        level=Level.SHOULD,
    ),
    Rule(
        "GP-SIM-2",
        "A receive of a simple consumer asks for as many messages and as long an invisible time as its caller says, "
        "polls for as long as the consumer is to wait, and has nothing renewed by the proxy.",
        _JAVA.format("SimpleConsumerImpl#receive0, ConsumerImpl#wrapReceiveMessageRequest"),
    ),
    Rule(
        "GP-SIM-3",
        "A simple consumer makes a call once for each time that its caller asks for it, also when it is refused.",
        _JAVA.format("SimpleConsumerImpl#receive0, #ack0, #changeInvisibleDuration0"),
        level=Level.SHOULD,
    ),
    Rule(
        "GP-SIM-4",
        "A simple consumer acknowledges and changes a message by the handle with which it was received, or by that of "
        "the last change that was taken.",
        "apache/rocketmq-apis ChangeInvisibleDurationResponse.receipt_handle @ v2.0.4",
    ),
)

#: What the settings and the heartbeats of a simple consumer say.
SETTINGS = "simple consumer of the group, subscribed to all messages of the topic"
BEATS = "of the group, as a simple consumer"
#: How receives follow each other, once there were two.
IN_TURN = "in turn"
#: Of which message a handle was not the newest.
STALE = "by a stale handle"

#: Where a message is: free to be given, given, gone.
FREE, OUT, GONE = "free", "out", "gone"


class Message(NamedTuple):
    """A message, how often it was given, where it is, whether the member has it by a handle that counts, by one that
    does not count any more, or not at all (None), and whether a change of it was refused."""

    queue: int
    offset: int
    attempts: int = 0
    place: str = FREE
    counts: bool | None = None
    changed: bool = False


class GrpcSimpleState(NamedTuple):
    """The proxy and its member."""

    runs: bool = False
    messages: tuple[Message, ...] = ()
    #: The call that is refused, and how.
    refused: tuple[str, str] | None = None
    #: How many receives there were since the member joined: two are as good as more.
    receives: int = 0


class Seen(NamedTuple):
    """What a step shows beside what the member says of itself."""

    asked: tuple[Value, ...] = ()
    given: tuple[Value, ...] = ()
    ended: tuple[Value, ...] = ()
    call: str = ""


_NOTHING = Seen()


@cache
def _because(kind: str, *rules: str) -> Reason:
    return Reason(rules, kind)


class GrpcSimpleModel:
    """What a proxy sees of a simple consumer; every method is pure."""

    __slots__ = ()

    def initial(self) -> GrpcSimpleState:
        """Before anything happened."""
        return GrpcSimpleState()

    def join(self, state: GrpcSimpleState) -> Answer[GrpcSimpleState]:
        """The member starts, unless it runs."""
        return self._seen(state._replace(runs=True), "joins" if not state.runs else "runs")

    def leave(self, state: GrpcSimpleState) -> Answer[GrpcSimpleState]:
        """The member is shut down, if it runs: what it has it forgets."""
        messages = tuple(one._replace(counts=None) for one in state.messages)
        after, seen, why = self._seen(state._replace(runs=False, receives=0, messages=messages), "is shut down")
        assert isinstance(seen, tuple)
        how = TERMINATED if state.runs else None
        return after, (*seen, how), _because(why.kind, *why.rules, *(("GP-END-1",) if how else ()))

    def send(self, state: GrpcSimpleState, queue: int) -> Answer[GrpcSimpleState]:
        """A message arrives in a queue, or in every queue."""
        for one in QUEUES:
            if queue in (one, EVERY):
                offset = sum(message.queue == one for message in state.messages)
                state = state._replace(messages=(*state.messages, Message(one, offset)))
        return self._seen(state, "nothing happens")

    def receive(self, state: GrpcSimpleState, most: int, seconds: int) -> Answer[GrpcSimpleState]:
        """The member receives once, if it runs."""
        if not state.runs:
            return self._seen(state, "nothing happens")
        asked = (most, False, f"{POLLING:g} s", "*", f"{seconds} s")
        state = state._replace(receives=min(state.receives + 1, 2))
        given = [] if _is_refused(state, RECEIVE) else [one for one in state.messages if one.place == FREE][:most]
        taken = {one: one._replace(attempts=one.attempts + 1, place=OUT, counts=True, changed=False) for one in given}
        state = state._replace(messages=tuple(taken.get(one, one) for one in state.messages))
        shown = tuple(sorted((one.queue, one.offset, one.attempts + 1) for one in given))
        kind = "receives nothing" if not given else "receives again" if given[0].attempts else "receives"
        rules = ("GP-SIM-2", *(("GP-SIM-1",) if state.receives > 1 else ()))
        return self._seen(state, kind, *rules, seen=Seen((asked,), shown, (), RECEIVE))

    def acknowledge(self, state: GrpcSimpleState, queue: int, offset: int) -> Answer[GrpcSimpleState]:
        """The member acknowledges a message, if it has it."""
        return self._end(state, queue, offset, ACK, ACKNOWLEDGED, GONE)

    def change(self, state: GrpcSimpleState, queue: int, offset: int, seconds: int) -> Answer[GrpcSimpleState]:
        """The member changes for how long a message is hidden from now on, if it has it."""
        return self._end(state, queue, offset, CHANGE, f"comes again after {seconds} s", OUT)

    def time_is_up(self, state: GrpcSimpleState) -> Answer[GrpcSimpleState]:
        """The time of all messages is over that were given: they may be given again, and handles count no more."""
        messages = tuple(
            one._replace(place=FREE, counts=None if one.counts is None else False) if one.place == OUT else one
            for one in state.messages
        )
        return self._seen(state._replace(messages=messages), "nothing happens")

    def refuse(self, state: GrpcSimpleState, call: str, code: str) -> Answer[GrpcSimpleState]:
        """From now on a call is refused, and no other one."""
        return self._seen(state._replace(refused=(call, code)), "nothing happens")

    def mend(self, state: GrpcSimpleState) -> Answer[GrpcSimpleState]:
        """Every call is answered again."""
        return self._seen(state._replace(refused=None), "nothing happens")

    def look(self, state: GrpcSimpleState) -> Answer[GrpcSimpleState]:
        """Time passes: a heartbeat is due."""
        return self._seen(state, "nothing happens")

    # ----------------------------------------------------------------------------------------------------------

    def _end(
        self, state: GrpcSimpleState, queue: int, offset: int, call: str, how: str, place: str
    ) -> Answer[GrpcSimpleState]:
        one = next((one for one in state.messages if one[:2] == (queue, offset)), None)
        if one is None or one.counts is None:
            return self._seen(state, "has no such message")
        if _is_refused(state, call):
            tried = one._replace(changed=one.changed or call == CHANGE)
            return self._seen(_with(state, one, tried), f"{call} is refused", "GP-SIM-4", seen=Seen(call=call))
        if not one.counts:
            shown = ((queue, offset, f"{how} {STALE}"),)
            return self._seen(state, f"{call} is too late", "GP-SIM-4", seen=Seen(ended=shown, call=call))
        ended = one._replace(place=place, counts=place == OUT, changed=False)
        kind = f"{call} is taken{' after a change that was refused' if one.changed else ''}"
        shown = ((queue, offset, how),)
        return self._seen(_with(state, one, ended), kind, "GP-SIM-4", seen=Seen(ended=shown, call=call))

    def _seen(self, state: GrpcSimpleState, kind: str, *rules: str, seen: Seen = _NOTHING) -> Answer[GrpcSimpleState]:
        """What is seen once the member has done what it was asked for, and why."""
        parts: tuple[Value, ...] = (
            *seen[:3],
            ((seen.call, 1),) if seen.call else (),
            IN_TURN if state.receives > 1 else None,
            SETTINGS if state.runs else None,
            BEATS if state.runs else None,
        )
        always = ("GP-SIM-3", *(("GP-TEL-1", "GP-HB-1") if state.runs else ()))
        return state, parts, _because(kind, *rules, *always)


def _is_refused(state: GrpcSimpleState, call: str) -> bool:
    return state.refused is not None and state.refused[0] == call


def _with(state: GrpcSimpleState, one: Message, other: Message) -> GrpcSimpleState:
    return state._replace(messages=tuple(other if each is one else each for each in state.messages))
