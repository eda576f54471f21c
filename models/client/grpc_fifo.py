"""Push consumers of the gRPC protocol whose group is FIFO, as a proxy sees them (GP-FIFO-*).

The proxy gives the messages of a queue in order, and no others of it before those that it gave have ended. All
messages of a queue are of one message group. A member consumes them one after the other: one that fails waits at the
member and is consumed again, and goes to the dead-letter queue after the last attempt. What is seen beside what is
seen of any push consumer: which attempt a message was at that is forwarded.
"""

from __future__ import annotations

from rocketmq_conformance.models.client.grpc_forms import FORMS
from rocketmq_conformance.models.client.grpc_push import (
    ACKING,
    ACKNOWLEDGED,
    CALLED_BY,
    DYING,
    FORWARD,
    FREE,
    GONE,
    HELD,
    QUEUES,
    TAKEN,
    GrpcPushModel,
    GrpcPushState,
    Message,
    Setting,
    Work,
    prepared,
    receives,
)
from rocketmq_conformance.models.client.plan_words import FAILS
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.rule import Answer, Level, Rule

_JAVA = "apache/rocketmq-clients {} @ java-5.2.0"
RULES = (
    Rule(
        "GP-FIFO-1",
        "Messages of a message group are consumed in their order: the next one only after the call that ends the one "
        "before was taken.",
        _JAVA.format("FifoConsumeService#consumeIteratively"),
    ),
    Rule(
        "GP-FIFO-2",
        "A message of a FIFO group for which the listener has failed is not given back: it is consumed again after the "
        "time that the settings have for this attempt, and after the last attempt forwarded to the dead-letter queue.",
        _JAVA.format("ProcessQueueImpl#eraseFifoMessage"),
    ),
    Rule(
        "GP-FIFO-3",
        "A message of a FIFO group whose checksum is wrong is given to no listener, and forwarded to the dead-letter "
        "queue at once.",
        _JAVA.format("ProcessQueueImpl#discardFifoMessage"),
        level=Level.SHOULD,
    ),
    Rule(
        "GP-FIFO-4",
        "A message that could not be forwarded to the dead-letter queue is sent there again, until it is taken.",
        _JAVA.format("ProcessQueueImpl#forwardToDeadLetterQueue"),
    ),
    Rule(
        "GP-FIFO-5",
        "What forwards a message says at which attempt it was, and how many there may be.",
        _JAVA.format("PushConsumerImpl#wrapForwardMessageToDeadLetterQueueRequest"),
        level=Level.SHOULD,
    ),
)
#: How a message ends that goes to the dead-letter queue.
DEAD = "dead letter"


def begins(batch: int = 32, backoff: str = "short", attempts: int = 2) -> Setting:
    """How a case begins: each member has every queue."""
    return Setting("both", batch, backoff, attempts, fifo=True)


class GrpcFifoModel(GrpcPushModel):
    """What a proxy sees of the members of a FIFO group; every method is pure."""

    __slots__ = ()

    def initial(self) -> GrpcPushState:
        """Before anything happened."""
        return prepared(GrpcPushState(), begins())[0]

    def prepare_fifo(self, state: GrpcPushState, batch: int, backoff: str, attempts: int) -> Answer[GrpcPushState]:
        """Choose how the case begins; nothing happens once a member has joined."""
        return prepared(state, begins(batch, backoff, attempts))

    def send(
        self, state: GrpcPushState, queue: int, form: str = "ordinary", messages: int = 1
    ) -> Answer[GrpcPushState]:
        """Messages arrive; none whose checksum is wrong while nothing is forwarded: others may wait for it or not."""
        return super().send(state, queue, "ordinary" if cannot_forward(state) else form, messages)

    def refuse(self, state: GrpcPushState, call: str, code: str) -> Answer[GrpcPushState]:
        """From now on a call is refused, unless a message with a wrong checksum is to be forwarded."""
        return self._look(state) if call == FORWARD and waits_corrupted(state) else super().refuse(state, call, code)

    def _work(self, state: GrpcPushState) -> Work:
        work = Work([*state.messages])
        for queue in QUEUES:
            _consume(state, queue, work)
        # those whose checksum is wrong are forwarded beside others
        work.ended.sort(key=lambda one: (one[0], one[1] + 1 if _is_corrupted(_found(work, one)) else 0))
        work.kinds = [*dict.fromkeys(work.kinds)]
        return work

    def _more(self, work: Work) -> tuple[Value, ...]:
        """At which attempt messages were that were forwarded."""
        return (tuple(sorted((*one[:2], _found(work, one).attempts) for one in work.ended if one[2] == DEAD)),)


def cannot_forward(state: GrpcPushState) -> bool:
    """Is it refused to forward messages to the dead-letter queue?"""
    return state.refused is not None and state.refused[0] == FORWARD


def waits_corrupted(state: GrpcPushState) -> bool:
    """Is there a message with a wrong checksum that has not ended?"""
    return any(_is_corrupted(one) and one.place != GONE for one in state.messages)


def _consume(state: GrpcPushState, queue: int, work: Work) -> None:
    """Consume what there is of a queue, until a message cannot be ended."""
    messages = work.messages
    own = [at for at, one in enumerate(messages) if one.queue == queue]
    while receives(state, queue) or any(messages[at].place in HELD for at in own):
        taken = [at for at in own if messages[at].place in HELD]
        if not taken:
            taken = [at for at in own if messages[at].place == FREE][: state.setting.batch]
            for at in taken:
                messages[at] = messages[at]._replace(place=TAKEN, attempts=1)
                work.given.append((queue, messages[at].offset, 1))
                work.rules += ("GP-RCV-1", *(("GP-FIFO-1",) if at != taken[0] else ()))
        for at in taken:
            messages[at], how = _ended(state, messages[at], work)
            if not how:
                return
            work.ended.append((queue, messages[at].offset, how))
        if not taken:
            return


def _ended(state: GrpcPushState, message: Message, work: Work) -> tuple[Message, str]:
    """A message that its member consumes, or goes on to end; how it ends, or "" when it cannot yet."""
    if message.place == TAKEN:
        dies = state.listener == FAILS or _is_corrupted(message)
        message = message._replace(place=DYING if dies else ACKING)
        if dies and not _is_corrupted(message):
            message = message._replace(attempts=state.setting.attempts)
            work.rules += ("GP-FIFO-2",)
    dies = message.place == DYING
    work.rules += (("GP-FIFO-3" if _is_corrupted(message) else "GP-FIFO-5") if dies else "GP-ACK-1",)
    if state.refused and state.refused[0] == CALLED_BY[message.place]:
        work.rules += ("GP-FIFO-4" if dies else "GP-ACK-3", "GP-FIFO-1")
        work.kinds.append("the next one waits")
        return message, ""
    if dies:
        work.kinds.append(f"dead at attempt {message.attempts}")
    return message._replace(place=GONE), DEAD if dies else ACKNOWLEDGED


def _is_corrupted(message: Message) -> bool:
    return FORMS[message.form].corrupted


def _found(work: Work, ended: tuple[int, int, str]) -> Message:
    return next(one for one in work.messages if (one.queue, one.offset) == ended[:2])
