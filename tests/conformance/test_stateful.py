"""Hypothesis machines for users' own tests: what is opened, judged, printed and skipped."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from unittest import SkipTest
from unittest.result import TestResult as Result

import pytest
from broken_adapters import Slow
from command_line import kit
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition

from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.engine import plan as plan_files
from rocketmq_conformance.conformance.stateful import ConformanceMachine
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.hypothesis import DrawnPlan, machine, plans
from rocketmq_conformance.models.outcome import Err, Outcome, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation

SUITE = SUITES["remote-store"]
READ = SUITE.index["read"]
#: A plan that shows a mutant, and one that shows nothing.
SHOWS, SHOWS_NOTHING = (DrawnPlan(SUITE, ((READ, (0, kind, "answer")),)) for kind in ("store", "memory"))


def result(made: type[ConformanceMachine], examples: int = 20) -> Result:
    """What unittest says of a machine's test, with the same few cases each time."""
    case = made.TestCase
    case.settings = settings(
        case.settings, max_examples=examples, derandomize=True, database=None, phases=(Phase.generate, Phase.shrink)
    )
    found = Result()
    case.setUpClass()
    case("runTest").run(found)
    case.tearDownClass()
    return found


def plan_file(folder: Path, plan: DrawnPlan) -> Path:
    """A file of a plan."""
    path = folder / "pinned.plan.jsonl"
    plan_files.write(path, plan.suite, Profile(), 0, [(0, list(plan.rows))])
    return path


@pytest.mark.parametrize("judged", ["port", Port, Port()], ids=["address", "factory", "adapter"])
def test_whatever_names_an_implementation_is_judged_by_it_twice(judged: str | Port | Callable[[], Port]) -> None:
    made = machine("remote-store", judged)
    for _ in range(2):
        found = result(made)
        assert (found.wasSuccessful(), found.skipped) == (True, [])


def test_a_difference_is_said_in_words() -> None:
    with pytest.raises(AssertionError) as found:
        machine("remote-store", "mutant:zero-is-none").play(SHOWS)
    for line in (
        "remote-store, step 1: read(queue=0, kind='store', fault='answer')",
        "skipped: A stored offset, 0, reads as none",
        "rule      OFF-R-READ (MUST): ",
        "expected  0\nobserved  -1",
    ):
        assert line in str(found.value)


def test_what_is_printed_of_the_plan_that_was_found_can_be_pasted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = result(machine("remote-store", "mutant:zero-is-none"), examples=100)
    assert len(found.failures) == 1
    printed = capsys.readouterr().out
    pasted = re.search(
        r"^rocketmq-conformance replay - mutant:zero-is-none <<'PLAN'\n(.*\n)PLAN$", printed, re.M | re.S
    )
    assert pasted
    plan = tmp_path / "standard input"
    plan.write_text(pasted[1])
    monkeypatch.setattr("rocketmq_conformance.conformance.cli.options.STANDARD_INPUT", plan)
    again = kit("replay", "-", "mutant:zero-is-none", cwd=tmp_path)
    assert again.returncode == 1
    assert "OFF-R-READ" in again.stdout


def test_a_pinned_plan_comes_before_the_search(tmp_path: Path) -> None:
    pinned = machine("remote-store", "mutant:zero-is-none", operations=["clone"], plans=[plan_file(tmp_path, SHOWS)])
    ((_, failure),) = result(pinned).failures
    assert "OFF-R-READ" in failure
    assert "pinned.plan.jsonl" in failure
    assert result(machine("remote-store", "mutant:zero-is-none", operations=["clone"])).wasSuccessful()


def test_a_plan_is_played_with_and_without_hypothesis_around_it(tmp_path: Path) -> None:
    right, wrong = machine("remote-store"), machine("remote-store", "mutant:zero-is-none")
    ((operation, answer),) = right.play(plan_file(tmp_path, SHOWS))
    assert (str(operation), answer) == ("read(queue=0, kind='store', fault='answer')", 0)
    with pytest.raises(AssertionError, match="OFF-R-READ"):
        wrong.play(SHOWS)

    @settings(max_examples=20, database=None, derandomize=True)
    @given(plans("remote-store", max_size=5))
    def within(plan: DrawnPlan) -> None:
        assert [operation for operation, _ in right.play(plan)] == plan.operations

    within()


def test_what_a_subclass_adds_holds_beside_the_suite() -> None:
    Right = machine("remote-store")  # noqa: N806 - a class

    class Narrower(Right):  # type: ignore[misc, valid-type]
        update = precondition(lambda self: len(self.answers) > 2)(Right.update)

        @invariant()
        def not_updated_at_once(self) -> None:
            assert [op.spec.name for op, _ in self.answers[:2]].count("update") == 0
            assert isinstance(self.adapter, Port)

        @invariant()
        def few(self) -> None:
            assert len(self.answers) < 12, "many steps"

    assert len(Right.play(SHOWS)) == 1
    ((_, failure),) = result(Narrower).failures
    assert "many steps" in failure
    with pytest.raises(AssertionError, match="many steps"):
        Narrower.play(DrawnPlan(SUITE, SHOWS.rows * 12))


class Nothing(Slow):
    """It answers nothing that decides anything."""

    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        return Unsupported("not written yet")


class Elsewhere(Slow):
    """It has no suite of a client."""

    def hello(self) -> Hello:
        return Hello("elsewhere", "1", sides=("broker",))


@pytest.mark.parametrize(
    ("adapter", "reason"), [(Nothing, "no case decided anything"), (Elsewhere, "remote-store is unsupported: ")]
)
def test_what_decides_nothing_is_no_pass(adapter: type[Slow], reason: str) -> None:
    made = machine("remote-store", adapter)
    try:
        ((_, skipped),) = result(made).skipped
    except SkipTest as error:
        skipped = str(error)
    assert skipped.startswith(reason)


def test_operations_that_the_releases_lack_are_left_out() -> None:
    made = machine("allocation", releases={"client": "4.0.0"}, operations=["allocate_averagely", "allocate_nearby"])
    assert result(made, examples=5).wasSuccessful()
    lacking = made.suite.index["allocate_nearby"]
    row = (lacking, made.suite.operations[lacking].spec.draw(First()))
    with pytest.raises(SkipTest, match="plays allocate_nearby, which client 4"):
        made.play(DrawnPlan(made.suite, (row,)))


class First:
    """Choices that are the first of each."""

    def below(self, n: int) -> int:
        return 0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda folder: machine("remote"),
            "No suite is called 'remote': `rocketmq-conformance list suites` names",
        ),
        (lambda folder: machine("remote-store", operations=["sit"]), "remote-store has no operation 'sit': it has"),
        (lambda folder: machine("pull", plans=[plan_file(folder, SHOWS)]), "is a plan of remote-store, not of pull."),
        (lambda folder: machine("pull", plans=[folder / "none"]), "cannot be read (No such file or directory)"),
        (lambda folder: machine("pull", "porter").play(DrawnPlan(SUITES["pull"], ())), "porter"),
    ],
)
def test_what_does_not_exist_is_said_in_a_sentence(
    call: Callable[[Path], object], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        call(tmp_path)


@given(st.data())
@settings(max_examples=5, database=None, derandomize=True)
def test_an_error_is_an_answer_too(data: st.DataObject) -> None:
    made = machine("remote-store")
    plan = data.draw(st.just(DrawnPlan(SUITE, ((READ, (0, "store", "SYSTEM_ERROR")),))))
    ((_, answer),) = made.play(plan)
    assert isinstance(answer, Err) or answer == -2
