"""Kinds of divergences whose shorter plans are looked for later, and side by side, where suites take turns."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import NamedTuple

from rocketmq_conformance.conformance.engine.findings import Findings
from rocketmq_conformance.conformance.engine.judge import Judged
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.turns import Turns
from rocketmq_conformance.reports.event import DivergenceFound


class Differing(NamedTuple):
    """A case that differs, up to there, and what may explain it, or ""."""

    number: int
    judged: Judged
    doubt: str = ""


class Shortening:
    """The kinds of one suite that wait for a shorter plan, by their fingerprints."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._waiting: dict[str, list[Differing]] = {}
        self._jobs: dict[str, Future[list[DivergenceFound]]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def kinds(self) -> frozenset[str]:
        """The fingerprints of those that wait."""
        return frozenset(self._waiting)

    @property
    def jobs(self) -> frozenset[Future[list[DivergenceFound]]]:
        """What looks for shorter plans now."""
        return frozenset(self._jobs.values())

    def add(self, fingerprint: str, case: Differing) -> None:
        """Let a case wait with those of its kind."""
        self._waiting.setdefault(fingerprint, []).append(case)

    def go_on(self, turns: Turns, player: Player) -> Iterator[DivergenceFound]:
        """Begin to look for the shorter plan of each kind, once it is time for that; what has come of it.

        The case of a kind with the fewest steps is made shorter.
        """
        for fingerprint, cases in self._waiting.items() if turns.shortens else ():
            if fingerprint not in self._jobs:
                cases.sort(key=lambda case: len(case.judged.steps))
                self._jobs[fingerprint] = turns.begin(lambda case=cases[0]: [*self._findings.report(player, *case)])  # type: ignore[misc]
        for fingerprint in [one for one, job in self._jobs.items() if job.done()]:
            _, *others = self._waiting.pop(fingerprint)
            yield from self._jobs.pop(fingerprint).result()
            for case in others:
                yield from self._findings.report(player, *case)

    def as_found(self, why: str) -> Iterator[DivergenceFound]:
        """Those for which no shorter plan was looked for to its end, each case as it was found."""
        for cases in self._waiting.values():
            for number, judged, doubt in cases:
                yield self._findings.as_found(number, judged, why, doubt)
