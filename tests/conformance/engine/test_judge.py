"""Judging: agreement, difference, doubt; what coverage counts; fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import pytest
from every import every

from rocketmq_conformance.conformance.engine.judge import Coverage, Judge, Judged, digest, fingerprint_of, wrong
from rocketmq_conformance.models.outcome import UNDEFINED, Err, Ok, Outcome, Result, Unsupported, agrees, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, UNDECIDED, UNSUPPORTED
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

ADDED, EVEN, ODD, TOLD, ANY = (
    Reason(("R-ADD",), "added"),
    Reason(("R-SUM", "R-EVEN"), "even"),
    Reason(("R-SUM",), "odd"),
    Reason(("R-TELL",), "told"),
    Reason(("R-ANY",), "any"),
)


@operation("Add a number to the sum.")
class Add(Operation):
    number: Annotated[int, Values(0, 1, 2)]


@operation("Say the sum.")
class Sum(Operation):
    pass


@operation("Say the sum, once there is one.", guard=lambda state: state > 0)
class SumIfAny(Operation):
    pass


@operation("Tell a number: it becomes the sum.", observes=True)
class Tell(Operation):
    pass


@operation("Answer anything.")
class Whatever(Operation):
    pass


def add(state: int, number: int) -> Answer[int]:
    return state + number, None, ADDED


def total(state: int) -> Answer[int]:
    return state, state, ODD if state % 2 else EVEN


def tell(state: int, observed: Result) -> Answer[int]:
    known = observed if type(observed) is int else 0
    return known, known, TOLD


def whatever(state: int) -> Answer[int]:
    return state, UNDEFINED, ANY


def made(*ops: type[Operation], name: str = "sums") -> Suite:
    handlers = {Add: add, Sum: total, SumIfAny: total, Tell: tell, Whatever: whatever}
    bound = BoundModel(0, {op: handlers[op] for op in ops})
    return Suite(name=name, sentence="Sums.", side=Side.CLIENT, bind=lambda profile: bound)


SHOWN = Reason(("R-SHOW",), "shown", beneath=("R-BELOW",))
BENEATH = Suite(
    name="shows",
    sentence="Shows.",
    side=Side.CLIENT,
    bind=lambda profile: BoundModel(0, {Sum: lambda state: (state, 0, SHOWN)}),
)
SUMS, GUARDED = made(Add, Sum, Whatever), made(Add, SumIfAny, Whatever)
TOLD_SUMS = made(Add, Sum, Tell)
ADD_1, ADD_2, SUM, WHATEVER = (0, (1,)), (0, (2,)), (1, ()), (2, ())
TELL = (2, ())


class Adder:
    """The implementation; ``answers`` replaces its answers by step."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {int(step[1:]): answer for step, answer in answers.items()}
        self.sum = 0
        self.played: list[Row] = []

    def do(self, row: Row) -> Outcome:
        self.played.append(row)
        if row[0] == 0:
            self.sum += row[1][0]
        answer = Ok(self.sum if row[0] else None)
        return self.answers.get(len(self.played) - 1, answer)  # type: ignore[no-any-return]


def judged(suite: Suite, rows: Sequence[Row], **answers: Any) -> Judged:
    return Judge(suite, Profile()).judge(rows, Adder(**answers).do)


def test_a_case_that_agrees_conforms_and_keeps_its_steps() -> None:
    found = judged(SUMS, [ADD_1, ADD_2, SUM])
    assert found.verdict == CONFORMS
    assert found.rows == [ADD_1, ADD_2, SUM]
    assert found.steps[-1] == Step(SUM, 3, 3, 3, 3, ODD)


def test_nothing_is_played_after_the_first_difference() -> None:
    adder = Adder(s1=Ok(9))
    found = Judge(SUMS, Profile()).judge([ADD_1, SUM, ADD_2, SUM], adder.do)
    assert found.verdict == DIVERGES
    assert adder.played == [ADD_1, SUM]
    assert found.steps[-1] == Step(SUM, 1, 1, 1, 9, ODD)


@pytest.mark.parametrize("answer", [Ok(True), Ok("1"), Ok((1,)), Ok(None), Err("CLIENT")], ids=str)
def test_types_count(answer: Outcome) -> None:
    assert judged(SUMS, [ADD_1, SUM], s1=answer).verdict == DIVERGES


def test_an_outcome_that_decides_nothing_ends_the_case() -> None:
    adder = Adder(s1=Err("TIMEOUT", definite=False))
    found = Judge(SUMS, Profile()).judge([ADD_1, SUM, SUM], adder.do)
    assert found.verdict == UNDECIDED
    assert found.reason == "sum() ended in TIMEOUT, which decides nothing"
    assert found.rows == [ADD_1]
    assert len(adder.played) == 2


def test_an_answer_that_the_rules_leave_open_ends_the_case_and_names_them() -> None:
    gap = Reason(("R-GAP",), "a gap", unpromised=True)
    bound = BoundModel(0, {Add: add, Sum: lambda state: (state, state, gap)})
    suite = Suite(name="gaps", sentence="Gaps.", side=Side.CLIENT, bind=lambda profile: bound)
    adder = Adder()
    found = Judge(suite, Profile()).judge([ADD_1, SUM, ADD_2], adder.do)
    assert (found.verdict, found.reason) == (UNDECIDED, "sum: a gap (R-GAP)")
    assert (found.rows, len(adder.played)) == ([ADD_1], 2)


def test_what_is_not_offered_is_left_out_and_named() -> None:
    found = judged(SUMS, [ADD_1, ADD_2, SUM], s1=Unsupported("no twos"), s2=Ok(1))
    assert found.verdict == CONFORMS
    assert found.rows == [ADD_1, SUM]
    assert found.unsupported == {"add": "no twos"}


def test_a_case_without_a_step_that_could_be_played_is_unsupported() -> None:
    found = judged(SUMS, [SUM], s0=Unsupported("no sums"))
    assert found.verdict == UNSUPPORTED
    assert found.reason == "no sums"


@pytest.mark.parametrize("answer", [Ok(), Ok(17), Err("CLIENT")], ids=str)
def test_where_nothing_is_promised_everything_is_accepted(answer: Outcome) -> None:
    assert judged(SUMS, [WHATEVER, SUM], s0=answer).verdict == CONFORMS


def test_a_model_that_observes_goes_on_from_what_it_saw() -> None:
    assert judged(TOLD_SUMS, [TELL, SUM], s0=Ok(40), s1=Ok(40)).verdict == CONFORMS
    assert judged(TOLD_SUMS, [TELL, SUM], s0=Ok(40), s1=Ok(41)).verdict == DIVERGES
    assert judged(TOLD_SUMS, [TELL], s0=Ok("x")).verdict == DIVERGES


def test_a_model_goes_on_from_the_client_ids_that_were_seen() -> None:
    learns = replace(SUMS.bind(Profile()), learn=lambda state, clients: len(clients[0]))
    suite = Suite(name="ids", sentence="Ids.", side=Side.WHOLE, bind=lambda profile: learns)
    assert judged(suite, [SUM, SUM], s0=Ok(3, ("abc",)), s1=Ok(3)).verdict == CONFORMS
    assert judged(suite, [SUM], s0=Ok(0, ("abc",))).steps[0].expected == 3
    assert judged(suite, [SUM], s0=Err("ENDED", clients=("abc",))).steps[0].expected == 3
    # they change nothing where no answer depends on them
    assert judged(SUMS, [SUM], s0=Ok(0, ("abc",))).verdict == CONFORMS


def test_a_step_that_its_guard_forbids_is_not_played() -> None:
    adder = Adder()
    found = Judge(GUARDED, Profile()).judge([SUM, ADD_1, SUM], adder.do)
    assert found.verdict == CONFORMS
    assert adder.played == found.rows == [ADD_1, SUM]
    assert [step.row for step in Judge(GUARDED, Profile()).expected([SUM, ADD_1, SUM])] == [ADD_1, SUM]


def test_a_suite_that_observes_is_not_judged_at_once() -> None:
    assert Judge(TOLD_SUMS, Profile()).agrees_at_once([ADD_1, SUM], lambda rows: pytest.fail("played")) is None


def test_a_case_of_which_the_guards_leave_nothing_is_not_judged_at_once() -> None:
    assert Judge(GUARDED, Profile()).agrees_at_once([SUM], lambda rows: pytest.fail("played")) is None


def test_answers_of_all_steps_say_nothing_at_once_where_guards_leave_some_out() -> None:
    assert Judge(GUARDED, Profile()).agrees_with([ADD_1, SUM], [None, 1]) is None


def played_by(adder: Adder) -> Callable[[Sequence[Row]], list[Any]]:
    return lambda rows: [result_of(adder.do(row)) for row in rows]


@every("suite", [SUMS, GUARDED])
def test_a_case_is_judged_at_once_as_it_is_step_by_step(suite: Suite) -> None:
    rows = [SUM, ADD_1, SUM, WHATEVER, ADD_2, SUM]
    slow, fast = Judge(suite, Profile()), Judge(suite, Profile())
    adder, other = Adder(), Adder()
    found = slow.judge(rows, adder.do)
    at_once = fast.agrees_at_once(rows, played_by(other))
    assert at_once == (digest(found), len(found.steps))
    assert other.played == adder.played
    assert slow.coverage.rows() == fast.coverage.rows()


@pytest.mark.parametrize("answer", [Ok(True), Ok(2), Err("CLIENT")], ids=str)
def test_a_case_that_differs_is_not_taken_at_once_nor_counted(answer: Outcome) -> None:
    judge, adder = Judge(SUMS, Profile()), Adder(s1=answer)
    assert judge.agrees_at_once([ADD_1, SUM], played_by(adder)) is None
    assert judge.coverage.rows() == []


def test_digests_differ_with_results_only() -> None:
    rows = [ADD_1, WHATEVER, SUM]
    assert digest(judged(SUMS, rows)) == digest(judged(SUMS, rows, s1=Ok("else")))
    assert digest(judged(SUMS, rows)) != digest(judged(SUMS, [ADD_2, WHATEVER, SUM]))
    assert digest(judged(SUMS, rows)) != digest(judged(SUMS, rows, s2=Ok(True)))
    assert len(digest(judged(SUMS, rows))) == 16


def test_coverage_counts_rules_kinds_and_classes() -> None:
    judge = Judge(SUMS, Profile())
    judge.judge([ADD_1, SUM, ADD_1, SUM, SUM, WHATEVER], Adder().do)
    judge.judge([SUM], Adder().do)
    assert judge.coverage.rows() == [
        ["R-ADD", "added", "done", 2],
        ["R-ANY", "any", "undefined", 1],
        ["R-EVEN", "even", "positive", 2],
        ["R-EVEN", "even", "zero", 1],
        ["R-SUM", "even", "positive", 2],
        ["R-SUM", "even", "zero", 1],
        ["R-SUM", "odd", "positive", 1],
    ]


def test_steps_that_differ_and_cases_that_decide_nothing_prove_no_rule() -> None:
    judge = Judge(SUMS, Profile())
    judge.judge([ADD_1, SUM, ADD_1, SUM], Adder(s3=Ok(7)).do)
    assert judge.unproven == {"R-SUM": 1, "R-EVEN": 1}
    judge = Judge(SUMS, Profile())
    found = judge.judge([ADD_1, SUM, SUM], Adder(s2=Err("TIMEOUT", definite=False)).do)
    assert (found.verdict, judge.unproven) == (UNDECIDED, {"R-ADD": 1, "R-SUM": 1})


def test_a_case_that_decides_nothing_after_all_proves_no_rule() -> None:
    judge = Judge(SUMS, Profile())
    found = judge.judge([ADD_1, SUM], Adder(s1=Ok(7)).do, count=False)
    assert (found.verdict, judge.unproven) == (DIVERGES, {})
    judge.count(replace(found, verdict=UNSUPPORTED))
    assert judge.unproven == {"R-ADD": 1, "R-SUM": 1}


def test_rules_beneath_a_reason_are_counted_with_it() -> None:
    judge = Judge(BENEATH, Profile())
    judge.judge([(0, ())], lambda row: Ok(0))
    judge.judge([(0, ())], lambda row: Ok(7))
    assert judge.coverage.rows() == [["R-BELOW", "shown", "zero", 2], ["R-SHOW", "shown", "zero", 2]]
    assert judge.unproven == {"R-SHOW": 1, "R-BELOW": 1}


def test_a_rule_that_would_not_have_shown_is_not_proven() -> None:
    judge = Judge(BENEATH, Profile())
    for observed in (0, 7):
        judge.judge([(0, ())], lambda row, observed=observed: Ok(observed, unshown=frozenset({"R-BELOW", "R-OTHER"})))
    assert judge.unproven == {"R-SHOW": 1, "R-BELOW": 2}


def test_what_is_played_while_shrinking_is_not_counted() -> None:
    judge = Judge(SUMS, Profile())
    judge.judge([ADD_1, SUM], Adder().do, count=False)
    assert judge.coverage.rows() == []


def test_coverage_forgets_nothing_however_many_results_there_are() -> None:
    coverage = Coverage()
    many = 3 * Coverage._MOST
    for start in range(0, many, 1000):
        numbers = range(start + 1, min(start + 1000, many) + 1)
        coverage.add([ODD] * len(numbers), list(numbers))
    assert coverage.rows() == [["R-SUM", "odd", "positive", many]]


def test_a_fingerprint_is_blind_to_values_and_to_nothing_else() -> None:
    def fingerprint(suite: Suite, rows: Sequence[Row], **answers: Any) -> str:
        return fingerprint_of(suite, judged(suite, rows, **answers).steps[-1])

    base = fingerprint(SUMS, [ADD_1, SUM], s1=Ok(7))
    assert fingerprint(SUMS, [ADD_2, ADD_2, ADD_1, SUM], s3=Ok(99)) == base
    assert fingerprint(SUMS, [ADD_2, SUM], s1=Ok(7)) == base  # another kind of state
    others = {
        fingerprint(SUMS, [ADD_1, SUM], s1=Ok(-7)),
        fingerprint(SUMS, [ADD_1, SUM], s1=Err("CLIENT")),
        fingerprint(SUMS, [ADD_1], s0=Ok(7)),
        fingerprint(made(Add, Sum, name="others"), [ADD_1, SUM], s1=Ok(7)),
    }
    assert base not in others
    assert len(others) == 4


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    assert fingerprint_of(SUMS, Step(SUM, 1, 1, 1, 9, ODD)) == "ba19c8bd"


@every("result", [None, True, False, 0, -1, 2**53, "", "a", (), (1, 2), ((0, 12),), Err("CLIENT")])
def test_a_planted_answer_is_always_wrong(result: Result) -> None:
    assert not agrees(result, wrong(result))


@every("suite", [suite for suite in SUITES.values() if not any(op.spec.observes for op in suite.operations)])
def test_the_model_agrees_with_itself(suite: Suite) -> None:
    judge = Judge(suite, Profile())
    rows = sampler(suite, Profile()).case(2, 0, suite.steps)
    answers = iter([step.expected for step in judge.expected(rows)])

    def do(row: Row) -> Outcome:
        expected_answer = next(answers)
        return (
            expected_answer
            if isinstance(expected_answer, Err)
            else Ok()
            if expected_answer is UNDEFINED
            else Ok(expected_answer)
        )  # type: ignore[arg-type]

    assert judge.judge(rows, do).verdict == CONFORMS
