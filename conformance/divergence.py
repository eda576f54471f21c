"""Divergences as events tell them: the minimal plan step by step, its rules and how to see it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rocketmq_conformance.conformance.judge import Step
from rocketmq_conformance.conformance.shrink import Shrunk
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.outcome import Err, Undefined
from rocketmq_conformance.reports import event
from rocketmq_conformance.suites.suite import Suite


def told(
    suite: Suite, number: int, mark: str, shrunk: Shrunk, found: int, plan: str, command: Sequence[str]
) -> event.DivergenceFound:
    """The event of a divergence.

    ``mark`` is its fingerprint, ``found`` the length in steps of the plan that found it, ``plan`` the file of the
    minimal plan ("" when it is not kept) and ``command`` the words of the command line that show it again.
    """
    steps = shrunk.judged.steps
    last = steps[-1]
    return event.DivergenceFound(
        suite.name,
        number,
        mark,
        [_rule(name) for name in last.why.rules],
        said(last.expected),
        said(last.observed),
        [_step(suite, at, step, step is last) for at, step in enumerate(steps, start=1)],
        found,
        shrunk.executions,
        plan,
        shlex.join(["rocketmq-conformance", *command]),
    )


def plan_file(folder: Path, suite: Suite, mark: str) -> Path:
    """Where the minimal plan of a divergence is kept."""
    return folder / f"{suite.name}.{mark}.plan.jsonl"


def said(result: object) -> str:
    """An expected or observed result as a reader sees it."""
    match result:
        case Undefined():
            return "anything"
        case Err(code):
            return f"error {code}"
        case _:
            return repr(result)


def _step(suite: Suite, number: int, step: Step, diverges: bool) -> event.Step:
    return event.Step(
        number,
        str(suite.operation(step.row)),
        said(step.expected),
        said(step.observed),
        list(step.why.rules),
        step.why.kind,
        suite.show(step.before),
        suite.show(step.after),
        diverges,
    )


def _rule(name: str) -> dict[str, str]:
    rule = rulebook.RULES[name]
    return {"id": rule.id, "sentence": rule.sentence, "level": rule.level.value, "source": rule.source}
