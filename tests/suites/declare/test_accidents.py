"""Accidents of Java that are not judged: the model follows the implementation past them, whatever it did."""

from __future__ import annotations

from typing import Annotated

import pytest
from every import every

from rocketmq_conformance.conformance.engine.control import carries
from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_moves import COMMIT
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Result, Value, outcome_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, accident
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites import whole_push
from rocketmq_conformance.suites.declare.answer_parts import responsible
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.domain import Duration, Values
from rocketmq_conformance.suites.declare.measured_time import Span
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.oracle import ASTRAY, QUIRK
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

#: Suites with accidents of Java, and releases of which each has other ones.
SUITES_WITH_ACCIDENTS = ("allocation", "consume", "consume-orderly", "local-store", "remote-store")
RELEASES = ("4.1.0", "4.9.2", "4.9.8", "5.3.1", "5.4.0", "5.5.0")


@operation("Put a number; Java adds 100 to one below 0.", side=Side.CLIENT, answer={"sum": (), "last": ()})
class Put(Operation):
    number: Annotated[int, Values(1, -1, -2)]


@operation("Get the sum.", side=Side.CLIENT)
class Get(Operation):
    pass


@operation("Time passes.", side=Side.CLIENT)
class Tick(Operation):
    millis: Annotated[int, Duration(1000)]


PUT, WRAPPED = Reason(("R-PUT",), "put"), Reason(("R-PUT",), "below 0", quirk=True)
EITHER = accident(Reason(("R-PUT",), "far below 0"))
LARGE = Reason(("R-PUT",), "large", quirk=("last",))
GOT, PASSED = Reason(("R-GET",), "got"), Reason(("R-TICK",), "passed")


def bind(profile: Profile) -> BoundModel:
    def put(state: int, number: int) -> Answer[int]:
        after = state + number + 100 * (number < 0 and profile.accidents)
        why = EITHER if number < -1 else WRAPPED if number < 0 else LARGE if after > 1 else PUT
        return after, (after, number), why

    def get(state: int) -> Answer[int]:
        return state, state, GOT

    def tick(state: int, millis: int) -> Answer[int]:
        return state, None, PASSED

    return BoundModel(0, {Put: put, Get: get, Tick: tick})


SUM = Suite(name="sum", sentence="A sum.", side=Side.CLIENT, bind=bind)
GET: Row = (1, ())


def put(number: int) -> Row:
    return 0, (number,)


class Still:
    """The clock of a case in which no time passes."""

    def expect(self, ready: object) -> None:
        pass

    def span(self) -> Span:
        return Span(0, 0)


def judged(*steps: tuple[Row, Result], quirks: bool = False, timed: bool = False) -> Judged:
    answers = iter([outcome_of(result) for _, result in steps])
    judge = Judge(SUM, Profile(), quirks=quirks)
    return judge.judge([row for row, _ in steps], lambda row: next(answers), times=Still() if timed else None)


Steps = tuple[tuple[Row, Result], ...]
JAVA: Steps = (put(-1), (99, -1)), (GET, 99)
SANE: Steps = (put(-1), (-1, -1)), (GET, -1)


@every("steps", [JAVA, SANE])
def test_after_an_accident_the_state_is_the_one_that_the_implementation_shows(
    steps: Steps,
) -> None:
    ended = judged(*steps)
    assert (ended.verdict, len(ended.steps), ended.unsupported) == (CONFORMS, 2, {})
    wrong = (GET, 0)
    assert judged(steps[0], wrong).verdict == DIVERGES


def test_an_accident_is_judged_where_it_is_asked_for() -> None:
    assert judged(*JAVA, quirks=True).verdict == CONFORMS
    assert judged(*SANE, quirks=True).verdict == DIVERGES


def test_an_answer_that_is_not_javas_counts_as_left_open() -> None:
    assert [judged(*steps).unsaid for steps in (JAVA, SANE)] == [{}, {f"{QUIRK} of put": 1}]


def test_what_follows_an_accident_that_was_done_in_another_way_is_left_out() -> None:
    ended = judged((put(-1), (7, 7)), (GET, 7), (GET, 8))
    assert (ended.verdict, len(ended.steps), ended.unsupported) == (CONFORMS, 1, {"get": ASTRAY})
    assert not ended.cut


def test_an_accident_that_was_refused_leaves_the_state_as_it_was() -> None:
    refused = put(-1), Err("NEGATIVE")
    assert judged(refused, (GET, 0)).verdict == CONFORMS
    assert judged(refused, (GET, -1)).verdict == DIVERGES


def test_an_accident_may_be_one_that_is_done_in_two_ways_only() -> None:
    java, sane, other = (put(-2), (98, -2)), (put(-2), (-2, -2)), (put(-2), (0, -2))
    assert [judged(java, (GET, 98)).verdict, judged(sane, (GET, -2)).verdict] == [CONFORMS, CONFORMS]
    assert [judged(java, (GET, -2)).verdict, judged(other).verdict] == [DIVERGES, DIVERGES]
    assert judged((put(-2), Err("NEGATIVE"))).verdict == DIVERGES


def test_what_is_done_in_neither_of_two_ways_is_not_blamed_on_the_accident() -> None:
    row, suite = whole_push.SUITE.row, whole_push.SUITE
    sent_elsewhere = whole_push.Prepare(1, "expired", 2, LAST), whole_push.Silence(COMMIT), whole_push.Join(0)
    java = (((-1, -1),), (), (2,))
    goes_on, other = (((0, 12),), ((0, 0, 4, 8),), (2,)), (((0, 12),), (), (2,))

    def blamed(shown: Value, *, quirks: bool) -> str:
        answers = iter([Ok(None), Ok(java), Ok(shown)])
        ended = Judge(suite, Profile(), quirks=quirks).judge([*map(row, sent_elsewhere)], lambda row: next(answers))
        assert len(ended.steps) == 3
        return "" if ended.verdict == CONFORMS else responsible(suite, ended.steps[-1])

    assert [blamed(java, quirks=quirks) for quirks in (True, False)] == ["", ""]
    assert [blamed(goes_on, quirks=quirks) for quirks in (True, False)] == ["WHOLE-MOVED-ANEW", ""]
    assert [blamed(other, quirks=quirks) for quirks in (True, False)] == ["WHOLE-MOVED-ANEW", "WHOLE-FIRST"]


def test_on_a_real_clock_what_follows_an_accident_that_was_not_javas_is_left_out() -> None:
    assert (judged(*JAVA, timed=True).verdict, len(judged(*JAVA, timed=True).steps)) == (CONFORMS, 2)
    assert judged((put(-2), (0, -2)), timed=True).verdict == DIVERGES
    for steps in (SANE, ((put(-2), (-2, -2)), (GET, -2))):
        ended = judged(*steps, timed=True)
        assert (ended.verdict, len(ended.steps), ended.unsupported) == (CONFORMS, 1, {"get": ASTRAY})


def test_a_part_that_is_an_accident_is_not_compared_and_all_others_are() -> None:
    assert judged((put(1), (1, 5))).verdict == DIVERGES
    first = put(1), (1, 1)
    assert judged(first, (put(1), (2, 5)), (GET, 2)).verdict == CONFORMS
    assert judged(first, (put(1), (2, 5)), quirks=True).verdict == DIVERGES
    assert judged(first, (put(1), (3, 5))).verdict == DIVERGES


def test_a_planted_answer_stands_before_the_first_accident() -> None:
    judge = Judge(SUM, Profile(), quirks=False)
    assert carries(judge, [GET, put(-1)])
    assert not carries(judge, [put(-1), GET])
    assert carries(Judge(SUM, Profile()), [put(-1), GET])


@pytest.mark.parametrize("name", SUITES_WITH_ACCIDENTS)
@every("release", RELEASES)
def test_java_conforms_with_its_accidents_and_a_client_that_has_none_of_them_does(name: str, release: str) -> None:
    suite, profile = SUITES[name], Profile.of(release)
    judge, plans = Judge(suite, profile, quirks=False), sampler(suite, profile)
    for case in range(40):
        rows = plans.case(3, case, suite.steps)
        for client in (suite.bind(profile), suite.bind(profile.mended())):
            ended = judge.judge(rows, answering(client))
            assert (ended.verdict, len(ended.steps), ended.unsupported) == (CONFORMS, len(rows), {}), case


class answering:  # noqa: N801 - it is used as a function
    """Answers the steps of a case as a model does."""

    def __init__(self, bound: BoundModel) -> None:
        self._bound, self._state = bound, bound.initial

    def __call__(self, row: Row) -> Outcome:
        self._state, result, _ = self._bound.by_position[row[0]](self._state, *row[1])
        return outcome_of(result)  # type: ignore[arg-type]
