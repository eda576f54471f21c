"""What a broadcasting consumer makes of its files as it finds them, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.whole_files import WholeFilesModel, WholeFilesState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.whole_files import SUITE

MODEL = WholeFilesModel(Profile(), ORDINARY)
NOBODY = ((),)


def after(where: str, *steps: Any) -> tuple[WholeFilesState, Any, Any]:
    """The state, the last answer and its reason, once the consumer runs of a queue with offsets up to 12."""
    state, result, why = MODEL.prepare(MODEL.initial(), 1, "young", -1, where)
    for handler, *arguments in ((MODEL.join, 0), *steps):
        state, result, why = handler(state, *arguments)
    return state, result, why


@pytest.mark.parametrize(
    ("found", "given", "rule"),
    [
        # message 12 was consumed, and 13 came while it was away
        ("backup cut", (13, 1), "WHOLE-FILE"),
        ("backup lost", (13, 1), "WHOLE-FILE"),
        ("file longer", (13, 1), "WHOLE-FILE"),
        ("file older", (12, 2), "WHOLE-FILE"),
        ("file cut", (13, 1), "WHOLE-FILE-BACKUP"),
        ("file empty", (13, 1), "WHOLE-FILE-BACKUP"),
        ("file lost", (13, 1), "WHOLE-FILE-BACKUP"),
        ("file cut, backup older", (12, 2), "WHOLE-FILE-BACKUP"),
    ],
)
def test_one_goes_on_from_its_file_or_the_backup(found: str, given: tuple[int, int], rule: str) -> None:
    _, seen, why = after(LAST, (MODEL.come_back, 0, found))
    assert (seen[0], seen[1], why.rules[0], why.kind) == ((((0, 14),),), ((0, 0, *given),), rule, found)


def test_without_both_it_begins_as_one_that_was_never_there() -> None:
    lost = MODEL.come_back, 0, "both lost"
    for where, given in ((LAST, ()), (FIRST, ((0, 0, 0, 14),))):
        _, seen, why = after(where, lost)
        assert (seen[0], seen[1], why.rules[:2]) == ((((0, 14),),), given, ("WHOLE-FILE-BACKUP", "START-BC-1"))


@pytest.mark.parametrize("found", ["both cut", "file lost, backup cut"])
def test_one_that_cannot_read_its_files_does_not_start_however_often(found: str) -> None:
    steps = (MODEL.come_back, 0, found), (MODEL.send, EVERY), (MODEL.leave, 0), (MODEL.join, 0)
    for count in (1, 2, 4):
        state, seen, why = after(LAST, *steps[:count])
        assert (seen[0], seen[1]) == (NOBODY, ())
    assert (why.rules, why.kind) == (("WHOLE-FILE-REFUSED",), found)
    assert f"member-0 finds {'missing' if 'lost' in found else 'garbage'} and backup garbage" in SUITE.show(state)


def test_what_was_damaged_is_made_good_once_it_runs() -> None:
    back = MODEL.come_back, 0, "file cut"
    state, seen, _ = after(LAST, back, (MODEL.leave, 0), (MODEL.send, EVERY), (MODEL.join, 0))
    assert (seen[1], state.damaged) == (((0, 0, 14, 1),), {})
    assert after(LAST, back, (MODEL.join, 0))[1][0] == (((0, 14),),)


def test_one_that_does_not_run_does_not_come_back() -> None:
    assert (
        after(LAST, (MODEL.leave, 0), (MODEL.come_back, 0, "both cut"))[1]
        == after(LAST, (MODEL.leave, 0), (MODEL.look,))[1]
    )


@pytest.mark.parametrize("found", ["file cut", "both cut"])
def test_under_another_client_id_it_has_another_file(found: str) -> None:
    state, _, _ = after(LAST, (MODEL.look,))
    state, seen, why = MODEL.come_back(MODEL.learn(state, ("9-x",)), 0, found)
    assert (seen[0], why.kind) == ((((0, 14),),), "no file, and others begin elsewhere")
