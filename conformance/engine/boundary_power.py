"""Power at the boundary: answers of an implementation are corrupted before they reach the judge. Is it noticed?

Cases are played once, and their answers kept. Then one answer of a case is corrupted in one way, and the case is judged
again with the answers that were kept; "twice" and "late" play the implementation once more. Rule by way, that shows
what would be noticed of this very implementation: a rule that never decides an answer, or decides only a part of it,
notices nothing.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.answers import played_with_answers
from rocketmq_conformance.conformance.engine.corruption import ANSWERS, LATE, TWICE, UNFIT, WAYS
from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.limits import CORRUPTED_CASES
from rocketmq_conformance.conformance.engine.player import BROKEN
from rocketmq_conformance.conformance.engine.real_clock import Recorded
from rocketmq_conformance.conformance.engine.runner import Events
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.outcome import (
    UNDEFINED,
    Err,
    Ok,
    Outcome,
    Result,
    Unsupported,
    agrees,
    outcome_of,
    result_of,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import event, measurement_event
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.answer_parts import differing_parts, is_accident
from rocketmq_conformance.suites.declare.indeterminate import UNKNOWN
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.oracle import QUIRK as LEFT_OPEN
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Answers that are corrupted for each suite, rule and way, in different cases.
TRIES = 3
#: How long an answer is waited for while answers come late (s).
PATIENCE = 0.05

PROMISED_NOTHING = "RocketMQ promises no answer there"
SEVERAL = "several states are possible there, and one of them allows it"
ADOPTED = "the model takes this part of the answer from the implementation"
QUIRK = "an accident of Java, which is judged with --quirks only"
UNJUDGED = "an answer before it already leaves open what the state is"


class _Played(NamedTuple):
    """A case that conformed: its plan, its judged steps, and what the implementation answered to each of them."""

    number: int
    rows: list[Row]
    judged: Judged
    outcomes: list[Ok | Err]


@dataclass
class _Cell:
    """The corruptions of one rule in one way, in one suite."""

    tried: int = 0
    noticed: int = 0
    #: Why the others were not noticed: how often.
    reasons: Counter[str] = field(default_factory=Counter)
    example: str = ""


def measure(
    stage: Stage,
    hello: Hello,
    profile: Profile,
    suites: Sequence[Suite],
    *,
    address: str,
    seed: int,
    cases: int | None = None,
    notes: Sequence[str] = (),
) -> Events:
    """Corrupt answers in every suite that the implementation offers, but for whole ones; the last event is
    CorruptionEnded.

    Its exit code is 0 when everything that was not noticed has a reason, else 1; 3 when nothing could be corrupted, and
    when it was interrupted.
    """
    begin = time.monotonic()
    offered = [suite for suite in suites if not hello.refuses(suite) and not suite.side.runs_by_itself]
    yield measurement_event.CorruptionStarted(
        format=event.FORMAT,
        kit=__version__,
        rulebook=rulebook.digest(),
        address=address,
        implementation=hello.name,
        version=hello.version,
        profile=plan.profile_json(profile),
        seed=seed,
        suites=[suite.name for suite in offered],
        ways=list(WAYS),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=list(notes),
    )
    tried = noticed = explained = 0
    stopped = ""
    try:
        for suite in offered:
            for judged in _suite(stage, profile, suite, seed, cases, quirks=hello.quirks):
                tried += judged.tried
                noticed += judged.noticed
                explained += judged.tried - judged.noticed if judged.reason else 0
                yield judged
    except KeyboardInterrupt:
        stopped = event.INTERRUPTED
    yield measurement_event.CorruptionEnded(
        tried=tried,
        noticed=noticed,
        explained=explained,
        seconds=time.monotonic() - begin,
        exit_code=3 if stopped or not tried else 1 if noticed + explained < tried else 0,
        stopped=stopped,
    )


def _suite(
    stage: Stage, profile: Profile, suite: Suite, seed: int, cases: int | None, *, quirks: bool
) -> Iterator[measurement_event.CorruptionJudged]:
    """The cells of one suite."""
    judge, draw = Judge(suite, profile.judged(), quirks=quirks), sampler(suite, profile)
    cells: defaultdict[tuple[str, str], _Cell] = defaultdict(_Cell)
    for number in range(min(CORRUPTED_CASES, suite.cases) if cases is None else cases):
        played = _play(stage, judge, number, draw.case(seed, number, suite.steps))
        if played:
            _corrupt(stage, judge, played, cells)
    for (rule, way), cell in sorted(cells.items(), key=lambda item: (item[0][0], WAYS.index(item[0][1]))):
        missed = cell.tried - cell.noticed
        whole = missed == sum(times for reason, times in cell.reasons.items() if reason)
        yield measurement_event.CorruptionJudged(
            suite=suite.name,
            rule=rule,
            way=way,
            tried=cell.tried,
            noticed=cell.noticed,
            reason="; ".join(sorted(cell.reasons)) if missed and whole else "",
            example=cell.example,
        )


def _play(stage: Stage, judge: Judge, number: int, rows: list[Row]) -> _Played | None:
    """Play a case; None when it does not conform, or cannot be played."""
    try:
        judged, outcomes = played_with_answers(stage, judge, number, rows)
    except BROKEN:
        return None
    return _Played(number, rows, judged, outcomes) if judged.verdict == CONFORMS else None


def _corrupt(stage: Stage, judge: Judge, played: _Played, cells: defaultdict[tuple[str, str], _Cell]) -> None:
    """Corrupt the first answer of each rule, in each way that fits it."""
    done: set[tuple[str, str]] = set()
    before: dict[int, Result] = {}
    for at, step in enumerate(played.judged.steps):
        result = result_of(played.outcomes[at])
        if judge.suite.operations[step.row[0]].spec.side is Side.WORLD:
            continue
        for way in WAYS:
            tries = 1 if way == LATE else TRIES
            wanted = [rule for rule in step.why.rules if (rule, way) not in done and cells[rule, way].tried < tries]
            open_cells = [cells[rule, way] for rule in wanted]
            if not open_cells:
                continue
            seen = _noticed(stage, judge, played, at, way, result, before.get(step.row[0], UNFIT))
            if seen is None:
                continue
            done.update((rule, way) for rule in step.why.rules)
            for cell in open_cells:
                cell.tried += 1
                if seen.noticed:
                    cell.noticed += 1
                else:
                    cell.reasons[seen.reason] += 1
                    cell.example = f"{judge.suite.operation(step.row)}: {result!r} became {seen.corrupted}"
        before[step.row[0]] = result
    for key in [key for key, cell in cells.items() if not cell.tried]:
        del cells[key]


class _Seen(NamedTuple):
    """What became of one corruption: was it noticed, why not, and what the answer was made."""

    noticed: bool
    reason: str = ""
    corrupted: str = ""


def _noticed(
    stage: Stage, judge: Judge, played: _Played, at: int, way: str, result: Result, previous: Result
) -> _Seen | None:
    """Corrupt one answer; None when it cannot be corrupted in this way, or nothing is different afterwards."""
    if way == TWICE:
        return _twice(stage, judge, played, at)
    if way == LATE:
        return _late(stage, judge, played, at)
    corrupted = ANSWERS[way](result, previous)
    if corrupted is UNFIT:
        return None
    answers = iter([*played.outcomes[:at], outcome_of(corrupted), *played.outcomes[at + 1 :]])
    judged = _judge_again(judge, played, lambda row: next(answers, Unsupported("the case took another way")))
    if judged.verdict == DIVERGES:
        return _Seen(True)
    return _Seen(False, _reason(judge, played.judged.steps[at], at, judged, corrupted), repr(corrupted))


def _judge_again(judge: Judge, played: _Played, do: object) -> Judged:
    """Judge a case that was played once more, with other answers."""
    times = Recorded(played.judged.spans) if played.judged.spans else None
    return judge.judge(played.judged.rows, do, count=False, times=times)  # type: ignore[arg-type]


def _twice(stage: Stage, judge: Judge, played: _Played, at: int) -> _Seen | None:
    """Do the operation of a step twice; None where the model says that this makes no difference to any answer."""
    rows = played.judged.rows
    if judge.observes or stage.times or _same_twice(judge, rows, at):
        return None
    calls = 0

    def do(row: Row) -> Outcome:
        nonlocal calls
        calls += 1
        outcome = stage.do(judge.suite, row)
        return stage.do(judge.suite, row) if calls == at + 1 else outcome

    try:
        stage.begin(judge.suite, played.number)
        judged = judge.judge(rows, do, count=False)
    except BROKEN:
        return _Seen(True)
    return _Seen(judged.verdict == DIVERGES, QUIRK if _meets_accidents(judge, judged.steps) else "", "done twice")


def _same_twice(judge: Judge, rows: Sequence[Row], at: int) -> bool:
    """Does the model answer everything alike when one step is done twice, and its second answer is taken?

    Also where the state does not let it be done twice.
    """
    once = [step.expected for step in judge.expected(rows)]
    more = [step.expected for step in judge.expected([*rows[: at + 1], *rows[at:]])]
    if len(more) != len(once) + 1:
        return True
    del more[at]
    return all(agrees(one, other) for one, other in zip(once, more, strict=True))


def _late(stage: Stage, judge: Judge, played: _Played, at: int) -> _Seen:
    """Let the answer of a step come when nobody waits for it any more."""
    calls, patience = 0, stage.patience

    def do(row: Row) -> Outcome:
        nonlocal calls
        calls += 1
        if calls <= at:
            return stage.do(judge.suite, row)
        stage.patience = PATIENCE
        with stage.guarded(str(judge.suite.operation(row))):
            outcome = stage.do(judge.suite, row)
            time.sleep(2 * PATIENCE)
            return outcome

    try:
        stage.begin(judge.suite, played.number)
        judged = judge.judge(played.judged.rows[: at + 1], do, count=False, times=stage.times)
    except BROKEN:
        return _Seen(True)
    finally:
        stage.patience = patience
    return _Seen(judged.verdict != CONFORMS, "", "late")


def _is_accident(judge: Judge, step: Step, corrupted: Result) -> bool:
    """Is a corrupted answer another one of an accident of Java that is not judged?"""
    spec = judge.suite.operations[step.row[0]].spec
    return not judge.quirks and is_accident(step.why, differing_parts(spec, step.expected, corrupted))


def _meets_accidents(judge: Judge, steps: Sequence[Step]) -> bool:
    """Is there an accident of Java among the steps that is not judged, after which several states are possible?"""
    return not judge.quirks and any(step.why.quirk is True or LEFT_OPEN in step.left for step in steps)


def _reason(judge: Judge, step: Step, at: int, judged: Judged, corrupted: Result) -> str:
    """Why a corrupted answer was not noticed, or ""."""
    if any(one.expected is UNDEFINED for one in (step, *step.others)):
        return PROMISED_NOTHING
    if _is_accident(judge, step, corrupted) or _meets_accidents(judge, judged.steps[: at + 1]):
        return QUIRK
    if step.others or step.why is UNKNOWN:
        return SEVERAL
    if any(one.why is UNKNOWN for one in judged.steps[:at]):
        return UNJUDGED
    same = at < len(judged.steps) and agrees(judged.steps[at].expected, corrupted)
    if judge.suite.operations[step.row[0]].spec.observes and same:
        return ADOPTED
    return ""
