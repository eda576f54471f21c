"""Reading a cluster: nothing is created or changed by it, and what cannot be read is one sentence."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from guarded import ACL_1, ACL_2, Guard, guarded
from hypothesis import given, settings
from hypothesis import strategies as st
from predicted_broker import GROUP, TIME, TOPIC, cluster, join

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import CLUSTER, FakeBroker
from rocketmq_conformance.conformance.predict.api import access, consumer_of, read_group, read_pair, usual_kind
from rocketmq_conformance.conformance.predict.cluster import ClusterReader
from rocketmq_conformance.conformance.predict.facts import GroupFacts, masked, read_file, to_json
from rocketmq_conformance.conformance.predict.releases import RELEASES, grouped, range_of
from rocketmq_conformance.conformance.predict.reset import predict_reset
from rocketmq_conformance.conformance.predict.server import Server, UnreadableError
from rocketmq_conformance.conformance.predict.start import Consumer, PredictError, predict_start
from rocketmq_conformance.conformance.proof import java
from rocketmq_conformance.conformance.remoting.access import OPEN
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.models.broker.wire import ordinal
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

#: The requests that read and nothing else, on every release (docs/guides/predict.md).
READS = {
    Request.GET_ROUTEINFO_BY_TOPIC,
    Request.GET_BROKER_CLUSTER_INFO,
    Request.GET_BROKER_RUNTIME_INFO,
    Request.GET_BROKER_CONFIG,
    Request.GET_CONSUMER_CONNECTION_LIST,
    Request.GET_ALL_CONSUMER_OFFSET,
    Request.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    Request.QUERY_CONSUMER_OFFSET,
    Request.GET_MIN_OFFSET,
    Request.GET_MAX_OFFSET,
    Request.GET_EARLIEST_MSG_STORETIME,
    Request.SEARCH_OFFSET_BY_TIMESTAMP,
}
#: And what brokers from 5.0.0 on know.
LATER_READS = {Request.QUERY_ASSIGNMENT}


@pytest.mark.parametrize("release", ["4.9.7", "5.5.0"])
def test_nothing_is_created_or_changed(release: str) -> None:
    with cluster(release, {0: 7}) as broker:
        before = broker.state
        for group in (GROUP, "unknown"):
            read_group(broker.address, group, [TOPIC], TIME)
        assert broker.state == before
        assert {request for request in Request if broker.arrived(request)} == READS | (
            LATER_READS if release == "5.5.0" else set()
        )


@pytest.mark.parametrize("release", ["4.9.7", "5.5.0"])
def test_a_stored_0_is_not_taken_for_no_offset(release: str) -> None:
    with cluster(release, {0: 0}) as broker:
        known = read_group(broker.address, GROUP, [TOPIC])
        other = read_group(broker.address, "other", [TOPIC])
    assert (known.queues[0].answer, known.queues[0].stored) == (0, 0)
    assert (other.queues[0].answer, other.queues[0].stored) == (0, None)


def test_members_say_what_they_are_and_which_topics_they_consume() -> None:
    with cluster() as broker, ExitStack() as members:
        for _ in range(2):
            members.enter_context(join(broker, version=ordinal(Release.parse("4.9.8"))))
        known = read_group(broker.address, GROUP)
        assert known.topics == (TOPIC, f"%RETRY%{GROUP}")
        consumer = consumer_of(known)
        assert (consumer.kind, consumer.model, consumer.where) == ("push", "clustering", "CONSUME_FROM_LAST_OFFSET")
        assert [member.client for member in known.members] == ["10.0.0.1@1"] * 2
        broker.settle()


def test_topics_are_those_of_the_stored_offsets_without_members() -> None:
    with cluster(stored={0: 7}) as broker:
        assert read_group(broker.address, GROUP).topics == (TOPIC,)


def test_the_groups_of_a_cluster() -> None:
    with cluster(stored={0: 7}) as broker, ClusterReader(broker.address) as reader:
        broker.create_group("other")
        assert reader.groups() == (GROUP, "other")


def test_every_group_is_read_and_those_left_out_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    read = ClusterReader.read

    def reads(reader: ClusterReader, group: str, *args: Any) -> GroupFacts:
        if group == "late":
            raise CannotRunError("The broker does not answer.")
        return read(reader, group, *args)

    monkeypatch.setattr(ClusterReader, "read", reads)
    seen = []
    with cluster(stored={0: 7}) as broker, ClusterReader(broker.address) as reader:
        for group in ("idle", "late", "popping"):
            broker.create_group(group)
        broker.create_topic(f"%RETRY%popping_{TOPIC}", 1)
        found = reader.read_all([], lambda done, of: seen.append((done, of)))
        named = reader.read_all([TOPIC])
        # the queues, the offsets and the properties of a broker do not depend on a group
        asked = [Request.GET_MIN_OFFSET, Request.GET_ALL_CONSUMER_OFFSET, Request.GET_BROKER_CONFIG]
        assert [broker.arrived(request) for request in asked] == [5, 1, 1]
    assert ([known.group for known in found.known], found.unused) == ([GROUP], 2)
    assert found.failed == named.failed == (("late", "The broker does not answer."),)
    assert ([known.group for known in named.known if known.came_back], named.unused) == (["popping"], 0)
    assert seen == [(done, 4) for done in range(5)]


def test_what_brokers_do_not_show_is_not_taken_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Server.try_to_ask
    hidden: set[int] = set()

    def asks(server: Server, asked: requests.Ask) -> Command:
        return Command(int(Response.NO_PERMISSION), {}) if asked.code in hidden else ask(server, asked)

    monkeypatch.setattr(Server, "try_to_ask", asks)
    with cluster("4.9.7", {0: 7}) as broker, ClusterReader(broker.address) as reader:
        hidden.add(int(Request.GET_ALL_CONSUMER_OFFSET))
        with pytest.raises(CannotRunError, match="does not show stored offsets"):
            reader.read(GROUP)
        unsure = reader.read(GROUP, [TOPIC])
        hidden.add(int(Request.GET_CONSUMER_CONNECTION_LIST))
        without = reader.read(GROUP, [TOPIC])
    with pytest.raises(PredictError, match="decides whether a reset is refused"):
        predict_reset(unsure, TOPIC, "end")
    with pytest.raises(PredictError, match="say --online or --offline"):
        predict_reset(without, TOPIC, "end")
    assert any("NO_PERMISSION" in note for note in predict_start(without, Consumer()).notes)


def test_topics_are_asked_about_together_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = Server._exchange
    asked: list[int] = []

    def counted(server: Server, asks: Sequence[requests.Ask]) -> list[Command]:
        asked.append(len(asks))
        return exchange(server, asks)

    monkeypatch.setattr(Server, "_exchange", counted)
    seen: list[tuple[int, int]] = []
    with cluster(stored={0: 7}) as broker:
        more = [f"more-{number}" for number in range(30)]
        for topic in more:
            broker.create_topic(topic, 2)
        one = read_group(broker.address, GROUP, [TOPIC])
        alone = len(asked)
        known = read_group(broker.address, GROUP, [TOPIC, *more], progress=lambda done, of: seen.append((done, of)))
        assert len(asked) - alone == alone
        assert known.only(TOPIC).queues == one.queues
        assert known.topics == (TOPIC, *more)
        assert {(31, 31), (62, 62)} <= set(seen)
        monkeypatch.setattr("rocketmq_conformance.conformance.predict.cluster.MOST_TOPICS", 0)
        with pytest.raises(CannotRunError, match="consumes 1 topics, and at most 0 are predicted at once"):
            read_group(broker.address, GROUP)


def test_an_answer_that_no_client_takes_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = Server._exchange
    long = {int(Request.GET_ALL_CONSUMER_OFFSET)}

    def exchanged(server: Server, asks: Sequence[requests.Ask]) -> list[Command]:
        if asks[0].code in long:
            raise UnreadableError("What it answers cannot be read.")
        return exchange(server, asks)

    monkeypatch.setattr(Server, "_exchange", exchanged)
    with cluster("4.9.7", {0: 7}) as broker, ClusterReader(broker.address) as reader:
        assert reader.read(GROUP, [TOPIC]).queues[0].stored == 7
        with pytest.raises(CannotRunError, match="does not show stored offsets"):
            reader.read(GROUP)
    long.add(int(Request.GET_ALL_SUBSCRIPTIONGROUP_CONFIG))
    neither = pytest.raises(CannotRunError, match="shows neither its groups nor stored offsets: name a group")
    with cluster() as broker, ClusterReader(broker.address) as reader, neither:
        reader.read_all()


def test_a_frame_that_is_too_long_is_no_reason_to_try_again() -> None:
    def answer() -> None:
        with listening.accept()[0] as connection:
            connection.recv(1)
            connection.sendall(b"\x01\x31\x2d\x72")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer).start()
        server = Server(f"127.0.0.1:{listening.getsockname()[1]}", OPEN, "broker")
        with pytest.raises(UnreadableError, match=r"cannot be read .*a frame cannot be 20000114 bytes long.*\)\.$"):
            server.ask(requests.runtime_info())


def test_a_mode_of_requests_is_read_though_the_group_has_no_members() -> None:
    with cluster(stored={0: 7}) as broker, join(broker) as line:
        assert read_group(broker.address, GROUP).pops == ()
        asked = requests.set_mode(TOPIC, GROUP, "POP", 0)
        assert line.call(asked.code, asked.ext, asked.body).code == 0
        known = read_group(broker.address, GROUP)
    assert known.pops == (TOPIC,)
    assert any("POP mode" in note for note in predict_start(known, Consumer()).notes)


def test_properties_off_the_default_are_read() -> None:
    properties = {"useServerSideResetOffset": "false", "someProperty": "1"}
    with cluster(properties=properties) as broker:
        known = read_group(broker.address, GROUP, [TOPIC])
    assert known.brokers[0].configuration == {"useServerSideResetOffset": "false"}
    assert known.brokers[0].doubts == ("someProperty=1",)


def test_an_account_that_may_read_little_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETMQ_CONFORMANCE_ACCESS_KEY", "reader")
    monkeypatch.setenv("ROCKETMQ_CONFORMANCE_SECRET_KEY", "secret")
    with cluster(stored={0: 7}) as broker:
        hidden = frozenset(
            {
                int(Request.GET_BROKER_CONFIG),
                int(Request.GET_ALL_CONSUMER_OFFSET),
                int(Request.GET_ALL_SUBSCRIPTIONGROUP_CONFIG),
            }
        )
        guard = Guard(refusals=ACL_2, account=("reader", "secret"), forbidden=hidden)
        with guarded(broker.address, guard) as address, ClusterReader(address, access()) as reader:
            known = reader._facts("broker-a", address, GROUP, Release.parse("4.9.7"), hides=True)
            assert reader._stored(address, GROUP) is None
    assert (known.knows_group, known.configuration, known.hides_offsets) == (None, {}, True)
    assert "has no permission" in known.unread


def test_what_came_back_shows_that_a_group_pops() -> None:
    again = f"%RETRY%{GROUP}_{TOPIC}"
    with cluster(stored={0: 7}) as broker:
        assert usual_kind(read_group(broker.address, GROUP)) == "push"
        broker.create_topic(again, 1)
        known = read_group(broker.address, GROUP)
        assert (known.topics, known.came_back) == ((TOPIC, again), (again,))
        assert usual_kind(known) == "grpc"
        with pytest.raises(CannotRunError, match="pops its messages"):
            read_pair(broker.address, GROUP)
        with join(broker):
            assert usual_kind(read_group(broker.address, GROUP)) == "pop"
    assert masked(known).topics == ("topic-0", "%RETRY%group_topic-0")


@pytest.mark.parametrize("name", ["enablePopBufferMerge", "popConsumerKVServiceEnable"])
def test_a_broker_that_keeps_pops_elsewhere_is_known(name: str) -> None:
    with cluster(properties={name: "true"}) as broker:
        known = read_group(broker.address, GROUP, [TOPIC])
    assert (known.brokers[0].keeps_pops, known.brokers[0].doubts) == (f"{name}=true", ())


def test_what_cannot_be_read_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster() as broker, FakeBroker(Profile.of(broker="5.5.0")) as unread:
        unread.create_topic("closed", 0)
        asked = [
            ("127.0.0.1:1", GROUP, [TOPIC], "No name server at 127.0.0.1:1 answers"),
            ("nowhere", GROUP, [TOPIC], "no address"),
            (broker.address, GROUP, ["missing"], "has no topic 'missing'"),
            (broker.address, "unknown", [], "no members and no stored offsets"),
            (unread.address, GROUP, ["closed"], "can be read"),
        ]
        for address, group, topics, sentence in asked:
            with pytest.raises(CannotRunError, match=sentence):
                read_group(address, group, topics)
        for refusals in (ACL_1, ACL_2):
            guard = Guard(refusals=refusals, account=("a", "b"))
            with (
                guarded(broker.address, guard) as address,
                pytest.raises(CannotRunError, match="asks for credentials"),
            ):
                read_group(address, GROUP, [TOPIC])
        monkeypatch.setenv("ROCKETMQ_CONFORMANCE_TLS", "perhaps")
        with pytest.raises(CannotRunError, match="write one of on, off, insecure"):
            read_group(broker.address, GROUP, [TOPIC])


def test_a_late_answer_is_not_taken_for_the_next_one() -> None:
    with cluster() as broker, closing(Server(broker.address, OPEN, "broker", patience=0.1)) as server:
        broker.faults.arm(Request.GET_MAX_OFFSET, "slow:300*1")
        with pytest.raises(CannotRunError, match=f"The broker at {broker.address} does not answer"):
            server.ask(requests.max_offset(TOPIC, 0))
        time.sleep(0.3)
        assert [answer.ext for answer in server.ask_all([requests.max_offset(TOPIC, 1)])] == [{"offset": "75"}]


def test_facts_survive_their_file_and_are_masked(tmp_path: Path) -> None:
    with cluster(stored={0: 7}) as broker, join(broker):
        known = read_group(broker.address, GROUP, [TOPIC])
    path = tmp_path / "facts.json"
    path.write_text(to_json(known))
    assert read_file(path) == known
    hidden = to_json(masked(known))
    assert (known.name_servers, known.brokers[0].cluster) == (broker.address, CLUSTER)
    secrets = (GROUP, TOPIC, "10.0.0.1", broker.address, "broker-a", CLUSTER)
    assert not [name for name in secrets if f'"{name}' in hidden]
    assert [queue.stored for queue in masked(known).queues] == [queue.stored for queue in known.queues]


def test_ranges_of_releases() -> None:
    assert list(map(str, range_of("4.9.7..5.0.0-ALPHA,5.5.0"))) == [
        *("4.9.7", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.5.0")
    ]
    for text in ("5.5.0..4.9.4", "4.9.9", "five"):
        with pytest.raises(ValueError, match="release"):
            range_of(text)
    assert grouped(range_of("4.9.7..5.0.0-ALPHA"), lambda release: release.major) == (
        ("4.9.7–4.9.8", 4),
        ("5.0.0-PREVIEW–5.0.0-ALPHA", 5),
    )
    assert [str(release) for release in RELEASES] == [text.removesuffix("-incubating") for text in java.RELEASES]


#: What bodies of a cluster have, and what none of them holds there.
_NAMES = ("brokerAddrTable", "clusterAddrTable", "brokerDatas", "queueDatas", "offsetTable", "connectionSet", "table")
_WRONG = st.sampled_from([None, 1, -1, True, "x", [], [1], ["x"], [{}], {}, {"a": 1}, {"a@b": {"x": 1}}, [[[]]], 1e300])


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 12), st.one_of(_WRONG, st.fixed_dictionaries({}, optional=dict.fromkeys(_NAMES, _WRONG))))
def test_whatever_a_server_answers_is_facts_or_a_sentence(at: int, body: object) -> None:
    exchange, left = Server._exchange, [at]

    def changed(server: Server, asks: Sequence[requests.Ask]) -> list[Command]:
        answers = exchange(server, asks)
        for answer in answers:
            if answer.body:
                left[0] -= 1
                if left[0] == -1:
                    answer.body = json.dumps(body).encode()
        return answers

    changes, sentences = patch.object(Server, "_exchange", changed), suppress(CannotRunError)
    with cluster(stored={0: 7}) as broker, join(broker), changes, sentences:
        read_group(broker.address, GROUP, (TOPIC,))


@contextmanager
def answering(code: Request, body: Mapping[str, object]) -> Iterator[None]:
    """Servers answer a request with this body, where they answer with any."""
    exchange = Server._exchange

    def changed(server: Server, asks: Sequence[requests.Ask]) -> list[Command]:
        answers = exchange(server, asks)
        for ask, answer in zip(asks, answers, strict=True):
            if ask.code == code and answer.body:
                answer.body = json.dumps(body).encode()
        return answers

    with patch.object(Server, "_exchange", changed):
        yield


def test_a_route_of_a_billion_queues_is_not_asked_for() -> None:
    refused = pytest.raises(CannotRunError, match=r"the route of .* cannot be read .*b has 1000000000 queues")
    billion = {"brokerDatas": [], "queueDatas": [{"brokerName": "b", "readQueueNums": 10**9, "perm": 6}]}
    with cluster() as broker, answering(Request.GET_ROUTEINFO_BY_TOPIC, billion), refused:
        read_group(broker.address, GROUP, (TOPIC,))


def test_brokers_are_in_the_order_of_the_route_in_which_tools_ask_them() -> None:
    with cluster() as broker:
        addresses = {"z": broker.address, "a": broker.address.replace("127.0.0.1", "localhost")}
        both = {
            "brokerDatas": [{"brokerName": name, "brokerAddrs": {"0": one}} for name, one in addresses.items()],
            "queueDatas": [{"brokerName": name, "readQueueNums": 1, "perm": 6} for name in ("a", "z")],
        }
        with answering(Request.GET_ROUTEINFO_BY_TOPIC, both):
            known = read_group(broker.address, GROUP, (TOPIC,))
    assert [one.name for one in known.brokers] == ["z", "a"]
    assert [queue.broker for queue in known.only(TOPIC).queues] == ["a", "z"]


@pytest.mark.parametrize(("number", "slave"), [("0", False), ("1", True)])
def test_a_slave_is_read_where_the_master_is_gone(number: str, slave: bool) -> None:
    with cluster("4.9.7", {0: 7}, properties={"brokerRole": "SLAVE"}) as broker:
        table = {"brokerAddrTable": {"broker-a": {"brokerAddrs": {number: broker.address}}}}
        with answering(Request.GET_BROKER_CLUSTER_INFO, table):
            (known,) = read_group(broker.address, GROUP, (TOPIC,)).brokers
    assert known.slave == slave
    assert known.doubts == (() if slave else ("brokerRole=SLAVE",))
