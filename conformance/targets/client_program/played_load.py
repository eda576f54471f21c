"""One case of the suite of load, played with a program for each member whose listener hangs on command."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from rocketmq_conformance.conformance.fakes.set_aside import SetAside
from rocketmq_conformance.conformance.fakes.traffic import Brought
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.required_consumers import HOLD, LISTEN
from rocketmq_conformance.models.client.plan_words import HOLDS, SUCCEEDS
from rocketmq_conformance.models.client.whole_load import hung_queues, is_busy
from rocketmq_conformance.models.client.whole_moves import FILLED, LOADED, SPANNED, STRETCHED
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites import whole_load as operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Seconds that pass while a listener hangs: no timer of a Java client is that long, and those of others are 30 s.
_LONG = 35.0


class PlayedLoad(PlayedGroup):
    """The members of one case, whose listeners may hang."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._aside = SetAside()
        #: What members need not say that they were given before listeners return: messages of a queue with one that
        #: hangs, as a client may give them one by one, and everything while no listener returns.
        self._unsaid: set[tuple[str, int]] = set()

    def _do(self, operation: Operation) -> Outcome:
        self._aside.starved = set()
        if not is_busy(self._state):
            self._unsaid.clear()
        match operation:
            case operations.Hang(queue):
                return self._played(operation, lambda: self._hang(queue))
            case operations.Free():
                return self._played(operation, self._free)
            case operations.Stay():
                return self._played(operation, lambda: self._wait(self.members.ended, _LONG))
            case operations.Fill(queue):
                return self._played(operation, lambda: self._fill(queue))
            case operations.Stretch():
                return self._played(operation, self._stretch)
            case operations.Load(queue):
                return self._played(operation, lambda: self._load(queue))
            case _:
                return super()._do(operation)

    def _hang(self, queue: int) -> None:
        """Tell the member that has the queue with which message its listener is to hang, and let that arrive."""
        place = [self.case.topic, queue, self.case.max_offset(queue)]
        for client, number in self.case.pullers():
            for member, program in self.members.programs.items():
                if number == queue and self.members.ids[member] == client:
                    self._unsaid.add((client, queue))
                    program.send({HOLD: place})
                    self._wait(self.members.ended, self._timing.quiet)
        self.case.send(queue)

    def _free(self) -> None:
        """All listeners return."""
        self._aside.flooded = None
        self._listen(SUCCEEDS)

    def _fill(self, queue: int) -> None:
        """No listener returns, and more arrives than a member has at a time."""
        self._aside.flooded = queue
        self._unsaid.update((client, number) for client, number in self.case.pullers())
        self._listen(HOLDS)
        self._wait(self.members.ended, self._timing.quiet)
        self._send_many(queue, FILLED)

    def _stretch(self) -> None:
        """Much is consumed behind the message that hangs, and then no listener returns, and more arrives."""
        queue = hung_queues(self._state)[0]
        self._aside.flooded = queue
        self._send_many(queue, SPANNED)
        self._listen(HOLDS)
        self._wait(self.members.ended, self._timing.quiet)
        self._send_many(queue, STRETCHED)

    def _send_many(self, queue: int, messages: int) -> None:
        """So many messages arrive, and are pulled, or not any more."""
        for _ in range(messages):
            self.case.send(queue)
        pulled, since = -1, self._clock.monotonic()

        def rests() -> bool:
            nonlocal pulled, since
            at = self.case.latest_pull(queue)
            offset = int(at.ext["queueOffset"]) if at is not None else 0
            if offset != pulled:
                pulled, since = offset, self._clock.monotonic()
            return self._clock.monotonic() - since > 2 * self._timing.quiet

        self._wait(lambda: self.members.ended() or rests(), self._timing.look)

    def _load(self, queue: int) -> None:
        """Messages keep arriving in a queue until those of the others were pulled, or were to be."""
        wanted = {number: self.case.max_offset(number) for number in self.case.seen if number != queue}
        for number in wanted:
            self.case.send(number)

        def starved() -> set[int]:
            pulls = {number: self.case.latest_pull(number) for number in wanted}
            return {
                number
                for number, pull in pulls.items()
                if pull is None or int(pull.ext["queueOffset"]) <= wanted[number]
            }

        for sent in range(LOADED):
            if sent == LOADED - 1:
                self._aside.starved = starved()
            elif starved():
                self._wait(lambda: self.members.ended() or not starved(), self._timing.margin / LOADED)
            self.case.send(queue)

    def _listen(self, listener: str) -> None:
        for program in self.members.programs.values():
            program.send({LISTEN: listener})

    def _may_wait(self, before: Any, member: int) -> bool:
        who = before.group.members[ORDINARY.members[member]]
        return bool(who.hung or who.discards)

    def _open_to(self, running: Mapping[str, int]) -> Container[str | tuple[str, int]]:
        return self._unsaid

    def _collect(self, brought: list[Brought]) -> None:
        found: list[Brought] = []
        super()._collect(found)
        brought += self._aside.shown(found)
