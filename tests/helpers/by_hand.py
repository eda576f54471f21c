"""Cases that tests write by hand: steps of models, and what real clients do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite


def java_stage(release: str) -> Iterator[Stage]:
    """A stage of the real Java client; for fixtures."""
    from rocketmq_conformance.conformance.targets.java_client.adapter import JavaClient

    made = Stage(JavaClient(release), Profile.of(client=release))
    try:
        yield made
    finally:
        made.close()


class Steps:
    """A model that is stepped through: its state, and what its latest step was said to be for."""

    def __init__(self, model: Any, state: Any) -> None:
        self.model = model
        self.state = state
        self.kind = ""
        self.rules: tuple[str, ...] = ()
        #: Was the latest answer an accident of Java, or which parts of it were?
        self.quirk: bool | tuple[str, ...] = False

    def do(self, name: str, *args: Any) -> Any:
        """One operation: its result."""
        return self._step(getattr(self.model, name), *args)

    def of_group(self, name: str, *args: Any) -> Any:
        """One operation that the model leaves to that of the group."""
        return self._step(self.model.of_group(getattr(self.model.group, name)), *args)

    def _step(self, handler: Callable[..., Any], *args: Any) -> Any:
        self.state, result, why = handler(self.state, *args)
        self.kind, self.rules, self.quirk = why.kind, why.rules, why.quirk
        return result


def assert_known(why: Reason) -> None:
    """A reason names rules that there are, and a kind of state."""
    assert set(why.rules) <= set(rulebook.RULES)
    assert why.kind


def rows_of(suite: Suite) -> Callable[..., Row]:
    """A function that makes a row of an operation's name and arguments."""
    return lambda name, *args: (suite.index[name], args)


def outcomes(stage: Stage, suite: Suite, *rows: Row) -> list[Any]:
    """What the steps of one case answer: values, and errors as they are."""
    stage.begin(suite, 0)
    results = [stage.do(suite, row) for row in rows]
    return [outcome.value if isinstance(outcome, Ok) else outcome for outcome in results]


def values(stage: Stage, suite: Suite, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer; none of them fails."""
    stage.begin(suite, 0)
    results = [stage.do(suite, row) for row in rows]
    assert all(isinstance(outcome, Ok) for outcome in results), results
    return [outcome.value for outcome in results if isinstance(outcome, Ok)]


def verdicts(stage: Stage, suite: Suite, profile: Profile, cases: int, steps: int) -> list[str]:
    """What is said of so many generated cases, judged by a profile."""
    judge, drawn = Judge(suite, profile), sampler(suite, profile)
    ended = []
    for number in range(cases):
        stage.begin(suite, number)
        ended.append(judge.judge(drawn.case(3, number, steps), lambda row: stage.do(suite, row)).verdict)
    return ended


def expiries(queue: Any, stamp: str, asks: str, *ages: int) -> dict[int, bool]:
    """What a queue of the client says by the machine's clock when its stamp is exactly so many ms old."""
    import jpype

    millis = jpype.JClass("java.lang.System").currentTimeMillis
    found: dict[int, bool] = {}
    for age in ages:
        for _ in range(10_000):
            before = millis()
            getattr(queue, stamp)(before - age)
            expired = bool(getattr(queue, asks)())
            if millis() == before:
                found[age] = expired
                break
    return found
