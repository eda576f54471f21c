"""Rebuilding the steps of a stored case from the seed, without the implementation.

The plan of a case comes back from the seed. What the model expects of it is what an implementation that conforms did;
one that diverges did the same up to its divergence, whose result is stored. Whatever is rebuilt must have the digest
that is stored of the case, or it is not given out: another kit or another rule book may have written the campaign.

Three things do not come back: results that the rules leave open (they are UNDEFINED here), what came after a case was
decided or lost, and cases of suites whose results depend on the time of their run. Steps that the campaign stored are
used for those where there are any.
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_conformance.conformance.campaign.analysis.results import cases_of, divergences_of
from rocketmq_conformance.conformance.campaign.tables.packing import signed
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, CampaignError
from rocketmq_conformance.conformance.engine.divergence import SENT, format_result
from rocketmq_conformance.conformance.engine.judge import Judge, Judged, digest
from rocketmq_conformance.conformance.engine.plan import frozen
from rocketmq_conformance.models.outcome import UNDEFINED, Err, Expected, outcome_class
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, UNDECIDED
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Columns of ``steps`` that steps are read from.
STEP = ("step", "operation", "arguments", "expected", "observed", "rules", "state_kind")
Rows = list[dict[str, Any]]
OTHER_DIGEST = (
    "what the seed gives has another digest than the case: another kit or rule book wrote the campaign, or client ids "
    "of members sorted otherwise than their names"
)


class CaseFacts(NamedTuple):
    """The stored facts of one case on one address."""

    case: int
    verdict: str
    steps: int
    digest: int
    #: Operations that were left out.
    unsupported: tuple[str, ...]
    #: Why it decided nothing; "" of a case that did.
    reason: str = ""
    #: The step that diverges from the model: the columns of DIVERGENCE.
    divergence: Mapping[str, Any] | None = None
    #: The rows of its steps; None where the campaign has them.
    stored: Rows | None = None


@dataclass(frozen=True)
class Trace:
    """The steps of a case, as far as they are known."""

    suite: Suite
    address: str
    case: int
    verdict: str
    #: As they were judged; only the last one can diverge. Steps that were stored have no states.
    steps: tuple[Step, ...]
    #: Why some or all of them are missing; "" when they are complete.
    missing: str = ""

    def rows(self) -> list[dict[str, Any]]:
        """The steps as rows of the table ``steps``."""
        made = []
        for number, step in enumerate(self.steps, start=1):
            spec = self.suite.operations[step.row[0]].spec
            names = [name for name, _ in spec.domains]
            made.append(
                {
                    "case": self.case,
                    "address": self.address,
                    "step": number,
                    "operation": spec.name,
                    "arguments": json.dumps(dict(zip(names, step.row[1], strict=True))),
                    "expected": format_result(step.expected),
                    "observed": format_result(step.observed),
                    "rules": list(step.why.rules),
                    "state_kind": step.why.kind,
                    "expected_class": outcome_class(step.expected),
                    "observed_class": outcome_class(step.observed),
                    "diverges": self.verdict == DIVERGES and number == len(self.steps),
                }
            )
        return made


class Rebuilder:
    """Rebuilds cases of one suite as one address played them.

    CampaignError when this kit does not have the suite, or the campaign does not say which releases judge.
    """

    def __init__(self, campaign: Campaign, suite: str, address: str) -> None:
        if suite not in SUITES:
            raise CampaignError(f"{campaign.name} has cases of the suite {suite!r}, which this kit does not have.")
        self.campaign = campaign
        self.suite = SUITES[suite]
        self.address = address
        self.judge = Judge(self.suite, campaign.profile(address).judged())
        self._draw = sampler(self.suite, campaign.planned)

    def plan(self, case: int) -> list[Row]:
        """The plan of a case."""
        return self._draw.case(self.campaign.seed, case, self.campaign.steps or self.suite.steps)

    def trace(self, case: int) -> Trace:
        """One case; CampaignError when no finished block has it."""
        for trace in self.traces([case]):
            return trace
        raise CampaignError(f"{self.campaign.name} has no case {case} of {self.suite.name} on {self.address}.")

    def traces(self, cases: Iterable[int]) -> Iterator[Trace]:
        """Cases by number, ascending; those that no finished block has are left out."""
        return (self.rebuild(facts) for facts in self.stored_cases(cases))

    def stored_cases(self, cases: Iterable[int]) -> Iterator[CaseFacts]:
        """What the tables say of cases, ascending; those that no finished block has are left out."""
        wanted: dict[int, list[int]] = {}
        for case in sorted(set(cases)):
            wanted.setdefault(case // self.campaign.block, []).append(case)
        finished = set(self.campaign.finished(self.suite.name))
        for block, numbers in wanted.items():
            if block in finished:
                yield from stored_facts(self.campaign, self.suite.name, self.address, [block], numbers, ["reason"])

    def rebuild(self, facts: CaseFacts) -> Trace:
        """The steps of a case of which these facts are known."""
        steps, missing = self._from_seed(facts)
        if missing and not steps:
            stored = self._stored(facts)
            if stored:
                whole = facts.verdict in (CONFORMS, DIVERGES)
                return Trace(self.suite, self.address, facts.case, facts.verdict, stored, "" if whole else missing)
        return Trace(self.suite, self.address, facts.case, facts.verdict, steps, missing)

    def is_reproducible(self, facts: CaseFacts) -> bool:
        """Does the seed give the case that was stored, or is it from another kit or rule book?"""
        return self._from_seed(facts)[1] != OTHER_DIGEST

    def _from_seed(self, facts: CaseFacts) -> tuple[tuple[Step, ...], str]:
        if facts.verdict not in (CONFORMS, DIVERGES, UNDECIDED) or not facts.steps:
            return (), facts.reason or facts.verdict
        if self.judge.observes:
            return (), "its results depend on the time of the run, and its steps were not stored"
        left_out = {self.suite.index[name] for name in facts.unsupported if name in self.suite.index}
        expected = self.judge.expected([row for row in self.plan(facts.case) if row[0] not in left_out])
        # _replace takes twice as long, and a comparison makes steps by the million
        steps = [Step(*step[:4], step.expected, *step[5:]) for step in expected[: facts.steps]]
        if facts.unsupported and facts.verdict == CONFORMS and len(expected) > facts.steps:
            return (), "which of its steps were left out is not known"
        if len(steps) < facts.steps or (facts.verdict == CONFORMS and len(expected) > facts.steps):
            return (), OTHER_DIGEST
        if facts.verdict == DIVERGES:
            if facts.divergence is None or facts.divergence["step"] != facts.steps:
                return (), "its divergence is not stored"
            steps[-1] = steps[-1]._replace(observed=parse_result(facts.divergence["observed"]))
        readable = not isinstance(steps[-1].observed, UnparsedResult)
        if readable and facts.digest and signed(digest(Judged(facts.verdict, steps))) != facts.digest:
            return (), OTHER_DIGEST
        return tuple(steps), facts.reason if facts.verdict == UNDECIDED else ""

    def _stored(self, facts: CaseFacts) -> tuple[Step, ...]:
        rows = facts.stored
        if rows is None:
            block = facts.case // self.campaign.block
            rows = _steps(self.campaign, self.suite.name, self.address, [block], [facts.case])[facts.case]
        return tuple(self._read_step(row) for row in sorted(rows, key=lambda row: int(row["step"])))

    def _read_step(self, row: dict[str, Any]) -> Step:
        position = self.suite.index.get(row["operation"])
        if position is None:
            lacks = f"which this kit's suite {self.suite.name} does not have"
            raise CampaignError(f"{self.campaign.name} has steps of {row['operation']!r}, {lacks}.")
        arguments = tuple(frozen(value) for value in json.loads(row["arguments"]).values())
        why = Reason(tuple(row["rules"]), row["state_kind"])
        return Step(
            (position, arguments), None, None, parse_result(row["expected"]), parse_result(row["observed"]), why
        )


def stored_facts(
    campaign: Campaign,
    suite: str,
    address: str,
    blocks: Sequence[int],
    cases: Collection[int],
    more: Sequence[str] = (),
) -> Iterator[CaseFacts]:
    """What the tables say of cases of finished blocks, ascending; ``more`` is ["reason"] if some decided nothing.

    Where a campaign was given the files of these blocks alone, the rows of steps are among it.
    """
    chosen = pa.array(cases, pa.int64())
    rows = _chosen(cases_of(campaign, suite, address, blocks, more), chosen)
    divergences = {row["case"]: row for row in _chosen(divergences_of(campaign, suite, address, blocks), chosen)}
    stored = None if campaign.given is None else _steps(campaign, suite, address, blocks, cases)
    for row in sorted(rows, key=lambda row: int(row["case"])):
        case, unsupported = row["case"], tuple(row.pop("unsupported"))
        steps = None if stored is None else stored.get(case, [])
        yield CaseFacts(**row, unsupported=unsupported, divergence=divergences.get(case), stored=steps)


def _steps(
    campaign: Campaign, suite: str, address: str, blocks: Sequence[int], cases: Collection[int]
) -> dict[int, Rows]:
    """The rows of stored steps of cases, in any order."""
    found = campaign.read("steps", ["case", "address", *STEP], suite, blocks)
    steps: dict[int, Rows] = defaultdict(list)
    for row in _chosen(found.filter(pc.equal(found["address"], address)), pa.array(cases, pa.int64())):
        steps[row["case"]].append(row)
    return steps


def _chosen(rows: pa.Table, cases: pa.Array) -> Rows:
    chosen: Rows = rows.filter(pc.is_in(rows["case"], cases)).to_pylist()
    return chosen


class UnparsedResult(str):
    """A result of which only the text is known."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def parse_result(text: str) -> Any:
    """The result that :func:`format_result` wrote as ``text``; UnparsedResult when no result reads so."""
    if text == format_result(UNDEFINED):
        return UNDEFINED
    word, _, code = text.partition(" ")
    try:
        if word == "error" and code:
            code, _, commits = code.partition(SENT)
            return Err(code, commits=ast.literal_eval(commits or "()"))
        result: Expected = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return UnparsedResult(text)
    return result
