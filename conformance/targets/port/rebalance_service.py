"""The port's rebalance timer: it lets all consumers of the process rebalance, periodically and when it is woken up."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance_service as operations

#: Ms between two rounds, in general, and when a round was not balanced; the second is also the minimum.
PERIOD, RETRY_PERIOD = 20_000, 1_000


class Member:
    """A consumer, as the timer sees it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.paused = False
        self.enabled = True
        self.refuses = False


class RebalanceService:
    """The timer, and its consumers, by name."""

    def __init__(self, transport: Transport) -> None:
        self.forget()

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.forget()

    def forget(self) -> None:
        """Begin a case."""
        self.members = {name: Member(name) for name in ("pull", "push")}
        self.now = 0
        self.last = 0
        self.next = PERIOD
        #: (time, consumer) of the rounds of the step.
        self.rounds: list[tuple[int, tuple[str, ...]]] = []

    # --- rounds -------------------------------------------------------------------------------------------

    def round(self) -> None:
        """All consumers rebalance."""
        took_part = []
        balanced = True
        for member in self.members.values():
            if self.takes_part(member):
                took_part.append(member.name)
                balanced = self.is_round_balanced(balanced, self.rebalance(member))
            else:
                balanced = self.is_round_balanced(balanced, self.is_balanced_without(member))
        if took_part:
            self.rounds.append((self.now, tuple(took_part)))
        self.last = self.now
        self.next = self.now + self.period(balanced)

    def is_round_balanced(self, balanced: bool, member: bool) -> bool:
        """Is the round balanced, by the members before and this one?"""
        return balanced and member

    def takes_part(self, member: Member) -> bool:
        """Does a consumer take part in rebalance?"""
        return not member.paused and member.enabled

    def rebalance(self, member: Member) -> bool:
        """A consumer rebalances: is it balanced?"""
        return not member.refuses

    def is_balanced_without(self, member: Member) -> bool:
        """Does a consumer that takes no part count as balanced?"""
        return not member.paused

    def period(self, balanced: bool) -> int:
        """Ms until the next round."""
        return PERIOD if balanced else RETRY_PERIOD

    # --- the clock ----------------------------------------------------------------------------------------

    def elapse(self, elapses: int) -> Result:
        """Time passes."""
        self.rounds.clear()
        began, until = self.now, self.now + elapses
        while self.next <= until:
            self.now = self.next
            self.round()
        self.now = until
        return tuple([(when - began, who) for when, who in self.rounds])

    def notify(self) -> Result:
        """The members of a group changed."""
        self.rounds.clear()
        self.wake()
        return self.rounds[0][1] if self.rounds else ()

    def wake(self) -> None:
        """Rebalance at once, but not more often than the minimum period."""
        if self.now - self.last < RETRY_PERIOD:
            self.next = self.last + RETRY_PERIOD
        else:
            self.round()

    # --- calls of applications ----------------------------------------------------------------------------

    def suspend(self) -> Result:
        """Suspend the push consumer."""
        self.members["push"].paused = True
        return None

    def resume(self) -> Result:
        """Resume the push consumer; it rebalances in the caller's thread."""
        member = self.members["push"]
        member.paused = False
        self.rebalance(member)
        return (member.name,)

    def refuse(self, consumer: str, refuses: bool) -> Result:
        """A strategy refuses to divide queues, or not."""
        self.members[consumer].refuses = refuses
        return None

    def enable(self, enabled: bool) -> Result:
        """May the pull consumer rebalance?"""
        self.members["pull"].enabled = enabled
        return None

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Elapse: self.elapse,
            operations.Notify: self.notify,
            operations.Suspend: self.suspend,
            operations.Resume: self.resume,
            operations.Refuse: self.refuse,
            operations.Enable: self.enable,
        }


PART = RebalanceService
