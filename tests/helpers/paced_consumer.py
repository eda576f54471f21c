"""A right consumer whose timers are PACE times faster than standard: ``python paced_consumer.py PACE [FIRST_COMMIT]``.

It is a concurrent or orderly push consumer, which may broadcast, or a lite pull consumer that is polled all the time.
IDS in its environment: ``backwards`` gives it a client id that is another one each time that it starts, and sorts the
other way round than its instance name; with ``ignored`` it has such an id, too, and divides queues in the order of
instance names, and with ``file-by-name`` its file is that of its instance name.

One thread works, and one reads what the broker sends. It is written from what Java clients do, so that a client with a
pace can be judged; it shares frames and bodies with the kit, and nothing else.
"""

from __future__ import annotations

import calendar
import contextlib
import heapq
import itertools
import json
import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from rocketmq_conformance.conformance.remoting.client_requests import offsets_of
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import (
    ONE_WAY,
    RESPONSE,
    Command,
    MalformedFrame,
    decode,
    encode,
    frame_length,
)

GROUP, TOPIC = os.environ["ROCKETMQ_GROUP"], os.environ["ROCKETMQ_TOPIC"]
INSTANCE, RETRY, IDS = os.environ["ROCKETMQ_INSTANCE"], f"%RETRY%{GROUP}", os.environ.get("IDS", "")
ME = f"{9 - int(INSTANCE[-1])}-{os.getpid()}@{INSTANCE}" if IDS else f"{INSTANCE}@paced"
WHERE = os.environ["ROCKETMQ_CONSUME_FROM"].removeprefix("CONSUME_FROM_")
TIMESTAMP = calendar.timegm(time.strptime(os.environ["ROCKETMQ_CONSUME_TIMESTAMP"], "%Y%m%d%H%M%S")) * 1000
PACE = float(sys.argv[1])
LITE, ON_DEMAND = os.environ["ROCKETMQ_KIND"] == "lite", os.environ["ROCKETMQ_COMMIT"] == "ON_DEMAND"
BY_HAND = os.environ["ROCKETMQ_QUEUES"] == "ASSIGNED"
ORDERLY, BROADCASTS = os.environ["ROCKETMQ_KIND"] == "orderly", os.environ["ROCKETMQ_MODEL"] == "BROADCASTING"
#: The file of a broadcasting consumer.
FILE = Path(os.environ["ROCKETMQ_OFFSETS"]) / f"{INSTANCE if IDS == 'file-by-name' else ME}.json"
BACKUP = FILE.with_name(f"{FILE.name}.bak")
#: The standard timers, in seconds.
ROUND, ROUTES, COMMIT, CORRECTION, NEXT_TRY, SUSPENSION = (seconds / PACE for seconds in (20, 30, 5, 10, 3, 1))
#: After how long it asks again for a lock that was refused.
NEXT_LOCK = 0.5 / PACE
#: After how long it looks again whether a queue is still paused.
PAUSE = 1 / PACE
#: When it commits for the first time.
FIRST_COMMIT = float(sys.argv[2]) / PACE if len(sys.argv) > 2 else 2 * COMMIT
#: How long a pull may be held, and is waited for.
HOLD, PULL_END = 15 / PACE, 30 / PACE
#: Pull flags: it commits, and it may be held.
COMMITS, HELD = 1, 2

#: A topic and a queue id.
Queue = tuple[str, int]


def kept_offsets() -> dict[str, int]:
    """What the file holds, or its backup where that is missing or cut; the program ends where that is cut, too."""
    texts = [file.read_text() if file.exists() else "" for file in (FILE, BACKUP)]
    for text in filter(None, texts):
        with contextlib.suppress(ValueError):
            return dict(json.loads(text))
    if texts[1]:
        os._exit(1)
    return {}


if BROADCASTS:
    kept_offsets()


class Wire:
    """A connection to name server and broker alike, another one when it is lost. What the broker sends by itself, and
    answers to pulls, wait in the inbox: the command, and of a pull what was asked."""

    def __init__(self) -> None:
        self.inbox: queue.SimpleQueue[tuple[Command, Any]] = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self._answers: dict[int, queue.SimpleQueue[Command]] = {}
        self._pulls: dict[int, Any] = {}
        self._socket = self._connected()

    def ask(self, code: int, ext: dict[str, str], body: bytes = b"") -> Command:
        """Send a request, and wait for its answer; one that does not come is an error, and costs the connection."""
        number = next(self._numbers)
        answers = self._answers[number] = queue.SimpleQueue()
        used = self._send(Command(code, ext, body, number))
        try:
            return answers.get(timeout=5 if code == Request.QUERY_CONSUMER_OFFSET else 3)
        except queue.Empty:
            _shut(used)
            return Command(Response.SYSTEM_ERROR)
        finally:
            self._answers.pop(number, None)

    def tell(self, code: int, ext: dict[str, str], body: bytes = b"") -> None:
        """Send a request that is not answered."""
        self._send(Command(code, ext, body, next(self._numbers), ONE_WAY))

    def pull(self, ext: dict[str, str], asked: Any) -> int:
        """Send a pull; its answer comes to the inbox."""
        number = next(self._numbers)
        self._pulls[number] = asked
        self._send(Command(Request.PULL_MESSAGE, ext, b"", number))
        return number

    def give_up(self, number: int) -> None:
        """A pull that was not answered failed."""
        asked = self._pulls.pop(number, None)
        if asked is not None:
            self.inbox.put((Command(Response.SYSTEM_ERROR), asked))

    def _connected(self) -> socket.socket:
        host, _, port = os.environ["ROCKETMQ_NAME_SERVER"].rpartition(":")
        connection = socket.create_connection((host, int(port)), 10)
        connection.settimeout(None)
        threading.Thread(target=self._read, args=[connection], daemon=True).start()
        return connection

    def _send(self, command: Command) -> socket.socket:
        try:
            self._socket.sendall(encode(command))
        except OSError:
            self._socket = self._connected()
            self._socket.sendall(encode(command))
        return self._socket

    def _read(self, connection: socket.socket) -> None:
        try:
            while True:
                self._arrived(decode(_exactly(connection, frame_length(_exactly(connection, 4)))))
        except (OSError, MalformedFrame):
            _shut(connection)
        for answers in [*self._answers.values()]:
            answers.put(Command(Response.SYSTEM_ERROR))
        for number in [*self._pulls]:
            self.give_up(number)

    def _arrived(self, command: Command) -> None:
        if not command.flag & RESPONSE:
            self.inbox.put((command, None))
        elif command.opaque in self._pulls:
            self.inbox.put((command, self._pulls.pop(command.opaque)))
        elif command.opaque in self._answers:
            self._answers[command.opaque].put(command)


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise ConnectionError("the broker closed the connection")
        data += more
    return data


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


class Consumer:
    """The consumer; all but ``end`` in one thread."""

    def __init__(self) -> None:
        self.wire = Wire()
        #: Read queues of each topic.
        self.routes: dict[str, int] = {}
        #: What it subscribes to.
        self.topics = [TOPIC] if BROADCASTS else [TOPIC, RETRY]
        #: The version of its subscriptions, which its queues raise.
        self.version = 1
        #: The broker's name.
        self.broker = ""
        #: What is to be committed.
        self.offsets: dict[Queue, int] = {}
        #: What is to be committed once that is asked for.
        self.polled: dict[Queue, int] = {}
        #: The queues that it has, each with a token: pulls of an older one count no more.
        self.owned: dict[Queue, object] = {}
        #: Those whose lock was lost.
        self.unlocked: set[Queue] = set()
        #: Those that are assigned by hand; those that are paused, and where it sought to in them.
        self.assigned: list[Queue] = []
        self.paused: set[Queue] = set()
        self.sought: dict[Queue, int] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._ends = self._suspended = self._soon = False

    def run(self) -> None:
        """Consume until ``end`` is called."""
        self.beat()
        self.rebalance()
        self.every(ROUND, ROUND, self.rebalance)
        self.every(ROUTES, ROUTES, self.beat)
        self.every(FIRST_COMMIT, COMMIT, self.commit_all)
        if ORDERLY:
            self.every(NEXT_TRY, ROUND, self.renew)
        while not self._ends:
            left = self._timers[0][0] - time.monotonic()
            if left <= 0:
                heapq.heappop(self._timers)[2]()
                continue
            try:
                command, asked = self.wire.inbox.get(timeout=left)
            except queue.Empty:
                continue
            if asked is not None:
                self.pulled(command, *asked)
            elif "pause" in command.ext:
                self.pause(command.ext["pause"])
            elif "seek" in command.ext:
                self.seek(*command.ext["seek"])
            elif "assign" in command.ext:
                self.assign([(topic, number) for topic, number in command.ext["assign"]])
            elif "pause_queues" in command.ext:
                self.paused.update((topic, number) for topic, number in command.ext["pause_queues"])
                self.paused &= self.owned.keys()
            elif "resume_queues" in command.ext:
                self.resume([(topic, number) for topic, number in command.ext["resume_queues"]])
            elif "seek_to_begin" in command.ext or "seek_to_end" in command.ext:
                self.seek_to(*next(iter(command.ext.values())), end="seek_to_end" in command.ext)
            elif "commit" in command.ext:
                self.offsets.update(self.polled)
                self.commit_all()
            elif "subscribe" in command.ext:
                self.subscribe(command.ext["subscribe"])
            elif "unsubscribe" in command.ext:
                self.unsubscribe(command.ext["unsubscribe"])
            elif command.code == Request.NOTIFY_CONSUMER_IDS_CHANGED:
                self.rebalance()
            elif command.code == Request.RESET_CONSUMER_CLIENT_OFFSET and not LITE:
                self.reset(command.body)
        if ORDERLY:
            self.wire.ask(Request.UNLOCK_BATCH_MQ, {}, self.locks(self.owned))
        self.commit_all()
        self.wire.ask(Request.UNREGISTER_CLIENT, {"clientID": ME, "consumerGroup": GROUP})

    def end(self, *_: object) -> None:
        """Shut down."""
        self._ends = True
        self.wire.inbox.put((Command(0), None))

    def pause(self, suspends: bool) -> None:
        """Be suspended, or go on."""
        self._suspended = suspends
        self.rebalance()

    def read_commands(self) -> None:
        """Read what is to be done from standard input."""
        for line in sys.stdin:
            self.wire.inbox.put((Command(0, json.loads(line)), None))

    def seek(self, topic: str, number: int, offset: int) -> None:
        """Go on at an offset of a queue, if it has both."""
        about = {"topic": topic, "queueId": str(number)}
        low, high = (
            int(self.wire.ask(code, about).ext["offset"]) for code in (Request.GET_MIN_OFFSET, Request.GET_MAX_OFFSET)
        )
        if (topic, number) in self.paused and low <= offset <= high:
            self.sought[topic, number] = offset
        elif (topic, number) in self.owned and low <= offset <= high:
            token = self.owned[topic, number] = object()
            self.given((topic, number), offset)
            self.pull((topic, number), token, offset)

    def seek_to(self, topic: str, number: int, end: bool) -> None:
        """Go on at the begin of a queue, or at its end."""
        code = Request.GET_MAX_OFFSET if end else Request.GET_MIN_OFFSET
        self.seek(topic, number, int(self.wire.ask(code, {"topic": topic, "queueId": str(number)}).ext["offset"]))

    def assign(self, queues: list[Queue]) -> None:
        """Have these queues and no others."""
        for one in [*self.owned]:
            if one not in queues:
                self.drop(one)
                self.paused.discard(one)
                self.sought.pop(one, None)
        self.assigned = queues
        self.rebalance()

    def resume(self, queues: list[Queue]) -> None:
        """Go on with queues, where they are, or at what was sought meanwhile."""
        for one in [one for one in queues if one in self.paused]:
            self.paused.discard(one)
            if one in self.sought:
                self.seek(*one, self.sought.pop(one))

    def given(self, one: Queue, offset: int) -> None:
        """What is before an offset may be committed, by a timer or on demand; push consumers do not go back."""
        offsets = self.polled if ON_DEMAND else self.offsets
        offsets[one] = offset if LITE else max(offset, offsets.get(one, offset))

    def subscribe(self, topic: str) -> None:
        """Subscribe to another topic, too; the next round takes its queues."""
        if topic not in self.topics:
            self.topics.append(topic)
            self.beat()

    def unsubscribe(self, topic: str) -> None:
        """Subscribe to it no more; the next round lets its queues go."""
        self.topics.remove(topic)
        self.routes.pop(topic, None)

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Do something later."""
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), action))

    def every(self, first: float, seconds: float, action: Callable[[], None]) -> None:
        """Do something again and again."""

        def again() -> None:
            self.after(seconds, again)
            action()

        self.after(first, again)

    # --- rebalance --------------------------------------------------------------------------------------------

    def beat(self) -> None:
        """Read the routes, and send a heartbeat."""
        for topic in self.topics:
            answer = self.wire.ask(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic, "acceptStandardJsonOnly": "true"})
            if answer.code == Response.SUCCESS and answer.body:
                found = json.loads(answer.body)["queueDatas"][0]
                self.routes[topic], self.broker = found["readQueueNums"], found["brokerName"]
        subscriptions = [
            {"topic": topic, "subString": "*", "subVersion": self.version, "expressionType": "TAG"}
            for topic in self.topics
        ]
        consumer = {
            "groupName": GROUP,
            "consumeType": "CONSUME_ACTIVELY" if LITE else "CONSUME_PASSIVELY",
            "messageModel": "BROADCASTING" if BROADCASTS else "CLUSTERING",
            "consumeFromWhere": f"CONSUME_FROM_{WHERE}",
            "subscriptionDataSet": subscriptions,
        }
        body = {"clientID": ME, "consumerDataSet": [consumer], "producerDataSet": []}
        self.wire.ask(Request.HEART_BEAT, {}, json.dumps(body).encode())

    def rebalance(self) -> None:
        """Take and drop queues by what the others have, unless it is suspended."""
        if self._suspended:
            return
        if BY_HAND:
            for one in self.assigned:
                start = self.start_of(one) if one not in self.owned else None
                if start is not None and start >= 0:
                    self.owned[one] = object()
                    self.pull(one, self.owned[one], start)
            return
        begins: list[tuple[Queue, object, int]] = []
        for gone in [one for one in self.owned if one[0] not in self.topics]:
            self.drop(gone)
        for topic, count in [*self.routes.items()]:
            answer = self.wire.ask(Request.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": GROUP})
            listed = json.loads(answer.body)["consumerIdList"] if answer.code == 0 and answer.body else []
            if not listed:
                continue
            members = sorted(listed, reverse=IDS == "ignored")
            mine: set[Queue] = set()
            if BROADCASTS:
                mine = {(topic, number) for number in range(count)}
            elif ME in members:
                at, (share, more) = members.index(ME), divmod(count, len(members))
                begin = at * share + min(at, more)
                mine = {(topic, number) for number in range(begin, begin + share + (at < more))}
            for lost in [one for one in self.owned if one[0] == topic and one not in mine]:
                self.drop(lost)
            for new in sorted(mine - self.owned.keys()):
                if ORDERLY and not self.lock([new]):
                    self.rebalance_soon()
                    continue
                self.offsets.pop(new, None)
                start = self.start_of(new)
                if start is not None and start >= 0:
                    self.owned[new] = object()
                    begins.append((new, self.owned[new], start))
        if begins:
            self.version += 1
            self.beat()
        for new, token, start in begins:
            self.pull(new, token, start)

    def rebalance_soon(self) -> None:
        """Rebalance once more, however many locks were refused."""

        def again() -> None:
            self._soon = False
            self.rebalance()

        if not self._soon:
            self._soon = True
            self.after(NEXT_LOCK, again)

    def drop(self, one: Queue) -> None:
        """Let go of a queue."""
        del self.owned[one]
        self.commit(one)
        if ORDERLY:
            self.unlocked.discard(one)
            self.wire.tell(Request.UNLOCK_BATCH_MQ, {}, self.locks([one]))
        self.offsets.pop(one, None)
        self.polled.pop(one, None)

    def lock(self, queues: Collection[Queue]) -> set[Queue]:
        """Ask for the locks of queues; those that it has now."""
        answer = self.wire.ask(Request.LOCK_BATCH_MQ, {}, self.locks(queues))
        granted = json.loads(answer.body)["lockOKMQSet"] if answer.code == Response.SUCCESS and answer.body else []
        return {(one["topic"], one["queueId"]) for one in granted}

    def renew(self) -> None:
        """Ask for all locks again."""
        self.unlocked = self.owned.keys() - self.lock(self.owned)

    def locks(self, queues: Collection[Queue]) -> bytes:
        """The body of a request about locks."""
        named = [{"topic": topic, "brokerName": self.broker, "queueId": number} for topic, number in queues]
        return json.dumps({"consumerGroup": GROUP, "clientId": ME, "mqSet": named}).encode()

    def start_of(self, one: Queue) -> int | None:
        """Where a queue begins; None when that cannot be had."""
        if BROADCASTS:
            kept = kept_offsets()
            if str(one) in kept:
                self.offsets[one] = kept[str(one)]
                return self.offsets[one]
            return self.first_of(one)
        about = {"topic": one[0], "queueId": str(one[1])}
        answer = self.wire.ask(Request.QUERY_CONSUMER_OFFSET, {"consumerGroup": GROUP, **about})
        if answer.code == Response.SUCCESS and "offset" in answer.ext:
            self.offsets[one] = int(answer.ext["offset"])
            return self.offsets[one]
        if answer.code != Response.QUERY_NOT_FOUND:
            return None
        return self.first_of(one)

    def first_of(self, one: Queue) -> int | None:
        """Where a queue begins of which nothing is stored; None when that cannot be had."""
        about = {"topic": one[0], "queueId": str(one[1])}
        if WHERE == "FIRST_OFFSET" or (one[0] == RETRY and WHERE == "LAST_OFFSET"):
            return 0
        if WHERE == "TIMESTAMP" and one[0] != RETRY:
            answer = self.wire.ask(Request.SEARCH_OFFSET_BY_TIMESTAMP, {**about, "timestamp": str(TIMESTAMP)})
        else:
            answer = self.wire.ask(Request.GET_MAX_OFFSET, about)
        return int(answer.ext["offset"]) if answer.code == Response.SUCCESS and "offset" in answer.ext else None

    # --- pulls and commits ------------------------------------------------------------------------------------

    def commit(self, one: Queue) -> None:
        """Commit what was consumed of a queue."""
        if BROADCASTS:
            self.write()
        elif one in self.offsets:
            ext = {"consumerGroup": GROUP, "topic": one[0], "queueId": str(one[1])}
            self.wire.tell(Request.UPDATE_CONSUMER_OFFSET, {**ext, "commitOffset": str(self.offsets[one])})

    def commit_all(self) -> None:
        """Commit what was consumed of every queue."""
        for one in list(self.owned)[:1] if BROADCASTS else self.owned:
            self.commit(one)

    def write(self) -> None:
        """Write the file of all queues, and what it held to the backup."""
        kept = kept_offsets()
        if FILE.exists():
            BACKUP.write_bytes(FILE.read_bytes())
        FILE.write_text(json.dumps({**kept, **{str(one): offset for one, offset in self.offsets.items()}}))

    def pull(self, one: Queue, token: object, offset: int) -> None:
        """Ask for the messages of a queue, if it is still its own."""
        if self.owned.get(one) is not token:
            return
        if one[0] not in self.topics:
            self.after(NEXT_TRY, lambda: self.pull(one, token, offset))
            return
        if one in self.paused:
            self.after(PAUSE, lambda: self.pull(one, token, offset))
            return
        if self._suspended or one in self.unlocked:
            self.after(SUSPENSION if self._suspended else NEXT_TRY, lambda: self.pull(one, token, offset))
            return
        known = self.offsets.get(one, 0)
        ext = {
            "consumerGroup": GROUP,
            "topic": one[0],
            "queueId": str(one[1]),
            "queueOffset": str(offset),
            "maxMsgNums": "32",
            "sysFlag": str(HELD | (COMMITS if known > 0 and not LITE and not BROADCASTS else 0)),
            "commitOffset": str(known),
            "suspendTimeoutMillis": str(int(HOLD * 1000)),
            "subscription": "*",
            "subVersion": str(self.version),
            "expressionType": "TAG",
        }
        number = self.wire.pull(ext, (one, token, offset))
        self.after(PULL_END, lambda: self.wire.give_up(number))

    def pulled(self, answer: Command, one: Queue, token: object, offset: int) -> None:
        """A pull was answered."""
        if self.owned.get(one) is not token:
            return
        goes_on = (Response.SUCCESS, Response.PULL_NOT_FOUND, Response.PULL_RETRY_IMMEDIATELY)
        if "nextBeginOffset" not in answer.ext or answer.code not in (*goes_on, Response.PULL_OFFSET_MOVED):
            self.after(NEXT_TRY, lambda: self.pull(one, token, offset))
            return
        after = int(answer.ext["nextBeginOffset"])
        if answer.code == Response.PULL_OFFSET_MOVED and LITE:
            self.pull(one, token, after)
            return
        if answer.code == Response.PULL_OFFSET_MOVED:
            self.after(CORRECTION, lambda: self.correct(one, token, after))
            return
        if answer.code == Response.SUCCESS:
            for number in range(offset, after):
                print(json.dumps({"got": [one[0], one[1], number]}), flush=True)
        if answer.code == Response.SUCCESS or not LITE:
            self.given(one, after)
        self.pull(one, token, after)

    def correct(self, one: Queue, token: object, offset: int) -> None:
        """Store where the broker sent it, and begin anew there."""
        if self.owned.get(one) is token:
            self.offsets[one] = offset
            self.drop(one)
            self.rebalance()

    def reset(self, body: bytes) -> None:
        """Stop consuming these queues, and begin anew at other offsets a while later."""
        offsets = {(found.topic, found.id): offset for found, offset in offsets_of(body, "offsetTable").items()}
        for one in offsets.keys() & self.owned.keys():
            self.owned[one] = object()

        def begin_anew() -> None:
            for one in offsets.keys() & self.owned.keys():
                self.offsets[one] = offsets[one]
                self.drop(one)
            self.rebalance()

        self.after(CORRECTION, begin_anew)


def main() -> None:
    """Be a consumer until SIGTERM."""
    consumer = Consumer()
    signal.signal(signal.SIGTERM, consumer.end)
    print('{"takes": ["pause", "subscribe", "commit", "assign"]}', flush=True)
    threading.Thread(target=consumer.read_commands, daemon=True).start()
    consumer.run()


if __name__ == "__main__":
    main()
