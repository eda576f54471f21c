"""The page: what it shows of whole, broken and hostile streams. REWRITE_GOLDEN=1 writes the golden files anew."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path
from typing import Any

import pytest
from event_streams import GOOD, HOSTILE, STREAM, UNSHOWABLE, filled, may_pass
from every import every
from hypothesis import example, given, settings
from page_tree import Node, checked
from places import GOLDEN

from rocketmq_conformance.reports import html, html_story
from rocketmq_conformance.reports.divergence_block import plain_text
from rocketmq_conformance.reports.event import (
    CaseEnded,
    CaseLost,
    CorpusPlan,
    Discovery,
    DivergenceFound,
    DivergenceStep,
    Event,
    RunEnded,
    RunStarted,
    Separator,
    SuiteEnded,
    SuiteStarted,
    Voices,
)
from rocketmq_conformance.reports.html import HtmlReport, html_page
from rocketmq_conformance.reports.html_view import VOICES
from rocketmq_conformance.reports.jsonl import read

STREAMS = ("conforms", "diverges", "undecided", "interrupted", "killed", "empty", "campaign")


def events(name: str) -> list[Event]:
    return read(GOLDEN / f"{name}.events.jsonl").events


def shown(stream: list[Event]) -> Node:
    return checked(html_page(stream))


def tone(root: Node) -> str:
    return root.one("header").attributes["data-tone"]


def found(**changes: Any) -> DivergenceFound:
    """The divergence of three steps, with changes."""
    one = next(e for e in events("diverges") if isinstance(e, DivergenceFound) and len(e.steps) == 3)
    return dataclasses.replace(one, **changes)


def with_divergences(*divergences: DivergenceFound) -> Node:
    """The page of a run that found these."""
    rest = [event for event in events("diverges") if not isinstance(event, DivergenceFound)]
    return shown([*rest[:-1], *divergences, rest[-1]])


# --- whole pages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["conforms", "campaign"])
def test_a_stream_makes_the_golden_page(name: str) -> None:
    text = html_page(events(name))
    text = re.sub(r"(<(style|script)>).*?(</\2>)", r"\1\3", text, flags=re.S)
    text = re.sub(r"sha256-[\w+/=]+", "sha256-", text)
    path = GOLDEN / f"{name}.page.html"
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@every("name", STREAMS)
def test_every_page_is_well_formed_and_fetches_nothing(name: str) -> None:
    assert shown(events(name)).one("h1")


def test_the_verdict_comes_first() -> None:
    root = shown(events("conforms"))
    assert tone(root) == "ok"
    assert root.one("h1").words == "conforms port 0.1.0"
    assert root.one("title").text == "conforms · port 0.1.0 · seed 1729"
    assert (
        root.one("p", class_="sentence").words == "Every answer in 400 cases (10,000 steps) is one that RocketMQ gives."
    )


def test_the_five_numbers_stand_side_by_side() -> None:
    root = shown(events("diverges"))
    tiles = [tile.words for tile in root.one("ul", class_="numbers").all("li")]
    assert [re.sub(r"^(\D+?) ([\d,]+).*", r"\1 \2", tile) for tile in tiles] == [
        "conforms 396",
        "diverges 3",
        "undecided 1",
        "could not run 0",
        "unsupported 200",
    ]


def test_what_was_judged_by_what_is_there() -> None:
    facts = shown(events("conforms")).all("dl", class_="facts")[0]
    facts_shown = {row.one("dt").words: row.one("dd").words for row in facts.all("div")}
    assert facts_shown["Judged by"] == "client 5.5.0, broker 5.5.0, java 17"
    assert (facts_shown["Seed"], facts_shown["Rule book"], facts_shown["Address"], facts_shown["Kit"]) == (
        "1729",
        "3f9a12c0",
        "port",
        "0.1.0",
    )


def suite_rows(root: Node) -> dict[str, Node]:
    """Rows of the table of suites, by the suite's name."""
    (table,) = [one for one in root.all("table", class_="suites") if "control" in one.text]
    return {row.one("th", scope="row").words.split()[0]: row for row in table.one("tbody").all("tr")}


def test_every_suite_has_its_verdict_and_its_numbers() -> None:
    rows = suite_rows(shown(events("diverges")))
    assert [(name, row.one("span", class_="chip").words) for name, row in rows.items()] == [
        ("allocation", "diverges"),
        ("remote-store", "diverges"),
        ("start", "unsupported"),
    ]
    assert [cell.words for cell in rows["remote-store"].all("td")][1:6] == ["197", "2", "1", "0", "0"]


def test_a_suite_says_what_its_verdict_rests_on() -> None:
    words = shown(events("diverges")).one("ul", class_="why").words
    assert "undecided: no answer to commit within 5 s (case 71)" in words
    assert "unsupported: freeze: myport has no frozen offsets" in words
    assert "myport starts where it is told to" in words


def test_every_implementation_of_a_campaign_has_rows_of_its_own() -> None:
    stream: list[Event] = []
    for event in events("conforms"):
        if isinstance(event, SuiteEnded):
            cases = {"conforms": 150, "undecided": 50}
            stream.append(dataclasses.replace(event, address="port"))
            stream.append(dataclasses.replace(event, address="java-client:5.5.0", verdict="undecided", cases=cases))
        else:
            stream.append(event)
    root = shown(stream)
    each, every = root.all("table", class_="suites")
    assert [[cell.words for cell in row.all("td")][:3] for row in each.one("tbody").all("tr")] == [
        ["400", "0", "0"],
        ["300", "0", "100"],
    ]
    assert [row.all("td")[0].words for row in every.one("tbody").all("tr")] == ["port", "java-client:5.5.0"] * 2
    assert tone(root) == "open"


# --- never kinder than the run -----------------------------------------------------------------------------------


@every("name", ["diverges", "undecided", "interrupted", "killed", "empty", "campaign"])
def test_what_did_not_pass_does_not_look_like_it(name: str) -> None:
    root = shown(events(name))
    assert tone(root) != "ok"
    assert not root.one("title").text.startswith("conforms")
    assert not root.one("h1").words.startswith("conforms")
    assert "0d6632" not in root.one("link").attributes["href"]


@every("cut", range(8))
def test_a_run_that_was_cut_off_anywhere_is_no_pass(cut: int) -> None:
    root = shown(GOOD[:cut])
    assert tone(root) == "open"
    assert "nothing can be concluded from it" in root.one("p", class_="sentence").words


def test_a_run_that_was_cut_off_has_the_numbers_recorded_by_then() -> None:
    root = shown(events("killed"))
    ended_cases = [e for e in events("killed") if isinstance(e, CaseEnded)]
    ended = [e for e in events("killed") if isinstance(e, SuiteEnded)]
    diverges = sum(e.cases.get("diverges", 0) for e in ended)
    diverges += sum(e.verdict == "diverges" for e in ended_cases if e.suite not in {one.suite for one in ended})
    tile = root.one("ul", class_="numbers").all("li")[1]
    assert tile.one("span", class_="value").words == str(diverges)
    assert "The events end before the run does:" in root.one("ul", class_="warnings").words
    assert "None was found before the events end." in root.words or diverges


def test_a_suite_that_did_not_end_says_so() -> None:
    rows = suite_rows(shown(events("killed")))
    assert rows["remote-store"].one("span", class_="chip").words == "did not end"
    assert rows["remote-store"].attributes["data-tone"] == "open"


def test_a_good_verdict_that_nothing_bears_out_is_not_shown_as_one() -> None:
    stream = [dataclasses.replace(e, control=False) if isinstance(e, SuiteEnded) else e for e in GOOD]
    root = shown(stream)
    assert tone(root) == "open"
    rows = suite_rows(root)
    assert rows["allocation"].all("td")[0].words == "undecided"
    assert "it claims to conform, but the planted wrong answer was not noticed" in root.words
    table = root.one("table", class_="heat").one("tbody")
    assert not table.all("tr", data_tone="ok")


@pytest.mark.parametrize("kind", ["lost", "left", "silent"])
def test_what_a_reader_must_know_stands_above_everything(kind: str) -> None:
    stream = list(GOOD)
    match kind:
        case "lost":
            stream.insert(-1, CaseLost(suite="allocation", case=3, address="port", reason="ended with signal 9, twice"))
            words = "1 case lost"
        case "left":
            stream[-1] = dataclasses.replace(stream[-1], left=1200, stopped="time limit")  # type: ignore[call-arg]
            words = "1,200 cases requested but not played. "
        case _:
            stream[-1] = dataclasses.replace(stream[-1], controls_noticed=1)  # type: ignore[call-arg]
            words = "1 of 2 controls stayed silent."
    assert words.strip() in shown(stream).one("ul", class_="warnings").words


def test_a_lost_case_is_named() -> None:
    section = shown(events("campaign")).one("section", id="lost")
    assert [cell.words for cell in section.one("tbody").one("tr").children if isinstance(cell, Node)] == [
        "remote-store",
        "12",
        "mutant:x",
        "the process that played it ended with signal 9, twice",
    ]


# --- rules -------------------------------------------------------------------------------------------------------


def rule_rows(root: Node) -> dict[str, Node]:
    return {row.one("th").words.split()[0]: row for row in root.one("table", class_="heat").one("tbody").all("tr")}


def test_every_rule_has_a_result() -> None:
    rows = rule_rows(shown(events("diverges")))
    assert rows["OFF-R-READ"].one("span", class_="chip").words == "differs"
    assert rows["OFF-R-PALL"].one("span", class_="chip").words == "holds"
    assert rows["OFF-R-FETCH"].one("span", class_="chip").words == "not reached"
    assert "every answer is allowed where it was met" in rows["ALLOC-ROOM-1-NULL"].words
    assert "none of consume, whole-listener was run (-k)" in rows["CONS-1"].words
    assert list(rows)[:2] == ["ALLOC-AVG-1", "OFF-R-READ"]


def test_a_rule_has_its_sentence_its_level_and_its_clauses() -> None:
    row = rule_rows(shown(events("conforms")))["OFF-R-PALL"]
    assert "sent one way" in row.one("th").words
    level, result, times, clauses, *_ = (cell.words for cell in row.all("td"))
    assert (level, result, clauses) == ("MUST", "holds", "1 of 1")
    assert int(times.replace(",", "")) > 0


def test_the_outcomes_of_a_rule_are_counted_by_class() -> None:
    coverage = [row for e in events("diverges") if isinstance(e, SuiteEnded) for row in e.coverage]
    times: dict[str, int] = {}
    for rule, _, outcome, number in coverage:
        if rule == "OFF-R-READ":
            times[outcome] = times.get(outcome, 0) + number
    assert len(times) > 2
    cells = rule_rows(shown(events("diverges")))["OFF-R-READ"].all("span", class_="c")
    assert {cell.words for cell in cells} == {f"{outcome} {number:,}" for outcome, number in times.items()}
    for cell in cells:
        number = times[cell.words.split()[0]]
        assert f"h{min(5, len(str(number)))}" in cell.attributes["class"].split()


def test_rows_of_coverage_that_are_none_are_counted() -> None:
    bad = [[], ["X"], ["X", "kind", "done", "3"], ["X", 1, "done", 3], ["X", "kind", "done", True]]
    stream = [
        dataclasses.replace(e, coverage=[*e.coverage, *bad]) if isinstance(e, SuiteEnded) else e
        for e in events("diverges")
    ]
    root = shown(stream)
    assert "and 15 more rows of coverage, which are malformed" in root.one("section", id="rules").words
    assert "X" not in rule_rows(root)


# --- divergences -------------------------------------------------------------------------------------------------


def test_a_story_has_everything_that_is_known() -> None:
    story = shown(events("campaign")).all("details", class_="story")[0]
    words = story.words
    assert "34 cases" in words
    assert "RemoteBrokerOffsetStore#readOffset @ 4.0.0, 4.9.8, 5.5.0" in words
    assert "From memory: the entry, else -1 without asking anyone." in words
    assert "MUST" in words
    assert [box.words for box in story.one("div", class_="answers").all("code")] == ["-1", "5"]
    assert "kind = 'memory' 100 % of these 25 % of others" in words
    assert "Found in 40 steps, shrunk to 3 in 57 executions. Shown by case 17; also seen in 63." in words
    replay = story.one("div", class_="copyline").one("code").text
    assert replay == (
        "rocketmq-conformance replay conformance-out/myport-1729/remote-store.9b1c2d3e.plan.jsonl "
        "python:myport.adapter:create"
    )


def test_the_steps_have_the_state_around_them_and_what_changed_is_marked() -> None:
    story = shown(events("campaign")).all("details", class_="story")[0]
    first, second, third = (item for item in story.one("ol", class_="steps").children if isinstance(item, Node))
    assert [box.words for box in first.one("div", class_="states").all("code")] == [
        "memory {}, frozen [], broker {}",
        "memory {0: 5}, frozen [], broker {}",
    ]
    assert [mark.words for mark in first.all("mark")] == ["0: 5"]
    assert "answers ()" in second.words
    assert third.attributes["class"] == "diverges"
    assert "expected -1 , observed 5" in third.words.replace(",", " ,")
    assert [item.words for item in first.one("ol", class_="talk").all("li")] == [
        "member to broker: QUERY_CONSUMER_OFFSET",
        "broker to member: QUERY_NOT_FOUND",
    ]


def test_the_first_story_is_open_and_the_others_are_folded() -> None:
    stories = shown(events("campaign")).all("details", class_="story")
    assert ["open" in story.attributes for story in stories] == [True, False]


def test_divergences_of_one_kind_are_one_story_and_the_shortest_plan_that_is_kept_tells_it() -> None:
    long = found(case=1, steps=[*found().steps[:1]] * 5 + found().steps)
    short = found(case=9)
    unkept = found(case=4, steps=found().steps[-1:], plan="")
    root = with_divergences(long, unkept, short)
    (story,) = root.all("details", class_="story")
    assert "Shown by case 9; also seen in 1, 4." in story.words
    assert "3 cases" in story.words
    assert "3 divergences of 1 kind;" in root.words


def test_other_implementations_and_other_references_are_other_stories() -> None:
    root = with_divergences(found(address="a"), found(address="b"), found(address="b", against="a"))
    stories = root.one("section", id="divergences").all("details", class_="story")
    assert [story.one("span", class_="line").words.split(":")[0] for story in stories] == [
        "remote-store, a",
        "remote-store, b",
    ]
    (between,) = root.one("section", id="differences").all("details", class_="story")
    assert between.one("span", class_="line").words.startswith("remote-store: a: -1, b: 5")
    assert [head.words for head in between.one("div", class_="answers").all("h4")] == ["Answer of a", "Answer of b"]


def test_a_difference_between_implementations_is_no_verdict_on_them() -> None:
    root = shown([*GOOD[:-1], found(address="b", against="a"), GOOD[-1]])
    assert tone(root) == "ok"
    assert "The implementations differ from one another in 1 way." in root.one("p", class_="sentence").words
    assert rule_rows(root)["OFF-R-READ"].one("span", class_="chip").words == "holds"
    assert "None was found." in root.one("section", id="divergences").words


def test_the_kind_with_most_cases_comes_first() -> None:
    root = with_divergences(found(fingerprint="a", cases=3), found(fingerprint="b", cases=40))
    assert [story.one("span", class_="times").words for story in root.all("details", class_="story")] == [
        "40 cases",
        "3 cases",
    ]


def test_a_case_of_the_corpus_is_called_by_its_plan() -> None:
    stream = [
        dataclasses.replace(e, corpus=[CorpusPlan(plan="suites/corpus/old.plan.jsonl", case=3)])
        if isinstance(e, SuiteStarted)
        else dataclasses.replace(e, case=-1)
        if isinstance(e, DivergenceFound)
        else e
        for e in events("diverges")
    ]
    assert "Shown by corpus plan old" in shown(stream).words


@pytest.mark.parametrize(("kinds", "stories", "lines", "more"), [(3, 3, 0, 0), (4, 3, 1, 0), (22, 3, 10, 9)])
def test_many_kinds_are_folded_then_listed_then_counted(
    kinds: int, stories: int, lines: int, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_story, "FULL", 3)
    monkeypatch.setattr(html_story, "LINES", 10)
    root = with_divergences(*(found(fingerprint=f"{number:08x}", case=number) for number in range(kinds)))
    assert len(root.all("details", class_="story")) == stories
    assert len([row for table in root.all("table", class_="lines") for row in table.one("tbody").all("tr")]) == lines
    assert (f"and {more:,} more kinds of divergences" in root.words) == bool(more)
    assert f"{kinds:,} divergences of {kinds:,} kinds;" in root.words


def test_long_plans_texts_and_conversations_are_cut_with_a_word() -> None:
    step = dataclasses.replace(
        found().steps[0], messages=[["member", "broker", f"ask {n}"] for n in range(70)], observed="x" * 9000
    )
    root = with_divergences(found(steps=[step] * 90 + found().steps))
    words = root.words
    assert "53 earlier steps are not listed" in words
    assert "The last steps are drawn; 81 more are before them." in words
    assert "more messages are not drawn" in words
    assert "… and 7,000 more characters" in words
    assert "and 46 more messages" in words


def test_requests_at_the_same_time_are_drawn_from_sending_to_answer() -> None:
    history = [["one", "lock queue 0", "0", "2", "(0,)", ""], ["two", "lock queue 0", "1", "", "", "none"]]
    drawn = with_divergences(found(history=history)).one("ol", class_="bars")
    assert drawn.words == "one, lock queue 0: (0,) two, lock queue 0: no answer, expected none no answer"
    shapes = [[rect.attributes[name] for name in ("class", "x", "width")] for rect in drawn.all("rect")]
    assert shapes == [["o", "0.0%", "83.33%"], ["d", "33.33%", "66.67%"]]


@every(
    ("changes", "sentence"),
    [
        ({"unshrunk": "the time was over"}, "Found in 40 steps, not shrunk: the time was over."),
        ({"shrink_executions": 0}, "Found in 40 steps; it cannot be shorter."),
        ({"found_steps": 4000}, "Found in 4,000 steps, shrunk to 3 in 57 executions."),
    ],
)
def test_a_divergence_says_how_short_it_became_as_on_the_console(changes: dict[str, Any], sentence: str) -> None:
    one = found(**changes)
    assert sentence in with_divergences(one).one("main").words
    assert sentence.removesuffix(".") in plain_text(one, 200)


# --- the sequence diagram ----------------------------------------------------------------------------------------


def drawing(*messages: list[str], diverges: bool = True, operation: str = "read(queue=0)") -> Node:
    step = DivergenceStep(
        number=1,
        operation=operation,
        expected="-1",
        observed="5",
        rules=["R"],
        state_kind="kind",
        before="a",
        after="b",
        diverges=diverges,
        messages=list(messages),
    )
    return with_divergences(found(steps=[step])).one("svg", class_="seq")


def test_whoever_speaks_has_a_lifeline_in_a_fixed_order() -> None:
    drawn = drawing(["broker", "member", "x"], ["member", "name server", "y"])
    assert [who.words for who in drawn.all("svg", class_="who")] == ["member", "broker", "name server"]
    alone = drawing()
    assert [who.words for who in alone.all("svg", class_="who")] == ["member"]
    crowd = drawing(["another member", "broker", "x"], ["member", "name server", "y"])
    assert [who.words for who in crowd.all("svg", class_="who")] == ["anothermember", "member", "broker", "nameserver"]


def test_requests_go_there_and_responses_come_back() -> None:
    drawn = drawing(["member", "broker", "QUERY"], ["broker", "member", "offset=5"])
    place = {who.words: who.attributes["x"] for who in drawn.all("svg", class_="who")}
    (request,), (response,) = drawn.all("line", class_="request"), drawn.all("line", class_="response")
    assert (request.attributes["x1"], request.attributes["x2"]) == (place["member"], place["broker"])
    assert (response.attributes["x1"], response.attributes["x2"]) == (place["broker"], place["member"])
    assert float(request.attributes["y1"]) < float(response.attributes["y1"])
    assert [text.words for text in drawn.all("text", class_="message")] == ["QUERY", "offset=5"]


def test_a_step_is_a_call_on_the_member_and_the_diverging_one_is_marked() -> None:
    drawn = drawing()
    assert drawn.one("line", class_="call").attributes["x1"] == "0%"
    assert drawn.one("line", class_="return").attributes["x2"] == "0%"
    assert drawn.one("g", class_="band").attributes["class"] == "band bad"
    assert drawn.one("text", class_="expected").words == "expected -1"
    assert drawn.one("text", class_="observed").words == "observed 5"
    good = drawing(diverges=False)
    assert good.one("g", class_="band").attributes["class"] == "band"
    assert good.one("text", class_="answer").words == "answers 5"
    assert not good.all("text", class_="expected")


def test_what_others_do_is_no_call_on_the_member() -> None:
    drawn = drawing(["another member", "broker", "COMMIT"], diverges=False)
    assert not drawn.all("line", class_="call")
    assert drawn.one("line", class_="request")
    happens = drawing(["broker", "broker", "shape"], diverges=False)
    assert not happens.all("line", class_="call")
    assert happens.one("circle")
    assert happens.one("text", class_="message").words == "broker: shape"


def test_speakers_that_nobody_knows_are_shown_in_words_when_there_is_no_room() -> None:
    drawn = drawing(*([f"who {n}", "broker", f"text {n}"] for n in range(6)))
    assert len(drawn.all("svg", class_="who")) == 4
    assert "who 5 → broker: text 5" in drawn.words


def test_long_operations_are_broken_into_lines_that_fit_a_phone() -> None:
    drawn = drawing(operation="allocate(" + ", ".join(f"('Topic', 'broker', {n})" for n in range(40)) + ")")
    lines = [line.text for line in drawn.one("g", class_="band").all("tspan")]
    assert len(lines) == 6
    assert all(len(line) <= 38 for line in lines)
    assert lines[-1].endswith("…")


# --- voices ------------------------------------------------------------------------------------------------------


def test_ways_in_which_implementations_part_are_rows_and_those_beyond_the_limit_are_counted() -> None:
    voices = Voices(
        suite="start-push",
        cases=4711,
        case=17,
        addresses=[["port"], ["<b>"]],
        rules=[["port", "<b>"], []],
        since=[["<b>", "port"]],
    )
    section = shown([*GOOD[:-1], *[voices] * (VOICES + 3), GOOD[-1]]).one("section", id="voices")
    rows = section.one("tbody").all("tr")
    assert len(rows) == VOICES
    assert [cell.words for cell in rows[0].all("td")][:2] == ["4,711", "17"]
    assert [code.words for code in rows[0].all("code")] == ["port", "<b>, against its rules", "<b>"]
    assert "3" in section.words.rpartition("way")[0].split()[-3:]


# --- curves ------------------------------------------------------------------------------------------------------


def test_both_arms_are_in_one_chart_with_their_numbers() -> None:
    arms = [
        Discovery(
            suite="", arm="random", cases=1000, behaviours=40, chance=0.002, curve=[[1, 20], [10, 35], [1000, 40]]
        ),
        Discovery(suite="", arm="steered", cases=500, behaviours=60, chance=0.25, curve=[[1, 20], [500, 60]]),
        Discovery(suite="start-push", arm="random", cases=50, behaviours=7, chance=0.0, curve=[[1, 7]]),
    ]
    root = shown([*GOOD[:-1], *arms, GOOD[-1]])
    whole, part = root.one("section", id="discovery").all("figure")
    assert whole.one("figcaption").words == "All suites"
    assert len(whole.all("polyline")) == 2
    assert [[cell.words for cell in row.all("td")] for row in whole.one("tbody").all("tr")] == [
        ["1,000", "40", "0.2 %"],
        ["500", "60", "25 %"],
    ]
    assert part.one("figcaption").words == "start-push"
    points = [tuple(map(float, point.split(","))) for point in whole.all("polyline")[0].attributes["points"].split()]
    assert points == sorted(points)
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
    assert all(44 <= x <= 328 and 12 <= y <= 160 for x, y in points)


def test_points_that_are_none_and_points_beyond_the_limit_are_counted() -> None:
    curve = [[n, n] for n in range(1, 2001)]
    arm = Discovery(suite="", arm="random", cases=2000, behaviours=2000, chance=2.0, curve=[*curve, [1], [1, 2, 3], []])
    figure = shown([*GOOD[:-1], arm, GOOD[-1]]).one("section", id="discovery").one("figure")
    assert len(figure.one("polyline").attributes["points"].split()) == 600
    assert "1403 points are not drawn" in figure.words
    assert figure.one("tbody").all("td")[2].words == "?"


@pytest.mark.parametrize("curve", [[], [[0, 0]], [[5, 0], [7, 0]], [[2**63, 2**63]], [[-5, -7]]])
def test_strange_curves_stay_in_the_chart(curve: list[list[int]]) -> None:
    root = shown(
        [*GOOD[:-1], Discovery(suite="", arm="random", cases=7, behaviours=7, chance=0.1, curve=curve), GOOD[-1]]
    )
    figure = root.one("section", id="discovery").one("figure")
    for line in figure.all("polyline"):
        for point in line.attributes["points"].split():
            x, y = map(float, point.split(","))
            assert 44 <= x <= 328
            assert 12 <= y <= 160


# --- hostile streams ---------------------------------------------------------------------------------------------


@every("text", [*HOSTILE, *UNSHOWABLE, "", "x" * 100_000])
@every("name", ["campaign", "killed"])
def test_hostile_text_anywhere_stays_text(text: str, name: str) -> None:
    root = shown([filled(event, text) for event in events(name)])
    assert len(root.all("script")) == 1
    assert tone(root) != "ok"
    if text in HOSTILE:
        # Escaped once, and once only: a reader sees what was sent.
        assert text in root.one("h1").text
        if name == "campaign":
            assert any(text == code.text for code in root.all("code"))
            assert text in root.one("svg", class_="seq").text or len(text) > 30


def test_text_that_could_mislead_is_shown_as_escapes() -> None:
    root = with_divergences(found(observed="\u202e5\x1b[31m\ud800", replay="a\u202eb"))
    story = root.one("details", class_="story")
    assert story.one("div", class_="answers").all("code")[1].text == "\\u202e5\\x1b[31m\\ud800"
    assert story.one("div", class_="copyline").one("code").text == "a\\u202eb"


@every("number", [-1, 10**30, 2**63])
@every("duration", [0.0, -1.0, 1e300, float("inf"), float("nan")])
def test_numbers_of_any_size_are_shown(number: int, duration: float) -> None:
    stream: list[Event] = []
    for event in events("campaign"):
        changes: dict[str, Any] = {
            item.name: number if isinstance(getattr(event, item.name), int) else duration
            for item in dataclasses.fields(event)  # type: ignore[arg-type]
            if isinstance(getattr(event, item.name), int | float)
            and not isinstance(getattr(event, item.name), bool)
            and item.name != "format"
        }
        stream.append(dataclasses.replace(event, **changes))  # type: ignore[type-var]
    assert tone(shown(stream)) != "ok"


@settings(max_examples=100, deadline=None)
@given(STREAM)
@example([*GOOD[:-1], dataclasses.replace(GOOD[-1], verdict="diverges", exit_code=1, stopped="\x1f")])  # type: ignore[call-arg]
def test_any_stream_makes_a_harmless_page_that_is_never_kinder_than_the_run(stream: list[Event]) -> None:
    root = shown(stream)
    if not may_pass(stream):
        assert tone(root) != "ok"
        assert not root.one("title").text.startswith("conforms ")
        assert "0d6632" not in root.one("link").attributes["href"]


# --- the file ----------------------------------------------------------------------------------------------------


def test_the_file_is_never_a_pass_before_the_run_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "PAUSE", -1.0)
    path = tmp_path / "report.html"
    path.write_text("yesterday's pass")
    report = HtmlReport(path)
    for event in GOOD:
        report(event)
        if not isinstance(event, RunEnded):
            assert tone(checked(path.read_text("utf-8"))) == "open"
    report.close()
    assert tone(checked(path.read_text("utf-8"))) == "ok"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_the_file_is_not_written_for_every_suite(tmp_path: Path) -> None:
    report = HtmlReport(tmp_path / "report.html")
    report(next(event for event in GOOD if isinstance(event, RunStarted)))
    before = (tmp_path / "report.html").stat().st_mtime_ns
    for event in GOOD[1:]:
        report(event)
    assert (tmp_path / "report.html").stat().st_mtime_ns == before


def test_what_separates_is_drawn_as_shares() -> None:
    separators = [
        Separator(feature="offset = 0", diverging=0.997, others=0.0004),
        Separator(feature="odd", diverging=7.0, others=-1.0),
    ]
    bars = with_divergences(found(separates=separators)).one("ul", class_="bars")
    assert [bar.words for bar in bars.all("li")] == [
        "offset = 0 99 % of these 0.04 % of others",
        "odd ? of these ? of others",
    ]
    assert [rect.attributes["width"] for rect in bars.all("rect")] == ["99.7%", "0.0%", "0.0%", "0.0%"]
