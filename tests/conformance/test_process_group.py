"""A started program ends with everything that it started, also with what left its group."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import wait_for_end

from rocketmq_conformance.conformance.process_group import ProcessGroup, how_it_ended

#: Starts a child, in a session of its own if it is asked to, says who it is, and waits.
PROGRAM = """
import os, subprocess, sys, time
child = subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=sys.argv[1] == "away"
)
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def started(request: pytest.FixtureRequest) -> Iterator[tuple[ProcessGroup, int]]:
    """A program and its child."""
    where, marked = request.param
    group = ProcessGroup([sys.executable, "-c", PROGRAM, where], os.environ, marked=marked)
    assert group.process.stdout
    child = int(group.process.stdout.readline())
    yield group, child
    group.kill()
    for pipe in (group.process.stdin, group.process.stdout, group.process.stderr):
        assert pipe
        pipe.close()


@pytest.mark.parametrize("started", [("near", False), ("near", True), ("away", True)], indirect=True)
def test_all_that_it_started_ends_with_it(started: tuple[ProcessGroup, int]) -> None:
    group, child = started
    assert group.runs
    group.kill()
    wait_for_end(child)
    assert how_it_ended(group.process.returncode) == "was ended by SIGKILL"
    group.kill()


def test_what_has_ended_gets_no_signal_as_its_number_may_be_that_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    group = ProcessGroup(["true"], os.environ, stdin=None, stdout=None, stderr=None)
    group.kill()
    monkeypatch.setattr(os, "killpg", lambda *signalled: pytest.fail(f"{signalled}"))
    group.signal(signal.SIGTERM)
    group.kill()


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        ProcessGroup([str(tmp_path / "nothing")], os.environ, marked=True)


def test_how_programs_end() -> None:
    assert how_it_ended(3) == "ended with exit code 3"
    assert how_it_ended(-9) == "was ended by SIGKILL"
    assert how_it_ended(-99) == "was ended by signal 99"
