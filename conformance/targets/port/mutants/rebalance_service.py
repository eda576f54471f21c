"""Mutants of the port's rebalance timer, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.rebalance_service import (
    PERIOD,
    RETRY_PERIOD,
    Member,
    RebalanceService,
)
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "rebalance-service")


@_mutant("D80", "A round that is not balanced is followed by another only after the usual period.")
class NeverSoon(RebalanceService):
    def period(self, balanced: bool) -> int:
        return PERIOD


@_mutant("D80", "A round comes every second.")
class AlwaysSoon(RebalanceService):
    def period(self, balanced: bool) -> int:
        return RETRY_PERIOD


@_mutant("D80", "Only the last consumer says whether a round is balanced.")
class LastConsumerCounts(RebalanceService):
    def is_round_balanced(self, balanced: bool, member: bool) -> bool:
        return member


@_mutant("D80", "Only the first consumer says so.")
class FirstConsumerCounts(RebalanceService):
    def is_round_balanced(self, balanced: bool, member: bool) -> bool:
        return balanced if self.seen_one() else member

    def seen_one(self) -> bool:
        self.odd = not getattr(self, "odd", True)
        return self.odd


@_mutant("D79", "Notifications make rounds without a pause.")
class WakesAtOnce(RebalanceService):
    def wake(self) -> None:
        self.round()


@_mutant("D95", "A notification right after a round is forgotten.")
class EarlyWakeIsLost(RebalanceService):
    def wake(self) -> None:
        if self.now - self.last >= RETRY_PERIOD:
            self.round()


@_mutant("D95", "Notifications put a round off again and again.")
class EarlyWakeWaits(RebalanceService):
    def wake(self) -> None:
        if self.now - self.last < RETRY_PERIOD:
            self.next = self.now + RETRY_PERIOD
        else:
            self.round()


@_mutant("D95", "A notification after exactly a second is postponed.")
class EarlyByOne(RebalanceService):
    def wake(self) -> None:
        if self.now - self.last <= RETRY_PERIOD:
            self.next = self.last + RETRY_PERIOD
        else:
            self.round()


@_mutant("D95", "A notification does not restart the period.")
class WakesInPeriods(RebalanceService):
    def wake(self) -> None:
        due = self.next
        super().wake()
        if self.last == self.now:
            self.next = due


@_mutant("D95", "Notifications are ignored.")
class NotificationIsIgnored(RebalanceService):
    def wake(self) -> None:
        pass


@_mutant("D81", "A paused consumer rebalances.")
class PausedTakesPart(RebalanceService):
    def takes_part(self, member: Member) -> bool:
        return member.enabled


@_mutant("D80", "A paused consumer counts as balanced.")
class PausedIsBalanced(RebalanceService):
    def is_balanced_without(self, member: Member) -> bool:
        return True


@_mutant("D80", "Who may not rebalance counts as not balanced.")
class DisabledIsUnbalanced(RebalanceService):
    def is_balanced_without(self, member: Member) -> bool:
        return False


@_mutant("D81", "A pull consumer rebalances that may not.")
class DisabledTakesPart(RebalanceService):
    def takes_part(self, member: Member) -> bool:
        return not member.paused


@_mutant("D95", "A resumed consumer waits for the next round.")
class ResumesLater(RebalanceService):
    def resume(self) -> Result:
        super().resume()
        return ()


@_mutant("D95", "Resuming restarts the period.")
class ResumeIsARound(RebalanceService):
    def resume(self) -> Result:
        result = super().resume()
        self.last, self.next = self.now, self.now + PERIOD
        return result


@_mutant("D81", "Resuming one consumer lets all rebalance.")
class ResumeRebalancesAll(RebalanceService):
    def resume(self) -> Result:
        super().resume()
        return tuple(name for name, member in self.members.items() if self.takes_part(member))


@_mutant("D79", "A strategy that refuses ends the round of all.")
class RefusalEndsTheRound(RebalanceService):
    def round(self) -> None:
        self.ended = False
        super().round()

    def takes_part(self, member: Member) -> bool:
        return not self.ended and super().takes_part(member)

    def rebalance(self, member: Member) -> bool:
        self.ended = member.refuses
        return super().rebalance(member)
