"""Messages that come again on the fake broker: their time, a restart between, held pulls, and who may not send back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import Message, parse_properties
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.models.broker.delay_level import DEFAULT_LEVELS, parse_levels
from rocketmq_conformance.models.profile import Profile

#: The time of level 3, which is that of a first retry (ms).
FIRST = parse_levels(DEFAULT_LEVELS)[2]


class Clock:
    """A clock that is set by hand (ms since the epoch)."""

    now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def broker(clock: Clock) -> Iterator[FakeBroker]:
    with FakeBroker(clock=clock) as running:
        running.create_topic("T", 2)
        running.send("T", b"first")
        yield running


def ask(broker: FakeBroker, request: requests.Ask) -> Command:
    host, port = broker.address.split(":")
    with Connection(host, int(port), 30.0) as connection:
        return connection.call(request.code, request.ext, request.body)


def send_back(broker: FakeBroker, level: int = 0) -> Command:
    (message, *_) = broker.messages("T")
    return ask(broker, requests.send_back("G", message.physical, level, 16, "T"))


def waited(broker: FakeBroker) -> list[Message]:
    """What is in the retry topic once the broker has looked at its clock, as it does at every request."""
    ask(broker, requests.runtime_info())
    return broker.messages("%RETRY%G")


def test_a_message_comes_again_when_its_time_has_come(broker: FakeBroker, clock: Clock) -> None:
    assert send_back(broker).code == Response.SUCCESS
    clock.now += FIRST - 1
    assert waited(broker) == []
    clock.now += 1
    (again,) = waited(broker)
    assert (again.body, again.reconsume_times, again.store_time) == (b"first", 1, clock.now)


def test_messages_come_in_the_order_of_their_times(broker: FakeBroker, clock: Clock) -> None:
    for level in (3, 1, 2):
        send_back(broker, level)
    clock.now += FIRST
    assert [parse_properties(message.properties)["DELAY"] for message in waited(broker)] == ["1", "2", "3"]


def test_a_broker_that_was_killed_has_them_still(broker: FakeBroker, clock: Clock) -> None:
    send_back(broker)
    send_back(broker, 18)
    broker.kill()
    clock.now += FIRST
    broker.start()
    assert len(broker.messages("%RETRY%G")) == 1


def test_a_delayed_message_says_where_it_waits(broker: FakeBroker, clock: Clock) -> None:
    answers = [ask(broker, requests.send_with("T", 0, {"DELAY": "1", "TAGS": "a"})) for _ in range(2)]
    assert [answer.ext["queueOffset"] for answer in answers] == ["0", "1"]
    assert len(broker.messages("T")) == 1
    clock.now += 1_000
    waited(broker)
    properties = parse_properties(broker.messages("T")[1].properties)
    assert properties == {"DELAY": "1", "TAGS": "a", "REAL_TOPIC": "T", "REAL_QID": "0"}


def test_a_delayed_message_is_refused_as_any_other(broker: FakeBroker) -> None:
    unknown = ask(broker, requests.send_with("U", 0, {"DELAY": "1"}))
    assert unknown.code == Response.TOPIC_NOT_EXIST
    request = requests.send_with("T", 0, {"DELAY": "1"})
    request.ext["e"] = "9"
    assert ask(broker, request).code == Response.INVALID_PARAMETER
    ask(broker, requests.create_topic("T", broker.state.topics["T"]._replace(write_queues=0)))
    request.ext["e"] = "-1"
    assert ask(broker, request).code == Response.SYSTEM_ERROR


def test_a_held_pull_gets_what_comes_again() -> None:
    with FakeBroker(delay_levels=[50] * 18) as broker:
        broker.create_topic("T", 1)
        broker.send("T", b"first")
        assert send_back(broker).code == Response.SUCCESS
        pull = requests.pull("G", "%RETRY%G", 0, 0)
        held = {**pull.ext, "sysFlag": "6", "suspendTimeoutMillis": "20000"}
        answer = ask(broker, requests.Ask(pull.code, held))
        assert answer.code == Response.SUCCESS


def test_a_group_that_may_not_be_made_cannot_send_back(clock: Clock) -> None:
    with FakeBroker(Profile.of(broker="4.9.7"), clock=clock, auto_create=False) as broker:
        broker.create_topic("T", 1)
        broker.send("T", b"first")
        assert send_back(broker).code == Response.SUBSCRIPTION_GROUP_NOT_EXIST
        broker.create_group("G")
        assert send_back(broker).code == Response.SUCCESS


def test_messages_that_expired_cannot_be_sent_back(broker: FakeBroker) -> None:
    (message,) = broker.messages("T")
    broker.send("T", b"second")
    broker.expire("T", 0, 1)
    lost = ask(broker, requests.send_back("G", message.physical, 0, 16, "T"))
    assert lost.code == Response.SYSTEM_ERROR


def test_the_door_in_process_sends_back_too(broker: FakeBroker, clock: Clock) -> None:
    (message,) = broker.messages("T")
    request = requests.send_back("G", message.physical, -1, 16, "T")
    assert broker.exchange("", int(Request.CONSUMER_SEND_MSG_BACK), request.ext, b"", False)[0] == 0
    assert len(broker.messages("%DLQ%G")) == 1


def test_a_retry_topic_has_the_groups_queues(broker: FakeBroker) -> None:
    ask(broker, requests.create_group("H", True, 3))
    ask(broker, requests.heartbeat("client", "H", ["T"]))
    assert broker.state.topics["%RETRY%H"].read_queues == 3
    assert responses.queues_in_stats(ask(broker, requests.topic_stats("%RETRY%H"))) == 3
