"""Mutants of the port's rebalance by the broker, after real defects of clients."""

from __future__ import annotations

import json
from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
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

# --- asking --------------------------------------------------------------------------------------------------


class FailureIsEmpty(RebalanceBroker):
    def not_assigned(self) -> Assignment | None:
        return NOTHING


class NullIsEmpty(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        return super().read(body) or NOTHING


class EmptyIsNull(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        given = super().read(body)
        return None if given == NOTHING else given


class FallsBack(RebalanceBroker):
    def unassigned(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        return self.rebalance_topic(consumer, topic, new_requests.pulls)


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


class ProbesEveryRound(RebalanceBroker):
    def assignment(self, consumer: AssignedConsumer, topic: str) -> Assignment | None:
        super().assignment(consumer, topic)
        return super().assignment(consumer, topic)


class AsksAgain(RebalanceBroker):
    def assignment(self, consumer: AssignedConsumer, topic: str) -> Assignment | None:
        return super().assignment(consumer, topic) or super().assignment(consumer, topic)


class UnknownIsBalanced(RebalanceBroker):
    def unassigned(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        return True


class RouteMustBeKnown(RebalanceBroker):
    def learn(self, consumer: AssignedConsumer, topic: str) -> bool:
        return False


class FailureEndsAssigning(RebalanceBroker):
    def round(self, consumer: AssignedConsumer) -> Result:
        self.ended = False
        return super().round(consumer)

    def rebalance_one(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        return not self.ended and super().rebalance_one(consumer, topic, new_requests)

    def unassigned(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        self.ended = True
        return False


class BroadcastAsks(RebalanceBroker):
    def rebalance_one(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        given = self.assignment(consumer, topic)
        return False if given is None else self.take_over(consumer, topic, given, new_requests)


class LastAssignmentCounts(RebalanceBroker):
    def is_round_balanced(self, balanced: bool, topic: bool) -> bool:
        return topic


# --- reading -------------------------------------------------------------------------------------------------


class AllQueuesAreNone(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        given = super().read(body)
        return given and given._replace(pop=tuple([number for number in given.pop if number >= 0]))


class NoQueueIsAll(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        given = super().read(body)
        odd = given and any("messageQueue" not in one for one in json.loads(body)["messageQueueAssignments"])
        return given._replace(pop=(*given.pop, -1)) if given and odd and -1 not in given.pop else given


class NoModeIsNothing(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        given = super().read(body)
        odd = given and any("mode" not in one for one in json.loads(body)["messageQueueAssignments"])
        return given._replace(pull=()) if given and odd else given


class ModeIsIgnored(RebalanceBroker):
    def read(self, body: bytes) -> Assignment | None:
        given = super().read(body)
        popped = given and tuple([number for number in given.pop if number >= 0 and number not in given.pull])
        return given and Assignment(given.pull + (popped or ()), ())


# --- pulling and popping -------------------------------------------------------------------------------------


class PulledOnWhenPopped(RebalanceBroker):
    def take_over(self, consumer: AssignedConsumer, topic: str, given: Assignment, new_requests: NewRequests) -> bool:
        if given.pop and not given.pull:
            self.try_again(consumer, f"{RETRY}G_{topic}", given)
            self.own_pops(consumer, topic, given.pop, new_requests)
            return self.has(consumer, topic) == {*given.pop}
        return super().take_over(consumer, topic, given, new_requests)


class PoppedOnWhenPulled(RebalanceBroker):
    def own_pops(
        self, consumer: AssignedConsumer, topic: str, wanted: tuple[int, ...], new_requests: NewRequests
    ) -> None:
        kept = tuple([number for named, number in consumer.pops if named == topic and number not in wanted])
        super().own_pops(consumer, topic, wanted + kept, new_requests)


class OnlyPullsCount(RebalanceBroker):
    def take_over(self, consumer: AssignedConsumer, topic: str, given: Assignment, new_requests: NewRequests) -> bool:
        return super().take_over(consumer, topic, given, new_requests) and not given.pop


class NeverFromFirst(RebalanceBroker):
    def first_pop(self, consumer: AssignedConsumer) -> int:
        return FROM_LAST


class PopNeverExpires(RebalanceBroker):
    def is_idle(self, owned: PopQueue) -> bool:
        return False


class PopExpiresEarly(RebalanceBroker):
    def is_idle(self, owned: PopQueue) -> bool:
        return self.now - owned.popped >= 120_000


class LostIsPoppedOn(RebalanceBroker):
    def drop_pop(self, owned: PopQueue) -> None:
        pass


class PopsAreKept(RebalanceBroker):
    def give_up_pops(self, consumer: AssignedConsumer) -> None:
        pass


class OwnedTwiceIsPulled(RebalanceBroker):
    def gain_pop(self, consumer: AssignedConsumer, queue: Popped, new_requests: NewRequests) -> None:
        topic, number = queue
        if number not in self.pulled(consumer, topic):
            super().gain_pop(consumer, queue, new_requests)

    def pulled(self, consumer: AssignedConsumer, topic: str) -> set[int]:
        return {number for number in self.has(consumer, topic) if (topic, number) not in consumer.pops}


# --- retry topics -------------------------------------------------------------------------------------------


class NeverTriedAgain(RebalanceBroker):
    def try_again(self, consumer: AssignedConsumer, topic: str, given: Assignment) -> None:
        pass


class TriedAgainForEver(RebalanceBroker):
    def try_again(self, consumer: AssignedConsumer, topic: str, given: Assignment) -> None:
        if given.pull:
            super().try_again(consumer, topic, given)


class EmptyIsPopped(RebalanceBroker):
    def try_again(self, consumer: AssignedConsumer, topic: str, given: Assignment) -> None:
        if given == NOTHING:
            self.unsubscribe(consumer, topic)
        super().try_again(consumer, topic, given)


class RetryOfRetry(RebalanceBroker):
    def take_over(self, consumer: AssignedConsumer, topic: str, given: Assignment, new_requests: NewRequests) -> bool:
        if topic == f"{RETRY}G":
            self.try_again(consumer, f"{RETRY}G_NEXT", given)
        return super().take_over(consumer, topic, given, new_requests)


class RetryWaits(RebalanceBroker):
    def topics_in_order(self, consumer: AssignedConsumer) -> tuple[str, ...]:
        return tuple([topic for topic in super().topics_in_order(consumer) if topic in consumer.topics])


class RetryAtOnce(RebalanceBroker):
    def topics_in_order(self, consumer: AssignedConsumer) -> tuple[str, ...]:
        return tuple(sorted(super().topics_in_order(consumer), key=lambda topic: topic.startswith(RETRY)))


class BroadcastAtBroker(RebalanceBroker):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.forget()


_mutant = partial(Mutant.of, "rebalance-broker")

MUTANTS = (
    _mutant("assignment-failure-is-empty", "D87", "Without an assignment every queue is dropped.", FailureIsEmpty),
    _mutant("null-assignment-is-empty", "D88", "An answer without assignments assigns nothing.", NullIsEmpty),
    _mutant("empty-assignment-is-null", "D88", "An empty assignment keeps what there is.", EmptyIsNull),
    _mutant("falls-back", "D87", "A round without an assignment is one of the client's own.", FallsBack),
    _mutant(
        "falls-back-for-good", "D87", "After one failure the client rebalances the topic itself.", FallsBackForGood
    ),
    _mutant("probes-every-round", "D87", "The broker is asked whether it assigns in every round.", ProbesEveryRound),
    _mutant("asks-for-assignment-again", "D87", "A failed request for the assignment is repeated at once.", AsksAgain),
    _mutant("unassigned-is-balanced", "D80", "A topic without assignment is in balance.", UnknownIsBalanced),
    _mutant(
        "assigned-route-must-be-known",
        "D82",
        "No broker is asked for a topic whose route is not known yet.",
        RouteMustBeKnown,
    ),
    _mutant("failure-ends-assigning", "D79", "The topics after one without assignment wait.", FailureEndsAssigning),
    _mutant("broadcast-asks", "D75", "A broadcasting member has what the broker assigns.", BroadcastAsks),
    _mutant("last-assignment-counts", "D80", "Only the last topic says whether it is balanced.", LastAssignmentCounts),
    _mutant("all-queues-are-none", "D88", "Queue -1 is no queue.", AllQueuesAreNone),
    _mutant("no-queue-is-all", "D88", "An assignment without queue reads as queue -1.", NoQueueIsAll),
    _mutant("no-mode-is-nothing", "D88", "An assignment without mode is ignored.", NoModeIsNothing),
    _mutant("assigned-mode-is-ignored", "D86", "What is to be popped is pulled.", ModeIsIgnored),
    _mutant("pulled-on-when-popped", "D86", "A topic that is popped now is pulled on.", PulledOnWhenPopped),
    _mutant("popped-on-when-pulled", "D86", "A topic that is pulled now is popped on.", PoppedOnWhenPulled),
    _mutant("only-pulls-count", "D80", "What is popped is not in balance.", OnlyPullsCount),
    _mutant("never-from-first", "D86", "ConsumeFromWhere does not count for pops.", NeverFromFirst),
    _mutant("pop-never-expires", "D95", "A queue that is not popped is never started again.", PopNeverExpires),
    _mutant("pop-expires-early", "D57", "A queue to pop from expires after exactly 120 s.", PopExpiresEarly),
    _mutant("lost-is-popped-on", "D94", "A lost queue to pop from is not marked as dropped.", LostIsPoppedOn),
    _mutant("pops-are-kept", "D81", "Queues to pop from of an unsubscribed topic stay.", PopsAreKept),
    _mutant("assigned-twice-is-pulled", "D86", "A queue that is pulled is not popped too.", OwnedTwiceIsPulled),
    _mutant("never-tried-again", "D56", "Popped messages are never pulled from their retry topic.", NeverTriedAgain),
    _mutant("tried-again-for-ever", "D81", "The retry topic of popped messages is not given up.", TriedAgainForEver),
    _mutant("empty-assignment-is-popped", "D86", "An empty assignment gives up the retry topic.", EmptyIsPopped),
    _mutant("retry-of-retry", "D56", "The group's retry topic brings in one more.", RetryOfRetry),
    _mutant("new-retry-topic-waits", "D82", "A topic that is new in a round waits for the next.", RetryWaits),
    _mutant("retry-topics-come-last", "D82", "A round comes to retry topics last.", RetryAtOnce),
    _mutant(
        "assigned-broadcast-at-broker",
        "D75",
        "A broadcasting member's offsets are kept at the broker.",
        BroadcastAtBroker,
    ),
)
