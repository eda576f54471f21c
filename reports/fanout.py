"""Fan-out: one event to many reports, so that a report that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from rocketmq_conformance.reports.event import Event


class Report(Protocol):
    """Takes every event of a run in order; ``close`` finishes what it writes, also when the run was cut off."""

    def __call__(self, event: Event) -> None:
        """Take the next event."""
        ...

    def close(self) -> None:
        """Finish; no event comes after it."""
        ...


class Fanout:
    """A report made of reports.

    A report that raises is left out from then on and named in ``faults``: a full disk under the JUnit file must not
    cost the console its verdict. The caller turns ``faults`` into an exit code. Ctrl-C is no fault and passes through.
    """

    def __init__(self, reports: Sequence[Report]) -> None:
        self._reports = list(reports)
        #: One sentence per report that failed.
        self.faults: list[str] = []
        #: The exceptions that they raised.
        self.errors: list[Exception] = []

    def add(self, report: Report) -> None:
        """One more report; it gets what comes from now on."""
        self._reports.append(report)

    def __call__(self, event: Event) -> None:
        """Give the event to every report that still works."""
        for report in list(self._reports):
            try:
                report(event)
            except Exception as error:
                self._drop(report, error)

    def close(self) -> None:
        """Close every report that still works; those that failed are closed already."""
        for report in self._reports:
            try:
                report.close()
            except Exception as error:
                self._note(report, error)
        self._reports.clear()

    def _drop(self, report: Report, error: Exception) -> None:
        self._reports.remove(report)
        self._note(report, error)
        # It failed once and is named already: an error while it closes its files adds nothing.
        with suppress(Exception):
            report.close()

    def _note(self, report: Report, error: Exception) -> None:
        self.errors.append(error)
        self.faults.append(f"The report {type(report).__name__} stopped: {type(error).__name__}: {error}")
