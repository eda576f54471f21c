"""Real brokers in real containers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broker_at import broker_at
from waiting import wait_until

from rocketmq_conformance.conformance.proof.broker_suites import prove_suite
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.container import ContainerProcess
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_expired, broker_offsets, broker_process, broker_search
from rocketmq_conformance.suites.broker_offsets import Commit, Query
from rocketmq_conformance.suites.broker_restart import Restart, Save
from rocketmq_conformance.suites.declare.suite import Suite

pytestmark = pytest.mark.container
#: One that starts and stops in seconds.
RELEASE = "4.9.7"


def engine(*args: str) -> str:
    """What the engine's own client says."""
    return subprocess.run(["docker", *args], capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.fixture(scope="module")
def adapter() -> Iterator[BrokerAdapter]:
    made = broker_at(RELEASE, {"via": "container"})
    yield made
    made.close()


@pytest.fixture
def process(adapter: BrokerAdapter) -> ContainerProcess:
    assert isinstance(adapter.source, StartedBroker)
    found = adapter.source.broker.process
    assert isinstance(found, ContainerProcess)
    return found


def test_it_says_what_a_local_one_says(adapter: BrokerAdapter) -> None:
    greeting = adapter.hello()
    assert (greeting.name, greeting.broker) == ("broker", RELEASE)
    # only a program of this machine lets go of pages, or has a slave; and it is of one release
    assert sorted(greeting.unsupported) == ["broker-cold", "broker-slave", "broker-upgrade"]
    assert greeting.java is not None
    assert adapter.shared_addresses()[0].startswith("broker:127.0.0.1:")


@pytest.mark.parametrize(
    "suite", [broker_offsets.SUITE, broker_search.SUITE, broker_expired.SUITE], ids=lambda suite: suite.name
)
def test_it_conforms(adapter: BrokerAdapter, suite: Suite) -> None:
    profile = Profile.of(broker=RELEASE, java=adapter.hello().java or 17)
    tally = Tally("broker", RELEASE)
    prove_suite(adapter, profile, tally, suite, 32)
    assert tally.examples == []
    assert tally.cases > 32 * suite.steps * 0.9


def test_it_is_stopped_killed_and_frozen(adapter: BrokerAdapter) -> None:
    profile = Profile.of(broker=RELEASE, java=adapter.hello().java or 17)
    tally = Tally("broker", RELEASE)
    prove_suite(adapter, profile, tally, broker_process.SUITE, 1, 100)
    assert tally.examples == []
    assert {"RUN-DOWN-1", "RUN-FREEZE-1", "RUN-FREEZE-2", "RUN-RESTART-1"} <= {row.rule for row in tally.rows()}


def test_its_ports_are_published_on_loopback_alone(adapter: BrokerAdapter, process: ContainerProcess) -> None:
    assert isinstance(adapter.source, StartedBroker)
    port = adapter.source.broker.port
    published: dict[str, Any] = json.loads(engine("inspect", process.home.name))[0]["NetworkSettings"]["Ports"]
    assert set(published) >= {f"{each}/tcp" for each in (port - 2, port, port + 1)}
    for at, places in published.items():
        for place in places or ():
            assert place == {"HostIp": "127.0.0.1", "HostPort": at.removesuffix("/tcp")}


def test_its_files_are_ours(adapter: BrokerAdapter, process: ContainerProcess) -> None:
    written = [place for place in process.home.rglob("*") if place.is_file()]
    assert process.home / "broker.log" in written
    assert {place.stat().st_uid for place in written} == {os.getuid()}


def test_what_is_on_disk_survives(adapter: BrokerAdapter, process: ContainerProcess) -> None:
    before = process.container.id
    adapter.reset_many([(0, broker_offsets.SUITE)])
    adapter.apply(Commit(0, 0, 0, 5))
    assert adapter.apply(Save()) == Ok()
    assert adapter.apply(Restart("kill")) == Ok()
    assert adapter.apply(Query(0, 0, 0, None)) == Ok(5)
    adapter.apply(Commit(0, 0, 0, 6))
    assert adapter.apply(Restart("stop")) == Ok()
    assert adapter.apply(Query(0, 0, 0, None)) == Ok(6)
    assert process.container.id == before


def test_a_frozen_broker_answers_when_it_goes_on(adapter: BrokerAdapter, process: ContainerProcess) -> None:
    assert isinstance(adapter.source, StartedBroker)
    adapter.reset_many([(0, broker_offsets.SUITE)])
    adapter.apply(Commit(0, 0, 0, 7))
    process.pause()
    assert process.alive
    with socket.create_connection(("127.0.0.1", adapter.source.broker.port), 5):
        pass  # the engine accepts; nobody answers
    process.resume()
    assert adapter.apply(Query(0, 0, 0, None)) == Ok(7)
    process.resume()


def test_the_second_start_takes_seconds_and_leaves_nothing(adapter: BrokerAdapter) -> None:
    adapter.hello()  # the image is there
    begun = time.monotonic()
    other = broker_at(RELEASE, {"via": "container"})
    try:
        assert isinstance(other.source, StartedBroker)
        other.hello()
        home = other.source.broker.home
        assert time.monotonic() - begun < 60
    finally:
        other.close()
    assert not home.exists()
    assert home.name not in engine("ps", "-a")


def test_it_goes_when_the_kit_is_killed(adapter: BrokerAdapter) -> None:
    adapter.hello()
    script = f"""
import os, signal
from rocketmq_conformance.conformance.targets.opener import open_address
adapter = open_address("broker:{RELEASE}?via=container")
adapter.hello()
print(adapter.source.broker.home, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    home = Path(done.stdout.strip())
    wait_until(lambda: not home.exists() and home.name not in engine("ps", "-a"))
