"""The specification of a campaign: everything that determines its cases and their verdicts, as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import ceil
from typing import Any

from rocketmq_conformance.conformance.engine.limits import PATIENCE, START_TIMEOUT
from rocketmq_conformance.conformance.targets.address import parse_address
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Suite


@dataclass(frozen=True)
class CampaignSpec:
    """The specification of a campaign; a resumed campaign must have the same one."""

    addresses: tuple[str, ...]
    #: Names of the suites, in the order of the registry.
    suites: tuple[str, ...]
    #: Cases in all; every address plays each of them.
    cases: int
    seed: int
    #: Cases of a block, the unit that is finished or not.
    block: int
    #: Steps of a case; None leaves it to the suite.
    steps: int | None = None
    #: Share of the cases whose steps are stored though they conform.
    sample: float = 0.0
    #: Share of the cases that goes to suites which still find new behaviour.
    steer: float = 0.0
    #: Releases that judge a side, by side ("client", "broker", "java").
    releases: dict[str, str] = field(default_factory=dict)
    #: Releases whose operations the plans have, by side; those of the first address where there are none.
    plans: dict[str, str] = field(default_factory=dict)
    #: Seconds that one operation may take.
    patience: float = PATIENCE
    #: Seconds that the start of an implementation may take.
    start_timeout: float = START_TIMEOUT
    #: Bytes that a player may take before it is replaced.
    memory: int = 2 << 30

    def json(self) -> dict[str, Any]:
        """The campaign as a JSON object."""
        return asdict(self)

    @classmethod
    def of(cls, json: Mapping[str, Any]) -> CampaignSpec:
        """Read :meth:`json` back; KeyError with the name of a missing field, ValueError with a malformed one's."""
        given = {item.name: json[item.name] for item in fields(cls) if item.name in json or item.name not in _LATER}
        for name, value in given.items():
            if not _fits(name, value):
                raise ValueError(name)
        return cls(**{**given, "addresses": tuple(given["addresses"]), "suites": tuple(given["suites"])})

    @property
    def judged_as(self) -> list[str]:
        """The options of the command line that say which releases judge."""
        return [word for item in self.releases.items() for word in ("--with", "=".join(item))]

    def steps_of(self, suite: Suite) -> int:
        """Steps of a case of the suite."""
        return self.steps or suite.steps

    def sampled(self, case: int) -> bool:
        """Are the steps of this case stored though it conforms?"""
        return ceil((case + 1) * self.sample) > ceil(case * self.sample)

    def chosen(self) -> list[Suite]:
        """The suites."""
        return [SUITES[name] for name in self.suites]


#: Fields that campaigns stored by earlier versions do not have.
_LATER = ("start_timeout",)


def _fits(name: str, value: Any) -> bool:
    """Can a field have such a value?"""
    match name:
        case "addresses" | "suites":
            known = isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
            return known and (name == "addresses" or set(value) <= set(SUITES))
        case "releases" | "plans":
            return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
        case "sample" | "steer" | "patience" | "start_timeout":
            return type(value) in (int, float)
        case _:
            return type(value) is int or (name == "steps" and value is None)


#: Bounds of a block: few files, and at most some seconds of work lost when one is not finished.
SMALLEST, LARGEST, LARGEST_SLOW = 16, 4096, 128
#: Blocks of a campaign, about: each costs its files, a row of Spark's and a look of the driver, as some cases do.
MANY = 512


def block_size(addresses: tuple[str, ...], cases: int) -> int:
    """Cases of a block for a campaign of so many cases."""
    largest = LARGEST if all(parse_address(address).FAST for address in addresses) else LARGEST_SLOW
    return max(SMALLEST, min(largest, cases // MANY))
