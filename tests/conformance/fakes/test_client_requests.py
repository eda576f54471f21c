"""The fake broker answers what clients in Java and Go send as a real one does, frame by frame.

The requests were recorded (``tests/helpers/recorded_requests.py``): of each client one of every kind, in the order in
which it sent them first. Those that the kit itself sends, in Python, are compared by ``proof/fake_broker.py`` and the
suites of brokers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from places import DATA
from recorded_requests import command_of
from waiting import wait_until

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.proof.fake_broker import PATIENCE, connecting
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command, encode, fields
from rocketmq_conformance.conformance.remoting.message import decode_all, parse_properties
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.declare.topologies import GROUP, TOPIC

LINES = [json.loads(line) for line in (DATA / "client-requests.jsonl").read_text("utf-8").splitlines()]
CLIENTS = sorted({line["client"] for line in LINES})
RELEASES = ["4.9.7", "5.5.0"]
#: Messages in each queue: more than the offsets at which the recorded clients began.
MESSAGES = 16
#: What is another one each time: addresses, times, ids of messages.
VOLATILE = re.compile(r"\d+\.\d+\.\d+\.\d+:\d+|\b[0-9A-F]{32}\b|\b1[0-9]{12}\b")
#: Fields whose values are made anew by each broker, and by each message.
OWN = frozenset({"UNIQ_KEY", "msgId", "offsetMsgId", "ORIGIN_MESSAGE_ID", "transactionId"})
#: Properties that brokers add to messages: the fake one leaves messages as they were sent.
ADDED = frozenset({"CLUSTER", "MSG_REGION", "TRACE_ON", "UNIQ_KEY"})


class Line(Connection):
    """A connection over which requests of other clients are sent as they are."""

    def play(self, request: Command) -> Command | None:
        """The response to a request; none to one that is one way."""
        self._opaque += 1
        self._socket.sendall(encode(replace(request, opaque=self._opaque)))
        return None if request.is_one_way else self._receive(self._opaque, PATIENCE)


def line_to(address: str) -> Line:
    host, _, port = address.rpartition(":")
    return Line(host, int(port), PATIENCE)


def masked(value: Any) -> Any:
    """A text without what is another one each time."""
    return VOLATILE.sub("…", value) if isinstance(value, str) else value


def given(text: str) -> list[tuple[str, str]]:
    """The properties that a message was sent with."""
    return sorted((name, masked(value)) for name, value in parse_properties(text).items() if name not in ADDED)


def body_of(response: Command, pulled: bool) -> Any:
    """What a body says: messages, or JSON."""
    if pulled:
        return [
            (
                one.topic,
                one.queue,
                one.offset,
                one.body,
                one.flag,
                one.sys_flag,
                one.reconsume_times,
                given(one.properties),
            )
            for one in decode_all(response.body)
        ]
    return masked(json.dumps(java_json.loads(response.body.decode()), sort_keys=True)) if response.body else None


def shown(response: Command | None, pulled: bool) -> Any:
    """A response as it is compared."""
    if response is None:
        return None
    ext = {name: "" if name in OWN else masked(value) for name, value in response.ext.items()}
    said = response.code, response.flag, response.language, response.binary, masked(response.remark)
    return (*said, ext, body_of(response, pulled and response.code == 0))


def answers(client: str, name_server: str, broker: str) -> Iterator[tuple[str, Any]]:
    """The responses to everything that a client sends, by the number and kind of the request."""
    physical = 0
    with connecting(broker)() as own, line_to(name_server) as names, line_to(broker) as line:
        topic = fields(
            topic=TOPIC,
            defaultTopic="TBW102",
            readQueueNums=4,
            writeQueueNums=4,
            perm=6,
            topicFilterType="SINGLE_TAG",
            topicSysFlag=0,
            order=False,
        )
        assert own.call(Request.UPDATE_AND_CREATE_TOPIC, topic, timeout=PATIENCE).code == 0
        for number in range(4 * MESSAGES):
            sent = fields(a="P", b=TOPIC, c="TBW102", d=4, e=number % 4, f=0, g=1, h=0, i="", j=0, k=False, m=False)
            assert own.call(Request.SEND_MESSAGE_V2, sent, b"x", PATIENCE).code == 0
        for queue in range(4):
            asked = fields(topic=TOPIC, queueId=queue)
            wait_until(lambda asked=asked: own.call(Request.GET_MAX_OFFSET, asked).ext["offset"] == str(MESSAGES))
        wait_until(lambda: not names.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": TOPIC}).code)
        for at, recorded in enumerate(one for one in LINES if one["client"] == client):
            request = command_of(recorded)
            if request.code == Request.CONSUMER_SEND_MSG_BACK:
                request.ext["offset"] = str(physical)
            response = (names if request.code == Request.GET_ROUTEINFO_BY_TOPIC else line).play(request)
            pulled = request.code in (Request.PULL_MESSAGE, Request.LITE_PULL_MESSAGE)
            label = f"{at} {Request(request.code).name}"
            if pulled and response is not None and response.code == 0:
                physical = decode_all(response.body)[0].physical
                request.ext["queueOffset"] = "99"
                yield f"{label} beyond the end", shown(line.play(request), pulled)
            if response is not None and "DELAY" in request.ext.get("i", ""):
                # a real broker keeps a delayed message in a queue of another topic until its time has come
                response.ext.pop("queueOffset")
            yield label, shown(response, pulled)
        notices = [(one.code, one.flag, one.ext) for one in line.requests(1.0)]
        yield "requests of the broker", notices


@pytest.mark.parametrize("client", CLIENTS)
def test_the_fake_broker_answers_every_request(client: str) -> None:
    with FakeBroker(Profile.of(broker="5.5.0")) as broker:
        found = dict(answers(client, broker.address, broker.address))
    unknown = [label for label, answer in found.items() if answer and answer[0] == 3]
    assert (unknown, GROUP in json.dumps(found["requests of the broker"])) == ([], True)


@pytest.mark.broker
@pytest.mark.java
@pytest.mark.parametrize("release", RELEASES)
def test_it_answers_each_as_a_real_broker_does(release: str) -> None:
    differing = []
    for client in CLIENTS:
        try:
            with Cluster(Release.parse(release)) as cluster:
                expected = dict(answers(client, cluster.name_server, cluster.broker.address))
        except CannotRunError as error:
            pytest.skip(str(error))
        # the cluster of brokers that the kit starts
        with FakeBroker(Profile.of(broker=release), cluster="conformance") as broker:
            observed = dict(answers(client, broker.address, broker.address))
        differing += [
            (client, name, expected[name], observed[name]) for name in expected if expected[name] != observed[name]
        ]
    assert differing == []
