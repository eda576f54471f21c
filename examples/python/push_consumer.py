"""A push consumer of its own on asyncio: rounds of rebalance, pulls and commits. It knows nothing of the kit.

``rocketmq-conformance run python:push_consumer:make -k whole-push`` judges it (see README.md).
"""

from __future__ import annotations

import asyncio
import calendar
import dataclasses
import itertools
import json
import re
import time

QUERY_CONSUMER_OFFSET, UPDATE_CONSUMER_OFFSET, PULL_MESSAGE = 14, 15, 11
SEARCH_OFFSET_BY_TIMESTAMP, GET_MAX_OFFSET, HEART_BEAT, UNREGISTER_CLIENT = 29, 30, 34, 35
GET_CONSUMER_LIST_BY_GROUP, NOTIFY_CONSUMER_IDS_CHANGED = 38, 40
GET_ROUTEINFO_BY_TOPIC, RESET_CONSUMER_CLIENT_OFFSET = 105, 220
SUCCESS, PULL_NOT_FOUND, PULL_RETRY_IMMEDIATELY, PULL_OFFSET_MOVED, QUERY_NOT_FOUND = 0, 19, 20, 21, 22
#: Flags of frames, and of pulls: it commits, and it may be held.
RESPONSE, ONE_WAY = 1, 2
COMMITS, HELD = 1, 2

Queue = tuple[str, int]  # topic, queue id
Answer = tuple[int, dict[str, str], bytes]  # response code, fields, body
#: What stands for an answer that did not come.
FAILED: Answer = (1, {}, b"")
#: No frame is longer.
LONGEST = 1 << 24


class PushConsumer:
    """A member of a group, all of it on one event loop; its timers are ``pace`` times faster than standard."""

    #: It divides queues as the settings say.
    takes = ("strategy",)

    def __init__(self, settings, pace: float = 1.0) -> None:
        self.settings, self.pace = settings, pace
        self.client = f"{settings.instance}@push-consumer"
        self.retry_topic = f"%RETRY%{settings.group}"
        self.topics = [settings.topic, self.retry_topic]
        #: Read queues of each topic; what is to be committed; the task that consumes each queue.
        self.routes: dict[str, int] = {}
        self.offsets: dict[Queue, int] = {}
        self.tasks: dict[Queue, asyncio.Task] = {}
        self.others: set[asyncio.Task] = set()
        self.answers: dict[int, tuple[asyncio.StreamWriter, asyncio.Future]] = {}
        self.numbers = itertools.count(1)
        self.balancing, self.connecting = asyncio.Lock(), asyncio.Lock()
        #: Other consumers in the same program.
        self.beside: list[PushConsumer] = []
        self.writer: asyncio.StreamWriter | None = None

    async def start(self) -> None:
        """Connect, take a share of the queues, and go on in tasks."""
        await self.beat()
        await self.rebalance()
        self.begin(self.every(20, 20, self.rebalance))
        self.begin(self.every(30, 30, self.beat))
        self.begin(self.every(10, 5, self.commit_all))

    async def shutdown(self) -> None:
        """Commit, leave the group, and hang up."""
        for other in self.beside:
            await other.shutdown()
        for task in self.tasks.values():
            task.cancel()
        await self.commit_all()
        await self.call(UNREGISTER_CLIENT, {"clientID": self.client, "consumerGroup": self.settings.group})
        for task in self.others:
            task.cancel()
        if self.writer:
            self.writer.close()

    async def also(self, name_server: str, group: str, topic: str, instance: str) -> None:
        """Start another consumer, of another cluster or of the same one."""
        about = {"name_server": name_server, "group": group, "topic": topic, "instance": instance}
        other = PushConsumer(dataclasses.replace(self.settings, **about), self.pace)
        self.beside.append(other)
        await other.start()

    async def subscribe(self, topic: str) -> None:
        """Subscribe to another topic, too; the next round takes its queues."""
        if topic not in self.topics:
            self.topics.append(topic)
            await self.beat()

    async def unsubscribe(self, topic: str) -> None:
        """Subscribe to it no more, and let its queues go."""
        async with self.balancing:
            self.topics.remove(topic)
            self.routes.pop(topic, None)
            for queue in [one for one in self.tasks if one[0] == topic]:
                self.drop(queue)

    def owned(self) -> list[Queue]:
        """The queues that it has."""
        return list(self.tasks)

    def begin(self, coroutine) -> asyncio.Task:
        """Run something beside the rest."""
        task = asyncio.ensure_future(coroutine)
        self.others.add(task)
        task.add_done_callback(self.others.discard)
        return task

    async def every(self, first: float, seconds: float, action) -> None:
        """Do something again and again, by a timer in standard seconds."""
        await self.sleep(first)
        while True:
            await action()
            await self.sleep(seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait for so many standard seconds."""
        await asyncio.sleep(seconds / self.pace)

    # --- the wire ---------------------------------------------------------------------------------------------

    def send(self, code: int, fields: dict[str, str], body: bytes = b"", flag: int = 0) -> int:
        """Send a frame; its number."""
        number = next(self.numbers)
        header = {"code": code, "flag": flag, "language": "PYTHON", "opaque": number, "version": 0, "extFields": fields}
        packed = json.dumps(header).encode()
        length = (4 + len(packed) + len(body)).to_bytes(4, "big")
        self.writer.write(length + len(packed).to_bytes(4, "big") + packed + body)
        return number

    async def call(self, code: int, fields: dict[str, str], body: bytes = b"", seconds: float = 3) -> Answer:
        """Send a request, and wait for its answer; one that does not come costs the connection, but for a pull's."""
        await self.connect()
        answer = asyncio.get_running_loop().create_future()
        number = self.send(code, fields, body)
        self.answers[number] = self.writer, answer
        try:
            return await asyncio.wait_for(answer, seconds)
        except ConnectionError:
            return FAILED
        except TimeoutError:
            if code != PULL_MESSAGE:
                self.writer.close()
            return FAILED
        finally:
            self.answers.pop(number, None)

    async def connect(self) -> None:
        """Open a connection, if there is none."""
        async with self.connecting:
            if self.writer is None or self.writer.is_closing():
                host, _, port = self.settings.name_server.rpartition(":")
                reader, self.writer = await asyncio.open_connection(host, int(port))
                self.begin(self.read(reader, self.writer))

    async def read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand answers to those who wait, and do what the broker asks for, until the connection is lost."""
        try:
            while True:
                length = int.from_bytes(await reader.readexactly(4), "big")
                if length > LONGEST:
                    raise ValueError("bytes that are no frame")
                self.arrived(await reader.readexactly(length))
        except (asyncio.IncompleteReadError, OSError, ValueError):
            writer.close()
        for used, answer in self.answers.values():
            if used is writer and not answer.done():
                answer.set_exception(ConnectionError("the connection is lost"))

    def arrived(self, frame: bytes) -> None:
        """A frame came."""
        end = 4 + int.from_bytes(frame[1:4], "big")
        header, body = json.loads(frame[4:end]), frame[end:]
        if header["flag"] & RESPONSE:
            _, waits = self.answers.get(header["opaque"], (None, None))
            if waits and not waits.done():
                waits.set_result((header["code"], header.get("extFields") or {}, body))
        elif header["code"] == NOTIFY_CONSUMER_IDS_CHANGED:
            self.begin(self.rebalance())
        elif header["code"] == RESET_CONSUMER_CLIENT_OFFSET:
            self.begin(self.reset(body.decode()))

    # --- the group --------------------------------------------------------------------------------------------

    async def beat(self) -> None:
        """Read the routes, and send a heartbeat to the broker that they name."""
        for topic in list(self.topics):
            code, _, body = await self.call(GET_ROUTEINFO_BY_TOPIC, {"topic": topic, "acceptStandardJsonOnly": "true"})
            if code == SUCCESS and body and topic in self.topics:
                self.routes[topic] = json.loads(body)["queueDatas"][0]["readQueueNums"]
        if not self.routes:
            return
        consumer = {
            "groupName": self.settings.group,
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": self.settings.model,
            "consumeFromWhere": self.settings.consume_from,
            "subscriptionDataSet": [
                {"topic": topic, "subString": "*", "subVersion": 1, "expressionType": "TAG"} for topic in self.topics
            ],
        }
        beat = {"clientID": self.client, "consumerDataSet": [consumer], "producerDataSet": []}
        await self.call(HEART_BEAT, {}, json.dumps(beat).encode())

    async def rebalance(self) -> None:
        """Take queues and let go of them, by who else is there."""
        async with self.balancing:
            for topic, count in list(self.routes.items()):
                code, _, body = await self.call(GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": self.settings.group})
                members = sorted(json.loads(body)["consumerIdList"]) if code == SUCCESS and body else []
                if not members:
                    continue
                mine = {(topic, number) for number in self.share(members, count)}
                for queue in [one for one in self.tasks if one[0] == topic and one not in mine]:
                    self.drop(queue)
                for queue in sorted(mine - self.tasks.keys()):
                    self.offsets.pop(queue, None)
                    start = await self.start_of(queue)
                    if start >= 0:
                        self.tasks[queue] = asyncio.ensure_future(self.consume(queue, start))

    def share(self, members: list[str], count: int) -> range:
        """The queues of a topic that are its own: a block of neighbours, or every so many."""
        if self.client not in members:
            return range(0)
        at, (share, more) = members.index(self.client), divmod(count, len(members))
        if self.settings.strategy == "AVG_BY_CIRCLE":
            return range(at, count, len(members))
        begin = at * share + min(at, more)
        return range(begin, begin + share + (at < more))

    def drop(self, queue: Queue) -> None:
        """Commit a queue, and let go of it."""
        self.tasks.pop(queue).cancel()
        self.commit(queue)
        self.offsets.pop(queue, None)

    async def start_of(self, queue: Queue) -> int:
        """Where a queue begins; -1 when that cannot be found out now."""
        about, where = fields_of(queue), self.settings.consume_from
        asked = {"consumerGroup": self.settings.group, **about}
        code, fields, _ = await self.call(QUERY_CONSUMER_OFFSET, asked, seconds=5)
        if code == SUCCESS and "offset" in fields:
            self.offsets[queue] = int(fields["offset"])
            return self.offsets[queue]
        if code != QUERY_NOT_FOUND:
            return -1
        retry = queue[0] == self.retry_topic
        if where == "CONSUME_FROM_FIRST_OFFSET" or (retry and where == "CONSUME_FROM_LAST_OFFSET"):
            return 0
        if where == "CONSUME_FROM_TIMESTAMP" and not retry:
            since = calendar.timegm(time.strptime(self.settings.consume_timestamp, "%Y%m%d%H%M%S")) * 1000
            code, fields, _ = await self.call(SEARCH_OFFSET_BY_TIMESTAMP, {**about, "timestamp": str(since)})
        else:
            code, fields, _ = await self.call(GET_MAX_OFFSET, about)
        return int(fields["offset"]) if code == SUCCESS and "offset" in fields else -1

    # --- queues -----------------------------------------------------------------------------------------------

    async def consume(self, queue: Queue, offset: int) -> None:
        """Pull a queue until it is dropped."""
        while True:
            code, fields, _ = await self.call(PULL_MESSAGE, self.pull_of(queue, offset), seconds=30 / self.pace)
            goes_on = code in (SUCCESS, PULL_NOT_FOUND, PULL_RETRY_IMMEDIATELY)
            if "nextBeginOffset" not in fields or not (goes_on or code == PULL_OFFSET_MOVED):
                await self.sleep(3)
                continue
            after = int(fields["nextBeginOffset"])
            if not goes_on:  # the broker sends it elsewhere
                await self.sleep(10)
                self.offsets[queue] = after
                self.begin(self.begin_anew([queue]))
                return
            self.offsets[queue] = max(after, self.offsets.get(queue, after))
            offset = after

    def pull_of(self, queue: Queue, offset: int) -> dict[str, str]:
        """The header of a pull, which commits what was consumed so far."""
        known = self.offsets.get(queue, 0)
        return {
            "consumerGroup": self.settings.group,
            **fields_of(queue),
            "queueOffset": str(offset),
            "maxMsgNums": "32",
            "sysFlag": str(HELD | (COMMITS if known > 0 else 0)),
            "commitOffset": str(known),
            "suspendTimeoutMillis": str(int(15_000 / self.pace)),
            "subscription": "*",
            "subVersion": "1",
            "expressionType": "TAG",
        }

    def commit(self, queue: Queue) -> None:
        """Commit what was consumed of a queue, one way."""
        if queue in self.offsets and not self.writer.is_closing():
            where = {"consumerGroup": self.settings.group, **fields_of(queue)}
            self.send(UPDATE_CONSUMER_OFFSET, {**where, "commitOffset": str(self.offsets[queue])}, flag=ONE_WAY)

    async def commit_all(self) -> None:
        """Commit what was consumed of every queue."""
        for queue in self.tasks:
            self.commit(queue)

    async def reset(self, body: str) -> None:
        """Stop consuming these queues, and begin anew at other offsets a while later. The keys are objects, as Java
        writes them."""
        asked = [(json.loads(key), int(offset)) for key, offset in re.findall(r"(\{[^{}]*\}):(-?\d+)", body)]
        offsets = {(key["topic"], key["queueId"]): offset for key, offset in asked}
        for queue in offsets.keys() & self.tasks.keys():
            self.tasks[queue].cancel()
        await self.sleep(10)
        mine = offsets.keys() & self.tasks.keys()
        self.offsets.update({queue: offsets[queue] for queue in mine})
        await self.begin_anew(mine)

    async def begin_anew(self, queues) -> None:
        """Store where queues are to begin, and take them again."""
        for queue in set(queues) & self.tasks.keys():
            self.drop(queue)
        await self.rebalance()


def fields_of(queue: Queue) -> dict[str, str]:
    """The header fields that name a queue."""
    return {"topic": queue[0], "queueId": str(queue[1])}


def make(settings, pace: str = "1") -> PushConsumer:
    """A consumer for the kit, whose settings are those of docs/reference/client.md."""
    if (settings.kind, settings.model) != ("push", "CLUSTERING"):
        raise NotImplementedError("it is a concurrent push consumer of a cluster")
    return PushConsumer(settings, float(pace))
