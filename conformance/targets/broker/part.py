"""What the adapter of brokers asks of a part: the data by which one suite is played on a broker.

The module that bears a suite's name exports its part as ``PART``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites.declare.operation import Operation

#: Cases that are played side by side unless a part says otherwise.
LANES = 64


class Need(Enum):
    """What a suite needs that only a broker of the kit's own has."""

    #: The aged store, and a process that may be ended.
    AGED_STORE = "aged store"
    #: A name server whose routes are those of ``broker-assignment``.
    ROUTES = "routes"
    #: Pages of files that may be put out of memory.
    PAGE_CACHE = "page cache"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """How one suite is played."""

    #: Of each operation: a function of the case's names and the arguments that makes its job.
    jobs: Mapping[type[Operation], Callable[..., Requests]]
    #: Operations on the broker as a whole: methods of ``ProcessControl`` that take the arguments.
    controls: Mapping[type[Operation], Callable[..., Outcome]] = field(default_factory=dict)
    #: Cases that are played side by side; 1 for a suite that changes the broker as a whole.
    lanes: int = LANES
    needs: frozenset[Need] = frozenset()
    #: Has a case topic 0 and group 0 from the beginning?
    with_topic: bool = True
    with_group: bool = True
