"""Requests that brokers send to clients."""

from __future__ import annotations

import json

import pytest

from rocketmq_conformance.conformance.remoting.client_requests import (
    offsets_of,
    reset_body,
    reset_body_for_cpp,
    state_body,
)
from rocketmq_conformance.models.message_queue import MessageQueue

OFFSETS = {MessageQueue("T", "b", 0): 3, MessageQueue("T", "b", 1): 0}


def test_offsets_are_written_with_queues_as_keys_and_read_again() -> None:
    body = reset_body(OFFSETS.items())
    assert body.startswith(b'{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:3,')
    assert offsets_of(body, "offsetTable") == OFFSETS
    assert offsets_of(state_body(OFFSETS.items()), "messageQueueTable") == OFFSETS
    assert offsets_of(reset_body([]), "offsetTable") == {}


def test_clients_in_cpp_get_a_list_which_has_no_queues_as_keys() -> None:
    body = reset_body_for_cpp(OFFSETS.items())
    assert json.loads(body)["offsetTable"][0] == {"topic": "T", "brokerName": "b", "queueId": 0, "offset": 3}
    for unreadable in (body, b"{}", b"[]"):
        with pytest.raises(ValueError, match="no member 'offsetTable'"):
            offsets_of(unreadable, "offsetTable")
