"""Messages that come back to the scripted broker: both names of a send's fields, and what is refused."""

from __future__ import annotations

import pytest
from rocketmq_conformance.conformance.fakes.scripted_broker import World
from rocketmq_conformance.conformance.fakes.scripted_send_back import properties_of, taken_back

from rocketmq_conformance.models.profile import Profile

BACK = {"offset": "1001", "originTopic": "T", "delayLevel": "3", "originMsgId": "ID-0-1", "maxReconsumeTimes": "16"}
TEXT = "KEYS\x011001\x02RETRY_TOPIC\x01T\x02DELAY\x014\x02ORIGIN_MESSAGE_ID\x01ID-0-1\x02"
SEND = {"topic": "%RETRY%G", "properties": TEXT, "reconsumeTimes": "2", "maxReconsumeTimes": "16"}
SHORT = {"b": "%RETRY%G", "i": TEXT, "j": "2", "l": "16"}
COPY = ("copy", 1001, "T", 4, "ID-0-1", 16, 2)


@pytest.mark.parametrize(("fault", "taken"), [("answer", True), ("copy", False), ("refuse", False), ("odd", False)])
def test_a_message_is_sent_back_unless_the_fault_refuses_it(fault: str, taken: bool) -> None:
    gone, response = taken_back(36, BACK, fault)
    assert gone == (("back", 1001, "T", 3, "ID-0-1", 16) if taken else None)
    assert (response[0] == 0) is taken
    assert taken_back(36, {**BACK, "offset": "1002"}, "odd")[1][0] == 0


@pytest.mark.parametrize(("code", "fields"), [(10, SEND), (310, SHORT)])
def test_a_copy_is_read_by_both_names_of_its_fields(code: int, fields: dict[str, str]) -> None:
    assert taken_back(code, fields, "copy")[0] == COPY
    assert taken_back(code, fields, "refuse")[0] is None
    assert taken_back(code, fields, "odd")[0] is None


def test_a_copy_that_goes_to_another_topic_is_told_as_such() -> None:
    gone, _ = taken_back(10, {**SEND, "topic": "T"}, "answer")
    assert gone is not None
    assert gone[0] == "T"


def test_properties_may_end_without_a_separator() -> None:
    assert properties_of("A\x011\x02B\x012=3") == {"A": "1", "B": "2=3"}
    assert properties_of("") == {}


def test_the_world_hands_over_what_came_back_once() -> None:
    world = World(Profile())
    world.exchange("", 36, {**BACK, "offset": "1003"}, b"", False)
    world.exchange("", 36, BACK, b"", False)
    assert [place for _, place, *_ in world.take_commits()] == [1001, 1003]  # type: ignore[misc]
    assert world.take_commits() == ()
    world.exchange("", 36, BACK, b"", False)
    world.begin()
    assert world.take_commits() == ()
