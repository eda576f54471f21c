"""Mutants of the port's whole push consumers, after real defects of clients."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.conformance.targets.port.start import NoStartError
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.client.member_settings import TIMESTAMP_TEXT
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-push")


@_mutant("D31", "The timer finds nothing to commit.")
class WholePushCommitsNothing(WholePush):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return ()


@_mutant("D28", "Of a queue without an offset -1 is committed.")
class WholePushCommitsNone(WholePush):
    def persist(self, consumer: Consumer) -> Result:
        assert isinstance(consumer.store, RemoteStore)
        for queue in consumer.table:
            consumer.store.send(queue, self.remembered(consumer, queue))
        return None


@_mutant("D203", "What finds no thread of the listener is sent back.")
class WholePushFullPool(WholePush):
    def listen_to(self, consumer: Consumer, queue: int, first: int, following: int) -> None:
        topic, broker, _ = ORDINARY.queues[queue]
        for offset in range(first, following):
            ext = {"group": GROUP, "originTopic": topic, "offset": str(offset), "delayLevel": "3"}
            self.transport.ask(topic, broker, int(Request.CONSUMER_SEND_MSG_BACK), ext)
        super().listen_to(consumer, queue, first, following)


@_mutant("D203", "What finds no thread of the listener is committed.")
class WholePushLosesCalls(WholePush):
    def listen_to(self, consumer: Consumer, queue: int, first: int, following: int) -> None:
        super().listen_to(consumer, queue, first, min(first + 4, following))


@_mutant("D94", "The last message of a pull is given twice.")
class WholePushListensTwice(WholePush):
    def listen_to(self, consumer: Consumer, queue: int, first: int, following: int) -> None:
        super().listen_to(consumer, queue, first, following)
        super().listen_to(consumer, queue, following - 1, following)


@_mutant("D42", "A queue that is sent elsewhere stays dropped.")
class WholePushStaysDropped(WholePush):
    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        self.drop(consumer.table[queue])


@_mutant("D33", "A queue that is sent elsewhere stores nothing.")
class WholePushCorrectionUnstored(WholePush):
    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        consumer.store.remove(queue)
        super().begin(consumer, queue, offset, [])


@_mutant("D43", "A whole consumer ignores a correction to 0.")
class WholePushNotToZero(WholePush):
    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        if offset > 0:
            super().moved_to(consumer, queue, offset)


@_mutant("D44", "The broker's next offset counts with messages only.")
class WholePushNeverCorrected(WholePush):
    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        if response.code == Response.PULL_OFFSET_MOVED:
            self.ask(consumer, line, queue, owned)
        else:
            super().answered(consumer, line, queue, owned, response)


@_mutant("D45", "Where nothing is found nothing is stored.")
class WholePushEmptyUnstored(WholePush):
    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        pass


@_mutant("D38", "A queue that was lost is pulled on.")
class WholePushPullsLost(WholePush):
    def takes(self, owned: OwnedQueue) -> bool:
        return True


@_mutant("D44", "A whole consumer ignores what brokers reset.")
class WholePushIgnoresResets(WholePush):
    def handle_reset(self, consumer: Consumer, offsets: Mapping[MessageQueue, int]) -> None:
        pass


@_mutant("D42", "A reset changes memory, and pulls go on.")
class WholePushResetsMemory(WholePush):
    def handle_reset(self, consumer: Consumer, offsets: Mapping[MessageQueue, int]) -> None:
        for queue, offset in offsets.items():
            consumer.store.update(ORDINARY.queues.index(queue), offset, False)


@_mutant("D33", "A reset of one queue is one of all queues.")
class WholePushResetsAll(WholePush):
    def handle_reset(self, consumer: Consumer, offsets: Mapping[MessageQueue, int]) -> None:
        for queue in list(consumer.table):
            self.moved_to(consumer, queue, max(offsets.values()))


@_mutant("D38", "What arrives while a member is frozen is lost to it.")
class WholePushFrozenMisses(WholePush):
    def freeze(self, member: int) -> Result:
        for queue in range(self.world.queues):
            self.world.send(queue)
        line = self._lines[member]
        if line is not None:
            line.inbox.clear()
        return self.look()


@_mutant("D167", "A pull that fails is the last.")
class WholePushFailedPullIsLast(WholePush):
    def pull_failed(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        pass


@_mutant("D39", "A pull that fails is not asked for again.")
class WholePushFailedPullSkips(WholePush):
    def pull_failed(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        owned.offset += 1
        super().pull_failed(consumer, line, queue, owned)


@_mutant("D01", "What cannot be read counts as not stored.")
class WholePushUnreadableIsNew(WholePush):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        try:
            return super().beginning(consumer, queue)
        except NoStartError:
            return consumer.positions.usable(consumer.positions.begin(queue, consumer.where, TIMESTAMP_TEXT, "UTC"))


@_mutant("D13", "What is not stored counts as unreadable.")
class WholePushNotFoundFails(WholePush):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        if consumer.store.read(queue, "store") < 0:
            raise NoStartError
        return super().beginning(consumer, queue)


@_mutant("D26", "Without a list of the members queues are dropped.")
class WholePushNoListDrops(WholePush):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        return self.own(consumer, topic, (), [])


@_mutant("D82", "Without a list of the members a queue is taken.")
class WholePushNoListTakes(WholePush):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        return self.own(consumer, topic, consumer.routes.get(topic) or (), [])


@_mutant("D32", "A commit that was lost is not repeated.")
class WholePushCommitsChanges(WholePush):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.sent: dict[tuple[str, int], int] = {}

    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: list[tuple[int, int]]) -> None:
        self.sent.pop((consumer.client, queue), None)
        super().begin(consumer, queue, offset, new_pulls)

    def persist(self, consumer: Consumer) -> Result:
        for queue in consumer.table:
            offset = consumer.store.read(queue, "memory")
            if self.sent.get((consumer.client, queue)) != offset:
                self.sent[consumer.client, queue] = offset
                consumer.store.persist(queue)
        return None


@_mutant("D95", "The route is learned once.")
class WholePushRoutesOnce(WholePush):
    def learn(self, consumer: Consumer) -> None:
        pass


@_mutant("D168", "Queues that a topic loses are kept.")
class WholePushRoutesGrow(WholePush):
    def learn(self, consumer: Consumer) -> None:
        known = dict(consumer.routes)
        super().learn(consumer)
        consumer.routes.update(
            {topic: queues for topic, queues in known.items() if len(queues or ()) > self.world.queues}
        )


@_mutant("D181", "A member that is shut down hangs up.")
class WholePushNeverUnregisters(WholePush):
    def unregister(self, consumer: Consumer, line: Line) -> None:
        pass


@_mutant("D181", "Its producer alone unregisters.")
class WholePushUnregistersProducer(WholePush):
    def unregister(self, consumer: Consumer, line: Line) -> None:
        ext = {"clientID": consumer.client, "producerGroup": "CLIENT_INNER_PRODUCER"}
        self.to_broker(line, Command(int(Request.UNREGISTER_CLIENT), ext))


@_mutant("D182", "Commits are not marked one way.")
class WholePushCommitsAwaited(WholePush):
    def _exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        return super()._exchange(address, code, ext, body, one_way and code != Request.UPDATE_CONSUMER_OFFSET)


@_mutant("D20", "Two connections of a member send heartbeats.")
class WholePushBeatsTwice(WholePush):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.second: dict[int, Line] = {}

    def start(self, member: int) -> None:
        super().start(member)
        consumer = self.members[member]
        assert consumer is not None
        self._opened += 1
        self.second[member] = Line(self._opened)
        with suppress(OSError):
            self.beat(consumer, self.second[member])

    def listed(self, topic: str) -> tuple[str, ...] | None:
        ids = super().listed(topic)
        return ids and tuple(dict.fromkeys(ids))

    def hang_up(self, member: int) -> None:
        super().hang_up(member)
        self.world.closed(self.second.pop(member))


@_mutant("D167", "A pull that is not answered is the last.")
class WholePushSilentPullIsLast(WholePush):
    def ask_again(self) -> None:
        pass


@_mutant("D152", "A heartbeat that fails is not repeated.")
class WholePushBeatsOnce(WholePush):
    def connect(self, consumer: Consumer, line: Line) -> None:
        super().connect(consumer, line)
        line.known = True


@_mutant("D151", "After a cut no heartbeat follows.")
class WholePushStaysUnknown(WholePush):
    def connected_again(self, line: Line) -> None:
        pass


@_mutant("D151", "No answer may take a second.")
class WholePushImpatient(WholePush):
    def patience(self, code: int) -> float:
        return 0.5


@_mutant("D95", "Without a route queues are dropped.")
class WholePushLostRouteDrops(WholePush):
    def lost_route(self, consumer: Consumer, topic: str) -> None:
        self.own(consumer, topic, (), [])
        consumer.routes.pop(topic, None)


@_mutant("D201", "Of a topic without queues all are dropped.")
class WholePushNoQueuesDrops(WholePush):
    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        return self.own(consumer, topic, (), [])


@_mutant("D26", "A member that is not known takes everything.")
class WholePushUnknownIsAlone(WholePush):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        if self._line.known:
            return super().without_list(consumer, topic)
        return self.own(consumer, topic, consumer.routes.get(topic) or (), [])
