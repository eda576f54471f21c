"""Processes: started, stopped by id, killed when we die, and named with their last error."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from waiting import wait_for_end, wait_until

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.startup import allow, starting
from rocketmq_conformance.conformance.targets.broker import process as module
from rocketmq_conformance.conformance.targets.broker.process import (
    START_LIMIT,
    Broker,
    JavaProcess,
    NameServer,
    Question,
    free_broker_port,
    free_port,
    ports_of,
)
from rocketmq_conformance.models.release import Release


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
    times = iter(range(0, 100_000, 100))
    shown: list[tuple[str, str]] = []
    with starting(300, lambda *what: shown.append(what), clock=lambda: next(times)):
        expected = r"not ready after \d+ s \(the whole start may take 300 s: --start-timeout allows more\): "
        with pytest.raises(CannotRunError, match=expected):
            process.start(shell("exec sleep 60"), lambda: False, limit=0.0)
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


def test_the_neighbours_of_a_broker_port_are_free() -> None:
    port = free_broker_port()
    for neighbour in (port - 2, port, port + 1):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", neighbour))


def test_a_port_is_none_that_the_system_gives_to_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.create_connection(listening.getsockname()) as one:
        assert all(10_000 <= free_port() < 32_768 for _ in range(20))
        assert one.getsockname()[1] >= 32_768


def test_a_port_is_found_where_all_are_given_to_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(module, "_LOWEST_PORT", taken.getsockname()[1])
        monkeypatch.setattr(module, "_first_of_connections", lambda: 0)
        assert free_port() != taken.getsockname()[1]


def test_a_log_begins_anew_with_every_start(process: JavaProcess) -> None:
    process.log.parent.mkdir(parents=True, exist_ok=True)
    process.log.write_text("ERROR of the time before\n")
    with pytest.raises(CannotRunError, match=r"ended while it started: no output"):
        process.start(["/bin/false"], lambda: False)


def test_no_free_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(module, "free_port", lambda: port - 1)
        with pytest.raises(CannotRunError, match="No three neighbouring ports"):
            free_broker_port()


# --- the question whether it is up ------------------------------------------------------------------------------

#: Answers only who has waited for so long on one connection, and with the codes in turn; prints each connection.
SLOW_SERVER = """
import json, socket, struct, sys, threading, time
port, delay, *codes = map(int, sys.argv[1:])
def talk(peer):
    print("connected", flush=True)
    time.sleep(delay / 1000)
    for code in codes:
        size, = struct.unpack(">i", peer.recv(4, socket.MSG_WAITALL))
        frame = peer.recv(size, socket.MSG_WAITALL)
        asked = json.loads(frame[4:4 + (struct.unpack(">i", frame[:4])[0] & 0xffffff)])
        header = json.dumps({"code": code, "flag": 1, "opaque": asked["opaque"]}).encode()
        peer.sendall(struct.pack(">ii", 4 + len(header), len(header)) + header)
listener = socket.create_server(("127.0.0.1", port))
while True:
    threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()
"""


@pytest.mark.parametrize("codes", [(0,), (2, 3, 0)], ids=["late", "not ready at once"])
def test_a_server_is_asked_over_one_connection_until_it_answers(
    process: JavaProcess, tmp_path: Path, codes: tuple[int, ...]
) -> None:
    port = free_port()
    question = Question(port, Request.GET_BROKER_RUNTIME_INFO)
    process.start([sys.executable, "-c", SLOW_SERVER, str(port), "2500", *map(str, codes)], question.answered)
    question.close()
    assert (tmp_path / "output.txt").read_text().split() == ["connected"]


def test_a_server_that_hangs_up_is_asked_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        question = Question(listener.getsockname()[1], Request.GET_BROKER_RUNTIME_INFO)
        for _ in range(2):
            assert not question.answered()
            listener.accept()[0].close()
            wait_until(lambda: not question.answered() and question._connection is None)


def test_nothing_answers_on_a_free_port() -> None:
    assert not Question(free_port(), Request.GET_BROKER_RUNTIME_INFO).answered()


# --- ports that another program has taken -----------------------------------------------------------------------


class FailingProgram(JavaProcess):
    """Ends when it starts, while somebody takes a port of it."""

    def __init__(self, home: Path, taken: socket.socket, port: int) -> None:
        super().__init__("Broker 5.5.0", home, home / "broker.log")
        self._taken, self._port = taken, port

    def start(self, command: Sequence[str], ready: Callable[[], bool], limit: float = START_LIMIT) -> None:
        self._taken.bind(("127.0.0.1", self._port))
        raise CannotRunError("Broker 5.5.0 ended while it started: no output")


@pytest.mark.parametrize("neighbour", [0, 1, 2])
def test_a_port_that_another_program_takes_meanwhile_is_named(tmp_path: Path, neighbour: int) -> None:
    ports = ports_of(free_broker_port())
    with socket.socket() as taken:
        program = FailingProgram(tmp_path, taken, ports[neighbour])
        question = Question(ports[1], Request.GET_BROKER_RUNTIME_INFO)
        expected = rf"^Broker 5\.5\.0 cannot listen on 127\.0\.0\.1:{ports[neighbour]}, which another program has taken"
        with pytest.raises(CannotRunError, match=expected):
            module._start(program, [], question, START_LIMIT, ports)


def test_the_ports_of_a_broker_that_is_started_again_are_looked_at_first(
    pretending: Path, jars: Callable[[Sequence[str], str], Sequence[Path]]
) -> None:
    with Broker(Release(5, 5, 0), jars=jars) as broker:
        broker.kill()
        with (
            socket.create_server(("127.0.0.1", broker.port - 2)),
            pytest.raises(CannotRunError, match=f"127.0.0.1:{broker.port - 2}, which another program has taken"),
        ):
            broker.start()
        assert not broker.process.alive
        broker.start()
        assert broker.process.alive


# --- the time that a start has ----------------------------------------------------------------------------------


@pytest.fixture
def limits(pretending: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The limits of the starts of programs."""
    seen: list[float] = []
    monkeypatch.setattr(JavaProcess, "start", lambda self, command, ready, limit=0.0: seen.append(limit))
    return seen


def test_the_time_of_a_start_is_that_of_each_later_one(
    limits: list[float], jars: Callable[[Sequence[str], str], Sequence[Path]]
) -> None:
    with starting(77):
        made = Broker(Release(5, 5, 0), jars=jars), NameServer(Release(5, 5, 0), jars)
    with starting(None):
        usual = Broker(Release(5, 5, 0), jars=jars)
    for one in (*made, usual):
        with one:
            one.start()
    assert limits == [77.0] * 4 + [START_LIMIT] * 2


def test_a_process_has_a_limit_for_starts_that_are_part_of_no_other(
    limits: list[float], jars: Callable[[Sequence[str], str], Sequence[Path]]
) -> None:
    allow(55.0)
    try:
        with Broker(Release(5, 5, 0), jars=jars), starting(66), Broker(Release(5, 5, 0), jars=jars):
            pass
    finally:
        allow(None)
    assert limits == [55.0, 66.0]


# --- brokers and name servers, with a Java that only pretends ------------------------------------------------------


@pytest.fixture
def pretending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A java that writes down its arguments and waits."""
    script = tmp_path / "jdk" / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = -version ]; then echo \'openjdk version "17.0.1"\' >&2; exit 0; fi\n'
        'for word in "$@"; do echo "$word"; done > arguments.part\n'
        "mv arguments.part arguments.txt\n"
        "exec sleep 60\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setattr(Question, "answered", lambda self: True)
    return tmp_path


Asked = list[tuple[tuple[str, ...], str]]


@pytest.fixture
def asked() -> Asked:
    return []


@pytest.fixture
def jars(asked: Asked) -> Callable[[Sequence[str], str], Sequence[Path]]:
    def find(artifacts: Sequence[str], version: str) -> Sequence[Path]:
        asked.append((tuple(artifacts), version))
        return (Path("/jars/a.jar"), Path("/jars/b.jar"))

    return find


def arguments(home: Path) -> list[str]:
    file = home / "arguments.txt"
    wait_until(file.is_file)
    return file.read_text().splitlines()


def test_a_broker_is_started_with_its_configuration(
    pretending: Path, asked: Asked, jars: Callable[[Sequence[str], str], Sequence[Path]]
) -> None:
    prepared: list[Path] = []
    with Broker(Release(4, 1, 0), prepared.append, "127.0.0.1:9876", jars) as broker:
        assert prepared == [broker.home]
        assert asked == [(("rocketmq-broker",), "4.1.0-incubating")]
        words = arguments(broker.home)
        assert words[-3:] == ["org.apache.rocketmq.broker.BrokerStartup", "-c", str(broker.home / "broker.conf")]
        assert "/jars/a.jar:/jars/b.jar" in words
        assert f"-Duser.home={broker.home}" in words
        assert f"-Djava.io.tmpdir={broker.temporary_files}" in words
        assert "--add-opens=java.base/java.nio=ALL-UNNAMED" in words
        assert broker.address == f"127.0.0.1:{broker.port}"
        assert broker.offsets_file.parent == broker.home / "store" / "config"
        written = (broker.home / "broker.conf").read_text()
        assert f"listenPort={broker.port}\n" in written
        assert "namesrvAddr=127.0.0.1:9876\n" in written
        # a broker rewrites the file; the next start has the ordinary configuration again
        (broker.home / "broker.conf").write_text("accessMessageInMemoryMaxRatio=0\n")
        # and its folder of temporary files is empty again
        (broker.temporary_files / "library.so").touch()
        broker.stop()
        assert not broker.process.alive
        broker.start()
        assert list(broker.temporary_files.iterdir()) == []
        assert (broker.home / "broker.conf").read_text() == written
        broker.kill()
        assert not broker.process.alive
    assert not broker.home.exists()


def test_an_interrupted_start_leaves_nothing(
    pretending: Path,
    asked: Asked,
    jars: Callable[[Sequence[str], str], Sequence[Path]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(self: Question) -> bool:
        arguments(made.home)  # a program that is killed earlier may leave a child that still moves its file
        raise KeyboardInterrupt

    monkeypatch.setattr(Question, "answered", interrupted)
    made: NameServer | Broker
    for made in (NameServer(Release(5, 5, 0), jars), Broker(Release(5, 5, 0), jars=jars)):
        with pytest.raises(KeyboardInterrupt), made:
            raise AssertionError("not reached")
        assert not made.home.exists()
        assert not made.process.alive


def test_a_name_server_is_started_with_its_configuration(
    pretending: Path, asked: Asked, jars: Callable[[Sequence[str], str], Sequence[Path]]
) -> None:
    with NameServer(Release(5, 5, 0), jars) as server:
        assert asked == [(("rocketmq-namesrv",), "5.5.0")]
        words = arguments(server.home)
        assert "org.apache.rocketmq.namesrv.NamesrvStartup" in words
        assert f"listenPort={server.port}\n" in (server.home / "namesrv.conf").read_text()
        assert server.address == f"127.0.0.1:{server.port}"
    assert not server.home.exists()
