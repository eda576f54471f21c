"""Values in words: named by what is declared beside them, and as they are where they have another form."""

from __future__ import annotations

import re

from rocketmq_conformance.suites.declare.answer_parts import in_words
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation, OperationSpec, Side
from rocketmq_conformance.suites.declare.wording import OFFSETS, differences, numbers, text, worded


def spec_of(suite: str, operation: str) -> OperationSpec:
    """The declaration of an operation."""
    made = SUITES[suite]
    return made.operations[made.index[operation]].spec


def test_whole_consumers_are_shown_by_member_and_queue() -> None:
    look = spec_of("whole-listener", "look")
    brought = ((0, -1, 3, 1), (0, 2, 7, 5), (1, "sent back", 0, 2))
    answer = (((0, 12), (0, 12), (-1, -1)), brought, (12, -1), (1, 0, -1, 1))
    assert text(in_words(look, answer)) == (
        "places: [queues 0 and 1: member 0 at 12; queue 2: nobody]; "
        "brought: [member 0, retry queue: message 3; member 0, queue 2: messages 7 to 11; "
        "member 1, sent back: 2 messages]; stored: [queue 0: 12; queue 1: none]; "
        "retry: [queue: member 1; offset: 0; stored: none; waiting to come again: 1]"
    )


def test_who_is_no_member_pulls_by_a_connection_and_has_a_lock_as_a_client() -> None:
    look = spec_of("whole-orderly", "look")
    strangers = (((-2, 7), (-1, -1)), ((-2, 0, 7, 1),), (12, -1), (-2, -1))
    assert text(in_words(look, strangers)) == (
        "places: [queue 0: a connection without a heartbeat at 7; queue 1: nobody]; "
        "brought: [a connection without a heartbeat, queue 0: message 7]; stored: [queue 0: 12; queue 1: none]; "
        "locks: [queue 0: a client outside the group; queue 1: nobody]"
    )


def test_queues_of_several_brokers_have_their_brokers_names() -> None:
    look = spec_of("whole-brokers", "look")
    nobody = ((-1, -1),) * 5
    wanted = in_words(look, (nobody, (), ()))
    given = in_words(look, ((*nobody[:3], (0, 7), (0, 7)), (), ()))
    assert differences(wanted, given) == [("places, second broker, queues 0 and 1", "nobody", "member 0 at 7")]


def test_pulls_that_are_held_are_shown_by_what_differs() -> None:
    for name in ("hold_pull", "look_at_pull", "await_pull"):
        look = spec_of("broker-polling", name)
        wanted, given = (in_words(look, (one, 38, 1445)) for one in (("PULL_NOT_FOUND", 0, ()), "held"))
        shown = ("pull", "status: PULL_NOT_FOUND; next offset: 0; messages: none", "held")
        assert differences(wanted, given) == [shown]
    woken = in_words(spec_of("broker-polling", "wake_pull"), (("SUCCESS", 1, (0,)), True))
    other = in_words(spec_of("broker-polling", "wake_pull"), (("SUCCESS", 1, (0,)), False))
    assert differences(woken, other) == [("before the other pull", "True", "False")]


def test_what_one_of_two_lists_lacks_is_nothing_there() -> None:
    one, other = worded(OFFSETS, ((0, 5), (2, 8))), worded(OFFSETS, ((0, 5), (3, 1), (3, 1, "awaited")))
    assert differences(one, other) == [("queue 2", "8", "nothing"), ("queue 3", "nothing", "1, then 1, awaited")]
    assert text(worded(OFFSETS, ())) == "nothing"


def test_numbers_in_a_row_are_a_range() -> None:
    assert [numbers(value) for value in ((), (3,), (3, 4), (0, 1, 2, 5), (5, 4))] == [
        "none",
        "3",
        "3, 4",
        "0 to 2, 5",
        "5, 4",
    ]


def test_a_value_of_another_form_is_shown_as_it_is() -> None:
    for value in (None, True, "1", (1, (2,)), ((1,),)):
        assert text(worded(OFFSETS, value)) == repr(value)
    assert text(worded(numbers, ("0", True))) == "('0', True)"


def test_no_wording_of_a_suite_fails_on_a_value_of_another_form() -> None:
    odd = (None, 0, -1, True, "1", (), ((),), (1,), (None,), ((1, 2),), ((None,) * 5,), ((1,) * 5,))
    wordings = {
        (suite.name, operation.spec.name, part): wording
        for suite in SUITES.values()
        for operation in suite.operations
        for part, wording in operation.spec.words.items()
    }
    assert [where for where, wording in wordings.items() if not all(text(worded(wording, one)) for one in odd)] == []


def test_arguments_have_words_too() -> None:
    allocation = SUITES["allocation"]
    row = allocation.index["allocate_averagely"], ("c0", (("T", "b0", 0), ("T", "b0", 1)), ("c0",))
    assert str(allocation.operation(row)) == "allocate_averagely(me='c0', queues=[T/b0/0, T/b0/1], members=('c0',))"


def test_every_argument_of_whole_consumers_says_what_its_numbers_stand_for() -> None:
    of_whole = [one for suite in SUITES.values() for one in suite.operations if one.spec.side is Side.WHOLE]
    assert [(one.spec.name, name) for one in of_whole for name in one.spec.names if name not in _said(one)] == []
    shown = [str(one.of(row)) for one in of_whole for row in one.spec.rows() or ()]
    assert [text for text in shown if re.search(r"=(-|\(|None)", text)] == []
    send, suggest = spec_operation("whole-brokers", "send"), spec_operation("whole-slaves", "suggest")
    assert [str(send.of([at])) for at in (-1, 3)] == ["send(queue=every queue)", "send(queue=second broker, queue 0)"]
    assert str(suggest.of([1])) == "suggest(node=the slave)"


def _said(one: type[Operation]) -> set[str]:
    """The arguments of an operation that have names, or words for their numbers."""
    named = [
        name for name, domain in one.spec.domains if all(isinstance(row, str | bool) for row in domain.rows() or ())
    ]
    return {*named, *one.spec.said}


def spec_operation(suite: str, name: str) -> type[Operation]:
    """An operation of a suite, by its name."""
    return SUITES[suite].operations[SUITES[suite].index[name]]
