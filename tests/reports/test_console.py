"""What people read: golden output, colours, live progress, strange terminals and strange names.

REWRITE_GOLDEN=1 writes the golden files anew; read the difference before it is kept.
"""

from __future__ import annotations

import dataclasses
import io
import math
import os
import re

import pytest
from event_streams import run_of_suites
from every import every
from places import GOLDEN

from rocketmq_conformance.reports import short_block
from rocketmq_conformance.reports.console import ConsoleReport
from rocketmq_conformance.reports.event import (
    DIVERGES,
    CaseEnded,
    DivergenceFound,
    Event,
    Progress,
    RunEnded,
    RunStarted,
    Separator,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.reports.jsonl import read
from rocketmq_conformance.reports.kinds import MOST
from rocketmq_conformance.reports.power import PowerReport

RUNS = ("conforms", "diverges", "corpus", "undecided", "interrupted", "killed", "empty")
#: A history of requests at the same time, of which one differs.
REQUESTS = [
    ["one", f"commit {n} to queue 0, as asked", str(n), str(n + 4), "done", "none" if n == 1 else ""] for n in range(9)
]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _no_terminal_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def events(name: str) -> list[Event]:
    return read(GOLDEN / f"{name}.events.jsonl").events


def printed(stream: list[Event], terminal: io.StringIO | None = None, *, width: int = 80, verbose: bool = False) -> str:
    out = terminal or io.StringIO()
    report = ConsoleReport(out, width=width, verbose=verbose)
    for event in stream:
        report(event)
    report.close()
    return out.getvalue()


def with_header(*more: Event, width: int = 80) -> str:
    """What is printed of these events of a run that is cut off then."""
    return printed([events("diverges")[0], *more], width=width)


def found(name: str = "diverges") -> DivergenceFound:
    return [event for event in events(name) if isinstance(event, DivergenceFound)][1]


def same_as_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@every("name", RUNS)
def test_a_run_prints_the_golden_text(name: str) -> None:
    same_as_golden(f"{name}.console.txt", printed(events(name)))


def test_a_verbose_run_prints_the_golden_text() -> None:
    same_as_golden("diverges.verbose.txt", printed(events("diverges"), verbose=True))


def test_a_kill_matrix_prints_the_golden_text() -> None:
    out = io.StringIO()
    report = PowerReport(out, width=80)
    for event in events("power"):
        report(event)
    report.close()
    same_as_golden("power.console.txt", out.getvalue())


@pytest.mark.parametrize(("verbose", "place"), [(False, 1), (True, 3)])
def test_the_documented_blocks_are_what_is_printed(verbose: bool, place: int) -> None:
    documented = (GOLDEN.parents[1] / "docs" / "guides" / "failure.md").read_text("utf-8").split("```\n")[place]
    assert documented.startswith(f"Divergence {2 if verbose else 1}: ")
    assert documented in printed(events("diverges"), verbose=verbose)


@every("name", RUNS)
def test_plain_output_has_no_control_codes_and_no_trailing_blanks(name: str) -> None:
    text = printed(events(name))
    assert all(line == line.rstrip() and line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_only_lines_to_be_copied_are_wider_than_the_screen(width: int, verbose: bool) -> None:
    text = printed(events("diverges"), width=width, verbose=verbose)
    wide = [line for line in text.splitlines() if len(line) > width]
    assert all(re.match(r"(replay|events|junit|page|all of it|Verdict:) |  again: ", line) for line in wide)


def test_the_replay_line_stays_one_line_on_a_narrow_screen() -> None:
    assert found().replay in {
        line.removeprefix("replay").strip() for line in with_header(found(), width=40).splitlines()
    }


@every(
    ("seconds", "said"),
    [
        (9.0, ""),
        (41.2, "remote-store waits: 200 cases take about 41 s"),
        (322.0, "remote-store waits: 200 cases take about 5 min 22 s"),
        (math.inf, ""),
    ],
)
def test_a_suite_that_waits_says_before_it_begins_how_long_it_takes(seconds: float, said: str) -> None:
    stream = [
        dataclasses.replace(event, expected_seconds=seconds)
        if isinstance(event, SuiteStarted) and event.suite == "remote-store"
        else event
        for event in events("conforms")
    ]
    lines = printed(stream).splitlines()
    assert [line for line in lines if " waits: " in line] == ([said] if said else [])
    ended = next(at for at, line in enumerate(lines) if re.match("remote-store +conforms", line))
    assert not said or lines.index(said) < ended


def test_suites_that_take_turns_say_what_all_of_them_cost_and_what_differs_as_it_is_found() -> None:
    stream: list[Event] = []
    for event in events("diverges"):
        if isinstance(event, SuiteStarted):
            event = dataclasses.replace(event, expected_seconds=30.0, turns=2)
        elif isinstance(event, CaseEnded) and event.verdict == DIVERGES:
            event = dataclasses.replace(event, rule="OFF-R-READ")
        stream.append(event)
    stream.sort(key=lambda event: 2 - isinstance(event, SuiteStarted) - 2 * isinstance(event, RunStarted))
    starts = [event for event in stream if isinstance(event, SuiteStarted)]
    at = 1 + len(starts)
    stream.insert(at, Progress(suite="", cases=9, of=400, steps=90, seconds=61.0, divergences=2, left=75.0))
    lines = printed(stream, width=120).splitlines()
    assert len(starts) == 2
    cases = sum(event.cases for event in starts)
    assert (
        f"2 suites take turns: {cases} cases take about 1 min 00 s, and each kind of divergences as long as ten more"
        in lines
    )
    assert "2 suites: 9 of 400 cases after 1 min 01 s, 2 kinds of divergences; about 1 min 15 s more" in lines
    differing = {(one.suite, one.rule) for one in stream if isinstance(one, CaseEnded) and one.verdict == DIVERGES}
    assert differing
    for suite, rule in differing:
        (line,) = [line for line in lines if line.startswith(f"{suite}, ") and line.endswith(f" diverges in {rule}")]
        assert lines.index(line) < next(at for at, line in enumerate(lines) if re.match(f"{suite} +diverges", line))


def test_a_suite_that_waits_says_once_that_it_looks_for_a_shorter_plan() -> None:
    for seconds, said in ((9.0, 0), (41.2, 1)):
        stream = [
            dataclasses.replace(event, expected_seconds=seconds) if isinstance(event, SuiteStarted) else event
            for event in events("diverges")
        ]
        suites = {one.suite for one in stream if isinstance(one, CaseEnded) and one.verdict == DIVERGES}
        lines = [line for line in printed(stream).splitlines() if "a shorter plan is looked for" in line]
        assert len(lines) == said * len(suites)
        assert suites


def test_the_first_line_says_which_release_judges_and_why() -> None:
    started = events("conforms")[0]
    assert isinstance(started, RunStarted)
    choice = "judged as client 5.5.0, because nothing says otherwise; --like 4.9.8 judges by another release"
    lines = printed([dataclasses.replace(started, release_choice=choice)], width=120).splitlines()
    assert lines[0] == f"J{choice[1:]}."
    assert lines[1:3] == printed([started], width=120).splitlines()[:2]


def configured(number: int) -> RunStarted:
    """The header of a run of a broker with so many properties off their default."""
    started = events("conforms")[0]
    assert isinstance(started, RunStarted)
    one = {"value": "true", "kind": "modelled", "sentence": "lockInStrictMode=true is judged"}
    return dataclasses.replace(started, properties=[{**one, "name": f"p{at}"} for at in range(number)])


def test_properties_of_a_broker_come_before_everything_else() -> None:
    lines = printed([configured(2)], width=120).splitlines()
    assert lines[:2] == ["lockInStrictMode=true is judged."] * 2
    assert lines[2].startswith("rocketmq-conformance")


def test_many_properties_are_named_in_a_line() -> None:
    short = printed([configured(8)], width=120)
    assert short.count("is judged.") == 5
    assert "Off their default, too: p5=true, p6=true, p7=true." in short
    assert printed([configured(8)], width=120, verbose=True).count("is judged.") == 8


def test_a_run_that_never_began_prints_nothing() -> None:
    assert printed([]) == ""


# --- how long it gets --------------------------------------------------------------------------------------------


def of_kinds(*, suites: int, kinds: int, times: int) -> list[DivergenceFound]:
    """Divergences of as many kinds in each suite, each kind so many times, with long plans, rules and answers."""
    one = found()
    steps = [dataclasses.replace(one.steps[0], number=at + 1, diverges=False) for at in range(30)]
    last = dataclasses.replace(one.steps[-1], number=31, operation="read(" + "queue=0, " * 40 + ")")
    rules = [{**one.rules[0], "sentence": "A rule with many words. " * 20}] * 3
    long = dataclasses.replace(one, steps=[*steps, last], rules=rules, expected="1, " * 90, observed="2, " * 90)
    return [
        dataclasses.replace(
            long,
            suite=f"rebalance-broker-{suite:02}",
            rules=[{**rules[0], "id": f"RULE-{suite}-{kind}"}, *rules[1:]],
            fingerprint=f"{suite}-{kind}",
            case=time,
        )
        for time in range(times)
        for kind in range(kinds)
        for suite in range(suites)
    ]


@pytest.mark.parametrize("number", [1, 16, 22, 23, 60, 300])
def test_a_conforming_run_prints_at_most_sixty_lines(number: int) -> None:
    lines = printed(run_of_suites(number)).splitlines()
    assert len(lines) <= 60
    assert lines[-1].startswith("Verdict: conforms (exit code 0)")


def test_the_numbers_say_when_the_first_and_the_last_kind_were_found() -> None:
    times = {"0d44c1f2b8a90e13": 72.0, "9b1c2d3ea7f04456": 1385.0}
    stream = events("diverges")
    for at, event in enumerate(stream):
        if isinstance(event, DivergenceFound):
            stream[at] = dataclasses.replace(event, found_after=times[event.fingerprint])
    assert "divergences    3, 2 different, found after 1 min 12 s to 23 min 05 s\n" in printed(stream)


def test_divergences_add_at_most_twelve_lines_each_and_ten_blocks() -> None:
    many = of_kinds(suites=5, kinds=8, times=13)
    assert len(many) > 500
    text = printed(run_of_suites(60, *many))
    # below the lines of the five suites that diverge stand their numbers
    assert len(text.splitlines()) <= 60 + MOST * short_block.LINES + 2 * 5
    assert len(re.findall("^Divergence ", text, re.MULTILINE)) == MOST
    words = " ".join(text.split())
    assert re.search(
        r"left out 30 of 40 kinds of divergences \(1 of RULE-\d-\d, .* and 26 more\), \d+ reasons, the result of", words
    )
    assert re.search(r"^all of it +rocketmq-conformance report conformance-out/\S+ --verbose$", text, re.MULTILINE)


@pytest.mark.parametrize("against", ["model", "python:my_port.adapter:make"])
@pytest.mark.parametrize(("steps", "requests"), [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (30, 0), (1, 2), (30, 9)])
def test_a_short_block_has_its_lines_whatever_is_in_it(steps: int, requests: int, against: str) -> None:
    [long] = of_kinds(suites=1, kinds=1, times=1)
    separates = [Separator(feature="queue = 1", diverging=1.0, others=0.125)] * 5
    one = dataclasses.replace(long, steps=long.steps[len(long.steps) - steps :], against=against, separates=separates)
    one = dataclasses.replace(one, history=REQUESTS[:requests])
    stream = run_of_suites(1)
    for width in (60, 80, 120):
        with_it = printed([*stream[:-2], one, *stream[-2:]], width=width)
        block = re.search(r"^(Divergence|Difference) 1: .*?\nreplay [^\n]*\n\n", with_it, re.MULTILINE | re.DOTALL)
        assert block is not None
        assert block[0].count("\n") <= short_block.LINES
        assert ("\ntime  " in block[0]) == bool(requests)


def test_the_clearest_kinds_are_shown_one_of_each_rule() -> None:
    kinds = [
        ("start", "should-be", "R-SHOULD", "SHOULD", "lost", 1, 1),
        ("remote-store", "often", "R-1", "MUST", "lost", 2, 50),
        ("remote-store", "rare", "R-2", "MUST", "repeated", 2, 1),
        ("remote-store", "long", "R-3", "MUST", "lost", 3, 1),
        ("remote-store", "harmless", "R-4", "MUST", "only different", 1, 1),
        ("remote-store", "again", "R-2", "MUST", "lost", 4, 1),
        ("pull", "elsewhere", "R-2", "MUST", "skipped", 5, 1),
        ("pull", "longest", "R-5", "MUST", "skipped", 6, 200),
    ]
    one = found()
    stream = [
        dataclasses.replace(
            one,
            suite=suite,
            rules=[{**one.rules[0], "id": rule, "level": level}],
            fingerprint=name,
            harm=harm,
            steps=[one.steps[-1]] * steps,
            cases=cases,
            replay=name,
        )
        for suite, name, rule, level, harm, steps, cases in kinds
    ]
    text = with_header(*stream, width=120)
    shown = re.findall("^replay +(.*)$", text, re.MULTILINE)
    assert shown == ["often", "longest", "rare", "long", "harmless", "should-be"]
    assert "2 of 8 kinds of divergences (2 of R-2)" in text


def test_repeats_are_a_count_and_verbose_a_line_each() -> None:
    short = printed(events("diverges"))
    # it does more harm than the one that was found before it
    assert "Divergence 1: remote-store, case 17 and 1 more ─" in short
    assert "again:" not in short
    verbose = printed(events("diverges"), verbose=True)
    for text in (short, verbose):
        assert text.count("Divergence 2:") == 1
        assert "Divergence 3:" not in text
    assert "again: fingerprint 9b1c2d3ea7f04456, remote-store, case 63" in verbose


def test_a_verbose_run_shows_every_kind_in_full() -> None:
    many = of_kinds(suites=2, kinds=MOST, times=1)
    assert printed([events("diverges")[0], *many], verbose=True).count("model before") == 2 * MOST
    assert len(re.findall("^Divergence", with_header(*many), re.MULTILINE)) == MOST


def test_many_suites_that_conform_share_lines_and_others_have_their_own() -> None:
    stream = run_of_suites(60)
    stream = [
        dataclasses.replace(event, verdict="undecided", reason="the planted wrong answer was not noticed")
        if isinstance(event, SuiteEnded) and event.suite == "rebalance-broker-31"
        else event
        for event in stream
    ]
    text = printed(stream)
    assert re.search(r"^rebalance-broker-00 \+2   conforms +6\d\d cases, ", text, re.MULTILINE)
    assert re.search(r"^rebalance-broker-31 +undecided +2\d\d cases, ", text, re.MULTILINE)
    assert "  the planted wrong answer was not noticed\n" in text
    # every suite is counted once
    shared = re.findall(r"^rebalance-broker-\d\d (?:\+(\d+))? ", text, re.MULTILINE)
    assert sum(int(others or 0) + 1 for others in shared) == 60
    assert len(re.findall("^rebalance-broker-", printed(stream, verbose=True), re.MULTILINE)) >= 2 * 60


def test_reasons_beyond_a_few_are_counted() -> None:
    header, started, *_ = events("undecided")
    reasons = [
        CaseEnded(
            suite="allocation", case=at, verdict="undecided", steps=1, seconds=0.1, digest="", reason=f"why {why}"
        )
        for at, why in enumerate("abcdefghi")
    ]
    ended = next(event for event in events("undecided") if isinstance(event, SuiteEnded))
    short, verbose = (printed([header, started, *reasons, ended], verbose=verbose) for verbose in (False, True))
    assert "  undecided: why c (case 2)\n  and 6 more reasons\n" in short
    assert "  undecided: why e (case 4)\n  and 4 more reasons\n" in verbose


def test_what_is_left_out_of_a_run_that_is_not_kept_is_had_by_the_same_command() -> None:
    header, *rest = events("conforms")
    assert isinstance(header, RunStarted)
    text = printed([dataclasses.replace(header, out=""), *rest])
    assert "\nleft out       the result of each rule\nall of it      the same with --verbose\n" in text
    assert "left out" not in printed(events("conforms"), verbose=True)


def test_long_answers_are_told_apart_by_an_excerpt() -> None:
    text = printed(events("diverges"), verbose=True)
    assert "difference     ...t', 'broker-a', 3))\n               ...t', 'broker-a', 4))\n" in text
    text = printed(events("diverges"))
    assert "expected       ...t', 'broker-a', 3))\nobserved       ...t', 'broker-a', 4))\n" in text


def test_the_coverage_of_a_verbose_run_has_every_rule_and_kind_of_state() -> None:
    text = printed(events("conforms"), verbose=True)
    assert re.search(r"^OFF-R-READ +MUST +holds +[\d,]+ +remote-store$", text, re.MULTILINE)
    assert "not reached, 1: no step of remote-store came to it in 200 cases: raise --cases\n  OFF-R-FETCH\n" in text
    assert "memory miss" in text
    assert "memory miss" not in printed(events("conforms"))


def test_escapes_of_the_implementation_do_not_reach_the_terminal() -> None:
    hostile = "\x1b[2J\x1b]0;title\x07 [bold]x[/] \r\n\u202e\ud800 \U0001f600"
    step = dataclasses.replace(found().steps[2], operation=hostile, observed=hostile, before=hostile)
    event = dataclasses.replace(found(), observed=hostile, steps=[*found().steps[:2], step], replay=hostile)
    text = with_header(event)
    assert "\x1b" not in text
    assert r"\x1b[2J\x1b]0;title\x07 [bold]x[/] \r\n\u202e\ud800 " + "\U0001f600" in text


def test_an_ascii_stream_is_no_reason_to_stop() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    report = ConsoleReport(out, width=80)
    header = events("conforms")[0]
    assert isinstance(header, RunStarted)
    report(dataclasses.replace(header, implementation="Портъ"))
    report(found())
    report.close()
    out.flush()
    assert rb"\u041f\u043e" in raw.getvalue()
    assert b"Divergence 1: remote-store, case 17 ----" in raw.getvalue()


def test_a_terminal_gets_colours() -> None:
    assert re.search("\x1b\\[(1;)?31m", printed(events("diverges"), Terminal()))


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    codes = re.findall("\x1b\\[([0-9;]*)m", printed(events("diverges"), Terminal()))
    assert not [code for code in codes if re.search(r"(^|;)(3|4|9|10)[0-7](;|$)", code)]


def test_a_terminal_gets_live_progress_that_goes_away() -> None:
    out = Terminal()
    report = ConsoleReport(out, width=100)
    header, suite = events("conforms")[:2]
    report(header)
    report(suite)
    report(Progress(suite="allocation", cases=50, of=200, steps=500, seconds=0.25))
    assert "50 of 200 cases" in out.getvalue()
    assert "200 cases/s, 2,000 steps/s" in out.getvalue()
    before = len(out.getvalue())
    report(events("conforms")[3])
    ended = out.getvalue()[before:]
    assert "\x1b[2K" in ended
    assert "\x1b[?25h" in ended


def test_progress_is_not_for_plain_streams() -> None:
    header, suite = events("conforms")[:2]
    assert "50 of 200" not in printed(
        [header, suite, Progress(suite="allocation", cases=50, of=200, steps=500, seconds=0.25)]
    )


def test_a_run_that_breaks_off_gives_the_cursor_back() -> None:
    text = printed(events("conforms")[:2], Terminal())
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")


@every("name", RUNS)
def test_the_last_line_has_verdict_and_seed(name: str) -> None:
    last = printed(events(name)).splitlines()[-1]
    assert last.startswith("Verdict: ")
    assert last.endswith(" Seed 1729.")


def test_a_footer_that_claims_too_much_is_not_believed() -> None:
    claim = [
        dataclasses.replace(event, verdict="conforms", exit_code=0) if isinstance(event, RunEnded) else event
        for event in events("diverges")
    ]
    last = printed(claim).splitlines()[-1]
    assert last.startswith("Verdict: undecided (exit code 5): the run claims to conform, but ")


def test_an_interrupted_run_says_so_and_where_it_is_kept() -> None:
    last = printed(events("interrupted")).splitlines()[-1]
    assert last.startswith("Verdict: undecided (exit code 3): interrupted, what did run is kept in conformance-out/")


def test_the_time_limit_is_reported() -> None:
    stream = [
        dataclasses.replace(e, stopped="time limit") if isinstance(e, RunEnded) else e for e in events("conforms")
    ]
    assert printed(stream).endswith("Verdict: conforms (exit code 0): stopped by the time limit. Seed 1729.\n")
