"""The result of each rule of a run: it holds, it differs, or it was not reached, and then why not.

A rule *holds* when it decided a step that was judged and agreed, in a suite whose planted wrong answer was noticed.
Steps of cases that are undecided or unsupported never count, and neither do rules that allow every answer. It *differs*
when it is responsible for a divergence. In every other case it was *not reached*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rocketmq_conformance.reports.event import (
    DIFFERS,
    DIVERGES,
    HOLDS,
    MODEL,
    NOT_REACHED,
    UNSUPPORTED,
    DivergenceFound,
    ExpectedDivergence,
    RuleResult,
    SuiteEnded,
)
from rocketmq_conformance.reports.text import count, first_names

RESULTS = (HOLDS, DIFFERS, NOT_REACHED)
#: The class of an answer to which nothing is promised.
_UNDEFINED = "undefined"
#: Suites whose reasons are named, of a rule that several could have reached.
_SUITES = 2
#: Where a rule that was met does not count.
_SAYS_NOTHING = "in steps that differ or would not show it, or in cases that say nothing"
#: A kind of steps: the rule that decides them, the suite, and the kind of state.
StepKind = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ListedRule:
    """A rule that a run is to say something about."""

    id: str
    sentence: str = ""
    level: str = ""
    #: The suites of the run that can reach it.
    suites: tuple[str, ...] = ()
    #: Why none of them can, or "".
    unseen: str = ""
    #: The words of its clauses, each with the steps that show it.
    clauses: Mapping[str, frozenset[StepKind]] = field(default_factory=dict)
    #: Why no step of this run can show it, or "".
    unshown: str = ""


@dataclass(slots=True)
class _Seen:
    """What the suites of a run saw of one rule."""

    #: Steps that agreed and count, and suites in which it was met.
    agreed: int = 0
    suites: dict[str, None] = field(default_factory=dict)
    #: Was it met at all, and with an answer that is promised?
    met: bool = False
    promised: bool = False
    different: int = 0
    #: Steps that differ and that it decided together with the responsible rule.
    beside: int = 0
    signed: str = ""


def rule_results(
    listed: Iterable[ListedRule],
    ended: Sequence[SuiteEnded],
    divergences: Iterable[DivergenceFound],
    expected: Iterable[ExpectedDivergence] = (),
) -> list[RuleResult]:
    """The results of the rules that are listed, and of all others that the suites saw, in that order."""
    seen: dict[str, _Seen] = {}
    step_kinds: set[StepKind] = set()
    rules = {one.id: one for one in listed}
    for suite in ended:
        _add(seen, step_kinds, suite)
        for silent in suite.silent_rules:
            rules.setdefault(silent, ListedRule(silent, suites=(suite.suite,)))
    for one in divergences:
        if one.against == MODEL and one.rules:
            responsible, *others = (rule.get("id", "") for rule in one.rules)
            _of(seen, responsible).different += max(1, one.cases)
            for other in others:
                if other in seen:
                    seen[other].beside += max(1, one.cases)
    for entry in expected:
        if entry.cases and not entry.aside:
            of = _of(seen, entry.rule)
            of.different += entry.cases
            of.signed = f"signed for by {entry.owner}: {entry.reason}" if entry.owner else entry.reason
    for rule in seen:
        rules.setdefault(rule, ListedRule(rule))
    by_name: dict[str, list[SuiteEnded]] = {}
    for suite in ended:
        by_name.setdefault(suite.suite, []).append(suite)
    return [_result(rule, seen.get(rule.id, _Seen()), step_kinds, by_name) for rule in rules.values()]


def borne_out(said: RuleResult, own: RuleResult | None) -> RuleResult:
    """A rule that is said to hold, as the ends of suites bear it out."""
    if own is None:
        return replace(said, result=NOT_REACHED, reason="no suite of the run met it")
    return said if own.result == HOLDS else replace(said, result=own.result, reason=own.reason)


def result_counts(results: Iterable[RuleResult]) -> dict[str, int]:
    """How many rules have which result; all three are there."""
    found = Counter(one.result for one in results)
    return {result: found[result] for result in RESULTS}


def counted(counts: Mapping[str, int]) -> str:
    """``88 hold, 1 differs, 20 not reached``."""
    return f"{_holding(counts)}, {_differing(counts)}, {counts[NOT_REACHED]:,} not reached"


def _holding(counts: Mapping[str, int]) -> str:
    return f"{counts[HOLDS]:,} {'holds' if counts[HOLDS] == 1 else 'hold'}"


def _differing(counts: Mapping[str, int]) -> str:
    return f"{counts[DIFFERS]:,} {'differs' if counts[DIFFERS] == 1 else 'differ'}"


def summed_up(
    results: Sequence[RuleResult], silent: Iterable[str], names: Callable[[Sequence[str]], str] = first_names
) -> str:
    """The numbers, and by name the rules that differ, and those that suites of the run could have reached and did not.

    The others are of other suites, or such as nothing shows where the run was.
    """
    counts = result_counts(results)
    differing = [one.rule for one in results if one.result == DIFFERS]
    reachable = set(silent)
    missed = sorted(one.rule for one in results if one.result == NOT_REACHED and (one.suites or one.rule in reachable))
    beyond = counts[NOT_REACHED] - len(missed)
    parts = [
        _holding(counts),
        _differing(counts) + (f": {names(differing)}" if differing else ""),
        f"{len(missed):,} not reached" + (f": {names(missed)}" if missed else ""),
    ]
    if beyond:
        parts.append(f"{beyond:,} {'is' if beyond == 1 else 'are'} beyond what was played")
    return "; ".join(parts)


def by_reason(results: Iterable[RuleResult]) -> dict[str, list[RuleResult]]:
    """The rules that were not reached, by the reason; the most frequent first."""
    found: dict[str, list[RuleResult]] = {}
    for one in results:
        if one.result == NOT_REACHED:
            found.setdefault(one.reason, []).append(one)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def clauses_of(one: RuleResult) -> str:
    """``2 of 3``, or "" for a rule without clauses of its own."""
    return f"{one.clauses_reached} of {one.clauses}" if one.clauses else ""


def does_not_count(suite: SuiteEnded) -> str:
    """Why steps of a suite that agreed say nothing, or ""."""
    if suite.control is False:
        return "a planted wrong answer was not noticed"
    if suite.control is None and suite.verdict != DIVERGES:
        return "no wrong answer could be planted"
    return ""


def _of(seen: dict[str, _Seen], rule: str) -> _Seen:
    return seen.setdefault(rule, _Seen())


def _add(seen: dict[str, _Seen], step_kinds: set[StepKind], suite: SuiteEnded) -> None:
    counts = not does_not_count(suite)
    agreed: Counter[str] = Counter()
    for row in suite.coverage:
        if not is_row(row):
            continue
        rule, kind, outcome, times = row
        of = _of(seen, rule)
        of.met = True
        of.suites[suite.suite] = None
        if outcome == _UNDEFINED:
            continue
        of.promised = True
        agreed[rule] += times
        if counts:
            step_kinds.add((rule, suite.suite, kind))
    if counts:
        for rule, times in agreed.items():
            _of(seen, rule).agreed += max(0, times - suite.unproven.get(rule, 0))


def is_row(row: Sequence[object]) -> bool:
    """Is it a well-formed row of coverage?"""
    return len(row) == 4 and all(isinstance(text, str) for text in row[:3]) and type(row[3]) is int


def _result(
    rule: ListedRule, seen: _Seen, step_kinds: set[StepKind], suites: Mapping[str, list[SuiteEnded]]
) -> RuleResult:
    result = DIFFERS if seen.different else HOLDS if seen.agreed else NOT_REACHED
    reached = [words for words, shown in rule.clauses.items() if result != NOT_REACHED and shown & step_kinds]
    return RuleResult(
        rule=rule.id,
        sentence=rule.sentence,
        level=rule.level,
        result=result,
        times=seen.agreed + seen.different,
        suites=list(seen.suites),
        reason=_why_not(rule, seen, suites) if result == NOT_REACHED else seen.signed or _doubt(result, seen),
        clauses=len(rule.clauses),
        clauses_reached=len(reached),
        clauses_missing=[words for words in rule.clauses if words not in reached],
    )


def _doubt(result: str, seen: _Seen) -> str:
    """What speaks against a rule that holds: steps that differ, of which it decides a part."""
    if result != HOLDS or not seen.beside:
        return ""
    return f"it is also at work in {count(seen.beside, 'case')} that {'differs' if seen.beside == 1 else 'differ'}"


def _why_not(rule: ListedRule, seen: _Seen, suites: Mapping[str, list[SuiteEnded]]) -> str:
    """Why a rule was not reached."""
    if rule.unseen and not seen.met:
        return rule.unseen
    if rule.unshown:
        return rule.unshown
    if seen.met and not seen.promised:
        return "every answer is allowed where it was met"
    reasons = dict.fromkeys(_reasons(rule, seen, suites))
    return "; ".join(list(reasons)[:_SUITES])


def _reasons(rule: ListedRule, seen: _Seen, suites: Mapping[str, list[SuiteEnded]]) -> Iterator[str]:
    for name in dict.fromkeys((*seen.suites, *rule.suites)):
        if name not in suites:
            yield f"{name} did not end"
        for suite in suites.get(name, ()):
            yield _reason_of(suite, name in seen.suites)


def _reason_of(suite: SuiteEnded, met: bool) -> str:
    """Why a suite says nothing about a rule that it could have reached, or even met."""
    name = suite.suite
    if suite.verdict == UNSUPPORTED:
        return f"{name} is unsupported: {suite.reason or '; '.join(dict.fromkeys(suite.unsupported.values()))}"
    if met:
        doubt = does_not_count(suite)
        return f"{name}: {doubt}" if doubt else f"{name} met it only {_SAYS_NOTHING}"
    if suite.unsupported:
        why = "; ".join(dict.fromkeys(suite.unsupported.values()))
        return f"{name} could not play {first_names(suite.unsupported)}: {why}"
    if suite.unsaid:
        return f"{name} was not answered in full: it is left open by {first_names(suite.unsaid)}"
    cases = count(sum(suite.cases.values()), "case")
    return f"no step of {name} came to it in {cases}: raise --cases"
