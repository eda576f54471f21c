"""The summary of a run: collects its events, and derives the conclusion that every report states.

The footer of a run names its verdict. A passing verdict counts only when the events before it agree: a stream without a
footer, a suite that did not end or a control that was not noticed is not a pass, even if the footer says so. All
reports take their conclusion from here, so that no two of them can disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath

from rocketmq_conformance.reports.event import (
    CONFORMS,
    HOLDS,
    MODEL,
    TIME_LIMIT,
    UNDECIDED,
    UNSUPPORTED,
    CaseEnded,
    CaseLost,
    CorpusPlan,
    Discovery,
    DivergenceFound,
    Event,
    ExpectedDivergence,
    Progress,
    RuleResult,
    RulesJudged,
    RunEnded,
    RunStarted,
    SuiteEnded,
    SuiteStarted,
    Voices,
)
from rocketmq_conformance.reports.rule_results import borne_out, rule_results
from rocketmq_conformance.reports.tiers import COVER, HYPOTHESIS, SEEDED

#: Exit codes of the process.
CONFORMS_CODE, UNDECIDED_CODE, KIT_FAULT_CODE = 0, 3, 5


@dataclass(frozen=True)
class Conclusion:
    """A verdict, the exit code that goes with it, and why it is not a pass ("" when there is nothing to add)."""

    verdict: str
    exit_code: int
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Does the implementation conform, as far as it was tested?"""
        return self.verdict == CONFORMS and self.exit_code == CONFORMS_CODE


@dataclass
class RunSummary:
    """The events of one run so far, added up."""

    header: RunStarted | None = None
    started: dict[str, SuiteStarted] = field(default_factory=dict)
    #: By suite and implementation; a run has one implementation, "".
    ended: dict[tuple[str, str], SuiteEnded] = field(default_factory=dict)
    #: From the model.
    divergences: list[DivergenceFound] = field(default_factory=list)
    #: Between two implementations; the model may allow both answers.
    differences: list[DivergenceFound] = field(default_factory=list)
    #: From the model, and something may explain them: they decide nothing.
    doubtful: list[DivergenceFound] = field(default_factory=list)
    #: Reasons of cases that do not conform: (suite, verdict, reason) -> how many, and the first case.
    reasons: dict[tuple[str, str, str], tuple[int, int]] = field(default_factory=dict)
    #: Cases with an event of their own: suite -> verdict -> how many.
    counted: dict[str, dict[str, int]] = field(default_factory=dict)
    #: The same by tier: tier -> verdict -> how many.
    tiers: dict[str, dict[str, int]] = field(default_factory=dict)
    discoveries: list[Discovery] = field(default_factory=list)
    voices: list[Voices] = field(default_factory=list)
    lost: list[CaseLost] = field(default_factory=list)
    #: Entries of a file of expected divergences.
    expected: list[ExpectedDivergence] = field(default_factory=list)
    #: The result of every rule, once the run has said it.
    judged: RulesJudged | None = None
    footer: RunEnded | None = None
    #: Why the first misplaced event is out of place, or "".
    disorder: str = ""

    def add(self, event: Event) -> None:
        """Enter an event."""
        self.disorder = self.disorder or self._disorder(event)
        match event:
            case RunStarted():
                self.header = event
            case SuiteStarted():
                self.started[event.suite] = event
            case CaseEnded():
                self._count(event)
            case DivergenceFound() if event.doubt:
                self.doubtful.append(event)
            case DivergenceFound():
                (self.divergences if event.against == MODEL else self.differences).append(event)
            case SuiteEnded():
                self.ended[event.suite, event.address] = event
            case Discovery():
                self.discoveries.append(event)
            case Voices():
                self.voices.append(event)
            case CaseLost():
                self.lost.append(event)
            case ExpectedDivergence():
                self.expected.append(event)
            case RulesJudged():
                self.judged = event
            case RunEnded():
                self.footer = event

    def _count(self, case: CaseEnded) -> None:
        counts = self.counted.setdefault(case.suite, {})
        counts[case.verdict] = counts.get(case.verdict, 0) + 1
        verdicts = self.tiers.setdefault(self._tier(case.suite, case.case), {})
        verdicts[case.verdict] = verdicts.get(case.verdict, 0) + 1
        if case.verdict != CONFORMS:
            key = (case.suite, case.verdict, case.reason)
            times, first = self.reasons.get(key, (0, case.case))
            self.reasons[key] = (times + 1, first)

    def _disorder(self, event: Event) -> str:
        """Why this event is out of place in the stream, or ""."""
        if isinstance(event, Progress):
            return ""
        checks = (
            (self.footer is not None, "goes on after its end"),
            (isinstance(event, RunStarted) and self.header is not None, "begins twice"),
            (not isinstance(event, RunStarted) and self.header is None, "has no begin"),
            (isinstance(event, SuiteEnded) and (event.suite, event.address) in self.ended, "ends a suite twice"),
        )
        return next((text for wrong, text in checks if wrong), "")

    @property
    def rules(self) -> list[RuleResult]:
        """The result of every rule; of a run that did not say it, of those that its suites name.

        What a run says to hold counts only when the ends of its suites agree.
        """
        own = rule_results((), list(self.ended.values()), self.divergences, self.expected)
        if self.judged is None:
            return own
        by_rule = {one.rule: one for one in own}
        return [borne_out(one, by_rule.get(one.rule)) if one.result == HOLDS else one for one in self.judged.rules]

    @property
    def expected_faults(self) -> list[ExpectedDivergence]:
        """Entries of a file of expected divergences that fail the run."""
        return [one for one in self.expected if one.fault]

    @property
    def several_tiers(self) -> dict[str, dict[str, int]]:
        """Cases by tier and verdict; none where all cases are from the seed, as the totals say it then."""
        return {} if self.tiers.keys() == {SEEDED} else self.tiers

    def kinds_alone(self, tier: str) -> int:
        """How many kinds of divergences only cases of this tier showed."""
        tiers: dict[tuple[str, str, str], set[str]] = {}
        for one in self.divergences:
            tiers.setdefault((one.suite, one.address, one.fingerprint), set()).add(self._tier(one.suite, one.case))
        return sum(shown == {tier} for shown in tiers.values())

    @property
    def suites(self) -> list[str]:
        """Every suite that was announced, started or ended, in that order."""
        announced = self.header.suites if self.header else []
        return list(dict.fromkeys([*announced, *self.started, *(suite for suite, _ in self.ended)]))

    @property
    def addresses(self) -> list[str]:
        """The implementations that a suite ended for; of a run at most one, ""."""
        return list(dict.fromkeys(address for _, address in self.ended))

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Every suite, with every implementation."""
        return [(suite, address) for suite in self.suites for address in self.addresses or [""]]

    @property
    def unfinished(self) -> list[str]:
        """Suites that were announced or started and did not end, with the implementation where there are several."""
        return [self.part_name(*part) for part in self.parts if part not in self.ended]

    def part_name(self, suite: str, address: str) -> str:
        """A suite, and the implementation where there are several."""
        return f"{suite} ({address})" if len(self.addresses) > 1 else suite

    def case_name(self, suite: str, case: int) -> str:
        """The name of a case: "case 7", "covering plan 3", or its plan in the corpus."""
        of = self._stored(suite, case)
        if of is None:
            return f"case {case}"
        if of.tier == COVER:
            return f"covering plan {of.case}"
        several = [one.plan for one in self.started[suite].corpus].count(of.plan) > 1
        name = PurePath(of.plan).name.removesuffix(".plan.jsonl")
        return f"corpus plan {name}" + (f", case {of.case}" if several else "")

    def _tier(self, suite: str, case: int) -> str:
        """The tier of a case."""
        stored = self._stored(suite, case)
        if stored:
            return stored.tier
        first = self.started[suite].hypothesis if suite in self.started else None
        return HYPOTHESIS if first is not None and case >= first else SEEDED

    def _stored(self, suite: str, case: int) -> CorpusPlan | None:
        """The stored plan that a case is, if it is one."""
        stored = self.started[suite].corpus if suite in self.started else []
        return stored[-case - 1] if -len(stored) <= case < 0 else None

    def conclusion(self) -> Conclusion:
        """The conclusion from the events so far."""
        if self.header is None:
            return Conclusion(UNDECIDED, UNDECIDED_CODE, "nothing ran")
        if self.footer is None:
            return Conclusion(UNDECIDED, UNDECIDED_CODE, "the run was cut off before its end")
        footer = self.footer
        if footer.verdict == CONFORMS or footer.exit_code == CONFORMS_CODE:
            contradiction = self._contradiction(footer)
            if contradiction:
                return Conclusion(UNDECIDED, KIT_FAULT_CODE, f"the run claims to conform, but {contradiction}")
        reason = footer.stopped
        if footer.expected_faults and not footer.divergences and not reason:
            noun = "entry" if footer.expected_faults == 1 else "entries"
            reason = f"{footer.expected_faults} {noun} of expected divergences out of date"
        return Conclusion(footer.verdict, footer.exit_code, reason)

    def _contradiction(self, footer: RunEnded) -> str:
        """The first contradiction to a footer that says "conforms", or ""."""
        suites = self.ended.values()
        conforming = sum(suite.cases.get(CONFORMS, 0) for suite in suites)
        worse = [suite.suite for suite in suites if suite.verdict not in (CONFORMS, UNSUPPORTED)]
        counts = [*footer.cases.items(), *(item for suite in suites for item in suite.cases.items())]
        counts += [(verdict, times) for (_, verdict, _), (times, _) in self.reasons.items()]
        bad_cases = any(times > 0 and verdict not in (CONFORMS, UNSUPPORTED) for verdict, times in counts)
        silent = [suite.suite for suite in suites if suite.control is False]
        checks = (
            (bool(self.disorder), f"its stream {self.disorder}"),
            (footer.verdict != CONFORMS, f'its verdict is "{footer.verdict}"'),
            (footer.exit_code != CONFORMS_CODE, f"its exit code is {footer.exit_code}"),
            (footer.stopped not in ("", TIME_LIMIT), f"it was stopped: {footer.stopped}"),
            (bool(self.unfinished), f"{', '.join(self.unfinished)} did not end"),
            (bool(worse), f"{', '.join(worse)} did not conform"),
            (bool(self.divergences) or footer.divergences > 0, "divergences were found"),
            (bad_cases, "a case did not conform"),
            (bool(silent) or footer.controls_noticed < footer.controls, "a control stayed silent"),
            (bool(self.lost), "a case was lost"),
            (bool(self.expected_faults) or footer.expected_faults > 0, "an expected divergence is out of date"),
            (conforming == 0 or footer.cases.get(CONFORMS, 0) == 0, "no case conformed"),
            (footer.steps == 0, "no step was done"),
        )
        return next((text for contradicts, text in checks if contradicts), "")
