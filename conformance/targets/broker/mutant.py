"""What a mutant of a broker is: the fake broker with one deliberate fault in one of its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rocketmq_conformance.conformance.targets.mutant import Mutant


@dataclass(frozen=True, kw_only=True)
class BrokerMutant(Mutant):
    """One deliberate fault; ``parts`` replaces classes of the fake broker by part name, such as "resets"."""

    #: The suites that it is judged by until one of them notices it.
    suites: tuple[str, ...]
    #: Is it a broker whose locks are in strict mode?
    strict: bool = False


#: Makes a mutant of its name, defect, sentence and changed class.
Declare = Callable[[str, str, str, type], BrokerMutant]


def mutants_of(part: str, *suites: str, strict: bool = False) -> Declare:
    """Declares mutants of one part, which these suites notice."""

    def declare(name: str, defect: str, sentence: str, changed: type) -> BrokerMutant:
        return BrokerMutant(
            name=name, defect=defect, sentence=sentence, parts={part: changed}, suites=suites, strict=strict
        )

    return declare
