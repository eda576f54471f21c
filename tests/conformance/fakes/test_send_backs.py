"""Messages that come back to the fake broker: both ways to send them, both names of their fields, what is refused."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.fakes.client_case import ClientCase
from rocketmq_conformance.conformance.fakes.send_backs import copied, properties_of, sent_back
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Requests

BACK = {"offset": "1001", "originTopic": "T", "delayLevel": "3", "originMsgId": "ID-0-1", "maxReconsumeTimes": "16"}
TEXT = "KEYS\x011001\x02RETRY_TOPIC\x01T\x02DELAY\x014\x02ORIGIN_MESSAGE_ID\x01ID-0-1\x02"
SEND = {"topic": "%RETRY%G", "properties": TEXT, "reconsumeTimes": "2", "maxReconsumeTimes": "16"}
SHORT = {"b": "%RETRY%G", "i": TEXT, "j": "2", "l": "16"}
COPY = ("copy", 1001, "T", 4, "ID-0-1", 16, 2)
REQUESTS = [(36, BACK), (10, SEND), (310, SHORT)]


@pytest.fixture
def case() -> ClientCase:
    return ClientCase(Profile())


def test_a_message_is_named() -> None:
    assert sent_back(BACK) == ("back", 1001, "T", 3, "ID-0-1", 16)


@pytest.mark.parametrize(("code", "fields"), REQUESTS[1:])
def test_a_copy_is_read_by_both_names_of_its_fields(code: int, fields: dict[str, str]) -> None:
    assert copied(code, fields) == COPY


def test_a_copy_that_goes_to_another_topic_says_so() -> None:
    message = copied(10, {**SEND, "topic": "T"})
    assert message is not None
    assert message[0] == "T"


def test_properties_may_end_without_a_separator() -> None:
    assert properties_of("A\x011\x02B\x012=3") == {"A": "1", "B": "2=3"}
    assert properties_of("") == {}


@pytest.mark.parametrize(
    ("fault", "accepted"), [("answer", "111"), ("copy", "011"), ("refuse", "000"), ("odd", "000"), ("even", "111")]
)
def test_what_is_accepted_is_taken_down_once(case: ClientCase, fault: str, accepted: str) -> None:
    place = "1001" if fault != "even" else "1002"
    case.broker.script.arm(Requests.SEND_BACK, fault if fault != "even" else "odd")
    requests = [
        (code, {name: value.replace("1001", place) for name, value in fields.items()}) for code, fields in REQUESTS
    ]
    codes = [case.exchange("", code, fields, b"", False)[0] for code, fields in requests]
    assert "".join(str(int(code == 0)) for code in codes) == accepted
    assert len(case.take_commits()) == accepted.count("1")
    assert case.take_commits() == ()


def test_messages_are_taken_down_in_order_until_the_case_ends(case: ClientCase) -> None:
    case.exchange("", 36, {**BACK, "offset": "1003"}, b"", False)
    case.exchange("", 36, BACK, b"", False)
    assert [place for _, place, *_ in case.take_commits()] == [1001, 1003]  # type: ignore[misc]
    case.exchange("", 36, BACK, b"", False)
    case.begin()
    assert case.take_commits() == ()


def test_a_message_that_is_no_copy_is_stored(case: ClientCase) -> None:
    assert case.exchange("", 310, {"b": "T", "e": "0", "g": "0"}, b"x", False)[0] == 0
    assert case.state.logs["T", 0].max == 13
    assert case.take_commits() == ()
