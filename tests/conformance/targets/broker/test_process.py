"""Processes: started, stopped by id, killed when we die, and named with their last error."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from waiting import wait_for_end, wait_until

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.startup import starting
from rocketmq_conformance.conformance.targets.broker import process as module
from rocketmq_conformance.conformance.targets.broker.process import JavaProcess


@pytest.fixture
def process(tmp_path: Path) -> Iterator[JavaProcess]:
    made = JavaProcess("Broker 5.5.0", tmp_path, tmp_path / "broker.log")
    yield made
    made.kill()


def shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def test_a_process_is_waited_for_and_stopped(process: JavaProcess, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    process.start(shell(f"sleep 0.2; touch {ready}; exec sleep 60"), ready.exists)
    assert process.alive
    pid = process.pid
    process.stop()
    assert not process.alive
    wait_for_end(pid)
    process.stop()


@pytest.mark.parametrize("end", [JavaProcess.stop, JavaProcess.kill])
def test_what_a_process_has_started_is_frozen_and_ends_with_it(
    process: JavaProcess, tmp_path: Path, end: Callable[[JavaProcess], None]
) -> None:
    number = tmp_path / "child"
    process.start(shell(f"sleep 60 & echo $! >{number}; exec sleep 60"), lambda: bool(number_in(number)))
    child = number_in(number)
    process.pause()
    wait_until(lambda: states_of_threads(child) == {"T"})
    end(process)
    wait_for_end(child)


def number_in(file: Path) -> int:
    return int(file.read_text() or 0) if file.exists() else 0


def test_a_process_that_does_not_want_to_stop_is_killed_and_that_is_no_stop(
    process: JavaProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOP_LIMIT", 0.3)
    ready = tmp_path / "ready"
    process.start(shell(f"trap '' TERM; touch {ready}; while :; do sleep 0.1; done"), ready.exists)
    with pytest.raises(CannotRunError, match="did not stop within 0 s and was killed"):
        process.stop()
    wait_for_end(process.pid)


def test_a_process_that_ends_at_once_is_named_with_its_last_error(process: JavaProcess, tmp_path: Path) -> None:
    says = "2026 WARN quiet\n2026 ERROR Store - load exception\n2026 WARN goodbye\n"
    with pytest.raises(CannotRunError, match=r"Broker 5\.5\.0 ended while it started: 2026 ERROR Store - load exc"):
        process.start(shell(f"echo hello; printf '{says}' >{tmp_path}/broker.log; exit 3"), lambda: False)


def states_of_threads(pid: int) -> set[str]:
    stats = [(task / "stat").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    return {stat.rsplit(")", 1)[1].split()[0] for stat in stats}


def test_no_thread_of_a_frozen_process_runs(process: JavaProcess, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    busy = f"""
import threading
from pathlib import Path
def work():
    while True:
        pass
for _ in range(8):
    threading.Thread(target=work).start()
Path({str(ready)!r}).touch()
"""
    process.start([sys.executable, "-c", busy], ready.exists)
    for _ in range(20):
        process.pause()
        process.pause()
        assert states_of_threads(process.pid) == {"T"}
        process.resume()
        process.resume()
    process.pause()
    process.stop()
    wait_for_end(process.pid)


def test_a_process_that_ended_while_it_was_frozen_is_frozen_anew(process: JavaProcess, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = shell(f"touch {ready}; exec sleep 60")
    process.start(script, ready.exists)
    process.pause()
    os.kill(process.pid, signal.SIGKILL)
    wait_for_end(process.pid)
    process.pause()
    ready.unlink()
    process.start(script, ready.exists)
    process.pause()
    assert states_of_threads(process.pid) == {"T"}


def test_freezing_what_has_ended_does_nothing(process: JavaProcess) -> None:
    process.pause()
    process.start(shell("exec sleep 60"), lambda: True)
    os.kill(process.pid, signal.SIGKILL)
    wait_for_end(process.pid)
    process.pause()
    assert not process.alive


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("", "no output"),
        ("Load default HA Service: DefaultHAService", "its last line is Load default HA Service: DefaultHAService"),
        (
            "The broker[b, 127.0.0.1:1] boot success. serializeType=JSON",
            "it says that it has booted, and does not answ",
        ),
    ],
)
def test_a_process_that_is_never_ready_is_killed(process: JavaProcess, output: str, said: str) -> None:
    expected = rf"^Broker 5\.5\.0 was not ready after 1 s \(--start-timeout allows more\): {re.escape(said)}"
    with pytest.raises(CannotRunError, match=expected):
        process.start(shell(f"echo '{output}'; exec sleep 60"), lambda: False, limit=1.0)
    wait_for_end(process.pid)


def test_within_a_start_a_process_has_the_time_of_the_start(process: JavaProcess) -> None:
    shown: list[tuple[str, str]] = []
    with starting(1.0, lambda *what: shown.append(what)):
        expected = r"not ready after 1 s \(the whole start may take 1 s: --start-timeout allows more\): "
        with pytest.raises(CannotRunError, match=expected):
            process.start(shell("exec sleep 60"), lambda: False, limit=90.0)
    assert shown[0] == ("starting Broker 5.5.0 and waiting until it answers", "")
    wait_for_end(process.pid)


# --- why it ended -----------------------------------------------------------------------------------------------

#: What a broker without a name server logs ten seconds after it has booted, and what it logs when it ends.
ASIDE = (
    "2026 ERROR RocketmqBroker - ScheduledTask refresh metadata exception\n"
    "org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to  failed\n\tat a.b.Error.call(C:1)\n"
    "2026 WARN RocketmqStore - AllocateMappedFileService interrupted, possibly by shutdown.\n"
)
NOT_BOUND = (
    "java.lang.IllegalStateException: Failed to bind to 127.0.0.1:1\n\tat a.B.start(B.java:236)\n"
    "Caused by: java.net.BindException: Address already in use\n\tat sun.nio.ch.Net.bind0(Native Method)\n"
    "\tSuppressed: java.lang.RuntimeException: Rethrowing promise failure cause\n\t\tat c.D.e(D.java:1)\n"
)
WRONG_SIZE = "2026 WARN RocketmqStore - /s/0\t1048576 length not matched message store config value, please check it"


@pytest.mark.parametrize(
    ("output", "log", "cause"),
    [
        ("", "", "no output"),
        ("one\ntwo\n\n", "", "two"),
        ("one\n", "2026 WARN three\n", "2026 WARN three"),
        (NOT_BOUND, ASIDE, "java.lang.IllegalStateException: Failed to bind to 127.0.0.1:1 (java.net.BindException: A"),
        (f"java.lang.A$BError\n\tat x\n{NOT_BOUND}bye\n", "", "java.lang.IllegalStateException: Failed to bind to"),
        ("", f"2026 ERROR Store - load exception\na.b.CException: no\n\tat x\n{ASIDE}", "2026 ERROR Store - load exce"),
        ("", f"{WRONG_SIZE}\n2026 WARN S - transition from A to B failed\n{ASIDE}", WRONG_SIZE),
        ("bye\n", ASIDE, ASIDE.splitlines()[-1]),
    ],
)
def test_a_process_says_why_it_ended(process: JavaProcess, tmp_path: Path, output: str, log: str, cause: str) -> None:
    (tmp_path / "output.txt").write_text(output)
    process.log.write_text(log)
    assert process.last_error().startswith(cause)


def test_an_error_in_the_log_has_what_was_thrown(process: JavaProcess) -> None:
    process.log.write_text("2026 ERROR Store - load exception\na.b.CException: no\n\tat x\n")
    assert process.last_error() == "2026 ERROR Store - load exception: a.b.CException: no"


def test_a_process_dies_with_its_parent(tmp_path: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from rocketmq_conformance.conformance.targets.broker.process import JavaProcess
home = Path({str(tmp_path)!r}) / "home"
home.mkdir()
process = JavaProcess("x", home, home / "log")
process.start(["/bin/sh", "-c", "exec sleep 60"], lambda: True)
print(process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    wait_for_end(int(done.stdout))
    wait_until(lambda: not (tmp_path / "home").exists())


def test_a_log_begins_anew_with_every_start(process: JavaProcess) -> None:
    process.log.parent.mkdir(parents=True, exist_ok=True)
    process.log.write_text("ERROR of the time before\n")
    with pytest.raises(CannotRunError, match=r"ended while it started: no output"):
        process.start(["/bin/false"], lambda: False)
