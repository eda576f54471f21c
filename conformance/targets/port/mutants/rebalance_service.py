"""Mutants of the port's rebalance timer, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.rebalance_service import (
    PERIOD,
    RETRY_PERIOD,
    Member,
    RebalanceService,
)
from rocketmq_conformance.models.outcome import Result


class NeverRetries(RebalanceService):
    def period(self, balanced: bool) -> int:
        return PERIOD


class AlwaysRetries(RebalanceService):
    def period(self, balanced: bool) -> int:
        return RETRY_PERIOD


class LastMemberCounts(RebalanceService):
    def is_round_balanced(self, balanced: bool, member: bool) -> bool:
        return member


class FirstMemberCounts(RebalanceService):
    def is_round_balanced(self, balanced: bool, member: bool) -> bool:
        return balanced if self.seen_one() else member

    def seen_one(self) -> bool:
        self.odd = not getattr(self, "odd", True)
        return self.odd


class WakesAtOnce(RebalanceService):
    def wake(self) -> None:
        self.round()


class EarlyWakeIsLost(RebalanceService):
    def wake(self) -> None:
        if self.now - self.last >= RETRY_PERIOD:
            self.round()


class EarlyWakeWaits(RebalanceService):
    def wake(self) -> None:
        if self.now - self.last < RETRY_PERIOD:
            self.next = self.now + RETRY_PERIOD
        else:
            self.round()


class EarlyByOne(RebalanceService):
    def wake(self) -> None:
        if self.now - self.last <= RETRY_PERIOD:
            self.next = self.last + RETRY_PERIOD
        else:
            self.round()


class WakesInPeriods(RebalanceService):
    def wake(self) -> None:
        due = self.next
        super().wake()
        if self.last == self.now:
            self.next = due


class NotificationIsIgnored(RebalanceService):
    def wake(self) -> None:
        pass


class PausedTakesPart(RebalanceService):
    def takes_part(self, member: Member) -> bool:
        return member.enabled


class LeftOutIsBalanced(RebalanceService):
    def is_balanced_without(self, member: Member) -> bool:
        return True


class LeftOutIsUnbalanced(RebalanceService):
    def is_balanced_without(self, member: Member) -> bool:
        return False


class DisabledTakesPart(RebalanceService):
    def takes_part(self, member: Member) -> bool:
        return not member.paused


class ResumesLater(RebalanceService):
    def resume(self) -> Result:
        super().resume()
        return ()


class ResumesTheTimer(RebalanceService):
    def resume(self) -> Result:
        result = super().resume()
        self.last, self.next = self.now, self.now + PERIOD
        return result


class ResumesAll(RebalanceService):
    def resume(self) -> Result:
        super().resume()
        return tuple(name for name, member in self.members.items() if self.takes_part(member))


class RefusalEndsTheRound(RebalanceService):
    def round(self) -> None:
        self.ended = False
        super().round()

    def takes_part(self, member: Member) -> bool:
        return not self.ended and super().takes_part(member)

    def rebalance(self, member: Member) -> bool:
        self.ended = member.refuses
        return super().rebalance(member)


_mutant = partial(Mutant.of, "rebalance-service")

MUTANTS = (
    _mutant(
        "never-soon",
        "D80",
        "A round that is not balanced is followed by another only after the usual period.",
        NeverRetries,
    ),
    _mutant("always-soon", "D80", "A round comes every second.", AlwaysRetries),
    _mutant(
        "last-consumer-counts", "D80", "Only the last consumer says whether a round is balanced.", LastMemberCounts
    ),
    _mutant("first-consumer-counts", "D80", "Only the first consumer says so.", FirstMemberCounts),
    _mutant("wakes-at-once", "D79", "Notifications make rounds without a pause.", WakesAtOnce),
    _mutant("early-wake-is-lost", "D95", "A notification right after a round is forgotten.", EarlyWakeIsLost),
    _mutant("early-wake-waits", "D95", "Notifications put a round off again and again.", EarlyWakeWaits),
    _mutant("early-by-one", "D95", "A notification after exactly a second is postponed.", EarlyByOne),
    _mutant("wakes-in-periods", "D95", "A notification does not restart the period.", WakesInPeriods),
    _mutant("notification-is-ignored", "D95", "Notifications are ignored.", NotificationIsIgnored),
    _mutant("paused-takes-part", "D81", "A paused consumer rebalances.", PausedTakesPart),
    _mutant("paused-is-balanced", "D80", "A paused consumer counts as balanced.", LeftOutIsBalanced),
    _mutant("disabled-is-unbalanced", "D80", "Who may not rebalance counts as not balanced.", LeftOutIsUnbalanced),
    _mutant("disabled-takes-part", "D81", "A pull consumer rebalances that may not.", DisabledTakesPart),
    _mutant("resumes-later", "D95", "A resumed consumer waits for the next round.", ResumesLater),
    _mutant("resume-is-a-round", "D95", "Resuming restarts the period.", ResumesTheTimer),
    _mutant("resume-rebalances-all", "D81", "Resuming one consumer lets all rebalance.", ResumesAll),
    _mutant("refusal-ends-the-round", "D79", "A strategy that refuses ends the round of all.", RefusalEndsTheRound),
)
