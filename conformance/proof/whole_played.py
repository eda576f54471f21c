"""Plays a case of the table (``whole_cases``) with whole consumers, on any broker.

The model (``models/client/whole_group``) gives the expected result of every look. A look waits until the consumers
show what is expected, and then a little longer, for what should not happen.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.proof.whole_cases import TIME, TableCase
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.scoped import Scoped
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.client.whole import LITE
from rocketmq_conformance.models.client.whole_moves import (
    STRANGER,
    Arrive,
    AssignQueues,
    CommitNow,
    Free,
    GivenMessages,
    Hold,
    Join,
    Leave,
    LetGo,
    LockElsewhere,
    Look,
    Move,
    Observation,
    PauseQueues,
    Resume,
    ResumeQueues,
    Seek,
    SeekToBound,
    Stay,
    Subscribe,
    Suspend,
    UnlockElsewhere,
    Unsubscribe,
)
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.suites.declare.topologies import BROKER, OTHER_TOPIC

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

Shown = TypeVar("Shown")
#: Timeout until consumers show what is expected (s).
LOOK_LIMIT = 45.0
#: How long nothing else may happen after that (s): a round of rebalance, and some margin.
_QUIET = 0.7
#: How long a listener may be busy, and may take to be given a message (s).
_HOLD_LIMIT, _GIVE_LIMIT = 60.0, 10.0
#: More than half a minute (s).
_LONG = 35.0
#: Timeout of an in-flight poll (s).
_POLL_TIME = 0.5
#: Seconds between two observations.
POLL_INTERVAL = 0.1
#: How many cases are played at the same time, and how often one is tried whose consumer does not start.
_TOGETHER, _ATTEMPTS = 24, 3


class PlayedCase(Scoped):
    """One case that is played; its end shuts down the consumers that still run.

    ``instance`` names its clients in this process; ``group`` and ``topic`` are what the broker knows.
    """

    #: The name server's address, host:port.
    address: str

    def __init__(
        self, classes: JavaRelease, case: TableCase, instance: str, group: str, topic: str, limit: float = LOOK_LIMIT
    ) -> None:
        self.case, self.group, self.topic = case, group, topic
        self.consumers: dict[str, WholeConsumer] = {}
        self._classes, self._instance, self._limit = classes, instance, limit
        #: How many messages each consumer had been given at the last look.
        self._known: dict[str, int] = {}
        #: Is a consumer's listener free to return, and is it busy with a message? By name.
        self._free: dict[str, Event] = {}
        self._busy: dict[str, Event] = {}
        #: The message that a listener hangs with, may it return, and is a queue set aside that is not to be pulled?
        self._hung: tuple[int, int] | None = None
        self._returns = Event()
        self._aside: int | None = None
        #: Do consumers subscribe to the other topic?
        self._subscribed = False
        #: What is closed after the consumers.
        self._open = ExitStack()

    def close(self) -> None:
        """Shut down the consumers that still run, and close what they used."""
        self._returns.set()
        with self._open:
            for name in list(self.consumers):
                self.leave(name)

    def played(self, expected: Sequence[Observation]) -> tuple[Observation, ...]:
        """Open it, and make every move; what each look shows, up to the first that differs."""
        with self:
            observed: list[Observation] = []
            for move in self.case.moves:
                if not isinstance(move, Look):
                    self.move(move)
                    continue
                observed.append(self.look(expected[len(observed)]))
                if observed[-1] != expected[len(observed) - 1]:
                    break
            return tuple(observed)

    # --- the broker -----------------------------------------------------------------------------------------

    @abstractmethod
    def ask(self, request: requests.Ask) -> Command:
        """Send a request; the broker's response."""

    @abstractmethod
    def send(self, queue: int) -> None:
        """A message arrives."""

    @abstractmethod
    def stored(self) -> tuple[int, ...]:
        """The stored offset of each queue, -1 for none."""

    def queues(self) -> list[Queue]:
        """The queues of the topic."""
        return [(self.topic, BROKER, queue) for queue in range(self.case.queues)]

    # --- moves ----------------------------------------------------------------------------------------------

    def move(self, move: Move) -> None:
        """Do a move, that is, any step but a look."""
        match move:
            case Join(name):
                self.join(name)
            case Leave(name):
                self.leave(name)
            case Arrive(queue):
                for number in self.case.numbers if queue is None else (queue,):
                    self.send(number)
            case Hold(name):
                self._free[name].clear()
                if self.case.kind == LITE:
                    time.sleep(_POLL_TIME)
            case LetGo(name):
                self._free[name].set()
            case Free():
                self._aside = None
                self._returns.set()
                for free in self._free.values():
                    free.set()
            case Stay():
                time.sleep(_LONG)
            case Seek(queue, offset, name):
                self.consumers[name].seek(queue, offset)
            case AssignQueues(queues, name):
                self.consumers[name].assign(queues)
            case PauseQueues(queues, name) | ResumeQueues(queues, name):
                self.consumers[name].pause_queues(queues, isinstance(move, PauseQueues))
            case SeekToBound(queue, end, name):
                self.consumers[name].seek_to_bound(queue, end)
            case CommitNow(name):
                self.consumers[name].commit_now()
            case Suspend(name):
                self.consumers[name].suspend()
            case Resume(name):
                self.consumers[name].resume()
            case Subscribe() | Unsubscribe():
                self._subscribed = isinstance(move, Subscribe)
                for consumer in self.consumers.values():
                    consumer.subscribe(OTHER_TOPIC, self._subscribed)
            case LockElsewhere():
                self.ask(requests.lock(self.group, STRANGER, self.queues()))
            case UnlockElsewhere():
                self.ask(requests.unlock(self.group, STRANGER, self.queues()))
            case _:
                raise AssertionError(f"{move} is no move")

    def join(self, name: str) -> None:
        """A member starts."""
        from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

        case, client = self.case, f"{self._instance}-{name}"
        self._free[name], self._busy[name] = Event(), Event()
        self._free[name].set()
        consumer = WholeConsumer(
            self._classes,
            case.kind,
            self.address,
            self.group,
            self.topic,
            case.where,
            TIME,
            client,
            lambda: self.gate(name),
            on_demand=case.on_demand,
            by_hand=case.by_hand,
            hang=self.hang,
            threads=case.threads,
            fails=(lambda: self.fails(name)) if case.fails else None,
        )
        if self._subscribed:
            consumer.subscribe(OTHER_TOPIC, True)
        self.consumers[name] = consumer.__enter__()
        self._known[name] = 0

    def gate(self, name: str) -> None:
        """The listener of a consumer calls it before it takes messages."""
        self._busy[name].set()
        self._free[name].wait(_HOLD_LIMIT)
        self._busy[name].clear()

    def hang(self, queue: int, offset: int) -> None:
        """The listener of a consumer calls it once it has taken a message."""
        if self._hung == (queue, offset):
            self._hung = None
            self._returns.wait(_HOLD_LIMIT)

    def fails(self, name: str) -> bool:
        """Does the listener of a consumer fail?"""
        return False

    def leave(self, name: str) -> None:
        """A member is shut down."""
        self._free[name].set()
        self.consumers.pop(name).__exit__(None, None, None)

    # --- looks ----------------------------------------------------------------------------------------------

    def settle(self, expected: Observation) -> None:
        """Wait for what a look does not show: listeners that are to be busy are."""
        held = [name for name in self.consumers if not self._free[name].is_set()]
        wait_until(lambda: all(self._busy[name].is_set() for name in held), _GIVE_LIMIT, POLL_INTERVAL)

    def look(self, expected: Observation) -> Observation:
        """Wait for what is expected, and return what is observed."""
        wait_until(lambda: self._observed() == expected, self._limit, POLL_INTERVAL)
        self.settle(expected)
        time.sleep(_QUIET)
        observed = self._observed()
        for name, _, given in observed[0]:
            self._known[name] += sum(count for _, _, count in given)
        return observed

    def _observed(self) -> Observation:
        """What can be observed now, once every consumer has committed."""
        shown = tuple(
            (name, self.pulled(consumer), runs(self._given(name, consumer)))
            for name, consumer in self.consumers.items()
        )
        for consumer in self.consumers.values() if not self.case.on_demand else ():
            consumer.commit()
        return shown, self.stored()

    def pulled(self, consumer: WholeConsumer) -> tuple[int, ...]:
        """The queues that a consumer has, and pulls."""
        return consumer.owned()

    def _given(self, name: str, consumer: WholeConsumer) -> list[tuple[int, int]]:
        """The messages that a consumer was given since the last look; several threads take them in any order."""
        given = consumer.given[self._known[name] :]
        given = [one for one in given if one[0] != self._aside]
        return sorted(given) if self.case.threads > 1 else given


def runs(places: Sequence[tuple[int, int]]) -> GivenMessages:
    """Each run of messages of a queue, in the order in which they were given."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for queue, offset in places:
        known = found.setdefault(queue, [])
        if known and offset == known[-1][1] + known[-1][2]:
            known[-1] = queue, known[-1][1], known[-1][2] + 1
        else:
            known.append((queue, offset, 1))
    return tuple(run for queue in sorted(found) for run in found[queue])


def play_all(numbers: Sequence[int], play: Callable[[int, int], Shown]) -> dict[int, Shown]:
    """What ``play(number, attempt)`` showed, by number, many at the same time and in this order. CannotRunError when a
    consumer does not start at all."""

    def tried(number: int) -> Shown:
        for attempt in range(_ATTEMPTS):
            try:
                return play(number, attempt)
            except (CannotRunError, TimeoutError, ConnectionError) as error:
                # on a busy machine a client's first requests may take longer than it waits
                failed = error
        raise CannotRunError(f"{failed}: try again on a quieter machine.")

    with ThreadPoolExecutor(_TOGETHER) as pool:
        under_way = {number: pool.submit(tried, number) for number in numbers}
        return {number: done.result() for number, done in under_way.items()}
