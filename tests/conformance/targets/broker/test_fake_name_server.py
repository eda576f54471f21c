"""The name server of brokers that the kit starts, and assignments over real sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from broker_at import broker_at

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.broker_assignment import readable, route_of
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.fake_name_server import RouteServer
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.models.broker.assignment import CLUSTERING, POP, PULL
from rocketmq_conformance.models.broker.broker_assignment import ROUTES
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err, Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import broker_admin
from rocketmq_conformance.suites.broker_assignment import SUITE, Ask, MakeTopic, Register, SetMode, Unregister

RELEASES = ("5.0.0-PREVIEW", "5.0.0", "5.3.0", "5.5.0")
AVG = "AVG"


@pytest.fixture
def adapter() -> Iterator[BrokerAdapter]:
    made = BrokerAdapter(FakeLocation(Profile()))
    yield made
    made.close()


# --- the name server --------------------------------------------------------------------------------------------


def test_topics_of_any_case_have_the_routes_of_the_layout() -> None:
    assert route_of("conf-0f-12-T1") == ROUTES["T1"]
    assert route_of("%RETRY%conf-0f-12-G0") == ROUTES["%RETRY%G0"]
    assert [route_of(topic) for topic in ("conf-0f-12-T4", "%RETRY%conf-0f-12-G1", "T1-", "conf-0f-12-G0")] == [
        None
    ] * 4
    assert readable("conf-0f-12-T4") is None
    queues = readable("conf-0f-12-T1")
    assert queues is not None
    assert {topic for topic, _, _ in queues} == {"conf-0f-12-T1"}
    assert sorted({broker for _, broker, _ in queues}) == ["broker-a", "broker-b"]


def test_the_name_server_tells_routes_and_takes_registrations() -> None:
    server = RouteServer(Release.parse("5.5.0"))
    address = server.start()
    assert server.start() == address
    host, _, port = address.rpartition(":")
    try:
        with Connection(host, int(port)) as connection:
            found = connection.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": "conf-1-1-T1"})
            data = json.loads(found.body)
            assert [each["brokerName"] for each in data["brokerDatas"]] == ["broker-c", "broker-b", "broker-a"]
            assert [each["perm"] for each in data["queueDatas"]] == [2, 6, 6]
            unknown = connection.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": "conf-1-1-T4"})
            assert unknown.code == Response.TOPIC_NOT_EXIST
            assert connection.call(Request.REGISTER_BROKER).code == Response.SUCCESS
            assert connection.call(Request.UNREGISTER_BROKER).code == Response.SUCCESS
            assert connection.call(Request.GET_MAX_OFFSET).code == Response.REQUEST_CODE_NOT_SUPPORTED
    finally:
        server.stop()


def test_brokers_that_assign_ask_it_and_older_ones_are_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def pretend(release: Release, prepare: object, name_server: str = "", **others: object) -> Broker:
        made.append(name_server)
        raise RuntimeError("enough")

    monkeypatch.setattr("rocketmq_conformance.conformance.targets.broker.managed_broker.Broker", pretend)
    for release in ("4.9.7", "5.0.0"):
        source = StartedBroker(Release.parse(release))
        assert source.routed is (release == "5.0.0")
        for _ in range(2):
            with pytest.raises(RuntimeError, match="enough"):
                source.open()
        source.close()
    assert made[:2] == ["", ""]
    assert made[2] == made[3] != ""


# --- addresses --------------------------------------------------------------------------------------------------


def test_a_broker_of_somebody_else_has_no_routes_unless_it_says_so() -> None:
    assert not broker_at("127.0.0.1:1").source.routed
    assert broker_at("127.0.0.1:1", {"routes": "kit"}).source.routed
    with FakeBroker(Profile()) as broker:
        host, _, port = broker.address.rpartition(":")
        for routed in (False, True):
            adapter = BrokerAdapter(RunningBroker(host, int(port), routed=routed))
            assert ("broker-assignment" in adapter.hello().unsupported) is not routed
            adapter.close()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("127.0.0.1:1", "mine", "write routes=kit"), ("5.5.0", "kit", "write it with broker:HOST:PORT")],
)
def test_addresses_that_make_no_sense_are_refused(name: str, value: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        broker_at(name, {"routes": value})


# --- operations -------------------------------------------------------------------------------------------------


def test_members_of_several_connections_are_told_their_queues(adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, SUITE)])
    for connection, client in ((0, 0), (4, 1)):
        assert adapter.apply(Register(connection, client, 0)) == Ok()
    assert adapter.apply(Ask(0, 0, "c2", CLUSTERING, AVG)) == Ok((("broker-a", 2, PULL), ("broker-a", 3, PULL)))
    assert adapter.apply(Unregister(4, 0)) == Ok()
    result = adapter.apply(Ask(0, 0, "c2", CLUSTERING, AVG))
    assert isinstance(result, Ok)
    assert isinstance(result.value, tuple)
    assert len(result.value) == 4
    assert adapter.apply(Ask(0, 1, "c2", CLUSTERING, AVG)) == Ok()
    assert adapter.apply(Ask(0, 0, "c2", None, AVG)) == Err("SYSTEM_ERROR")


def test_modes_are_set_for_topics_that_are_there(adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, SUITE)])
    assert adapter.apply(SetMode(1, 0, POP, 0)) == Err("TOPIC_NOT_EXIST")
    assert adapter.apply(MakeTopic(1)) == Ok()
    assert adapter.apply(SetMode(1, 0, POP, 0)) == Ok()
    assert adapter.apply(SetMode(1, 2, POP, 0)) == Err("SUBSCRIPTION_GROUP_NOT_EXIST")
    assert adapter.apply(Register(0, 0, 0)) == Ok()
    assert adapter.apply(Ask(1, 0, "x", CLUSTERING, AVG)) == Ok((("broker-a", -1, POP), ("broker-b", -1, POP)))


def test_members_are_gone_when_the_next_case_begins() -> None:
    profile = Profile()
    source = FakeLocation(profile)
    adapter = BrokerAdapter(source)
    adapter.reset_many([(0, SUITE)])
    adapter.play_many([(0, [Register(3, 0, 0), MakeTopic(2)])])
    groups = source._broker.consumers.groups
    assert not [name for name in groups if name.endswith("-G0")]
    adapter.close()


def test_what_members_ask_is_heard_without_the_names_of_the_case(adapter: BrokerAdapter) -> None:
    messages: list[str] = []
    adapter.reset_many([(0, SUITE)])
    adapter.record_messages(lambda sender, receiver, text: messages.append(f"{sender} {receiver} {text}"))
    adapter.apply(Register(2, 0, 0))
    adapter.apply(Ask(0, 0, "c2", CLUSTERING, AVG))
    assert len(messages) == 4
    assert "HEART_BEAT" in messages[0]
    assert not any("conf-" in line for line in messages)


@pytest.mark.parametrize(("late", "queues"), [(1, 4), (3, 4), (99, 0)])
def test_a_broker_that_is_late_with_a_route_is_asked_again(late: int, queues: int) -> None:
    asked: list[str] = []

    def routes(topic: str) -> tuple[Queue, ...] | None:
        asked.append(topic)
        return readable(topic) if len(asked) > late else None

    with FakeBroker(Profile(), routes=routes) as broker:
        host, _, port = broker.address.rpartition(":")
        adapter = BrokerAdapter(RunningBroker(host, int(port), routed=True))
        assert adapter.lanes(SUITE) < adapter.lanes(broker_admin.SUITE)
        adapter.reset_many([(0, SUITE)])
        adapter.apply(Register(0, 0, 0))
        result = adapter.apply(Ask(0, 0, "c2", CLUSTERING, AVG))
        assert isinstance(result, Ok)
        assert (result.value is None) is not bool(queues)
        assert not queues or len(result.value) == queues  # type: ignore[arg-type]
        # a broker that has the route and no list is believed at once
        before = len(asked)
        assert adapter.apply(Ask(0, 0, "c2", CLUSTERING, "NONE")) == Ok()
        assert len(asked) - before == (1 if queues else 6)
        adapter.close()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"messageQueueAssignments":[{"messageQueue":{"topic":"U","brokerName":"b","queueId":0}}]}', "OTHER_TOPIC"),
        (b'{"messageQueueAssignments":[{"messageQueue":{"topic":"T","brokerName":"b","queueId":0}}]}', "NO_FIELD"),
        (b'{"messageQueueAssignments":7}', "NO_FIELD"),
        (b"nonsense", "NO_FIELD"),
    ],
)
def test_answers_that_make_no_sense_are_errors(body: bytes, code: str) -> None:
    found = responses.assigned(Command(0, body=body), "T")
    assert isinstance(found, Err)
    assert found.code == code


def test_an_embedded_broker_by_itself_assigns_its_own_topics() -> None:
    with FakeBroker(Profile()) as broker:
        broker.create_topic("T", 3)
        host, _, port = broker.address.rpartition(":")
        with Connection(host, int(port)) as connection:
            connection.call(*requests.heartbeat("one", "G", ["T"]))
            found = responses.assigned(connection.call(*requests.assignment("T", "G", "one", CLUSTERING, AVG)), "T")
            assert found == tuple(("broker-a", number, PULL) for number in range(3))
            assert (
                responses.assigned(connection.call(*requests.assignment("U", "G", "one", CLUSTERING, AVG)), "U") is None
            )
            assert (
                connection.call(*requests.set_mode("T", "bad group", POP, 0)).code
                == Response.SUBSCRIPTION_GROUP_NOT_EXIST
            )


def test_an_old_embedded_broker_knows_neither_request() -> None:
    with FakeBroker(Profile.of(broker="4.9.7")) as broker:
        host, _, port = broker.address.rpartition(":")
        with Connection(host, int(port)) as connection:
            for ask in (requests.set_mode("T", "G", POP, 0), requests.assignment("T", "G", "one", CLUSTERING, AVG)):
                assert connection.call(*ask).code == Response.REQUEST_CODE_NOT_SUPPORTED
