"""The stage: one adapter and the world around it, on which cases are played."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from types import FrameType
from typing import Any

from rocketmq_conformance.conformance.adapter import Adapter, AdapterError, CannotRunError, Case
from rocketmq_conformance.conformance.engine.real_clock import Timekeeper
from rocketmq_conformance.conformance.engine.transcript import Ear, Overheard, world_did
from rocketmq_conformance.conformance.fakes.scripted_broker import FAULTS, World
from rocketmq_conformance.conformance.fakes.scripted_server import ScriptedServer
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Result, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.measured_time import TICK
from rocketmq_conformance.suites.declare.operation import OperationSpec, Side
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Seconds that one operation may take before the adapter counts as hanging.
PATIENCE = 60.0
#: Seconds that are waited for at once when an implementation has a real clock.
LONGEST_WAIT = 2.0


class Stage:
    """Plays operations on an adapter; the world's own operations on the world."""

    def __init__(
        self, adapter: Adapter, profile: Profile, patience: float = PATIENCE, max_wait: float = LONGEST_WAIT
    ) -> None:
        self.adapter = adapter
        self.profile = profile
        self.patience = patience
        self.max_wait = max_wait
        #: Measures time for an adapter whose clock is real; None when it is virtual.
        self.times: Timekeeper | None = None
        self.world = World(profile)
        #: Called whenever the adapter is about to be asked: a sign of life for whoever watches.
        self.beat: Callable[[], None] = _nothing
        #: While messages are taken down: who writes, and who answers instead of the world.
        self._ear: Ear | None = None
        self._overheard: Overheard | None = None
        self._server: ScriptedServer | None = None
        self._folder: Path | None = None
        #: Positions of the operations that the profile has, by suite.
        self._offers: dict[str, frozenset[int]] = {}
        self._guarding = False
        self._alarm = _Alarm()
        self._closed = False

    def use(self, profile: Profile) -> None:
        """Play the world's broker by another profile; before the first case only."""
        self.profile = profile
        self._offers.clear()
        self.world = World(profile.judged())

    def keep_time(self, pace: float) -> None:
        """The adapter's clock is real, and so many times faster than standard."""
        self.times = Timekeeper(pace)

    def begin(self, suite: Suite, number: int) -> None:
        """Begin a case."""
        self.world.begin()
        exchange = (self._overheard or self.world).exchange
        case = Case(suite, number, self.profile, self._name_server, exchange, self._empty_folder(suite))
        with self.guarded(f"beginning a case of {suite.name}"):
            self.adapter.reset(case)
        if self.times:
            self.times.begin_case()

    def do(self, suite: Suite, row: Row) -> Outcome:
        """Do one operation, with its faults armed; AdapterError when the adapter does not answer an outcome."""
        if self.times:
            return self._do_in_time(suite, row, self.times)
        return self._do(suite, row)

    def _do(self, suite: Suite, row: Row) -> Outcome:
        spec = suite.operations[row[0]].spec
        if spec.side is Side.WORLD:
            getattr(self.world, spec.name)(*row[1])
            if self._ear:
                world_did(suite.operation(row), self._ear.hear)
            return Ok()
        if row[0] not in self._offered(suite):
            return Unsupported(f"{self.profile} does not have it")
        operation = suite.operation(row)
        for fault in FAULTS:
            setattr(self.world, fault, getattr(operation, fault, "answer"))
        with self.guarded(str(operation)):
            outcome = self.adapter.apply(operation)
        millis = getattr(operation, "millis", 0)
        if millis and isinstance(outcome, Ok) and not self.times:
            self.world.pass_time(millis)
        if not isinstance(outcome, (Ok, Err, Unsupported)):
            raise AdapterError(
                f"The adapter answered {_short(outcome)} to {operation}: apply must return Ok, Err or Unsupported."
            )
        return self._with_effect(spec, outcome)

    def _do_in_time(self, suite: Suite, row: Row, times: Timekeeper) -> Outcome:
        """Do one operation of whoever has a real clock: time passes by itself, unless that takes too long.

        The world's clock stands still while an operation is played, so that everybody knows what it says.
        """
        spec = suite.operations[row[0]].spec
        if spec.lasts and spec.lasts(*row[1]):
            return Unsupported("its clock is real, and time cannot be made to pass within an operation")
        millis = row[1][0] if spec.name == TICK else 0
        if times.seconds(millis) > self.max_wait:
            longest = times.seconds(max(millis, *(spec.domains[0][1].rows() or ())))
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
    def listening(self) -> Iterator[Ear]:
        """Take down what the implementation and its brokers say to one another in cases that begin inside."""
        ear = Ear()
        overheard = Overheard(self.world, ear.hear)
        self._ear, self._overheard = ear, overheard
        listen = getattr(self.adapter, "overhear", None)
        try:
            if self._server:
                self._server.answer_by(overheard)
            if listen:
                listen(ear.hear)
            yield ear
        finally:
            self._ear = self._overheard = None
            if self._server:
                self._server.answer_by(self.world)
            if listen:
                listen(None)

    def calls(self, suite: Suite) -> list[Callable[..., Result]] | None:
        """Plain callables for every operation of a suite, if the adapter offers them; faults and effects included."""
        if self.times:
            return None
        offer = getattr(self.adapter, "calls", None)
        offered = offer(suite) if offer else None
        if offered is None:
            return None
        has = self._offered(suite)
        return [
            (self._armed(op.spec, call) if at in has else _not_offered)
            if op.spec.side is not Side.WORLD
            else getattr(self.world, op.spec.name)
            for at, (op, call) in enumerate(zip(suite.operations, offered, strict=True))
        ]

    def settle(self) -> None:
        """Wait until everything that was written to the scripted broker is handled."""
        if self._server:
            self._server.settle()

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
            pass  # the verdict is known; what cannot be released any more ends with the process
        finally:
            self._alarm.remove()
            if self._server:
                self._server.stop()
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def guarded(self, what: str) -> Iterator[None]:
        """Turn whatever an adapter raises, and its silence, into an AdapterError with a sentence.

        Inside another guard the time limit is that of the outer one.
        """
        inner, self._guarding = self._guarding, True
        try:
            if not inner:
                self.beat()
                self._alarm.set(self.patience)
            yield
        except (AdapterError, CannotRunError, KeyboardInterrupt):
            raise
        except _Hangs:
            raise AdapterError(f"The adapter did not return from {what} within {self.patience:g} s.") from None
        except Exception as error:
            raise AdapterError(f"The adapter raised {type(error).__name__} ({_short(error)}) in {what}.") from error
        finally:
            self._guarding = inner
            if not inner:
                self._alarm.unset()

    def _with_effect(self, spec: OperationSpec, outcome: Outcome) -> Outcome:
        if not (spec.effect or spec.commits):
            return outcome
        self.settle()
        commits = self.world.take_commits()
        if not isinstance(outcome, Ok):
            return outcome
        if spec.effect:
            return Ok(commits)
        return Ok((*outcome.value, commits)) if isinstance(outcome.value, tuple) else outcome

    def _armed(self, spec: OperationSpec, call: Callable[..., Result]) -> Callable[..., Result]:
        world, names = self.world, [name for name, _ in spec.domains]
        if names == ["millis"]:
            return self._timed(call)
        faults = [fault for fault in FAULTS if fault in names]
        effect, commits = spec.effect, spec.commits
        if not faults and not effect and not commits:
            return call
        places = [(fault, names.index(fault)) for fault in faults]
        how = itemgetter(*[place for _, place in places]) if faults else _calm
        calm = how(["answer"] * len(names))

        def armed(*args: Any) -> Result:
            if how(args) == calm:
                result = call(*args)
            else:
                for fault, place in places:
                    setattr(world, fault, args[place])
                result = call(*args)
                for fault in faults:
                    setattr(world, fault, "answer")
            if effect:
                stored = world.take_commits()
                return result if type(result) is Err else stored
            if commits:
                stored = world.take_commits()
                return (*result, stored) if type(result) is tuple else result
            return result

        return armed

    def _timed(self, call: Callable[..., Result]) -> Callable[..., Result]:
        def timed(millis: int) -> Result:
            result = call(millis)
            self.world.pass_time(millis)
            return result

        return timed

    def _name_server(self) -> str:
        if self._server is None:
            self._server = ScriptedServer(self._overheard or self.world, self.profile)
            self._server.start()
        return self._server.address

    def _empty_folder(self, suite: Suite) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="rocketmq-conformance-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        if suite.name == "local-store":
            shutil.rmtree(self._folder)
            self._folder.mkdir()
        return self._folder


def _nothing() -> None:
    pass


def _calm(args: Sequence[Any]) -> str:
    """Nothing can go wrong."""
    return ""


def _not_offered(*args: Any) -> Result:
    """Agrees with nothing, so that the case is judged step by step, which leaves the operation out."""
    return Err("UNSUPPORTED")


class _Hangs(BaseException):
    """Raised where an adapter hangs."""


def _raise_hangs(signum: int, frame: FrameType | None) -> None:
    raise _Hangs


class _Alarm:
    """Raises _Hangs in the main thread, the only one that can be interrupted, when its time has come.

    The handler is installed once, because installing one costs more than playing a step.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._installed = False

    def set(self, seconds: float) -> None:
        """Ring after so many seconds."""
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            return
        if not self._installed:
            self._before = signal.signal(signal.SIGALRM, _raise_hangs)
            self._installed = True
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def unset(self) -> None:
        """Do not ring any more."""
        if self._installed:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def remove(self) -> None:
        """Give the signal back."""
        if self._installed:
            signal.signal(signal.SIGALRM, self._before or signal.SIG_DFL)
            self._installed = False


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, Exception) else str(value)
    return text if len(text) <= 200 else text[:199] + "…"
