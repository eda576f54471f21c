"""Real Java producers and consumers on the fake broker, end to end."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from builds import built_once
from places import DATA

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.message import parse_properties
from rocketmq_conformance.conformance.targets.maven import class_path
from rocketmq_conformance.models.profile import Profile

SOURCE = DATA / "SendAndConsume.java"
COUNT = 10
#: Seconds: starting two clients, and at most a minute of consuming.
LIMIT = 150.0


@dataclass(frozen=True, slots=True)
class Program:
    """The program, compiled against each release of the client when it is wanted first."""

    factory: pytest.TempPathFactory

    def play(self, client: str, address: str, listener: str, home: Path, *options: str) -> list[str]:
        """Run it with a client release, and give the lines that it printed."""
        java, compiler = shutil.which("java"), shutil.which("javac")
        if java is None or compiler is None:
            pytest.skip("a Java development kit is needed to compile the program")
        try:
            jars = os.pathsep.join(map(str, class_path(("rocketmq-client",), client)))
        except CannotRunError as error:
            pytest.skip(str(error))

        def build(folder: Path) -> None:
            _done([compiler, "-cp", jars, "-d", str(folder), str(SOURCE)])

        command = [
            java,
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            f"-Duser.home={home}",
            *options,
            "-cp",
            os.pathsep.join([str(built_once(f"{SOURCE.stem}-{client}", build, self.factory)), jars]),
            SOURCE.stem,
            address,
            listener,
            str(COUNT),
        ]
        return _done(command).splitlines()


def _done(command: list[str]) -> str:
    """What a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory)


@pytest.mark.java
@pytest.mark.parametrize(
    ("client", "broker", "listener", "options"),
    [
        ("5.5.0", "5.5.0", "concurrent", ()),
        ("5.5.0", "5.5.0", "orderly", ("-Drocketmq.serialize.type=ROCKETMQ",)),
        ("4.9.8", "4.9.7", "concurrent", ("-Drocketmq.serialize.type=ROCKETMQ",)),
        ("4.9.8", "5.5.0", "orderly", ()),
        ("4.7.1", "4.7.1", "concurrent", ()),
        ("5.5.0", "5.5.0", "assigned", ()),
        ("5.0.0", "5.0.0", "assigned", ()),
    ],
    ids=[
        "5.5.0",
        "5.5.0 orderly binary",
        "4.9.8 binary echoed",
        "4.9.8 orderly on 5.5.0",
        "4.7.1",
        "5.5.0 assigned",
        "5.0.0 assigned",
    ],
)
def test_what_is_sent_is_consumed_and_committed(
    client: str, broker: str, listener: str, options: tuple[str, ...], program: Program, tmp_path: Path
) -> None:
    with FakeBroker(Profile.of(client, broker)) as running:
        lines = program.play(client, running.address, listener, tmp_path, *options)
        running.settle()
        state = running.state
        assert lines.count("sent SEND_OK") == COUNT
        assert [line for line in lines if line.startswith("consumed")] == [f"consumed {at:03d}" for at in range(COUNT)]
        ends = {queue: log.max for (topic, queue), log in state.logs.items() if topic == "T"}
        assert sum(ends.values()) == COUNT + 2
        assert {queue: offset for (_, topic, queue), offset in state.stored.items() if topic == "T"} == ends
        assert running.members("G") == []
        assert bool(running.arrived(Request.LOCK_BATCH_MQ)) is (listener == "orderly")
        assert bool(running.arrived(Request.QUERY_ASSIGNMENT)) is (listener == "assigned")


@pytest.mark.java
@pytest.mark.parametrize(("client", "broker"), [("5.5.0", "5.5.0"), ("4.9.8", "4.9.7"), ("4.7.1", "4.7.1")])
def test_what_a_listener_refuses_comes_again_until_it_is_a_dead_letter(
    client: str, broker: str, program: Program, tmp_path: Path
) -> None:
    with FakeBroker(Profile.of(client, broker), delay_levels=[0] * 18) as running:
        lines = program.play(client, running.address, "failing", tmp_path)
        running.settle()
        assert [line for line in lines if line.startswith("consumed")] == [f"consumed {at:03d}" for at in range(COUNT)]
        again = running.messages("%RETRY%G")
        assert sorted(message.reconsume_times for message in again) == [1] * COUNT + [2] * COUNT
        assert {parse_properties(message.properties)["RETRY_TOPIC"] for message in again} == {"T"}
        (dead,) = running.messages("%DLQ%G")
        assert (dead.body, dead.reconsume_times) == (b"000", 3)
