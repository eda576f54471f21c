"""The real Java client, judged as a user judges it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from every import every

from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, UNSUPPORTED, SuiteEnded
from rocketmq_conformance.reports.tiers import CORPUS, HYPOTHESIS, SEEDED
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side

pytestmark = pytest.mark.java

CLIENT_SUITES = [name for name, suite in SUITES.items() if suite.side in (Side.PURE, Side.CLIENT)]


def judge(folder: Path, *args: str) -> tuple[int, str, list[SuiteEnded]]:
    """Exit code, standard error and the ends of the suites."""
    done = subprocess.run(
        [sys.executable, "-m", "rocketmq_conformance", "run", *args, "--seed", "1", "--out", "o"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    events = folder / "o" / jsonl.NAME
    ended = [event for event in jsonl.read(events).events if isinstance(event, SuiteEnded)] if events.exists() else []
    return done.returncode, done.stderr, ended


def plans(name: str) -> int:
    """Plans of the corpus that a run of the suite plays on 5.5.0."""
    suite, profile = SUITES[name], Profile.of(client="5.5.0")
    cases = corpus.cases([corpus.kit_folder()], [suite])[name]
    return sum(not suite.lacking(profile, case.rows) for case in cases)


def test_a_release_conforms_in_every_client_suite(tmp_path: Path) -> None:
    # proof-java has covering plans, and other releases
    tiers = (word for tier in (CORPUS, SEEDED, HYPOTHESIS) for word in ("--tier", tier))
    code, output, ended = judge(tmp_path, "java-client:5.5.0", "--cases", "20", *tiers)
    assert code == 0, output
    assert [event.suite for event in ended] == CLIENT_SUITES
    for event in ended:
        assert event.verdict == CONFORMS, event.reason
        assert event.cases[CONFORMS] > 20 + plans(event.suite)
        assert event.cases[CONFORMS] + event.cases[UNSUPPORTED] == sum(event.cases.values())
        assert event.control is True


def test_a_release_is_told_from_another_one(tmp_path: Path) -> None:
    code, _, ended = judge(tmp_path, "java-client:4.9.8", "--like", "5.5.0", "--cases", "20", "-k", "remote-store")
    assert code == 1
    assert ended[0].verdict == DIVERGES


def test_the_real_client_conforms_over_sockets(tmp_path: Path) -> None:
    code, output, ended = judge(tmp_path, "java-client:5.5.0?via=tcp", "-k", "remote-store", "--cases", "20")
    assert code == 0, output
    assert ended[0].verdict == CONFORMS
    assert ended[0].cases[CONFORMS] >= 20
    assert sum(ended[0].cases.values()) > 20 + plans("remote-store")
    assert "waits 5 s" in ended[0].unsupported["read"]


def test_a_release_that_there_is_none_of_is_refused(tmp_path: Path) -> None:
    code, output, ended = judge(tmp_path, "java-client:9.9.9")
    assert code == 4
    assert "Maven cannot get rocketmq-client 9.9.9" in output
    assert "Traceback" not in output
    assert ended == []


@every("name", ["pull", *(name for name in CLIENT_SUITES if name.startswith(("rebalance", "consume")))])
def test_what_is_stepped_by_hand_is_not_played_over_sockets(name: str) -> None:
    from rocketmq_conformance.conformance.targets.java_client.adapter import JavaClient

    assert "by hand" in JavaClient("5.5.0", via="tcp").hello().refuses(SUITES[name])
