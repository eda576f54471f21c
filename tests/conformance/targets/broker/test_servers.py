"""Brokers and name servers as processes: asked until they answer, and started with their configuration."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from waiting import wait_until

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.startup import allow, starting
from rocketmq_conformance.conformance.targets.broker import servers as module
from rocketmq_conformance.conformance.targets.broker.ports import BrokerPorts, free_port, ports_of
from rocketmq_conformance.conformance.targets.broker.process import START_LIMIT, JavaProcess
from rocketmq_conformance.conformance.targets.broker.servers import Broker, NameServer, Question
from rocketmq_conformance.models.release import Release

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
def test_a_server_is_asked_over_one_connection_until_it_answers(tmp_path: Path, codes: tuple[int, ...]) -> None:
    port = free_port()
    command = [sys.executable, "-c", SLOW_SERVER, str(port), "2500", *map(str, codes)]
    with closing(JavaProcess("Broker 5.5.0", tmp_path, tmp_path / "broker.log")) as process:
        with closing(Question(port, Request.GET_BROKER_RUNTIME_INFO)) as question:
            process.start(command, question.answered)
        assert (tmp_path / "output.txt").read_text().split() == ["connected"]
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
    with closing(BrokerPorts()) as free:
        ports = ports_of(free.main)
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
