"""Requests of a broker as one effect and as the steps that Java takes: which histories each of them allows."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.overlapping import (
    UNSEEN,
    Answers,
    Overlapped,
    Request,
    key,
    touched,
)
from rocketmq_conformance.models.linearizability import Call, linearize
from rocketmq_conformance.models.profile import Profile

NEW, OLD, SKIPS = (BrokerRules.of(Profile.of(broker=release)) for release in ("5.5.0", "4.9.7", "5.2.0"))
#: (kind, client, arguments, sent, answered, answer)
Line = tuple[str, int, tuple[Any, ...], int, int | None, Any]


def _linearizable(lines: list[Line], rules: BrokerRules = NEW, *, in_steps: bool = False) -> bool:
    answers = Answers(rules)
    effects = answers.in_steps if in_steps else answers.at_once
    calls = [
        Call(sent, answered, effects(Request(kind, by, args), UNSEEN if answered is None else said))
        for kind, by, args, sent, answered, said in lines
    ]
    return linearize(Overlapped(), calls, key).stuck is None


def _verdicts(lines: list[Line], rules: BrokerRules = NEW) -> tuple[bool, bool]:
    """Is the history right as single moments, and as steps?"""
    return _linearizable(lines, rules), _linearizable(lines, rules, in_steps=True)


def test_the_first_commits_of_a_topic_may_undo_one_another_by_steps_alone() -> None:
    lost: list[Line] = [
        ("commit", 0, (0, 5, True), 0, 3, None),
        ("commit", 1, (1, 7, True), 1, 2, None),
        ("query", 1, (0,), 4, 5, 5),
        ("query", 1, (1,), 6, 7, "QUERY_NOT_FOUND"),
    ]
    assert _verdicts(lost) == (False, True)
    # with a table from before, both are kept
    table: list[Line] = [("commit", 2, (0, 1, True), -2, -1, None)]
    assert _verdicts([*table, *lost]) == (False, False)
    # one that still writes to a table that was replaced is lost, too
    replaced: list[Line] = [
        ("commit", 0, (0, 5, True), 0, 9, None),
        ("commit", 1, (0, 6, True), 1, 2, None),
        ("commit", 2, (1, 7, True), 3, 8, None),
        ("query", 1, (1,), 10, 11, "QUERY_NOT_FOUND"),
        ("query", 1, (0,), 12, 13, 5),
    ]
    assert _verdicts(replaced) == (False, True)


def test_a_commit_beside_a_reset_may_replace_it_by_steps_alone() -> None:
    torn: list[Line] = [
        ("send", 2, (0,), -4, -3, 0),
        ("reset", 1, (0, 1), 1, 4, None),
        ("commit", 0, (0, 5, True), 0, 5, None),
        ("pull", 1, (0, 0), 6, 7, ("PULL_OFFSET_MOVED", 1, ())),
        ("query", 1, (0,), 8, 9, 5),
    ]
    assert _verdicts(torn, NEW) == (False, True)
    assert not _linearizable([*torn[:4], ("query", 1, (0,), 8, 9, 6)], in_steps=True)
    # the reset is stored only where a table was there before
    unstored = [torn[0], torn[1], torn[3], ("query", 1, (0,), 8, 9, 0)]
    assert _verdicts(unstored, SKIPS) == (True, True)
    assert _verdicts(unstored, NEW) == (False, False)
    stored: Line = ("commit", 0, (0, 3, True), -2, -1, None)
    assert _verdicts([stored, *unstored], SKIPS) == (False, False)


def test_a_query_fails_when_a_pull_takes_the_reset_that_it_has_seen() -> None:
    failed: list[Line] = [
        ("reset", 0, (0, 0), 0, 1, None),
        ("query", 1, (0,), 2, 5, "SYSTEM_ERROR"),
        ("pull", 2, (0, 0), 3, 4, ("PULL_OFFSET_MOVED", 0, ())),
    ]
    assert _verdicts(failed) == (False, True)
    assert _verdicts([failed[0], ("query", 1, (0,), 2, 5, 0), failed[2]]) == (True, True)
    # a commit that comes while a reset is pending is discarded
    discarded: list[Line] = [failed[0], ("commit", 1, (0, 9, True), 2, 3, None), ("query", 1, (0,), 4, 5, 0)]
    assert _verdicts(discarded) == (True, True)


def test_a_reset_that_is_refused_changes_nothing() -> None:
    refused: list[Line] = [("reset", 0, (0, 4), 0, 1, "SYSTEM_ERROR"), ("query", 1, (0,), 2, 3, "QUERY_NOT_FOUND")]
    assert _verdicts(refused) == (True, True)


def test_a_member_that_registers_while_the_last_one_leaves_may_be_forgotten_by_steps_alone() -> None:
    forgotten: list[Line] = [
        ("join", 0, (), 0, 1, None),
        ("leave", 0, (), 2, 5, None),
        ("join", 1, (), 3, 4, None),
        ("list", 2, (), 6, 7, "SYSTEM_ERROR"),
    ]
    assert _verdicts(forgotten) == (False, True)
    assert _verdicts([*forgotten[:3], ("list", 2, (), 6, 7, ("two",))]) == (True, True)
    assert _verdicts([*forgotten[:3], ("list", 2, (), 6, 7, ("one", "two"))]) == (False, False)
    # one that still registers in a group that was removed
    late: list[Line] = [
        ("join", 0, (), 0, 1, None),
        ("join", 1, (), 2, 9, None),
        ("leave", 0, (), 3, 4, None),
        ("join", 2, (), 5, 6, None),
        ("list", 2, (), 10, 11, ("three",)),
    ]
    assert _verdicts(late) == (False, True)
    assert _verdicts([("leave", 0, (), 0, 1, None), ("list", 0, (), 2, 3, "SYSTEM_ERROR")]) == (True, True)


def test_locks_are_granted_to_one_and_a_request_for_several_is_one_moment() -> None:
    both: list[Line] = [("lock", 0, ((0, 1),), 0, 2, (0, 1)), ("lock", 1, ((0, 1),), 1, 3, ())]
    assert _verdicts(both) == (True, True)
    assert not _linearizable([both[0], ("lock", 1, ((0, 1),), 1, 3, (0, 1))])
    assert not _linearizable([("lock", 0, ((0, 1),), 0, 2, (0,)), ("lock", 1, ((0, 1),), 1, 3, (1,))])
    after: list[Line] = [("unlock", 0, ((0,),), 4, 5, None), ("lock", 1, ((0, 1),), 6, 7, (0,))]
    assert _linearizable([*both, *after])


def test_messages_get_offsets_of_their_own_and_show_later_and_for_good() -> None:
    sent: list[Line] = [("send", 0, (0,), 0, 2, 1), ("send", 1, (0,), 1, 3, 0)]
    assert _linearizable(sent)
    assert not _linearizable([sent[0], ("send", 1, (0,), 1, 3, 1)])
    assert _linearizable([*sent, ("pull", 2, (0, 0), 4, 5, ("SUCCESS", 1, (0,)))])
    assert _linearizable([*sent, ("max", 2, (0,), 4, 5, 0), ("max", 2, (0,), 6, 7, 1)])
    assert not _linearizable([*sent, ("max", 2, (0,), 4, 5, 1), ("max", 2, (0,), 6, 7, 0)])
    assert not _linearizable([*sent, ("max", 2, (0,), 4, 5, 3)])


def test_a_broker_that_may_not_be_read_refuses_every_pull() -> None:
    unread = BrokerRules.of(Profile().configured({"brokerPermission": "2"}))
    assert _linearizable([("pull", 0, (0, 0), 0, 1, "NO_PERMISSION")], unread)


def test_what_a_request_touches_and_how_it_reads() -> None:
    assert touched(NEW, Request("reset", 0, (1, 0))) == {1}
    assert touched(SKIPS, Request("reset", 0, (1, 0))) == {0, 1}
    assert touched(NEW, Request("lock", 0, ((0, 1),))) == {("lock", 0), ("lock", 1)}
    assert touched(NEW, Request("list", 0)) == {"members"}
    assert touched(NEW, Request("commit", 0, (0, 3, True))) == {0}
    assert [
        str(Request(kind, 0, args))
        for kind, args in (
            ("commit", (0, 3, True)),
            ("reset", (1, 2)),
            ("pull", (0, 1)),
            ("unlock", ((0, 1),)),
            ("max", (0,)),
            ("leave", ()),
        )
    ] == [
        "commit 3 to queue 0",
        "reset queue 1 to 2",
        "pull queue 0 from 1",
        "unlock queue 0 and queue 1",
        "max queue 0",
        "leave",
    ]


_QUEUE = st.integers(0, 1)
_REQUESTS = st.one_of(
    st.builds(lambda queue, offset: ("commit", (queue, offset, True)), _QUEUE, st.integers(1, 3)),
    st.builds(lambda kind, queue: (kind, (queue,)), st.sampled_from(["query", "send", "max"]), _QUEUE),
    st.builds(lambda kind, queue, to: (kind, (queue, to)), st.sampled_from(["reset", "pull"]), _QUEUE, _QUEUE),
    st.builds(lambda kind: (kind, ()), st.sampled_from(["join", "leave", "list"])),
    st.builds(lambda kind, queue: (kind, ((queue,),)), st.sampled_from(["lock", "unlock"]), _QUEUE),
)


@given(
    st.sampled_from([NEW, SKIPS]),
    st.lists(st.tuples(_REQUESTS, st.integers(0, 2)), max_size=4),
    st.tuples(_REQUESTS, st.just(0)),
    st.tuples(_REQUESTS, st.just(1)),
)
@settings(max_examples=300)
def test_requests_that_touch_nothing_in_common_answer_the_same_in_either_order(
    rules: BrokerRules,
    before: list[tuple[tuple[str, Any], int]],
    first: tuple[tuple[str, Any], int],
    second: tuple[tuple[str, Any], int],
) -> None:
    answers = Answers(rules)
    start = Overlapped()
    for (kind, args), by in before:
        start, _ = answers.alone(start, Request(kind, by, args))
    one, other = (Request(kind, by, args) for (kind, args), by in (first, second))
    if touched(rules, one) & touched(rules, other):
        return
    state, said = answers.alone(start, one)
    state, others = answers.alone(state, other)
    turned, others_first = answers.alone(start, other)
    turned, said_last = answers.alone(turned, one)
    assert (said, others, key(state)) == (said_last, others_first, key(turned))
    # what is right at one moment is right in steps
    lines: list[Line] = [(one.kind, 0, one.args, 0, 2, said), (other.kind, 1, other.args, 1, 3, others)]
    if not before:
        assert _verdicts(lines, rules) == (True, True)
