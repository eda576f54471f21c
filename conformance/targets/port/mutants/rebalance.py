"""Mutants of the port's rebalance, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.allocation import Ids, Queues
from rocketmq_conformance.conformance.targets.port.group_member import RETRY_TOPIC, Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.rebalance import LAST, Rebalance
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.conformance.targets.port.routes import of_topic, readable
from rocketmq_conformance.conformance.targets.port.start import TIMESTAMP, StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError
from rocketmq_conformance.models.client.fixtures import CLIENTS, MEMBER_TIMESTAMP, TOPIC_OF
from rocketmq_conformance.models.outcome import Result

NewPulls = list[tuple[int, int]]

# --- the members ---------------------------------------------------------------------------------------------


class NoListDropsAll(Rebalance):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        return self.own(consumer, topic, (), [])


class RefusalIsEmpty(Rebalance):
    def refused(self) -> tuple[str, ...] | None:
        return ("",)


class LostListIsEmpty(Rebalance):
    def not_listed(self) -> tuple[str, ...] | None:
        return ("",)


class MissingKeeps(Rebalance):
    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: NewPulls) -> bool:
        keeps = not (consumer.broadcasts or wanted)
        return keeps or super().own(consumer, topic, wanted, new_pulls)


class Numbers(Rebalance):
    def in_id_order(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(ids, key=lambda text: [int(part) for part in text.partition("@")[0].split(".")]))


class Unsorted(Rebalance):
    def in_id_order(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        return ids


class OnceOnly(Rebalance):
    def in_id_order(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        return super().in_id_order(tuple(set(ids)))


class Backwards(Rebalance):
    def in_queue_order(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        return queues[::-1]


class ForeignStrategy(Rebalance):
    def share(
        self, strategy: str, client: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        return super().share("AVG", client, queues, ids)


class NearbyIsAveragely(Rebalance):
    def nearby(self, me: str, queues: Queues, ids: Ids) -> Queues:
        return self.allocator.averagely(me, queues, ids)


class ConfiguredByTopic(Rebalance):
    def divided(
        self, consumer: Consumer, topic: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        mine = super().divided(consumer, topic, queues, ids)
        return None if mine is None else tuple([queue for queue in mine if TOPIC_OF[queue] == topic])


class ConfiguredIsBalanced(Rebalance):
    def is_of(self, topic: str, wanted: tuple[int, ...]) -> bool:
        return True


class TimestampIsLast(Rebalance):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        where = LAST if consumer.where == TIMESTAMP else consumer.where
        return consumer.positions.push(queue, where, MEMBER_TIMESTAMP, "UTC")


# --- topics --------------------------------------------------------------------------------------------------


class NoQueuesDropAll(Rebalance):
    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        return self.own(consumer, topic, (), [])


class NoRouteForgets(Rebalance):
    def lost_route(self, consumer: Consumer, topic: str) -> None:
        consumer.routes.pop(topic, None)


class RouteIsFinal(Rebalance):
    def refresh(self, consumer: Consumer) -> Result:
        for topic in consumer.topics:
            try:
                consumer.routes.setdefault(topic, of_topic(topic)[: readable(self.transport.route(topic))])
            except NoRouteError:
                self.lost_route(consumer, topic)
        return None


class FailureEndsRound(Rebalance):
    def is_round_balanced(self, balanced: bool, topic: bool) -> bool:
        self.ended = not topic
        return balanced and topic

    def rebalance_topic(self, consumer: Consumer, topic: str, new_pulls: NewPulls) -> bool:
        if topic == consumer.topics[0]:
            self.ended = False
        return not self.ended and super().rebalance_topic(consumer, topic, new_pulls)


class LastTopicCounts(Rebalance):
    def is_round_balanced(self, balanced: bool, topic: bool) -> bool:
        return topic


class NoListIsUnbalanced(Rebalance):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        return False


class TopicsAreKept(Rebalance):
    def give_up_topics(self, consumer: Consumer) -> None:
        pass


class RetryGoesToo(Rebalance):
    def unsubscribe(self, consumer: Consumer, topic: str) -> Result:
        super().unsubscribe(consumer, RETRY_TOPIC)
        return super().unsubscribe(consumer, topic)


class GivenUpIsCommitted(Rebalance):
    def give_up(self, consumer: Consumer, queue: int) -> None:
        self.lose(consumer, queue)


class GivenUpIsForgotten(Rebalance):
    def give_up(self, consumer: Consumer, queue: int) -> None:
        super().give_up(consumer, queue)
        consumer.store.remove(queue)


class BroadcastShares(Rebalance):
    def everything(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        return queues[:1]


# --- losing a queue ------------------------------------------------------------------------------------------


class LostIsNotSent(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.remove(queue)


class NoneIsSent(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        if isinstance(consumer.store, RemoteStore) and queue not in consumer.store.table:
            consumer.store.send(queue, NO_OFFSET)
        super().hand_over(consumer, queue)


class LossWaits(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        store = consumer.store
        if isinstance(store, RemoteStore) and queue in store.table:
            store.commit(queue, store.table[queue].offset, False)
            store.remove(queue)
        else:
            super().hand_over(consumer, queue)


class LostIsRemembered(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist(queue)


class ForgottenFirst(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.remove(queue)
        consumer.store.persist(queue)


class OthersAreForgotten(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist_all((queue,))
        consumer.store.remove(queue)


class OthersAreSent(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist_all((queue, *consumer.table))
        consumer.store.remove(queue)


class LostIsPulledOn(Rebalance):
    def drop(self, owned: OwnedQueue) -> None:
        pass


class LateResultCounts(Rebalance):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        consumer.store.update(queue, offset, True)


class ResultOfEarlierTime(Rebalance):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        if queue in consumer.table:
            consumer.store.update(queue, offset, True)


class ResultMayLower(Rebalance):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        if not owned.dropped:
            consumer.store.update(queue, offset, False)


# --- pulls that stopped --------------------------------------------------------------------------------------


class ExpiresEarly(Rebalance):
    def is_forgotten(self, owned: OwnedQueue) -> bool:
        return self.now - owned.pulled >= 120_000


class ExpiresInSeconds(Rebalance):
    def is_forgotten(self, owned: OwnedQueue) -> bool:
        return self.now - owned.pulled > 120


class NeverExpires(Rebalance):
    def is_forgotten(self, owned: OwnedQueue) -> bool:
        return False


class BornExpired(Rebalance):
    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: NewPulls) -> None:
        super().begin(consumer, queue, offset, new_pulls)
        consumer.table[queue].pulled = 0


class ExpiredIsNotSent(Rebalance):
    def renew(self, consumer: Consumer, queue: int) -> None:
        self.drop(consumer.table.pop(queue))


class ExpiredIsOnlyPulled(Rebalance):
    def renew(self, consumer: Consumer, queue: int) -> None:
        consumer.table[queue].pulled = self.now


class PullsUnsubscribed(Rebalance):
    def pull(self, consumer: Consumer, queue: int) -> Result:
        request = consumer.requests.get(queue)
        if request is None or request.dropped:
            return None
        request.pulled = self.now
        return self.asked(consumer, queue, request.offset)


# --- gaining a queue -----------------------------------------------------------------------------------------


class NeverAsks(Rebalance):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return 0


class GoesOnFromMemory(Rebalance):
    def clean(self, consumer: Consumer, queue: int) -> None:
        pass


class BeginsWithoutStart(Rebalance):
    def without_start(self, consumer: Consumer, queue: int, new_pulls: NewPulls) -> None:
        self.begin(consumer, queue, 0, new_pulls)


class OwnsWithoutStart(Rebalance):
    def without_start(self, consumer: Consumer, queue: int, new_pulls: NewPulls) -> None:
        consumer.table[queue] = OwnedQueue(0, self.now)


class PullsTwice(Rebalance):
    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: NewPulls) -> None:
        super().begin(consumer, queue, offset, new_pulls)
        new_pulls.append((queue, offset))


class ReturnIsNotPulled(Rebalance):
    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: NewPulls) -> None:
        super().begin(consumer, queue, offset, [] if queue in consumer.requests else new_pulls)


# --- the end -------------------------------------------------------------------------------------------------


class EndsInSilence(Rebalance):
    def leave(self, member: int) -> Result:
        self.members[member] = None
        return None


class SendsWhatItLost(Rebalance):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return (*consumer.table, *consumer.store.table)


class SendsOne(Rebalance):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(consumer.table)[:1]


# --- offsets of broadcasting members ------------------------------------------------------------------------


class BroadcastAtBroker(Rebalance):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.forget()


class BroadcastCommitsToo(Rebalance):
    def persist(self, consumer: Consumer) -> Result:
        if consumer.broadcasts:
            for queue in consumer.table:
                if queue in consumer.store.table:
                    consumer.positions.remote.send(queue, consumer.store.table[queue].offset)
        return super().persist(consumer)


class BroadcastAsksBroker(Rebalance):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        if consumer.broadcasts and consumer.store.read(queue, "store") < 0:
            stored = consumer.positions.remote.read(queue, "store")
            if stored >= 0:
                return stored
        return super().beginning(consumer, queue)


class BroadcastPullCommits(Rebalance):
    def keeps_file(self, consumer: Consumer) -> bool:
        return False


class BroadcastNeverPersists(Rebalance):
    def persist(self, consumer: Consumer) -> Result:
        return None if consumer.broadcasts else super().persist(consumer)


class BroadcastLosesFile(Rebalance):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        if broadcasts:
            self.files.pop(client, None)
        super().open_store(positions, client, broadcasts)


class BroadcastOneFile(Rebalance):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        super().open_store(positions, CLIENTS[0], broadcasts)


class BroadcastFilesByMember(Rebalance):
    def join(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        self.joining = member
        return super().join(member, twin, mode, where, strategy)

    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        super().open_store(positions, CLIENTS[self.joining], broadcasts)


class BroadcastLostIsNotWritten(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        if not consumer.broadcasts:
            consumer.store.persist(queue)
        consumer.store.remove(queue)


class BroadcastLostIsRemembered(Rebalance):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist(queue)
        if not consumer.broadcasts:
            consumer.store.remove(queue)


class BroadcastForgetsOthers(Rebalance):
    def persist(self, consumer: Consumer) -> Result:
        super().persist(consumer)
        if consumer.broadcasts and consumer.table:
            for queue in set(consumer.store.table) - set(consumer.table):
                consumer.store.remove(queue)
        return None


class BroadcastGoesOnFromMemory(Rebalance):
    def clean(self, consumer: Consumer, queue: int) -> None:
        if not consumer.broadcasts:
            super().clean(consumer, queue)


class BroadcastBeginsAtZero(Rebalance):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        if consumer.broadcasts and consumer.store.read(queue, "store") < 0:
            return 0
        return super().beginning(consumer, queue)


_mutant = partial(Mutant.of, "rebalance")

MUTANTS = (
    _mutant("no-list-drops-all", "D26", "Without a member list every queue of the topic is dropped.", NoListDropsAll),
    _mutant("refused-list-is-empty", "D26", "A refused member list reads as one without this member.", RefusalIsEmpty),
    _mutant("lost-list-is-empty", "D26", "A lost member list reads as one without this member.", LostListIsEmpty),
    _mutant("missing-member-keeps", "D26", "A member that is not on the list keeps its queues.", MissingKeeps),
    _mutant("ids-as-numbers", "D18", "Client ids are sorted as addresses, not as texts.", Numbers),
    _mutant("ids-unsorted", "D18", "Client ids are taken in the broker's order.", Unsorted),
    _mutant("ids-once-only", "D20", "An id that is listed twice has one place.", OnceOnly),
    _mutant("queues-backwards-in-rounds", "D18", "The last queue comes first.", Backwards),
    _mutant("always-averagely", "D24", "AVG_BY_CIRCLE is a stub that calls AVG.", ForeignStrategy),
    _mutant("group-nearby-is-averagely", "D24", "Members take MACHINE_ROOM_NEARBY for AVG.", NearbyIsAveragely),
    _mutant("configured-by-topic", "D24", "Of configured queues only those of the topic are taken.", ConfiguredByTopic),
    _mutant("configured-is-balanced", "D80", "A topic is balanced whatever else is configured.", ConfiguredIsBalanced),
    _mutant("group-timestamp-is-last", "D51", "Members of a group take TIMESTAMP for LAST.", TimestampIsLast),
    _mutant(
        "no-queues-drop-all", "D82", "A cluster drops the queues of a topic without readable ones.", NoQueuesDropAll
    ),
    _mutant("no-route-forgets", "D82", "A lost route makes the queues of the topic unknown.", NoRouteForgets),
    _mutant("route-is-final", "D95", "Queues that are added later are never seen.", RouteIsFinal),
    _mutant("failure-ends-round", "D79", "A topic that is not in balance ends the round.", FailureEndsRound),
    _mutant("last-topic-counts", "D80", "Only the last topic says whether a round is balanced.", LastTopicCounts),
    _mutant("no-list-is-unbalanced", "D80", "A topic without member list is not in balance.", NoListIsUnbalanced),
    _mutant("topics-are-kept", "D81", "Queues of an unsubscribed topic stay.", TopicsAreKept),
    _mutant("retry-goes-too", "D81", "Unsubscribing a topic gives up the retry topic.", RetryGoesToo),
    _mutant("given-up-is-committed", "D81", "Queues of an unsubscribed topic are committed.", GivenUpIsCommitted),
    _mutant(
        "given-up-is-forgotten", "D81", "Offsets of an unsubscribed topic are forgotten at once.", GivenUpIsForgotten
    ),
    _mutant("broadcast-shares", "D75", "A broadcasting member owns one queue of a topic.", BroadcastShares),
    _mutant("lost-is-not-sent", "D33", "The offset of a lost queue is not sent.", LostIsNotSent),
    _mutant("none-is-sent", "D28", "A lost queue without an offset in memory is committed as -1.", NoneIsSent),
    _mutant("loss-waits", "D151", "Sending the offset of a lost queue waits for the answer.", LossWaits),
    _mutant("lost-is-remembered", "D42", "The offset of a lost queue stays in memory.", LostIsRemembered),
    _mutant("forgotten-first", "D42", "The offset of a lost queue is forgotten before it is sent.", ForgottenFirst),
    _mutant("others-are-forgotten", "D25", "Losing a queue forgets the offsets of all others.", OthersAreForgotten),
    _mutant("others-are-sent", "D25", "Losing a queue sends the offsets of all others.", OthersAreSent),
    _mutant("lost-is-pulled-on", "D94", "The process queue of a lost queue is not marked as dropped.", LostIsPulledOn),
    _mutant("late-result-counts", "D41", "A result that comes after the queue was lost counts.", LateResultCounts),
    _mutant("result-of-earlier-time", "D38", "A late result counts when the queue came back.", ResultOfEarlierTime),
    _mutant("result-may-lower", "D41", "A result can lower the offset.", ResultMayLower),
    _mutant("expires-early", "D87", "A queue expires after exactly 120 s.", ExpiresEarly),
    _mutant("expires-in-seconds", "D87", "A queue expires after 120 ms.", ExpiresInSeconds),
    _mutant("never-expires", "D95", "A queue that is not pulled is never started again.", NeverExpires),
    _mutant("born-expired", "D87", "A new queue counts as never pulled.", BornExpired),
    _mutant("expired-is-not-sent", "D33", "The offset of an expired queue is not sent.", ExpiredIsNotSent),
    _mutant(
        "expired-is-only-touched", "D95", "An expired queue gets more time instead of a new pull.", ExpiredIsOnlyPulled
    ),
    _mutant(
        "pulls-unsubscribed",
        "D81",
        "Queues of an unsubscribed topic are pulled until the next round.",
        PullsUnsubscribed,
    ),
    _mutant("rebalance-never-asks", "D30", "A gained queue begins at 0 even if an offset is stored.", NeverAsks),
    _mutant("goes-on-from-memory", "D92", "What memory holds of a gained queue is not forgotten.", GoesOnFromMemory),
    _mutant("begins-without-start", "D05", "A queue without a start position begins at 0.", BeginsWithoutStart),
    _mutant(
        "owns-without-start", "D06", "A queue without a start position is owned and never pulled.", OwnsWithoutStart
    ),
    _mutant("pulls-twice", "D94", "A gained queue has two pull loops.", PullsTwice),
    _mutant("return-is-not-pulled", "D95", "A queue that comes back is not pulled.", ReturnIsNotPulled),
    _mutant("ends-in-silence", "D31", "A member that shuts down sends no offsets.", EndsInSilence),
    _mutant("sends-what-it-lost", "D28", "The timer sends offsets of queues that are not owned.", SendsWhatItLost),
    _mutant("sends-one", "D25", "The timer sends the offset of one queue and forgets the others.", SendsOne),
    _mutant("broadcast-at-broker", "D75", "A broadcasting member keeps its offsets at the broker.", BroadcastAtBroker),
    _mutant(
        "broadcast-commits-too",
        "D75",
        "The timer of a broadcasting member commits to the broker what it writes.",
        BroadcastCommitsToo,
    ),
    _mutant(
        "broadcast-asks-broker",
        "D75",
        "A broadcasting member asks the broker for offsets that its file lacks.",
        BroadcastAsksBroker,
    ),
    _mutant(
        "broadcast-pull-commits",
        "D75",
        "A pull of a broadcasting member commits.",
        BroadcastPullCommits,
    ),
    _mutant(
        "broadcast-never-persists", "D33", "A broadcasting member writes lost queues only.", BroadcastNeverPersists
    ),
    _mutant("broadcast-loses-file", "D30", "A broadcasting member that begins removes its file.", BroadcastLosesFile),
    _mutant("broadcast-one-file", "D35", "Broadcasting members of all client ids share a file.", BroadcastOneFile),
    _mutant(
        "broadcast-files-by-member",
        "D35",
        "Broadcasting members with the same client id do not share their file.",
        BroadcastFilesByMember,
    ),
    _mutant(
        "broadcast-lost-is-not-written",
        "D33",
        "A broadcasting member forgets a lost queue without writing its offset.",
        BroadcastLostIsNotWritten,
    ),
    _mutant(
        "broadcast-lost-is-remembered",
        "D33",
        "The offset of a queue that a broadcasting member loses stays in memory.",
        BroadcastLostIsRemembered,
    ),
    _mutant(
        "broadcast-forgets-others",
        "D25",
        "The timer of a broadcasting member forgets offsets of queues that are not owned.",
        BroadcastForgetsOthers,
    ),
    _mutant(
        "broadcast-goes-on-from-memory",
        "D33",
        "What memory holds of a queue that a broadcasting member gains is not forgotten.",
        BroadcastGoesOnFromMemory,
    ),
    _mutant("broadcast-begins-at-zero", "D36", "A queue that the file lacks begins at 0.", BroadcastBeginsAtZero),
)
