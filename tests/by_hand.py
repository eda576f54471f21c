"""Cases that tests write by hand, played on real clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rocketmq_conformance.conformance.stage import Stage
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.suite import Row, Suite


def java_stage(release: str) -> Iterator[Stage]:
    """A stage of the real Java client; for fixtures."""
    from rocketmq_conformance.conformance.java.adapter import JavaClient

    made = Stage(JavaClient(release), Profile.of(client=release))
    yield made
    made.close()


def rows_of(suite: Suite) -> Callable[..., Row]:
    """A function that makes a row of an operation's name and arguments."""
    return lambda name, *args: (suite.index[name], args)


def outcomes(stage: Stage, suite: Suite, *rows: Row) -> list[Any]:
    """What the steps of one case answer: values, and errors as they are."""
    stage.begin(suite, 0)
    said = [stage.do(suite, row) for row in rows]
    return [outcome.value if isinstance(outcome, Ok) else outcome for outcome in said]


def values(stage: Stage, suite: Suite, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer; none of them fails."""
    stage.begin(suite, 0)
    said = [stage.do(suite, row) for row in rows]
    assert all(isinstance(outcome, Ok) for outcome in said), said
    return [outcome.value for outcome in said if isinstance(outcome, Ok)]
