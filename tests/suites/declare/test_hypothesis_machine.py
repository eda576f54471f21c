"""The Hypothesis machines: they are made from the declarations, pass the port, and find what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from every import every
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS as MUTANTS
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Result, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.hypothesis_machine import HypothesisChoices, arguments, machine, play_plan
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

PROFILE = Profile()
WHY = Reason(("R-SUM",), "any")


def play(suite: Suite, playground: Any, examples: int = 30, steps: int = 15) -> None:
    """Run a machine; the same examples every time."""
    run_state_machine_as_test(
        machine(suite, playground),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=True,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.fixture
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """The port, or the mutant that the test's parameter names."""
    name = getattr(request, "param", "")
    made = Stage(Port(MUTANTS[name].parts if name else None), PROFILE)
    yield made
    made.close()


@pytest.mark.parametrize("name", [name for name, suite in SUITES.items() if suite.side is not Side.BROKER])
def test_the_port_passes(name: str, stage: Stage) -> None:
    play(SUITES[name], stage, examples=10)


@pytest.mark.parametrize(
    ("stage", "suite", "rule"),
    [
        ("zero-is-none", "remote-store", "OFF-R-READ"),
        ("sends-next", "remote-store", "OFF-R-P"),
        ("remainder-to-last", "allocation", "ALLOC-AVG-1"),
    ],
    indirect=["stage"],
)
def test_a_fault_is_found_and_its_rule_is_named(stage: Stage, suite: str, rule: str) -> None:
    with pytest.raises(AssertionError, match=rf"expected .+, observed .+ \({rule}"):
        play(SUITES[suite], stage, examples=200, steps=30)


@every("suite", SUITES.values())
def test_a_machine_has_a_rule_for_every_operation_that_the_release_has(suite: Suite) -> None:
    for release in ("4.0.0", "5.5.0"):
        profile = Profile.of(release, release)
        made = machine(suite, Stage(Port(), profile))
        names = set(suite.index) & set(vars(made))
        assert names == {suite.operations[at].spec.name for at in suite.offered(profile)}
    assert made.__name__.endswith("Machine")


@operation("Add a number to the sum.")
class Add(Operation):
    number: Annotated[int, Values(1, 2)]


@operation("Say the sum, once there is one.", guard=lambda state: state > 0)
class Sum(Operation):
    pass


@operation("Tell a number: it becomes the sum.", observes=True)
class Tell(Operation):
    pass


def add(state: int, number: int) -> Answer[int]:
    return state + number, None, WHY


def total(state: int) -> Answer[int]:
    return state, state, WHY


def tell(state: int, observed: Result) -> Answer[int]:
    known = observed if type(observed) is int else 0
    return known, known, WHY


BOUND = BoundModel(0, {Add: add, Sum: total, Tell: tell})
SUMS = Suite(name="sums", sentence="Sums.", side=Side.CLIENT, bind=lambda profile: BOUND)


class Adder:
    """A playground that notes what is played."""

    profile = PROFILE
    times = None

    def __init__(self, result: int = 40, refuses: Outcome | None = None) -> None:
        self.result, self.refuses = result, refuses
        self.sum = 0
        self.begun = 0
        self.asked_without_a_sum = False
        self.played: set[int] = set()

    def begin(self, suite: Suite, number: int) -> None:
        self.begun += 1
        self.sum = 0

    def do(self, suite: Suite, row: Row) -> Outcome:
        self.played.add(row[0])
        if row[0] == 2:
            self.sum = self.result
            return Ok(self.result)
        if row[0] == 1:
            self.asked_without_a_sum |= self.sum == 0
            return Ok(self.sum)
        if self.refuses is not None:
            return self.refuses
        self.sum += row[1][0]
        return Ok()


def test_guards_are_honoured_and_observations_taken_over() -> None:
    adder = Adder()
    play(SUMS, adder)
    assert adder.played == {0, 1, 2}
    assert not adder.asked_without_a_sum
    assert adder.begun >= 30


@pytest.mark.parametrize("refusal", [Unsupported("no adding"), Err("TIMEOUT", definite=False)], ids=str)
def test_what_was_not_done_changes_no_state(refusal: Outcome) -> None:
    adder = Adder(refuses=refusal)
    play(SUMS, adder)
    assert adder.played == {0, 1, 2}


def test_an_answer_of_another_type_is_a_difference() -> None:
    with pytest.raises(AssertionError, match="expected 0, observed False"):
        play(SUMS, Adder(result=False))


def test_a_plan_is_played_by_the_rules_of_the_machine_without_the_steps_that_it_does_not_allow() -> None:
    adder = Adder()
    play_plan(machine(SUMS, adder), SUMS, "mine", [(1, ()), (0, (2,)), (1, ()), (2, ()), (1, ())])
    assert adder.begun == 1
    assert adder.played == {0, 1, 2}
    assert not adder.asked_without_a_sum
    assert adder.sum == 40


def test_a_diverging_plan_is_printed_like_an_example_of_hypothesis() -> None:
    with pytest.raises(AssertionError, match=r"tell\(\): expected 0, observed False \(R-SUM: any\)") as failed:
        play_plan(machine(SUMS, Adder(result=False)), SUMS, "mine", [(0, (1,)), (2, ()), (0, (2,))])
    assert [line.strip() for note in failed.value.__notes__ for line in note.splitlines()] == [
        "Failing explicit example: conforms(",
        "plan='mine',",
        ")",
        "state = SumsMachine()",
        "state.add(number=1)",
        "state.tell()",
        "state.teardown()",
    ]


@given(st.data())
def test_choices_lie_below_their_bound(data: st.DataObject) -> None:
    choices = HypothesisChoices(data.draw)
    for bound in (1, 2, 7, 1 << 62):
        assert 0 <= choices.below(bound) < bound


@pytest.mark.parametrize("name", ["allocate_nearby", "sort_members", "place_text"])
def test_arguments_that_are_drawn_together_are_arguments(name: str) -> None:
    spec = next(op.spec for op in SUITES["allocation"].operations if op.spec.name == name)

    @settings(max_examples=20, database=None)
    @given(**arguments(spec))
    def check(args: tuple[Any, ...]) -> None:
        assert len(args) == len(spec.domains)

    check()
