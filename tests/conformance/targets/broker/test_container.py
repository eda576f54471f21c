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

from rocketmq_conformance.conformance import api
from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.proof.broker_suites import prove_suite
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.broker import container, page_cache, requests
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.targets.broker.container import ContainerProcess
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.conformance.targets.broker.ports import ports_of
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.event import CONFORMS, RunEnded
from rocketmq_conformance.suites import broker_expired, broker_offsets, broker_process, broker_search, broker_slave
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
    # as of one from jars: it is of one release, and not everyone may put its pages out of memory
    assert greeting.unsupported.keys() - ({"broker-cold"} if page_cache.missing() else set()) == {"broker-upgrade"}
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


def inspected(process: ContainerProcess) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(engine("inspect", process.home.name))[0]
    return found


def test_it_uses_our_network_and_its_main_ports_are_on_loopback_from_5_0_0() -> None:
    made = broker_at("5.5.0", {"via": "container"})
    try:
        made.hello()
        assert isinstance(made.source, StartedBroker)
        process = made.source.broker.process
        assert isinstance(process, ContainerProcess)
        assert inspected(process)["HostConfig"]["NetworkMode"] == "host"
        lines = [
            line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()
        ]
        listening = {words[1].rpartition(":")[2]: words[1].rpartition(":")[0] for words in lines if words[3] == "0A"}
        # brokers before 5.0.0, and the port for slaves of every release, have no address to bind to
        fast, main, _ = (f"{port:04X}" for port in ports_of(made.source.port))
        assert (listening[fast][-8:], listening[main][-8:]) == ("0100007F", "0100007F")
    finally:
        made.close()


def test_where_the_network_is_not_shared_its_ports_are_published_on_loopback_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(container, "shares_network", lambda docker: False)
    made = broker_at("5.5.0", {"via": "container"})
    try:
        greeting = made.hello()
        assert "keeps apart" in greeting.unsupported["broker-slave"]
        assert "name server" in greeting.unsupported["broker-assignment"]
        tally = Tally("broker", "5.5.0")
        prove_suite(made, Profile.of(java=greeting.java or 17), tally, broker_offsets.SUITE, 2)
        assert (tally.examples, tally.cases > 0) == ([], True)
        assert isinstance(made.source, StartedBroker)
        process = made.source.broker.process
        assert isinstance(process, ContainerProcess)
        published = inspected(process)["NetworkSettings"]["Ports"]
        assert set(published) >= {f"{each}/tcp" for each in ports_of(made.source.port)}
        for at, places in published.items():
            for place in places or ():
                assert place == {"HostIp": "127.0.0.1", "HostPort": at.removesuffix("/tcp")}
        with pytest.raises(CannotRunError, match="reach each other by this machine's loopback"):
            Cluster(Release(5, 5, 0), host=container.Containers(Release(5, 5, 0)))
    finally:
        made.close()


def test_a_name_server_and_a_broker_in_containers_reach_each_other() -> None:
    release = Release.parse(RELEASE)
    with Cluster(release, host=container.Containers(release)) as cluster:
        cluster.do(requests.create_topic("TOPIC", Topic(1, 1)))
        cluster.await_route("TOPIC")
        assert [cluster.send("TOPIC", 0) for _ in range(2)] == [0, 1]
        images = engine("ps", "--format", "{{.Image}}").split()
        assert images.count(container.Containers(release).image.name) >= 2


def test_a_master_has_its_slave_in_a_container(adapter: BrokerAdapter, process: ContainerProcess) -> None:
    tally = Tally("broker", RELEASE)
    prove_suite(adapter, Profile.of(broker=RELEASE, java=process.image.java), tally, broker_slave.SUITE, 1)
    assert tally.examples == []
    assert any(row.rule.startswith("SLV-") for row in tally.rows())


def test_a_store_is_taken_from_one_release_to_another() -> None:
    address = f"broker:{RELEASE}?via=container&upgraded-from=4.9.5"
    ended = list(api.run(address, suites=["broker-upgrade"], cases=1, seed=3, tiers=["seeded"]))[-1]
    assert isinstance(ended, RunEnded)
    assert (ended.verdict, ended.divergences) == (CONFORMS, 0)


@pytest.mark.skipif(bool(page_cache.missing()), reason="needs the right to put pages of a program out of memory")
def test_its_messages_are_put_out_of_memory(adapter: BrokerAdapter, process: ContainerProcess) -> None:
    assert adapter.source.own
    assert process.pid
    adapter.reset_many([(0, broker_offsets.SUITE)])
    assert adapter.source.own.evict() == ""


def test_an_image_laid_out_as_the_official_one_is_judged_whoever_its_user_is(tmp_path: Path) -> None:
    ours = container.Containers(Release.parse(RELEASE)).image.name
    recipe = f'FROM {ours}\nUSER 3000:3000\nWORKDIR /home/rocketmq\nENTRYPOINT ["./docker-entrypoint.sh"]\n'
    (tmp_path / "Dockerfile").write_text(recipe)
    engine("build", "-q", "-t", "conformance-test/rocketmq:official", str(tmp_path))
    try:
        address = f"broker:{RELEASE}?via=container&image=conformance-test/rocketmq:official"
        ended = list(api.run(address, suites=["broker-offsets"], cases=4, seed=1, tiers=["seeded"]))[-1]
    finally:
        engine("rmi", "-f", "conformance-test/rocketmq:official")
    assert isinstance(ended, RunEnded)
    assert (ended.verdict, ended.divergences) == (CONFORMS, 0)


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


def killed() -> Path:
    """The folder of a broker whose process of the kit was killed; the name of its container is the folder's."""
    script = f"""
import os, signal
from rocketmq_conformance.conformance.targets.opener import open_address
adapter = open_address("broker:{RELEASE}?via=container")
adapter.hello()
print(adapter.source.broker.home, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return Path(done.stdout.strip())


def test_it_goes_when_the_kit_is_killed(adapter: BrokerAdapter) -> None:
    adapter.hello()
    home = killed()
    wait_until(lambda: not home.exists() and home.name not in engine("ps", "-a"))
