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
    #: The release that it takes turns with; "" for none.
    upgraded_from: str = ""

    @property
    def set_up(self) -> bool:
        """Does the fault show only on a broker that is set up for it, which no plan can ask for?"""
        return bool(self.configuration or self.upgraded_from)


#: A function that makes a mutant from its name, defect, sentence and changed class.
Declare = Callable[[str, str, str, type], BrokerMutant]


def mutants_of(part: str, *suites: str, upgraded_from: str = "", **configuration: str) -> Declare:
    """The function that declares mutants of one part, to be killed by these suites.

    ``configuration`` has the properties of the brokers that are off their default; ``upgraded_from`` is the release
    that they take turns with.
    """

    def declare(name: str, defect: str, sentence: str, changed: type) -> BrokerMutant:
        return BrokerMutant(
            name=name,
            defect=defect,
            sentence=sentence,
            parts={part: changed},
            suites=suites,
            configuration=tuple(configuration.items()),
            upgraded_from=upgraded_from,
        )

    return declare
