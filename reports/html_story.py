"""The divergences section of the page: the divergences of one kind, represented by the shortest plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rocketmq_conformance.reports.divergence_block import diverging_step, shrinking, three, what_differs
from rocketmq_conformance.reports.event import MODEL, DivergenceFound, DivergenceStep
from rocketmq_conformance.reports.html_sequence import Diagram, diagram
from rocketmq_conformance.reports.html_text import Piece, clipped, count, figure, first_items, mark_differences, share
from rocketmq_conformance.reports.kinds import Kind, harm_rank, kinds_of
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.timeline import spans

#: Kinds that are shown in full, kinds that get a line, and the lengths of the lists of a kind.
FULL, LINES = 40, 1000
STEPS, MESSAGES, SEPARATORS, RULES, CASES, PARTS, REQUESTS = 40, 24, 12, 8, 20, 24, 24


@dataclass(frozen=True)
class RuleText:
    """A rule behind the expected answer."""

    id: str
    level: str
    sentence: str
    source: str


@dataclass(frozen=True)
class FeatureShares:
    """A separating feature: its shares of the steps that diverge and of the others, as texts and as percentages."""

    feature: str
    diverging: str
    others: str
    diverging_width: float
    others_width: float


@dataclass(frozen=True)
class RequestBar:
    """A request of a history: who asked what and the answer, and from when to when it was under way, in percent."""

    text: str
    begin: float
    width: float
    differs: bool
    answered: bool


@dataclass(frozen=True)
class PartRow:
    """A part of an answer that differs."""

    name: str
    expected: list[Piece]
    observed: list[Piece]


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """A step with the model's state around it."""

    number: int
    operation: str
    diverges: bool
    expected: str
    observed: str
    rules: str
    kind: str
    before: list[Piece]
    after: list[Piece]
    unchanged: bool
    #: from, to, text
    messages: list[tuple[str, str, str]]
    more_messages: int


@dataclass(frozen=True, kw_only=True)
class KindLine:
    """A kind of divergence in one line."""

    number: int
    suite: str
    address: str
    against: str
    rule: str
    operation: str
    expected: str
    observed: str
    cases: str
    fingerprint: str
    replay: str


@dataclass(frozen=True, kw_only=True)
class Story:
    """A kind of divergence in full."""

    line: KindLine
    case: str
    also: str
    rules: list[RuleText]
    more_rules: int
    expected: list[Piece]
    observed: list[Piece]
    #: What differs in the answer, by name, and how much of it is left out; none when it differs as a whole.
    parts: list[PartRow]
    more_parts: int
    step: StepRow | None
    steps: list[StepRow]
    steps_left_out: int
    of_steps: int
    shrunk: str
    separates: list[FeatureShares]
    more_separates: int
    diagram: Diagram
    #: Requests at the same time.
    requests: list[RequestBar]
    plan: str
    #: Names of the two answers, in a heading and in a sentence.
    heads: tuple[str, str]
    words: tuple[str, str]
    #: What it does to messages, in a word and in a sentence.
    harm: str
    consequence: str


@dataclass(frozen=True)
class Stories:
    """Kinds of divergences: in full, in a line, or only counted."""

    full: list[Story]
    lines: list[KindLine]
    more: int
    kinds: int
    found: int


def stories(summary: RunSummary, divergences: Sequence[DivergenceFound]) -> Stories:
    """The kinds among ``divergences``, those that do most harm first, and of these those of most cases."""
    ordered = sorted(kinds_of(divergences), key=lambda kind: (harm_rank(kind.exemplar), -kind.cases))
    lines, more = first_items(ordered[FULL:], LINES)
    return Stories(
        [_story(summary, number, kind) for number, kind in enumerate(ordered[:FULL], 1)],
        [_line(number, kind) for number, kind in enumerate(lines, FULL + 1)],
        more,
        len(ordered),
        len(divergences),
    )


def _line(number: int, kind: Kind) -> KindLine:
    one = kind.exemplar
    step = diverging_step(one.steps)
    answers = what_differs(one)
    return KindLine(
        number=number,
        suite=clipped(one.suite, 120),
        address=clipped(one.address, 200),
        against=clipped(one.against, 200),
        rule=clipped(one.rules[0].get("id", "?"), 80) if one.rules else "no rule",
        operation=clipped(step.operation, 300) if step else "no step",
        expected=clipped(answers[0], 160),
        observed=clipped(answers[1], 160),
        cases=count(kind.cases, "case"),
        fingerprint=clipped(one.fingerprint, 80),
        # A command that was cut would be another command.
        replay=clipped(one.replay, 20_000),
    )


def _story(summary: RunSummary, number: int, kind: Kind) -> Story:
    one = kind.exemplar
    rules, more_rules = first_items(one.rules, RULES)
    separates, more_separates = first_items(one.separates, SEPARATORS)
    expected, observed = mark_differences(one.expected, one.observed)
    parts, more_parts = first_items(one.parts, PARTS)
    shown = _differing_only(one)
    steps = [_step(step) for step in shown[-STEPS:]]
    # Of two implementations, what was expected is what the other one did.
    names = clipped(one.against, 60), clipped(one.address, 60) or "the other"
    between = one.against != MODEL
    heads = (f"Answer of {names[0]}", f"Answer of {names[1]}") if between else ("Expected", "Observed")
    words = (f"{names[0]}:", f"{names[1]}:") if between else ("expected", "observed")
    return Story(
        line=_line(number, kind),
        case=_case(summary, one),
        also=_also(summary, one, kind),
        rules=[
            RuleText(*(clipped(rule.get(name, "")) for name in ("id", "level", "sentence", "source"))) for rule in rules
        ],
        more_rules=more_rules,
        expected=expected,
        observed=observed,
        parts=[PartRow(clipped(name, 200), *mark_differences(*both)) for name, *both in map(three, parts)],
        more_parts=more_parts,
        step=next((step for step in steps if step.diverges), None),
        steps=steps,
        steps_left_out=len(one.steps) - len(steps),
        of_steps=len(one.steps),
        shrunk=clipped(shrinking(one), 300),
        separates=[_bar(item.feature, item.diverging, item.others) for item in separates],
        more_separates=more_separates,
        diagram=diagram(shown, words),
        requests=_requests(one.history),
        plan=clipped(one.plan, 4000),
        heads=heads,
        words=words,
        harm=clipped(one.harm, 40),
        consequence=clipped(one.consequence, 400),
    )


def _differing_only(one: DivergenceFound) -> list[DivergenceStep]:
    """The steps, where the one that diverges has of its answers what differs."""
    expected, observed = what_differs(one)
    return [replace(step, expected=expected, observed=observed) if step.diverges else step for step in one.steps]


def _requests(history: Sequence[Sequence[str]]) -> list[RequestBar]:
    found, moments = spans(history)
    percent = 100 / max(moments, 1)
    return [
        RequestBar(
            text=clipped(f"{one.who}, {one.text}", 300),
            begin=round(one.sent * percent, 2),
            width=round(((moments if one.answered is None else one.answered + 0.5) - one.sent) * percent, 2),
            differs=bool(one.wanted),
            answered=one.answered is not None,
        )
        for one in found[:REQUESTS]
    ]


def _also(summary: RunSummary, one: DivergenceFound, kind: Kind) -> str:
    """Other cases of the kind that have an event of their own."""
    others = sorted({other.case: other for other in kind.divergences if other.case != one.case}.items())
    listed, more = first_items(others, CASES)
    names = ", ".join(_case(summary, other) if case < 0 else figure(case) for case, other in listed)
    return names + (f" and {figure(more)} more" if more else "")


def _case(summary: RunSummary, one: DivergenceFound) -> str:
    """``case 17``, or the plan of the corpus that it is."""
    return f"case {figure(one.case)}" if one.case >= 0 else clipped(summary.case_name(one.suite, one.case), 300)


def _bar(feature: str, diverging: float, others: float) -> FeatureShares:
    widths = [round(100 * part, 1) if 0 <= part <= 1 else 0.0 for part in (diverging, others)]
    return FeatureShares(clipped(feature, 200), share(diverging), share(others), widths[0], widths[1])


def _step(step: DivergenceStep) -> StepRow:
    before, after = mark_differences(step.before, step.after)
    messages, more = first_items(step.messages, MESSAGES)
    return StepRow(
        number=step.number,
        operation=clipped(step.operation),
        diverges=step.diverges,
        expected=clipped(step.expected),
        observed=clipped(step.observed),
        rules=", ".join(clipped(rule, 80) for rule in step.rules[:RULES]),
        kind=clipped(step.state_kind, 200),
        before=before,
        after=after,
        unchanged=step.before == step.after,
        messages=[_message(message) for message in messages],
        more_messages=more,
    )


def _message(message: list[str]) -> tuple[str, str, str]:
    sender, receiver, text = [*message[:3], "", "", ""][:3]
    return clipped(sender, 60), clipped(receiver, 60), clipped(text, 600)
