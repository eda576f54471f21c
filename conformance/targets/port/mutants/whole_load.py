"""Mutants of the port's whole push consumers under load, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_load import MOST, Busy, WholeLoad
from rocketmq_conformance.conformance.targets.port.whole_push import Line
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-load")


@_mutant("D94", "What is consumed behind a message that hangs is committed.")
class WholeLoadCommitsBehind(WholeLoad):
    def consumed(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        if following > min([following, *(busy.following for busy in self.busy_with(owned))]):
            self.result(consumer, queue, owned, following)
        else:
            super().consumed(consumer, queue, owned, following)


@_mutant("D94", "Behind a message that hangs a pull that finds nothing commits.")
class WholeLoadCorrectsHung(WholeLoad):
    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        consumer.store.update(queue, following, True)


@_mutant("D94", "A consumer that is shut down commits what its listeners have not returned.")
class WholeLoadCommitsAtEnd(WholeLoad):
    def end(self, member: int) -> None:
        for busy in self.busy:
            if busy.consumer is self.members[member] and self.takes(busy.owned):
                self.result(busy.consumer, busy.queue, busy.owned, busy.owned.offset)
        super().end(member)


@_mutant("D94", "What a listener returns for a queue that was lost, or reset, is committed from then on.")
class WholeLoadStoresLost(WholeLoad):
    def listeners_return(self) -> None:
        for busy in self.busy:
            if busy.owned.dropped:
                busy.consumer.store.update(busy.queue, busy.following, False)
        super().listeners_return()

    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(consumer.store.table)


@_mutant("D94", "A reset waits for listeners.")
class WholeLoadResetWaits(WholeLoad):
    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        if not self.busy_with(consumer.table[queue]):
            super().moved_to(consumer, queue, offset)


@_mutant("D240", "While a listener hangs its member takes no messages.")
class WholeLoadHangsAll(WholeLoad):
    def answers(self, line: Line) -> list[tuple[Command, Command]]:
        if any(busy.line is line and self.takes(busy.owned) for busy in self.busy):
            return []
        return super().answers(line)


@_mutant("D240", "While a listener hangs its queue is not pulled.")
class WholeLoadHangsQueue(WholeLoad):
    def is_full(self, owned: OwnedQueue) -> bool:
        return bool(self.busy_with(owned))


@_mutant("D240", "While a listener hangs nothing is committed.")
class WholeLoadHangsCommits(WholeLoad):
    def persist(self, consumer: Consumer) -> Result:
        return None if any(busy.consumer is consumer for busy in self.busy) else super().persist(consumer)


@_mutant("D238", "A message whose listener hangs is given up after half a minute, and given once more.")
class WholeLoadGivesAgain(WholeLoad):
    def stay(self) -> Result:
        for busy in self.busy:
            self.listen_to(busy.consumer, busy.queue, busy.first, busy.following)
        return super().stay()


@_mutant("D238", "A message whose listener hangs counts as consumed after half a minute.")
class WholeLoadGivesUp(WholeLoad):
    def stay(self) -> Result:
        self.listeners_return()
        return super().stay()


@_mutant("D239", "A queue is pulled however many messages of it are waiting.")
class WholeLoadNeverStops(WholeLoad):
    def is_full(self, owned: OwnedQueue) -> bool:
        return False


@_mutant("D239", "A queue is pulled however far its messages are apart.")
class WholeLoadIgnoresSpan(WholeLoad):
    def is_full(self, owned: OwnedQueue) -> bool:
        return sum(busy.following - busy.first for busy in self.busy_with(owned)) > MOST


@_mutant("D239", "A queue that was left alone is pulled no more.")
class WholeLoadStopsForGood(WholeLoad):
    def listeners_return(self) -> None:
        self.stopped.clear()
        super().listeners_return()


@_mutant("D239", "A queue that was left alone is pulled on from what is committed.")
class WholeLoadStartsAgain(WholeLoad):
    def listeners_return(self) -> None:
        for consumer, _, queue, owned in self.stopped:
            owned.offset = self.remembered(consumer, queue)
        super().listeners_return()


@_mutant("D239", "What comes when there is too much is thrown away.")
class WholeLoadThrowsAway(WholeLoad):
    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        owned.offset += self.is_full(owned)
        super().ask(consumer, line, queue, owned)


@_mutant("D241", "The first queue that has messages is served alone.")
class WholeLoadServesOne(WholeLoad):
    def answers(self, line: Line) -> list[tuple[Command, Command]]:
        found = super().answers(line)
        line.inbox = found[:-1] + line.inbox
        return found[-1:]


@_mutant("D94", "A member that is killed has committed what its listener hangs with.")
class WholeLoadCommitsHung(WholeLoad):
    def keep(self, busy: Busy) -> None:
        self.result(busy.consumer, busy.queue, busy.owned, busy.following)
        super().keep(busy)
