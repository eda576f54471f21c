"""The report of two campaigns compared: what it says, to people and to programs, and that it never says too much."""

from __future__ import annotations

import io
import json
import os
from dataclasses import replace

import pytest
from places import GOLDEN

from rocketmq_conformance.reports.campaign_diff import (
    DIFFERENT,
    NOTHING,
    SAME,
    UNDECIDED,
    CampaignDifference,
    ComparedCampaign,
    Difference,
    SideAnswer,
    SuiteDifference,
    show,
)
from rocketmq_conformance.reports.event import Separator
from rocketmq_conformance.reports.kinds import MOST, MOST_OF_SUITE
from rocketmq_conformance.reports.short_block import LINES

RULE = {
    "id": "OFF-R-READ-ERROR",
    "level": "MUST",
    "sentence": "Every failure but not found reads -2; up to 4.9.8 every refusal reads -1.",
    "source": "RemoteBrokerOffsetStore#readOffset @ 4.9.8, 5.5.0",
}
OLD = ComparedCampaign(
    "old", "java-client:4.9.8", "Java client", "4.9.8", "0.1.0", "aa", {"client": "4.9.8", "broker": "5.5.0"}
)
NEW = ComparedCampaign("new", "python:my:port", "my port", "1.2", "0.1.0", "aa", {"client": "5.5.0", "broker": "5.5.0"})
BUSY = Difference(
    suite="remote-store",
    fingerprint="1a2b3c4d",
    cases=1200,
    case=17,
    step=3,
    operation="read(queue=0, kind='store', fault='SYSTEM_BUSY')",
    a=SideAnswer("-1", "-1", True, "refused, read as new", [RULE]),
    b=SideAnswer("0", "-2", False, "refused", [RULE]),
    before=[["update(queue=0, offset=5, increase_only=False)", "None"], ["remove(queue=0)", "None"]],
    separates=[Separator(feature="fault = 'SYSTEM_BUSY'", diverging=1.0, others=0.031)],
)
SUITES = [
    SuiteDifference("remote-store", same=8_800, different=1200, only_a=3),
    SuiteDifference("start-push", same=900, undecided={"undecided in B, decided in the other": 100}, neither=1),
    SuiteDifference("local-store", note="cases of local-store have 40 steps in A and 30 in B"),
]
ENGINE = "in one process"
FOUND = CampaignDifference(OLD, NEW, 7, SUITES, [BUSY], ["A was judged by rule book aa, B by bb"], 2.5, ENGINE)


@pytest.fixture(autouse=True)
def _no_terminal_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def shown(found: CampaignDifference, width: int = 100, *, verbose: bool = False) -> str:
    out = io.StringIO()
    show(found, out, width=width, verbose=verbose)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "verbose"), [("campaign_diff.console.txt", False), ("campaign_diff.verbose.txt", True)]
)
def test_what_people_read(name: str, verbose: bool) -> None:
    path, text = GOLDEN / name, shown(FOUND, verbose=verbose)
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def test_the_verdict_says_no_more_than_was_compared() -> None:
    def verdict(*suites: SuiteDifference) -> tuple[str, int]:
        found = replace(FOUND, suites=list(suites))
        return found.verdict, found.exit_code

    same = SuiteDifference("s", same=5)
    assert verdict(same) == (SAME, 0)
    assert verdict(replace(same, only_a=4, only_b=5, neither=6, verdict_only=7)) == (SAME, 0)
    assert verdict(same, SuiteDifference("t", note="of another kit")) == (SAME, 0)
    assert verdict(replace(same, different=1, undecided={"why": 2})) == (DIFFERENT, 1)
    assert verdict(same, SuiteDifference("t", undecided={"why": 1})) == (UNDECIDED, 3)
    assert verdict(replace(same, not_looked_at=1)) == (UNDECIDED, 3)
    assert verdict(SuiteDifference("s", verdict_only=9, neither=3, only_a=1)) == (NOTHING, 3)
    assert verdict() == (NOTHING, 3)


def test_what_programs_read() -> None:
    header, *suites, difference, end = [json.loads(line) for line in FOUND.lines()]
    assert (header["line"], header["a"]["address"], header["seed"]) == ("diff", "java-client:4.9.8", 7)
    assert [suite["suite"] for suite in suites] == ["remote-store", "start-push", "local-store"]
    assert difference["b"] == {
        "did": "0",
        "expected": "-2",
        "conforms": False,
        "state_kind": "refused",
        "rules": [RULE],
    }
    assert difference["separates"] == [{"feature": "fault = 'SYSTEM_BUSY'", "diverging": 1.0, "others": 0.031}]
    assert end == {"line": "end", "verdict": "different", "exit_code": 1, "seconds": 2.5, "engine": ENGINE}


def test_of_each_suite_a_few_differences_are_shown_in_a_dozen_lines() -> None:
    long = replace(
        BUSY,
        operation="read(" + "queue=0, " * 90 + ")",
        a=replace(BUSY.a, did="1, " * 90, rules=[{**RULE, "sentence": "Very many words. " * 40}] * 3),
        b=replace(BUSY.b, did="2, " * 90, expected="3, " * 90),
        separates=[*BUSY.separates] * 4,
        before=[["remove(queue=0, " + "x=1, " * 90 + ")", "None"]] * 30,
    )
    many = [replace(long, suite=f"suite-{at % 4}", fingerprint=f"{at:08x}", cases=100 - at) for at in range(40)]
    short, verbose = (shown(replace(FOUND, differences=many), verbose=verbose) for verbose in (False, True))
    numbers = [short.count(f": suite-{suite}, ") for suite in range(4)]
    assert sum(numbers) == MOST
    assert max(numbers) <= MOST_OF_SUITE
    assert len(short.splitlines()) <= len(shown(replace(FOUND, differences=[])).splitlines()) + MOST * LINES + 2
    assert "left out       30 of 40 differences: --verbose prints them\n" in short
    assert verbose.count("\nDifference ") == 40
    assert "left out" not in verbose


def test_the_rare_difference_is_shown_first() -> None:
    often, rare = replace(BUSY, cases=900), replace(BUSY, cases=2, fingerprint="2")
    page = shown(replace(FOUND, differences=[often, rare]))
    assert page.index(", 2 cases ─") < page.index(", 900 cases ─")


def test_a_long_story_is_cut_in_its_middle() -> None:
    before = [[f"remove(queue={at})", "None"] for at in range(30)]
    page = shown(replace(FOUND, differences=[replace(BUSY, before=before, step=31)]), verbose=True)
    assert "… 21 steps …" in page
    assert " 3  remove(queue=2)" in page
    assert "remove(queue=3)" not in page
    assert "30  remove(queue=29)" in page
    short = shown(replace(FOUND, differences=[replace(BUSY, before=before[:10], step=11)]), verbose=True)
    assert "steps …" not in short


def test_hostile_text_reaches_no_terminal() -> None:
    hostile = "\x1b[2J\u202e\ud800\n|"
    side_answer = SideAnswer(hostile, hostile, False, hostile, [{"id": hostile, "sentence": hostile}])
    side = replace(OLD, folder=hostile, address=hostile, implementation=hostile, profile={"client": hostile})
    one = replace(
        BUSY,
        suite=hostile,
        operation=hostile,
        a=side_answer,
        b=side_answer,
        before=[[hostile, hostile]],
        separates=[Separator(feature=hostile, diverging=1, others=0)],
    )
    suite = SuiteDifference(hostile, undecided={hostile: 1}, note=hostile)
    for verbose in (False, True):
        page = shown(CampaignDifference(side, side, 1, [suite], [one] * 9, [hostile], 1.0, ENGINE), verbose=verbose)
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert "\ud800" not in page


def test_no_line_of_a_plain_stream_is_wider_than_it_or_ends_in_blanks() -> None:
    for width in (60, 100):
        lines = shown(FOUND, width).splitlines()
        assert all(line == line.rstrip() for line in lines)
        # the last line is one line whatever its length
        assert all(len(line) <= width for line in lines[:-1])
