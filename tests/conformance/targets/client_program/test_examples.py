"""The official clients in Java and Go as ordinary programs, with their own timers, built and judged by traffic."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from places import ROOT

from rocketmq_conformance.conformance.api import run
from rocketmq_conformance.conformance.engine.handshake import profile_of
from rocketmq_conformance.conformance.targets.address import open_address
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.real_broker import real_broker
from rocketmq_conformance.conformance.targets.client_program.smoke import look_at
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.outcome import Ok, Outcome
from rocketmq_conformance.reports.event import CaseEnded
from rocketmq_conformance.suites import whole_commit, whole_push, whole_subscriptions

pytestmark = pytest.mark.languages

#: Seconds until the share of a queue shows on a busy machine.
LIMIT = 90.0
EXAMPLES = ROOT / "examples"
COMMANDS = {
    "java": ["sh", str(EXAMPLES / "java" / "build.sh"), "5.5.0", "java"],
    "go": ["go", "build", "-C", str(EXAMPLES / "go"), "-o"],
}


#: What each conforms in, but for what is signed for; the Go client loses messages that a broker does not take back
#: (whole-listener).
SUITES = {"java": ["whole-push", "whole-listener", "whole-orderly-listener"], "go": ["whole-push", "whole-allocation"]}

#: Seeds of three cases that meet nothing that the client is known for: the Go client does not start without a route.
SEEDS = {"go": 437, "java": 1}


def build(language: str, folder: Path) -> Path:
    """Build the program of a language in a folder."""
    program = folder / language / "consumer"
    command = [*COMMANDS[language], *([str(program), "./consumer"] if language == "go" else [])]
    program.parent.mkdir()
    built = subprocess.run(command, cwd=folder, env=os.environ, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return program


def signed_ends(folder: Path) -> Path:
    """What is signed for of the ends of the Go client: no case here meets the rest, whose plans take minutes."""
    head, *entries = (EXAMPLES / "go" / "consumer" / "expected.toml").read_text().split("[[expected]]")
    kept = folder / "ends.toml"
    kept.write_text("[[expected]]".join([head, *(one for one in entries if '"TIMER-END"' in one)]))
    return kept


@pytest.mark.parametrize("language", list(COMMANDS))
def test_an_ordinary_program_conforms(language: str, tmp_path: Path) -> None:
    program = build(language, tmp_path)
    signed = signed_ends(tmp_path) if language == "go" else None
    seed = SEEDS[language]
    events = list(
        run(f"client:{program}", suites=SUITES[language], cases=3, seed=seed, tiers=["seeded"], expected=signed)
    )
    ended = [(one.verdict, one.reason) for one in events if isinstance(one, CaseEnded)]
    # a machine that is too busy for the client's own timers may leave a case undecided
    assert {verdict for verdict, _ in ended} <= {"conforms", "undecided"}, ended
    assert ended.count(("conforms", "")) >= 2


@pytest.mark.parametrize(("language", "asked"), [("java", "tls=on&credentials=on"), ("go", "credentials=on")])
def test_it_encrypts_and_signs_where_that_is_asked_for(language: str, asked: str, tmp_path: Path) -> None:
    program = open_address(f"client?{asked}:{build(language, tmp_path)}")
    assert isinstance(program, ClientProgram)
    missed = [one.what for one in look_at(program, limit=LIMIT).seen if not one.seen]
    assert missed == ([] if language == "java" else ["unregistered from its group"])


def owners(outcome: Outcome) -> list[int]:
    """Who has each queue by a step's answer."""
    assert isinstance(outcome, Ok)
    return [owner for owner, _ in outcome.value[0]]


def test_one_goes_through_a_real_broker_and_another_that_shares_queues_in_its_own_way_differs(tmp_path: Path) -> None:
    program = build("java", tmp_path)
    other = tmp_path / "other"
    other.write_text(f"#!/bin/sh\nROCKETMQ_STRATEGY=AVG_BY_CIRCLE exec {program}\n")
    other.chmod(0o755)
    through = real_broker("broker:5.5.0")
    adapters = [ClientProgram(str(each), through=through) for each in (program, other)]
    groups = []
    try:
        for adapter in adapters:
            hello = adapter.hello()
            adapter.follow(profile_of(hello, {}))
            groups.append(adapter.group(whole_push.SUITE))
        assert (hello.broker, hello.version) == ("5.5.0", "through broker:5.5.0 (V5_5_0)")
        right, wrong = groups
        assert right.do(whole_push.Join(0)) == Ok((((0, 12),) * 4, tuple((0, at, 0, 12) for at in range(4)), (12,) * 4))
        assert right.do(whole_push.Join(1)) == Ok(((*[(0, 12)] * 2, *[(1, 12)] * 2), (), (12,) * 4))
        # what differs shows soon, and what is expected is not waited for
        wrong._timing = replace(wrong._timing, look=3, round=1)
        wrong.do(whole_push.Join(0))
        shown = wrong.do(whole_push.Join(1))
        until = time.monotonic() + LIMIT
        while owners(shown) != [0, 1, 0, 1] and time.monotonic() < until:
            shown = wrong.do(whole_push.Look())
        assert owners(shown) == [0, 1, 0, 1]
    finally:
        for group in groups:
            group.close()
        for adapter in adapters:
            adapter.close()


def test_another_topic_and_commits_on_demand_show_at_a_real_broker(tmp_path: Path) -> None:
    adapter = ClientProgram(str(build("java", tmp_path)), through=real_broker("broker:5.5.0"))
    groups = []
    try:
        adapter.follow(profile_of(adapter.hello(), {}))
        groups = [adapter.group(suite) for suite in (whole_subscriptions.SUITE, whole_commit.SUITE)]
        topics, commits = groups
        seven, twelve, nobody = tuple((0, at, 7, 5) for at in range(6)), (0, 12), (-1, -1)
        topics.do(whole_subscriptions.Prepare("young", 7, LAST))
        first = (twelve,) * 4 + (nobody,) * 2, seven[:4], (12,) * 4 + (7,) * 2, ((0,), (), ())
        assert topics.do(whole_subscriptions.Join(0)) == Ok(first)
        both = (twelve,) * 6, seven[4:], (12,) * 6, ((0, 1), (), ())
        assert topics.do(whole_subscriptions.Subscribe()) == Ok(both)
        commits.do(whole_commit.Prepare(4, "young", 7, LAST))
        assert stored(commits.do(whole_commit.Join(0))) == (7,) * 4
        assert stored(commits.do(whole_commit.Commit(0))) == (12,) * 4
    finally:
        for group in groups:
            group.close()
        adapter.close()


def stored(outcome: Outcome) -> object:
    """The stored offsets by a step's answer."""
    assert isinstance(outcome, Ok)
    assert isinstance(outcome.value, tuple)
    return outcome.value[2]
