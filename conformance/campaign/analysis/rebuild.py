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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

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
    reason: str
    #: Operations that were left out.
    unsupported: tuple[str, ...]
    #: Number and result of the step that diverges from the model.
    divergence: tuple[int, str] | None = None


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

    def __init__(
        self, campaign: Campaign, suite: str, address: str, stored: Callable[[int], Rows] | None = None
    ) -> None:
        """``stored`` has the rows of ``steps`` of a case, in any order; None reads them from the campaign's folder."""
        if suite not in SUITES:
            raise CampaignError(f"{campaign.name} has cases of the suite {suite!r}, which this kit does not have.")
        self.campaign = campaign
        self.suite = SUITES[suite]
        self.address = address
        self.judge = Judge(self.suite, campaign.profile(address).judged())
        self._draw = sampler(self.suite, campaign.planned)
        self._stored_rows = stored or self._read_steps

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
                yield from self._stored_cases(block, pa.array(numbers, pa.int64()))

    def _stored_cases(self, block: int, cases: pa.Array) -> Iterator[CaseFacts]:
        columns = ["case", "verdict", "steps", "digest", "reason", "unsupported"]
        rows = self._rows("cases", columns, block, cases)
        diverging = self._rows("divergences", ["case", "step", "observed", "against"], block, cases)
        divergences = {
            row["case"]: (row["step"], row["observed"]) for row in diverging.to_pylist() if row["against"] == "model"
        }
        for row in sorted(rows.to_pylist(), key=lambda row: int(row["case"])):
            row["unsupported"] = tuple(row["unsupported"])
            yield CaseFacts(**row, divergence=divergences.get(row["case"]))

    def _rows(self, table: str, columns: list[str], block: int, cases: pa.Array) -> pa.Table:
        wanted = [*columns, *({"case", "address"} - set(columns))]
        found = self.campaign.read(table, wanted, self.suite.name, block)
        mine = pc.and_(pc.equal(found["address"], self.address), pc.is_in(found["case"], cases))
        return found.filter(mine).select(columns)

    def rebuild(self, facts: CaseFacts) -> Trace:
        """The steps of a case of which these facts are known."""
        steps, missing = self._from_seed(facts)
        if missing and not steps:
            stored = self._stored(facts.case)
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
        steps = [step._replace(observed=step.expected) for step in expected[: facts.steps]]
        if facts.unsupported and facts.verdict == CONFORMS and len(expected) > facts.steps:
            return (), "which of its steps were left out is not known"
        if len(steps) < facts.steps or (facts.verdict == CONFORMS and len(expected) > facts.steps):
            return (), OTHER_DIGEST
        if facts.verdict == DIVERGES:
            if facts.divergence is None or facts.divergence[0] != facts.steps:
                return (), "its divergence is not stored"
            steps[-1] = steps[-1]._replace(observed=parse_result(facts.divergence[1]))
        readable = not isinstance(steps[-1].observed, UnparsedResult)
        if readable and facts.digest and signed(digest(Judged(facts.verdict, steps))) != facts.digest:
            return (), OTHER_DIGEST
        return tuple(steps), facts.reason if facts.verdict == UNDECIDED else ""

    def _stored(self, case: int) -> tuple[Step, ...]:
        return tuple(self._read_step(row) for row in sorted(self._stored_rows(case), key=lambda row: int(row["step"])))

    def _read_steps(self, case: int) -> Rows:
        numbers = pa.array([case], pa.int64())
        rows: Rows = self._rows("steps", list(STEP), case // self.campaign.block, numbers).to_pylist()
        return rows

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
