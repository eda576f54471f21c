"""One case of a gRPC suite, played with a program for each member and judged by its calls at their proxy.

The play follows the model itself, to know for what a look may stop waiting.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import cast

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.grpc_door import GrpcDoor
from rocketmq_conformance.conformance.fakes.proxy_case import ProxyCase
from rocketmq_conformance.conformance.fakes.proxy_moves import arrive, assign, prepare, refuse
from rocketmq_conformance.conformance.fakes.proxy_seen import end, seen
from rocketmq_conformance.conformance.targets.client_program.program import Introduced, Program
from rocketmq_conformance.conformance.targets.client_program.program_cases import NOT_CONNECTED
from rocketmq_conformance.conformance.targets.client_program.required_consumers import LISTEN
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Clock, Interrupted
from rocketmq_conformance.models.client.grpc_fifo import cannot_forward
from rocketmq_conformance.models.client.grpc_push import (
    ASSIGN,
    HEARTBEAT,
    MEMBERS,
    POLLING,
    GrpcPushState,
    keeps_lost,
    may_go,
)
from rocketmq_conformance.models.client.plan_words import SUCCEEDS
from rocketmq_conformance.models.outcome import Err, Expected, Ok, Outcome, Unsupported, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import grpc_answers, grpc_fifo
from rocketmq_conformance.suites import grpc_push as operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

#: Seconds until a program that was started has sent its settings, and until one that is to end has ended.
CONNECT, END = 60.0, 30.0
#: Seconds for what a step is expected to show: assignments are asked for every 5 s, heartbeats sent every 10 s, and
#: what was refused is sent again after 1 s. A busy machine may make all of that late.
LIMIT = 25.0
#: How long nothing else may be seen after that.
QUIET = 0.5
#: How long it may take to be seen that a call is sent again which was refused for good.
_INSISTENCE = 2.5
#: Seconds within which a receive follows the one before.
_NEXT = 3.0
#: How many programs start at a time.
_STARTS = threading.BoundedSemaphore(2)
#: The parts of an answer that a member shows when its timer is due.
_HEARTBEATS = list(operations.Look.spec.answer).index("heartbeats")
_REFUSED = list(operations.Look.spec.answer).index("refused")
NONE = f"none within {LIMIT:g} s"


class PlayedProxy:
    """The members of one case, and what is done to them and their proxy."""

    #: The consumer that its programs are to be: ``ROCKETMQ_KIND``.
    kind = "push"

    def __init__(self, suite: Suite, profile: Profile, command: Sequence[str], interrupted: threading.Event) -> None:
        self.suite, self._command, self._clock = suite, command, Clock(interrupted)
        bound = suite.bind(profile)
        self._state, self._handlers = bound.initial, bound.handlers
        self.case = ProxyCase(TOPIC, GROUP, time.monotonic)
        self.prepare()
        self._door = GrpcDoor(self.case)
        self.programs: dict[int, Program] = {}
        #: The client ids of the members that run.
        self.ids: dict[int, str] = {}
        self._listener = SUCCEEDS
        self._failure: Err | None = None

    def prepare(self) -> None:
        """How a case begins."""
        prepare(self.case, self._state.setting)

    def close(self) -> None:
        """Kill the programs that still run, and end the proxy."""
        for program in self.programs.values():
            program.kill()
        self.programs.clear()
        self._door.close()

    @property
    def is_connected(self) -> bool:
        """Did any program connect?"""
        return bool(self.ids)

    @property
    def misses_member(self) -> bool:
        """Did a member not connect?"""
        return self._failure is not None and self._failure.code == NOT_CONNECTED

    def give_up(self, why: Err) -> Err:
        """The rest of the case decides nothing: this is the answer to all that is done from now on."""
        self._failure = why
        return why

    def do(self, operation: Operation) -> Outcome:
        """Do one operation, and wait until the proxy has seen its result. CannotRunError when a program does not
        connect, Interrupted at the end of a run."""
        if self._failure:
            return self._failure
        before = self._state
        self._state, expected, _ = self._handlers[type(operation)](before, *operation.args)
        self.case.begin_step()
        gone = None
        match operation:
            case operations.Prepare() | grpc_fifo.Prepare():
                self.prepare()
                return Ok()
            case operations.Join(member) if member not in self.programs:
                self.start(member)
            case operations.Leave(member) if may_go(before, member):
                gone = self.ids.pop(member)
                if not self.programs.pop(member).stop(END):
                    return self.still_running()
            case operations.Crash(member) if may_go(before, member):
                crashed = self.ids.pop(member)
                self.programs.pop(member).kill()
                self._clock.wait(lambda: not self.case.open_receives(crashed), LIMIT)
            case grpc_fifo.Send(queue, form, messages):
                arrive(self.case, queue, "ordinary" if cannot_forward(before) else form, messages)
            case operations.Send():
                arrive(self.case, *operation.args)
            case operations.Listen(listener):
                self._listener = listener
                for program in self.programs.values():
                    program.send({LISTEN: listener})
            case operations.ComeAgain():
                self.case.come_again()
            case operations.Assign(assigned):
                assign(self.case, assigned)
            case grpc_answers.Refuse(call, code) | grpc_fifo.Refuse(call, code):
                if self._state.refused == (call, code):
                    refuse(self.case, call, code)
            case grpc_answers.Mend() | grpc_fifo.Mend():
                self.case.mend()
            case operations.Join() | operations.Leave() | operations.Crash() | operations.Look():
                pass
            case _:
                return Unsupported(f"a program is not asked for {operation.spec.name}")
        return self._look(operation, before, expected, gone)

    @staticmethod
    def still_running() -> Err:
        """What is to be said of a program that does not end."""
        return Err("STILL_RUNNING", detail=f"it did not end within {END:g} s of SIGTERM")

    def introduce(self) -> Introduced:
        """Start a member: what it says of itself. CannotRunError when it does not connect."""
        self.start(0)
        program = self.programs[0]
        self._clock.wait(lambda: bool(program.takes or program.unsupported), QUIET)
        return program.introduced

    def start(self, member: int) -> None:
        """Start a member; CannotRunError when it sends no settings."""
        known = {*self.case.clients}
        variables = {
            "ROCKETMQ_ENDPOINTS": f"127.0.0.1:{self._door.port}",
            "ROCKETMQ_GROUP": GROUP,
            "ROCKETMQ_TOPIC": TOPIC,
            "ROCKETMQ_INSTANCE": ORDINARY.members[member],
            "ROCKETMQ_KIND": self.kind,
            "ROCKETMQ_AWAIT": f"{POLLING:g}",
            "ROCKETMQ_PROTOCOL": "grpc",
        }

        def new() -> list[str]:
            with self.case.lock:
                return [name for name, one in self.case.clients.items() if name not in known and one.said]

        with _STARTS:
            if self._clock.is_over:
                raise Interrupted
            program = self.programs[member] = Program(self._command, variables)
            if self._listener != SUCCEEDS:
                program.send({LISTEN: self._listener})
            self._clock.wait(lambda: new() or program.code is not None or program.unsupported, CONNECT)
        found = new()
        if not found and not program.unsupported:
            reason = self._not_connected(program)
            self.programs.pop(member).kill()
            raise CannotRunError(reason)
        if found:
            self.ids[member] = found[0]

    def _not_connected(self, program: Program) -> str:
        words = f" It wrote on standard error: {program.last_words}" if program.last_words else ""
        if program.code is not None:
            return f"{self._command[0]} ended with exit code {program.code} before it sent its settings.{words}"
        return (
            f"{self._command[0]} sent no settings within {CONNECT:g} s: let it start a {self.kind} consumer of the "
            f"endpoints in ROCKETMQ_ENDPOINTS, without TLS.{words}"
        )

    # --- what is seen -----------------------------------------------------------------------------------------

    def _look(self, operation: Operation, before: GrpcPushState, expected: Expected, gone: str | None) -> Outcome:
        """Wait until the proxy has seen what is expected, or the time is up."""
        leaves = isinstance(operation, operations.Leave)

        def shown() -> tuple[Value, ...]:
            parts = seen(self.case, [self.ids.get(member) for member in MEMBERS])
            return (*parts, *(end(self.case, gone) if gone else (None, None))) if leaves else parts

        assert isinstance(expected, tuple)
        wanted: tuple[Value, ...] = expected

        found: list[tuple[Value, ...]] = []

        def is_there() -> bool:
            one = self._certain(operation, shown(), wanted)
            agree = all(part is None or part == other for part, other in zip(one, wanted, strict=True))
            agree = agree and one[_REFUSED] == wanted[_REFUSED] and self._timers_ran(operation, before)
            found[:] = [one] if agree else []
            return agree

        self._clock.wait(lambda: self._ended() or is_there(), LIMIT + self._waits())
        insists = isinstance(operation, grpc_answers.Mend) and keeps_lost(self._state)
        self._clock.wait(self._ended, _INSISTENCE if insists else QUIET)
        # between the end of a poll and the next one no receive is open
        self._clock.wait(lambda: self._ended() or is_there(), _NEXT)
        if self._ended():
            return Err("ENDED", detail=self._ended())
        return Ok(found[0] if found else self._certain(operation, shown(), wanted, late=True))

    @staticmethod
    def _certain(
        operation: Operation, parts: tuple[Value, ...], wanted: tuple[Value, ...], *, late: bool = False
    ) -> tuple[Value, ...]:
        """What was seen; what is not certain yet is left open, unless it is too late for it."""
        found = list(parts)
        beats, again = found[_HEARTBEATS], wanted[_REFUSED]
        assert isinstance(beats, tuple)
        running = cast(tuple[Value, ...], wanted[_HEARTBEATS])
        missing = [member for member, one in enumerate(running) if one and not beats[member]]
        if missing and not isinstance(operation, operations.Look):
            found[_HEARTBEATS] = None
        elif late:
            found[_HEARTBEATS] = tuple(NONE if at in missing else one for at, one in enumerate(beats))
        if again is None:
            found[_REFUSED] = None
        elif late and found[_REFUSED] is None:
            found[_REFUSED] = "not again"
        return tuple(found)

    def _timers_ran(self, operation: Operation, before: GrpcPushState) -> bool:
        """Has every member done what is due in time, where a step waits for that?"""
        calls = set[str]()
        if isinstance(operation, operations.Look):
            calls = {ASSIGN, HEARTBEAT}
        elif isinstance(operation, operations.Assign) or _reassigned(before, self._state):
            calls = {ASSIGN}
        return all(self.case.calls[client, call] for client in self.ids.values() for call in calls)

    def _waits(self) -> float:
        """Seconds that the messages of a FIFO group wait at most, in queues that are consumed side by side."""
        settings = self.case.settings
        waits = sum(settings.delay(attempt) for attempt in range(1, settings.attempts)) if settings.fifo else 0.0
        return waits * max(Counter(one.queue for one in self._state.messages).values(), default=0)

    def _ended(self) -> str:
        """What is to be said of a program that ended by itself, or ""."""
        for member, program in self.programs.items():
            if program.code is not None:
                name = ORDINARY.members[member]
                return f"{name} ended by itself with exit code {program.code}. {program.last_words}".strip()
        return ""


def _reassigned(before: GrpcPushState, after: GrpcPushState) -> bool:
    """Have members that stayed other queues than before?"""
    return any(after.members[member] != before.members[member] for member in before.members.keys() & after.members)
