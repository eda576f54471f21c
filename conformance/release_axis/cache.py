"""The cache of what implementations did: by kit, plans and implementation, a file for each suite of each address."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from rocketmq_conformance.conformance.cache import keep
from rocketmq_conformance.conformance.proof.revision import revision
from rocketmq_conformance.conformance.release_axis.plans import Plans
from rocketmq_conformance.conformance.release_axis.records import CaseRecord, StepRecord, SuiteRecord
from rocketmq_conformance.conformance.targets.address_kinds import Address


class Cache:
    """Records in a folder; without a folder, nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @cached_property
    def _kit(self) -> str:
        return revision()

    def key(self, address: Address, plan: Plans) -> str:
        """The name of a record; "" for an implementation that may be another one tomorrow, which is not kept."""
        if self.folder is None or not address.lasting:
            return ""
        parts = (self._kit, plan.suite.name, plan.digest, str(address), os.environ.get("JAVA_HOME", ""))
        return _digest(repr(parts))

    def load(self, key: str) -> SuiteRecord | None:
        """A record; None when there is none, or it cannot be read."""
        if not key or self.folder is None:
            return None
        try:
            digest, _, text = (self.folder / f"{key}.json").read_text("utf-8").partition("\n")
            if digest != _digest(text):
                return None  # of another kit, or damaged
            kept = json.loads(text)
            cases = {
                int(number): CaseRecord(
                    tuple(
                        StepRecord(at, observed, ok, tuple(rules), answer, timed)
                        for at, observed, ok, rules, answer, timed in steps
                    ),
                    reason,
                )
                for number, (steps, reason) in kept["cases"].items()
            }
            return SuiteRecord(cases, kept["seconds"], kept["refused"])
        except (OSError, ValueError):
            return None

    def store(self, key: str, record: SuiteRecord) -> None:
        """Keep a record, whole or not at all; a folder that cannot be written costs only the next run's time.

        One with a case that was not decided is not kept: the next play may decide it.
        """
        if not key or self.folder is None or not all(case.decided for case in record.cases.values()):
            return
        cases = {
            number: ([list(asdict(step).values()) for step in case.steps], case.reason)
            for number, case in record.cases.items()
        }
        text = json.dumps({"cases": cases, "seconds": record.seconds, "refused": record.refused})
        with suppress(OSError):
            keep(self.folder / f"{key}.json", f"{_digest(text)}\n{text}")


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
