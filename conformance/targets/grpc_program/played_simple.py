"""One case of a simple consumer of the gRPC protocol: a program that is asked for each call."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.proxy_case import ProxySettings
from rocketmq_conformance.conformance.fakes.proxy_moves import arrive, refuse
from rocketmq_conformance.conformance.fakes.proxy_seen import end, simply_seen
from rocketmq_conformance.conformance.targets.grpc_program import played_proxy
from rocketmq_conformance.conformance.targets.grpc_program.played_proxy import PlayedProxy
from rocketmq_conformance.models.client.grpc_push import HEARTBEAT, POLLING
from rocketmq_conformance.models.outcome import Err, Expected, Ok, Outcome, Unsupported, Value
from rocketmq_conformance.suites import grpc_simple as operations
from rocketmq_conformance.suites.declare.operation import Operation

#: The part of an answer that the member shows when its timer is due.
_HEARTBEATS = list(operations.Look.spec.answer).index("heartbeats")


class PlayedSimple(PlayedProxy):
    """The member of one case, and what is done to it and its proxy."""

    kind = "simple"

    def prepare(self) -> None:
        """How a case begins."""
        self.case.settings = ProxySettings(polling=POLLING)

    def do(self, operation: Operation) -> Outcome:
        """Do one operation, and wait until the proxy has seen its result. CannotRunError when the program does not
        connect, Interrupted at the end of a run."""
        if self._failure:
            return self._failure
        before = self._state
        self._state, expected, _ = self._handlers[type(operation)](before, *operation.args)
        self.case.begin_step()
        gone = None
        match operation:
            case operations.Join() if 0 not in self.programs:
                self.start(0)
            case operations.Leave() if 0 in self.programs:
                gone = self.ids.pop(0)
                if not self.programs.pop(0).stop(played_proxy.END):
                    return self.still_running()
            case operations.Send(queue):
                arrive(self.case, queue)
            case operations.Receive(most, seconds):
                self._ask({"receive": most, "seconds": seconds})
            case operations.Acknowledge(queue, offset):
                self._ask({"ack": f"{queue}/{offset}"})
            case operations.Change(queue, offset, seconds):
                self._ask({"change": f"{queue}/{offset}", "seconds": seconds})
            case operations.TimeIsUp():
                self.case.time_is_up()
            case operations.Refuse(call, code):
                refuse(self.case, call, code)
            case operations.Mend():
                self.case.mend()
            case operations.Join() | operations.Leave() | operations.Look():
                pass
            case _:
                return Unsupported(f"a program is not asked for {operation.spec.name}")
        return self._seen(operation, expected, gone)

    def _ask(self, command: dict[str, object]) -> None:
        """Write a command to the member, if it runs."""
        for program in self.programs.values():
            program.send(command)

    def _seen(self, operation: Operation, expected: Expected, gone: str | None) -> Outcome:
        """Wait until the proxy has seen what is expected, or the time is up."""
        assert isinstance(expected, tuple)
        wanted: tuple[Value, ...] = expected

        def shown(*, late: bool = False) -> tuple[Value, ...]:
            parts = simply_seen(self.case, self.ids.get(0))
            if parts[_HEARTBEATS] is None and wanted[_HEARTBEATS] is not None and late:
                parts = (*parts[:_HEARTBEATS], played_proxy.NONE, *parts[_HEARTBEATS + 1 :])
            leaves = isinstance(operation, operations.Leave)
            return (*parts, end(self.case, gone)[0] if gone else None) if leaves else parts

        def is_there() -> bool:
            beats = not isinstance(operation, operations.Look) or all(
                self.case.calls[client, HEARTBEAT] for client in self.ids.values()
            )
            polls = any(self.case.open_receives(client) for client in self.ids.values())
            same = all(part in (None, other) for part, other in zip(shown(), wanted, strict=True))
            return bool(self._ended()) or (same and beats and not polls)

        self._clock.wait(is_there, played_proxy.LIMIT)
        late = not is_there() and isinstance(operation, operations.Look)
        self._clock.wait(self._ended, played_proxy.QUIET)
        if self._ended():
            return Err("ENDED", detail=self._ended())
        return Ok(shown(late=late))
