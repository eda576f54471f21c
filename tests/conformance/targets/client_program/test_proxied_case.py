"""Cases that go through a proxy to a broker that all of them share; a fake one stands for the real one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, Self

import pytest
from places import ROOT
from waiting import wait_until

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.startup import starting
from rocketmq_conformance.conformance.targets.address import AddressError, going_through, parse_address, through_address
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.ports import free_port
from rocketmq_conformance.conformance.targets.broker.servers import BrokerHost
from rocketmq_conformance.conformance.targets.client_program import proxied_case
from rocketmq_conformance.conformance.targets.client_program import real_broker as real
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.broker_in_use import offset_table
from rocketmq_conformance.conformance.targets.client_program.case_broker import UnsupportedMoveError
from rocketmq_conformance.conformance.targets.client_program.proxied_case import ProxiedCase
from rocketmq_conformance.conformance.targets.client_program.real_broker import real_broker
from rocketmq_conformance.conformance.targets.client_program.smoke import look_at
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.client.start import LAST, TIMESTAMP
from rocketmq_conformance.models.outcome import Ok, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import whole_push as operations
from rocketmq_conformance.suites.declare.discovery import SUITES

PROGRAM = ROOT / "tests" / "helpers" / "program.py"
#: Seconds after which a test that hangs ends.
LIMIT = 30.0
#: The flags of a pull that brings an offset, may be held, and has its subscription.
PULLED, COMMITS = 6, 7


@pytest.fixture(scope="module")
def behind() -> Iterator[FakeBroker]:
    """A broker that says which name server it has."""
    port = free_port()
    with FakeBroker(Profile.of("5.5.0", "5.3.3"), port=port, properties={"namesrvAddr": f"127.0.0.1:{port}"}) as broker:
        yield broker


@pytest.fixture
def case(behind: FakeBroker) -> Iterator[ProxiedCase]:
    """A case of two queues with twelve messages each, of which the group has consumed seven."""
    broker = real_broker(through_address(f"broker:{behind.address}"))
    assert broker.hello().broker == "5.3.3"
    opened = ProxiedCase(broker)
    opened.prepare(2, "young", 7, LAST)
    opened.open()
    yield opened
    opened.close()
    broker.close()


class Member:
    """A consumer by hand."""

    def __init__(self, case: ProxiedCase, client: str) -> None:
        self._case, self.client = case, client
        host, _, port = case.address.rpartition(":")
        self.line = Connection(host, int(port), LIMIT)
        self.ask(requests.heartbeat(client, case.group, [case.topic]))

    def ask(self, request: requests.Ask) -> int:
        return self.line.call(*request).code

    def pull(self, queue: int, offset: int, flags: int = PULLED, commit: int = 0, topic: str = "") -> int:
        """Send a pull; its number."""
        ext = {
            "consumerGroup": self._case.group,
            "topic": topic or self._case.topic,
            "queueId": str(queue),
            "queueOffset": str(offset),
            "maxMsgNums": "32",
            "sysFlag": str(flags),
            "commitOffset": str(commit),
            "suspendTimeoutMillis": "15000",
            "subscription": "*",
            "subVersion": "0",
            "expressionType": "TAG",
        }
        return self.line.post(int(Request.PULL_MESSAGE), ext)

    def queues(self) -> list[tuple[str, str, int]]:
        return [(self._case.topic, "broker-a", queue) for queue in range(self._case.queues)]


@pytest.fixture
def member(case: ProxiedCase) -> Iterator[Member]:
    made = Member(case, "member-0")
    yield made
    made.line.close()


def test_a_case_has_its_own_topic_and_group_and_the_route_names_the_proxy(
    behind: FakeBroker, case: ProxiedCase, member: Member
) -> None:
    found = member.line.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": case.topic})
    route = json.loads(found.body)
    assert route["brokerDatas"][0]["brokerAddrs"] == {"0": case.address}
    assert route["queueDatas"][0]["readQueueNums"] == 2
    clusters = member.line.call(Request.GET_BROKER_CLUSTER_INFO)
    assert case.address.encode() in clusters.body
    assert behind.address.encode() not in clusters.body
    assert case.stored() == (7, 7)
    assert (case.max_offset(0), case.offers(0, 12), case.offers(0, 13)) == (12, True, False)
    case.resize(3)
    assert (case.queues, case.stored()) == (3, (7, 7, -1))
    topic, group = case.topic, case.group
    case.prepare(1, "empty", -1, LAST)
    assert (case.topic != topic, case.group != group, case.stored()) == (True, True, (-1,))
    # commits that arrive together are not the first ones
    place = case.group, case.topic
    assert [queue for *at, queue in behind.state.stored if tuple(at) == place] == [1000]


def test_pulls_are_watched_and_held_as_long_as_they_ask_and_messages_end_them(
    case: ProxiedCase, member: Member
) -> None:
    member.pull(0, 7)
    assert member.line.collect().ext["nextBeginOffset"] == "12"
    assert case.observed({"member-0": 0}, case.take_brought()) == (((-1, -1), (-1, -1)), (), (7, 7))
    member.pull(0, 12)
    wait_until(lambda: case.pullers() == {("member-0", 0)})
    assert case.observed({}, case.take_brought()) == (((-2, 12), (-1, -1)), ((-2, 0, 7, 5),), (7, 7))
    held = case.latest_pull(0)
    assert held is not None
    assert held.ext["suspendTimeoutMillis"] == "15000"
    case.send(0)
    assert member.line.collect().ext["nextBeginOffset"] == "13"
    member.pull(0, 13)
    wait_until(lambda: case.take_brought() == [("member-0", 0, 12, 1)])


def test_pulls_that_the_broker_holds_end_as_if_their_time_was_up(case: ProxiedCase, member: Member) -> None:
    for queue in range(2):
        member.pull(queue, 12)
    wait_until(lambda: case.traffic.unsettled() == {0, 1})
    case.end_pulls([1])
    answer = member.line.collect()
    found = [answer.ext[name] for name in ("nextBeginOffset", "minOffset", "maxOffset")]
    assert (answer.code, found) == (Response.PULL_NOT_FOUND, ["12", "0", "12"])
    member.pull(1, 12)
    wait_until(lambda: case.traffic.unsettled() == {0})
    case.send(1)
    assert member.line.collect().ext["nextBeginOffset"] == "13"


def test_a_case_may_have_another_topic_whose_queues_begin_alike(behind: FakeBroker, case: ProxiedCase) -> None:
    assert list(case.seen) == [0, 1]
    case.prepare(4, "young", 7, LAST)
    case.add_other_topic()
    first, other = case.topic, case.other_topic
    assert (list(case.seen), case.queues) == ([0, 1, 2, 3, 4, 5], 4)
    case.send(4)
    case.send(0)
    assert (case.stored(), case.max_offset(4), case.max_offset(5), case.offers(5, 12)) == ((7,) * 6, 13, 12, True)
    assert [len(behind.messages(*place)) for place in ((first, 0), (first, 1), (other, 0))] == [13, 12, 13]
    member = Member(case, "member-0")
    found = json.loads(member.line.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": other}).body)
    assert found["brokerDatas"][0]["brokerAddrs"] == {"0": case.address}
    member.ask(requests.heartbeat(member.client, case.group, [first, other]))
    assert case.traffic.topics[member.client] == (first, other)
    member.pull(1, 7, topic=other)
    assert member.line.collect().ext["nextBeginOffset"] == "12"
    member.pull(1, 12, topic=other)
    wait_until(lambda: case.take_brought() == [("member-0", 5, 7, 5)])
    member.pull(1, 12)
    wait_until(lambda: case.traffic.unsettled() == {1, 5})
    case.end_pulls([5])
    assert member.line.collect().code == Response.PULL_NOT_FOUND
    wait_until(lambda: case.pullers() == {("member-0", 1)})
    member.line.close()
    case.prepare(4, "young", 7, LAST)
    assert (case.topic != first, list(case.seen)) == (True, [0, 1, 2, 3])
    # both topics are gone
    assert not {first, other} & behind.state.topics.keys()


def test_what_fails_is_answered_by_the_proxy_until_it_is_mended(
    behind: FakeBroker, case: ProxiedCase, member: Member
) -> None:
    commit = requests.commit(case.group, case.topic, 0, 9)
    case.fail(Request.UPDATE_CONSUMER_OFFSET, "SYSTEM_BUSY")
    asked = behind.arrived(Request.UPDATE_CONSUMER_OFFSET)
    assert member.ask(commit) == Response.SYSTEM_BUSY
    assert behind.arrived(Request.UPDATE_CONSUMER_OFFSET) == asked
    # nor do pulls commit
    member.pull(0, 7, COMMITS, 9)
    member.line.collect()
    case.mend()
    assert behind.state.stored[case.group, case.topic, 0] == 7
    assert member.ask(commit) == Response.SUCCESS
    wait_until(lambda: case.stored() == (9, 7))
    member.pull(0, 12)
    wait_until(case.pullers)
    case.fail(Request.PULL_MESSAGE, "SYSTEM_ERROR")
    assert member.line.collect().code == Response.SYSTEM_ERROR
    case.fail(Request.PULL_MESSAGE, "silent")
    member.pull(0, 12)
    case.settle()
    case.mend()
    assert member.ask(commit) == Response.SUCCESS
    assert member.line.outstanding == 1
    member.pull(0, 12)
    wait_until(case.pullers)
    case.fail(Request.PULL_MESSAGE, "silent")
    assert (case.pullers(), case.keeps_waiting, case.loses_members) == (set(), True, False)
    case.send(0)
    case.mend()
    assert member.ask(commit) == Response.SUCCESS
    # the message would have ended the pull that was held
    assert member.line.outstanding == 2
    assert case.take_brought() == [("member-0", 0, 7, 5)]
    case.fail(Request.PULL_MESSAGE, "cut")
    member.pull(0, 12)
    with pytest.raises(ConnectionError):
        member.line.collect()
    case.prepare(1, "empty", -1, LAST)
    case.fail(Request.PULL_MESSAGE, "SYSTEM_BUSY")
    assert case.stored() == (-1,)


def test_locks_are_known_by_what_the_broker_answers(case: ProxiedCase, member: Member) -> None:
    everyone = {"member-0": 0, "member-1": 1}
    first = requests.lock(case.group, "member-0", member.queues()[:1])
    assert case.locks(everyone) == (-1, -1)
    member.ask(first)
    other = Member(case, "member-1")
    other.ask(requests.lock(case.group, "member-1", other.queues()))
    assert case.locks(everyone) == (0, 1)
    assert case.traffic.refused == {("member-1", 0)}
    member.ask(requests.unlock(case.group, "member-0", member.queues()))
    assert case.locks(everyone) == (-1, 1)
    case.take_locks()
    assert case.locks(everyone) == (-2, -2)
    other.ask(requests.lock(case.group, "member-1", other.queues()))
    assert case.traffic.refused == {("member-1", 0), ("member-1", 1)}
    case.expire_locks()
    assert case.locks(everyone) == (-1, -1)
    member.ask(first)
    other.ask(requests.lock(case.group, "member-1", other.queues()))
    other.line.close()
    wait_until(lambda: "member-1" not in list(case.traffic.clients.values()))
    # it went without a word, and its lock expires with the next minute
    assert case.locks(everyone) == (0, 1)
    case.expire_locks()
    assert case.locks(everyone) == (0, -1)
    member.ask(requests.lock(case.group, "member-0", member.queues()))
    assert case.locks(everyone) == (0, 0)


def test_heartbeats_fail_before_a_member_runs_alone(case: ProxiedCase) -> None:
    case.fail(Request.HEART_BEAT, "SYSTEM_ERROR")
    assert (case.loses_members, case.members()) == (True, ())
    member = Member(case, "member-0")
    assert case.members() == ()
    case.mend()
    member.ask(requests.heartbeat(member.client, case.group, [case.topic]))
    assert case.members() == ("member-0",)
    with pytest.raises(UnsupportedMoveError, match="two minutes"):
        case.fail(Request.HEART_BEAT, "SYSTEM_ERROR")
    assert not case.loses_members
    member.line.close()


def test_members_that_do_not_exist_are_listed_by_the_broker(
    behind: FakeBroker, case: ProxiedCase, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    for crowd in ((1, 1), (2, 0), (0, 0)):
        case.crowd(*crowd)
        wait_until(lambda crowd=crowd: len(behind.members(case.group)) == 1 + sum(crowd))
    assert member.line.requests(LIMIT)[0].code == Request.NOTIFY_CONSUMER_IDS_CHANGED
    case.crowd(1, 0)
    beats = behind.arrived(Request.HEART_BEAT)
    case.stored()
    assert behind.arrived(Request.HEART_BEAT) == beats
    monkeypatch.setattr(proxied_case, "_BEAT", 0.0)
    case.stored()
    assert behind.arrived(Request.HEART_BEAT) == beats + 1
    case.prepare(1, "empty", -1, LAST)
    wait_until(lambda: len(behind.members(case.group)) == 0)


def test_what_is_about_one_queue_alone_is_answered_by_the_proxy(case: ProxiedCase, member: Member) -> None:
    for queue in (0, 1):
        member.pull(queue, 12)
    wait_until(lambda: len(case.pullers()) == 2)
    case.fail_alone(Request.PULL_MESSAGE, "PULL_OFFSET_MOVED", 0)
    # the pull that the broker held, and then another one; that of the other queue goes on
    assert member.line.collect().code == Response.SYSTEM_ERROR
    member.pull(0, 12)
    moved = member.line.collect()
    assert (moved.code, moved.ext.get("nextBeginOffset")) == (Response.PULL_OFFSET_MOVED, None)
    assert {queue for _, queue in case.pullers()} == {1}
    case.fail_alone(Request.UPDATE_CONSUMER_OFFSET, "SYSTEM_BUSY", 1)
    codes = [member.ask(requests.commit(case.group, case.topic, queue, 9)) for queue in (0, 1)]
    assert (codes, case.met) == ([Response.SUCCESS, Response.SYSTEM_BUSY], 1)


def test_what_a_real_broker_cannot_do_is_unsupported(case: ProxiedCase) -> None:
    topic = case.topic
    for fault in ("late", "garbage"):
        with pytest.raises(UnsupportedMoveError, match=f"does not play the fault {fault}"):
            case.fail(Request.PULL_MESSAGE, fault)
    with pytest.raises(UnsupportedMoveError, match="keeps a queue"):
        case.resize(0)
    assert not case.fails(Request.PULL_MESSAGE)
    for move in (
        *(lambda: case.reset(3), case.deliver, case.add_retry_topic, lambda: case.retry_queue({})),
        *(lambda: case.send_again(0, "twice"), lambda: case.fail_alone(Request.PULL_MESSAGE, "silent", 0)),
    ):
        with pytest.raises(UnsupportedMoveError):
            move()
    for shape, where in (("gone", LAST), ("expired", LAST), ("young", TIMESTAMP)):
        with pytest.raises(UnsupportedMoveError, match="go through broker:VERSION"):
            case.prepare(2, shape, -1, where)
    case.prepare(2, "empty", -1, TIMESTAMP)
    assert case.topic != topic


def program(behind: FakeBroker, behaviour: str = "sits") -> ClientProgram:
    adapter = open_address(f"client?through=broker:{behind.address}:{sys.executable} {PROGRAM} {behaviour}")
    assert isinstance(adapter, ClientProgram)
    adapter._timing = replace(Timing(pace=100), margin=0.2, end=0.3, look=0.2, quiet=0.05, round=0.1, write=0.1)
    return adapter


def test_a_program_is_judged_by_what_its_broker_is_and_goes_on_without_moves_that_cannot_be_made(
    behind: FakeBroker,
) -> None:
    adapter = program(behind)
    hello = adapter.hello()
    assert (hello.broker, hello.version) == ("5.3.3", f"through broker:{behind.address} (V5_3_3)")
    of_two = {f"whole-{name}" for name in ("brokers", "clusters", "groups", "slaves", "topologies")}
    assert set(hello.unsupported) == {*of_two, "whole-listener", "whole-orderly", "whole-orderly-listener"}
    nobody, stored = ((-1, -1),) * 4, (-1,) * 4
    group = adapter.case(operations.SUITE)
    try:
        assert isinstance(group.do(operations.Prepare(1, "gone", 7, LAST)), Unsupported)
        assert group.do(operations.Join(0)) == Ok((nobody, (), stored))
        state = group._state
        assert isinstance(group.do(operations.Reset(3)), Unsupported)
        assert group._state is state
        assert group.do(operations.Send(0)) == Ok((nobody, (), stored))
        assert group.case.max_offset(0) == 13
    finally:
        group.close()
        adapter.close()


def test_allocation_begins_with_a_topic_that_was_consumed(behind: FakeBroker) -> None:
    adapter = program(behind)
    adapter.hello()
    group = adapter.case(SUITES["whole-allocation"])
    try:
        assert group.case.stored() == (7,) * 4
    finally:
        group.close()
        adapter.close()


def test_smoke_goes_through_it_too(behind: FakeBroker) -> None:
    through = program(behind)
    through.hello()
    missed = [one.what for one in look_at(through, limit=0.2).seen if not one.seen]
    through.close()
    assert "pulled 0 of 4 queues" in missed


@pytest.mark.parametrize(
    "body",
    [
        b'{"offsetTable":{"T@G":{0:7,1:0},"U@G":{}}}',
        b'{"pullOffsetTable":{"T@G":{0:12}},"offsetTable":{"T@G":{"0":7,"1":0},"U@G":{}},"resetOffsetTable":{"V@G":{0:1}}}',
        b'{"dataVersion":{"counter":1},"offsetTable":{"U@G":{},"T@G":{0:7,1:0}},"pullOffsetTable":{"T@G":{0:12}}}',
    ],
)
def test_stored_offsets_are_those_of_their_own_table(body: bytes) -> None:
    assert offset_table(body) == {"T@G": {0: 7, 1: 0}, "U@G": {}}
    assert offset_table(b'{"offsetTable":{}}') == offset_table(b"{}") == {}


def test_why_cases_cannot_go_through_something() -> None:
    for text in ("broker", "broker:x", "port", "broker:5.5.0?via=container&java=8", "broker:127.0.0.1:99999"):
        with pytest.raises(AddressError, match="no broker that cases can go through"):
            through_address(text)
    with pytest.raises(AddressError, match="no broker that cases can go through"):
        open_address("client?through=mutant:x")
    with FakeBroker() as alone, pytest.raises(CannotRunError, match="does not say where its name server is"):
        real_broker(through_address(f"broker:{alone.address}")).hello()
    with pytest.raises(CannotRunError, match="No broker answers"):
        real_broker(through_address(f"broker:127.0.0.1:{free_port()}")).hello()


def test_a_broker_that_ends_is_no_answer(behind: FakeBroker) -> None:
    port = free_port()
    with FakeBroker(port=port, properties={"namesrvAddr": f"127.0.0.1:{port}"}) as broker:
        ending = real_broker(through_address(f"broker:{broker.address}"))
        ending.hello()
        case = ProxiedCase(ending)
        assert case.stored() == (-1,) * 4
    with pytest.raises(AdapterError, match="does not answer"):
        case.send(0)
    case.close()
    ending.close()


def test_the_broker_stands_among_the_settings_before_the_colon() -> None:
    asked = {
        ("client:./consumer", "broker:5.5.0"): "client?through=broker:5.5.0:./consumer",
        ("client?pace=20:./c x:y", "broker:host:10911"): "client?pace=20&through=broker:host:10911:./c x:y",
    }
    for (address, broker), expected in asked.items():
        assert str(going_through(parse_address(address), broker)) == expected
    names = {
        "client?through=broker:5.5.0&pace=20:./c 1:2": ("./c 1:2", "broker:5.5.0"),
        "client?pace=20&through=broker:127.0.0.1:10911:./c": ("./c", "broker:127.0.0.1:10911"),
        "client?through=broker:[::1]:10911&lanes=2:./c": ("./c", "broker:[::1]:10911"),
    }
    for address, (command, broker) in names.items():
        adapter = open_address(address)
        assert isinstance(adapter, ClientProgram)
        assert adapter._through is not None
        assert (adapter._text, adapter._through.text) == (command, broker)
    for address, broker in (("port", "broker:5.5.0"), ("client:./c", "broker:5.5.0?java=17"), ("client:./c", "port")):
        with pytest.raises(AddressError):
            going_through(parse_address(address), broker)


class StockedFake:
    """In the place of a cluster: a fake broker that has the topics of the store which the kit wrote."""

    begun: ClassVar[list[StockedFake]] = []

    def __init__(
        self, release: Release, prepare: Callable[[Path], None], lease: float, limit: float, host: BrokerHost | None
    ) -> None:
        assert host is None  # this machine
        self.logs: Mapping[str, Sequence[QueueLog]] = {}
        self.release, self._prepare, self.lease, self.limit = release, prepare, lease, limit

    def __enter__(self) -> Self:
        StockedFake.begun.append(self)
        self._prepare(Path(str(len(StockedFake.begun) - 1)))
        self._fake = FakeBroker(Profile.of("5.5.0", str(self.release)))
        for topic, logs in self.logs.items():
            self._fake.load(topic, logs, {})
        self.name_server = self._fake.start()
        self.broker = SimpleNamespace(port=int(self.name_server.rpartition(":")[2]), java=17)
        return self

    def __exit__(self, *args: object) -> None:
        self._fake.stop()

    @property
    def runs(self) -> bool:
        return self._fake.running


@pytest.fixture
def stocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers that the kit starts have one topic of each kind in stock."""

    def write(home: Path, topics: Mapping[str, Sequence[QueueLog]], stored: object) -> None:
        StockedFake.begun[int(str(home))].logs = topics

    monkeypatch.setattr(StockedFake, "begun", [])
    monkeypatch.setattr(real, "Cluster", StockedFake)
    monkeypatch.setattr(real, "write_store", write)
    monkeypatch.setattr(real, "_COPIES", 1)


@pytest.mark.usefixtures("stocked")
def test_a_broker_that_is_started_later_in_the_thread_of_a_case_has_as_much_time() -> None:
    with starting(7):
        broker = real_broker(through_address("broker:5.2.0"))
        broker.hello()

    def case() -> int:
        one = ProxiedCase(broker)
        one.prepare(1, "gone", -1, LAST)
        return one.max_offset(0)

    with closing(broker), ThreadPoolExecutor(1) as threads:
        assert [threads.submit(case).result() for _ in range(2)] == [12, 12]
        assert [one.limit for one in StockedFake.begun] == [7, 7]


@pytest.mark.usefixtures("stocked")
def test_a_broker_that_the_kit_starts_has_old_messages_in_stock_and_the_next_one_follows() -> None:
    broker = real_broker(through_address("broker:5.2.0"))
    hello = broker.hello()
    assert (broker.hello().broker, hello.broker, hello.java, len(StockedFake.begun)) == ("5.2.0", "5.2.0", 17, 1)
    assert StockedFake.begun[0].lease > 3600
    expired, gone, more = (ProxiedCase(broker) for _ in range(3))
    expired.prepare(2, "expired", -1, LAST)
    gone.prepare(1, "gone", 7, TIMESTAMP)
    assert (expired.offers(1, 3), expired.offers(1, 4), expired.max_offset(1)) == (False, True, 12)
    assert (gone.offers(0, 11), gone.offers(0, 12), gone.stored()) == (False, True, (7,))
    gone.close()
    for shape, where in (("expired", LAST), ("young", TIMESTAMP), ("young", LAST), ("empty", LAST)):
        more.prepare(2, shape, -1, where)
        assert more.max_offset(0) == (0 if shape == "empty" else 12)
        # the first broker runs until its last case ends
        assert [one.runs for one in StockedFake.begun] == [True, True]
    with pytest.raises(UnsupportedMoveError, match="no topic of 3 queues"):
        more.prepare(3, "gone", -1, LAST)
    expired.close()
    assert [one.runs for one in StockedFake.begun] == [False, True]
    more.close()
    both = ProxiedCase(broker)
    both.prepare(4, "expired", -1, LAST)
    both.add_other_topic()
    # the second broker has no topic of two queues left
    assert (both.offers(0, 3), both.offers(5, 3), both.offers(5, 4), both.max_offset(5)) == (False, False, True, 12)
    assert [one.runs for one in StockedFake.begun] == [False, False, True]
    both.close()
    broker.close()
    assert [one.runs for one in StockedFake.begun] == [False, False, False]
