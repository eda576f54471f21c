"""Clients in Java, Go, C++ and for Node as ordinary programs, with their own timers, built and judged by traffic."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from builds import built_once
from places import ROOT
from waiting import wait_until

from rocketmq_conformance.conformance.api import run
from rocketmq_conformance.conformance.engine.handshake import profile_of
from rocketmq_conformance.conformance.targets.address import through_address
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.real_broker import real_broker
from rocketmq_conformance.conformance.targets.client_program.smoke import look_at
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.outcome import Ok, Outcome
from rocketmq_conformance.reports.event import CaseEnded
from rocketmq_conformance.suites import whole_commit, whole_push, whole_subscriptions

pytestmark = pytest.mark.languages

#: Seconds until the share of a queue shows on a busy machine.
LIMIT = 90.0
EXAMPLES = ROOT / "examples"
LINUX = sys.platform == "linux" and platform.machine() == "x86_64"
COMMANDS = {
    "java": ["sh", str(EXAMPLES / "java" / "build.sh"), "5.5.0"],
    "go": ["go", "build", "-o"],
    "node": ["npm", "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"],
    "cpp": [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "rocketmq==0.4.4", "--target"],
}
#: How a script starts a program.
SCRIPTS = {
    "node": "exec node {folder}/consumer.js",
    "cpp": f"PYTHONPATH={{folder}} exec {sys.executable} {{folder}}/consumer.py",
}


#: What each conforms in, but for what is signed for; the Go client loses messages that a broker does not take back
#: (whole-listener).
SUITES = {"java": ["whole-push", "whole-listener", "whole-orderly-listener"], "go": ["whole-push", "whole-allocation"]}

#: Seeds of three cases that meet nothing that the client is known for: the Go client does not start without a route.
SEEDS = {"go": 437, "java": 1}


def build(language: str, folder: Path) -> None:
    """Build the program of a language in a folder."""
    where = {"go": [str(folder / "consumer"), "./consumer"], "node": []}.get(language, [str(folder)])
    place = EXAMPLES / "go" if language == "go" else folder
    if language in SCRIPTS:
        shutil.copytree(EXAMPLES / language, folder, dirs_exist_ok=True, ignore=lambda *_: ["node_modules"])
    built = subprocess.run(
        [*COMMANDS[language], *where], cwd=place, env=os.environ, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    if language in SCRIPTS:
        program = folder / "consumer"
        program.write_text(f"#!/bin/sh\n{SCRIPTS[language].format(folder=folder)}\n")
        program.chmod(0o755)


@pytest.fixture(scope="session")
def program_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The program of a language, which is built when it is asked for first."""
    return lambda language: built_once(language, partial(build, language), tmp_path_factory) / "consumer"


def signed_ends(folder: Path) -> Path:
    """What is signed for of the ends of the Go client: no case here meets the rest, whose plans take minutes."""
    head, *entries = (EXAMPLES / "go" / "consumer" / "expected.toml").read_text().split("[[expected]]")
    kept = folder / "ends.toml"
    kept.write_text("[[expected]]".join([head, *(one for one in entries if '"TIMER-END"' in one)]))
    return kept


@pytest.mark.parametrize("language", list(SUITES))
def test_an_ordinary_program_conforms(language: str, program_of: Callable[[str], Path], tmp_path: Path) -> None:
    program = program_of(language)
    signed = signed_ends(tmp_path) if language == "go" else None
    seed = SEEDS[language]
    events = list(
        run(f"client:{program}", suites=SUITES[language], cases=3, seed=seed, tiers=["seeded"], expected=signed)
    )
    ended = [(one.verdict, one.reason) for one in events if isinstance(one, CaseEnded)]
    # a machine that is too busy for the client's own timers may leave a case undecided
    assert {verdict for verdict, _ in ended} <= {"conforms", "undecided"}, ended
    assert ended.count(("conforms", "")) >= 2


@pytest.mark.parametrize(
    ("language", "asked"),
    [
        ("java", "tls=on&credentials=on"),
        ("go", "credentials=on"),
        pytest.param("node", "credentials=on", marks=pytest.mark.skipif(not shutil.which("npm"), reason="needs npm")),
        pytest.param("cpp", "credentials=on", marks=pytest.mark.skipif(not LINUX, reason="Linux on x86_64 alone")),
    ],
)
def test_it_encrypts_and_signs_where_that_is_asked_for(
    language: str, asked: str, program_of: Callable[[str], Path]
) -> None:
    program = open_address(f"client?{asked}:{program_of(language)}")
    assert isinstance(program, ClientProgram)
    missed = [one.what for one in look_at(program, limit=LIMIT).seen if not one.seen]
    assert missed == (["unregistered from its group"] if language == "go" else [])


def owners(outcome: Outcome) -> list[int]:
    """Who has each queue by a step's answer."""
    assert isinstance(outcome, Ok)
    return [owner for owner, _ in outcome.value[0]]


def test_it_goes_through_a_real_broker(program_of: Callable[[str], Path], tmp_path: Path) -> None:
    """Queues are shared, or in a way of its own; another topic and commits on demand show, too."""
    program = program_of("java")
    other = tmp_path / "other"
    other.write_text(f"#!/bin/sh\nROCKETMQ_STRATEGY=AVG_BY_CIRCLE exec {program}\n")
    other.chmod(0o755)
    through = real_broker(through_address("broker:5.5.0"))
    adapters = [ClientProgram(str(each), through=through) for each in (program, other)]
    groups = []
    try:
        for adapter in adapters:
            hello = adapter.hello()
            adapter.follow(profile_of(hello, {}))
            groups.append(adapter.case(whole_push.SUITE))
        assert (hello.broker, hello.version) == ("5.5.0", "through broker:5.5.0 (V5_5_0)")
        shares_queues(*groups)
        groups += [adapters[0].case(suite) for suite in (whole_subscriptions.SUITE, whole_commit.SUITE)]
        subscribes_and_commits(*groups[2:])
    finally:
        for group in groups:
            group.close()
        for adapter in adapters:
            adapter.close()


def shares_queues(right: PlayedGroup, wrong: PlayedGroup) -> None:
    """Of two groups of two members, one does what is expected, and the other differs."""
    assert right.do(whole_push.Join(0)) == Ok((((0, 12),) * 4, tuple((0, at, 0, 12) for at in range(4)), (12,) * 4))
    assert right.do(whole_push.Join(1)) == Ok(((*[(0, 12)] * 2, *[(1, 12)] * 2), (), (12,) * 4))
    # what differs shows soon, and what is expected is not waited for
    wrong._timing = replace(wrong._timing, look=3, round=1)
    wrong.do(whole_push.Join(0))
    wrong.do(whole_push.Join(1))
    wait_until(lambda: owners(wrong.do(whole_push.Look())) == [0, 1, 0, 1])


def subscribes_and_commits(topics: PlayedGroup, commits: PlayedGroup) -> None:
    """One group subscribes to another topic, and one commits when it is told to."""
    seven, twelve, nobody = tuple((0, at, 7, 5) for at in range(6)), (0, 12), (-1, -1)
    topics.do(whole_subscriptions.Prepare("young", 7, LAST))
    first = (twelve,) * 4 + (nobody,) * 2, seven[:4], (12,) * 4 + (7,) * 2, ((0,), (), ())
    assert topics.do(whole_subscriptions.Join(0)) == Ok(first)
    both = (twelve,) * 6, seven[4:], (12,) * 6, ((0, 1), (), ())
    assert topics.do(whole_subscriptions.Subscribe()) == Ok(both)
    commits.do(whole_commit.Prepare(4, "young", 7, LAST))
    assert stored(commits.do(whole_commit.Join(0))) == (7,) * 4
    assert stored(commits.do(whole_commit.Commit(0))) == (12,) * 4


def stored(outcome: Outcome) -> object:
    """The stored offsets by a step's answer."""
    assert isinstance(outcome, Ok)
    assert isinstance(outcome.value, tuple)
    return outcome.value[2]
