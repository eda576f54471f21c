"""Scenarios: plans of one suite with a title, and a sentence for every step.

A scenario is a file in TOML::

    title = "A new group begins at the first message."
    suite = "whole-push"

    [[step]]
    says = "The group's first member joins."
    join = { member = 0 }

Steps that change nothing of interest may go without a sentence. docs/guides/scenarios.md tells more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocketmq_conformance import suites
from rocketmq_conformance.conformance.engine.documents import toml_of
from rocketmq_conformance.conformance.engine.plan import PlanError, rows_of, write
from rocketmq_conformance.conformance.release_axis.plans import Plans, given_plans
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.given_file import text_of
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Row, Suite

SUFFIX = ".toml"
#: Where the kit's own scenarios are.
FOLDER = Path(suites.__path__[0]) / "scenarios"
#: Addresses that play suites which not every broker or client can.
_EXAMPLES = {"broker-upgrade": "broker?upgraded-from=4.9.7"}
_KEYS, _SAYS = {"title", "suite", "step"}, "says"


class ScenarioError(Exception):
    """A file is no scenario; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A plan of one case that is told step by step."""

    name: str
    title: str
    suite: Suite
    rows: tuple[Row, ...]
    #: The sentence of each step, "" where there is none.
    sentences: tuple[str, ...]

    @property
    def plans(self) -> Plans:
        """The scenario as a plan."""
        return given_plans(self.suite, 0, {0: list(self.rows)})

    def write_plan(self, path: Path) -> None:
        """Write it as a plan file; OSError when it cannot be written."""
        write(path, self.suite, Profile(), 0, [(0, list(self.rows))])

    @property
    def example(self) -> str:
        """An address that plays it without anything else installed."""
        return _EXAMPLES.get(self.suite.name) or ("broker" if self.suite.side is Side.BROKER else "port")


def known() -> list[Scenario]:
    """The scenarios of the kit, by name."""
    return [read(path) for path in sorted(FOLDER.glob(f"*{SUFFIX}"))]


def find(name: str) -> Scenario:
    """The scenario of the kit with this name, or in the file of this path; ScenarioError when there is none."""
    own = FOLDER / f"{name}{SUFFIX}"
    if own.parent == FOLDER and own.is_file():
        return read(own)
    if not name.endswith(SUFFIX):
        names = ", ".join(path.stem for path in sorted(FOLDER.glob(f"*{SUFFIX}")))
        raise ScenarioError(f"No scenario is called {name!r}: name one of {names}, or a file that ends with {SUFFIX}.")
    return read(Path(name))


def read(path: Path) -> Scenario:
    """The scenario in a file; ScenarioError with a sentence for anything that is none."""
    try:
        table = toml_of(text_of(path))
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read ({error.strerror}): name a scenario file.") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path} is no scenario: it is not UTF-8 text.") from error
    except ValueError as error:
        raise ScenarioError(f"{path} is not TOML: {error}.") from error
    unknown = sorted(table.keys() - _KEYS)
    if unknown:
        raise ScenarioError(f"{path} has {unknown[0]!r}: a scenario has title, suite and [[step]], nothing else.")
    title, suite = table.get("title"), SUITES.get(str(table.get("suite")))
    if not isinstance(title, str) or not title:
        raise ScenarioError(f"{path} has no title: give it one sentence.")
    if suite is None:
        raise ScenarioError(f"{path} is for the suite {table.get('suite')!r}, which there is not (`list suites`).")
    steps = table.get("step")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise ScenarioError(f"{path} has no steps: add some as [[step]].")
    return Scenario(path.stem, title, suite, _rows(path, suite, steps), tuple(_sentence(path, one) for one in steps))


def _rows(path: Path, suite: Suite, steps: Sequence[dict[str, Any]]) -> tuple[Row, ...]:
    rows: list[Row] = []
    for number, step in enumerate(steps, start=1):
        operation = {name: _arguments(suite, name, args) for name, args in step.items() if name != _SAYS}
        try:
            rows += rows_of(suite, [operation])
        except PlanError as error:
            raise ScenarioError(f"{path}, step {number}: {str(error).partition(': ')[2]}") from error
    return tuple(rows)


def _arguments(suite: Suite, name: str, given: Any) -> Any:
    """The arguments of an operation; those that were left out are null, for which TOML has no word."""
    at = suite.index.get(name)
    if at is None or not isinstance(given, dict):
        return given
    return dict.fromkeys((field for field, _ in suite.operations[at].spec.domains), None) | given


def _sentence(path: Path, step: dict[str, Any]) -> str:
    says = step.get(_SAYS, "")
    if not isinstance(says, str):
        raise ScenarioError(f"{path}: {_SAYS} = {says!r} is no sentence.")
    return says
