"""Addresses of brokers."""

from __future__ import annotations

from pathlib import Path

import pytest
from broker_at import broker_at
from every import every

from rocketmq_conformance.conformance.engine.handshake import profile_of
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.broker.launch_config import PLACES
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.release import Release


@pytest.mark.parametrize(
    ("name", "host", "port"),
    [("127.0.0.1:10911", "127.0.0.1", 10911), ("broker-a.test:1", "broker-a.test", 1), ("[::1]:10911", "::1", 10911)],
)
def test_a_host_and_a_port_is_a_broker_that_runs(name: str, host: str, port: int) -> None:
    source = broker_at(name).source
    assert isinstance(source, RunningBroker)
    assert (source.host, source.port) == (host, port)


@pytest.mark.parametrize("options", [{}, {"via": "jars"}])
def test_a_release_is_a_broker_to_start(options: dict[str, str]) -> None:
    source = broker_at("5.1.4", options).source
    assert isinstance(source, StartedBroker)
    assert str(source.release) == "5.1.4"


@pytest.mark.parametrize(
    "options",
    [{}, {"image": "apache/rocketmq:5.1.4"}, {"java": "11"}, {"count": "2"}, {"upgraded-from": "4.9.7", "java": "11"}],
)
def test_a_container_is_a_broker_to_start(options: dict[str, str]) -> None:
    source = broker_at("5.1.4", {"via": "container", **options}).source
    assert isinstance(source, StartedBroker)
    assert str(source.release) == "5.1.4"
    assert source.image == options.get("image", "")


@pytest.mark.parametrize(("options", "seconds"), [({}, 60.0), ({"lease": "1500"}, 1.5)])
def test_a_running_broker_may_have_a_lease_of_its_own(options: dict[str, str], seconds: float) -> None:
    assert broker_at("127.0.0.1:10911", options).source.lease == seconds


@every(
    ("name", "options", "sentence"),
    [
        ("newest", {}, "'newest' is neither a release nor HOST:PORT"),
        ("", {}, "neither a release"),
        ("127.0.0.1:99999", {}, "99999 is no port"),
        ("127.0.0.1:0", {}, "0 is no port"),
        ("127.0.0.1:10911", {"via": "jars"}, "is already running"),
        ("127.0.0.1:10911", {"lease": "0"}, "'0' is no lease"),
        ("127.0.0.1:10911", {"lease": "soon"}, "such as lease=1000"),
        ("5.5.0", {"lease": "1000"}, "write it with broker:HOST:PORT"),
        ("5.5.0", {"like": "4.9.8"}, "no option 'like'"),
        ("5.5.0", {"count": "0"}, "'0' is no number of brokers; write one from 1 to 64"),
        ("5.5.0", {"count": "two"}, "'two' is no number of brokers"),
        ("127.0.0.1:10911", {"count": "2"}, "count is for brokers that the kit starts"),
        ("127.0.0.1:10911", {"slave": "elsewhere"}, "'elsewhere' is no HOST:PORT; write where the slave is"),
        ("127.0.0.1:10911", {"slave": "127.0.0.1:0"}, "'127.0.0.1:0' is no HOST:PORT"),
        ("127.0.0.1:10911", {"slave": "127.0.0.1:10911"}, "127.0.0.1:10911 cannot be the slave of itself"),
        ("5.5.0", {"slave": "127.0.0.1:10921"}, "slave is where the slave of a running broker is"),
    ],
)
def test_anything_else_says_what_to_write(name: str, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        broker_at(name, options)


def test_without_a_name_it_is_the_embedded_broker() -> None:
    for address, release, java in (("broker", "5.5.0", 17), ("broker?like=4.9.8&java=8", "4.9.8", 8)):
        adapter = open_address(address)
        assert isinstance(adapter, BrokerAdapter)
        greeting = adapter.hello()
        assert (greeting.broker, greeting.java, list(greeting.unsupported)) == (release, java, ["broker-upgrade"])
        adapter.close()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"like": "newest"}, "'newest' is no release"),
        ({"java": "x"}, "'x' is no Java release"),
        ({"via": "jars"}, "The fake broker has no option 'via'"),
    ],
)
def test_what_the_embedded_broker_does_not_know(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        broker_at(None, options)


def test_a_way_that_is_not_offered() -> None:
    with pytest.raises(AddressError, match="write via=jars or via=container"):
        broker_at("5.5.0", {"via": "pigeon"})


# --- properties -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("via", ["", "via=container&"])
def test_an_address_sets_properties_of_a_broker_to_start(via: str) -> None:
    adapter = open_address(f"broker:5.5.0?{via}set=lockInStrictMode=true&set=metricsLabel=a:b%20c")
    assert isinstance(adapter, BrokerAdapter)
    assert adapter.source.properties == {"lockInStrictMode": "true", "metricsLabel": "a:b c"}


def test_a_started_broker_gets_the_properties_of_its_address(tmp_path: Path) -> None:
    jars = tmp_path / "broker.jar"
    properties = {"autoCreateTopicEnable": "true", "a": "b"}
    made = Broker(Release(5, 5, 0), jars=lambda names, version: [jars], properties=properties)
    assert made._properties.items() >= properties.items()
    assert made._properties["brokerFastFailureEnable"] == "false"
    plain = Broker(Release(5, 5, 0), jars=lambda names, version: [jars], ordinary=True)
    assert set(plain._properties) == set(PLACES)
    for one in (made, plain):
        one.close()


def test_an_address_sets_properties_of_the_fake_broker() -> None:
    adapter = open_address("broker?like=5.1.4&set=useServerSideResetOffset=true&set=lockInStrictMode=false")
    hello = adapter.hello()
    adapter.close()
    assert [(one.name, one.value, one.default, one.kind) for one in hello.properties] == [
        ("useServerSideResetOffset", "true", "false", "modelled")
    ]
    assert profile_of(hello, {}).configuration == (("useServerSideResetOffset", "true"),)


@every(
    ("address", "sentence"),
    [
        ("broker:5.5.0?set=lockInStrictMod=true", "has no property 'lockInStrictMod', but lockInStrictMode"),
        ("broker:4.9.7?set=lockInStrictMode=true", "A broker 4.9.7 has no property 'lockInStrictMode'"),
        ("broker:5.5.0?set=lockInStrictMode=maybe", "write one of true, false"),
        ("broker?set=enableMultiDispatch=true", "cannot be configured by enableMultiDispatch"),
        ("broker:127.0.0.1:10911?set=lockInStrictMode=true", "is judged as it is configured"),
        ("port?set=a=b", "port has no option 'set'"),
        ("java-client:5.5.0?set=a=b", "java-client has no option 'set'"),
    ],
)
def test_a_wrong_property_says_what_to_write(address: str, sentence: str) -> None:
    with pytest.raises(AddressError, match=sentence):
        open_address(address)
