"""The declaration of a broker mutant: the fake broker with one deliberate fault in one of its parts."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.conformance.targets.mutant import Declares, Mutant


@dataclass(frozen=True, kw_only=True)
class BrokerMutant(Mutant):
    """One deliberate fault; ``parts`` replaces classes of the fake broker by part name, such as "resets"."""

    #: The suites that judge it until one of them kills it.
    suites: tuple[str, ...]
    #: Its properties that are off their default.
    configuration: tuple[tuple[str, str], ...] = ()
    #: The release that it takes turns with; "" for none.
    upgraded_from: str = ""
    #: The release that it is like; "" for the newest.
    release: str = ""

    @property
    def set_up(self) -> bool:
        """Does the fault show only on a broker that is set up for it, which no plan can ask for?"""
        return bool(self.configuration or self.upgraded_from or self.release)


def declared(
    found: list[BrokerMutant],
    part: str,
    *suites: str,
    upgraded_from: str = "",
    release: str = "",
    **configuration: str,
) -> Declares[BrokerMutant]:
    """The decorator of classes that have a fault in one part of the fake broker, to be killed by these suites.

    ``configuration`` has the properties of the brokers that are off their default; ``upgraded_from`` is the release
    that they take turns with, ``release`` the one that they are like, the newest unless given.
    """

    def make(name: str, defect: str, sentence: str, changed: type, equivalent: str) -> BrokerMutant:
        return BrokerMutant(
            name=name,
            defect=defect,
            sentence=sentence,
            parts={part: changed},
            suites=suites,
            configuration=tuple(configuration.items()),
            upgraded_from=upgraded_from,
            release=release,
            equivalent=equivalent,
        )

    return Declares(found, make)
