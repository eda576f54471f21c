"""The process of a player: real ones that play, die, hang, leak, and leave nothing behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import poisonous
import psutil
import pytest
from places import HELPERS
from waiting import wait_for_end, wait_until

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.player import player_supervisor
from rocketmq_conformance.conformance.campaign.player.player_supervisor import (
    Abandoned,
    PlayerDiedError,
    PlayerFaultError,
    PlayerSupervisor,
)
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.memory_folder import PARENT
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import VERDICTS
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler

pytestmark = pytest.mark.tables

HERE = str(HELPERS)
SUITE = "remote-store"
SPEC = CampaignSpec(("port",), (SUITE,), cases=60, seed=8, block=60, steps=6)


@contextlib.contextmanager
def player(*addresses: str, **changes: Any) -> Iterator[PlayerSupervisor]:
    opened = PlayerSupervisor(replace(SPEC, addresses=addresses or SPEC.addresses, **changes), (HERE,))
    try:
        yield opened
    finally:
        opened.close()


def play(first: int = 0, count: int = 60, **more: Any) -> dict[str, Any]:
    return {"do": "play", "suite": SUITE, "first": first, "count": count, "lost": {}, "singly": False, **more}


def test_what_a_start_does_is_passed_on() -> None:
    shown: list[tuple[str, str]] = []
    spec = replace(SPEC, addresses=("python:poisonous:Prepares",))
    with contextlib.closing(PlayerSupervisor(spec, (HERE,), on_start=lambda *what: shown.append(what))) as there:
        there.open()
    assert shown == [("building the client", ""), ("", "")]


def test_a_player_plays_what_this_process_would_play() -> None:
    suite, draw = SUITES[SUITE], sampler(SUITES[SUITE], Profile())
    here = Player(Stage(Port(), Profile()), Judge(suite, Profile()))
    expected = [one.digest for one in here.play((number, draw.case(SPEC.seed, number, 6)) for number in range(60))]
    with player() as there:
        [hello] = there.open()
        parts = list(there.ask(play()))
        assert (hello["name"], sum(part["count"] for part in parts)) == ("port", 60)
        found = array("q", b"".join(part["cases"]["port"]["digests"] for part in parts))
        assert [f"{number & (1 << 64) - 1:016x}" for number in found] == expected
        assert there.replaced == 0
        assert 1 << 20 < there.peak < 1 << 28


def test_a_player_that_dies_names_the_case() -> None:
    with player("port", "python:poisonous:Crashes") as there:
        for first, case in ((0, 5), (6, 17), (17, 17)):
            with pytest.raises(PlayerDiedError) as died:
                list(there.ask(play(first, 60 - first)))
            reason = "its process ended by SIGSEGV (Fatal Python error: Segmentation fault)"
            assert (str(died.value), died.value.case, died.value.address) == (reason, case, 1)
        assert there.replaced == 3
        assert sum(part["count"] for part in there.ask(play(41, 19))) == 19


def test_children_of_a_player_that_dies_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHILDREN", str(tmp_path))
    with player("python:poisonous:Forks") as there, pytest.raises(PlayerDiedError) as died:
        list(there.ask(play()))
    assert (str(died.value), died.value.case) == ("its process ended with code 4", 5)
    [child] = tmp_path.iterdir()
    wait_for_end(int(child.name))


def test_a_player_that_is_killed_names_the_case() -> None:
    with player("python:poisonous:Waits") as there:
        parts = there.ask(play())
        played = next(parts)["count"]
        os.kill(there.pid, signal.SIGKILL)
        with pytest.raises(PlayerDiedError, match=r"^its process ended by SIGKILL$") as died:
            list(parts)
        # it may not have gone on to the next case yet
        assert played - 1 <= died.value.case < 60
        assert sum(part["count"] for part in there.ask(play(count=3))) == 3


def test_a_player_that_is_killed_leaves_nothing_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv(PARENT, str(tmp_path))  # what would be in memory is here, too
    with player("python:poisonous:Waits") as there:
        parts = there.ask(play())
        next(parts)
        wait_until(lambda: list(tmp_path.glob("rocketmq-conformance-*/rocketmq-conformance-*")))
        os.kill(there.pid, signal.SIGKILL)
    assert not list(tmp_path.iterdir())


def test_a_player_that_hangs_where_no_signal_reaches_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_supervisor, "_GRACE", 0.5)
    with player("python:poisonous:HangsForGood", patience=0.5) as there:
        with pytest.raises(PlayerDiedError, match=r"^it hung for 1 s$") as died:
            list(there.ask(play()))
        assert died.value.case == 5
        # nor while it tells what was found
        tell = {"do": "report", "suite": SUITE, "address": there.spec.addresses[0], "against": "model", "case": 17}
        with pytest.raises(PlayerDiedError, match=r"^it hung for 1 s$"):
            list(there.ask({**tell, "folder": str(tmp_path)}))


def test_a_player_that_sleeps_ends_the_case_and_not_itself() -> None:
    with player("python:poisonous:Sleeps", patience=0.3) as there:
        parts = list(there.ask(play(count=8)))
        assert sum(part["count"] for part in parts) == 8
        [(_, reason)] = [one for part in parts for one in part["cases"]["python:poisonous:Sleeps"]["reasons"]]
        assert reason.endswith("within 0.3 s.")
        assert there.replaced == 0


def test_a_player_that_leaks_is_ended() -> None:
    with player("python:poisonous:Leaks", memory=256 << 20) as there:
        with pytest.raises(PlayerDiedError, match=r"^it took \d+ MiB of memory, more than the 256 it may$") as died:
            list(there.ask(play()))
        assert died.value.case == 5
        assert 256 << 20 < there.peak < 2 << 30


def test_what_an_implementation_prints_is_not_taken_for_an_answer() -> None:
    with player("python:poisonous:Prints") as there:
        verdicts = b"".join(part["cases"]["python:poisonous:Prints"]["verdicts"] for part in there.ask(play()))
        assert [VERDICTS[code] for code in verdicts] == ["conforms"] * 60


def test_what_an_implementation_prints_does_not_fill_the_disk() -> None:
    with player("python:poisonous:Talks") as there:
        sizes = []
        for _ in range(4):
            assert sum(part["count"] for part in there.ask(play())) == 60
            time.sleep(player_supervisor._LOOK)
            sizes.append(os.fstat(there._errors.fileno()).st_size)
        assert max(sizes) < player_supervisor._PRINTED + 61 * 4096 * 15


def test_children_that_an_implementation_leaves_behind_end_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHILDREN", str(tmp_path))
    with player("python:poisonous:ForksAndLives") as there:
        assert sum(part["count"] for part in there.ask(play(count=6))) == 6
        children = [int(child.name) for child in tmp_path.iterdir()]
        assert len(children) == 6
        assert all(map(psutil.pid_exists, children))
    wait_for_end(*children)


def test_a_player_that_is_stopped_says_no_more() -> None:
    with player("python:poisonous:Waits") as there:
        received: list[int] = []
        parts = there.ask(play(), lambda: bool(received))
        received.append(next(parts)["count"])
        pid = there.pid
        with pytest.raises(Abandoned):
            next(parts)
        wait_for_end(pid)
        assert there.pid == 0
        assert sum(part["count"] for part in there.ask(play(count=3))) == 3


def test_an_answer_that_is_not_read_to_its_end_is_not_the_answer_to_the_next_question() -> None:
    with player("python:poisonous:Waits") as there:
        for _ in there.ask(play()):
            break
        assert sum(part["count"] for part in there.ask(play(count=3))) == 3


def test_a_player_ends_when_it_is_closed() -> None:
    with player() as there:
        there.open()
        pid = there.pid
        assert psutil.pid_exists(pid)
    assert not psutil.pid_exists(pid)


def test_a_player_ends_with_its_worker_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMPDIR", PARENT):
        monkeypatch.setenv(name, str(tmp_path))
    code = (
        "import sys, time\n"
        "from rocketmq_conformance.conformance.campaign.player.player_supervisor import PlayerSupervisor\n"
        "from rocketmq_conformance.conformance.campaign.spec import CampaignSpec\n"
        f"spec = CampaignSpec(('python:poisonous:HangsForGood',), ({SUITE!r},), 60, 8, 60)\n"
        f"there = PlayerSupervisor(spec, ({HERE!r},))\n"
        "there.open()\n"
        "print(there.pid, flush=True)\n"
        f"list(there.ask({play()!r}))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        pid = int(worker.stdout.readline())
        assert psutil.pid_exists(pid)
        assert len(list(tmp_path.iterdir())) == 2
        worker.kill()
    wait_for_end(pid)
    wait_until(lambda: not list(tmp_path.iterdir()))


def test_addresses_that_cannot_be() -> None:
    with player("nothing:") as there, pytest.raises(AddressError, match="nothing"):
        there.open()
    with player("python:broken_adapters:BadHello") as there, pytest.raises(CannotRunError, match="must return a Hello"):
        there.open()
    dead = (
        r"^The process that plays the implementations does not start: its process ended with code 7 \(no hello\), twi"
    )
    with player("python:poisonous:DiesAtHello") as there, pytest.raises(CannotRunError, match=dead):
        there.open()


def test_a_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/python")
    with player() as there, pytest.raises(CannotRunError, match=r"cannot be started \(.*No such file"):
        there.open()


def test_a_fault_of_the_kit_is_reported_with_its_traceback() -> None:
    with player() as there:
        with pytest.raises(PlayerFaultError, match="Traceback"):
            list(there.ask(play(suite="none")))
        assert sum(part["count"] for part in there.ask(play(count=3))) == 3


def test_the_poison_of_the_tests_is_within_their_cases() -> None:
    assert max(poisonous.POISON) < SPEC.cases
