"""Finds the module of a target that plays a suite, by the suite's name; there is no list to maintain.

In the package of a target the module that bears a suite's name (``rebalance_orderly.py`` for ``rebalance-orderly``)
plays that suite, with what it exports as ``PART``. Modules without one are shared code.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from rocketmq_conformance.suites.declare.discovery import SUITES


def module_of(package: str, suite: str) -> ModuleType | None:
    """The module of a package that bears a suite's name, or None."""
    return import_module(f"{package}.{suite.replace('-', '_')}") if has_part(package, suite) else None


def has_part(package: str, suite: str) -> bool:
    """Has a target's package a module for the suite? It is not imported, as that may need Java."""
    return find_spec(f"{package}.{suite.replace('-', '_')}") is not None


def part_of(package: str, suite: str) -> Any:
    """The part of a target's package that plays a suite; None when the target does not have the suite.

    It is a class in the port and the Java client, and data in the broker target; the package's adapter says which.
    """
    return getattr(module_of(package, suite), "PART", None)


def suite_modules(package: str) -> list[ModuleType]:
    """Every module of a package, imported, by name; packages inside it are left out."""
    path = import_module(package).__path__
    return [import_module(f"{package}.{item.name}") for item in iter_modules(path) if not item.ispkg]


def not_played(package: str, target: str, sides: Collection[str]) -> dict[str, str]:
    """The suites of its sides that a target has no module for, each with the reason, for ``Hello.unsupported``."""
    return {
        name: f"{target} does not play it: there is no module {suite.family.replace('-', '_')}.py"
        for name, suite in SUITES.items()
        if suite.side.value in sides and not has_part(package, suite.family)
    }
