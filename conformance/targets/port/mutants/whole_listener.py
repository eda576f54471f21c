"""Mutants of the port's whole push consumers whose listeners fail or hold, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import RETRY_TOPIC, Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_listener import Batch, WholeListener
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.client.plan_words import FAILS, SUCCEEDS
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import BROKER, ORDINARY

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-listener")
_BACK = int(Request.CONSUMER_SEND_MSG_BACK)


def is_retried(queue: int) -> bool:
    """Is this the queue of the retry topic?"""
    return ORDINARY.queues[queue].topic == RETRY_TOPIC


@_mutant("D93", "What a listener fails is committed, and not sent back.")
class WholeListenerFailuresLost(WholeListener):
    def give_back(self, message: Message) -> None:
        pass


@_mutant("D93", "What the broker does not take back is committed.")
class WholeListenerRefusedLost(WholeListener):
    def copy(self, message: Message) -> None:
        pass


@_mutant("D31", "What was sent back is not committed.")
class WholeListenerFailuresStay(WholeListener):
    def returned(self, consumer: Consumer, batch: Batch, how: str) -> None:
        if how == FAILS:
            for message in batch.messages:
                self.give_back(message)
        else:
            super().returned(consumer, batch, how)


@_mutant("D93", "Of a batch that failed one message is sent back.")
class WholeListenerSendsOne(WholeListener):
    def returned(self, consumer: Consumer, batch: Batch, how: str) -> None:
        super().returned(consumer, batch._replace(messages=batch.messages[:1]), how)


@_mutant("D93", "A message is sent back, and a copy of it, too.")
class WholeListenerSendsTwice(WholeListener):
    def give_back(self, message: Message) -> None:
        super().give_back(message)
        self.copy(message)


@_mutant("D93", "What fails a second time is not sent back.")
class WholeListenerFailsOnce(WholeListener):
    def give_back(self, message: Message) -> None:
        if not message.reconsume_times:
            super().give_back(message)


@_mutant("D94", "A pull that finds nothing commits what is held.")
class WholeListenerCorrectsHeld(WholeListener):
    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        consumer.store.update(queue, following, True)


@_mutant("D94", "What a listener holds is committed.")
class WholeListenerCommitsHeld(WholeListener):
    def hold(self, consumer: Consumer, member: int, batch: Batch) -> None:
        super().hold(consumer, member, batch)
        self.result(consumer, batch.queue, batch.owned, batch.following)


@_mutant("D94", "A slow listener's result is not taken.")
class WholeListenerForgetsHeld(WholeListener):
    def hold(self, consumer: Consumer, member: int, batch: Batch) -> None:
        pass


@_mutant("D38", "Messages of a lost queue are sent back.")
class WholeListenerReturnsLost(WholeListener):
    def returned(self, consumer: Consumer, batch: Batch, how: str) -> None:
        if batch.owned.dropped and how == FAILS:
            for message in batch.messages:
                self.give_back(message)
        else:
            super().returned(consumer, batch, how)


@_mutant("D93", "A listener that fails late counts as successful.")
class WholeListenerLateFailure(WholeListener):
    def listen(self, member: int, listener: str) -> Result:
        if listener == FAILS and self.held[member]:
            super().listen(member, SUCCEEDS)
        return super().listen(member, listener)


@_mutant("D56", "A retry queue begins at max.")
class WholeListenerRetriesMax(WholeListener):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return consumer.positions.max(queue) if is_retried(queue) else super().beginning(consumer, queue)


@_mutant("D56", "Nobody pulls the retry queue.")
class WholeListenerNoRetries(WholeListener):
    def topics(self) -> list[str]:
        return super().topics()[:1]


@_mutant("D31", "The offset of the retry queue is not committed.")
class WholeListenerRetriesStay(WholeListener):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(queue for queue in super().persisted(consumer) if not is_retried(queue))

    def hand_over(self, consumer: Consumer, queue: int) -> None:
        if is_retried(queue):
            consumer.store.remove(queue)
        else:
            super().hand_over(consumer, queue)


@_mutant("D93", "What failed is sent to its own queue anew.")
class WholeListenerSendsAnew(WholeListener):
    def give_back(self, message: Message) -> None:
        self.world.broker.send(message.topic, message.body, message.queue)


@_mutant("D93", "What comes again counts as consumed.")
class WholeListenerRetriesPass(WholeListener):
    def returned(self, consumer: Consumer, batch: Batch, how: str) -> None:
        super().returned(consumer, batch, SUCCEEDS if is_retried(batch.queue) else how)


@_mutant("D93", "Whatever code answers, a message counts as taken back but for SYSTEM_ERROR.")
class WholeListenerCodesTaken(WholeListener):
    def takes_code(self, code: int) -> bool:
        return code != Response.SYSTEM_ERROR


@_mutant("D93", "A message that is not taken back in time is lost.")
class WholeListenerSilenceLoses(WholeListener):
    def is_taken_back(self, ext: dict[str, str]) -> bool:
        try:
            return self.takes_code(self.transport.ask(RETRY_TOPIC, BROKER, _BACK, ext)[0])
        except OSError:
            return True


@_mutant("D93", "After a refusal nothing is sent back until the listener changes.")
class WholeListenerRefusedOnce(WholeListener):
    _refused = False

    def takes_code(self, code: int) -> bool:
        self._refused = self._refused or code != 0
        return super().takes_code(code)

    def give_back(self, message: Message) -> None:
        if not self._refused:
            super().give_back(message)

    def listen(self, member: int, listener: str) -> Result:
        self._refused = False
        return super().listen(member, listener)


@_mutant("D151", "What is taken back a second late is also sent as a copy.")
class WholeListenerImpatient(WholeListener):
    def patience(self, code: int) -> float:
        return 0.5 if code == _BACK else super().patience(code)


@_mutant("D233", "The second answer that a message was taken back counts for the next one.")
class WholeListenerTakesTwice(WholeListener):
    _left_over = False

    def is_taken_back(self, ext: dict[str, str]) -> bool:
        if self._left_over:
            self._left_over = False
            return True
        taken = super().is_taken_back(ext)
        self._left_over = self.world.repeated_answer
        return taken


@_mutant("D151", "Over a new connection nothing is pulled of the queues that it has.")
class WholeListenerCutPullsNoMore(WholeListener):
    def connect(self, consumer: Consumer, line: Line) -> None:
        WholePush.connect(self, consumer, line)
