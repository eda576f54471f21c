"""Mutants of the port's whole push consumers, after real defects of clients."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.conformance.targets.port.start import NoStartError
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.client.fixtures import GROUP, QUEUES, TIMESTAMP_TEXT
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Result


class CommitsNothing(WholePush):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return ()


class CommitsNone(WholePush):
    def persist(self, consumer: Consumer) -> Result:
        assert isinstance(consumer.store, RemoteStore)
        for queue in consumer.table:
            consumer.store.send(queue, self.remembered(consumer, queue))
        return None


class FullPoolSendsBack(WholePush):
    def listen_to(self, consumer: Consumer, queue: int, first: int, following: int) -> None:
        topic, broker, _ = QUEUES[queue]
        for offset in range(first, following):
            ext = {"group": GROUP, "originTopic": topic, "offset": str(offset), "delayLevel": "3"}
            self.transport.ask(topic, broker, int(Request.CONSUMER_SEND_MSG_BACK), ext)
        super().listen_to(consumer, queue, first, following)


class FullPoolLosesCalls(WholePush):
    def listen_to(self, consumer: Consumer, queue: int, first: int, following: int) -> None:
        super().listen_to(consumer, queue, first, min(first + 4, following))


class ListensTwice(WholePush):
    def listen_to(self, consumer: Consumer, queue: int, first: int, following: int) -> None:
        super().listen_to(consumer, queue, first, following)
        super().listen_to(consumer, queue, following - 1, following)


class StaysDropped(WholePush):
    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        self.drop(consumer.table[queue])


class CorrectionIsNotStored(WholePush):
    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        consumer.store.remove(queue)
        super().begin(consumer, queue, offset, [])


class IgnoresCorrectionToZero(WholePush):
    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        if offset > 0:
            super().moved_to(consumer, queue, offset)


class MovesOnlyWithMessages(WholePush):
    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        if response.code == Response.PULL_OFFSET_MOVED:
            self.ask(consumer, line, queue, owned)
        else:
            super().answered(consumer, line, queue, owned, response)


class StoresWithMessagesOnly(WholePush):
    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        pass


class PullsWhatItLost(WholePush):
    def takes(self, owned: OwnedQueue) -> bool:
        return True


class IgnoresResets(WholePush):
    def handle_reset(self, consumer: Consumer, offsets: dict[MessageQueue, int]) -> None:
        pass


class ResetsMemoryOnly(WholePush):
    def handle_reset(self, consumer: Consumer, offsets: dict[MessageQueue, int]) -> None:
        for queue, offset in offsets.items():
            consumer.store.update(QUEUES.index(queue), offset, False)


class ResetsEveryQueue(WholePush):
    def handle_reset(self, consumer: Consumer, offsets: dict[MessageQueue, int]) -> None:
        for queue in list(consumer.table):
            self.moved_to(consumer, queue, max(offsets.values()))


class FrozenMisses(WholePush):
    def freeze(self, member: int) -> Result:
        for queue in range(self.world.queues):
            self.world.send(queue)
        line = self._lines[member]
        if line is not None:
            line.inbox.clear()
        return self.look()


class FailedPullIsLast(WholePush):
    def pull_failed(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        pass


class FailedPullSkips(WholePush):
    def pull_failed(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        owned.offset += 1
        super().pull_failed(consumer, line, queue, owned)


class UnreadableIsNew(WholePush):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        try:
            return super().beginning(consumer, queue)
        except NoStartError:
            return consumer.positions.usable(consumer.positions.begin(queue, consumer.where, TIMESTAMP_TEXT, "UTC"))


class NotFoundIsFailure(WholePush):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        if consumer.store.read(queue, "store") < 0:
            raise NoStartError
        return super().beginning(consumer, queue)


class NoListDropsAll(WholePush):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        return self.own(consumer, topic, (), [])


class NoListIsEverything(WholePush):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        return self.own(consumer, topic, consumer.routes.get(topic) or (), [])


class CommitsChangesOnly(WholePush):
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


class NeverLearns(WholePush):
    def learn(self, consumer: Consumer) -> None:
        pass


class LearnsNoFewer(WholePush):
    def learn(self, consumer: Consumer) -> None:
        known = dict(consumer.routes)
        super().learn(consumer)
        consumer.routes.update(
            {topic: queues for topic, queues in known.items() if len(queues or ()) > self.world.queues}
        )


class NeverUnregisters(WholePush):
    def unregister(self, consumer: Consumer, line: Line) -> None:
        pass


class UnregistersItsProducer(WholePush):
    def unregister(self, consumer: Consumer, line: Line) -> None:
        ext = {"clientID": consumer.client, "producerGroup": "CLIENT_INNER_PRODUCER"}
        self.to_broker(line, Command(int(Request.UNREGISTER_CLIENT), ext))


class AwaitsCommits(WholePush):
    def _exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        return super()._exchange(address, code, ext, body, one_way and code != Request.UPDATE_CONSUMER_OFFSET)


class BeatsTwice(WholePush):
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


class SilentPullIsLast(WholePush):
    def ask_again(self) -> None:
        pass


class BeatsOnce(WholePush):
    def connect(self, consumer: Consumer, line: Line) -> None:
        super().connect(consumer, line)
        line.known = True


class StaysUnknown(WholePush):
    def connected_again(self, line: Line) -> None:
        pass


class IsImpatient(WholePush):
    def patience(self, code: int) -> float:
        return 0.5


class LostRouteDropsAll(WholePush):
    def lost_route(self, consumer: Consumer, topic: str) -> None:
        self.own(consumer, topic, (), [])
        consumer.routes.pop(topic, None)


class EmptyRouteDropsAll(WholePush):
    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        return self.own(consumer, topic, (), [])


class UnknownIsAlone(WholePush):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        if self._line.known:
            return super().without_list(consumer, topic)
        return self.own(consumer, topic, consumer.routes.get(topic) or (), [])


_mutant = partial(Mutant.of, "whole-push")

MUTANTS = (
    _mutant("whole-push-commits-nothing", "D31", "The timer finds nothing to commit.", CommitsNothing),
    _mutant("whole-push-commits-none", "D28", "Of a queue without an offset -1 is committed.", CommitsNone),
    _mutant("whole-push-full-pool", "D203", "What finds no thread of the listener is sent back.", FullPoolSendsBack),
    _mutant("whole-push-loses-calls", "D203", "What finds no thread of the listener is committed.", FullPoolLosesCalls),
    _mutant("whole-push-listens-twice", "D94", "The last message of a pull is given twice.", ListensTwice),
    _mutant("whole-push-stays-dropped", "D42", "A queue that is sent elsewhere stays dropped.", StaysDropped),
    _mutant(
        "whole-push-correction-unstored", "D33", "A queue that is sent elsewhere stores nothing.", CorrectionIsNotStored
    ),
    _mutant("whole-push-not-to-zero", "D43", "A whole consumer ignores a correction to 0.", IgnoresCorrectionToZero),
    _mutant(
        "whole-push-never-corrected",
        "D44",
        "The broker's next offset counts with messages only.",
        MovesOnlyWithMessages,
    ),
    _mutant("whole-push-empty-unstored", "D45", "Where nothing is found nothing is stored.", StoresWithMessagesOnly),
    _mutant("whole-push-pulls-lost", "D38", "A queue that was lost is pulled on.", PullsWhatItLost),
    _mutant("whole-push-ignores-resets", "D44", "A whole consumer ignores what brokers reset.", IgnoresResets),
    _mutant("whole-push-resets-memory", "D42", "A reset changes memory, and pulls go on.", ResetsMemoryOnly),
    _mutant("whole-push-resets-all", "D33", "A reset of one queue is one of all queues.", ResetsEveryQueue),
    _mutant("whole-push-frozen-misses", "D38", "What arrives while a member is frozen is lost to it.", FrozenMisses),
    _mutant("whole-push-failed-pull-is-last", "D167", "A pull that fails is the last.", FailedPullIsLast),
    _mutant("whole-push-failed-pull-skips", "D39", "A pull that fails is not asked for again.", FailedPullSkips),
    _mutant("whole-push-unreadable-is-new", "D01", "What cannot be read counts as not stored.", UnreadableIsNew),
    _mutant("whole-push-not-found-fails", "D13", "What is not stored counts as unreadable.", NotFoundIsFailure),
    _mutant("whole-push-no-list-drops", "D26", "Without a list of the members queues are dropped.", NoListDropsAll),
    _mutant("whole-push-no-list-takes", "D82", "Without a list of the members a queue is taken.", NoListIsEverything),
    _mutant("whole-push-commits-changes", "D32", "A commit that was lost is not repeated.", CommitsChangesOnly),
    _mutant("whole-push-routes-once", "D95", "The route is learned once.", NeverLearns),
    _mutant("whole-push-never-unregisters", "D181", "A member that is shut down hangs up.", NeverUnregisters),
    _mutant("whole-push-unregisters-producer", "D181", "Its producer alone unregisters.", UnregistersItsProducer),
    _mutant("whole-push-commits-awaited", "D182", "Commits are not marked one way.", AwaitsCommits),
    _mutant("whole-push-beats-twice", "D20", "Two connections of a member send heartbeats.", BeatsTwice),
    _mutant("whole-push-silent-pull-is-last", "D167", "A pull that is not answered is the last.", SilentPullIsLast),
    _mutant("whole-push-beats-once", "D152", "A heartbeat that fails is not repeated.", BeatsOnce),
    _mutant("whole-push-stays-unknown", "D151", "After a cut no heartbeat follows.", StaysUnknown),
    _mutant("whole-push-impatient", "D151", "No answer may take a second.", IsImpatient),
    _mutant("whole-push-lost-route-drops", "D95", "Without a route queues are dropped.", LostRouteDropsAll),
    _mutant("whole-push-no-queues-drops", "D201", "Of a topic without queues all are dropped.", EmptyRouteDropsAll),
    _mutant("whole-push-unknown-is-alone", "D26", "A member that is not known takes everything.", UnknownIsAlone),
    _mutant("whole-push-routes-grow", "D168", "Queues that a topic loses are kept.", LearnsNoFewer),
)
