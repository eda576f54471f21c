"""The base class of the Java client's parts, each of which plays one suite with the classes of a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.declare.suite import Row, Suite


class Part(Protocol):
    """Plays one suite; it is made once, and plays all cases of its suite.

    The module that bears a suite's name exports its part as ``PART``.
    """

    #: The first release that has the feature of the suite, and the feature's name.
    since: ClassVar[Release] = Release(4, 0, 0)
    lacking: ClassVar[str] = ""
    #: May the client's own network code be used (``via=tcp``)? Parts that are stepped by hand cut it off.
    over_sockets: ClassVar[bool] = False

    def __init__(self, release: JavaRelease, via: str = "call", *topology: Topology) -> None:
        """``via`` is "call" or, where ``over_sockets`` says so, "tcp"."""

    def begin(self, case: Case) -> None:
        """Begin a case, without state of the previous one."""
        ...

    def calls(self) -> Methods:
        """A method for each operation that the release has, the same for all cases; errors are returned."""
        ...

    def plays_whole(self) -> bool:
        """Are the steps of a case done in one call of Java?"""
        return False

    def play_whole(self, suite: Suite, rows: Sequence[Row], reached: Callable[[int], None]) -> list[Result]:
        """Do the steps of the case that began last (``conformance.adapter.WholeCases``)."""
        raise TypeError(f"the steps of {suite.name} are done one by one")

    def close(self) -> None:
        """Release everything that would outlive the last case."""
