"""Cells: what one implementation did with the plans of the suites, kept so that it need not be played again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import monotonic

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.engine.divergence import format_result, said
from rocketmq_conformance.conformance.engine.first_difference import conforming_steps
from rocketmq_conformance.conformance.engine.player import Played, Player
from rocketmq_conformance.conformance.opening import Opening, opened
from rocketmq_conformance.conformance.release_axis.cache import Cache
from rocketmq_conformance.conformance.release_axis.plans import Plans
from rocketmq_conformance.conformance.release_axis.records import OPEN, CaseRecord, StepRecord, SuiteRecord
from rocketmq_conformance.conformance.release_axis.witness import Opened
from rocketmq_conformance.conformance.targets.address import parse_address
from rocketmq_conformance.models.outcome import UNDEFINED, agrees, outcome_class
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, UNDECIDED
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Row

#: The answer of a suite in which values depend on the time: whether its rules allow it.
ALLOWED = "as its rules allow"


@dataclass(slots=True)
class Cell:
    """One implementation: what it did by suite, or why it could not run, and where its time went."""

    address: str
    #: Name, version and releases that judge it; "" when all was read from the cache, or it never started.
    implementation: str = ""
    suites: dict[str, SuiteRecord] = field(default_factory=dict)
    #: Why it could not run, or not to the end.
    reason: str = ""
    #: Seconds until it had started, and of what was read instead of played.
    starting: float = 0.0
    cached: list[str] = field(default_factory=list)


#: Called with the address and what is under way.
Progress = Callable[[str, str], None]


def play_cell(
    address: str,
    plans: Sequence[Plans],
    cache: Cache,
    *,
    start_timeout: float,
    patience: float,
    max_wait: float,
    progress: Progress = lambda address, text: None,
) -> Cell:
    """Play the plans at an address, but those whose records are stored; nothing is started when all are.

    A suite's record is stored as soon as it has ended. AddressError when the address is invalid.
    """
    cell, where = Cell(address), parse_address(address)
    with ExitStack() as held:
        implementation: Opened | None = None
        for plan in plans:
            key = cache.key(where, plan)
            known = cache.load(key)
            if known is not None:
                cell.suites[plan.suite.name] = known
                cell.cached.append(plan.suite.name)
                continue
            try:
                if implementation is None:
                    start = monotonic()
                    progress(address, "starting")
                    try:
                        opening = Opening(where, start_timeout=start_timeout, patience=patience, max_wait=max_wait)
                        implementation = Opened(address, *held.enter_context(opened(opening, ())))
                    finally:
                        cell.starting = monotonic() - start
                    hello = implementation.hello
                    cell.implementation = f"{hello.name} {hello.version}, by {implementation.profile}"
                progress(address, plan.suite.name)
                record = _play(implementation, plan)
            except (AdapterError, CannotRunError) as error:
                cell.reason = str(error)
                break
            cell.suites[plan.suite.name] = record
            cache.store(key, record)
    return cell


def _play(implementation: Opened, plan: Plans) -> SuiteRecord:
    start = monotonic()
    refused = implementation.refuses(plan.suite)
    if refused:
        return SuiteRecord({}, monotonic() - start, refused)
    player = implementation.player(plan.suite)
    cases: dict[int, CaseRecord] = {}
    playable = []
    for number, rows in plan.cases:
        lacking = implementation.refuses(plan.suite, rows)
        if lacking:
            cases[number] = CaseRecord((), lacking)
        else:
            playable.append((number, rows))
    plans = dict(plan.cases)
    for played in player.play(playable):
        cases[played.number] = case_record(player, plans[played.number], played)
    return SuiteRecord({number: cases[number] for number, _ in plan.cases}, monotonic() - start)


def case_record(player: Player, rows: Sequence[Row], played: Played) -> CaseRecord:
    """What is kept of a case whose plan is ``rows``."""
    if played.judged is not None:
        steps = played.judged.steps
    elif played.verdict == CONFORMS:
        steps = conforming_steps(player.judge, played.rows)
    else:
        steps = []
    decided = played.verdict not in (COULD_NOT_RUN, UNDECIDED)
    return CaseRecord(tuple(_records(player, rows, steps)), played.reason, decided)


def _records(player: Player, rows: Sequence[Row], steps: Sequence[Step]) -> Iterator[StepRecord]:
    at = 0
    for step in steps:
        at = rows.index(step.row, at)
        allowed = any(agrees(one.expected, step.observed) for one in (step, *step.others))
        if step.expected is UNDEFINED:
            observed = OPEN
        elif player.judge.observes:
            observed = ALLOWED if allowed else f"{outcome_class(step.observed)}, which its rules forbid"
        else:
            observed = format_result(step.observed)
        answer = said(player.judge.suite.operations[step.row[0]].spec, step.observed)
        yield StepRecord(at, observed, allowed, step.why.rules, answer, player.judge.observes)
        at += 1
