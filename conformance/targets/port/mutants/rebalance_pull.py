"""Mutants of the port's lite pull consumers, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
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
from rocketmq_conformance.models.client.member_settings import MEMBER_TIMESTAMP
from rocketmq_conformance.models.outcome import Result

NewPulls = list[tuple[int, int]]

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "rebalance-pull")


# --- rounds --------------------------------------------------------------------------------------------------


@_mutant("D87", "A queue of a lite pull consumer expires when it is not pulled.")
class LiteExpires(RebalancePull):
    def is_forgotten(self, owned: OwnedQueue) -> bool:
        return self.now - owned.pulled > PULL_EXPIRY


@_mutant("D33", "A lite pull consumer forgets a lost queue without sending.")
class LiteLostIsNotSent(RebalancePull):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.remove(queue)


@_mutant("D25", "A lost queue takes the offsets of all others along.")
class LiteOthersAreForgotten(RebalancePull):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist_all((queue,))
        consumer.store.remove(queue)


@_mutant("D03", "A lite pull consumer without a start begins at 0.")
class LiteNoStartIsZero(RebalancePull):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return max(0, consumer.positions.lite_pull(queue, consumer.where, MEMBER_TIMESTAMP, "UTC"))


@_mutant("D30", "A lite pull consumer begins at 0 even if an offset is stored.")
class LiteNeverAsks(RebalancePull):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return 0


@_mutant("D92", "A lite pull consumer gains a queue with an old offset.")
class LiteGoesOnFromMemory(RebalancePull):
    def clean(self, consumer: Consumer, queue: int) -> None:
        pass


@_mutant("D95", "The listener is called by rounds that change nothing.")
class LiteHearsEveryRound(RebalancePull):
    def has_changed(self, before: dict[int, OwnedQueue], consumer: Consumer) -> bool:
        return True


@_mutant("D81", "The listener is not called when queues are lost.")
class LiteHearsOfGainsOnly(RebalancePull):
    def has_changed(self, before: dict[int, OwnedQueue], consumer: Consumer) -> bool:
        return not before.keys() >= consumer.table.keys()


@_mutant("D82", "A topic without known queues is pulled on.")
class LiteUnknownGoesOn(RebalancePull):
    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        return True


@_mutant("D95", "A queue of the share that is not owned is not pulled.")
class LitePullsOwnedOnly(RebalancePull):
    def begin_pull(self, consumer: LiteConsumer, queue: int) -> None:
        if queue in consumer.table:
            super().begin_pull(consumer, queue)


@_mutant("D79", "A change of one topic ends the pulls of all others.")
class LiteEndsOtherTopics(RebalancePull):
    def listen(self, consumer: LiteConsumer, topic: str, wanted: tuple[int, ...]) -> None:
        for queue in [queue for queue in consumer.assigned if queue not in wanted]:
            self.end_pull(consumer, queue)
        super().listen(consumer, topic, wanted)


@_mutant("D81", "A lost queue is pulled on.")
class LiteNeverEnds(RebalancePull):
    def end_pull(self, consumer: LiteConsumer, queue: int) -> None:
        self.drop(consumer.assigned[queue].owned)


@_mutant("D38", "A change restarts the pulls of kept queues.")
class LiteBeginsAllAnew(RebalancePull):
    def listen(self, consumer: LiteConsumer, topic: str, wanted: tuple[int, ...]) -> None:
        super().listen(consumer, topic, ())
        super().listen(consumer, topic, wanted)


@_mutant("D74", "The first pull does not ask for the start again.")
class LitePullsFromTheRound(RebalancePull):
    def begin_pull(self, consumer: LiteConsumer, queue: int) -> None:
        super().begin_pull(consumer, queue)
        owned = consumer.assigned[queue].owned
        if queue in consumer.table:
            consumer.assigned[queue].pulls = owned.offset


@_mutant("D82", "A topic without known queues keeps its process queues, and is in balance when they come back.")
class LiteClosedIsNotDropped(RebalancePull):
    def end_pull(self, consumer: LiteConsumer, queue: int) -> None:
        if consumer.assigned[queue].owned is consumer.table.get(queue):
            del consumer.assigned[queue]
        else:
            super().end_pull(consumer, queue)


# --- subscriptions -------------------------------------------------------------------------------------------


@_mutant("D82", "Subscribing does not learn the route.")
class LiteSubscribesLater(RebalancePull):
    def subscribe(self, consumer: Consumer, topic: str) -> Result:
        if topic not in consumer.topics:
            consumer.topics.append(topic)
        return None


@_mutant("D81", "An unsubscribed topic is pulled until the round.")
class LitePullsUntilTheRound(RebalancePull):
    def forget_pulls(self, consumer: LiteConsumer, topic: str) -> None:
        pass


@_mutant("D81", "Unsubscribing drops pulled messages.")
class LiteUnsubscribedIsDropped(RebalancePull):
    def forget_pulls(self, consumer: LiteConsumer, topic: str) -> None:
        self.listen(consumer, topic, ())


@_mutant("D81", "Unsubscribing a topic ends the pulls of all.")
class LiteUnsubscribesAll(RebalancePull):
    def forget_pulls(self, consumer: LiteConsumer, topic: str) -> None:
        consumer.assigned = {}


# --- messages ------------------------------------------------------------------------------------------------


@_mutant("D44", "A pull does not go on behind the message.")
class LitePullsTheSame(RebalancePull):
    def pull_one(self, consumer: LiteConsumer, queue: int, found: bool) -> int:
        offset = super().pull_one(consumer, queue, found)
        consumer.assigned[queue].pulls = offset
        return offset


@_mutant("D45", "A pull without messages does not settle where to go on.")
class LiteAsksEveryTime(RebalancePull):
    def pull_one(self, consumer: LiteConsumer, queue: int, found: bool) -> int:
        offset = super().pull_one(consumer, queue, found)
        if not found:
            consumer.assigned[queue].pulls = NO_OFFSET
        return offset


@_mutant("D06", "The first pull asks for 0 without a start.")
class LitePullsFromNowhere(RebalancePull):
    def first_pull(self, consumer: LiteConsumer, queue: int) -> int:
        try:
            return super().first_pull(consumer, queue)
        except NoStartError:
            return 0


@_mutant("D39", "A message counts as consumed when it is pulled.")
class LiteConsumesAhead(RebalancePull):
    def arrive(self, consumer: LiteConsumer, queue: int, owned: LiteQueue, offset: int) -> None:
        super().arrive(consumer, queue, owned, offset)
        if consumer.assigned[queue].consumed == NO_OFFSET:
            consumer.assigned[queue].consumed = offset


@_mutant("D38", "Messages of a lost queue are polled.")
class LiteLateMessages(RebalancePull):
    def is_late(self, owned: LiteQueue) -> bool:
        return False


@_mutant("D81", "Messages of an unsubscribed topic are not polled.")
class LiteNotAssignedIsLate(RebalancePull):
    def poll(self, consumer: LiteConsumer, messages: int) -> Result:
        consumer.pulled = [pulled for pulled in consumer.pulled if pulled[0] in consumer.assigned]
        return super().poll(consumer, messages)


@_mutant("D39", "A commit writes where the pulls are.")
class LiteCommitsWhatWasPulled(RebalancePull):
    def commit(self, consumer: LiteConsumer) -> Result:
        for queue, assignment in consumer.assigned.items():
            if assignment.consumed != NO_OFFSET:
                self.commit_one(consumer, queue, assignment.pulls)
        return None


@_mutant("D44", "A commit writes the offset of the message itself.")
class LiteCommitsTheMessage(RebalancePull):
    def consumed(self, consumer: LiteConsumer, queue: int, offset: int) -> None:
        super().consumed(consumer, queue, offset - 1)


@_mutant("D41", "A commit never lowers the offset.")
class LiteCommitsOnlyUp(RebalancePull):
    def commit_one(self, consumer: LiteConsumer, queue: int, offset: int) -> None:
        consumer.store.update(queue, offset, True)


@_mutant("D32", "A commit is sent without waiting for the timer.")
class LiteCommitsAtOnce(RebalancePull):
    def commit_one(self, consumer: LiteConsumer, queue: int, offset: int) -> None:
        super().commit_one(consumer, queue, offset)
        consumer.store.persist(queue)


@_mutant("D40", "A commit never reaches the offset table.")
class LiteCommitsNothing(RebalancePull):
    def commit(self, consumer: LiteConsumer) -> Result:
        return None


@_mutant("D34", "The timer sends by what is pulled.")
class LitePersistsTheAssigned(RebalancePull):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(lite(consumer).assigned)


@_mutant("D94", "A pulled queue does not share the process queue.")
class LiteProcessQueueOfItsOwn(RebalancePull):
    def begin_pull(self, consumer: LiteConsumer, queue: int) -> None:
        consumer.assigned[queue] = Assignment(LiteQueue(NO_OFFSET, self.now))


# --- offsets of broadcasting members ------------------------------------------------------------------------


@_mutant("D75", "A broadcasting lite pull consumer keeps its offsets at the broker.")
class LiteBroadcastAtBroker(RebalancePull):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.forget()


@_mutant("D30", "A broadcasting lite pull consumer begins with an empty file.")
class LiteBroadcastBeginsEmpty(RebalancePull):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        if broadcasts:
            self.files.pop(client, None)
        super().open_store(positions, client, broadcasts)


@_mutant("D75", "A commit of a broadcasting lite pull consumer reaches the broker.")
class LiteBroadcastCommits(RebalancePull):
    def commit_one(self, consumer: LiteConsumer, queue: int, offset: int) -> None:
        super().commit_one(consumer, queue, offset)
        if consumer.broadcasts:
            consumer.positions.remote.send(queue, offset)


@_mutant("D32", "A commit of a broadcasting lite pull consumer is written without waiting for the timer.")
class LiteBroadcastWritesAtOnce(RebalancePull):
    def commit(self, consumer: LiteConsumer) -> Result:
        super().commit(consumer)
        return consumer.store.persist_all(tuple(consumer.assigned)) if consumer.broadcasts else None


@_mutant("D33", "The timer of a broadcasting lite pull consumer writes nothing.")
class LiteBroadcastPersistsNothing(RebalancePull):
    def persist(self, consumer: Consumer) -> Result:
        return None if consumer.broadcasts else super().persist(consumer)
