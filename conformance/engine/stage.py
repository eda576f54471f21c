"""The stage: plays the operations of a case on one adapter and on the fake broker around it."""

from __future__ import annotations

import shutil
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, cast

from rocketmq_conformance.conformance import adapter as adapters
from rocketmq_conformance.conformance.adapter import (
    Adapter,
    AdapterError,
    CannotRunError,
    Case,
    EndsCases,
    Exchange,
    InProcess,
    RefusesFaults,
    Streams,
    TakesTurns,
    VirtualClock,
    WholeCases,
)
from rocketmq_conformance.conformance.alarm import Alarm, Overdue
from rocketmq_conformance.conformance.engine.environment import played_by
from rocketmq_conformance.conformance.engine.limits import LONGEST_WAIT, PATIENCE
from rocketmq_conformance.conformance.engine.memory_folder import temporary_folder
from rocketmq_conformance.conformance.engine.real_clock import Timekeeper
from rocketmq_conformance.conformance.engine.transcript import MessageRecorder, RecordingBroker, record_environment
from rocketmq_conformance.conformance.engine.whole_case import WholeCase, judged_with, operations_of_world, with_commits
from rocketmq_conformance.conformance.fakes.client_case import ClientCase
from rocketmq_conformance.conformance.fakes.fault_script import Overlay
from rocketmq_conformance.conformance.waiting import SteadyClock
from rocketmq_conformance.models.outcome import Answer, Err, Ok, Outcome, Result, Unsupported, outcome_of, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import ANSWER
from rocketmq_conformance.suites.declare.operation import OperationSpec, Side
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Plays the steps of the case that began last: their results.
PlaySteps = Callable[[Sequence[Row]], list[Result]]

#: Why an operation that lets time pass cannot be done.
NO_CLOCK = "nobody can turn its clock: give its adapter the method pass_time, or say that its clock is real"


class Stage:
    """Plays operations on an adapter, and those of the world on the fake broker."""

    def __init__(
        self,
        adapter: Adapter,
        profile: Profile,
        patience: float = PATIENCE,
        max_wait: float = LONGEST_WAIT,
        clock: SteadyClock = time,
    ) -> None:
        self.adapter = adapter
        # asked once: whether an object follows a protocol takes as long as many a step
        self.streams: Streams | None = adapter if isinstance(adapter, Streams) else None
        self.turns: TakesTurns | None = adapter if isinstance(adapter, TakesTurns) else None
        self._clocked: VirtualClock | None = adapter if isinstance(adapter, VirtualClock) else None
        self._refuser: RefusesFaults | None = adapter if isinstance(adapter, RefusesFaults) else None
        self._ender: EndsCases | None = adapter if isinstance(adapter, EndsCases) else None
        self.profile = profile
        self.patience = patience
        self.max_wait = max_wait
        self._clock = clock
        #: Measures time for an adapter whose clock is real; None when it is virtual.
        self.times: Timekeeper | None = None
        self._set_worlds(profile)
        #: Called before each call of the adapter: a sign of life for a watchdog.
        self.beat: Callable[[], None] = _nothing
        #: Set while messages are recorded: the recorder, and the layer that answers instead of the fake broker.
        self._recorder: MessageRecorder | None = None
        self._recording: RecordingBroker | None = None
        self._folder: Path | None = None
        #: Did the case ask for its folder?
        self._folder_begun = False
        #: Positions of the operations that the profile has, by suite.
        self._offers: dict[str, frozenset[int]] = {}
        self._guarding = False
        self._alarm = Alarm()
        self._closed = False

    def use(self, profile: Profile) -> None:
        """Let the fake broker follow another profile; before the first case only."""
        self.profile = profile
        self._offers.clear()
        if isinstance(self.adapter, adapters.FollowsProfile):
            self.adapter.follow(profile)
        self._set_worlds(profile.judged())

    def keep_time(self, pace: float) -> None:
        """Measure time from now on: the adapter's clock is real, and ``pace`` times faster than standard."""
        self.times = Timekeeper(pace, self._clock)

    def begin(self, suite: Suite, number: int) -> None:
        """Begin a case."""
        self.world = self._world_of(suite)
        self.world.begin()
        self._folder_begun = False
        exchange = (self._recording or self.world).exchange
        with self.guarded(f"beginning a case of {suite.name}"):
            self.adapter.reset(self._case(suite, number, exchange))
        if self.times:
            self.times.begin_case()

    def end(self) -> None:
        """End a case, after its last step."""
        if self._ender is not None:
            with self.guarded("the end of a case"):
                self._ender.end_case()

    def _set_worlds(self, profile: Profile) -> None:
        #: The world of the case that began last, and those of all topologies so far, by name.
        self.world = ClientCase(profile)
        self._worlds = {self.world.topology.name: self.world}

    def _world_of(self, suite: Suite) -> ClientCase:
        """The world of a suite's cases."""
        found = self._worlds.get(suite.topology.name)
        if found is None:
            found = self._worlds[suite.topology.name] = ClientCase(self.world.broker.profile, suite.topology)
        return found

    def _case(self, suite: Suite, number: int, exchange: Exchange) -> Case:
        return Case(suite, number, self.profile, self._name_server, exchange, self._case_folder, patience=self.patience)

    def plays_whole(self, suite: Suite) -> bool:
        """Does the adapter take the steps of a case of the suite all at once?"""
        return isinstance(self.adapter, WholeCases) and not self.times and self.adapter.plays_whole(suite)

    def play_whole(self, suite: Suite, number: int, rows: Sequence[Row]) -> Sequence[Answer]:
        """Begin a case and do all its steps at once; fewer answers than steps when the implementation ended early.

        The world moves on as the implementation says which step it has reached.
        """
        adapter = cast(WholeCases, self.adapter)  # plays_whole has asked
        self.world = self._world_of(suite)
        self.world.begin()
        self._folder_begun = False
        of_world = operations_of_world(suite)
        lacking = frozenset(range(len(suite.operations))).difference(self._offered(suite), of_world)
        plan = [row for row in rows if row[0] not in lacking] if lacking else rows
        world = WholeCase(self.world, suite, plan)
        with self.guarded(f"case {number} of {suite.name}"):
            case = self._case(suite, number, self.world.exchange)
            found = adapter.play_case(case, world.rows, world.reach)
            world.end()
        done = world.with_effects(found)
        if len(done) < len(world.rows) or len(world.rows) == len(rows):
            return done
        left, lacks = iter(done), Unsupported(f"{self.profile} does not have it")
        return [None if at in of_world else lacks if at in lacking else next(left) for at, _ in rows]

    def do(self, suite: Suite, row: Row) -> Outcome:
        """Do one operation, with its faults armed; AdapterError when the adapter does not answer an outcome."""
        if self.times:
            return self._do_in_time(suite, row, self.times)
        return self._do(suite, row)

    def _do(self, suite: Suite, row: Row) -> Outcome:
        at, args = row
        operation = suite.operations[at]
        if operation.spec.side is Side.WORLD:
            played_by(self.world, operation)(*args)
            if self._recorder:
                record_environment(suite.topology, suite.operation(row), self._recorder.record)
            return Ok()
        if at not in self._offered(suite):
            return Unsupported(f"{self.profile} does not have it")
        refused = self._refused([args[place] for place, _ in operation.spec.faults])
        if refused:
            return Unsupported(refused)
        turns = operation.spec.duration is not None and not self.times
        if turns and self._clocked is None:
            return Unsupported(NO_CLOCK)
        self._arm(operation.spec, args)
        with self.guarded(str(suite.operation(row))):
            if turns and self._clocked is not None:
                outcome = self._clocked.pass_time(args[0])
            else:
                outcome = self.adapter.apply(operation.for_implementation(args))
        if turns and isinstance(outcome, Ok):
            self.world.pass_time(args[0])
        if not isinstance(outcome, (Ok, Err, Unsupported)):
            raise AdapterError(
                f"The adapter answered {_short(outcome)} to {suite.operation(row)}: it must return Ok, Err or "
                "Unsupported."
            )
        return self._with_effect(operation.spec, outcome)

    def _arm(self, spec: OperationSpec, args: Sequence[Any]) -> None:
        """Arm the faults of an operation until the next one, since one-way requests may arrive late."""
        script = self.world.broker.script
        script.calm()
        for place, requests in spec.faults:
            script.arm(requests, args[place])

    def _refused(self, faults: Sequence[str]) -> str:
        """Why an operation with these faults cannot be done, or ""."""
        if self._refuser is None:
            return ""
        return next(filter(None, map(self._refuser.refuses_fault, faults)), "")

    def _do_in_time(self, suite: Suite, row: Row, times: Timekeeper) -> Outcome:
        """Do one operation of an implementation with a real clock: the kit waits, unless that takes too long.

        The world's clock stands still while an operation is played, so that its time is known exactly.
        """
        spec = suite.operations[row[0]].spec
        if spec.lasts and spec.lasts(*row[1]):
            return Unsupported("its clock is real, and time cannot be made to pass within an operation")
        millis = row[1][0] if spec.duration else 0
        if spec.duration and times.seconds(millis) > self.max_wait:
            longest = times.seconds(max(millis, *spec.duration.items))
            return Unsupported(
                f"its clock is real, and ticks of up to {longest:g} s are more than is waited for: --max-wait "
                f"{longest:g} allows them all"
            )
        if millis:
            times.wait(millis, self.beat)
        self.world.now = times.begin()
        outcome = self._do(suite, row)
        times.end()
        return outcome

    @contextmanager
    def listening(self, suite: Suite) -> Iterator[MessageRecorder]:
        """Record the messages between the implementation and its brokers, in cases of a suite that begin inside."""
        recorder, world = MessageRecorder(), self._world_of(suite)
        recording = RecordingBroker(world.door, recorder.record)
        self._recorder, self._recording = recorder, recording
        talks = self.adapter if isinstance(self.adapter, adapters.RecordsMessages) else None
        try:
            world.answer_by(recording)
            if talks:
                talks.record_messages(recorder.record)
            yield recorder
        finally:
            self._recorder = self._recording = None
            world.answer_by(None)
            if talks:
                talks.record_messages(None)

    def calls(self, suite: Suite) -> list[Callable[..., Result]] | None:
        """Plain callables for every operation of a suite, if the adapter offers them; faults and effects included."""
        methods = self.adapter.calls(suite) if isinstance(self.adapter, InProcess) and not self.times else None
        if methods is None:
            return None
        has, world = self._offered(suite), self._world_of(suite)
        return [
            played_by(world, operation)
            if operation.spec.side is Side.WORLD
            else _armed(world, operation.spec, methods[operation])
            if at in has and operation in methods
            else _not_offered
            for at, operation in enumerate(suite.operations)
        ]

    def step_player(self, suite: Suite) -> PlaySteps | None:
        """What plays the steps of a case without looking at single ones, if the adapter is in this process."""
        calls = self.calls(suite)
        return None if calls is None else lambda rows: [calls[at](*args) for at, args in rows]

    def settle(self) -> None:
        """Wait until everything that was written to the broker's TCP door is handled."""
        if self.world.broker.running:
            self.world.broker.settle()

    def _offered(self, suite: Suite) -> frozenset[int]:
        """Positions of the operations that the judging releases have; plans of other releases may hold more."""
        if suite.name not in self._offers:
            self._offers[suite.name] = frozenset(suite.offered(self.profile))
        return self._offers[suite.name]

    def close(self) -> None:
        """Release everything; never fails, and twice does no harm."""
        if self._closed:
            return
        self._closed = True
        try:
            self.adapter.close()
        except Exception:
            pass  # the verdict is known; anything that cannot be released ends with the process
        finally:
            self._alarm.remove()
            for world in self._worlds.values():
                world.broker.stop()
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)

    def guarded(self, what: str, *, limited: bool = True) -> AbstractContextManager[None]:
        """Turn any exception of an adapter, and its silence, into an AdapterError with a sentence.

        Inside another guard the time limit is that of the outer one; unless ``limited`` it is that of the caller.
        """
        return _Guard(self, what, limited)

    def _with_effect(self, spec: OperationSpec, outcome: Outcome) -> Outcome:
        if not (spec.effect or spec.commits):
            return outcome
        self.settle()
        return outcome_of(with_commits(spec, result_of(outcome), self.world.take_commits()))

    def _name_server(self) -> str:
        return self.world.name_server()

    def _case_folder(self) -> Path:
        """The folder of the case. It is emptied when a case asks for it, which most cases never do."""
        if self._folder is None:
            self._folder = temporary_folder()
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        elif not self._folder_begun:
            shutil.rmtree(self._folder)
            self._folder.mkdir()
        self._folder_begun = True
        return self._folder


def _armed(world: ClientCase, spec: OperationSpec, call: Callable[..., Result]) -> Callable[..., Result]:
    if spec.duration:
        return _timed(world, call)
    if spec.faults:
        call = _with_faults(world, spec, call)
    if spec.effect or spec.commits:
        call = _with_commits(world, spec, call)
    return call


def _with_faults(world: ClientCase, spec: OperationSpec, call: Callable[..., Result]) -> Callable[..., Result]:
    """The call with its faults played."""
    script = world.broker.script
    first, last, calm = _stretch(spec)
    more = last < len(spec.domains)
    kinds = [requests for _, requests in spec.faults]
    handlers, overlays = script.handlers, dict[tuple[str, ...], Overlay]()

    def faulty(*args: Any) -> Result:
        faults = args[first:last]
        if faults == calm:
            return call(*args[:first], *args[last:]) if more else call(*args[:first])
        overlay = overlays.get(faults)
        if overlay is None:
            overlay = overlays[faults] = script.overlay(zip(kinds, faults, strict=True))
        handlers.update(overlay.armed)
        result = call(*args[:first], *args[last:])
        handlers.update(overlay.honest)
        return result

    return faulty


def _with_commits(world: ClientCase, spec: OperationSpec, call: Callable[..., Result]) -> Callable[..., Result]:
    """The call with the commits that reached the broker as its result, or as the last part of it."""
    take, alone = world.take_commits, spec.effect

    def with_commits(*args: Any) -> Result:
        return judged_with(call(*args), take(), alone=alone)

    return with_commits


def _timed(world: ClientCase, call: Callable[..., Result]) -> Callable[..., Result]:
    def timed(millis: int) -> Result:
        result = call(millis)
        world.pass_time(millis)
        return result

    return timed


def _nothing() -> None:
    pass


def _stretch(spec: OperationSpec) -> tuple[int, int, tuple[str, ...]]:
    """Where the faults of an operation begin and end among its arguments, and their values when nothing goes wrong."""
    places = [place for place, _ in spec.faults]
    first = places[0] if places else len(spec.domains)
    if places != list(range(first, first + len(places))):
        raise TypeError(f"the faults of {spec.name} must stand side by side")
    return first, first + len(places), (ANSWER,) * len(places)


def _not_offered(*args: Any) -> Result:
    """An answer that never agrees, so that the case is judged step by step, which leaves the operation out."""
    return Err("UNSUPPORTED")


class _Guard:
    """The context of ``Stage.guarded``; a class, which costs half of a generator: each case enters two."""

    __slots__ = ("_limited", "_outermost", "_stage", "_what")

    def __init__(self, stage: Stage, what: str, limited: bool) -> None:
        self._stage = stage
        self._what = what
        self._limited = limited
        self._outermost = False

    def __enter__(self) -> None:
        stage = self._stage
        if not stage._guarding:
            self._outermost = stage._guarding = True
            stage.beat()
            if self._limited:
                stage._alarm.set(stage.patience)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        stage = self._stage
        if self._outermost:
            stage._guarding = False
            if self._limited:
                stage._alarm.unset()
        if error is None or isinstance(error, (AdapterError, CannotRunError)):
            return
        if isinstance(error, Overdue) and self._limited:
            raise AdapterError(f"The adapter did not return from {self._what} within {stage.patience:g} s.") from None
        if isinstance(error, TimeoutError):
            raise AdapterError(
                f"The adapter waited in {self._what} for what did not come in time{_in_brackets(error)}: see whether "
                "what it asks still runs, and replay."
            ) from error
        if isinstance(error, Exception):
            raise AdapterError(
                f"The adapter raised {type(error).__name__}{_in_brackets(error)} in {self._what}."
            ) from error


def _in_brackets(error: Exception) -> str:
    return f" ({_short(error)})" if str(error) else ""


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, Exception) else str(value)
    return text if len(text) <= 200 else text[:199] + "…"
