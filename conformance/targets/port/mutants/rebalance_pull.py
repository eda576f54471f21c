"""Mutants of the port's lite pull consumers, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.rebalance import PULL_EXPIRY
from rocketmq_conformance.conformance.targets.port.rebalance_pull import (
    Assignment,
    LiteConsumer,
    LiteQueue,
    RebalancePull,
    lite,
)
from rocketmq_conformance.conformance.targets.port.start import NoStartError, StartPosition
from rocketmq_conformance.models.client.fixtures import MEMBER_TIMESTAMP
from rocketmq_conformance.models.outcome import Result

NewPulls = list[tuple[int, int]]

# --- rounds --------------------------------------------------------------------------------------------------


class Expires(RebalancePull):
    def is_forgotten(self, owned: OwnedQueue) -> bool:
        return self.now - owned.pulled > PULL_EXPIRY


class LostInSilence(RebalancePull):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.remove(queue)


class OthersGoToo(RebalancePull):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist_all((queue,))
        consumer.store.remove(queue)


class Refusing(RebalancePull):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return max(0, consumer.positions.lite_pull(queue, consumer.where, MEMBER_TIMESTAMP, "UTC"))


class FromZero(RebalancePull):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return 0


class FromMemory(RebalancePull):
    def clean(self, consumer: Consumer, queue: int) -> None:
        pass


class HearsEveryRound(RebalancePull):
    def has_changed(self, before: dict[int, OwnedQueue], consumer: Consumer) -> bool:
        return True


class HearsOfGainsOnly(RebalancePull):
    def has_changed(self, before: dict[int, OwnedQueue], consumer: Consumer) -> bool:
        return not before.keys() >= consumer.table.keys()


class HearsNothingUnknown(RebalancePull):
    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        return True


class PullsOwnedOnly(RebalancePull):
    def begin_pull(self, consumer: LiteConsumer, queue: int) -> None:
        if queue in consumer.table:
            super().begin_pull(consumer, queue)


class EndsOtherTopics(RebalancePull):
    def listen(self, consumer: LiteConsumer, topic: str, wanted: tuple[int, ...]) -> None:
        for queue in [queue for queue in consumer.assigned if queue not in wanted]:
            self.end_pull(consumer, queue)
        super().listen(consumer, topic, wanted)


class NeverEnds(RebalancePull):
    def end_pull(self, consumer: LiteConsumer, queue: int) -> None:
        self.drop(consumer.assigned[queue].owned)


class BeginsAllAnew(RebalancePull):
    def listen(self, consumer: LiteConsumer, topic: str, wanted: tuple[int, ...]) -> None:
        super().listen(consumer, topic, ())
        super().listen(consumer, topic, wanted)


class GoesOnWhereItWas(RebalancePull):
    def begin_pull(self, consumer: LiteConsumer, queue: int) -> None:
        super().begin_pull(consumer, queue)
        owned = consumer.assigned[queue].owned
        if queue in consumer.table:
            consumer.assigned[queue].pulls = owned.offset


class ClosedIsNotDropped(RebalancePull):
    def end_pull(self, consumer: LiteConsumer, queue: int) -> None:
        if consumer.assigned[queue].owned is consumer.table.get(queue):
            del consumer.assigned[queue]
        else:
            super().end_pull(consumer, queue)


# --- subscriptions -------------------------------------------------------------------------------------------


class SubscribesLater(RebalancePull):
    def subscribe(self, consumer: Consumer, topic: str) -> Result:
        if topic not in consumer.topics:
            consumer.topics.append(topic)
        return None


class PullsUntilTheRound(RebalancePull):
    def forget_pulls(self, consumer: LiteConsumer, topic: str) -> None:
        pass


class UnsubscribedIsDropped(RebalancePull):
    def forget_pulls(self, consumer: LiteConsumer, topic: str) -> None:
        self.listen(consumer, topic, ())


class UnsubscribesAll(RebalancePull):
    def forget_pulls(self, consumer: LiteConsumer, topic: str) -> None:
        consumer.assigned = {}


# --- messages ------------------------------------------------------------------------------------------------


class PullsTheSame(RebalancePull):
    def pull_one(self, consumer: LiteConsumer, queue: int, found: bool) -> int:
        offset = super().pull_one(consumer, queue, found)
        consumer.assigned[queue].pulls = offset
        return offset


class AsksEveryTime(RebalancePull):
    def pull_one(self, consumer: LiteConsumer, queue: int, found: bool) -> int:
        offset = super().pull_one(consumer, queue, found)
        if not found:
            consumer.assigned[queue].pulls = NO_OFFSET
        return offset


class PullsFromNowhere(RebalancePull):
    def first_pull(self, consumer: LiteConsumer, queue: int) -> int:
        try:
            return super().first_pull(consumer, queue)
        except NoStartError:
            return 0


class ConsumesAhead(RebalancePull):
    def arrive(self, consumer: LiteConsumer, queue: int, owned: LiteQueue, offset: int) -> None:
        super().arrive(consumer, queue, owned, offset)
        if consumer.assigned[queue].consumed == NO_OFFSET:
            consumer.assigned[queue].consumed = offset


class LateMessages(RebalancePull):
    def is_late(self, owned: LiteQueue) -> bool:
        return False


class NotAssignedIsLate(RebalancePull):
    def poll(self, consumer: LiteConsumer, messages: int) -> Result:
        consumer.pulled = [pulled for pulled in consumer.pulled if pulled[0] in consumer.assigned]
        return super().poll(consumer, messages)


class CommitsWhatWasPulled(RebalancePull):
    def commit(self, consumer: LiteConsumer) -> Result:
        for queue, assignment in consumer.assigned.items():
            if assignment.consumed != NO_OFFSET:
                self.commit_one(consumer, queue, assignment.pulls)
        return None


class CommitsTheMessage(RebalancePull):
    def consumed(self, consumer: LiteConsumer, queue: int, offset: int) -> None:
        super().consumed(consumer, queue, offset - 1)


class CommitsOnlyUp(RebalancePull):
    def commit_one(self, consumer: LiteConsumer, queue: int, offset: int) -> None:
        consumer.store.update(queue, offset, True)


class CommitsAtOnce(RebalancePull):
    def commit_one(self, consumer: LiteConsumer, queue: int, offset: int) -> None:
        super().commit_one(consumer, queue, offset)
        consumer.store.persist(queue)


class CommitsNothing(RebalancePull):
    def commit(self, consumer: LiteConsumer) -> Result:
        return None


class PersistsTheAssigned(RebalancePull):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(lite(consumer).assigned)


class Outlives(RebalancePull):
    def begin_pull(self, consumer: LiteConsumer, queue: int) -> None:
        consumer.assigned[queue] = Assignment(LiteQueue(NO_OFFSET, self.now))


# --- offsets of broadcasting members ------------------------------------------------------------------------


class LiteBroadcastAtBroker(RebalancePull):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.forget()


class LiteBroadcastBeginsEmpty(RebalancePull):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        if broadcasts:
            self.files.pop(client, None)
        super().open_store(positions, client, broadcasts)


class LiteBroadcastCommits(RebalancePull):
    def commit_one(self, consumer: LiteConsumer, queue: int, offset: int) -> None:
        super().commit_one(consumer, queue, offset)
        if consumer.broadcasts:
            consumer.positions.remote.send(queue, offset)


class LiteBroadcastWritesAtOnce(RebalancePull):
    def commit(self, consumer: LiteConsumer) -> Result:
        super().commit(consumer)
        return consumer.store.persist_all(tuple(consumer.assigned)) if consumer.broadcasts else None


class LiteBroadcastPersistsNothing(RebalancePull):
    def persist(self, consumer: Consumer) -> Result:
        return None if consumer.broadcasts else super().persist(consumer)


_mutant = partial(Mutant.of, "rebalance-pull")

MUTANTS = (
    _mutant("lite-expires", "D87", "A queue of a lite pull consumer expires when it is not pulled.", Expires),
    _mutant(
        "lite-lost-is-not-sent", "D33", "A lite pull consumer forgets a lost queue without sending.", LostInSilence
    ),
    _mutant("lite-others-are-forgotten", "D25", "A lost queue takes the offsets of all others along.", OthersGoToo),
    _mutant("lite-no-start-is-zero", "D03", "A lite pull consumer without a start begins at 0.", Refusing),
    _mutant("lite-never-asks", "D30", "A lite pull consumer begins at 0 even if an offset is stored.", FromZero),
    _mutant("lite-goes-on-from-memory", "D92", "A lite pull consumer gains a queue with an old offset.", FromMemory),
    _mutant("lite-hears-every-round", "D95", "The listener is called by rounds that change nothing.", HearsEveryRound),
    _mutant("lite-hears-of-gains-only", "D81", "The listener is not called when queues are lost.", HearsOfGainsOnly),
    _mutant("lite-unknown-goes-on", "D82", "A topic without known queues is pulled on.", HearsNothingUnknown),
    _mutant(
        "lite-closed-is-not-dropped",
        "D82",
        "A topic without known queues keeps its process queues, and is in balance when they come back.",
        ClosedIsNotDropped,
    ),
    _mutant("lite-pulls-owned-only", "D95", "A queue of the share that is not owned is not pulled.", PullsOwnedOnly),
    _mutant("lite-ends-other-topics", "D79", "A change of one topic ends the pulls of all others.", EndsOtherTopics),
    _mutant("lite-never-ends", "D81", "A lost queue is pulled on.", NeverEnds),
    _mutant("lite-begins-all-anew", "D38", "A change restarts the pulls of kept queues.", BeginsAllAnew),
    _mutant("lite-pulls-from-the-round", "D74", "The first pull does not ask for the start again.", GoesOnWhereItWas),
    _mutant("lite-subscribes-later", "D82", "Subscribing does not learn the route.", SubscribesLater),
    _mutant(
        "lite-pulls-until-the-round", "D81", "An unsubscribed topic is pulled until the round.", PullsUntilTheRound
    ),
    _mutant("lite-unsubscribed-is-dropped", "D81", "Unsubscribing drops pulled messages.", UnsubscribedIsDropped),
    _mutant("lite-unsubscribes-all", "D81", "Unsubscribing a topic ends the pulls of all.", UnsubscribesAll),
    _mutant("lite-pulls-the-same", "D44", "A pull does not go on behind the message.", PullsTheSame),
    _mutant("lite-asks-every-time", "D45", "A pull without messages does not settle where to go on.", AsksEveryTime),
    _mutant("lite-pulls-from-nowhere", "D06", "The first pull asks for 0 without a start.", PullsFromNowhere),
    _mutant("lite-consumes-ahead", "D39", "A message counts as consumed when it is pulled.", ConsumesAhead),
    _mutant("lite-late-messages", "D38", "Messages of a lost queue are polled.", LateMessages),
    _mutant("lite-not-assigned-is-late", "D81", "Messages of an unsubscribed topic are not polled.", NotAssignedIsLate),
    _mutant("lite-commits-what-was-pulled", "D39", "A commit writes where the pulls are.", CommitsWhatWasPulled),
    _mutant("lite-commits-the-message", "D44", "A commit writes the offset of the message itself.", CommitsTheMessage),
    _mutant("lite-commits-only-up", "D41", "A commit never lowers the offset.", CommitsOnlyUp),
    _mutant("lite-commits-at-once", "D32", "A commit is sent without waiting for the timer.", CommitsAtOnce),
    _mutant("lite-commits-nothing", "D40", "A commit never reaches the offset table.", CommitsNothing),
    _mutant("lite-persists-the-assigned", "D34", "The timer sends by what is pulled.", PersistsTheAssigned),
    _mutant(
        "lite-broadcast-at-broker",
        "D75",
        "A broadcasting lite pull consumer keeps its offsets at the broker.",
        LiteBroadcastAtBroker,
    ),
    _mutant(
        "lite-broadcast-begins-empty",
        "D30",
        "A broadcasting lite pull consumer begins with an empty file.",
        LiteBroadcastBeginsEmpty,
    ),
    _mutant(
        "lite-broadcast-commits",
        "D75",
        "A commit of a broadcasting lite pull consumer reaches the broker.",
        LiteBroadcastCommits,
    ),
    _mutant(
        "lite-broadcast-writes-at-once",
        "D32",
        "A commit of a broadcasting lite pull consumer is written without waiting for the timer.",
        LiteBroadcastWritesAtOnce,
    ),
    _mutant(
        "lite-broadcast-persists-nothing",
        "D33",
        "The timer of a broadcasting lite pull consumer writes nothing.",
        LiteBroadcastPersistsNothing,
    ),
    _mutant("lite-process-queue-of-its-own", "D94", "A pulled queue does not share the process queue.", Outlives),
)
