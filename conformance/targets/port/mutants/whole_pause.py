"""Mutants of the port's whole push consumers that are suspended and resumed, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_pause import PutOff, WholePause
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-pause")


@_mutant("D191", "A suspended consumer goes on to rebalance.")
class WholePauseRebalances(WholePause):
    def rebalance(self, consumer: Consumer) -> Result:
        return WholePush.rebalance(self, consumer)


@_mutant("D192", "A suspended consumer pulls on.")
class WholePausePullsOn(WholePause):
    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        WholePush.ask(self, consumer, line, queue, owned)


@_mutant("D76", "A suspended consumer pulls its first queue on.")
class WholePausePullsFirst(WholePause):
    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        if queue == 0:
            WholePush.ask(self, consumer, line, queue, owned)
        else:
            super().ask(consumer, line, queue, owned)


@_mutant("D167", "A pull that was put off is the last one of its queue.")
class WholePauseStays(WholePause):
    def go_on(self, pull: PutOff) -> None:
        pass


@_mutant("D12", "What arrived in the meantime is skipped.")
class WholePauseSkips(WholePause):
    def go_on(self, pull: PutOff) -> None:
        pull.owned.offset = pull.consumer.positions.max(pull.queue)
        super().go_on(pull)


@_mutant("D30", "Everything is given again.")
class WholePauseAgain(WholePause):
    def go_on(self, pull: PutOff) -> None:
        pull.owned.offset = 0
        super().go_on(pull)


@_mutant("D152", "The group forgets a consumer that is suspended.")
class WholePauseForgotten(WholePause):
    def suspend(self, member: int) -> None:
        consumer, line = self.members[member], self._lines[member]
        assert consumer is not None
        assert line is not None
        super().suspend(member)
        self.unregister(consumer, line)
