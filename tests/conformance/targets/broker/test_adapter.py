"""The broker adapter over real sockets: against the fake broker of several releases, and against trouble."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from every import every
from waiting import wait_until

from rocketmq_conformance.conformance import startup
from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import RESPONSE, Command, decode, encode, frame_length
from rocketmq_conformance.conformance.startup import starting
from rocketmq_conformance.conformance.targets.broker import adapter as module
from rocketmq_conformance.conformance.targets.broker import managed_broker, member_connections, page_cache, requests
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter, broker_release
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.conformance.targets.broker.process import JavaProcess
from rocketmq_conformance.models.outcome import Err, Ok, Unsupported, agrees, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import (
    broker_admin,
    broker_cold,
    broker_locks,
    broker_members,
    broker_offsets,
    broker_restart,
    broker_search,
)
from rocketmq_conformance.suites.broker_admin import Join, Pull, ResetQueue, ResetToMax
from rocketmq_conformance.suites.broker_cold import Evict, QueryPages, Read
from rocketmq_conformance.suites.broker_locks import Lock, Unlock, Wait
from rocketmq_conformance.suites.broker_members import Beat
from rocketmq_conformance.suites.broker_offsets import Commit, CreateTopic, DeleteTopic, Max, Query, Send
from rocketmq_conformance.suites.broker_restart import Memory, Restart, Save
from rocketmq_conformance.suites.broker_search import Search, SendTimed
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Suite

OFFSETS, SEARCH = broker_offsets.SUITE, broker_search.SUITE
ADMIN, LOCKS = broker_admin.SUITE, broker_locks.SUITE


def on(address: str) -> BrokerAdapter:
    host, _, port = address.rpartition(":")
    return BrokerAdapter(RunningBroker(host, int(port)))


@pytest.fixture
def fake_broker() -> Iterator[FakeBroker]:
    with FakeBroker(Profile.of(broker="5.5.0")) as broker:
        yield broker


@pytest.fixture
def adapter(fake_broker: FakeBroker) -> Iterator[BrokerAdapter]:
    made = on(fake_broker.address)
    yield made
    made.close()


def differences(adapter: BrokerAdapter, suite: Suite, profile: Profile, cases: int) -> list[str]:
    """Play cases in lanes and compare every step with the model."""
    drawn, bound = sampler(suite, profile), suite.bind(profile)
    found = []
    plans = [drawn.case(3, case, suite.steps) for case in range(cases)]
    played = adapter.play_cases(suite, [[suite.operation(row) for row in plan] for plan in plans])
    for plan, outcomes in zip(plans, played, strict=True):
        state: Any = bound.initial
        for (at, args), outcome in zip(plan, outcomes, strict=True):
            assert not isinstance(outcome, Unsupported)
            observed = result_of(outcome)
            given = (observed, *args) if suite.operations[at].spec.observes else args
            state, expected, _ = bound.by_position[at](state, *given)
            if not agrees(expected, observed):
                found.append(f"{suite.operation((at, args))}: {expected} but {observed}")
                break
    return found


@every("suite", [OFFSETS, SEARCH, ADMIN])
@every("release", ["4.7.1", "4.9.7", "5.0.0", "5.1.4", "5.2.0", "5.5.0"])
def test_a_broker_that_follows_the_rules_conforms(suite: Suite, release: str) -> None:
    profile = Profile.of(broker=release)
    with FakeBroker(profile) as broker:
        adapter = on(broker.address)
        try:
            assert differences(adapter, suite, profile, 12) == []
        finally:
            adapter.close()


def test_cases_come_in_their_order_each_on_topics_of_its_own(adapter: BrokerAdapter) -> None:
    counts = [1 + number % 3 for number in range(100)]
    played = adapter.play_cases(OFFSETS, [[Send(0, 0, count), Max(0, 0)] for count in counts])
    assert [outcomes[1] for outcomes in played] == [Ok(count) for count in counts]


def test_cases_that_are_given_up_leave_a_broker_that_can_be_asked(adapter: BrokerAdapter) -> None:
    playing = adapter.play_cases(OFFSETS, [[Send(0, 0, 1), *[Max(0, 0)] * number] for number in range(100)])
    assert next(playing) == [Ok((0,))]
    playing.close()
    adapter.reset_many([(0, OFFSETS)])
    assert adapter.apply(Max(0, 0)) == Ok(0)


def test_locks_that_expire_conform() -> None:
    profile = Profile.of(broker="5.5.0")
    adapter = BrokerAdapter(FakeLocation(profile))
    try:
        assert adapter.lanes(LOCKS) > adapter.lanes(ADMIN)
        assert differences(adapter, LOCKS, profile, 64) == []
    finally:
        adapter.close()


def test_nobody_waits_for_a_lock_that_lives_a_minute(adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, LOCKS)])
    result = adapter.apply(Lock(0, 0, (0, 1)))
    assert isinstance(result, Ok)
    assert isinstance(result.value, tuple)
    granted, sent, answered = result.value
    assert granted == (0, 1)
    assert isinstance(sent, int)
    assert isinstance(answered, int)
    assert 0 <= sent <= answered <= 500
    refused = adapter.apply(Wait(100))
    assert isinstance(refused, Unsupported)
    assert "lease=1000" in refused.reason
    assert adapter.apply(Unlock(0, 0, (0,))) == Ok()


def test_time_passes_in_shares_of_the_lease(fake_broker: FakeBroker) -> None:
    host, _, port = fake_broker.address.rpartition(":")
    adapter = BrokerAdapter(RunningBroker(host, int(port), lease=0.2))
    adapter.reset_many([(0, LOCKS)])
    begun = time.monotonic()
    assert adapter.apply(Wait(500)) == Ok()
    assert time.monotonic() - begun >= 0.1
    result = adapter.apply(Lock(0, 0, (0,)))
    assert isinstance(result, Ok)
    assert isinstance(result.value, tuple)
    assert isinstance(result.value[1], int)
    assert result.value[1] >= 500
    adapter.close()


def test_members_leave_when_their_case_ends(fake_broker: FakeBroker, adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, ADMIN), (1, ADMIN)])
    adapter.play_many([(0, [Join(0, (0,)), Join(1, ())])])
    first, second = (adapter.topic_name(lane, 0).removesuffix("-T0") for lane in (0, 1))
    assert fake_broker.members(f"{first}-G0") == []
    adapter.apply_many([(1, Join(0, (0,)))])
    assert fake_broker.members(f"{second}-G0") == [f"{second}-member"]
    adapter.reset_many([(1, ADMIN)])
    assert fake_broker.members(f"{second}-G0") == []
    assert not [topic for topic in fake_broker.state.topics if second in topic]


def test_what_members_are_told_of_a_reset_is_part_of_the_answer() -> None:
    with FakeBroker(Profile.of(broker="4.9.7")) as broker:
        adapter = on(broker.address)
        adapter.reset_many([(0, ADMIN), (1, ADMIN)])
        work = [Commit(0, 0, 0, 7), Commit(0, 0, 1, 8), Join(0, (0,))]
        adapter.play_many([(0, [*work, ResetToMax(0, 0, -1, False)])])
        adapter.apply_many([(0, Join(0, (0,))), (1, Join(0, (0,)))])
        messages: list[str] = []
        adapter.record_messages(lambda sender, receiver, text: messages.append(f"{sender} {receiver} {text}"))
        pairs = ((0, 0), (1, 0))
        assert adapter.apply(ResetQueue(0, 0, 1, 5)) == Ok((pairs, pairs))
        assert adapter.apply_many([(1, ResetToMax(0, 0, -1, True))]) == [Err("SYSTEM_ERROR")]
        assert any("INVOKE_BROKER_TO_RESET_OFFSET" in text for text in messages)
        adapter.close()


def test_a_pull_that_moves_elsewhere_is_no_failure(adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, ADMIN)])
    assert adapter.apply(Pull(0, 0, 0, 3, None)) == Ok(("PULL_OFFSET_MOVED", 0, ()))
    assert adapter.apply(ResetQueue(0, 0, 0, 1)) == Ok((((0, 1),), None))
    assert adapter.apply(Pull(0, 0, 0, 0, 5)) == Ok(("PULL_OFFSET_MOVED", 1, ()))
    assert adapter.apply(Query(0, 0, 0, None)) == Ok(5)
    assert adapter.apply(Pull(0, 2, 0, 0, None)) == Err("TOPIC_NOT_EXIST")


def test_a_broker_of_another_release_does_not() -> None:
    with FakeBroker(Profile.of(broker="4.9.7")) as broker:
        adapter = on(broker.address)
        try:
            assert differences(adapter, OFFSETS, Profile.of(broker="5.5.0"), 12)
        finally:
            adapter.close()


def test_hello_asks_the_broker_for_its_version(adapter: BrokerAdapter) -> None:
    result = adapter.hello()
    assert result.name == "broker"
    assert result.broker == "5.5.0"
    assert result.version == "V5_5_0"
    needing = [
        "broker-accidents",
        "broker-assignment",
        "broker-cold",
        "broker-expired",
        "broker-pop-expired",
        "broker-process",
        "broker-restart",
        "broker-retry",
        "broker-search-files",
        "broker-slave",
        "broker-tables",
        "broker-upgrade",
    ]
    assert sorted(result.unsupported) == needing


@pytest.mark.parametrize(
    ("result", "release"),
    [
        ("V4_9_7", "4.9.7"),
        ("V4_0_0_SNAPSHOT", "4.0.0"),
        ("V5_0_0_ALPHA", "5.0.0-ALPHA"),
        ("V5_5_0", "5.5.0"),
        ("V9_9_9", "9.9.9"),
    ],
)
def test_a_description_names_a_release(result: str, release: str) -> None:
    assert str(broker_release(result)) == release
    assert broker_release("HIGHER_VERSION") is None


def test_cases_in_other_lanes_do_not_see_one_another(adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, OFFSETS), (1, OFFSETS)])
    assert adapter.apply_many([(0, Commit(0, 0, 0, 5)), (1, Commit(0, 0, 0, 7))]) == [Ok(), Ok()]
    assert adapter.apply_many([(1, Query(0, 0, 0, None)), (0, Query(0, 0, 0, None))]) == [Ok(7), Ok(5)]
    adapter.reset_many([(1, OFFSETS)])
    assert adapter.apply_many([(0, Query(0, 0, 0, None)), (1, Query(0, 0, 0, None))]) == [
        Ok(5),
        Err("QUERY_NOT_FOUND"),
    ]


def test_messages_are_visible_when_send_answers(adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, OFFSETS)])
    assert adapter.apply(Send(0, 0, 3)) == Ok((0, 1, 2))
    assert adapter.apply(Send(0, 0, 1)) == Ok((3,))
    assert adapter.apply(Max(0, 0)) == Ok(4)
    assert adapter.apply(Send(2, 0, 1)) == Err("TOPIC_NOT_EXIST")


def test_searches_are_relative_to_the_times_that_the_broker_gave(adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, SEARCH)])
    sent = adapter.apply(SendTimed(0, 0, 4, True))
    assert isinstance(sent, Ok)
    assert isinstance(sent.value, tuple)
    assert [pair[0] for pair in sent.value if isinstance(pair, tuple)] == [0, 1, 2, 3]
    assert adapter.apply(Search(0, 0, 1, 0, "lower")) == Ok(1)
    assert adapter.apply(Search(0, 0, 1, 1, "lower")) == Ok(2)
    assert adapter.apply(Search(0, 0, -1, 86_400_000, "lower")) == Ok(4)
    assert adapter.apply(Search(0, 0, 0, -86_400_000, "upper")) == Ok(0)
    assert adapter.apply(DeleteTopic(0)) == Ok()
    assert adapter.apply(CreateTopic(0, 1)) == Ok()
    assert adapter.apply(Search(0, 0, 1, 0, "lower")) == Ok(0)


def test_everything_that_a_case_created_is_deleted(fake_broker: FakeBroker) -> None:
    adapter = on(fake_broker.address)
    adapter.reset_many([(0, OFFSETS)])
    before = set(fake_broker.storage.state.topics)
    adapter.apply(CreateTopic(1, 1))
    adapter.apply(Commit(0, 0, 0, 5))
    assert len(fake_broker.storage.state.topics) == len(before) + 1
    adapter.close()
    state = fake_broker.storage.state
    assert [topic for topic in state.topics if topic.startswith("conf-")] == []
    assert [group for group in state.groups if group.startswith("conf-")] == []
    assert state.stored == {}


def test_what_cases_created_is_deleted_when_they_are_interrupted(fake_broker: FakeBroker) -> None:
    before = set(fake_broker.storage.state.topics)
    adapter = on(fake_broker.address)
    playing = adapter.play_cases(OFFSETS, [[Send(0, 0, 1), *[Max(0, 0)] * number] for number in range(100)])
    next(playing)
    assert set(fake_broker.storage.state.topics) > before
    adapter.close()
    assert set(fake_broker.storage.state.topics) == before
    playing.close()


@pytest.mark.parametrize("operation", [Restart("stop"), Memory(False), Save()])
def test_a_broker_of_somebody_else_is_neither_restarted_nor_changed(
    adapter: BrokerAdapter, operation: Restart | Memory | Save
) -> None:
    adapter.reset_many([(0, OFFSETS)])
    assert isinstance(adapter.apply(operation), Unsupported)


def test_an_operation_that_is_none_of_a_broker(adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, OFFSETS), (1, OFFSETS)])
    played = adapter.play_many([(0, [Max(0, 0), Save()]), (1, [Max(0, 0)])])
    assert played[1] == [Ok(0)]
    assert played[0][0] == Ok(0)
    assert isinstance(played[0][1], Unsupported)


def test_restarts_are_played_alone(adapter: BrokerAdapter) -> None:
    assert adapter.lanes(broker_restart.SUITE) == 1
    assert adapter.lanes(OFFSETS) > 1


def test_a_connection_that_the_broker_closed_while_it_was_idle_is_made_anew_and_no_other(
    adapter: BrokerAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_IDLE", -1.0)
    adapter.reset_many([(0, OFFSETS)])
    first, member = adapter._connection, adapter._members.own_connection(0, 1)
    assert first is not None
    assert adapter.apply(Max(0, 0)) == Ok(0)
    assert adapter._connection is first
    first._socket.shutdown(socket.SHUT_WR)  # the broker closes its side, too
    wait_until(first.lost)
    assert adapter.apply(Max(0, 0)) == Ok(0)
    assert adapter._connection is not first
    assert not member.closed


def test_a_member_that_was_silent_gets_a_new_connection_where_the_broker_closed_its_own(
    adapter: BrokerAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(member_connections, "_SILENCE", -1.0)
    beat = Beat(0, 0, (0,), ((0, "*"),), 0, False, 0)
    adapter.reset_many([(0, broker_members.SUITE)])
    assert adapter.apply(beat) == Ok(None)
    for member in adapter._members._own.values():
        member._socket.shutdown(socket.SHUT_WR)
        assert select.select([member], [], [], 5.0)[0]  # the broker closes its side, too
    adapter.reset_many([(0, broker_members.SUITE)])
    assert adapter.apply(beat) == Ok(None)


def test_an_administrator_that_was_silent_gets_a_new_connection_where_the_broker_closed_its_own(
    adapter: BrokerAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(member_connections, "_SILENCE", -1.0)
    reset = broker_admin.ResetFrom(0, 0, "CPP")
    adapter.reset_many([(0, broker_admin.SUITE)])
    first = adapter.apply(reset)
    for administrator in adapter._members._shared.values():
        administrator._socket.shutdown(socket.SHUT_WR)
        assert select.select([administrator], [], [], 5.0)[0]  # the broker closes its side, too
    adapter.reset_many([(0, broker_admin.SUITE)])
    assert adapter.apply(reset) == first


@every("name", ["serverChannelMaxIdleTimeSeconds", "channelExpiredTimeout", "subscriptionExpiredTimeout"])
def test_a_broker_that_soon_forgets_who_is_silent_is_not_judged_by_suites_that_wait(name: str) -> None:
    def unsupported(value: int) -> list[str]:
        adapter = BrokerAdapter(FakeLocation(Profile(), properties={name: str(value)}))
        said = {suite: why for suite, why in adapter.hello().unsupported.items() if name in why}
        adapter.close()
        return sorted(said)

    waiting = ["accidents", "admin", "assignment", "concurrent", "locks", "members", "polling", "retry", "stats"]
    assert unsupported(30) == [f"broker-{suite}" for suite in waiting]
    assert unsupported(120_000) == []


# --- trouble ----------------------------------------------------------------------------------------------------


Reply = Callable[[Command], Command | None]


class Stub:
    """A server that answers each request by a function; None closes the connection."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(peer,), daemon=True).start()

    def _talk(self, peer: socket.socket) -> None:
        with peer, peer.makefile("rb") as stream:
            while len(length := stream.read(4)) == 4:
                request = decode(stream.read(frame_length(length)))
                answer = self.reply(request)
                if answer is None:
                    return
                answer.opaque, answer.flag = request.opaque, RESPONSE
                if answer.remark != "silent":
                    peer.sendall(encode(answer))


@pytest.fixture
def stub() -> Iterator[Callable[[Reply], BrokerAdapter]]:
    made: list[tuple[Stub, BrokerAdapter]] = []

    def make(reply: Reply) -> BrokerAdapter:
        server = Stub(reply)
        adapter = on(server.address)
        made.append((server, adapter))
        return adapter

    yield make
    for server, adapter in made:
        adapter.close()
        server.listener.close()


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(CannotRunError, match=f"No broker answers at 127.0.0.1:{port}"):
        BrokerAdapter(RunningBroker("127.0.0.1", port)).hello()


@pytest.mark.parametrize("body", [b"", b"[]", b'{"table":{}}', b"\xff"])
def test_what_listens_is_no_broker(stub: Callable[[Reply], BrokerAdapter], body: bytes) -> None:
    with pytest.raises(CannotRunError, match="is no broker"):
        stub(lambda request: Command(0, body=body)).hello()


def test_what_listens_may_be_a_busy_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    expected = r"did not answer GET_BROKER_RUNTIME_INFO in 0 s: see whether it is a broker, and what keeps it\.$"
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(CannotRunError, match=expected),
    ):
        BrokerAdapter(RunningBroker("127.0.0.1", silent.getsockname()[1])).hello()


@pytest.mark.parametrize("silent_to", [Request.GET_BROKER_RUNTIME_INFO, Request.GET_BROKER_CONFIG])
def test_a_start_that_a_silent_broker_keeps_names_broker_and_request(
    fake_broker: FakeBroker, monkeypatch: pytest.MonkeyPatch, silent_to: Request
) -> None:
    monkeypatch.setattr(startup, "_LATER", 0.0)
    call = Connection.call

    def silent(connection: Connection, code: int, *rest: Any, **options: Any) -> Command:
        if code == silent_to:
            time.sleep(10.0)
        return call(connection, code, *rest, **options)

    monkeypatch.setattr(Connection, "call", silent)
    expected = rf"it was asking the broker at {fake_broker.address} \({silent_to.name}\)"
    with pytest.raises(CannotRunError, match=expected), starting(0.2):
        on(fake_broker.address).hello()


def test_what_listens_refuses_to_say_its_version(stub: Callable[[Reply], BrokerAdapter]) -> None:
    with pytest.raises(CannotRunError, match="refuses GET_BROKER_RUNTIME_INFO with code 3"):
        stub(lambda request: Command(3)).hello()


def test_a_broker_that_does_not_take_a_property_cannot_be_judged(fake_broker: FakeBroker) -> None:
    adapter = on(fake_broker.address)
    adapter.source.properties = {"lockInStrictMode": "true"}
    with pytest.raises(CannotRunError, match="did not take lockInStrictMode=true: it says 'false'"):
        adapter.hello()
    adapter.close()


def test_a_configuration_that_is_not_answered_is_not_known(stub: Callable[[Reply], BrokerAdapter]) -> None:
    closing = stub(_broker_that(lambda request: None)).hello()
    refusing = stub(_broker_that(lambda request: Command(3))).hello()
    assert closing.configuration_unread.startswith("the broker does not answer GET_BROKER_CONFIG (")
    assert refusing.configuration_unread.startswith("the broker refuses to show its configuration (REQUEST_CODE_NOT_")
    assert closing.properties == refusing.properties == ()


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({}, ""),
        ({"brokerPermission": "2"}, "looks at messages by pulls, and brokerPermission has no bit 4"),
        ({"autoCreateSubscriptionGroup": "false"}, "that create groups, and autoCreateSubscriptionGroup is false"),
    ],
)
def test_messages_that_are_sent_back_need_a_broker_that_shows_them(properties: dict[str, str], reason: str) -> None:
    adapter = BrokerAdapter(FakeLocation(Profile().configured(properties)))
    found = adapter.hello().unsupported.get("broker-retry", "")
    assert reason in found
    assert bool(reason) is bool(found)
    adapter.close()


def test_messages_of_a_broker_that_may_not_be_read_are_not_seen() -> None:
    with FakeBroker(Profile().configured({"brokerPermission": "2"})) as broker:
        adapter = on(broker.address)
        adapter.hello()
        adapter.reset_many([(0, SEARCH)])
        outcome = adapter.apply(SendTimed(0, 0, 1, False))
        assert isinstance(outcome, Unsupported)
        assert "brokerPermission lacks the bit 4" in outcome.reason
        assert adapter.apply(Max(0, 0)) == Ok(0)
        adapter.close()


def test_what_listens_speaks_something_else() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.recv(100)
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(CannotRunError, match="is no broker"):
            BrokerAdapter(RunningBroker("127.0.0.1", listener.getsockname()[1])).hello()


def _broker_that(reply: Reply) -> Reply:
    """Says its version, creates topics and groups; the rest is up to ``reply``."""
    ordinary = {
        Request.UPDATE_AND_CREATE_TOPIC,
        Request.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        Request.GET_TOPIC_STATS_INFO,
        Request.DELETE_TOPIC_IN_BROKER,
        Request.DELETE_SUBSCRIPTIONGROUP,
    }

    def answer(request: Command) -> Command | None:
        if request.code == Request.GET_BROKER_RUNTIME_INFO:
            return Command(0, body=b'{"table":{"brokerVersionDesc":"V4_7_0"}}')
        return Command(0) if request.code in ordinary else reply(request)

    return answer


def test_a_broker_that_goes_away(stub: Callable[[Reply], BrokerAdapter]) -> None:
    adapter = stub(_broker_that(lambda request: None))
    adapter.reset_many([(0, OFFSETS)])
    with pytest.raises(AdapterError, match="closed the connection"):
        adapter.apply(Max(0, 0))


def test_a_broker_that_creates_nothing(stub: Callable[[Reply], BrokerAdapter]) -> None:
    for refused in (Request.UPDATE_AND_CREATE_TOPIC, Request.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP):
        answer = _broker_that(lambda request: Command(0))
        adapter = stub(lambda request, no=refused, yes=answer: Command(16) if request.code == no else yes(request))
        with pytest.raises(AdapterError, match="NO_PERMISSION"):
            adapter.reset_many([(0, OFFSETS)])


def test_a_topic_may_be_there_later_than_acknowledged(stub: Callable[[Reply], BrokerAdapter]) -> None:
    looks = iter([17, 17, 0])
    answer = _broker_that(lambda request: Command(0))
    adapter = stub(
        lambda request: Command(next(looks)) if request.code == Request.GET_TOPIC_STATS_INFO else answer(request)
    )
    adapter.reset_many([(0, OFFSETS)])
    assert list(looks) == []


def test_a_topic_that_never_comes(stub: Callable[[Reply], BrokerAdapter], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketmq_conformance.conformance.targets.broker.jobs.APPLY_LIMIT", 0.05)
    answer = _broker_that(lambda request: Command(0))
    adapter = stub(lambda request: Command(17) if request.code == Request.GET_TOPIC_STATS_INFO else answer(request))
    with pytest.raises(AdapterError, match="TOPIC_NOT_EXIST"):
        adapter.reset_many([(0, OFFSETS)])


def test_a_request_that_nobody_answers_is_indefinite(
    stub: Callable[[Reply], BrokerAdapter], monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = stub(_broker_that(lambda request: Command(0, remark="silent")))
    adapter.reset_many([(0, OFFSETS)])
    monkeypatch.setattr("rocketmq_conformance.conformance.targets.broker.adapter.PATIENCE", 0.2)
    outcome = adapter.apply(Commit(0, 0, 0, 5))
    assert outcome == Err("TIMEOUT", definite=False)


def test_a_case_that_cannot_begin_because_nobody_answers(
    stub: Callable[[Reply], BrokerAdapter], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketmq_conformance.conformance.targets.broker.adapter.PATIENCE", 0.2)
    answer = _broker_that(lambda request: Command(0))
    quiet = Request.UPDATE_AND_CREATE_TOPIC
    adapter = stub(lambda request: Command(0, remark="silent") if request.code == quiet else answer(request))
    with pytest.raises(AdapterError, match="did not answer in time"):
        adapter.reset_many([(0, OFFSETS)])


def test_a_busy_broker_is_indefinite(stub: Callable[[Reply], BrokerAdapter]) -> None:
    adapter = stub(_broker_that(lambda request: Command(2, remark="[OVERLOAD]")))
    adapter.reset_many([(0, OFFSETS)])
    assert adapter.apply(Query(0, 0, 0, None)) == Err("SYSTEM_BUSY", definite=False)
    assert adapter.apply(Send(0, 0, 1)) == Err("SYSTEM_BUSY", definite=False)


@pytest.mark.parametrize("ext", [{}, {"offset": ""}, {"offset": "five"}])
def test_success_without_an_offset_is_an_answer_of_its_own(
    stub: Callable[[Reply], BrokerAdapter], ext: dict[str, str]
) -> None:
    adapter = stub(_broker_that(lambda request: Command(0, ext)))
    adapter.reset_many([(0, OFFSETS)])
    assert adapter.apply(Query(0, 0, 0, None)) == Err("NO_FIELD")


@pytest.mark.parametrize(("code", "error"), [(0, "NO_MESSAGES"), (16, "NO_PERMISSION")])
def test_messages_that_cannot_be_read_back(stub: Callable[[Reply], BrokerAdapter], code: int, error: str) -> None:
    def reply(request: Command) -> Command:
        if request.code == Request.PULL_MESSAGE:
            return Command(code)
        return Command(0, {"queueOffset": "0", "offset": "1"})

    adapter = stub(_broker_that(reply))
    adapter.reset_many([(0, SEARCH)])
    assert adapter.apply(SendTimed(0, 0, 1, False)) == Err(error)


def test_a_queue_that_shows_nothing_fails_and_a_max_that_fails_is_reported(
    stub: Callable[[Reply], BrokerAdapter], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketmq_conformance.conformance.targets.broker.jobs.APPLY_LIMIT", 0.05)
    answers = {
        Request.SEND_MESSAGE_V2: Command(0, {"queueOffset": "0"}),
        Request.GET_MAX_OFFSET: Command(0, {"offset": "0"}),
    }
    adapter = stub(_broker_that(lambda request: answers[Request(request.code)]))
    adapter.reset_many([(0, OFFSETS)])
    assert adapter.apply(Send(0, 0, 1)) == Ok((0,))
    answers[Request.GET_MAX_OFFSET] = Command(1)
    assert adapter.apply(Send(0, 0, 1)) == Err("SYSTEM_ERROR")


# --- brokers of our own -----------------------------------------------------------------------------------------


class FakeProcess:
    name = "Broker 5.5.0"

    def __init__(self) -> None:
        self.alive = True

    def last_error(self) -> str:
        return "java.lang.OutOfMemoryError"


class BrokerInThread:
    """An fake broker in the place of a process."""

    java = 17

    def __init__(self, folder: Path) -> None:
        self.fake_broker = FakeBroker(Profile.of(broker="5.5.0"))
        self.process = FakeProcess()
        self.store = folder
        self.offsets_file = folder / "consumerOffset.json"
        self.log: list[str] = []
        self.comes_back = True

    @property
    def port(self) -> int:
        return int(self.fake_broker.address.rpartition(":")[2])

    def start(self) -> None:
        self.log.append("start")
        if not self.comes_back:
            raise CannotRunError("Broker 5.5.0 ended while it started: load exception")
        self.fake_broker.start()

    def stop(self) -> None:
        self.log.append("stop")
        self.fake_broker.stop()

    def kill(self) -> None:
        self.log.append("kill")
        self.fake_broker.stop()

    def close(self) -> None:
        self.log.append("close")
        self.fake_broker.stop()


@pytest.fixture
def fake(tmp_path: Path) -> BrokerInThread:
    return BrokerInThread(tmp_path)


@pytest.fixture
def own(fake: BrokerInThread) -> Iterator[BrokerAdapter]:
    made = BrokerAdapter(StartedBroker(Release(5, 5, 0), lambda: fake))  # type: ignore[arg-type,return-value]
    yield made
    made.close()


def test_a_broker_of_our_own_offers_everything(own: BrokerAdapter, fake: BrokerInThread) -> None:
    result = own.hello()
    # it is no program here, and of one release
    assert sorted(result.unsupported) == ["broker-cold", "broker-upgrade"]
    assert result.java == 17
    own.close()
    assert fake.log == ["start", "close"]


def test_a_query_is_reported_beside_what_is_in_memory(
    own: BrokerAdapter, fake: BrokerInThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Path, str, int]] = []
    there = iter([True, True, False, True, None, None])

    def in_memory(store: Path, topic: str, queue: int) -> bool | None:
        asked.append((store, topic, queue))
        return next(there)

    monkeypatch.setattr(page_cache, "in_memory", in_memory)
    own.reset_many([(0, broker_cold.SUITE)])
    own.apply(Commit(0, 0, 1, 5))
    assert own.apply(QueryPages(0, 0, 1, None)) == Ok((5, True))
    assert own.apply(QueryPages(0, 0, 0, None)) == Ok(("QUERY_NOT_FOUND", None)), "asked again when it came meanwhile"
    assert asked[-1] == (fake.store, own.topic_name(0, 0), 0)
    there = iter([True, False] * 5)
    restless = own.apply(QueryPages(0, 0, 0, None))
    assert isinstance(restless, Err)
    assert not restless.definite


def test_only_a_program_here_is_put_out_of_memory(
    own: BrokerAdapter, fake: BrokerInThread, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own.reset_many([(0, broker_cold.SUITE)])
    assert own.apply(Evict()) == Unsupported("a broker whose process is not seen here is left its memory")
    fake.process = JavaProcess("Broker 5.5.0", tmp_path, tmp_path / "log")  # type: ignore[assignment]
    result: list[str] = ["", "needs something"]
    monkeypatch.setattr(page_cache, "evict", lambda pid, store: result.pop(0))
    assert isinstance(own.apply(Evict()), Unsupported), "it does not run"
    monkeypatch.setattr(JavaProcess, "pid", 4711)
    assert own.apply(Evict()) == Ok()
    assert own.apply(Evict()) == Unsupported("needs something")
    monkeypatch.setattr(page_cache, "missing", lambda: "needs a right")
    assert own.hello().unsupported["broker-cold"] == "needs a right"


def test_a_read_answers_offsets(adapter: BrokerAdapter) -> None:
    adapter.reset_many([(0, OFFSETS)])
    adapter.apply(Send(0, 0, 3))
    assert adapter.apply(Read(0, 0)) == Ok((0, 1, 2))
    assert adapter.apply(Read(0, 1)) == Ok(())
    assert adapter.apply(Read(2, 0)) == Err("TOPIC_NOT_EXIST")


def test_a_restart_keeps_the_case(own: BrokerAdapter, fake: BrokerInThread) -> None:
    own.reset_many([(0, broker_restart.SUITE)])
    own.apply(Commit(0, 0, 0, 5))
    assert own.apply(Restart("stop")) == Ok()
    assert own.apply(Restart("kill")) == Ok()
    assert own.apply(Query(0, 0, 0, None)) == Ok(5)
    assert fake.log == ["start", "stop", "start", "kill", "start"]


def test_a_broker_that_does_not_come_back(own: BrokerAdapter, fake: BrokerInThread) -> None:
    own.reset_many([(0, broker_restart.SUITE)])
    fake.comes_back = False
    with pytest.raises(AdapterError, match=r"did not come back after a kill: .*load exception"):
        own.apply(Restart("kill"))


def test_a_broker_that_cannot_start_is_removed(own: BrokerAdapter, fake: BrokerInThread) -> None:
    fake.comes_back = False
    own.source.properties = {"sendMessageThreadPoolNums": "0"}
    expected = r"ended while it started: .*\(its address sets sendMessageThreadPoolNums=0\)$"
    with pytest.raises(CannotRunError, match=expected):
        own.hello()
    assert fake.log == ["start", "close"]


def test_a_broker_that_dies_is_named_with_its_last_error(own: BrokerAdapter, fake: BrokerInThread) -> None:
    own.reset_many([(0, OFFSETS)])
    fake.process.alive = False
    fake.fake_broker.stop()
    with pytest.raises(AdapterError, match=r"Broker 5\.5\.0 died; its last line: java\.lang\.OutOfMemoryError"):
        own.apply(Max(0, 0))
    with pytest.raises(AdapterError, match=r"Broker 5\.5\.0 died"):
        own.apply(Max(0, 0))


def test_a_broker_of_our_own_may_close_a_connection_and_live(own: BrokerAdapter, fake: BrokerInThread) -> None:
    own.hello()
    assert own.source.describe_end() == "Broker 5.5.0 closed the connection"


def test_the_ratio_is_set_back_before_the_next_case(own: BrokerAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []
    real = BrokerAdapter.ask

    def ask(self: BrokerAdapter, request: requests.Ask) -> bytes:
        if request.code == Request.UPDATE_BROKER_CONFIG:
            asked.append(request.body)
            return b""
        return real(self, request)

    monkeypatch.setattr(BrokerAdapter, "ask", ask)
    own.reset_many([(0, broker_restart.SUITE)])
    assert own.apply(Memory(False)) == Ok()
    own.reset_many([(0, broker_restart.SUITE)])
    own.reset_many([(0, broker_restart.SUITE)])
    assert asked == [b"accessMessageInMemoryMaxRatio=0\n", b"accessMessageInMemoryMaxRatio=40\n"]


def test_saving_waits_for_the_file(own: BrokerAdapter, fake: BrokerInThread, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = b'{"offsetTable":{"T@G":{0:5}},"pullOffsetTable":{}}'
    monkeypatch.setattr(BrokerAdapter, "ask", lambda self, request: memory)
    written = threading.Timer(0.3, fake.offsets_file.write_text, ['{"offsetTable":{"T@G":{"0":5}}}'])
    written.start()
    assert own.apply(Save()) == Ok()
    written.join()
    fake.offsets_file.write_text("{")
    monkeypatch.setattr(managed_broker, "_SAVE_LIMIT", 0.2)
    with pytest.raises(AdapterError, match="did not write its offsets"):
        own.apply(Save())


def test_a_request_for_the_whole_broker_that_is_refused(stub: Callable[[Reply], BrokerAdapter]) -> None:
    adapter = stub(lambda request: Command(16, remark="no"))
    with pytest.raises(AdapterError, match=r"refused request 329: NO_PERMISSION no\."):
        adapter.ask(requests.delete_expired_files())
