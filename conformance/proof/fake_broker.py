"""Proof of the fake broker: it and a real broker get the same requests, and must give the same responses.

The fake broker answers by the models of pulls, members, locks and the wire, so this proves their rules too. A
chapter of requests is about some rules, and each of its responses counts for all of them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, response_name
from rocketmq_conformance.conformance.remoting.frame import Command, fields
from rocketmq_conformance.conformance.remoting.host_port import host_port
from rocketmq_conformance.conformance.remoting.message import decode_all
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.java_text import string_hash
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.proof import ProofRow

#: Timeout of a request to a busy broker (s).
PATIENCE = 30.0
#: Room for every message in one file: at the end of a file a pull ends early.
FILES = {"FileSizeConsumeQueue": 200_000, "FileSizeCommitLog": 8_000_000}
#: Time between the checks of held pulls in the fake broker (s).
_HOLD_CHECK = 0.2

#: Chapters in their order, and the rules that each is about.
CHAPTERS = {
    "checks": ("BQ-PULL-1", "BQ-PULL-SUB", "BQ-PULL-LITE"),
    "offsets": ("BQ-PULL-3", "BQ-PULL-STATUS"),
    "filters": ("BQ-PULL-STATUS", "BQ-PULL-SUB", "BQ-PULL-TAGS"),
    "batches": ("BQ-PULL-7",),
    "commits": ("BQ-PULL-8",),
    "waiting": ("BQ-PULL-10",),
    "members": ("BQ-HB-1", "BQ-HB-3", "BQ-HB-4", "BQ-HB-5", "BQ-HB-6", "BQ-LIST-1"),
    "locks": ("BQ-LOCK-1", "BQ-LOCK-3", "BQ-LOCK-4"),
    "version": ("WIRE-VER-1",),
    "unknown_request": ("WIRE-ERR-2",),
    "encodings": ("WIRE-FRAME-1",),
    "deleted_topic": ("BQ-PULL-1",),
}

Open = Callable[[], Connection]
Answers = dict[str, Any]


class Conversation:
    """Sends the requests on connections to one broker, and records the answers."""

    def __init__(self, connect: Open) -> None:
        self.connect = connect
        self.line = connect()
        #: Responses by a label of the request.
        self.answers: Answers = {}
        #: The chapter of each label.
        self.chapters: dict[str, str] = {}

    def hold(self) -> Answers:
        """Send every request; the responses by label."""
        for chapter in CHAPTERS:
            getattr(self, chapter)()
            for label in self.answers:
                self.chapters.setdefault(label, chapter)
        self.line.close()
        return self.answers

    # --- requests ---

    def pull(self, label: str, line: Connection | None = None, **changes: object) -> None:
        self.note(label, (line or self.line).call(Request.PULL_MESSAGE, self.pulling(**changes)))

    @staticmethod
    def pulling(**changes: object) -> dict[str, str]:
        request: dict[str, Any] = {
            "consumerGroup": "G",
            "topic": "T",
            "queueId": 0,
            "queueOffset": 0,
            "maxMsgNums": 32,
            "sysFlag": 4,
            "commitOffset": 0,
            "suspendTimeoutMillis": 0,
            "subscription": "*",
            "subVersion": 0,
            "expressionType": "TAG",
        }
        return fields(**(request | changes))

    def note(self, label: str, answer: Command) -> None:
        assert label not in self.answers
        pulled = "nextBeginOffset" in answer.ext
        names = (
            "nextBeginOffset",
            "minOffset",
            "maxOffset",
            "suggestWhichBrokerId",
            "offset",
            "queueId",
            "queueOffset",
        )
        known = {name: answer.ext[name] for name in names if name in answer.ext}
        messages = [(m.offset, m.tag, len(m.body)) for m in decode_all(answer.body)] if pulled else []
        self.answers[label] = (response_name(answer.code), answer.remark if pulled else "", known, messages)

    def topic(self, name: str, queues: int = 2) -> None:
        request = fields(
            topic=name,
            defaultTopic="TBW102",
            readQueueNums=queues,
            writeQueueNums=queues,
            perm=6,
            topicFilterType="SINGLE_TAG",
            topicSysFlag=0,
            order=False,
        )
        assert self.line.call(Request.UPDATE_AND_CREATE_TOPIC, request, timeout=PATIENCE).code == 0

    def send(self, topic: str, tags: list[str], queue: int = 0, body: bytes = b"x") -> None:
        before = self.max(topic, queue)
        for tag in tags:
            assert self.line.call(Request.SEND_MESSAGE_V2, self.sending(topic, queue, tag), body, PATIENCE).code == 0
        shown = wait_until(lambda: self.max(topic, queue) >= before + len(tags), PATIENCE, 0.01)
        assert shown

    @staticmethod
    def sending(topic: str, queue: int, tag: str) -> dict[str, str]:
        properties = f"TAGS\x01{tag}\x02" if tag else ""
        born = time.time_ns() // 1_000_000
        return fields(a="P", b=topic, c="TBW102", d=4, e=queue, f=0, g=born, h=0, i=properties, j=0, k=False, m=False)

    def max(self, topic: str, queue: int) -> int:
        return int(self.line.call(Request.GET_MAX_OFFSET, fields(topic=topic, queueId=queue)).ext["offset"])

    def heartbeat(self, line: Connection, client: str, *consumers: dict[str, Any]) -> None:
        body = {"clientID": client, "producerDataSet": [], "consumerDataSet": list(consumers)}
        assert line.call(Request.HEART_BEAT, None, json.dumps(body).encode()).code == 0

    @staticmethod
    def consumer(group: str, version: int = 0, model: str = "CLUSTERING", **tags: str) -> dict[str, Any]:
        subscriptions = [
            {
                "topic": topic,
                "subString": expression,
                "tagsSet": [tag for tag in expression.split("||") if tag != "*"],
                "codeSet": [string_hash(tag) for tag in expression.split("||") if tag != "*"],
                "subVersion": version,
                "classFilterMode": False,
                "expressionType": "TAG",
            }
            for topic, expression in tags.items()
        ]
        return {
            "groupName": group,
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": model,
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "subscriptionDataSet": subscriptions,
            "unitMode": False,
        }

    # --- chapters ---

    def checks(self) -> None:
        self.topic("T")
        self.pull("unknown topic", topic="NOPE")
        self.pull("queue -1", queueId=-1)
        self.pull("queue 2", queueId=2)
        self.pull("not registered", sysFlag=0)
        self.pull("unreadable", subscription="||")
        self.pull("other language", subscription="a > 1", expressionType="SQL92")
        self.pull("no expression", subscription=None)
        self.pull("no kind", expressionType=None)
        try:
            lite = self.line.call(Request.LITE_PULL_MESSAGE, self.pulling(sysFlag=4 | 16), timeout=2)
        except TimeoutError:
            self.answers["lite"] = "no answer"
        else:
            self.note("lite", lite)
        without = self.pulling()
        del without["queueOffset"]
        self.note("no offset", self.line.call(Request.PULL_MESSAGE, without))

    def offsets(self) -> None:
        for at in (-1, 0, 5):
            self.pull(f"empty, from {at}", queueOffset=at)
        self.send("T", ["A", "B", "", "C", "Aa", "BB", "A", "", "B", "C"])
        for at in (-5, -1, 0, 3, 9, 10, 11, 1000):
            self.pull(f"from {at}", queueOffset=at)
        for most in (1, 2, 3, 9, 10, 11):
            self.pull(f"at most {most}", maxMsgNums=most)
            self.pull(f"at most {most} from 8", maxMsgNums=most, queueOffset=8)

    def filters(self) -> None:
        for expression in ("A", "A||B", " A || B ", "Aa", "Z", " ", "|| A", "A ||"):
            self.pull(f"filter {expression!r}", subscription=expression)
            self.pull(f"filter {expression!r}, 2", subscription=expression, maxMsgNums=2, queueOffset=1)
        self.pull("nothing matches at the end", subscription="A", queueOffset=9)

    def batches(self) -> None:
        self.topic("BIG", 1)
        self.send("BIG", [""] * 6, body=bytes(60_000))
        self.pull("big", topic="BIG")
        self.pull("big, from 4", topic="BIG", queueOffset=4)
        self.topic("LONG", 1)
        self.send("LONG", ["N"] * 900)
        self.pull("32 at most", topic="LONG", maxMsgNums=100)
        self.pull("scan limit", topic="LONG", subscription="A")
        self.pull("scan limit, 850 wanted", topic="LONG", subscription="A", maxMsgNums=850)
        self.pull("scan to the end", topic="LONG", subscription="A", queueOffset=500)

    def commits(self) -> None:
        def stored(label: str, group: str) -> None:
            request = fields(consumerGroup=group, topic="T", queueId=0)
            self.note(label, self.line.call(Request.QUERY_CONSUMER_OFFSET, request))

        self.pull("commits 77", sysFlag=5, commitOffset=77, consumerGroup="C1")
        stored("77 stored", "C1")
        self.pull("commits beyond", sysFlag=5, commitOffset=5, queueOffset=99, consumerGroup="C2")
        stored("stored though illegal", "C2")
        self.pull("refused", sysFlag=5, commitOffset=6, queueId=9, consumerGroup="C2")
        stored("not stored", "C2")
        self.pull("no flag", sysFlag=4, commitOffset=8, consumerGroup="C2")
        stored("still", "C2")

    def waiting(self) -> None:
        with self.connect() as other:
            at = self.max("T", 1)
            waiting = self.pulling(queueId=1, queueOffset=at, sysFlag=6, suspendTimeoutMillis=20_000)
            other.post(Request.PULL_MESSAGE, waiting)
            # the pull is held before the message arrives
            time.sleep(0.3)
            self.send("T", ["A"], queue=1)
            self.note("woken by a message", other.collect(PATIENCE))
            other.post(Request.PULL_MESSAGE, waiting | fields(queueOffset=at + 1, subscription="B"))
            time.sleep(0.3)
            self.send("T", ["A"], queue=1)
            self.note("looked at again", other.collect(PATIENCE))
            other.post(Request.PULL_MESSAGE, waiting | fields(queueOffset=at + 2, suspendTimeoutMillis=100))
            self.note("time is up", other.collect(PATIENCE))
            other.post(Request.PULL_MESSAGE, waiting | fields(queueOffset=at + 9))
            self.note("too far is not held", other.collect(PATIENCE))

    def members(self) -> None:
        one, two = self.connect(), self.connect()

        def ids(label: str, group: str) -> None:
            answer = self.line.call(Request.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": group})
            found = sorted(json.loads(answer.body)["consumerIdList"]) if answer.body else None
            self.answers[label] = (response_name(answer.code), found)

        def note_notifications(label: str) -> None:
            self.answers[label] = [[n.ext.get("consumerGroup") for n in line.requests(0.3)] for line in (one, two)]

        ids("nobody", "M")
        self.heartbeat(one, "one", self.consumer("M", T="A"))
        note_notifications("first member")
        self.heartbeat(one, "one", self.consumer("M", T="A"))
        note_notifications("same again")
        self.heartbeat(two, "two", self.consumer("M", 3, T="B", U="*"))
        note_notifications("second member and topic")
        ids("both", "M")
        self.pull("registered", consumerGroup="M", sysFlag=0, subVersion=3)
        self.pull("registered, older wanted", consumerGroup="M", sysFlag=0, subVersion=0)
        self.pull("registered, newer wanted", consumerGroup="M", sysFlag=0, subVersion=4)
        self.heartbeat(one, "one", self.consumer("M", 2, T="A", U="*"))
        note_notifications("older subscription")
        self.pull("older is not taken", consumerGroup="M", sysFlag=0, subVersion=3)
        self.heartbeat(one, "other", self.consumer("M", 3, T="B"))
        note_notifications("topic left")
        ids("other id", "M")
        self.heartbeat(one, "two", self.consumer("M", 3, T="B"))
        note_notifications("same id")
        ids("equal ids", "M")
        for label, line in (("two leaves", two), ("two leaves again", two)):
            line.call(Request.UNREGISTER_CLIENT, {"clientID": "whoever", "consumerGroup": "M"})
            note_notifications(label)
        ids("one left", "M")
        self.heartbeat(two, "two", self.consumer("M", 3, T="B"))
        note_notifications("two is back")
        one.close()
        self.answers["one is cut"] = [n.ext.get("consumerGroup") for n in two.requests(PATIENCE)]
        ids("two left", "M")
        self.heartbeat(two, "two", self.consumer("BC", model="BROADCASTING", T="*"))
        self.answers["broadcasting"] = [n.ext.get("consumerGroup") for n in two.requests(0.3)]
        two.close()

    def locks(self) -> None:
        def ask(
            label: str, request: Request, group: str | None, client: str | None, *queues: tuple[str, str, int]
        ) -> None:
            asked = [{"topic": topic, "brokerName": broker, "queueId": number} for topic, broker, number in queues]
            body = {"consumerGroup": group, "clientId": client, "mqSet": asked}
            answer = self.line.call(request, None, json.dumps(body).encode())
            granted = java_json.loads(answer.body.decode())["lockOKMQSet"] if answer.body else None
            if granted is not None:
                granted = sorted((q["topic"], q["brokerName"], q["queueId"]) for q in granted)
            self.answers[label] = (response_name(answer.code), granted)

        lock, unlock = Request.LOCK_BATCH_MQ, Request.UNLOCK_BATCH_MQ
        first, second, foreign = ("T", "broker-a", 0), ("T", "broker-a", 1), ("NOPE", "elsewhere", -3)
        ask("lock two", lock, "L", "one", first, foreign)
        ask("lock again", lock, "L", "one", first, foreign)
        ask("lock of another", lock, "L", "two", first, second)
        ask("lock in another group", lock, "K", "two", first)
        ask("lock nothing", lock, "L", "one")
        ask("unlock of another", unlock, "L", "two", first)
        ask("still locked", lock, "L", "two", first)
        ask("unlock", unlock, "L", "one", first, second)
        ask("free again", lock, "L", "two", first)
        ask("unlock unknown", unlock, "NOPE", "two", first)
        ask("lock without client, of another", lock, "L", None, first)
        ask("unlock without client, of another", unlock, "L", None, first)
        ask("lock without client", lock, "N", None, first)
        ask("and then by somebody", lock, "N", "one", first)
        ask("and then unlock", unlock, "N", "one", first)
        ask("no harm elsewhere", lock, "N", "one", second)
        ask("lock a free one beside it", lock, "N", "one", foreign, first)
        ask("and that is free still", lock, "N", "two", foreign)
        ask("lock without group", lock, None, "one", first)

    def version(self) -> None:
        info = self.line.call(Request.GET_BROKER_RUNTIME_INFO)
        table = json.loads(info.body)["table"]
        self.answers["version"] = (info.version, table["brokerVersionDesc"], table.get("brokerVersion"), info.language)

    def unknown_request(self) -> None:
        try:
            self.answers["unknown request"] = response_name(self.line.call(9999, timeout=2).code)
        except TimeoutError:
            self.answers["unknown request"] = "no answer"

    def encodings(self) -> None:
        for binary in (False, True):
            self.line.binary = binary
            self.answers[f"binary {binary}"] = self.line.call(
                Request.GET_MAX_OFFSET, fields(topic="T", queueId=0)
            ).binary
        self.line.binary = False

    def deleted_topic(self) -> None:
        assert self.line.call(Request.DELETE_TOPIC_IN_BROKER, {"topic": "T"}, timeout=PATIENCE).code == 0
        self.pull("deleted topic")


def connecting(address: str) -> Open:
    """Opens connections to ``host:port``."""
    return lambda: Connection(*host_port(address), PATIENCE)


def fake_answers(release: str) -> Answers:
    """The answers of the fake broker of a release, which checks held pulls more often than a real one."""
    with FakeBroker(Profile.of(broker=release), hold_check=_HOLD_CHECK) as broker:
        return Conversation(connecting(broker.address)).hold()


def prove(release: str) -> list[ProofRow]:
    """Send the requests to a real broker of a release and to the fake one; CannotRunError when there is none."""
    broker = Broker(Release.parse(release), sizes=FILES)
    with broker:
        conversation = Conversation(connecting(broker.address))
        expected = conversation.hold()
    observed = fake_answers(release)
    return rows(release, conversation.chapters, expected, observed)


def rows(release: str, chapters: dict[str, str], expected: Answers, observed: Answers) -> list[ProofRow]:
    """One row for every rule of the chapters."""
    missing = object()
    cases: dict[str, list[str]] = {}
    for label in expected.keys() | observed.keys():
        one, other = expected.get(label, missing), observed.get(label, missing)
        example = "" if one == other else f"{label}: the fake broker answers {other!r}, {release} {one!r}"
        for rule in CHAPTERS[chapters.get(label, "checks")]:
            cases.setdefault(rule, []).append(example)
    return [
        ProofRow(rule, "broker", release, len(found), len(list(filter(None, found))), max(found))
        for rule, found in sorted(cases.items())
    ]
