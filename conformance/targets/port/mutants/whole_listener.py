"""Mutants of the port's whole push consumers whose listeners fail or hold, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import RETRY_TOPIC, Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_listener import Batch, WholeListener
from rocketmq_conformance.models.client.fixtures import FAILS, QUEUES, SUCCEEDS
from rocketmq_conformance.models.outcome import Result


def is_retried(queue: int) -> bool:
    """Is this the queue of the retry topic?"""
    return QUEUES[queue].topic == RETRY_TOPIC


class FailuresAreLost(WholeListener):
    def give_back(self, message: Message) -> None:
        pass


class RefusedAreLost(WholeListener):
    def copy(self, message: Message) -> None:
        pass


class FailuresAreNotCommitted(WholeListener):
    def returned(self, consumer: Consumer, batch: Batch, how: str) -> None:
        if how == FAILS:
            for message in batch.messages:
                self.give_back(message)
        else:
            super().returned(consumer, batch, how)


class FailureSendsOneBack(WholeListener):
    def returned(self, consumer: Consumer, batch: Batch, how: str) -> None:
        super().returned(consumer, batch._replace(messages=batch.messages[:1]), how)


class SendsBackTwice(WholeListener):
    def give_back(self, message: Message) -> None:
        super().give_back(message)
        self.copy(message)


class SecondFailureIsLost(WholeListener):
    def give_back(self, message: Message) -> None:
        if not message.reconsume_times:
            super().give_back(message)


class CorrectsPastHeld(WholeListener):
    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        consumer.store.update(queue, following, True)


class HeldIsCommitted(WholeListener):
    def hold(self, consumer: Consumer, member: int, batch: Batch) -> None:
        super().hold(consumer, member, batch)
        self.result(consumer, batch.queue, batch.owned, batch.following)


class HeldIsForgotten(WholeListener):
    def hold(self, consumer: Consumer, member: int, batch: Batch) -> None:
        pass


class LostQueueIsSentBack(WholeListener):
    def returned(self, consumer: Consumer, batch: Batch, how: str) -> None:
        if batch.owned.dropped and how == FAILS:
            for message in batch.messages:
                self.give_back(message)
        else:
            super().returned(consumer, batch, how)


class FailsAfterHolding(WholeListener):
    def listen(self, member: int, listener: str) -> Result:
        if listener == FAILS and self.held[member]:
            super().listen(member, SUCCEEDS)
        return super().listen(member, listener)


class RetriesBeginAtMax(WholeListener):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return consumer.positions.max(queue) if is_retried(queue) else super().beginning(consumer, queue)


class RetriesAreNotPulled(WholeListener):
    def topics(self) -> list[str]:
        return super().topics()[:1]


class RetriesAreNotCommitted(WholeListener):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(queue for queue in super().persisted(consumer) if not is_retried(queue))

    def hand_over(self, consumer: Consumer, queue: int) -> None:
        if is_retried(queue):
            consumer.store.remove(queue)
        else:
            super().hand_over(consumer, queue)


class RetriesOfAnotherGroup(WholeListener):
    def give_back(self, message: Message) -> None:
        self.world.broker.send(message.topic, message.body, message.queue)


class AlwaysSucceedsAgain(WholeListener):
    def returned(self, consumer: Consumer, batch: Batch, how: str) -> None:
        super().returned(consumer, batch, SUCCEEDS if is_retried(batch.queue) else how)


_mutant = partial(Mutant.of, "whole-listener")

MUTANTS = (
    _mutant(
        "whole-listener-failures-lost", "D93", "What a listener fails is committed, and not sent back.", FailuresAreLost
    ),
    _mutant("whole-listener-refused-lost", "D93", "What the broker does not take back is committed.", RefusedAreLost),
    _mutant("whole-listener-failures-stay", "D31", "What was sent back is not committed.", FailuresAreNotCommitted),
    _mutant("whole-listener-sends-one", "D93", "Of a batch that failed one message is sent back.", FailureSendsOneBack),
    _mutant("whole-listener-sends-twice", "D93", "A message is sent back, and a copy of it, too.", SendsBackTwice),
    _mutant("whole-listener-fails-once", "D93", "What fails a second time is not sent back.", SecondFailureIsLost),
    _mutant("whole-listener-commits-held", "D94", "What a listener holds is committed.", HeldIsCommitted),
    _mutant("whole-listener-corrects-held", "D94", "A pull that finds nothing commits what is held.", CorrectsPastHeld),
    _mutant("whole-listener-forgets-held", "D94", "A slow listener's result is not taken.", HeldIsForgotten),
    _mutant("whole-listener-returns-lost", "D38", "Messages of a lost queue are sent back.", LostQueueIsSentBack),
    _mutant(
        "whole-listener-late-failure", "D93", "A listener that fails late counts as successful.", FailsAfterHolding
    ),
    _mutant("whole-listener-retries-max", "D56", "A retry queue begins at max.", RetriesBeginAtMax),
    _mutant("whole-listener-no-retries", "D56", "Nobody pulls the retry queue.", RetriesAreNotPulled),
    _mutant(
        "whole-listener-retries-stay", "D31", "The offset of the retry queue is not committed.", RetriesAreNotCommitted
    ),
    _mutant("whole-listener-sends-anew", "D93", "What failed is sent to its own queue anew.", RetriesOfAnotherGroup),
    _mutant("whole-listener-retries-pass", "D93", "What comes again counts as consumed.", AlwaysSucceedsAgain),
)
