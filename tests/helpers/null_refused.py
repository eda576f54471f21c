"""A port without the accidents of Java at a queue that is null; addressed as ``python:null_refused:NAME``."""

from __future__ import annotations

from dataclasses import replace

from broken_adapters import Slow

from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.models.client.plan_words import NO_QUEUE
from rocketmq_conformance.models.outcome import Err, Outcome
from rocketmq_conformance.suites.declare.operation import Operation


class OfAnotherMake(Slow):
    """It has no queue that is null: nothing is read of it, and setting it is refused."""

    quirks = False

    def hello(self) -> Hello:
        return replace(super().hello(), quirks=self.quirks)

    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        null = getattr(operation, "queue", None) == NO_QUEUE
        return Err("CLIENT") if null and operation.spec.name in ("read", "update") else outcome


class LikeJava(OfAnotherMake):
    """It says that it follows Java in its accidents, too."""

    quirks = True
