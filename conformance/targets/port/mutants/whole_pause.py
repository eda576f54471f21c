"""Mutants of the port's whole push consumers that are suspended and resumed, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_pause import PutOff, WholePause
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.outcome import Result


class GoesOnToRebalance(WholePause):
    def rebalance(self, consumer: Consumer) -> Result:
        return WholePush.rebalance(self, consumer)


class PullsOn(WholePause):
    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        WholePush.ask(self, consumer, line, queue, owned)


class PullsTheFirstOn(WholePause):
    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        if queue == 0:
            WholePush.ask(self, consumer, line, queue, owned)
        else:
            super().ask(consumer, line, queue, owned)


class StaysSuspended(WholePause):
    def go_on(self, pull: PutOff) -> None:
        pass


class GoesOnAtMax(WholePause):
    def go_on(self, pull: PutOff) -> None:
        pull.owned.offset = pull.consumer.positions.max(pull.queue)
        super().go_on(pull)


class GoesOnAtMin(WholePause):
    def go_on(self, pull: PutOff) -> None:
        pull.owned.offset = 0
        super().go_on(pull)


class IsForgotten(WholePause):
    def suspend(self, member: int) -> None:
        consumer, line = self.members[member], self._lines[member]
        assert consumer is not None
        assert line is not None
        super().suspend(member)
        self.unregister(consumer, line)


_mutant = partial(Mutant.of, "whole-pause")

MUTANTS = (
    _mutant("whole-pause-rebalances", "D191", "A suspended consumer goes on to rebalance.", GoesOnToRebalance),
    _mutant("whole-pause-pulls-on", "D192", "A suspended consumer pulls on.", PullsOn),
    _mutant("whole-pause-pulls-first", "D76", "A suspended consumer pulls its first queue on.", PullsTheFirstOn),
    _mutant("whole-pause-stays", "D167", "A pull that was put off is the last one of its queue.", StaysSuspended),
    _mutant("whole-pause-skips", "D12", "What arrived in the meantime is skipped.", GoesOnAtMax),
    _mutant("whole-pause-again", "D30", "Everything is given again.", GoesOnAtMin),
    _mutant("whole-pause-forgotten", "D152", "The group forgets a consumer that is suspended.", IsForgotten),
)
