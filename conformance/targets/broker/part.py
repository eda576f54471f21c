"""The declaration of a part of the broker target: the data by which the adapter plays one suite.

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
    """Requirements of a suite that not every broker meets; most of them only one that the kit starts."""

    #: A process that may be stopped and killed.
    PROCESS = "process"
    #: A slave that asks it when it is to.
    SLAVE = "slave"
    #: Another release to take turns with.
    UPGRADE = "upgrade"
    #: The aged store, and such a process.
    AGED_STORE = "aged store"
    #: Stored offsets in the file of brokers without light message queues.
    OFFSETS_FILE = "offsets file"
    #: A name server whose routes are those of ``broker-assignment``.
    ROUTES = "routes"
    #: Short delay levels.
    LEVELS = "levels"
    #: Pages of files that can be paged out of memory.
    PAGE_CACHE = "page cache"
    #: Messages can be pulled, and groups come into being when they are looked up.
    OPEN = "open"
    #: What is popped is kept by check points in a topic, the default.
    CHECK_POINTS = "check points"
    #: Messages with a time of their own.
    TIMERS = "timers"
    #: Connections and members that are silent for a while are not forgotten.
    SILENCE = "silence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The jobs and settings by which one suite is played."""

    #: The job of each operation, made by a function of the case's names and the arguments.
    jobs: Mapping[type[Operation], Callable[..., Requests]]
    #: Operations on the broker as a whole: methods of ``ProcessControl`` that take the arguments.
    controls: Mapping[type[Operation], Callable[..., Outcome]] = field(default_factory=dict)
    #: Those of them that ask a broker and its slave, and leave their processes alone.
    of_a_pair: frozenset[type[Operation]] = frozenset()
    #: Cases that are played side by side; 1 for a suite that changes the broker as a whole.
    lanes: int = LANES
    needs: frozenset[Need] = frozenset()
    #: Does a case have topic 0 and group 0 in its initial state?
    with_topic: bool = True
    with_group: bool = True
