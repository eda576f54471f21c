"""The port's whole push consumers that can be suspended and resumed."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_push import NOT_ENDED, Line, WholePush, with_end
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import whole_pause as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY


class PutOff(NamedTuple):
    """A pull that is to be sent once its consumer is resumed."""

    consumer: Consumer
    line: Line
    queue: int
    owned: OwnedQueue


class WholePause(WholePush):
    """The members that run."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: The member that is suspended, and its pulls that are put off.
        self.suspended: int | None = None
        self.put_off: list[PutOff] = []
        #: How often it had asked for stored offsets when it was suspended.
        self.had_asked = 0

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs."""
        self.suspended = None
        self.put_off = []
        super().begin_case(case)

    def is_suspended(self, consumer: Consumer) -> bool:
        """Is a consumer the one that is suspended?"""
        return self.suspended is not None and consumer is self.members[self.suspended]

    def hang_up(self, member: int) -> None:
        """A member's connection is closed."""
        if member == self.suspended:
            self.suspended, self.put_off = None, []
        super().hang_up(member)

    # --- turns ----------------------------------------------------------------------------------------------

    def rebalance(self, consumer: Consumer) -> Result:
        """One round, unless the consumer is suspended."""
        return None if self.is_suspended(consumer) else super().rebalance(consumer)

    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        """Pull a queue from where its owner is, or put that off while it is suspended."""
        if self.is_suspended(consumer):
            self.put_off.append(PutOff(consumer, line, queue, owned))
        else:
            super().ask(consumer, line, queue, owned)

    def suspend(self, member: int) -> None:
        """A member is suspended."""
        self.suspended, self.had_asked = member, self.times_asked(member)

    def times_asked(self, member: int) -> int:
        """How often a member asked for stored offsets."""
        return self.world.traffic.sent.get((ORDINARY.members[member], int(Request.QUERY_CONSUMER_OFFSET)), 0)

    def resume(self) -> None:
        """The member that is suspended goes on."""
        self.suspended = None
        waiting, self.put_off = self.put_off, []
        for pull in waiting:
            self.go_on(pull)

    def go_on(self, pull: PutOff) -> None:
        """Send a pull that was put off."""
        self.ask(*pull)

    # --- operations -----------------------------------------------------------------------------------------

    def join_group(self, member: int) -> Result:
        """A member starts, unless it runs or one is suspended."""
        return self.look() if self.suspended is not None else super().join_group(member)

    def leave_group(self, member: int) -> Result:
        """A member is shut down, if it runs and may go."""
        return super().leave_group(member) if self.may_go(member) else with_end(self.look(), NOT_ENDED)

    def crash(self, member: int) -> Result:
        """A member ends without a word, if it runs and may go."""
        return super().crash(member) if self.may_go(member) else self.look()

    def may_go(self, member: int) -> bool:
        """May a member go: is no other one suspended, or does that one alone remain?"""
        rest = [at for at in range(len(ORDINARY.members)) if at != member and self.members[at] is not None]
        return self.suspended in (None, member) or len(rest) == 1

    def pause(self, member: int, suspends: bool) -> Result:
        """A member is suspended, unless another one is, or resumed."""
        if suspends and self.suspended is None and self.members[member] is not None:
            self.suspend(member)
        elif not suspends and member == self.suspended:
            self.resume()
        return self.look()

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, and whether the member that is suspended has asked for a stored offset."""
        seen, member = super().observed(running), self.suspended
        assert isinstance(seen, tuple)
        return (*seen, None if member is None else self.times_asked(member) > self.had_asked)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Prepare: self.prepare,
            operations.Join: self.join_group,
            operations.Leave: self.leave_group,
            operations.Crash: self.crash,
            operations.Send: self.send,
            operations.Look: self.look,
            operations.Pause: self.pause,
        }


PART = WholePause
