"""The log of a server's connections: every request, response and end of a connection, once, and in order."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.wire_log import WireLog
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.fault import parse_armed
from rocketmq_conformance.conformance.remoting.frame import fields
from rocketmq_conformance.models.profile import Profile

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
HEARTBEAT = json.dumps({"clientID": "c1", "consumerDataSet": [{"groupName": "G", "subscriptionDataSet": []}]}).encode()
PATIENCE = 30.0


def logged(play: Callable[[Connection], object], *faults: str) -> tuple[list[dict[str, Any]], WireLog]:
    file = io.StringIO()
    log = WireLog(file, lambda: NOW)
    with FakeBroker(Profile.of(broker="5.5.0")) as broker:
        broker.create_topic("T", 2)
        for request, fault in map(parse_armed, faults):
            broker.faults.arm(request, fault)
        broker.observe(log)
        host, port = broker.address.split(":")
        with Connection(host, int(port), PATIENCE) as line:
            play(line)
            broker.settle()
        while broker.connections:
            broker.settle()
    return [json.loads(text) for text in file.getvalue().splitlines()], log


def play_consumer(line: Connection) -> None:
    line.call(Request.HEART_BEAT, None, HEARTBEAT)
    line.call(Request.QUERY_CONSUMER_OFFSET, fields(consumerGroup="G", topic="T", queueId=0))
    line.send(Request.UPDATE_CONSUMER_OFFSET, fields(consumerGroup="G", topic="T", queueId=0, commitOffset=3))


def test_requests_and_responses_are_paired_and_name_the_client() -> None:
    lines, log = logged(play_consumer)
    assert {line["time"] for line in lines} == {"2026-01-02T03:04:05.678+00:00"}
    assert len({line["connection"] for line in lines}) == 1
    beat, notice, beaten, query, found, commit, closed = lines
    assert (notice["request"], notice["from"], notice["oneWay"]) == ("NOTIFY_CONSUMER_IDS_CHANGED", "broker", True)
    assert (beat["request"], beat["from"], beat["client"], json.loads(beat["body"])["clientID"]) == (
        "HEART_BEAT",
        "client",
        "c1",
        "c1",
    )
    assert (beaten["response"], beaten["to"], beaten["opaque"]) == ("SUCCESS", "HEART_BEAT", beat["opaque"])
    assert (query["fields"]["queueId"], found["from"], found["to"]) == ("0", "broker", "QUERY_CONSUMER_OFFSET")
    assert found["response"] == "QUERY_NOT_FOUND"
    assert "remark" in found
    assert (commit["request"], commit["oneWay"], commit["fields"]["commitOffset"]) == (
        "UPDATE_CONSUMER_OFFSET",
        True,
        "3",
    )
    assert closed["closed"] is True
    shown = [(one.client, one.by_client, one.text) for one in log.latest]
    assert shown[2:5] == [
        ("c1", False, "SUCCESS to HEART_BEAT"),
        ("c1", True, "QUERY_CONSUMER_OFFSET"),
        ("c1", False, "QUERY_NOT_FOUND to QUERY_CONSUMER_OFFSET"),
    ]


def test_what_is_no_frame_is_logged_as_garbage() -> None:
    def play(line: Connection) -> None:
        with suppress(ConnectionError):
            line.call(Request.GET_MIN_OFFSET, fields(topic="T", queueId=0))

    lines, _ = logged(play, "GET_MIN_OFFSET=garbage")
    assert [line.get("request") or line.get("garbage") or line["closed"] for line in lines] == [
        "GET_MIN_OFFSET",
        20,
        True,
    ]


def test_a_heartbeat_that_is_none_is_a_line_like_others() -> None:
    lines, _ = logged(lambda line: line.call(Request.HEART_BEAT, None, b"\xff{"))
    assert (lines[0]["bodyBytes"], lines[1]["response"]) == (2, "SYSTEM_ERROR")
