"""What cases showed, from the answers that a player takes down to the rows of the tables."""

from __future__ import annotations

from array import array
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from rocketmq_conformance.conformance.campaign.tables import columns
from rocketmq_conformance.conformance.campaign.tables.behaviour_columns import BehaviourColumns, CaseBehaviours
from rocketmq_conformance.conformance.campaign.tables.behaviours import (
    NO_ANSWERS,
    RULES,
    AnswerRecorder,
    answer,
    transition,
)
from rocketmq_conformance.conformance.campaign.tables.packing import Packer, signed
from rocketmq_conformance.conformance.campaign.tables.schema import CASES, DIVERGENCES
from rocketmq_conformance.conformance.engine.doubt import Doubts
from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.player import Played, Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import UNDEFINED, Err, outcome_class
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, UNDECIDED, UNSUPPORTED
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.indeterminate import UNKNOWN
from rocketmq_conformance.suites.declare.sampler import sampler

pytestmark = pytest.mark.tables

ONE, TWO, THREE = Reason((RULES[0],), "empty"), Reason((RULES[0], RULES[-1]), "full"), Reason((RULES[1],), "empty")


def shown(showing: BehaviourColumns, answers: AnswerRecorder, steps: list[int]) -> CaseBehaviours:
    return showing.take(np.array(steps, np.int32), answers.take())


def by_case(found: CaseBehaviours) -> list[tuple[list[int], list[int]]]:
    """Ids of the answers and transitions of every case."""
    return [
        (
            found.answers.values[found.answers.ends[case - 1] if case else 0 : found.answers.ends[case]].tolist(),
            found.transitions.values[
                found.transitions.ends[case - 1] if case else 0 : found.transitions.ends[case]
            ].tolist(),
        )
        for case in range(len(found.rules))
    ]


def rules(found: CaseBehaviours, case: int) -> list[str]:
    bits = sum(int(word) << 64 * at for at, word in enumerate(found.rules[case]))
    return [rule for bit, rule in enumerate(RULES) if bits >> bit & 1]


def expected(suite: str, whys: list[Reason], results: list[object]) -> tuple[list[int], list[int]]:
    reasons = [(why.rules, why.kind) for why in whys]
    answers = {
        answer(suite, why, outcome_class(result))[0]  # type: ignore[arg-type]
        for why, result in zip(reasons, results, strict=True)
    }
    return sorted(answers), sorted({transition(suite, *pair)[0] for pair in pairwise(reasons)})


def test_a_case_shows_each_answer_and_transition_once() -> None:
    answers, showing = AnswerRecorder(), BehaviourColumns("s")
    whys, results = [ONE, ONE, TWO, ONE, ONE], [1, 2, None, 3, Err("CLIENT")]
    answers.add(whys, results)
    found = shown(showing, answers, [5])
    assert by_case(found) == [expected("s", whys, results)]
    assert [len(ids) for ids in by_case(found)[0]] == [3, 3]
    assert rules(found, 0) == sorted({RULES[0], RULES[-1]}, key=RULES.index)
    assert {behaviour[1:] for behaviour in showing.met.values()} == {
        ("answer", ONE.rules, "empty", outcome_class(1), (), ""),
        ("answer", ONE.rules, "empty", outcome_class(Err("CLIENT")), (), ""),
        ("answer", TWO.rules, "full", outcome_class(None), (), ""),
        ("transition", ONE.rules, "empty", "", ONE.rules, "empty"),
        ("transition", ONE.rules, "empty", "", TWO.rules, "full"),
        ("transition", TWO.rules, "full", "", ONE.rules, "empty"),
    }


def test_a_step_in_doubt_shows_no_rule() -> None:
    answers, showing = AnswerRecorder(), BehaviourColumns("remote-store")
    answers.add([UNKNOWN, ONE], [UNDEFINED, 1])
    found = shown(showing, answers, [1, 1])
    assert [rules(found, case) for case in (0, 1)] == [[], [RULES[0]]]


def test_cases_do_not_run_into_one_another() -> None:
    answers, showing = AnswerRecorder(), BehaviourColumns("s")
    for whys in ([ONE], [TWO, THREE], [THREE]):
        answers.add(whys, [None] * len(whys))
    found = shown(showing, answers, [0, 1, 0, 2, 1, 0])
    nothing: tuple[list[int], list[int]] = ([], [])
    assert by_case(found) == [
        nothing,
        expected("s", [ONE], [None]),
        nothing,
        expected("s", [TWO, THREE], [None, None]),
        expected("s", [THREE], [None]),
        nothing,
    ]
    assert [rules(found, case) for case in range(6)] == [[], [RULES[0]], [], [*RULES[:2], RULES[-1]], [RULES[1]], []]


def test_numbers_keep_their_meaning_from_part_to_part() -> None:
    answers, showing = AnswerRecorder(), BehaviourColumns("s")
    for whys, results in (
        ([ONE, TWO], [1, 1]),
        ([TWO, ONE], [1, 1]),
        ([THREE, ONE], [True, 1]),
        ([ONE, ONE], [1, "x"]),
    ):
        answers.add(whys, results)
        assert by_case(shown(showing, answers, [2])) == [expected("s", whys, results)]


def test_a_new_player_begins_anew() -> None:
    showing, first, second = BehaviourColumns("s"), AnswerRecorder(), AnswerRecorder()
    first.add([ONE, TWO], [1, 1])
    shown(showing, first, [2])
    second.add([THREE], [1])
    assert by_case(shown(showing, second, [1])) == [expected("s", [THREE], [1])]
    assert len(showing.met) == 4


def test_what_was_not_asked_about_is_forgotten_but_not_what_it_means() -> None:
    answers, showing = AnswerRecorder(), BehaviourColumns("s")
    answers.add([ONE, TWO], [1, 1])
    answers.forget()
    answers.add([TWO], [1])
    assert by_case(shown(showing, answers, [1])) == [expected("s", [TWO], [1])]


def test_very_many_different_answers_keep_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AnswerRecorder, "_MOST", 3)
    answers, showing = AnswerRecorder(), BehaviourColumns("s")
    for number in range(20):
        whys, results = [ONE, TWO, ONE], [number, -number, f"{number}"]
        answers.add(whys, results)
        assert by_case(shown(showing, answers, [3])) == [expected("s", whys, results)]


def test_two_reasons_that_say_the_same_are_one_behaviour() -> None:
    again = Reason(ONE.rules, ONE.kind)
    answers, showing = AnswerRecorder(), BehaviourColumns("s")
    answers.add([ONE, again, ONE], [1, 2, 3])
    assert [len(ids) for ids in by_case(shown(showing, answers, [3]))[0]] == [1, 1]


def test_a_suite_of_another_name_has_other_behaviours() -> None:
    assert answer("s", (ONE.rules, "empty"), "ok")[0] != answer("t", (ONE.rules, "empty"), "ok")[0]
    assert answer("s", (("A",), "B"), "C")[0] != answer("s", (("A", "B"), "C"), "")[0]


def test_answers_that_belong_to_no_step_are_an_error() -> None:
    answers = AnswerRecorder()
    answers.add([ONE, TWO], [1, 1])
    with pytest.raises(ValueError, match="3 steps have 2 answers"):
        shown(BehaviourColumns("s"), answers, [3])


def test_no_case_at_all() -> None:
    found = BehaviourColumns("s").take(np.zeros(0, np.int32), NO_ANSWERS)
    assert by_case(found) == []


# --- tables -----------------------------------------------------------------------------------------------------


def test_played_cases_become_the_rows_of_a_block() -> None:
    suite, seed = SUITES["remote-store"], 3
    answers = AnswerRecorder()
    stage = Stage(Port(), Profile())
    player, draw = Player(stage, Judge(suite, Profile(), answers)), sampler(suite, Profile())
    coverage = Judge(suite, Profile())
    showing, packer = BehaviourColumns(suite.name), Packer()
    parts, rows = [], []
    for numbers in (range(10, 14), range(14, 15), range(15, 17)):
        for number in numbers:
            plan = draw.case(seed, number, 9)
            if number == 15:
                played = Played(number, plan, COULD_NOT_RUN, 0, 0.5, "", "it fell ill")
            elif number == 16:
                judged = Judged(UNSUPPORTED, [], "not offered", {"b": "no", "a": "no"})
                played = Played(number, plan, UNSUPPORTED, 0, 0.5, "", "not offered", judged)
            else:
                played = player.one(number, plan)
            packer.add(played, comparable=number != 12)
            steps = coverage.expected(plan) if played.steps else []
            rows.append((played, [(step.why, step.expected) for step in steps]))
        packed = packer.take()
        parts.append((packed, showing.take(np.frombuffer(packed["steps"], np.int32), answers.take())))
    stage.close()
    table = columns.cases_table(10, "steered", {"port": parts})
    assert table.schema.equals(CASES)
    found = table.to_pylist()
    assert [row["case"] for row in found] == list(range(10, 17))
    for row, (played, given) in zip(found, rows, strict=True):
        assert (row["address"], row["arm"]) == ("port", "steered")
        assert (row["verdict"], row["steps"], row["reason"]) == (played.verdict, played.steps, played.reason)
        assert row["digest"] == (signed(played.digest) if played.digest and played.number != 12 else 0)
        assert row["seconds"] == pytest.approx(played.seconds)
        assert row["unsupported"] == (["a", "b"] if played.number == 16 else [])
        whys = [why for why, _ in given]
        assert (row["answers"], row["transitions"]) == expected(suite.name, whys, [result for _, result in given])
        assert set(row["rules"]) == {rule for why in whys for rule in why.rules}
        assert row["rules"] == sorted(row["rules"], key=RULES.index)
    assert [row["verdict"] for row in found] == [*[CONFORMS] * 5, COULD_NOT_RUN, UNSUPPORTED]


def test_addresses_follow_one_another_in_a_block() -> None:
    packed, nothing = Packer(), BehaviourColumns("s")
    parts = {}
    for address in ("a", "b"):
        packed.add(Played(0, [], CONFORMS, 0, 0.0, "00000000000000ff", ""), comparable=True)
        parts[address] = [(packed.take(), nothing.take(np.zeros(1, np.int32), NO_ANSWERS))]
    rows = columns.cases_table(0, "random", parts).to_pylist()
    assert [(row["address"], row["case"], row["digest"]) for row in rows] == [("a", 0, 255), ("b", 0, 255)]


def test_a_packer_that_gave_its_cases_away_is_empty() -> None:
    packer = Packer()
    packer.add(Played(0, [], CONFORMS, 3, 0.0, "0" * 16, "why"), comparable=True)
    assert len(packer) == 1
    assert array("i", packer.take()["steps"]).tolist() == [3]
    assert len(packer) == 0
    assert packer.take()["reasons"] == []


@pytest.mark.parametrize(("digest", "number"), [("0" * 16, 0), ("f" * 16, -1), ("8" + "0" * 15, -(1 << 63))])
def test_a_digest_is_a_signed_number_of_64_bits(digest: str, number: int) -> None:
    assert signed(digest) == number


def test_small_tables_have_their_schema_even_when_they_are_empty() -> None:
    row = (1, "port", "model", 2, "f", "read", ["A"], "empty", "1", "2", "items", "items")
    table = columns.table(DIVERGENCES, [row])
    assert table.schema.equals(DIVERGENCES)
    assert list(table.to_pylist()[0].values()) == [*row]
    assert columns.table(DIVERGENCES, []).schema.equals(DIVERGENCES)
    assert pa.types.is_dictionary(table.schema.field("address").type)


# --- as cases are played --------------------------------------------------------------------------------------------


def test_a_case_that_is_in_doubt_has_an_answer_for_each_of_its_steps() -> None:
    suite, answers = SUITES["remote-store"], AnswerRecorder()
    stage = Stage(open_mutant(MUTANTS["asks-no-zero"], Profile()), Profile())
    doubts = Doubts(replace(stage.adapter.hello(), configuration_unread="its configuration could not be read"))
    player, draw = Player(stage, Judge(suite, Profile(), answers), doubts), sampler(suite, Profile())
    played = [player.one(number, draw.case(1, number, 8)) for number in range(60)]
    stage.close()
    assert {one.verdict for one in played} == {CONFORMS, UNDECIDED}
    found = shown(BehaviourColumns(suite.name), answers, [one.steps for one in played])
    assert len(found.rules) == len(played)


def test_what_an_implementation_lacks_is_packed_of_cases_whose_other_steps_agreed_at_once() -> None:
    packer = Packer()
    packer.add(Played(0, [], CONFORMS, 1, 0.0, "0" * 16, unsupported={"clone": "it has none"}), comparable=True)
    assert packer.take()["unsupported"] == [(0, ["clone"])]
