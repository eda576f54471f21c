"""The chart of a history: a line for each request, from its sending to its answer."""

from __future__ import annotations

from rocketmq_conformance.reports.timeline import chart, spans

HISTORY: list[list[str]] = [
    ["one", "commit 3 to queue 0", "4", "9", "done", ""],
    ["three", "query queue 0", "20", "21", "3", ""],
    ["two", "query queue 0", "6", "12", "5", "none or 3"],
    ["two", "commit 1 to queue 0", "14", "", "", ""],
]


def test_a_line_for_each_request_in_the_order_of_their_sending() -> None:
    assert chart(HISTORY, 9) == [
        ("one    |---|            commit 3 to queue 0: done", False),
        ("two      |---|          query queue 0: 5, expected none or 3", True),
        ("two            |----->  commit 1 to queue 0: no answer", False),
        ("three            |-|    query queue 0: 3", False),
    ]


def test_where_there_is_little_room_what_differs_comes_first_and_what_overlaps_with_it() -> None:
    assert chart(HISTORY, 1) == [("two      |---|          query queue 0: 5, expected none or 3", True)]
    assert [line.split()[0] for line, _ in chart(HISTORY, 2)] == ["one", "two"]
    assert [line.split()[0] for line, _ in chart(HISTORY, 3)] == ["one", "two", "three"]
    assert chart(HISTORY, 0) == chart([], 5) == []


def test_rows_of_another_form_are_left_out_and_texts_are_cleaned() -> None:
    found, moments = spans([["one"], ["one", "x", "soon", "1", "", ""], HISTORY[0], []])
    assert ([one.what for one in found], moments) == (["commit 3 to queue 0"], 2)
    [(line, _)] = chart([["o\x1b[31m", "ask\n", "0", "1", "a\x07", ""]], 5)
    assert line.isprintable()
