"""Events: the stream that a run passes to its reports.

A run emits, in this order: one ``RunStarted``; per suite one ``SuiteStarted``, any number of ``CaseEnded`` and
``DivergenceFound``, one ``SuiteEnded``; one ``RunEnded``. ``Progress`` may come at any time. A stream without
``RunEnded`` was cut off, and nothing may be concluded from it. Values are JSON values only.

A campaign emits the same, with one ``SuiteEnded`` per suite and implementation, and ``Discovery``, ``CaseLost`` and,
over several addresses, ``Voices`` before ``RunEnded``. A run with a file of expected divergences emits an
``ExpectedDivergence`` per entry. Before its ``RunEnded`` a run says in one ``RulesJudged`` what became of every rule.

New fields get a default and new event kinds a new class, which older readers can live with; anything else raises
``FORMAT``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from rocketmq_conformance.reports.tiers import CORPUS

#: Version of the event format; readers refuse a newer one.
FORMAT = 1

#: The five verdicts; never folded into one another.
CONFORMS, DIVERGES, UNDECIDED, COULD_NOT_RUN, UNSUPPORTED = (
    "conforms",
    "diverges",
    "undecided",
    "could not run",
    "unsupported",
)


VERDICTS = (CONFORMS, DIVERGES, UNDECIDED, COULD_NOT_RUN, UNSUPPORTED)
#: Exit codes of a process, by the verdict of its run.
EXIT_CODES = {CONFORMS: 0, DIVERGES: 1, UNDECIDED: 3, UNSUPPORTED: 3, COULD_NOT_RUN: 4}

#: The results of a rule.
HOLDS, DIFFERS, NOT_REACHED = "holds", "differs", "not reached"

#: Why a run ended before its time. An interrupted run never conforms; one that used up its time may.
INTERRUPTED, TIME_LIMIT = "interrupted", "time limit"

#: The other side of a divergence that is not between two implementations.
MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all events."""

    kind: ClassVar[str]
    #: Fields that are lists of events.
    nested: ClassVar[tuple[str, ...]] = ()

    def json(self) -> dict[str, Any]:
        """The event as one JSON object, which shares its lists with the event."""
        json = {"event": self.kind, **_values(self)}
        for name in self.nested:
            json[name] = [_values(one) for one in json[name]]
        return json


def _values(event: Event) -> dict[str, Any]:
    """The fields of an event by name."""
    # Not dataclasses.asdict: its deep copy costs as much as the rest of a case's report.
    names: tuple[str, ...] = event.__slots__
    return {name: getattr(event, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """The header: what is judged, by which rules, from which seed."""

    kind: ClassVar[str] = "run-started"
    format: int
    kit: str
    #: Digest of the rule book: two runs with the same one judged by the same rules.
    rulebook: str
    address: str
    implementation: str
    version: str
    #: Releases that judge: {"client": "5.5.0", "broker": "5.5.0", "java": "17"}.
    profile: dict[str, str]
    seed: int
    suites: list[str]
    #: Folder where plans and reports are written, or "" when nothing is kept.
    out: str
    started: str
    #: Notes that the user should read first, such as a release newer than the newest known one.
    notes: list[str] = field(default_factory=list)
    #: Which release judges, and why: "judged as client 5.5.0, because …".
    release_choice: str = ""
    #: Properties of a broker that are off their default and may matter: name, value, kind ("modelled", "listed" or
    #: "unclassified") and a sentence on what it means for the run.
    properties: list[dict[str, str]] = field(default_factory=list)
    #: Seconds of playing after which no case begins, 0 for no limit.
    max_time: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusPlan(Event):
    """A case of a stored plan: its plan file, its number there, and the tier of the run: CORPUS or COVER."""

    kind: ClassVar[str] = "corpus-plan"
    plan: str
    case: int
    tier: str = CORPUS


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteStarted(Event):
    """A suite begins; ``plan`` is the file in which each case is before it is played, or "" when none is kept."""

    kind: ClassVar[str] = "suite-started"
    nested: ClassVar[tuple[str, ...]] = ("corpus",)
    suite: str
    sentence: str
    cases: int
    steps: int
    plan: str
    #: Cases of stored plans, which come first: the cases -1, -2 and so on. They are among ``cases``.
    corpus: list[CorpusPlan] = field(default_factory=list)
    #: Number of the first case that Hypothesis draws, if it draws any.
    hypothesis: int | None = None
    #: About how long the cases will take, where restarts or timers keep them waiting; 0 where nothing does.
    expected_seconds: float = 0.0
    #: How many suites take turns, of which this is one; 0 where suites are played one after the other.
    turns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Event):
    """How far a suite is, or ("") a whole campaign, or all suites that take turns; for terminals."""

    kind: ClassVar[str] = "progress"
    suite: str
    cases: int
    of: int
    steps: int
    #: Of the suite, or of a campaign's session.
    seconds: float
    #: Of a campaign: cases and steps of the sessions before, behaviours seen, and cases that diverge.
    cases_before: int = 0
    steps_before: int = 0
    behaviours: int = 0
    divergences: int = 0
    #: About how long a run goes on whose suites take turns; of its divergences each kind counts.
    left: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEnded(Event):
    """One case, with its verdict; ``reason`` says why it is not "conforms". Below 0 it is one of a stored plan."""

    kind: ClassVar[str] = "case-ended"
    suite: str
    case: int
    verdict: str
    steps: int
    seconds: float
    digest: str
    reason: str = ""
    #: The rule that decides its first divergence, or "".
    rule: str = ""


#: What a divergence may do to messages, the worst first.
HARMS = ("lost", "skipped", "out of order", "repeated", "stalled", "late", "only different")


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergenceStep(Event):
    """One step of a divergence's minimal plan."""

    kind: ClassVar[str] = "step"
    number: int
    operation: str
    expected: str
    observed: str
    rules: list[str]
    #: The kind of state that the rule met ("memory miss").
    state_kind: str
    #: The model's state before the step.
    before: str
    after: str
    diverges: bool
    #: Requests and responses of the step, in order: [from, to, text]; who may be "member", "another member", "broker"
    #: (a message to itself is what happens there) or "name server".
    messages: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Separator(Event):
    """A feature of steps (operation, argument, state), and how often those that diverge and the others have it."""

    kind: ClassVar[str] = "separator"
    feature: str
    #: Shares in [0, 1].
    diverging: float
    others: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergenceFound(Event):
    """A difference, with the shortest plan that shows it."""

    kind: ClassVar[str] = "divergence"
    nested: ClassVar[tuple[str, ...]] = ("steps", "separates")
    suite: str
    case: int
    #: Equal for two divergences that differ only in values.
    fingerprint: str
    #: The rules that made the expected answer, each with "id", "sentence", "level" and "source" (Java).
    rules: list[dict[str, str]]
    expected: str
    observed: str
    steps: list[DivergenceStep]
    #: Length of the plan that found it, and executions that made it minimal.
    found_steps: int
    shrink_executions: int
    plan: str
    replay: str
    #: Of a campaign: the cases of this kind, which implementation differs, and from what (MODEL or an address).
    cases: int = 1
    address: str = ""
    against: str = MODEL
    #: Features that separate the steps that diverge from those that do not, the sharpest first.
    separates: list[Separator] = field(default_factory=list)
    #: Why its plan is not minimal, or "".
    unshrunk: str = ""
    #: What differs in the answer, by name: [name, expected, observed]; none when it has no names for its parts.
    parts: list[list[str]] = field(default_factory=list)
    #: Of requests at the same time [who, what, when sent, when answered or "", answer, expected or ""], each in turn.
    history: list[list[str]] = field(default_factory=list)
    #: A sentence on what may be wrong with the adapter instead, or "".
    warning: str = ""
    #: Why the difference decides nothing, with what may explain it; "" for a divergence.
    doubt: str = ""
    #: What it does to messages, one of HARMS, in a word and in a sentence; "" where that is not known.
    harm: str = ""
    consequence: str = ""
    #: Seconds after which a run whose suites take turns found the first of its kind.
    found_after: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedDivergence(Event):
    """An entry of a file of expected divergences, and what became of it in the run."""

    kind: ClassVar[str] = "expected-divergence"
    file: str
    #: Line of the file at which the entry begins.
    line: int
    suite: str
    rule: str
    fingerprint: str
    reason: str
    owner: str
    link: str
    expires: str
    #: Cases that diverge in this way, its own plan among them.
    cases: int
    #: Why the entry does not concern this run, or "": such an entry never fails it.
    aside: str = ""
    #: What is wrong with the entry, or "": it fails the run.
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEnded(Event):
    """A suite's numbers. ``coverage`` rows are [rule, kind of state, outcome class, times]."""

    kind: ClassVar[str] = "suite-ended"
    suite: str
    verdict: str
    #: Cases by verdict.
    cases: dict[str, int]
    steps: int
    seconds: float
    coverage: list[list[Any]]
    #: Rules of the suite that never fired.
    silent_rules: list[str]
    #: Was the planted wrong answer noticed? None when no case could carry one.
    control: bool | None
    #: Operations answered Unsupported, with the reason.
    unsupported: dict[str, str]
    reason: str = ""
    #: Of a campaign: the implementation.
    address: str = ""
    #: Kinds of divergences that only showed after others, whose consequences they may be; they are not reported.
    consequences: int = 0
    #: Parts of answers that the implementation left open (null), so that they were not compared: how often each.
    unsaid: dict[str, int] = field(default_factory=dict)
    #: How often a rule was met in a step that does not show that it holds, by rule: the step differs, or its case
    #: decides nothing. These are among the times of ``coverage``.
    unproven: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery(Event):
    """How much new behaviour the cases of a campaign showed; a suite or arm of "" stands for all of them."""

    kind: ClassVar[str] = "discovery"
    suite: str
    #: "random" or "steered".
    arm: str
    cases: int
    #: Distinct behaviours: answers (rule, kind of state, outcome class) and transitions (pairs of kinds of state).
    behaviours: int
    #: Good-Turing estimate of the chance that the next case shows something new, in [0, 1].
    chance: float
    #: [cases, behaviours seen by then], in the order of the cases; a few hundred points at most.
    curve: list[list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Voices(Event):
    """Of a campaign over several addresses: cases of a suite in which the same addresses did the same."""

    kind: ClassVar[str] = "voices"
    suite: str
    cases: int
    #: The first of them.
    case: int
    #: By voice: the addresses that did the same, none where rules alone would have had it so.
    addresses: list[list[str]]
    #: By voice: the addresses whose rules would have had it so.
    rules: list[list[str]]
    #: [address, the one before it] where neighbours have different voices.
    since: list[list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseLost(Event):
    """A case that ended the implementation's process twice: it crashed, hung or exceeded its memory limit."""

    kind: ClassVar[str] = "case-lost"
    suite: str
    case: int
    address: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult(Event):
    """What became of a rule in a run."""

    kind: ClassVar[str] = "rule"
    rule: str
    sentence: str
    level: str
    #: HOLDS, DIFFERS or NOT_REACHED.
    result: str
    #: Steps that it decided: those that agreed, in cases that decide something, and divergences.
    times: int
    #: Suites in which it was met.
    suites: list[str]
    #: Why it was not reached; of one that differs, by whom that is signed for; of one that holds, what speaks
    #: against it; or "".
    reason: str = ""
    #: Clauses that have steps of their own, how many of them were reached, and the words of the others.
    clauses: int = 0
    clauses_reached: int = 0
    clauses_missing: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesJudged(Event):
    """The result of every rule of the side that is judged, and of every other one that the suites of the run reach."""

    kind: ClassVar[str] = "rules-judged"
    nested: ClassVar[tuple[str, ...]] = ("rules",)
    rules: list[RuleResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(Event):
    """The footer: the verdict and what it rests on."""

    kind: ClassVar[str] = "run-ended"
    verdict: str
    exit_code: int
    cases: dict[str, int]
    steps: int
    seconds: float
    controls_noticed: int
    controls: int
    divergences: int
    silent_rules: list[str]
    #: Why the run ended before its time ("interrupted", "time limit"), or "".
    stopped: str = ""
    #: Of a campaign: cases that were asked for and not played, and workers.
    left: int = 0
    #: Of a file of expected divergences: entries that occurred, and entries that fail the run.
    signed: int = 0
    expected_faults: int = 0
    workers: int = 0
    #: The most memory that the process of a run, or a worker's player, took, in bytes; 0 when it is not known.
    peak_memory: int = 0
