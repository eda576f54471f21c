"""Mutants of the port's rebalance, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.allocation import Ids, Queues
from rocketmq_conformance.conformance.targets.port.group_member import RETRY_TOPIC, Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.rebalance import LAST, Rebalance
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.conformance.targets.port.start import TIMESTAMP, StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError
from rocketmq_conformance.models.client.member_settings import MEMBER_TIMESTAMP
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY

NewPulls = list[tuple[int, int]]

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "rebalance")


# --- the members ---------------------------------------------------------------------------------------------


@_mutant("D26", "Without a member list every queue of the topic is dropped.")
class NoListDropsAll(Rebalance):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        return self.own(consumer, topic, (), [])


@_mutant("D26", "A refused member list reads as one without this member.")
class RefusedListIsEmpty(Rebalance):
    def refused(self) -> tuple[str, ...] | None:
        return ("",)


@_mutant("D26", "A lost member list reads as one without this member.")
class LostListIsEmpty(Rebalance):
    def not_listed(self) -> tuple[str, ...] | None:
        return ("",)


@_mutant("D26", "A member that is not on the list keeps its queues.")
class MissingMemberKeeps(Rebalance):
    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: NewPulls) -> bool:
        keeps = not (consumer.broadcasts or wanted)
        return keeps or super().own(consumer, topic, wanted, new_pulls)


@_mutant("D18", "Client ids are sorted as addresses, not as texts.")
class IdsAsNumbers(Rebalance):
    def in_id_order(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(ids, key=lambda text: [int(part) for part in text.partition("@")[0].split(".")]))


@_mutant("D18", "Client ids are taken in the broker's order.")
class IdsUnsorted(Rebalance):
    def in_id_order(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        return ids


@_mutant("D20", "An id that is listed twice has one place.")
class IdsOnceOnly(Rebalance):
    def in_id_order(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        return super().in_id_order(tuple(set(ids)))


@_mutant("D18", "The last queue comes first.")
class QueuesBackwardsInRounds(Rebalance):
    def in_queue_order(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        return queues[::-1]


@_mutant("D24", "AVG_BY_CIRCLE is a stub that calls AVG.")
class AlwaysAveragely(Rebalance):
    def share(
        self, strategy: str, client: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        return super().share("AVG", client, queues, ids)


@_mutant("D24", "Members take MACHINE_ROOM_NEARBY for AVG.")
class GroupNearbyIsAveragely(Rebalance):
    def nearby(self, me: str, queues: Queues, ids: Ids) -> Queues:
        return self.allocator.averagely(me, queues, ids)


@_mutant("D24", "Of configured queues only those of the topic are taken.")
class ConfiguredByTopic(Rebalance):
    def divided(
        self, consumer: Consumer, topic: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        mine = super().divided(consumer, topic, queues, ids)
        return None if mine is None else tuple([queue for queue in mine if ORDINARY.topic_of[queue] == topic])


@_mutant("D80", "A topic is balanced whatever else is configured.")
class ConfiguredIsBalanced(Rebalance):
    def is_of(self, topic: str, wanted: tuple[int, ...]) -> bool:
        return True


@_mutant("D51", "Members of a group take TIMESTAMP for LAST.")
class GroupTimestampIsLast(Rebalance):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        where = LAST if consumer.where == TIMESTAMP else consumer.where
        return consumer.positions.push(queue, where, MEMBER_TIMESTAMP, "UTC")


# --- topics --------------------------------------------------------------------------------------------------


@_mutant("D82", "A cluster drops the queues of a topic without readable ones.")
class NoQueuesDropAll(Rebalance):
    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        return self.own(consumer, topic, (), [])


@_mutant("D82", "A lost route makes the queues of the topic unknown.")
class NoRouteForgets(Rebalance):
    def lost_route(self, consumer: Consumer, topic: str) -> None:
        consumer.routes.pop(topic, None)


@_mutant("D95", "Queues that are added later are never seen.")
class RouteIsFinal(Rebalance):
    def refresh(self, consumer: Consumer) -> Result:
        for topic in consumer.topics:
            try:
                consumer.routes.setdefault(topic, self.routed_queues(topic, self.transport.route(topic)))
            except NoRouteError:
                self.lost_route(consumer, topic)
        return None


@_mutant("D79", "A topic that is not in balance ends the round.")
class FailureEndsRound(Rebalance):
    def is_round_balanced(self, balanced: bool, topic: bool) -> bool:
        self.ended = not topic
        return balanced and topic

    def rebalance_topic(self, consumer: Consumer, topic: str, new_pulls: NewPulls) -> bool:
        if topic == consumer.topics[0]:
            self.ended = False
        return not self.ended and super().rebalance_topic(consumer, topic, new_pulls)


@_mutant("D80", "Only the last topic says whether a round is balanced.")
class LastTopicCounts(Rebalance):
    def is_round_balanced(self, balanced: bool, topic: bool) -> bool:
        return topic


@_mutant("D80", "A topic without member list is not in balance.")
class NoListIsUnbalanced(Rebalance):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        return False


@_mutant("D81", "Queues of an unsubscribed topic stay.")
class TopicsAreKept(Rebalance):
    def give_up_topics(self, consumer: Consumer) -> None:
        pass


@_mutant("D81", "Unsubscribing a topic gives up the retry topic.")
class RetryGoesToo(Rebalance):
    def unsubscribe(self, consumer: Consumer, topic: str) -> Result:
        super().unsubscribe(consumer, RETRY_TOPIC)
        return super().unsubscribe(consumer, topic)


@_mutant("D81", "Queues of an unsubscribed topic are committed.")
class GivenUpIsCommitted(Rebalance):
    def give_up(self, consumer: Consumer, queue: int) -> None:
        self.lose(consumer, queue)


@_mutant("D81", "Offsets of an unsubscribed topic are forgotten at once.")
class GivenUpIsForgotten(Rebalance):
    def give_up(self, consumer: Consumer, queue: int) -> None:
        super().give_up(consumer, queue)
        consumer.store.remove(queue)


@_mutant("D75", "A broadcasting member owns one queue of a topic.")
class BroadcastShares(Rebalance):
    def everything(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        return queues[:1]


# --- losing a queue ------------------------------------------------------------------------------------------


@_mutant("D33", "The offset of a lost queue is not sent.")
class LostIsNotSent(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.remove(queue)


@_mutant("D28", "A lost queue without an offset in memory is committed as -1.")
class NoneIsSent(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        if isinstance(consumer.store, RemoteStore) and queue not in consumer.store.table:
            consumer.store.send(queue, NO_OFFSET)
        super().hand_over(consumer, queue)


@_mutant("D151", "Sending the offset of a lost queue waits for the answer.")
class LossWaits(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        store = consumer.store
        if isinstance(store, RemoteStore) and queue in store.table:
            store.commit(queue, store.table[queue].offset, False)
            store.remove(queue)
        else:
            super().hand_over(consumer, queue)


@_mutant("D42", "The offset of a lost queue stays in memory.")
class LostIsRemembered(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist(queue)


@_mutant("D42", "The offset of a lost queue is forgotten before it is sent.")
class ForgottenFirst(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.remove(queue)
        consumer.store.persist(queue)


@_mutant("D25", "Losing a queue forgets the offsets of all others.")
class OthersAreForgotten(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist_all((queue,))
        consumer.store.remove(queue)


@_mutant("D25", "Losing a queue sends the offsets of all others.")
class OthersAreSent(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist_all((queue, *consumer.table))
        consumer.store.remove(queue)


@_mutant("D94", "The process queue of a lost queue is not marked as dropped.")
class LostIsPulledOn(Rebalance):
    def drop(self, owned: OwnedQueue) -> None:
        pass


@_mutant("D41", "A result that comes after the queue was lost counts.")
class LateResultCounts(Rebalance):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        consumer.store.update(queue, offset, True)


@_mutant("D38", "A late result counts when the queue came back.")
class ResultOfEarlierTime(Rebalance):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        if queue in consumer.table:
            consumer.store.update(queue, offset, True)


@_mutant("D41", "A result can lower the offset.")
class ResultMayLower(Rebalance):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        if not owned.dropped:
            consumer.store.update(queue, offset, False)


# --- pulls that stopped --------------------------------------------------------------------------------------


@_mutant("D87", "A queue expires after exactly 120 s.")
class ExpiresEarly(Rebalance):
    def is_forgotten(self, owned: OwnedQueue) -> bool:
        return self.now - owned.pulled >= 120_000


@_mutant("D87", "A queue expires after 120 ms.")
class ExpiresInSeconds(Rebalance):
    def is_forgotten(self, owned: OwnedQueue) -> bool:
        return self.now - owned.pulled > 120


@_mutant("D95", "A queue that is not pulled is never started again.")
class NeverExpires(Rebalance):
    def is_forgotten(self, owned: OwnedQueue) -> bool:
        return False


@_mutant("D87", "A new queue counts as never pulled.")
class BornExpired(Rebalance):
    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: NewPulls) -> None:
        super().begin(consumer, queue, offset, new_pulls)
        consumer.table[queue].pulled = 0


@_mutant("D33", "The offset of an expired queue is not sent.")
class ExpiredIsNotSent(Rebalance):
    def renew(self, consumer: Consumer, queue: int) -> None:
        self.drop(consumer.table.pop(queue))


@_mutant("D95", "An expired queue gets more time instead of a new pull.")
class ExpiredIsOnlyTouched(Rebalance):
    def renew(self, consumer: Consumer, queue: int) -> None:
        consumer.table[queue].pulled = self.now


@_mutant("D81", "Queues of an unsubscribed topic are pulled until the next round.")
class PullsUnsubscribed(Rebalance):
    def pull(self, consumer: Consumer, queue: int) -> Result:
        request = consumer.requests.get(queue)
        if request is None or request.dropped:
            return None
        request.pulled = self.now
        return self.asked(consumer, queue, request.offset)


# --- gaining a queue -----------------------------------------------------------------------------------------


@_mutant("D30", "A gained queue begins at 0 even if an offset is stored.")
class RebalanceNeverAsks(Rebalance):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return 0


@_mutant("D92", "What memory holds of a gained queue is not forgotten.")
class GoesOnFromMemory(Rebalance):
    def clean(self, consumer: Consumer, queue: int) -> None:
        pass


@_mutant("D05", "A queue without a start position begins at 0.")
class BeginsWithoutStart(Rebalance):
    def without_start(self, consumer: Consumer, queue: int, new_pulls: NewPulls) -> None:
        self.begin(consumer, queue, 0, new_pulls)


@_mutant("D06", "A queue without a start position is owned and never pulled.")
class OwnsWithoutStart(Rebalance):
    def without_start(self, consumer: Consumer, queue: int, new_pulls: NewPulls) -> None:
        consumer.table[queue] = OwnedQueue(0, self.now)


@_mutant("D94", "A gained queue has two pull loops.")
class PullsTwice(Rebalance):
    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: NewPulls) -> None:
        super().begin(consumer, queue, offset, new_pulls)
        new_pulls.append((queue, offset))


@_mutant("D95", "A queue that comes back is not pulled.")
class ReturnIsNotPulled(Rebalance):
    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: NewPulls) -> None:
        super().begin(consumer, queue, offset, [] if queue in consumer.requests else new_pulls)


# --- the end -------------------------------------------------------------------------------------------------


@_mutant("D31", "A member that shuts down sends no offsets.")
class EndsInSilence(Rebalance):
    def leave(self, member: int) -> Result:
        self.members[member] = None
        return None


@_mutant("D28", "The timer sends offsets of queues that are not owned.")
class SendsWhatItLost(Rebalance):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return (*consumer.table, *consumer.store.table)


@_mutant("D25", "The timer sends the offset of one queue and forgets the others.")
class SendsOne(Rebalance):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(consumer.table)[:1]


# --- offsets of broadcasting members ------------------------------------------------------------------------


@_mutant("D75", "A broadcasting member keeps its offsets at the broker.")
class BroadcastAtBroker(Rebalance):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.forget()


@_mutant("D75", "The timer of a broadcasting member commits to the broker what it writes.")
class BroadcastCommitsToo(Rebalance):
    def persist(self, consumer: Consumer) -> Result:
        if consumer.broadcasts:
            for queue in consumer.table:
                if queue in consumer.store.table:
                    consumer.positions.remote.send(queue, consumer.store.table[queue].offset)
        return super().persist(consumer)


@_mutant("D75", "A broadcasting member asks the broker for offsets that its file lacks.")
class BroadcastAsksBroker(Rebalance):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        if consumer.broadcasts and consumer.store.read(queue, "store") < 0:
            stored = consumer.positions.remote.read(queue, "store")
            if stored >= 0:
                return stored
        return super().beginning(consumer, queue)


@_mutant("D75", "A pull of a broadcasting member commits.")
class BroadcastPullCommits(Rebalance):
    def keeps_file(self, consumer: Consumer) -> bool:
        return False


@_mutant("D33", "A broadcasting member writes lost queues only.")
class BroadcastNeverPersists(Rebalance):
    def persist(self, consumer: Consumer) -> Result:
        return None if consumer.broadcasts else super().persist(consumer)


@_mutant("D30", "A broadcasting member that begins removes its file.")
class BroadcastLosesFile(Rebalance):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        if broadcasts:
            self.files.pop(client, None)
        super().open_store(positions, client, broadcasts)


@_mutant("D35", "Broadcasting members of all client ids share a file.")
class BroadcastOneFile(Rebalance):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        super().open_store(positions, ORDINARY.clients[0], broadcasts)


@_mutant("D35", "Broadcasting members with the same client id do not share their file.")
class BroadcastFilesByMember(Rebalance):
    def join(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        self.joining = member
        return super().join(member, twin, mode, where, strategy)

    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        super().open_store(positions, ORDINARY.clients[self.joining], broadcasts)


@_mutant("D33", "A broadcasting member forgets a lost queue without writing its offset.")
class BroadcastLostIsNotWritten(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        if not consumer.broadcasts:
            consumer.store.persist(queue)
        consumer.store.remove(queue)


@_mutant("D33", "The offset of a queue that a broadcasting member loses stays in memory.")
class BroadcastLostIsRemembered(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist(queue)
        if not consumer.broadcasts:
            consumer.store.remove(queue)


@_mutant("D25", "The timer of a broadcasting member forgets offsets of queues that are not owned.")
class BroadcastForgetsOthers(Rebalance):
    def persist(self, consumer: Consumer) -> Result:
        super().persist(consumer)
        if consumer.broadcasts and consumer.table:
            for queue in set(consumer.store.table) - set(consumer.table):
                consumer.store.remove(queue)
        return None


@_mutant("D33", "What memory holds of a queue that a broadcasting member gains is not forgotten.")
class BroadcastGoesOnFromMemory(Rebalance):
    def clean(self, consumer: Consumer, queue: int) -> None:
        if not consumer.broadcasts:
            super().clean(consumer, queue)


@_mutant("D36", "A queue that the file lacks begins at 0.")
class BroadcastBeginsAtZero(Rebalance):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        if consumer.broadcasts and consumer.store.read(queue, "store") < 0:
            return 0
        return super().beginning(consumer, queue)
