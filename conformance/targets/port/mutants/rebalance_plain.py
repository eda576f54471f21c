"""Mutants of the port's plain pull consumers, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import RETRY_TOPIC, Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance import PULL_EXPIRY, Rebalance
from rocketmq_conformance.conformance.targets.port.rebalance_plain import ListenerError, PlainConsumer, RebalancePlain
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.models.client.member_settings import MEMBER_TIMESTAMP
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "rebalance-plain")


@_mutant("D05", "A queue without a known start is not owned.")
class PlainAsksForStart(RebalancePlain):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return consumer.positions.push(queue, consumer.where, MEMBER_TIMESTAMP, "UTC")


@_mutant("D87", "A queue that the application does not pull is started again.")
class PlainExpires(RebalancePlain):
    def is_forgotten(self, owned: OwnedQueue) -> bool:
        return self.now - owned.pulled > PULL_EXPIRY


@_mutant("D92", "What the application set survives a new assignment.")
class PlainKeepsWhatWasSet(RebalancePlain):
    def clean(self, consumer: Consumer, queue: int) -> None:
        pass


@_mutant("D33", "A plain pull consumer does not send the offset of a lost queue.")
class PlainIsNotSent(RebalancePlain):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.remove(queue)


@_mutant("D79", "What a plain pull consumer's listener throws ends the round.")
class PlainFailureEndsRound(RebalancePlain):
    ended = False

    def round(self, consumer: PlainConsumer, fails: bool) -> Result:
        self.ended = False
        return super().round(consumer, fails)

    def rebalance_topic(self, consumer: Consumer, topic: str, new_pulls: list[tuple[int, int]]) -> bool:
        return self.ended or super().rebalance_topic(consumer, topic, new_pulls)

    def call_listener(self, consumer: Consumer, topic: str, every: tuple[int, ...], mine: tuple[int, ...]) -> None:
        self.ended = self.fails
        super().call_listener(consumer, topic, every, mine)


@_mutant("D80", "What the listener throws counts as imbalance.")
class PlainFailureIsUnbalanced(RebalancePlain):
    failed = False

    def rebalance_topic(self, consumer: Consumer, topic: str, new_pulls: list[tuple[int, int]]) -> bool:
        self.failed = False
        return super().rebalance_topic(consumer, topic, new_pulls) and not self.failed

    def call_listener(self, consumer: Consumer, topic: str, every: tuple[int, ...], mine: tuple[int, ...]) -> None:
        try:
            super().call_listener(consumer, topic, every, mine)
        except ListenerError:
            self.failed = True


@_mutant("D18", "A plain pull consumer's listener gets its own queues in place of all.")
class PlainHearsItsOwn(RebalancePlain):
    def call_listener(self, consumer: Consumer, topic: str, every: tuple[int, ...], mine: tuple[int, ...]) -> None:
        super().call_listener(consumer, topic, mine, mine)


@_mutant("D95", "The listener is not called for lost queues.")
class PlainHearsGains(RebalancePlain):
    def lose(self, consumer: Consumer, queue: int) -> None:
        moved = self.moved
        super().lose(consumer, queue)
        self.moved = moved


@_mutant("D82", "The listener is not called for a topic without queues.")
class PlainHearsNoNothing(RebalancePlain):
    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        return True


@_mutant("D82", "Queues of an unknown topic are dropped.")
class PlainForgetsUnknown(RebalancePlain):
    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        super().without_queues(consumer, topic)
        for queue in list(consumer.table):
            if queue in consumer.routes.get(topic, (queue,)):
                self.lose(consumer, queue)
        return True


@_mutant("D95", "A route that changed without a subscription is learned later.")
class PlainLearnsWhatItMissed(RebalancePlain):
    def refresh(self, consumer: Consumer) -> Result:
        return Rebalance.refresh(self, consumer)


@_mutant("D81", "A plain pull consumer owns queues of a retry topic.")
class PlainHasRetryTopic(RebalancePlain):
    def join(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        super().join(member, twin, mode, where, strategy)
        consumer = self.members[member]
        if consumer is not None and not consumer.broadcasts:
            consumer.topics.append(RETRY_TOPIC)
            self.refresh(consumer)
        return None


@_mutant("D75", "A broadcasting consumer's offsets are kept at the broker.")
class PlainBroadcastAtBroker(RebalancePlain):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.forget()
