"""Events of divergences: the minimal plan step by step, its rules and the command that replays it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from rocketmq_conformance.conformance.engine.judge import Judge, fingerprint
from rocketmq_conformance.conformance.engine.shrink import Shrunk
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.engine.transcript import Message
from rocketmq_conformance.models.outcome import Err, Outcome, Undefined
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.suites.declare.discovery import rules
from rocketmq_conformance.suites.declare.oracle import Step
from rocketmq_conformance.suites.declare.suite import Row, Suite


def divergence_event(
    suite: Suite,
    number: int,
    mark: str,
    shrunk: Shrunk,
    found: int,
    plan: str,
    command: Sequence[str],
    messages: Sequence[list[Message]] = (),
) -> event.DivergenceFound:
    """The event of a divergence.

    ``mark`` is its fingerprint, ``found`` the length in steps of the plan that found it, ``plan`` the file of the
    minimal plan ("" when it is not kept), ``command`` the words of the command line that replay it, and
    ``messages`` those of each step (``listen``), or nothing when none were recorded.
    """
    steps = shrunk.judged.steps
    last = steps[-1]
    by_step = list(zip(steps, messages or [[] for _ in steps], strict=True))
    return event.DivergenceFound(
        suite=suite.name,
        case=number,
        fingerprint=mark,
        rules=[rule_json(name) for name in last.why.rules],
        expected=format_result(last.expected),
        observed=format_result(last.observed),
        steps=[_step(suite, at, step, sent, step is last) for at, (step, sent) in enumerate(by_step, start=1)],
        found_steps=found,
        shrink_executions=shrunk.executions,
        plan=plan,
        replay=shlex.join(["rocketmq-conformance", *command]),
    )


def listen(stage: Stage, judge: Judge, shrunk: Shrunk, number: int) -> tuple[Shrunk, list[list[Message]]]:
    """Play a minimal plan a last time and record the messages of each step.

    Returns the steps as observed this time, so that answers and messages belong together. When it does not diverge in
    the same way again, the given one stands, without messages. AdapterError and CannotRunError as of any case.
    """
    rows, suite = shrunk.judged.rows, judge.suite
    messages: list[list[Message]] = []
    with stage.listening() as recorder:

        def do(row: Row) -> Outcome:
            outcome = stage.do(suite, row)
            stage.settle()
            messages.append(recorder.take())
            return outcome

        stage.begin(suite, number)
        recorder.take()
        again = judge.judge(rows, do, count=False, times=stage.times)
    marks = [fingerprint(suite, judged.steps[-1]) if judged.steps else "" for judged in (shrunk.judged, again)]
    if again.verdict != DIVERGES or again.rows != rows or len(messages) != len(rows) or marks[0] != marks[1]:
        return shrunk, []
    return Shrunk(again, shrunk.executions), messages


def plan_file(folder: Path, suite: Suite, mark: str) -> Path:
    """Where the minimal plan of a divergence is kept."""
    return folder / f"{suite.name}.{mark}.plan.jsonl"


def format_result(result: object) -> str:
    """An expected or observed result as a reader sees it."""
    match result:
        case Undefined():
            return "anything"
        case Err(code):
            return f"error {code}"
        case _:
            return repr(result)


def _step(suite: Suite, number: int, step: Step, messages: list[Message], diverges: bool) -> event.DivergenceStep:
    return event.DivergenceStep(
        number=number,
        operation=str(suite.operation(step.row)),
        expected=_either(format_result(one.expected) for one in (step, *step.others)),
        observed=format_result(step.observed),
        rules=list(step.why.rules),
        state_kind=step.why.kind,
        before=_either(suite.show(one.before) for one in (step, *step.others)),
        after=_either(suite.show(one.after) for one in (step, *step.others)),
        diverges=diverges,
        messages=messages,
    )


def _either(words: Iterable[str]) -> str:
    """The texts of every possibility, each once."""
    return " or ".join(dict.fromkeys(words))


def rule_json(name: str) -> dict[str, str]:
    """A rule as events write it."""
    rule = rules()[name]
    return {"id": rule.id, "sentence": rule.sentence, "level": rule.level.value, "source": rule.source}
