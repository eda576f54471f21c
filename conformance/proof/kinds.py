"""The kinds of proofs: the units of each, their parts, and how they are proven."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from rocketmq_conformance.conformance.proof import broker, client_broker_matrix, java, java_clock, whole
from rocketmq_conformance.conformance.proof.evidence import ProofResult
from rocketmq_conformance.conformance.proof.proof_docs import unjudged
from rocketmq_conformance.conformance.proof.selection import EVERYTHING, Part, Selection
from rocketmq_conformance.conformance.proof.side_by_side import More, in_processes, one_by_one
from rocketmq_conformance.conformance.proof.unit import BROKER, CLOCK, JAVA, PAIRS, SCRIPTED, WHOLE, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of proof. ``prove(units, selection, more)`` yields the result of each unit as soon as it is known."""

    units: tuple[Unit, ...]
    parts: Callable[[], Collection[Part]]
    prove: Callable[[Sequence[Unit], Selection, More], Iterator[ProofResult]]
    #: How rules begin that its suites may reach without naming them: of releases or properties that few units have.
    unnamed: tuple[str, ...] = ()

    def takes(self, selection: Selection) -> bool:
        """Does any part of it play what is selected?"""
        return any(self.played(selection).takes(part) for part in self.parts())

    def played(self, selection: Selection) -> Selection:
        """What is played for a selection: everything for a rule that no part names and any may reach."""
        return Selection(selection.suite) if self._is_unnamed(selection.rule) else selection

    def replaced(self, selection: Selection) -> frozenset[str] | None:
        """The rules whose rows such a proof replaces; None for all."""
        if self._is_unnamed(selection.rule):
            return frozenset() if selection.suite else frozenset({selection.rule})
        return selection.replaced(self.parts())

    def _is_unnamed(self, rule: str) -> bool:
        return rule.startswith(self.unnamed or ("-",)) and not any(rule in part.rules for part in self.parts())


def of_releases(kind: str, releases: Sequence[str]) -> tuple[Unit, ...]:
    """The units of these releases."""
    return tuple(Unit(kind, release) for release in releases)


def of_pairs(clients: Sequence[str], brokers: Sequence[str]) -> tuple[Unit, ...]:
    """Every pair, those of a broker one after the other."""
    return tuple(Unit(PAIRS, client, release) for release in brokers for client in clients)


def prove_clients(
    units: Sequence[Unit],
    workers: int,
    covered: java.Covering,
    selection: Selection = EVERYTHING,
    more: More = lambda: True,
    left: Mapping[str, Collection[str]] = MappingProxyType({}),
    exhaustive: Collection[str] = java.EXHAUSTIVE,
) -> Iterator[ProofResult]:
    """Prove clients, and whole consumers on brokers that fail by a script, in so many processes.

    ``left`` has the names of the suites that a release leaves out. Whole consumers mostly wait: one of them at a time
    has a process beside the others.
    """
    todo = java.longest_first((unit for unit in units if unit.kind != SCRIPTED), covered, exhaustive)
    waiting = [unit for unit in units if unit.kind == SCRIPTED]
    workers += bool(todo and waiting)
    for number, unit in enumerate(waiting):
        todo.insert(number * workers, unit)
    one = partial(
        _prove_client,
        covered=dict(covered),
        selection=selection,
        left=dict(left),
        exhaustive=frozenset(exhaustive),
    )
    yield from in_processes(one, todo, min(workers, len(todo)), more, java.EACH)


def _prove_client(
    unit: Unit,
    covered: java.Covering,
    selection: Selection,
    left: Mapping[str, Collection[str]],
    exhaustive: Collection[str],
) -> ProofResult:
    if unit.kind == SCRIPTED:
        return whole.prove(unit, rule=selection.rule)
    return java.prove(unit, covered, selection, left.get(unit.release, ()), exhaustive)


def _clients(units: Sequence[Unit], selection: Selection, more: More) -> Iterator[ProofResult]:
    return prove_clients(units, java.WORKERS, java.covering(java.RELEASES), selection, more)


def _whole(units: Sequence[Unit], selection: Selection, more: More) -> Iterator[ProofResult]:
    return one_by_one(partial(whole.prove, rule=selection.rule), units, more)


_WITHOUT_BROKER = unjudged(BROKER)

#: The kinds in the order in which ``prove all`` goes through them, with all releases that can be proven; clients as
#: with ``--cover``.
ALL = {
    JAVA: Kind(
        units=of_releases(JAVA, java.RELEASES), parts=java.parts, prove=_clients, unnamed=("BQ-QUERY-", "START-")
    ),
    CLOCK: Kind(
        units=of_releases(CLOCK, java.RELEASES), parts=java_clock.parts, prove=_clients, unnamed=("OFF-", "START-")
    ),
    SCRIPTED: Kind(units=of_releases(SCRIPTED, java.RELEASES), parts=whole.parts, prove=_clients),
    WHOLE: Kind(units=of_releases(WHOLE, whole.RELEASES), parts=whole.parts, prove=_whole),
    PAIRS: Kind(
        units=of_pairs(client_broker_matrix.RELEASES, client_broker_matrix.RELEASES),
        parts=client_broker_matrix.parts,
        prove=lambda units, selection, more: client_broker_matrix.prove(units, more),
        unnamed=("BQ-",),
    ),
    BROKER: Kind(
        units=of_releases(BROKER, [release for release in java.RELEASES if release not in _WITHOUT_BROKER]),
        parts=broker.parts,
        prove=lambda units, selection, more: broker.prove_all(units, broker.WORKERS, selection, more),
        unnamed=("BQ-",),
    ),
}


def prove_all(
    units: Sequence[Unit], selection: Selection = EVERYTHING, more: More = lambda: True
) -> Iterator[ProofResult]:
    """Prove units of any kinds, kind by kind; no other unit begins once ``more`` denies it."""
    for name, kind in ALL.items():
        mine = [unit for unit in units if unit.kind == name]
        if mine:
            yield from kind.prove(mine, kind.played(selection), more)
