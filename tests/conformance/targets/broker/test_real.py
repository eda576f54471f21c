"""Real brokers, started from Maven's jars; that suites conform, with other properties, too, is in proof-broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from broker_at import broker_at
from waiting import wait_until

from rocketmq_conformance.conformance import api
from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.fakes.own_topics import own_topics
from rocketmq_conformance.conformance.proof.broker_defaults import read_defaults
from rocketmq_conformance.conformance.properties.defaults import HERE, OFF, defaults_of
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.managed_broker import SHORT_LEASE, StartedBroker
from rocketmq_conformance.conformance.targets.broker.servers import Broker, NameServer
from rocketmq_conformance.conformance.targets.maven import class_path
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.event import CONFORMS, RunEnded, RunStarted
from rocketmq_conformance.suites import broker_offsets
from rocketmq_conformance.suites.broker_offsets import Commit, Max, Query
from rocketmq_conformance.suites.broker_restart import Restart, Save

pytestmark = pytest.mark.broker
RELEASE = "5.5.0"


@pytest.fixture(scope="module")
def adapter() -> Iterator[BrokerAdapter]:
    made = broker_at(RELEASE)
    yield made
    made.close()


def test_a_broker_says_its_release(adapter: BrokerAdapter) -> None:
    greeting = adapter.hello()
    assert greeting.broker == RELEASE
    # it is of one release, and not everybody may put pages out of memory
    assert greeting.unsupported.keys() <= {"broker-cold", "broker-upgrade"}


@pytest.mark.parametrize("release", ["4.9.7", RELEASE])
def test_a_broker_has_the_defaults_of_the_table(release: str) -> None:
    parsed = Release.parse(release)
    read = read_defaults(parsed)
    assert {name: value for name, value in read.items() if defaults_of(parsed)[name] not in (HERE, value)} == {}
    assert {name for name, value in defaults_of(parsed).items() if value} - OFF <= read.keys()


@pytest.mark.parametrize("release", ["4.9.7", RELEASE])
def test_a_broker_makes_the_topics_of_its_own_that_the_fake_one_has(release: str) -> None:
    parsed = Release.parse(release)
    with Broker(parsed) as started, Connection("127.0.0.1", started.port) as line:
        table = java_json.loads(line.call(Request.GET_ALL_TOPIC_CONFIG).body.decode())["topicConfigTable"]
    numbers = {name: (one["readQueueNums"], one["writeQueueNums"], one["perm"]) for name, one in table.items()}
    # the kit starts it without automatic creation, in a cluster of its own
    assert numbers == own_topics(parsed, "broker-a", "conformance", creates=False)


def test_a_property_of_the_address_is_judged() -> None:
    properties = "set=timerWheelEnable=false&set=useServerSideResetOffset=false&set=enableDetailStat=false"
    address, suites = f"broker:{RELEASE}?{properties}", ["broker-admin", "broker-offsets"]
    ended = list(api.run(address, suites=suites, cases=24, seed=1, tiers=["seeded"]))
    assert isinstance(ended[0], RunStarted)
    assert [one["name"] for one in ended[0].properties] == ["timerWheelEnable", "useServerSideResetOffset"]
    assert isinstance(ended[-1], RunEnded)
    assert (ended[-1].verdict, ended[-1].divergences) == (CONFORMS, 0)


def test_others_know_how_long_its_locks_live(adapter: BrokerAdapter) -> None:
    other = open_address(adapter.shared_addresses()[0])
    assert isinstance(other, BrokerAdapter)
    assert other.source.lease == adapter.source.lease == SHORT_LEASE
    assert "broker-assignment" not in other.hello().unsupported
    other.close()


def test_the_same_broker_by_its_address(adapter: BrokerAdapter) -> None:
    assert isinstance(adapter.source, StartedBroker)
    other = broker_at(adapter.source.broker.address)
    try:
        assert other.hello().broker == RELEASE
        other.reset_many([(0, broker_offsets.SUITE)])
        assert other.apply(Commit(0, 0, 0, 5)) == Ok()
        assert other.apply(Query(0, 0, 0, None)) == Ok(5)
    finally:
        other.close()


def test_an_unpacked_distribution_is_judged_by_the_nearest_release(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for jar in class_path(("rocketmq-broker",), RELEASE):
        name = jar.name.replace(f"rocketmq-broker-{RELEASE}", "rocketmq-broker-5.5.1-SNAPSHOT")
        (tmp_path / "lib" / name).symlink_to(jar)
    events = list(api.run(f"broker:dir={tmp_path}", suites=("broker-offsets",), cases=5))
    (started,) = [event for event in events if isinstance(event, RunStarted)]
    assert f"5.5.1-SNAPSHOT in {tmp_path}, by the nearest published release {RELEASE}" in started.version
    assert isinstance(events[-1], RunEnded)
    assert events[-1].verdict == CONFORMS


def test_an_offset_survives_a_kill_once_it_was_saved(adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, broker_offsets.SUITE)])
    adapter.apply(Commit(0, 0, 0, 5))
    assert adapter.apply(Save()) == Ok()
    assert adapter.apply(Restart("kill")) == Ok()
    assert adapter.apply(Query(0, 0, 0, None)) == Ok(5)


def test_what_a_broker_unpacks_does_not_outlive_it(adapter: BrokerAdapter) -> None:
    assert isinstance(adapter.source, StartedBroker)
    broker = adapter.source.broker
    for _ in range(2):
        assert len(list(broker.temporary_files.glob("librocksdbjni*"))) == 1
        adapter.apply(Restart("kill"))


def test_a_broker_that_dies_is_named(adapter: BrokerAdapter) -> None:
    """Last in the module: the broker is gone afterwards."""
    assert isinstance(adapter.source, StartedBroker)
    adapter.reset_many([(0, broker_offsets.SUITE)])
    home = adapter.source.broker.home
    adapter.source.broker.kill()
    with pytest.raises(AdapterError, match=rf"Broker {RELEASE} died; its last line: "):
        adapter.apply(Max(0, 0))
    adapter.close()
    assert not home.exists()


def test_a_broker_that_cannot_start_says_why() -> None:
    def spoil(home: Path) -> None:
        (home / "store").write_text("a file where a folder belongs")

    broker = Broker(Release.parse(RELEASE), spoil)
    try:
        with pytest.raises(CannotRunError, match=rf"Broker {RELEASE} ended while it started: .+"):
            broker.start()
    finally:
        broker.close()


def test_a_broker_registers_with_a_name_server() -> None:
    release = Release.parse(RELEASE)
    with NameServer(release) as server, Broker(release, name_server=server.address) as broker:
        host, _, port = server.address.rpartition(":")
        with Connection(host, int(port)) as connection:
            # some brokers register ten seconds after they are ready
            wait_until(lambda: broker.address.encode() in connection.call(Request.GET_BROKER_CLUSTER_INFO, {}).body)
