"""The declaration of a broker mutant: the fake broker with one deliberate fault in one of its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rocketmq_conformance.conformance.targets.mutant import Mutant


@dataclass(frozen=True, kw_only=True)
class BrokerMutant(Mutant):
    """One deliberate fault; ``parts`` replaces classes of the fake broker by part name, such as "resets"."""

    #: The suites that judge it until one of them kills it.
    suites: tuple[str, ...]
    #: Does it run with strict locks?
    strict: bool = False


#: A function that makes a mutant from its name, defect, sentence and changed class.
Declare = Callable[[str, str, str, type], BrokerMutant]


def mutants_of(part: str, *suites: str, strict: bool = False) -> Declare:
    """The function that declares mutants of one part, to be killed by these suites."""

    def declare(name: str, defect: str, sentence: str, changed: type) -> BrokerMutant:
        return BrokerMutant(
            name=name, defect=defect, sentence=sentence, parts={part: changed}, suites=suites, strict=strict
        )

    return declare
