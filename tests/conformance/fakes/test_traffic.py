"""What the traffic of consumers shows."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.fakes.traffic import Traffic
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import ONE_WAY, Command
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP, RETRY_TOPIC, TOPIC

PEER: Any = SimpleNamespace(number=1)


def pulling(traffic: Traffic, offset: int, peer: Any = PEER) -> Command:
    """A pull from an offset that arrives, to be held for 20 s."""
    fields = {"topic": TOPIC, "queueId": "0", "queueOffset": str(offset), "suspendTimeoutMillis": "20000"}
    command = Command(int(Request.PULL_MESSAGE), fields)
    traffic.pull(peer, command)
    return command


def answering(traffic: Traffic, pull: Command) -> None:
    """One message in the answer to a pull."""
    behind = str(int(pull.ext["queueOffset"]) + 1)
    traffic.answer(PEER, pull, Command(0, {"nextBeginOffset": behind}))


def test_an_answer_counts_when_the_next_pull_shows_that_it_arrived() -> None:
    traffic = Traffic()
    answering(traffic, pulling(traffic, 12))
    assert traffic.brought == []
    pulling(traffic, 13)
    assert traffic.brought == [("", 0, 12, 1)]


def test_an_answer_that_its_client_gave_up_does_not_count() -> None:
    traffic = Traffic()
    answering(traffic, pulling(traffic, 12))
    answering(traffic, pulling(traffic, 12))
    pulling(traffic, 13)
    assert traffic.brought == [("", 0, 12, 1)]


def test_routes_are_asked_for_by_who_opened_the_connection_where_that_is_seen() -> None:
    opened: dict[int, str] = {}
    traffic = Traffic(owner=lambda peer: opened.get(peer.number, ""))
    peers: list[Any] = [SimpleNamespace(number=number) for number in range(3)]
    for peer in peers:
        traffic.request(peer, Command(int(Request.GET_ROUTEINFO_BY_TOPIC)))
    assert traffic.routes == {0: 1, 1: 1, 2: 1}
    opened |= {0: "a", 1: "a"}
    for peer in peers:
        traffic.request(peer, Command(int(Request.GET_ROUTEINFO_BY_TOPIC)))
        traffic.closed(peer)
    assert traffic.routes == {"a": 4}


@pytest.mark.parametrize("broadcasting", [False, True])
def test_what_comes_before_the_first_heartbeat_is_that_of_its_client(broadcasting: bool) -> None:
    traffic = Traffic(broadcasting)
    answering(traffic, pulling(traffic, 12))
    pull = pulling(traffic, 13)
    traffic.request(PEER, pull)
    body = json.dumps({"clientID": "a", "consumerDataSet": []}).encode()
    for _ in range(2):
        traffic.request(PEER, Command(int(Request.HEART_BEAT), {}, body))
    assert traffic.waiting(0) == [("a", 13)]
    assert traffic.brought == [("a", 0, 12, 1)]
    assert traffic.has_sent("a", Request.PULL_MESSAGE)
    assert traffic.sent["a", int(Request.PULL_MESSAGE)] == 1
    traffic.ended(PEER, pull, Command(0))
    assert traffic.waiting(0) == []


def test_a_pull_that_found_nothing_waits_on_for_as_long_as_clients_take_to_send_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    traffic = Traffic()
    nothing = Command(Response.PULL_NOT_FOUND)
    traffic.ended(PEER, pulling(traffic, 12), nothing)
    assert traffic.waiting(0) == [("", 12)]
    now += 2
    assert traffic.waiting(0) == []
    again = pulling(traffic, 12)
    now += 2
    assert traffic.waiting(0) == [("", 12)]
    traffic.ended(PEER, again, Command(0))
    assert traffic.waiting(0) == []


def test_messages_are_counted_from_the_first_one_that_was_found() -> None:
    traffic = Traffic()
    pull = pulling(traffic, 0)
    body = bytes(20) + (12).to_bytes(8, "big")
    traffic.answer(PEER, pull, Command(0, {"nextBeginOffset": "13"}, body))
    pulling(traffic, 13)
    assert traffic.brought == [("", 0, 12, 1)]


@pytest.mark.parametrize(("topic", "counts"), [(TOPIC, False), ("other", True)])
def test_who_begins_anew_does_not_show_that_an_answer_arrived(topic: str, counts: bool) -> None:
    traffic = Traffic()
    answering(traffic, pulling(traffic, 12))
    # who asks where to begin does not go on behind what was brought
    traffic.request(PEER, Command(int(Request.QUERY_CONSUMER_OFFSET), {"topic": topic, "queueId": "0"}))
    pulling(traffic, 13)
    assert traffic.brought == ([("", 0, 12, 1)] if counts else [])


SECOND: Any = SimpleNamespace(number=2)
COMMIT, UNLOCK = int(Request.UPDATE_CONSUMER_OFFSET), int(Request.UNLOCK_BATCH_MQ)


def beat(traffic: Traffic, peer: Any, client: str = "me") -> None:
    body = json.dumps({"clientID": client, "consumerDataSet": []}).encode()
    traffic.request(peer, Command(int(Request.HEART_BEAT), {}, body))


def unregister(traffic: Traffic, **ext: str) -> None:
    traffic.request(PEER, Command(int(Request.UNREGISTER_CLIENT), {"clientID": "me", **ext}))


def test_a_connection_whose_first_pull_comes_before_its_heartbeat_is_its_clients() -> None:
    traffic = Traffic()
    beat(traffic, SECOND)
    pulling(traffic, 12)
    assert traffic.waiting(0) == [("", 12)]
    beat(traffic, PEER)
    assert traffic.waiting(0) == [("me", 12)]
    assert traffic.connections("me") == 2
    traffic.closed(SECOND)
    assert traffic.connections("me") == 1


@pytest.mark.parametrize("broadcasting", [False, True])
def test_a_connection_without_a_heartbeat_is_that_of_who_opened_it_once_that_is_known(broadcasting: bool) -> None:
    openers = {PEER.number: "me", SECOND.number: ""}
    traffic = Traffic(broadcasting, owner=lambda peer: openers[peer.number])
    beat(traffic, PEER)
    pull = pulling(traffic, 12, SECOND)
    traffic.request(SECOND, pull)
    assert traffic.waiting(0) == [("", 12)]
    openers[SECOND.number] = "me"
    traffic.answer(SECOND, pull, Command(0, {"nextBeginOffset": "13"}))
    pulling(traffic, 13, SECOND)
    assert (traffic.brought, traffic.waiting(0)) == ([("me", 0, 12, 1)], [("me", 13)])
    assert (traffic.sent["me", int(Request.PULL_MESSAGE)], traffic.connections("me")) == (1, 1)


def test_a_queue_is_settled_once_it_is_pulled_again_where_nothing_was_found() -> None:
    traffic, nothing = Traffic(), Command(Response.PULL_NOT_FOUND)
    first = pulling(traffic, 12)
    assert traffic.unsettled() == {0}
    traffic.ended(PEER, first, nothing)
    assert traffic.unsettled() == {0}
    pulling(traffic, 12)
    assert traffic.unsettled() == set()
    # at another offset, over another connection, or once it has begun anew it is not
    pulling(traffic, 13)
    assert traffic.unsettled() == {0}
    pulling(traffic, 12, SECOND)
    assert traffic.unsettled() == {0}
    pulling(traffic, 12)
    assert traffic.unsettled() == set()
    traffic.request(PEER, Command(int(Request.QUERY_CONSUMER_OFFSET), {"topic": TOPIC, "queueId": "0"}))
    assert traffic.unsettled() == {0}


def test_how_a_client_ended_is_seen_from_what_it_sent() -> None:
    traffic = Traffic()
    beat(traffic, PEER)
    # those of queues that it lost are not those of its end
    traffic.request(PEER, Command(UNLOCK, {}, flag=ONE_WAY))
    traffic.to_end("me")
    assert traffic.ends.shown("me") == (1, False, None, None)
    unregister(traffic, producerGroup="P")
    traffic.request(PEER, Command(COMMIT, {}, flag=ONE_WAY))
    traffic.request(PEER, Command(UNLOCK, {}))
    assert traffic.ends.shown("me") == (1, False, "one way", "awaited")
    unregister(traffic, consumerGroup="G")
    traffic.request(PEER, Command(COMMIT, {}))
    beat(traffic, SECOND)
    assert traffic.ends.shown("me") == (1, True, "awaited and one way", "awaited")


def test_over_how_many_connections_heartbeats_came_is_left_open_where_none_is_open() -> None:
    traffic = Traffic()
    for peer in (PEER, SECOND):
        beat(traffic, peer)
    traffic.to_end("me")
    assert traffic.ends.shown("me")[0] == 2
    traffic.closed(PEER)
    traffic.closed(SECOND)
    traffic.to_end("me")
    assert traffic.ends.shown("me")[0] is None


def test_one_that_comes_back_has_sent_nothing_yet() -> None:
    traffic = Traffic()
    beat(traffic, PEER)
    unregister(traffic, consumerGroup="G")
    traffic.closed(PEER)
    beat(traffic, SECOND)
    traffic.to_end("me")
    assert traffic.ends.shown("me") == (1, False, None, None)


def test_a_pull_by_a_subscription_that_no_heartbeat_has_named_is_noted() -> None:
    traffic = Traffic()
    pull = Command(int(Request.PULL_MESSAGE), {"topic": TOPIC, "queueId": "0", "queueOffset": "0"})
    traffic.answer(PEER, pull, Command(int(Response.PULL_NOT_FOUND)))
    assert not traffic.outdated
    traffic.answer(PEER, pull, Command(int(Response.SUBSCRIPTION_NOT_LATEST)))
    assert traffic.outdated


@pytest.mark.parametrize(
    ("code", "ext", "shown"),
    [
        (Request.UPDATE_CONSUMER_OFFSET, {"commitOffset": "-1"}, "-1 was sent"),
        (Request.PULL_MESSAGE, {"commitOffset": "-1", "sysFlag": "7"}, "-1 was sent"),
        (Request.PULL_MESSAGE, {"commitOffset": "-1", "sysFlag": "6"}, -1),
        (Request.UPDATE_CONSUMER_OFFSET, {"commitOffset": "0"}, -1),
        (Request.UPDATE_CONSUMER_OFFSET, {"commitOffset": "-1", "consumerGroup": "another"}, -1),
        (Request.UPDATE_CONSUMER_OFFSET, {"commitOffset": "-1", "topic": "another"}, -1),
    ],
)
def test_a_negative_offset_that_is_committed_is_not_none(code: Request, ext: dict[str, str], shown: object) -> None:
    traffic = Traffic()
    place = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "3"}
    traffic.request(PEER, Command(int(code), {**place, **ext}))
    assert (traffic.shown(3, -1), traffic.shown(2, -1)) == (shown, -1)


@pytest.mark.parametrize(
    ("code", "ext", "returned"),
    [
        (Request.CONSUMER_SEND_MSG_BACK, {"group": GROUP}, 1),
        (Request.CONSUMER_SEND_MSG_BACK, {"group": "another"}, 0),
        (Request.SEND_MESSAGE, {"topic": RETRY_TOPIC}, 1),
        (Request.SEND_MESSAGE_V2, {"b": RETRY_TOPIC}, 1),
        (Request.SEND_BATCH_MESSAGE, {"b": f"%DLQ%{GROUP}"}, 1),
        (Request.SEND_MESSAGE_V2, {"b": TOPIC}, 0),
    ],
)
def test_what_a_client_sends_back_shows(code: Request, ext: dict[str, str], returned: int) -> None:
    case = GroupCase(Profile())
    beat(case.traffic, PEER)
    for _ in range(2 * returned):
        case.traffic.request(PEER, Command(int(code), ext))
    brought = case.take_brought()
    assert case.observed({"me": 0}, brought)[1] == ((0, "sent back", 0, 2),) * returned
    case.listeners_fail = True
    assert case.observed({"me": 0}, brought)[1] == ()


def test_every_answer_carries_messages_even_to_a_client_that_is_not_known_yet() -> None:
    traffic = Traffic()
    first = pulling(traffic, 7)
    second = pulling(traffic, 7)
    for pull in (first, second):
        answering(traffic, pull)
    beat(traffic, PEER)
    pulling(traffic, 8)
    assert traffic.brought == [("me", 0, 7, 1)]
    assert traffic.carried == {("me", 0, 7): 2}
