"""Events of divergences: the minimal plan step by step, its rules and the command that replays it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from rocketmq_conformance.conformance.engine.judge import Judge, fingerprint_of
from rocketmq_conformance.conformance.engine.shrink import Shrunk
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.engine.transcript import Message
from rocketmq_conformance.models.outcome import Err, Expected, Outcome, Undefined
from rocketmq_conformance.models.rule import Level
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.reports.text import shortened
from rocketmq_conformance.suites.declare.answer_parts import (
    differing_parts,
    in_words,
    is_accident,
    named_parts,
    responsible,
    showing_as,
)
from rocketmq_conformance.suites.declare.consequence import consequence_of
from rocketmq_conformance.suites.declare.discovery import rules
from rocketmq_conformance.suites.declare.operation import OperationSpec
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Row, Suite
from rocketmq_conformance.suites.declare.wording import OFFSETS, differences, exchanges, text, worded

#: What a report says when a plan with requests made none.
NO_REQUEST = "no request arrived at the broker in this plan: look at the adapter first"
#: Stands between an error and the commits that reached the broker all the same.
SENT = ", sent "
#: Characters of the detail of an error that are shown.
_LONGEST_DETAIL = 200


def divergence_event(
    suite: Suite,
    number: int,
    fingerprint: str,
    shrunk: Shrunk,
    found: int,
    plan: str,
    command: Sequence[str],
    *,
    messages: Sequence[list[Message]] = (),
    unshrunk: str = "",
    doubt: str = "",
) -> event.DivergenceFound:
    """The event of a divergence.

    ``found`` is the length in steps of the plan that found it, ``plan`` the file of the minimal plan ("" when it is
    not kept), ``command`` the words of the command line that replay it, ``messages`` those of each step (``listen``),
    or nothing when none were recorded, ``unshrunk`` why it was not shrunk, and ``doubt`` why it decides nothing.
    """
    steps = shrunk.judged.steps
    last = steps[-1]
    first = responsible(suite, last)
    spec = suite.operations[last.row[0]].spec
    differing = differing_parts(spec, last.expected, last.observed)
    level = _level(spec, last, differing)
    consequence = consequence_of(suite, last)
    by_step = list(zip(steps, messages or [[] for _ in steps], strict=True))
    return event.DivergenceFound(
        suite=suite.name,
        case=number,
        fingerprint=fingerprint,
        rules=[
            rule_json(name) | ({"level": level.value} if level else {})
            for name in dict.fromkeys((first, *last.why.rules))
            if name
        ],
        expected=said(spec, last.expected),
        observed=_observed(spec, last.observed),
        steps=[_step(suite, at, step, sent, step is last) for at, (step, sent) in enumerate(by_step, start=1)],
        found_steps=found,
        shrink_executions=shrunk.executions,
        unshrunk=unshrunk,
        parts=parts_that_differ(spec, last.expected, last.observed),
        history=_history(spec, last),
        warning=_warning(suite, steps, messages),
        doubt=doubt,
        harm=consequence.harm.value,
        consequence=consequence.sentence,
        plan=plan,
        replay=shlex.join(["rocketmq-conformance", *command]),
    )


def _level(spec: OperationSpec, step: Step, differing: Sequence[str]) -> Level | None:
    """How binding what differs is where that is less than its rules are; None where it is not."""
    if is_accident(step.why, differing):
        return Level.QUIRK
    return Level.SHOULD if differing and set(differing) <= set(spec.should) else None


def listen(
    stage: Stage, judge: Judge, shrunk: Shrunk, number: int, *, goes_on: bool = False
) -> tuple[Shrunk, list[list[Message]]]:
    """Play a minimal plan a last time and record the messages of each step.

    Returns the steps as observed this time, so that answers and messages belong together. When it does not diverge in
    the same way again, the given one stands, without messages. AdapterError and CannotRunError as of any case.
    """
    rows, suite = shrunk.judged.rows, judge.suite
    messages: list[list[Message]] = []
    with stage.listening(suite) as recorder:

        def do(row: Row) -> Outcome:
            outcome = stage.do(suite, row)
            stage.settle()
            messages.append(recorder.take())
            return outcome

        stage.begin(suite, number)
        recorder.take()
        again = judge.judge(rows, do, count=False, times=stage.times, goes_on=goes_on)
        stage.end()
    if stage.times and again.steps:
        again.steps[-1] = showing_as(suite, again.steps[-1], shrunk.judged.steps[-1])
    fingerprints = [
        fingerprint_of(suite, judged.steps[-1]) if judged.steps else "" for judged in (shrunk.judged, again)
    ]
    if (
        again.verdict != DIVERGES
        or again.rows != rows
        or len(messages) != len(rows)
        or fingerprints[0] != fingerprints[1]
    ):
        return shrunk, []
    return Shrunk(again, shrunk.executions), messages


def plan_file(folder: Path, suite: Suite, fingerprint: str) -> Path:
    """Where the minimal plan of a divergence is kept."""
    return folder / f"{suite.name}.{fingerprint}.plan.jsonl"


def format_result(result: object) -> str:
    """An expected or observed result as tables keep it, from which it can be read again."""
    match result:
        case Undefined():
            return "anything"
        case Err(code, commits=commits):
            return f"error {code}{SENT}{commits!r}" if commits else f"error {code}"
        case _:
            return repr(result)


def said(spec: OperationSpec, result: Expected) -> str:
    """An expected or observed result as a reader sees it: with the names of what it is made of."""
    match result:
        case Err(code, commits=commits) if commits:
            return f"error {code}{SENT}{text(worded(OFFSETS, commits))}"
        case Err() | Undefined():
            return format_result(result)
        case _:
            return text(in_words(spec, result))


def _observed(spec: OperationSpec, result: Expected) -> str:
    """An observed result as a reader sees it, with what the implementation says of an error."""
    shown = said(spec, result)
    detail = " ".join(result.detail.split()) if isinstance(result, Err) else ""
    return f"{shown} ({shortened(detail, _LONGEST_DETAIL)})" if detail else shown


def parts_that_differ(spec: OperationSpec, expected: Expected, observed: Expected) -> list[list[str]]:
    """The parts of an answer that differ, and of these what differs: name, expected and observed.

    None where the answers have no names for what they are made of, or differ as a whole.
    """
    if isinstance(expected, Err | Undefined) or isinstance(observed, Err | Undefined):
        return []
    wanted, given = named_parts(spec, expected), named_parts(spec, observed)
    words = in_words(spec, expected), in_words(spec, observed)
    if wanted is None or given is None:
        return [list(one) for one in differences(*words) if one[0]]
    found: list[list[str]] = []
    for name in differing_parts(spec, expected, observed):
        one, other = (words_of[name] for words_of in words if not isinstance(words_of, str))
        entries = differences(one, other, name) or [(name, format_result(wanted[name]), format_result(given[name]))]
        found += map(list, entries)
    return found


def _warning(suite: Suite, steps: Sequence[Step], messages: Sequence[list[Message]]) -> str:
    """A warning when no request of a plan reached a broker, though its operations make requests."""
    asks = [suite.operations[step.row[0]].spec for step in steps]
    if not messages or any(messages) or not any(spec.faults or spec.effect or spec.commits for spec in asks):
        return ""
    return NO_REQUEST


def _step(suite: Suite, number: int, step: Step, messages: list[Message], diverges: bool) -> event.DivergenceStep:
    spec = suite.operations[step.row[0]].spec
    return event.DivergenceStep(
        number=number,
        operation=str(suite.operation(step.row)),
        expected=_either(said(spec, one.expected) for one in (step, *step.others)),
        observed=_observed(spec, step.observed),
        rules=list(step.why.rules),
        state_kind=step.why.kind,
        before=_either(suite.show(one.before) for one in (step, *step.others)),
        after=_either(suite.show(one.after) for one in (step, *step.others)),
        diverges=diverges,
        messages=messages,
    )


def _history(spec: OperationSpec, step: Step) -> list[list[str]]:
    """The requests that a step sent at the same time, as they were observed, each with what differs."""
    if spec.history is None:
        return []
    seen, wanted = (exchanges(spec.history, value) for value in (step.observed, step.expected))
    answers = [one[-1] for one in wanted] if len(wanted) == len(seen) else [one[-1] for one in seen]
    return [
        [who, what, str(sent), "" if answered is None else str(answered), said, "" if said == answer else answer]
        for (who, what, sent, answered, said), answer in zip(seen, answers, strict=True)
    ]


def _either(words: Iterable[str]) -> str:
    """The texts of every possibility, each once."""
    return " or ".join(dict.fromkeys(words))


def rule_json(name: str) -> dict[str, str]:
    """A rule as events write it."""
    rule = rules()[name]
    return {"id": rule.id, "sentence": rule.sentence, "level": rule.level.value, "source": rule.source}
