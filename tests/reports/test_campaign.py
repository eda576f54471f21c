"""What people read of a campaign: golden output, live progress, colours, very many of everything.

REWRITE_GOLDEN=1 writes the golden file anew; read the difference before it is kept.
"""

from __future__ import annotations

import dataclasses
import io
import os
import re

import pytest
from places import GOLDEN

from rocketmq_conformance.reports import short_block
from rocketmq_conformance.reports.campaign import DISCOVERIES, LOST, CampaignReport
from rocketmq_conformance.reports.event import (
    CaseLost,
    Discovery,
    DivergenceFound,
    Event,
    Progress,
    RunEnded,
    RunStarted,
    Separator,
    SuiteEnded,
    Voices,
)
from rocketmq_conformance.reports.jsonl import read
from rocketmq_conformance.reports.kinds import MOST, MOST_OF_SUITE


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _no_terminal_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def events() -> list[Event]:
    return read(GOLDEN / "campaign.events.jsonl").events


def printed(stream: list[Event], terminal: io.StringIO | None = None, *, width: int = 80, verbose: bool = False) -> str:
    out = terminal or io.StringIO()
    report = CampaignReport(out, width=width, verbose=verbose)
    for event in stream:
        report(event)
    report.close()
    return out.getvalue()


def with_more(*more: Event) -> list[Event]:
    """The golden campaign with further events before its end."""
    *before, end = events()
    return [*before, *more, end]


def found() -> DivergenceFound:
    return [event for event in events() if isinstance(event, DivergenceFound)][1]


def progress(cases: int, seconds: float, **more: int) -> Progress:
    return dataclasses.replace(Progress(suite="", cases=cases, of=1000, steps=40 * cases, seconds=seconds), **more)


@pytest.mark.parametrize(("name", "verbose"), [("campaign.console.txt", False), ("campaign.verbose.txt", True)])
def test_a_campaign_prints_the_golden_text(name: str, verbose: bool) -> None:
    path, text = GOLDEN / name, printed(events(), verbose=verbose)
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@pytest.mark.parametrize("width", [40, 80, 200])
def test_plain_output_has_no_control_codes_and_no_trailing_blanks(width: int) -> None:
    stream = with_more(progress(10, 30.0))
    assert all(line == line.rstrip() and line.isprintable() for line in printed(stream, width=width).split("\n"))


def test_a_difference_between_implementations_is_reported_after_what_differs_from_the_model() -> None:
    difference = dataclasses.replace(
        found(),
        address="mutant:x",
        against="python:myport.adapter:create",
        cases=4711,
        separates=[Separator(feature="queue = 1", diverging=1.0, others=0.125)],
    )
    short, verbose = (printed(with_more(difference), verbose=verbose) for verbose in (False, True))
    assert "\nDifference 3: remote-store, case 17 of mutant:x and 4,710 more ─" in short
    assert "\nDifference 4: remote-store ─" in verbose
    assert "\nseen in        4,711 cases, the shortest is case 17 of mutant:x\n" in verbose
    for text in (short, verbose):
        lines_shown = text[text.index("Difference ") : text.index("Suites ─")]
        assert "compared with  python:myport.adapter:create\n" in lines_shown
        assert "separates      queue = 1: 100% of those that diverge, 12% of the others\n" in lines_shown


def test_voices_say_who_parts_from_whom_and_since_when() -> None:
    releases = [f"java-client:5.1.{number}" for number in range(5)]
    stream = [event for event in events() if not isinstance(event, (DivergenceFound, SuiteEnded))]
    ended = next(event for event in events() if isinstance(event, SuiteEnded))
    parts = [dataclasses.replace(ended, address=one) for one in ("port", *releases)]
    voices = Voices(
        suite="remote-store",
        cases=4711,
        case=17,
        addresses=[["port", *releases[:3]], [releases[3]], [releases[4]], []],
        rules=[["port", *releases[:2]], [], [releases[4]], releases[2:4]],
        since=[[releases[3], releases[2]], [releases[4], releases[3]]],
    )
    many = [dataclasses.replace(voices, cases=1) for _ in range(20)]
    short, verbose = (printed([*stream[:-1], *parts, voices, *many, stream[-1]], verbose=one) for one in (False, True))
    assert (
        """
remote-store  4,711  port, java-client:5.1.0 … java-client:5.1.2 (3), of which
                     java-client:5.1.2 against the rules
                     java-client:5.1.3, against its rules
                     java-client:5.1.4
                     the rules of java-client:5.1.2, java-client:5.1.3
                     since java-client:5.1.3, java-client:5.1.4
"""
        in short
    )
    assert "9 rows of voices" in " ".join(short.split())
    assert verbose.count("since java-client:5.1.3") == 21


def test_very_many_kinds_are_not_all_shown() -> None:
    many = [
        dataclasses.replace(
            found(),
            suite=f"suite-{number % 8}",
            rules=[{**found().rules[0], "id": f"RULE-{number:02}"}],
            fingerprint=f"{number:016x}",
        )
        for number in range(80)
    ]
    stream = [event for event in events() if not isinstance(event, DivergenceFound)]
    short, verbose = (printed([*stream[:-1], *many, stream[-1]], verbose=verbose) for verbose in (False, True))
    assert len(re.findall("^Divergence", short, re.MULTILINE)) == MOST
    assert all(short.count(f": suite-{number}, case") <= MOST_OF_SUITE for number in range(8))
    assert len(short.splitlines()) <= 60 + MOST * short_block.LINES
    assert "left out       70 of 80 kinds of divergences (1 of RULE-" in short
    assert verbose.count("model before") == 80


def test_a_campaign_of_very_many_suites_that_conforms_prints_at_most_sixty_lines() -> None:
    header, *_ = (event for event in events() if isinstance(event, RunStarted))
    ended = next(event for event in events() if isinstance(event, SuiteEnded))
    suites = [
        dataclasses.replace(
            ended,
            suite=f"suite-{number}",
            address=address,
            verdict="conforms",
            cases={"conforms": 100, "unsupported": number},
            unsupported=dict.fromkeys(map(str, range(number)), "not offered"),
        )
        for number in range(25)
        for address in ("port", "java-client:5.5.0", "python:myport.adapter:create")
    ]
    arms = [
        Discovery(suite=suite, arm=arm, cases=9, behaviours=9, chance=0.1, curve=[])
        for suite in ("", *(f"suite-{number}" for number in range(25)))
        for arm in ("random", "steered")
    ]
    stream = [header, *suites, *arms, events()[-1]]
    short, verbose = (printed(stream, verbose=verbose) for verbose in (False, True))
    assert len(short.splitlines()) <= 60
    assert re.search(r"^75 parts +conforms +8,400 cases +", short, re.MULTILINE)
    assert re.search(
        r"^left out +\d+ reasons, the new behaviour of each suite, the result\s+of\s+each\s+rule$", short, re.M
    )
    assert len(arms) > DISCOVERIES
    assert len(re.findall("^suite-24 .* random ", verbose, re.MULTILINE)) == 1


def test_very_many_lost_cases_are_not_all_named() -> None:
    lost = [
        CaseLost(suite="remote-store", case=case, address="mutant:x", reason="it hung for 70 s, twice")
        for case in range(100, 130)
    ]
    short, verbose = (printed(with_more(*lost), verbose=verbose) for verbose in (False, True))
    assert short.count(" (mutant:x): it hung for 70 s, twice\n") == LOST - 1
    assert f"left out       {31 - LOST} lost cases, the result of each rule\n" in short
    assert verbose.count(" (mutant:x): it hung for 70 s, twice\n") == 30


def test_a_chance_of_nothing_new_is_reported_by_the_rule_of_three() -> None:
    text = printed(
        with_more(
            Discovery(suite="start", arm="steered", cases=600, behaviours=12, chance=0.0, curve=[]),
            Discovery(suite="start", arm="", cases=5, behaviours=1, chance=0.0, curve=[]),
        )
    )
    assert re.search(r"^start +steered +600 +12 +< 0\.5%$", text, re.MULTILINE)
    assert re.search(r"^start +both +5 +1 +< 60%$", text, re.MULTILINE)
    assert re.search(r"^all +random +1,000 +40 +0\.2%$", text, re.MULTILINE)


def test_hostile_names_do_not_reach_the_terminal() -> None:
    hostile = "\x1b[2J\x1b]0;title\x07 [bold]x[/] \u202e"
    suite = next(event for event in events() if isinstance(event, SuiteEnded))
    text = printed(
        with_more(
            dataclasses.replace(suite, address=hostile, reason=hostile, unsupported={hostile: hostile}),
            CaseLost(suite=hostile, case=1, address=hostile, reason=hostile),
            Discovery(suite=hostile, arm=hostile, cases=1, behaviours=1, chance=0.5, curve=[]),
            dataclasses.replace(found(), address=hostile, against=hostile, replay=hostile),
        )
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]x[/]" in text


# --- progress ---------------------------------------------------------------------------------------------------


def lines(*lines_shown: Progress) -> list[str]:
    header = events()[0]
    assert isinstance(header, RunStarted)
    return [line for line in printed([header, *lines_shown]).splitlines() if " of 1,000 cases" in line]


def test_elsewhere_there_is_a_plain_line_now_and_then() -> None:
    lines_shown = [progress(10 * number, float(number)) for number in range(1, 100)]
    assert 5 <= len(lines(*lines_shown)) <= 15
    assert lines(*lines_shown)[0] == (
        "50 of 1,000 cases, 10 cases/s, 400 steps/s, 0 behaviours, 0 divergences, 1 min 35 s left"
    )


def test_the_time_that_spark_takes_to_start_slows_nothing_down() -> None:
    assert lines(progress(0, 20.0), progress(0, 30.0), progress(100, 40.0, behaviours=1234, divergences=1)) == [
        "0 of 1,000 cases, Spark and its workers are starting",
        "100 of 1,000 cases, 10 cases/s, 400 steps/s, 1,234 behaviours, 1 divergence, 1 min 30 s left",
    ]


def test_a_resumed_campaign_counts_its_own_cases_only() -> None:
    begun = progress(500, 0.0, cases_before=500, steps_before=20_000)
    [line] = lines(begun, dataclasses.replace(begun, cases=600, steps=24_000, seconds=10.0))
    assert line.startswith("600 of 1,000 cases, 10 cases/s, 400 steps/s, ")
    assert line.endswith(", 40.0 s left")
    assert lines(progress(1000, 9.0, cases_before=1000)) == ["1,000 of 1,000 cases, every case is played"]


def test_a_terminal_gets_live_progress_that_goes_away() -> None:
    out = Terminal()
    report = CampaignReport(out, width=120)
    report(events()[0])
    report(progress(0, 0.5))
    assert "Spark and its workers are starting" in out.getvalue()
    report(progress(250, 5.5))
    assert "250 of 1,000 cases" in out.getvalue()
    assert "50 cases/s, 2,000 steps/s" in out.getvalue()
    before = len(out.getvalue())
    for event in events()[1:]:
        report(event)
    ended = out.getvalue()[before:]
    assert "\x1b[2K" in ended
    assert ended.index("\x1b[?25h") < ended.index("Divergence 1")


def test_colours_are_for_terminals_and_who_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.search("\x1b\\[(1;)?31m", printed(events(), Terminal()))
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = printed(with_more(progress(10, 30.0)))
    assert re.search("\x1b\\[(1;)?31m", forced)
    # what is forced is colour, not a cursor that moves
    assert "\x1b[2K" not in forced
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.setenv("NO_COLOR", "1")
    codes = re.findall("\x1b\\[([0-9;]*)m", printed(events(), Terminal()))
    assert not [code for code in codes if re.search(r"(^|;)(3|4|9|10)[0-7](;|$)", code)]


# --- ends -------------------------------------------------------------------------------------------------------


def test_the_last_line_has_verdict_and_seed() -> None:
    assert printed(events()).splitlines()[-1] == "Verdict: diverges (exit code 1). Seed 1729."


def test_what_is_left_is_reported() -> None:
    stream = [
        dataclasses.replace(event, stopped="divergence limit", left=12_345) if isinstance(event, RunEnded) else event
        for event in events()
    ]
    text = printed(stream)
    assert "not played     12,345 cases\n" in text
    assert "divergence limit" in text.splitlines()[-1]


def test_a_campaign_that_breaks_off_says_what_is_known() -> None:
    text = printed([*events()[:-1], progress(3, 1.0)], Terminal())
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
    assert "undecided" in text.splitlines()[-1] or "diverges" in text.splitlines()[-1]
    assert printed([]) == ""
