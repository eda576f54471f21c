"""What an implementation did, as it is compared and kept: texts of answers, by suite, case and step."""

from __future__ import annotations

from dataclasses import dataclass

#: The answer where the rules leave every one open.
OPEN = "anything"


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step: its position in the plan, what was observed, whether the rules of its release allow that, by which rules,
    and the answer itself in words. What was observed is compared, so that nothing in it depends on the time; ``timed``
    says that the answer does.
    """

    at: int
    observed: str
    allowed: bool
    rules: tuple[str, ...]
    answer: str
    timed: bool = False

    @property
    def shown(self) -> str:
        """What a reader is shown of it beside the answers of others."""
        return self.observed if self.timed else self.answer


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """A case: its steps as far as they were compared, or why it was not played to the end."""

    steps: tuple[StepRecord, ...]
    reason: str = ""
    #: Was it played, and judged?
    decided: bool = True


@dataclass(frozen=True, slots=True)
class SuiteRecord:
    """What an implementation did in a suite; ``refused`` says why it did nothing."""

    #: By case number.
    cases: dict[int, CaseRecord]
    seconds: float
    refused: str = ""
