"""Discovery of suites: those of the kit, and those that installed packages bring.

A module at the top of ``rocketmq_conformance.suites`` that has a ``SUITE`` is a suite, named like its file:
``rebalance_orderly.py`` is ``rebalance-orderly``. Another package joins by an entry point that bears the
suite's name::

    [project.entry-points."rocketmq_conformance.suites"]
    retry-delay = "own_suite.retry_delay:SUITE"

A run goes through them in this order: by side (pure, client, whole, grpc, broker); on each side first those of an
ordinary run, then those that are only run when they are named; and then by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from rocketmq_conformance.models.rule import Rule
from rocketmq_conformance.suites.declare.entry_points import suite_entry_points
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Suite

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The package of the kit's suites, which stands above this one and is named, not imported.
PACKAGE = "rocketmq_conformance.suites"
_SIDES = (Side.PURE, Side.CLIENT, Side.WHOLE, Side.GRPC, Side.BROKER)


class DiscoveryError(Exception):
    """A package brings a suite that cannot be loaded; one sentence with what to do."""


class Suites(Mapping[str, Suite]):
    """Suites by name. Asking for one imports its module alone; going through them imports all.

    DiscoveryError when what an installed package brings is no suite, or has the name of another one.
    """

    def __getitem__(self, name: str) -> Suite:
        if name in self.brought:
            return _loaded(self.brought[name])
        suite = self._own(name)
        if suite is None:
            raise KeyError(name)
        return suite

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        own = [suite for name in self._modules if (suite := self._own(name))]
        every = [*own, *map(_loaded, self.brought.values())]
        return tuple(suite.name for suite in sorted(every, key=_place))

    @cached_property
    def _modules(self) -> dict[str, str]:
        """The kit's modules that may hold a suite, by the name that it would have."""
        names = [item.name for item in iter_modules(import_module(PACKAGE).__path__) if not item.ispkg]
        return {name.replace("_", "-"): name for name in names if not name.startswith("test_")}

    @cached_property
    def brought(self) -> dict[str, EntryPoint]:
        """The entry points of installed packages, by the names of their suites."""
        found: dict[str, EntryPoint] = {}
        for entry in suite_entry_points():
            if entry.name in self._modules or entry.name in found:
                other = _distribution(found[entry.name]) if entry.name in found else PACKAGE
                raise DiscoveryError(
                    f"Both {other} and {_distribution(entry)} bring a suite called {entry.name}: uninstall one of them."
                )
            found[entry.name] = entry
        return found

    def _own(self, name: str) -> Suite | None:
        if name not in self._modules:
            return None
        found: Suite | None = getattr(import_module(f"{PACKAGE}.{self._modules[name]}"), "SUITE", None)
        return found


def _place(suite: Suite) -> tuple[int, bool, str]:
    return _SIDES.index(suite.side), not suite.ordinary, suite.name


def _loaded(entry: EntryPoint) -> Suite:
    try:
        suite = entry.load()
    except Exception as error:
        raise DiscoveryError(
            f"{_distribution(entry)} brings the suite {entry.name}, but {entry.value} cannot be imported "
            f"({type(error).__name__}: {error}): repair or uninstall it."
        ) from error
    if not isinstance(suite, Suite) or suite.name != entry.name:
        found = f"the suite {suite.name}" if isinstance(suite, Suite) else "no suite"
        raise DiscoveryError(f"{_distribution(entry)} brings the suite {entry.name}, but {entry.value} is {found}.")
    return suite


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value


#: The suites of this installation.
SUITES = Suites()


def suite_of(suite: str | Suite) -> Suite:
    """A suite, or that of a name; ValueError when there is none."""
    known = suite if isinstance(suite, Suite) else SUITES.get(suite)
    if known is None:
        raise ValueError(f"No suite is called {suite!r}: `rocketmq-conformance list suites` names them all.")
    return known


@cache
def rules() -> dict[str, Rule]:
    """Every rule by id: the rule book's, and behind them those of suites that packages bring. DiscoveryError."""
    from rocketmq_conformance.models import rulebook  # imports every model, and who names suites needs none

    found = dict(rulebook.RULES)
    for entry in SUITES.brought.values():
        for rule in _loaded(entry).own_rules:
            if rule.id in found:
                raise DiscoveryError(
                    f"{_distribution(entry)} brings a rule called {rule.id}, and there is one already: give it a name "
                    "of its own."
                )
            found[rule.id] = rule
    return found
