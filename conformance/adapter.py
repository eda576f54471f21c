"""The adapter interface: the methods by which the kit drives an implementation.

An adapter has four methods. ``hello`` says what is judged, ``reset`` begins a case, ``apply`` does one operation
and returns its outcome, ``close`` releases everything. An exception means that the adapter is broken, never an answer;
an operation that the implementation does not offer answers ``Unsupported(reason)``.

The operation that ``apply`` gets has the arguments of the implementation alone. The kit plays the rest of a step
itself: faults (``suites.declare.domain.Fault``) are armed on the fake broker, and operations of the world never reach
an adapter. An operation that lets time pass (a ``Duration``) becomes a call of ``pass_time`` when the clock
is virtual. When it is real, the kit waits for so long, and then calls ``apply`` with the operation, which has no
arguments left: its outcome is what timers did meanwhile.

Each optional ability of an adapter is a Protocol: :class:`VirtualClock`, :class:`InProcess`, :class:`Streams`,
:class:`TakesTurns`, :class:`TakesTime`, :class:`TakesPart`, :class:`EndsCases`, :class:`RefusesSuites`,
:class:`RefusesFaults`, :class:`RecordsMessages`, :class:`Shared`, :class:`WholeCases`, :class:`KeepsLog`,
:class:`ShowsLines`, :class:`FollowsProfile`. docs/reference/adapter-changes.md says since when each is there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from rocketmq_conformance.conformance.properties.found import FoundProperty
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Answer, Outcome, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: The error of an operation during which the implementation's process ended.
CRASHED = "CRASHED"


class AdapterError(Exception):
    """The adapter or what it drives is broken; the text is one sentence with what to do."""


class NoAnswerError(AdapterError):
    """What the adapter drives did not answer in time: nothing is known of the rest of the case."""


class CannotRunError(Exception):
    """The implementation cannot be judged here (no Java, no jars, no broker); one sentence with what to do."""


#: The kinds of clocks that implementations have.
VIRTUAL, REAL = "virtual", "real"
#: The fastest pace of a real clock: beyond it a second of a plan is less than what can be measured.
FASTEST = 1000


@dataclass(frozen=True)
class Hello:
    """How an implementation describes itself."""

    name: str
    version: str
    #: Releases that judge it, as far as the implementation knows them; None leaves the choice to the user.
    client: str | None = None
    broker: str | None = None
    java: int | None = None
    #: Suites that it does not offer, with the reason: reported as unsupported, never as passed.
    unsupported: dict[str, str] = field(default_factory=dict)
    #: Sides that it has: "pure", "client", "whole", "broker".
    sides: tuple[str, ...] = ("pure", "client", "broker")
    #: VIRTUAL: its timers go by the plan's time, which ``pass_time`` lets pass; REAL: they cannot be made to, and the
    #: kit waits for them, up to a limit.
    clock: str = VIRTUAL
    #: How many times faster than standard the timers of a real clock are set: at a pace of 100 the 20 s between two
    #: rebalances are 200 ms.
    pace: float = 1
    #: Is it Java's own code, or does it follow Java in its accidents, too (level QUIRK)?
    quirks: bool = False
    #: Seconds that one call of the adapter may take, where that is more than the usual limit.
    patience: float = 0.0
    #: The release whose store a broker was upgraded with, if it was.
    upgraded_from: str | None = None
    #: Properties of a broker that are off their release's default and may matter.
    properties: tuple[FoundProperty, ...] = ()
    #: Why the configuration of a broker could not be read, as half a sentence; "" when it was, or there is none.
    configuration_unread: str = ""
    #: More that the first lines of a run say, each a sentence without its full stop.
    notes: tuple[str, ...] = ()
    #: Rules that no step can show, each with the reason: such as those for which the pace is too quick.
    cannot_show: dict[str, str] = field(default_factory=dict)

    def refuses(self, suite: Suite) -> str:
        """Why the suite cannot be played, or ""."""
        if suite.side.value not in self.sides:
            return f"{self.name} has no {suite.side.value} side"
        return self.unsupported.get(suite.name, "")


#: A broker's response: its code, remark, header fields and body.
Answered = tuple[int, str, dict[str, str], bytes]
#: Plays the broker in this process: (address, request code, header fields, body, one way). Raises TimeoutError when no
#: response comes and ConnectionError when the connection is cut.
Exchange = Callable[[str, int, dict[str, str], bytes, bool], Answered]


@dataclass(frozen=True)
class Case:
    """The case that begins, as a client implementation gets it."""

    suite: Suite
    number: int
    profile: Profile
    #: Address of the fake name server, ``host:port``; starts it on first use.
    name_server: Callable[[], str]
    #: The same broker, called in this process: for implementations that can do without sockets.
    exchange: Exchange
    #: Makes the folder of the case, which is empty at first.
    folder: Callable[[], Path]
    #: Seconds that an operation may take.
    patience: float = 60.0

    @property
    def group(self) -> str:
        """The name of the group."""
        return self.suite.topology.group

    @property
    def queues(self) -> tuple[MessageQueue, ...]:
        """The queues: operations name one by its position here."""
        return self.suite.topology.queues

    @property
    def clients(self) -> tuple[str, ...]:
        """The client ids of the group's members: an operation names a member by its position here."""
        return self.suite.topology.clients

    @property
    def directory(self) -> Path:
        """A folder of the case (offset files); empty when the case begins."""
        return self.folder()


class Adapter(Protocol):
    """Drives one implementation."""

    def hello(self) -> Hello:
        """Say what is judged."""
        ...

    def reset(self, case: Case) -> None:
        """Forget everything and begin a case."""
        ...

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation."""
        ...

    def close(self) -> None:
        """Release everything; called once."""
        ...


@runtime_checkable
class VirtualClock(Protocol):
    """An adapter whose clock the kit turns (``Hello.clock`` is VIRTUAL): its suites with timers need it."""

    def pass_time(self, millis: int) -> Outcome:
        """Turn the clock of the case by so many ms; the outcome is that of the suite's operation with a
        ``Duration``, such as how many requests timers made ready."""
        ...


#: The methods that do operations, by the operations' classes.
Methods = Mapping[type[Operation], Callable[..., Result]]


@runtime_checkable
class InProcess(Protocol):
    """An adapter fast enough for the seeded tier: one plain call per operation, no dataclass in between."""

    def calls(self, suite: Suite) -> Methods | None:
        """A method for each operation of the suite that the implementation has, taking what ``apply`` would find in
        ``operation.args``, and for the one with a ``Duration`` the ms by which the clock is turned; None when the
        suite needs ``apply``. They act on the case of the last ``reset``."""
        ...


T = TypeVar("T")
#: Begins a case: it asks for operations, is sent the outcome of each, and ends with what came of it.
Play = Callable[[], Generator[Operation, Outcome, T]]


class UnderWay(NamedTuple):
    """Stands for a case that has not ended: what is under way, and whether another one has just started."""

    waits_for: frozenset[Future[Any]]
    started: bool = False


@runtime_checkable
class Streams(Protocol):
    """An adapter that plays several cases at once, each in a lane of its own."""

    #: Must a stream have ended before anything else is asked of the adapter, as over one connection?
    exclusive: bool

    def lanes(self, suite: Suite) -> int:
        """How many cases of the suite are played side by side; 1 for one after the other."""
        ...

    def stream(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Future[T], None, None]:
        """Play cases of the suite, which are taken one by one as lanes become free, in any thread: what came of each,
        in the order of the cases, once it is there. What is under way ends when the generator is closed."""
        ...


@runtime_checkable
class TakesTurns(Streams, Protocol):
    """One whose suites can take turns: all streams share the lanes, and may be in threads of their own."""

    def take_turns(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Future[T] | UnderWay, None, None]:
        """The same without waiting: instead it says when a case has begun, one at a time, and when one of those under
        way has to end first, perhaps of another suite."""
        ...


@runtime_checkable
class TakesTime(Protocol):
    """An adapter of something that keeps cases waiting: it is restarted, or has timers of its own."""

    def case_seconds(self, suite: Suite) -> float:
        """About how long a case of the suite takes by itself; 0 where nothing keeps it waiting."""
        ...


@runtime_checkable
class TakesPart(Protocol):
    """An adapter whose cases may end without what is judged: a consumer program that no step of them starts."""

    def took_part(self, suite: Suite) -> bool:
        """Was what is judged seen in any case of the suite?"""
        ...


@runtime_checkable
class EndsCases(Protocol):
    """An adapter whose cases keep something running, such as processes, that nothing needs after the last step."""

    def end_case(self) -> None:
        """End what the case that was reset last keeps running; twice does no harm."""
        ...


@runtime_checkable
class RefusesSuites(Protocol):
    """An adapter that has to try what it drives to know which suites that offers."""

    def refuses_suite(self, suite: Suite) -> str:
        """Why the suite cannot be played, or ""; CannotRunError when nothing can. Called after ``hello``."""
        ...


@runtime_checkable
class RefusesFaults(Protocol):
    """An adapter that cannot be judged under some faults."""

    def refuses_fault(self, fault: str) -> str:
        """Why an operation cannot be done while the fake broker plays this fault, or "": it is unsupported."""
        ...


#: Called with every message: sender, receiver, text.
RecordMessage = Callable[[str, str, str], None]


@runtime_checkable
class RecordsMessages(Protocol):
    """An adapter that talks to a broker of its own, and can record their messages."""

    def record_messages(self, record: RecordMessage | None) -> None:
        """Call ``record`` with every message from now on; None ends it."""
        ...


@runtime_checkable
class FollowsProfile(Protocol):
    """An adapter that waits for what the model expects, and so has to know by which releases it is judged."""

    def follow(self, profile: Profile) -> None:
        """Judge by this profile from now on; called before the first case."""
        ...


@runtime_checkable
class Shared(Protocol):
    """An adapter that starts servers which other processes can be pointed at."""

    def shared_addresses(self) -> tuple[str, ...]:
        """The addresses by which others reach its servers, which are alike; its own is the first. None when every
        process is to start its own."""
        ...


@runtime_checkable
class WholeCases(Protocol):
    """An adapter that plays all steps of a case at once, one case after the other."""

    def plays_whole(self, suite: Suite) -> bool:
        """Are cases of the suite played at once?"""
        ...

    def play_case(self, case: Case, rows: Sequence[Row], reached: Callable[[int], None]) -> Sequence[Answer]:
        """Begin a case and do those rows of its plan that are the implementation's.

        Call ``reached`` with the place of a row before a request that it makes of a broker: the world is then as the
        plan has it at that row. Fewer answers mean that it ended early: the case is played again, step by step.
        """
        ...


@runtime_checkable
class KeepsLog(Protocol):
    """An adapter of something that writes a log."""

    def keep_log(self, folder: Path) -> None:
        """Keep the log in this folder from now on."""
        ...


#: Called with every line that goes to an implementation (">") or comes from it ("<"), and the line.
ShowLine = Callable[[str, str], None]


@runtime_checkable
class ShowsLines(Protocol):
    """An adapter that talks to an implementation by lines."""

    def show_lines(self, show: ShowLine) -> None:
        """Show every line from now on."""
        ...
