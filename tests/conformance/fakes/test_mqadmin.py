"""The tool of operators, mqadmin, prints of the fake broker what it prints of a real one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import pytest
from places import DATA

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import launch_config, requests
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.targets.broker.requests import Ask
from rocketmq_conformance.conformance.targets.maven import class_path
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

NAME, CLUSTER = "broker-a", "conformance"
#: A group with offsets, one that has a member, and the commands of those who look at groups and move them.
COMMANDS = (
    "checkMsgSendRT -t T -a 300 -s 16",
    "topicStatus -t T",
    "topicStatus -t NONE",
    "consumerProgress -g DONOR",
    "consumerProgress -g ONLINE",
    "consumerProgress -g NONE",
    "updateSubGroup -c {cluster} -g NEW",
    "consumerProgress -g NEW",
    "cloneGroupOffset -s DONOR -d NEW -t T",
    "brokerConsumeStats -b {broker}",
    "resetOffsetByTime -g NEW -t T -s -1",
    "skipAccumulatedMessage -g DONOR -t T",
    "resetOffsetByTime -g DONOR -t T -s 0",
    "resetOffsetByTime -g NONE -t T -s -1",
    "consumerConnection -g ONLINE",
    "consumerStatus -g ONLINE",
    "consumerStatus -g DONOR",
    "consumerProgress",
    "deleteSubGroup -c {cluster} -g DONOR",
    "consumerProgress -g DONOR",
    "topicRoute -t T",
    "topicList",
    "brokerStatus -b {broker}",
)
#: What brokers say of themselves that is about offsets.
ABOUT_OFFSETS = ("commitLogMinOffset", "commitLogMaxOffset", "earliestMessageTimeStamp")
#: Times, places where clients connect from, and advice on where to read on.
DIFFERS = (
    (re.compile(r"\b20\d\d-\d\d-\d\d[ #_]\d\d:\d\d:\d\d[,.:\d]*"), "TIME"),
    (re.compile(r"\b1[6-9]\d{11}\b|\b20\d{15}\b"), "TIME"),
    (re.compile(r"\b(clientAddr=|)127\.0\.0\.1:\d+\b"), "CLIENT"),
    (re.compile(r"\./\d+/"), "FOLDER/"),
    (re.compile(r"\btrue +\d+|^Avg RT: .*", re.MULTILINE), "TOOK"),
    (re.compile(r"^(See|For more information).*\n", re.MULTILINE), ""),
    (re.compile(r"^\tat .*\n|^Caused by: |^\t\.\.\. .*\n", re.MULTILINE), ""),
    (re.compile(r" {2,}"), "  "),
)
LIMIT = 240.0


#: What a member answers that is asked how it runs, and for its offsets.
RUNNING = json.dumps(
    {
        "properties": {
            "PROP_CONSUME_ORDERLY": "false",
            "PROP_CONSUME_TYPE": "CONSUME_PASSIVELY",
            "PROP_CONSUMER_START_TIMESTAMP": "1",
            "PROP_NAMESERVER_ADDR": "",
            "PROP_THREADPOOL_CORE_SIZE": "20",
        },
        "subscriptionSet": [],
        "mqTable": {},
        "statusTable": {},
    }
).encode()
QUEUE = '{"brokerName":"broker-a","queueId":1,"topic":"T"}'
STATUS = f'{{"messageQueueTable":{{{QUEUE}:7}}}}'.encode()


class Member:
    """A member that answers what the broker asks it, from a thread of its own, until it is closed."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._connection = Connection(host, int(port), 20.0)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._answer)

    def __enter__(self) -> Self:
        beat = requests.heartbeat("here", "ONLINE", ["T", "%RETRY%ONLINE"])
        assert not self._connection.call(beat.code, beat.ext, beat.body).code
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._thread.join()
        self._connection.close()

    def _answer(self) -> None:
        bodies = {
            Request.GET_CONSUMER_RUNNING_INFO: RUNNING,
            Request.GET_CONSUMER_STATUS_FROM_CLIENT: STATUS,
        }
        while not self._over.is_set():
            for request in self._connection.requests(0.05):
                if request.code in bodies:
                    self._connection.answer(request, bodies[Request(request.code)])


class Side:
    """A broker, the fake or a real one: where it is, and a connection for what is prepared."""

    def __init__(self, open_ones: ExitStack, broker: str, names: str) -> None:
        self.broker, self.names = broker, names
        host, _, port = broker.rpartition(":")
        self._connection = open_ones.enter_context(Connection(host, int(port), 20.0))

    def ask(self, asked: Ask) -> Command:
        return self._connection.call(asked.code, asked.ext, asked.body)

    def do(self, asked: Ask) -> None:
        answer = self.ask(asked)
        assert not answer.code, answer.remark

    def lines(self) -> Iterator[str]:
        for command in COMMANDS:
            yield f"{command.format(cluster=CLUSTER, broker=self.broker)} -n {self.names}"

    def plain(self, printed: str) -> list[str]:
        """What was printed, without what differs from broker to broker, such as the order of Java's tables."""
        text = printed.replace(self.broker, "BROKER").replace(self.names, "NAMES")
        for pattern, word in DIFFERS:
            text = pattern.sub(word, text)
        lines = [line.rstrip() for line in text.splitlines() if line.strip()]
        if any("bootTimestamp" in line for line in lines):
            lines = [line.partition(":")[0].strip() for line in lines if line.startswith(ABOUT_OFFSETS)]
        return sorted(lines)


def prepared(side: Side, routed: Callable[[str], None]) -> None:
    """A topic with messages, a group that has got on a bit, and one with a member."""
    side.do(requests.create_topic("T", Topic.of(2)))
    routed("T")
    for at in range(10):
        side.do(requests.send("T", at % 2, int(time.time() * 1000)))
    for group in ("DONOR", "ONLINE"):
        side.do(requests.create_group(group))
        side.do(requests.heartbeat("gone", group, ["T", f"%RETRY%{group}"]))
        for queue in (0, 1):
            side.do(requests.commit(group, "T", queue, queue + 1))
        routed(f"%RETRY%{group}")
        side.do(requests.unregister("gone", group))


def run(release: Release, side: Side, home: Path) -> list[list[str]]:
    """What each command prints."""
    (home / "conf").mkdir(parents=True)
    (home / "conf" / "logback_tools.xml").write_text("<configuration/>")
    jars = os.pathsep.join(map(str, class_path(("rocketmq-tools",), launch_config.maven_version(release))))
    flags = (*launch_config.SHORT_LIVED, f"-Duser.home={home}", f"-Drocketmq.home.dir={home}", "-Duser.timezone=UTC")
    ended = subprocess.run(
        [launch_config.java(), *flags, "-cp", jars, str(DATA / "RunTools.java")],
        input="\n".join(side.lines()) + "\n",
        capture_output=True,
        text=True,
        timeout=LIMIT,
        cwd=home,
        check=False,
    )
    printed = [b64decode(line).decode() for line in ended.stdout.splitlines()]
    assert len(printed) == len(COMMANDS), ended.stderr[-2000:]
    return [side.plain(one) for one in printed]


@pytest.mark.broker
@pytest.mark.java
@pytest.mark.parametrize("version", ["4.9.7", "5.1.4", "5.5.0"])
def test_mqadmin_prints_the_same_of_the_fake_broker_and_of_a_real_one(version: str, tmp_path: Path) -> None:
    if shutil.which("javac") is None:
        pytest.skip("a Java development kit is needed to compile the program")
    release = Release.parse(version)
    with ExitStack() as open_ones:
        cluster = open_ones.enter_context(Cluster(release))
        profile = Profile.of(broker=version)
        fake = open_ones.enter_context(FakeBroker(profile, name=NAME, cluster=CLUSTER, auto_create=False))
        sides = {
            "real": Side(open_ones, f"127.0.0.1:{cluster.broker.port}", cluster.name_server),
            "fake": Side(open_ones, fake.address, fake.address),
        }
        prepared(sides["real"], cluster.await_route)
        prepared(sides["fake"], lambda topic: None)
        for side in sides.values():
            open_ones.enter_context(Member(side.broker))
        real, faked = (run(release, side, tmp_path / name) for name, side in sides.items())
    for command, one, other in zip(COMMANDS, real, faked, strict=True):
        assert one == other, command
    assert not any("null" in line for lines in faked for line in lines if "CLIENT" in line)


def goes_on(side: Side) -> list[object]:
    """What is answered to requests that go on to the member, and to those about members that are not there."""
    found: list[object] = []
    for group, client in (("ONLINE", "here"), ("ONLINE", "gone"), ("NONE", "here")):
        answer = side.ask(Ask(Request.GET_CONSUMER_RUNNING_INFO, {"consumerGroup": group, "clientId": client}))
        found.append((answer.code, answer.remark if answer.code else answer.body))
    for group, client in (("ONLINE", ""), ("ONLINE", "here"), ("ONLINE", "gone"), ("NONE", "")):
        fields = {"topic": "T", "group": group, "clientAddr": client}
        answer = side.ask(Ask(Request.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, fields))
        found.append((answer.code, java_json.loads(answer.body.decode()) if answer.body else None))
    return found


PASSED_ON = [
    (0, RUNNING),
    (1, "The Consumer <ONLINE> <gone> not online"),
    (1, "The Consumer <NONE> <here> not online"),
    *([(0, {"consumerTable": {"here": {tuple(sorted(json.loads(QUEUE).items())): 7}}, "messageQueueTable": {}})] * 2),
    (0, {"consumerTable": {}, "messageQueueTable": {}}),
    (1, None),
]


def test_requests_go_on_to_the_member_that_they_name() -> None:
    with FakeBroker() as fake, ExitStack() as open_ones:
        side = Side(open_ones, fake.address, fake.address)
        prepared(side, lambda topic: None)
        with Member(fake.address):
            assert goes_on(side) == PASSED_ON


@pytest.mark.broker
@pytest.mark.parametrize("version", ["4.0.0", "4.9.7", "5.5.0"])
def test_real_brokers_pass_them_on_as_the_fake_one_does(version: str) -> None:
    with ExitStack() as open_ones:
        cluster = open_ones.enter_context(Cluster(Release.parse(version)))
        address = f"127.0.0.1:{cluster.broker.port}"
        side = Side(open_ones, address, cluster.name_server)
        prepared(side, cluster.await_route)
        with Member(address):
            assert goes_on(side) == PASSED_ON


def test_a_member_that_leaves_before_it_answers_is_not_waited_for() -> None:
    with FakeBroker() as fake, ExitStack() as open_ones:
        side = Side(open_ones, fake.address, fake.address)
        host, _, port = fake.address.rpartition(":")
        with Connection(host, int(port), 20.0) as member:
            beat = requests.heartbeat("here", "ONLINE", ["T"])
            assert not member.call(beat.code, beat.ext, beat.body).code
            closing = threading.Timer(0.2, member.close)
            closing.start()
            asked = {"consumerGroup": "ONLINE", "clientId": "here"}
            answer = side.ask(Ask(Request.GET_CONSUMER_RUNNING_INFO, asked))
            closing.join()
        assert answer.code == Response.CONSUME_MSG_TIMEOUT
