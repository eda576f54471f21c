"""Programs with whole push consumers of two groups, as their traffic shows them, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_groups import FIRST, SECOND, WholeGroupsModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeGroupsModel(Profile(), ORDINARY)
NOBODY = (-1, -1)
BEGUN = (MODEL.prepare, 12, 11, LAST)
ONE = BEGUN, (MODEL.join, 0)
BOTH = *ONE, (MODEL.also, 0)
SHARED = *BOTH, (MODEL.join, 1), (MODEL.also, 1)


def seen(*steps: Any) -> tuple[Any, tuple[str, ...], str]:
    """The last answer, and the rules and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, why.rules, why.kind


def test_each_group_has_its_own_offsets_and_messages() -> None:
    assert seen(*ONE)[0] == (((0, 12), (0, 12), NOBODY, NOBODY), (), (12, 12, 11, 11))
    answer, rules, kind = seen(*BOTH)
    assert answer[1] == ((0, 2, 11, 1), (0, 3, 11, 1))
    assert (answer[0][2:], rules[0], kind) == (((0, 12), (0, 12)), "CID-SHARE", "another group")
    answer, rules, kind = seen(*BOTH, (MODEL.send, 0))
    assert answer == (
        ((0, 13), (0, 12), (0, 13), (0, 12)),
        ((0, 0, 12, 1), (0, 2, 12, 1)),
        (13, 12, 13, 12),
    )
    assert (rules[0], kind) == ("CID-SHARE", "messages are given, of two groups")
    alone, rules, _ = seen(*ONE, (MODEL.send, EVERY))
    assert (alone[1], "CID-SHARE" in rules) == (((0, 0, 12, 1), (0, 1, 12, 1)), False)


def test_each_group_divides_the_queues_among_its_own_members() -> None:
    answer, rules, _ = seen(*BOTH, (MODEL.join, 1))
    assert [owner for owner, _ in answer[0]] == [0, 1, 0, 0]
    assert {"WHOLE-SHARE", "REB-SVC-WAKE"} <= {*rules}
    answer, rules, _ = seen(*SHARED)
    assert [owner for owner, _ in answer[0]] == [0, 1, 0, 1]
    assert {"CID-SHARE", "REB-SVC-WAKE"} <= {*rules}


def test_the_end_of_one_consumer_leaves_the_other_at_work() -> None:
    for group, owners in ((FIRST, [1, 1, 0, 1]), (SECOND, [0, 1, 1, 1])):
        answer, rules, kind = seen(*SHARED, (MODEL.end, 0, group))
        assert [owner for owner, _ in answer[0]] == owners
        assert (rules[0], kind) == ("CID-SHARE", "one of two groups ends")
    # it starts again, whichever it was
    assert seen(*SHARED, (MODEL.end, 0, FIRST), (MODEL.also, 0))[0][0] == seen(*SHARED)[0][0]


def test_a_program_ends_with_all_that_it_has() -> None:
    answer, rules, kind = seen(*SHARED, (MODEL.leave, 0))
    assert ([owner for owner, _ in answer[0]], rules[0], kind) == ([1] * 4, "CID-SHARE", "both groups end")
    ended = *BOTH, (MODEL.end, 0, FIRST), (MODEL.leave, 0)
    assert seen(*ended)[0][0] == (NOBODY,) * 4
    assert "CID-SHARE" not in seen(*ended)[1]
    assert seen(*ended, (MODEL.join, 0))[0][0][:2] == seen(*ONE)[0][0][:2]


def test_nothing_happens_where_a_program_does_not_run_or_has_both_or_one() -> None:
    for before, operation in (
        (ONE, (MODEL.join, 0)),
        (ONE, (MODEL.end, 0, FIRST)),
        (ONE, (MODEL.also, 1)),
        (BOTH, (MODEL.also, 0)),
        (ONE, (MODEL.leave, 1)),
    ):
        assert seen(*before, operation) == seen(*before, (MODEL.look,))
    assert seen(*BOTH, (MODEL.prepare, NOTHING, NOTHING, LAST), (MODEL.look,))[0] == seen(*BOTH, (MODEL.look,))[0]


def test_the_first_group_stands_for_what_fails() -> None:
    state = MODEL.learn(MODEL.initial(), ("1@x",))
    assert state.group is state.first.group
    assert state.second.group.clients == {"member-0": "1@x"}
