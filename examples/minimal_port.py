"""A whole adapter for an implementation that only knows two allocation strategies.

Try it from this folder: ``rocketmq-conformance run python:minimal_port:make -k allocation``.
"""

from __future__ import annotations

from rocketmq_conformance import Case, Err, Hello, Ok, Operation, Outcome, Unsupported


def averagely(me: str, queues: list, members: list) -> list:
    """Contiguous blocks, the larger ones first."""
    index, share, left = members.index(me), *divmod(len(queues), len(members))
    start = index * share + min(index, left)
    return queues[start : start + share + (index < left)]


def by_circle(me: str, queues: list, members: list) -> list:
    """Like dealing cards."""
    return queues[members.index(me) :: len(members)]


class MinimalPort:
    """The adapter."""

    STRATEGIES = {"allocate_averagely": averagely, "allocate_by_circle": by_circle}  # noqa: RUF012

    def hello(self) -> Hello:
        return Hello("minimal-port", "1.0", sides=("pure",))

    def reset(self, case: Case) -> None:
        """Nothing is remembered between operations."""

    def apply(self, operation: Operation) -> Outcome:
        strategy = self.STRATEGIES.get(operation.spec.name)
        if strategy is None:
            return Unsupported("minimal-port knows AVG and AVG_BY_CIRCLE only")
        me, queues, members = operation.args
        if not me or not queues or not members:
            return Err("ILLEGAL_ARGUMENT")
        if me not in members:
            return Ok(())
        return Ok(tuple(strategy(me, list(queues), list(members))))

    def close(self) -> None:
        """Nothing to release."""


def make() -> MinimalPort:
    """What the address names."""
    return MinimalPort()
