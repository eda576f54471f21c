"""The machine's own clock, waited for and measured: how far it can be off depends on what else the machine does."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import kit
from places import ROOT

from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.handshake import hello_of
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.rebalance_orderly import SUITE

pytestmark = pytest.mark.clock

#: How many times faster than standard: an error of 10 ms is one second of a plan.
PACE = 100


def test_a_plan_file_is_replayed_on_both_clocks(tmp_path: Path) -> None:
    file = tmp_path / "rebalance-orderly.plan.jsonl"
    plan.write(file, SUITE, Profile(), 3, [(0, sampler(SUITE, Profile()).case(3, 0, 20))])
    for address in ("port", f"port?clock=real&pace={PACE}"):
        done = kit("replay", str(file), address, cwd=tmp_path)
        assert done.returncode == 0, done.stdout
        assert ("goes by a real clock" in done.stdout) is (address != "port")


def test_a_run_says_which_ticks_it_left_out_and_how_to_play_them(tmp_path: Path) -> None:
    words = [
        "run",
        "port?clock=real&pace=2",
        "-k",
        "rebalance-orderly",
        "--cases",
        "1",
        "--steps",
        "40",
        "--tier",
        "seeded",
    ]
    done = kit(*words, "--seed", "4", "--max-wait", "0.5", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    printed = " ".join(done.stdout.split())
    assert "unsupported: tick: its clock is real, and ticks of up to 65 s are more than is waited for" in printed
    assert "--max-wait 65 allows them all" in printed
    assert "no more than 0.5 s are waited at once (--max-wait)" in printed


def test_timers_that_are_threads_need_no_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    suite = SUITES["consume-orderly"]
    stage = Stage(open_address(f"python:timer_threads:make?pace={PACE}"), Profile())
    hello_of(stage)
    player, drawn = Player(stage, Judge(suite, Profile())), sampler(suite, Profile())
    woken = 0
    for number in range(3):
        found = player.one(number, drawn.case(2, number, 30))
        assert found.verdict == CONFORMS, found.reason
        assert found.judged is not None
        woken += sum(step.why.kind == "another run" for step in found.judged.steps)
    assert woken
