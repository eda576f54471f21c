"""Adapters that are broken in one way each; addressed as ``python:broken_adapters:NAME``."""

from __future__ import annotations

import os
import time

from rocketmq_conformance.conformance.adapter import Case, Hello
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
from rocketmq_conformance.suites.declare.operation import Operation


class Slow:
    """The port, one operation at a time; base of the broken ones."""

    def __init__(self) -> None:
        self.port = Port()
        self.applied = 0

    def hello(self) -> Hello:
        return self.port.hello()

    def reset(self, case: Case) -> None:
        self.port.reset(case)

    def apply(self, operation: Operation) -> Outcome:
        self.applied += 1
        return self.answer(operation, self.port.apply(operation))

    def pass_time(self, millis: int) -> Outcome:
        return self.port.pass_time(millis)

    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        return outcome

    def close(self) -> None:
        self.port.close()


class Raises(Slow):
    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        raise ZeroDivisionError("a bug in the adapter")


class RaisesLate(Slow):
    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        if self.applied == 100:
            raise ZeroDivisionError("a bug in the adapter")
        return outcome


class Junk(Slow):
    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        return {"not": "an outcome"}  # type: ignore[return-value]


class Hangs(Slow):
    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        time.sleep(3600)
        return outcome


class Undecided(Slow):
    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        return Err("TIMEOUT", definite=False)


class OffersNothing(Slow):
    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        return Unsupported("nothing is offered")


class BadHello(Slow):
    def hello(self) -> Hello:
        return "hello"  # type: ignore[return-value]


class OffByOne(Slow):
    """Reads one too many from memory."""

    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        if operation.spec.name == "read" and outcome == Ok(12):
            return Ok(13)
        return outcome


class FailsToClose(Slow):
    def close(self) -> None:
        raise RuntimeError("cannot close")


class Interrupted(Slow):
    """Somebody presses Ctrl-C in the middle."""

    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        if self.applied == 100:
            os.kill(os.getpid(), 2)
        return outcome


class FailsToBegin:
    def __init__(self) -> None:
        raise RuntimeError("cannot begin")


NOT_CALLABLE = 3


def no_adapter() -> int:
    return 3
