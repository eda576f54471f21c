"""A broker that serves by itself."""

from __future__ import annotations

import json
import threading

import pytest
from every import every

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.serve import parse_topic, serve
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import fields
from rocketmq_conformance.models.profile import Profile

PATIENCE = 30.0


def test_it_serves_topics_and_faults_until_it_is_ended() -> None:
    ended, began = threading.Event(), threading.Event()
    addresses: list[str] = []

    def ready(broker: FakeBroker) -> None:
        addresses.append(broker.address)
        began.set()

    def run() -> None:
        profile = Profile.of(broker="5.3.3")
        serve(
            profile,
            topics=["T=3", "U"],
            faults=["GET_MIN_OFFSET=SYSTEM_BUSY"],
            advertise="localhost",
            ready=ready,
            ended=ended,
        )

    thread = threading.Thread(target=run)
    thread.start()
    assert began.wait(PATIENCE)
    host, port = addresses[0].split(":")
    assert host == "localhost"
    with Connection(host, int(port), PATIENCE) as line:
        for topic, queues in (("T", 3), ("U", 4)):
            route = json.loads(line.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}).body)
            assert route["queueDatas"][0]["writeQueueNums"] == queues
            assert route["brokerDatas"][0]["brokerAddrs"] == {"0": addresses[0]}
        assert line.call(Request.GET_MIN_OFFSET, fields(topic="T", queueId=0)).code == Response.SYSTEM_BUSY
        assert b"V5_3_3" in line.call(Request.GET_BROKER_RUNTIME_INFO).body
        ended.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        with pytest.raises(ConnectionError):
            line.call(Request.GET_BROKER_RUNTIME_INFO)


@pytest.mark.parametrize(("text", "topic"), [("T", ("T", 4)), ("T=8", ("T", 8)), ("%RETRY%G=1", ("%RETRY%G", 1))])
def test_topics_are_read_from_text(text: str, topic: tuple[str, int]) -> None:
    assert parse_topic(text) == topic


@every("text", ["", "=3", "T=", "T=0", "T=x", "T=-1", "T=100000"])
def test_what_is_no_topic_is_refused_before_anything_starts(text: str) -> None:
    with pytest.raises(ValueError, match="NAME=QUEUES"):
        serve(Profile(), topics=[text], ready=pytest.fail)


def test_what_is_no_fault_is_refused_before_anything_starts() -> None:
    with pytest.raises(ValueError, match="REQUEST=FAULT"):
        serve(Profile(), faults=["silent"], ready=pytest.fail)
