"""Events of measurements, each of which is a stream of its own.

Power: ``PowerStarted``, a ``MutantJudged`` per mutant, ``PowerEnded``. Answers that are corrupted:
``CorruptionStarted``, ``CorruptionJudged`` per suite, rule and way, ``CorruptionEnded``. The folklore:
``FolkloreStarted``, a ``FolkloreStep`` per release and step, any ``FolkloreDifference``, ``FolkloreEnded``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from rocketmq_conformance.reports.event import Event

#: The results of a mutant.
KILLED, SURVIVED, EQUIVALENT = "killed", "survived", "equivalent"


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerStarted(Event):
    """The header of a measurement of power: which kit is measured, by which plans."""

    kind: ClassVar[str] = "power-started"
    format: int
    kit: str
    rulebook: str
    profile: dict[str, str]
    seed: int
    mutants: int
    #: Cases per suite that a mutant is given to be noticed in.
    limit: int
    started: str
    #: Notes that the user should read first, such as what a pattern selects.
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantJudged(Event):
    """One mutant: the first suite and rule that noticed it ("" when none did), after how many cases and steps."""

    kind: ClassVar[str] = "mutant-judged"
    name: str
    #: Id of the real defect that it repeats.
    defect: str
    sentence: str
    #: KILLED, SURVIVED or EQUIVALENT.
    status: str
    suite: str
    rule: str
    cases: int
    steps: int
    #: Why no test can distinguish an equivalent mutant from the port.
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerEnded(Event):
    """The footer of a measurement of power."""

    kind: ClassVar[str] = "power-ended"
    killed: int
    survived: int
    equivalent: int
    seconds: float
    exit_code: int
    stopped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorruptionStarted(Event):
    """The header of a measurement in which the answers of an implementation are corrupted."""

    kind: ClassVar[str] = "corruption-started"
    format: int
    kit: str
    rulebook: str
    address: str
    implementation: str
    version: str
    profile: dict[str, str]
    seed: int
    suites: list[str]
    #: The names of the ways, in their order.
    ways: list[str]
    started: str
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorruptionJudged(Event):
    """Answers that a rule decides, corrupted in one way in one suite."""

    kind: ClassVar[str] = "corruption-judged"
    suite: str
    rule: str
    way: str
    #: Answers that were corrupted, and those of them that were noticed.
    tried: int
    noticed: int
    #: Why the others were not noticed, or "" when nothing explains it.
    reason: str = ""
    #: One of the others: operation, the answer, and what it was made.
    example: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorruptionEnded(Event):
    """The footer of such a measurement."""

    kind: ClassVar[str] = "corruption-ended"
    tried: int
    noticed: int
    #: Those that were not noticed, with a reason.
    explained: int
    seconds: float
    exit_code: int
    stopped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolkloreStarted(Event):
    """The header of the folklore: a fixed sequence of steps, which several releases go through."""

    kind: ClassVar[str] = "folklore-started"
    format: int
    kit: str
    rulebook: str
    sentence: str
    #: Of broker and client alike.
    releases: list[str]
    #: Per step its name, its sentence, and what is commonly believed ("" for nothing).
    steps: list[list[str]]
    started: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolkloreStep(Event):
    """One step of one release: what the model expects, by which rules, and what was seen."""

    kind: ClassVar[str] = "folklore-step"
    release: str
    step: str
    verdict: str
    expected: str
    observed: str
    rules: list[str]
    seconds: float
    #: Why the verdict is not "conforms".
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolkloreDifference(Event):
    """A step in which ``releases`` answer differently from ``others``, and the rules and changes behind it."""

    kind: ClassVar[str] = "folklore-difference"
    step: str
    releases: list[str]
    observed: str
    others: list[str]
    others_observed: str
    #: Rules that made the answer of ``releases`` and not that of ``others``.
    rules: list[str]
    #: Changes between releases, each of which alone would have changed the answer: "S17: sentence".
    switches: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolkloreEnded(Event):
    """The footer of the folklore."""

    kind: ClassVar[str] = "folklore-ended"
    verdict: str
    exit_code: int
    #: Steps by verdict.
    steps: dict[str, int]
    seconds: float
    stopped: str = ""
