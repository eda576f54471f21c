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
    #: Its properties that are off their default.
    configuration: tuple[tuple[str, str], ...] = ()


#: A function that makes a mutant from its name, defect, sentence and changed class.
Declare = Callable[[str, str, str, type], BrokerMutant]


def mutants_of(part: str, *suites: str, **configuration: str) -> Declare:
    """The function that declares mutants of one part, to be killed by these suites.

    ``configuration`` has the properties of the brokers that are off their default.
    """

    def declare(name: str, defect: str, sentence: str, changed: type) -> BrokerMutant:
        return BrokerMutant(
            name=name,
            defect=defect,
            sentence=sentence,
            parts={part: changed},
            suites=suites,
            configuration=tuple(configuration.items()),
        )

    return declare
