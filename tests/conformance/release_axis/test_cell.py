"""Records of cases and their cache: a step is where its plan has it, and what was not decided is not kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from every import every

from rocketmq_conformance.conformance.adapter import CannotRunError, Case, Hello, NoAnswerError
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.release_axis import cell
from rocketmq_conformance.conformance.release_axis.cache import Cache
from rocketmq_conformance.conformance.release_axis.plans import given_plans
from rocketmq_conformance.conformance.release_axis.records import SuiteRecord
from rocketmq_conformance.conformance.release_axis.witness import Opened
from rocketmq_conformance.conformance.targets.address import parse_address
from rocketmq_conformance.models.outcome import Answer, Err, Ok, Outcome, Unsupported, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row, Suite

SUITE = SUITES["remote-store"]
UPDATE, CLONE, READ = (SUITE.index[name] for name in ("update", "clone", "read"))
#: A read behind an operation that is lacking, and once more.
ROWS = [(UPDATE, (0, 5, False)), (CLONE, ("",)), (READ, (0, "memory", "answer")), (READ, (0, "memory", "answer"))]
PLANS = given_plans(SUITE, 1, {0: ROWS})


class Plays:
    """Answers the steps of a case, one by one or all at once, or fails to."""

    def __init__(self, *answers: Outcome, at_once: bool = True, failure: Exception | None = None) -> None:
        self._answers = answers
        self._at_once = at_once
        self._failure = failure

    def hello(self) -> Hello:
        return Hello("plays", "1")

    def reset(self, case: Case) -> None:
        self._left = iter(self._answers)

    def apply(self, operation: Operation) -> Outcome:
        if self._failure:
            raise self._failure
        return next(self._left)

    def plays_whole(self, suite: Suite) -> bool:
        return self._at_once

    def play_case(self, case: Case, rows: Sequence[Row], reached: Callable[[int], None]) -> list[Answer]:
        self.reset(case)
        return [result_of(self.apply(case.suite.for_implementation(row))) for row in rows]

    def close(self) -> None:
        pass


def recorded(adapter: Plays) -> SuiteRecord:
    stage = Stage(adapter, Profile())
    found = cell._play(Opened("", stage, adapter.hello(), Profile()), PLANS)
    stage.close()
    return found


@every("at_once", [True, False])
@every("last", [5, 6])
def test_steps_after_an_operation_that_is_lacking_are_where_the_plan_has_them(at_once: bool, last: int) -> None:
    found = recorded(Plays(Ok(), Unsupported("it has none"), Ok(5), Ok(last), at_once=at_once)).cases[0]
    assert [(step.at, step.answer, step.allowed) for step in found.steps] == [
        (0, "None", True),
        (2, "5", True),
        (3, str(last), last == 5),
    ]
    assert found.decided


@every(
    "adapter",
    [
        Plays(failure=CannotRunError("the broker did not start")),
        Plays(failure=NoAnswerError("no answer in time"), at_once=False),
        Plays(Err("TIMEOUT", definite=False), at_once=False),
    ],
)
def test_a_case_that_did_not_run_or_was_not_judged_is_not_kept(adapter: Plays, tmp_path: Path) -> None:
    cache, key = Cache(tmp_path), "key"
    cache.store(key, recorded(adapter))
    assert cache.load(key) is None


def test_what_was_decided_is_read_again_as_it_was(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    key = cache.key(parse_address("port"), PLANS)
    record = recorded(Plays(Ok(), Ok(0), Ok(5), Ok(6)))
    cache.store(key, record)
    assert cache.load(key) == record
