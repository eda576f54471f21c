"""Mutants of the port's timers, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.timers import (
    BEAT,
    BROADCASTING,
    EVERY,
    LITE,
    LOCK,
    ORDERLY,
    PERSIST,
    PULL,
    ROUTE,
    Client,
    Consumer,
    Timer,
    Timers,
)
from rocketmq_conformance.suites.declare.topologies import TOPIC

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "timers")


@_mutant("D150", "No timer persists offsets.")
class NeverPersists(Timers):
    def persist_all(self) -> None:
        pass


@_mutant("D150", "Offsets are persisted every 10 s at most.")
class PersistsEvery10S(Timers):
    def next(self, timer: Timer, name: str) -> int:
        return timer.due + (max(timer.every, 10_000) if name == PERSIST else timer.every)


@_mutant("D150", "Offsets are first persisted after 5 s.")
class PersistsAfter5S(Timers):
    def first(self, name: str) -> int:
        return EVERY[PERSIST] if name == PERSIST else super().first(name)


@_mutant("D150", "Offsets are persisted one second late.")
class PersistsASecondLate(Timers):
    def first(self, name: str) -> int:
        return super().first(name) + 1_000 * (name == PERSIST)


@_mutant("D151", "The timer that persists comes once.")
class PersistsOnce(Timers):
    def next(self, timer: Timer, name: str) -> int:
        return super().next(timer, name) + 10**9 * (name == PERSIST)


@_mutant("D150", "Only the offsets of the first consumer are persisted.")
class PersistsOneGroup(Timers):
    def persist_all(self) -> None:
        for consumer in list(self.consumers.values())[:1]:
            self.persist(consumer)


@_mutant("D150", "An offset that did not change is not committed again.")
class PersistsChangesOnly(Timers):
    def forget(self) -> None:
        super().forget()
        self.sent: dict[str, int] = {}

    def commit(self, consumer: Consumer, one_way: bool) -> None:
        if self.sent.get(consumer.group) != consumer.offset:
            self.sent[consumer.group] = consumer.offset
            super().commit(consumer, one_way)


@_mutant("D151", "The timer waits for the answer to each commit.")
class PersistWaits(Timers):
    def commit(self, consumer: Consumer, one_way: bool) -> None:
        super().commit(consumer, False)


@_mutant("D150", "Each commit of the timer is sent three times.")
class PersistsThreeTimes(Timers):
    def commit(self, consumer: Consumer, one_way: bool) -> None:
        for _ in range(3):
            super().commit(consumer, one_way)


@_mutant("D150", "A broadcasting consumer writes its file at its end only.")
class FilesAtTheEndOnly(Timers):
    def persist_all(self) -> None:
        for consumer in self.consumers.values():
            if consumer.mode != BROADCASTING:
                self.persist(consumer)


@_mutant("D152", "No timer sends heartbeats.")
class NeverBeats(Timers):
    def run(self, name: str, consumer: Consumer | None) -> None:
        if name != BEAT:
            super().run(name, consumer)


@_mutant("D152", "The first heartbeat of the timer comes after 30 s.")
class BeatsAfter30S(Timers):
    def first(self, name: str) -> int:
        return EVERY[BEAT] if name == BEAT else super().first(name)


@_mutant("D152", "Heartbeats are 5 minutes apart.")
class BeatsEvery5Minutes(Timers):
    def next(self, timer: Timer, name: str) -> int:
        return super().next(timer, name) + 270_000 * (name == BEAT)


@_mutant("D152", "Each group has a heartbeat of its own.")
class BeatsPerGroup(Timers):
    def beat(self) -> None:
        for group in sorted(consumer.group for consumer in self.consumers.values()):
            self.send_beat([group])


@_mutant("D151", "Routes are first asked for after 30 s.")
class RoutesAfter30S(Timers):
    def first(self, name: str) -> int:
        return EVERY[ROUTE] if name == ROUTE else super().first(name)


@_mutant("D151", "A topic's route is asked for once for each consumer.")
class RoutesPerConsumer(Timers):
    def route_topics(self) -> list[str]:
        return sorted(topic for consumer in self.consumers.values() for topic in consumer.topics())


@_mutant("D151", "Routes are asked for once.")
class RoutesAreKept(Timers):
    def next(self, timer: Timer, name: str) -> int:
        return super().next(timer, name) + 10**9 * (name == ROUTE)


@_mutant("D151", "The route of the retry topic is not asked for.")
class NoRouteOfRetries(Timers):
    def route_topics(self) -> list[str]:
        return [TOPIC]


@_mutant("D153", "No timer renews locks.")
class LocksAreNotRenewed(Timers):
    def run(self, name: str, consumer: Consumer | None) -> None:
        if name != LOCK:
            super().run(name, consumer)


@_mutant("D153", "Locks are renewed one second late.")
class LocksASecondLate(Timers):
    def lock_timers(self) -> list[Timer]:
        return [Timer(timer.due + 1_000, timer.every) for timer in super().lock_timers()]


@_mutant("D153", "Locks are renewed every 30 s.")
class LocksEvery30S(Timers):
    def next(self, timer: Timer, name: str) -> int:
        return super().next(timer, name) + 10_000 * (name == LOCK)


@_mutant("D153", "Locks are renewed by one request, as up to 4.9.")
class LocksByOneTimer(Timers):
    def lock_timers(self) -> list[Timer]:
        return super().lock_timers()[:1]


@_mutant("D151", "A consumer that joins begins all timers anew.")
class TimersRestart(Timers):
    def join(self, consumer: Consumer) -> None:
        knows = self.client is not None and self.client.knows_broker
        self.client = self.begun_client()
        self.client.knows_broker = knows


@_mutant("D151", "The intervals of the last consumer count.")
class LastIntervalsCount(Timers):
    def join(self, consumer: Consumer) -> None:
        super().join(consumer)
        assert self.client is not None
        for name, timer in self.client.timers.items():
            timer.every = self.intervals[name]


@_mutant("D150", "Intervals are always the standard ones.")
class IntervalsAreIgnored(Timers):
    def begun_client(self) -> Client:
        self.intervals = dict(EVERY)
        return super().begun_client()


@_mutant("D152", "A push consumer sends no heartbeat when it starts.")
class StartsInSilence(Timers):
    def announce(self, consumer: Consumer) -> None:
        if consumer.kind != PULL:
            self.ask_routes(consumer.topics())


@_mutant("D152", "A lite pull consumer sends a heartbeat when it starts.")
class LitePullBeatsAtOnce(Timers):
    def announce(self, consumer: Consumer) -> None:
        super().announce(consumer)
        if consumer.kind == LITE:
            self.send_beat(sorted(held.group for held in self.consumers.values()))


@_mutant("D152", "A start sends the heartbeat before it asks for routes.")
class BeatsBeforeRoutes(Timers):
    def announce(self, consumer: Consumer) -> None:
        super().announce(consumer)
        self.events.reverse()


@_mutant("D150", "A shutdown does not persist.")
class EndsWithoutPersisting(Timers):
    def end(self, consumer: Consumer) -> None:
        self.release(consumer)
        self.leave(consumer)


@_mutant("D150", "A shutdown unregisters first and persists then.")
class LeavesBeforeItPersists(Timers):
    def end(self, consumer: Consumer) -> None:
        self.release(consumer)
        self.leave(consumer)
        self.persist(consumer)


@_mutant("D153", "A shutdown persists first and unlocks then.")
class PersistsBeforeItUnlocks(Timers):
    def end(self, consumer: Consumer) -> None:
        self.persist(consumer)
        self.release(consumer)
        self.leave(consumer)


@_mutant("D153", "A shutdown unlocks one way.")
class UnlockIsNotAwaited(Timers):
    def unlock(self, consumer: Consumer, one_way: bool) -> None:
        super().unlock(consumer, consumer.kind == ORDERLY)


@_mutant("D152", "A shutdown does not unregister.")
class NeverLeaves(Timers):
    def leave(self, consumer: Consumer) -> None:
        pass


@_mutant("D151", "The timers end with the first consumer that ends.")
class TimersEndWithTheFirst(Timers):
    def end(self, consumer: Consumer) -> None:
        super().end(consumer)
        if self.client is not None:
            for timer in self.client.timers.values():
                timer.due += 10**9
