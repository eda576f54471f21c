"""Hypothesis strategies for the tests of other projects: plans of a suite, its operations, and the values of its
domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from rocketmq_conformance.conformance.engine.model_tour import Tours
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import suite_of
from rocketmq_conformance.suites.declare.domain import Domain
from rocketmq_conformance.suites.declare.hypothesis_machine import arguments, drawn
from rocketmq_conformance.suites.declare.operation import Operation, OperationSpec
from rocketmq_conformance.suites.declare.suite import Row, Suite
from rocketmq_conformance.suites.values import allocation, broker, client

#: The largest offset of RocketMQ, a Java long.
LARGEST = 2**63 - 1


@dataclass(frozen=True)
class DrawnPlan:
    """A case of a suite: what is done, one after the other."""

    suite: Suite
    rows: tuple[Row, ...]

    @property
    def operations(self) -> list[Operation]:
        """The operations, each with all its arguments."""
        return [self.suite.operation(row) for row in self.rows]

    def __repr__(self) -> str:
        return f"{self.suite.name}: {'; '.join(map(str, self.operations))}"


def positions_of(suite: Suite, names: Sequence[str]) -> list[int]:
    """The places of a suite's operations of these names, or of all; ValueError for one that it does not have."""
    absent = [name for name in names if name not in suite.index]
    if absent:
        raise ValueError(f"{suite.name} has no operation {absent[0]!r}: it has {', '.join(suite.index)}.")
    return [at for name, at in suite.index.items() if not names or name in names]


def operations(suite: str | Suite, *names: str) -> st.SearchStrategy[Operation]:
    """Operations of a suite, those of these names or all of them, with arguments from their domains."""
    known = suite_of(suite)
    return _rows(known, positions_of(known, names)).map(known.operation)


def plans(
    suite: str | Suite, *, profile: Profile | None = None, min_size: int = 1, max_size: int | None = None
) -> st.SearchStrategy[DrawnPlan]:
    """Plans of a suite: operations that the releases of the profile have, each of which the model allows where the
    earlier ones have led. Up to ``max_size`` of them, by default as many as the suite's cases have."""
    known = suite_of(suite)
    judged = profile or Profile()
    longest = max(known.steps, min_size) if max_size is None else max_size
    tours = Tours(known, judged)
    rows = st.lists(_rows(known, known.offered(judged)), min_size=min_size, max_size=longest)
    played = rows.map(lambda found: DrawnPlan(known, tuple(step.row for step in tours.play(found))))
    return played.filter(lambda plan: len(plan.rows) >= min_size)


def values(domain: Domain) -> st.SearchStrategy[Any]:
    """The values of a domain, the simplest first."""
    rows = domain.rows()
    return drawn(domain.draw) if rows is None else st.sampled_from(rows)


def queues() -> st.SearchStrategy[list[MessageQueue]]:
    """Queues of a topic as rebalances meet them: none, fewer than the members, on several brokers of any size, out of
    order, ids of two digits, names that sort otherwise by code point, and lists that hash to one place."""
    return st.sampled_from(_lists(allocation.PLAIN_QUEUES, allocation.HOUSED_QUEUES, allocation.RING_QUEUES)).map(
        lambda found: [MessageQueue(*one) for one in found]
    )


def client_ids() -> st.SearchStrategy[list[str]]:
    """Client ids of a group's members as brokers list them: one, many, twice, with rooms, of one machine, and such as
    sort otherwise by number or by code point."""
    lists = _lists(allocation.PLAIN_MEMBERS, allocation.HOUSED_MEMBERS, allocation.RING_MEMBERS)
    return st.sampled_from([one for one in lists if one]).map(list)


def offsets() -> st.SearchStrategy[int]:
    """Offsets: small ones, those beside 2**31 and 2**53, negative ones that a consumer may be given, and any other."""
    edges = [one for one in dict.fromkeys((*client.OFFSET.items, *broker.OFFSET.items)) if one is not None]
    return st.sampled_from(edges) | st.integers(0, LARGEST)


def _lists(*given: Sequence[Any]) -> list[Any]:
    """The lists of the given ones, each once."""
    return [one for one in dict.fromkeys(one for some in given for one in some) if one is not None]


def _rows(suite: Suite, positions: Sequence[int]) -> st.SearchStrategy[Row]:
    return st.one_of([_row(suite.operations[at].spec, at) for at in positions])


def _row(spec: OperationSpec, position: int) -> st.SearchStrategy[Row]:
    if spec.columns() is None:
        return drawn(spec.draw).map(lambda args: (position, args))
    return st.tuples(st.just(position), st.tuples(*arguments(spec).values()))
