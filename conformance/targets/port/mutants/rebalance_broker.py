"""Mutants of the port's rebalance by the broker, after real defects of clients."""

from __future__ import annotations

import json

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.rebalance_broker import (
    FROM_LAST,
    RETRY,
    AssignedConsumer,
    Assignment,
    NewRequests,
    Popped,
    PopQueue,
    RebalanceBroker,
)
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.models.outcome import Result

NOTHING = Assignment((), ())

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "rebalance-broker")


# --- asking --------------------------------------------------------------------------------------------------


@_mutant("D87", "Without an assignment every queue is dropped.")
class AssignmentFailureIsEmpty(RebalanceBroker):
    def not_assigned(self) -> Assignment | None:
        return NOTHING


@_mutant("D88", "An answer without assignments assigns nothing.")
class NullAssignmentIsEmpty(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        return super().read(body) or NOTHING


@_mutant("D88", "An empty assignment keeps what there is.")
class EmptyAssignmentIsNull(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        given = super().read(body)
        return None if given == NOTHING else given


@_mutant("D87", "A round without an assignment is one of the client's own.")
class FallsBack(RebalanceBroker):
    def unassigned(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        return self.rebalance_topic(consumer, topic, new_requests.pulls)


@_mutant("D87", "After one failure the client rebalances the topic itself.")
class FallsBackForGood(RebalanceBroker):
    def forget(self) -> None:
        self.given_up: set[tuple[str, str]] = set()
        super().forget()

    def rebalance_one(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        if (consumer.client, topic) in self.given_up:
            return self.rebalance_topic(consumer, topic, new_requests.pulls)
        return super().rebalance_one(consumer, topic, new_requests)

    def unassigned(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        self.given_up.add((consumer.client, topic))
        return super().unassigned(consumer, topic, new_requests)


@_mutant("D87", "The broker is asked whether it assigns in every round.")
class ProbesEveryRound(RebalanceBroker):
    def assignment(self, consumer: AssignedConsumer, topic: str) -> Assignment | None:
        super().assignment(consumer, topic)
        return super().assignment(consumer, topic)


@_mutant("D87", "A failed request for the assignment is repeated at once.")
class AsksForAssignmentAgain(RebalanceBroker):
    def assignment(self, consumer: AssignedConsumer, topic: str) -> Assignment | None:
        return super().assignment(consumer, topic) or super().assignment(consumer, topic)


@_mutant("D80", "A topic without assignment is in balance.")
class UnassignedIsBalanced(RebalanceBroker):
    def unassigned(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        return True


@_mutant("D82", "No broker is asked for a topic whose route is not known yet.")
class AssignedRouteMustBeKnown(RebalanceBroker):
    def learn(self, consumer: AssignedConsumer, topic: str) -> bool:
        return False


@_mutant("D79", "The topics after one without assignment wait.")
class FailureEndsAssigning(RebalanceBroker):
    def round(self, consumer: AssignedConsumer) -> Result:
        self.ended = False
        return super().round(consumer)

    def rebalance_one(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        return not self.ended and super().rebalance_one(consumer, topic, new_requests)

    def unassigned(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        self.ended = True
        return False


@_mutant("D75", "A broadcasting member has what the broker assigns.")
class BroadcastAsks(RebalanceBroker):
    def rebalance_one(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        given = self.assignment(consumer, topic)
        return False if given is None else self.take_over(consumer, topic, given, new_requests)


@_mutant("D80", "Only the last topic says whether it is balanced.")
class LastAssignmentCounts(RebalanceBroker):
    def is_round_balanced(self, balanced: bool, topic: bool) -> bool:
        return topic


# --- reading -------------------------------------------------------------------------------------------------


@_mutant("D88", "Queue -1 is no queue.")
class AllQueuesAreNone(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        given = super().read(body)
        return given and given._replace(pop=tuple([number for number in given.pop if number >= 0]))


@_mutant("D88", "An assignment without queue reads as queue -1.")
class NoQueueIsAll(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        given = super().read(body)
        odd = given and any("messageQueue" not in one for one in json.loads(body)["messageQueueAssignments"])
        return given._replace(pop=(*given.pop, -1)) if given and odd and -1 not in given.pop else given


@_mutant("D88", "An assignment without mode is ignored.")
class NoModeIsNothing(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        given = super().read(body)
        odd = given and any("mode" not in one for one in json.loads(body)["messageQueueAssignments"])
        return given._replace(pull=()) if given and odd else given


@_mutant("D86", "What is to be popped is pulled.")
class AssignedModeIsIgnored(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        given = super().read(body)
        popped = given and tuple([number for number in given.pop if number >= 0 and number not in given.pull])
        return given and Assignment(given.pull + (popped or ()), ())


# --- pulling and popping -------------------------------------------------------------------------------------


@_mutant("D86", "A topic that is popped now is pulled on.")
class PulledOnWhenPopped(RebalanceBroker):
    def take_over(self, consumer: AssignedConsumer, topic: str, given: Assignment, new_requests: NewRequests) -> bool:
        if given.pop and not given.pull:
            self.try_again(consumer, f"{RETRY}G_{topic}", given)
            self.own_pops(consumer, topic, given.pop, new_requests)
            return self.has(consumer, topic) == {*given.pop}
        return super().take_over(consumer, topic, given, new_requests)


@_mutant("D86", "A topic that is pulled now is popped on.")
class PoppedOnWhenPulled(RebalanceBroker):
    def own_pops(
        self, consumer: AssignedConsumer, topic: str, wanted: tuple[int, ...], new_requests: NewRequests
    ) -> None:
        kept = tuple([number for named, number in consumer.pops if named == topic and number not in wanted])
        super().own_pops(consumer, topic, wanted + kept, new_requests)


@_mutant("D80", "What is popped is not in balance.")
class OnlyPullsCount(RebalanceBroker):
    def take_over(self, consumer: AssignedConsumer, topic: str, given: Assignment, new_requests: NewRequests) -> bool:
        return super().take_over(consumer, topic, given, new_requests) and not given.pop


@_mutant("D86", "ConsumeFromWhere does not count for pops.")
class NeverFromFirst(RebalanceBroker):
    def first_pop(self, consumer: AssignedConsumer) -> int:
        return FROM_LAST


@_mutant("D95", "A queue that is not popped is never started again.")
class PopNeverExpires(RebalanceBroker):
    def is_idle(self, owned: PopQueue) -> bool:
        return False


@_mutant("D57", "A queue to pop from expires after exactly 120 s.")
class PopExpiresEarly(RebalanceBroker):
    def is_idle(self, owned: PopQueue) -> bool:
        return self.now - owned.popped >= 120_000


@_mutant("D94", "A lost queue to pop from is not marked as dropped.")
class LostIsPoppedOn(RebalanceBroker):
    def drop_pop(self, owned: PopQueue) -> None:
        pass


@_mutant("D81", "Queues to pop from of an unsubscribed topic stay.")
class PopsAreKept(RebalanceBroker):
    def give_up_pops(self, consumer: AssignedConsumer) -> None:
        pass


@_mutant("D86", "A queue that is pulled is not popped too.")
class AssignedTwiceIsPulled(RebalanceBroker):
    def gain_pop(self, consumer: AssignedConsumer, queue: Popped, new_requests: NewRequests) -> None:
        topic, number = queue
        if number not in self.pulled(consumer, topic):
            super().gain_pop(consumer, queue, new_requests)

    def pulled(self, consumer: AssignedConsumer, topic: str) -> set[int]:
        return {number for number in self.has(consumer, topic) if (topic, number) not in consumer.pops}


# --- retry topics -------------------------------------------------------------------------------------------


@_mutant("D56", "Popped messages are never pulled from their retry topic.")
class NeverTriedAgain(RebalanceBroker):
    def try_again(self, consumer: AssignedConsumer, topic: str, given: Assignment) -> None:
        pass


@_mutant("D81", "The retry topic of popped messages is not given up.")
class TriedAgainForEver(RebalanceBroker):
    def try_again(self, consumer: AssignedConsumer, topic: str, given: Assignment) -> None:
        if given.pull:
            super().try_again(consumer, topic, given)


@_mutant("D86", "An empty assignment gives up the retry topic.")
class EmptyAssignmentIsPopped(RebalanceBroker):
    def try_again(self, consumer: AssignedConsumer, topic: str, given: Assignment) -> None:
        if given == NOTHING:
            self.unsubscribe(consumer, topic)
        super().try_again(consumer, topic, given)


@_mutant("D56", "The group's retry topic brings in one more.")
class RetryOfRetry(RebalanceBroker):
    def take_over(self, consumer: AssignedConsumer, topic: str, given: Assignment, new_requests: NewRequests) -> bool:
        if topic == f"{RETRY}G":
            self.try_again(consumer, f"{RETRY}G_NEXT", given)
        return super().take_over(consumer, topic, given, new_requests)


@_mutant("D82", "A topic that is new in a round waits for the next.")
class NewRetryTopicWaits(RebalanceBroker):
    def topics_in_order(self, consumer: AssignedConsumer) -> tuple[str, ...]:
        return tuple([topic for topic in super().topics_in_order(consumer) if topic in consumer.topics])


@_mutant("D82", "A round comes to retry topics last.")
class RetryTopicsComeLast(RebalanceBroker):
    def topics_in_order(self, consumer: AssignedConsumer) -> tuple[str, ...]:
        return tuple(sorted(super().topics_in_order(consumer), key=lambda topic: topic.startswith(RETRY)))


@_mutant("D75", "A broadcasting member's offsets are kept at the broker.")
class AssignedBroadcastAtBroker(RebalanceBroker):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.forget()
