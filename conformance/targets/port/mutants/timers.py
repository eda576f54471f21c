"""Mutants of the port's timers, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
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
from rocketmq_conformance.models.client.fixtures import TOPIC


class NeverPersists(Timers):
    def persist_all(self) -> None:
        pass


class PersistsEvery10Seconds(Timers):
    def next(self, timer: Timer, name: str) -> int:
        return timer.due + (max(timer.every, 10_000) if name == PERSIST else timer.every)


class PersistsAtOnce(Timers):
    def first(self, name: str) -> int:
        return EVERY[PERSIST] if name == PERSIST else super().first(name)


class PersistsASecondLate(Timers):
    def first(self, name: str) -> int:
        return super().first(name) + 1_000 * (name == PERSIST)


class PersistsOnce(Timers):
    def next(self, timer: Timer, name: str) -> int:
        return super().next(timer, name) + 10**9 * (name == PERSIST)


class PersistsTheFirstConsumer(Timers):
    def persist_all(self) -> None:
        for consumer in list(self.consumers.values())[:1]:
            self.persist(consumer)


class PersistsChangesOnly(Timers):
    def forget(self) -> None:
        super().forget()
        self.sent: dict[str, int] = {}

    def commit(self, consumer: Consumer, one_way: bool) -> None:
        if self.sent.get(consumer.group) != consumer.offset:
            self.sent[consumer.group] = consumer.offset
            super().commit(consumer, one_way)


class PersistWaits(Timers):
    def commit(self, consumer: Consumer, one_way: bool) -> None:
        super().commit(consumer, False)


class PersistsThreeTimes(Timers):
    def commit(self, consumer: Consumer, one_way: bool) -> None:
        for _ in range(3):
            super().commit(consumer, one_way)


class FilesAreNotWritten(Timers):
    def persist_all(self) -> None:
        for consumer in self.consumers.values():
            if consumer.mode != BROADCASTING:
                self.persist(consumer)


class NeverBeats(Timers):
    def run(self, name: str, consumer: Consumer | None) -> None:
        if name != BEAT:
            super().run(name, consumer)


class BeatsLate(Timers):
    def first(self, name: str) -> int:
        return EVERY[BEAT] if name == BEAT else super().first(name)


class BeatsEvery5Minutes(Timers):
    def next(self, timer: Timer, name: str) -> int:
        return super().next(timer, name) + 270_000 * (name == BEAT)


class BeatsPerGroup(Timers):
    def beat(self) -> None:
        for group in sorted(consumer.group for consumer in self.consumers.values()):
            self.send_beat([group])


class RoutesWait(Timers):
    def first(self, name: str) -> int:
        return EVERY[ROUTE] if name == ROUTE else super().first(name)


class RoutesPerConsumer(Timers):
    def route_topics(self) -> list[str]:
        return sorted(topic for consumer in self.consumers.values() for topic in consumer.topics())


class RoutesAreKept(Timers):
    def next(self, timer: Timer, name: str) -> int:
        return super().next(timer, name) + 10**9 * (name == ROUTE)


class RetryTopicHasNoRoute(Timers):
    def route_topics(self) -> list[str]:
        return [TOPIC]


class LocksAreNotRenewed(Timers):
    def run(self, name: str, consumer: Consumer | None) -> None:
        if name != LOCK:
            super().run(name, consumer)


class LocksASecondLate(Timers):
    def lock_timers(self) -> list[Timer]:
        return [Timer(timer.due + 1_000, timer.every) for timer in super().lock_timers()]


class LocksEvery30Seconds(Timers):
    def next(self, timer: Timer, name: str) -> int:
        return super().next(timer, name) + 10_000 * (name == LOCK)


class LocksOnce(Timers):
    def lock_timers(self) -> list[Timer]:
        return super().lock_timers()[:1]


class ASecondConsumerRestartsTheTimers(Timers):
    def join(self, consumer: Consumer) -> None:
        knows = self.client is not None and self.client.knows_broker
        self.client = self.begun_client()
        self.client.knows_broker = knows


class TheLastIntervalsCount(Timers):
    def join(self, consumer: Consumer) -> None:
        super().join(consumer)
        assert self.client is not None
        for name, timer in self.client.timers.items():
            timer.every = self.intervals[name]


class IntervalsAreIgnored(Timers):
    def begun_client(self) -> Client:
        self.intervals = dict(EVERY)
        return super().begun_client()


class StartsInSilence(Timers):
    def announce(self, consumer: Consumer) -> None:
        if consumer.kind != PULL:
            self.ask_routes(consumer.topics())


class LitePullBeatsAtOnce(Timers):
    def announce(self, consumer: Consumer) -> None:
        super().announce(consumer)
        if consumer.kind == LITE:
            self.send_beat(sorted(held.group for held in self.consumers.values()))


class BeatsBeforeRoutes(Timers):
    def announce(self, consumer: Consumer) -> None:
        super().announce(consumer)
        self.events.reverse()


class EndsWithoutPersisting(Timers):
    def end(self, consumer: Consumer) -> None:
        self.release(consumer)
        self.leave(consumer)


class LeavesBeforeItPersists(Timers):
    def end(self, consumer: Consumer) -> None:
        self.release(consumer)
        self.leave(consumer)
        self.persist(consumer)


class PersistsBeforeItUnlocks(Timers):
    def end(self, consumer: Consumer) -> None:
        self.persist(consumer)
        self.release(consumer)
        self.leave(consumer)


class UnlockIsNotAwaited(Timers):
    def unlock(self, consumer: Consumer, one_way: bool) -> None:
        super().unlock(consumer, consumer.kind == ORDERLY)


class NeverLeaves(Timers):
    def leave(self, consumer: Consumer) -> None:
        pass


class TimersEndWithTheFirst(Timers):
    def end(self, consumer: Consumer) -> None:
        super().end(consumer)
        if self.client is not None:
            for timer in self.client.timers.values():
                timer.due += 10**9


_mutant = partial(Mutant.of, "timers")

MUTANTS = (
    _mutant("never-persists", "D150", "No timer persists offsets.", NeverPersists),
    _mutant("persists-every-10-s", "D150", "Offsets are persisted every 10 s at most.", PersistsEvery10Seconds),
    _mutant("persists-after-5-s", "D150", "Offsets are first persisted after 5 s.", PersistsAtOnce),
    _mutant("persists-a-second-late", "D150", "Offsets are persisted one second late.", PersistsASecondLate),
    _mutant("persists-once", "D151", "The timer that persists comes once.", PersistsOnce),
    _mutant(
        "persists-one-group", "D150", "Only the offsets of the first consumer are persisted.", PersistsTheFirstConsumer
    ),
    _mutant(
        "persists-changes-only", "D150", "An offset that did not change is not committed again.", PersistsChangesOnly
    ),
    _mutant("persist-waits", "D151", "The timer waits for the answer to each commit.", PersistWaits),
    _mutant("persists-three-times", "D150", "Each commit of the timer is sent three times.", PersistsThreeTimes),
    _mutant(
        "files-at-the-end-only", "D150", "A broadcasting consumer writes its file at its end only.", FilesAreNotWritten
    ),
    _mutant("never-beats", "D152", "No timer sends heartbeats.", NeverBeats),
    _mutant("beats-after-30-s", "D152", "The first heartbeat of the timer comes after 30 s.", BeatsLate),
    _mutant("beats-every-5-minutes", "D152", "Heartbeats are 5 minutes apart.", BeatsEvery5Minutes),
    _mutant("beats-per-group", "D152", "Each group has a heartbeat of its own.", BeatsPerGroup),
    _mutant("routes-after-30-s", "D151", "Routes are first asked for after 30 s.", RoutesWait),
    _mutant("routes-per-consumer", "D151", "A topic's route is asked for once for each consumer.", RoutesPerConsumer),
    _mutant("routes-are-kept", "D151", "Routes are asked for once.", RoutesAreKept),
    _mutant("no-route-of-retries", "D151", "The route of the retry topic is not asked for.", RetryTopicHasNoRoute),
    _mutant("locks-are-not-renewed", "D153", "No timer renews locks.", LocksAreNotRenewed),
    _mutant("locks-a-second-late", "D153", "Locks are renewed one second late.", LocksASecondLate),
    _mutant("locks-every-30-s", "D153", "Locks are renewed every 30 s.", LocksEvery30Seconds),
    _mutant("locks-by-one-timer", "D153", "Locks are renewed by one request, as up to 4.9.", LocksOnce),
    _mutant(
        "timers-restart", "D151", "A consumer that joins begins all timers anew.", ASecondConsumerRestartsTheTimers
    ),
    _mutant("last-intervals-count", "D151", "The intervals of the last consumer count.", TheLastIntervalsCount),
    _mutant("intervals-are-ignored", "D150", "Intervals are always the standard ones.", IntervalsAreIgnored),
    _mutant("starts-in-silence", "D152", "A push consumer sends no heartbeat when it starts.", StartsInSilence),
    _mutant(
        "lite-pull-beats-at-once", "D152", "A lite pull consumer sends a heartbeat when it starts.", LitePullBeatsAtOnce
    ),
    _mutant("beats-before-routes", "D152", "A start sends the heartbeat before it asks for routes.", BeatsBeforeRoutes),
    _mutant("ends-without-persisting", "D150", "A shutdown does not persist.", EndsWithoutPersisting),
    _mutant(
        "leaves-before-it-persists", "D150", "A shutdown unregisters first and persists then.", LeavesBeforeItPersists
    ),
    _mutant(
        "persists-before-it-unlocks", "D153", "A shutdown persists first and unlocks then.", PersistsBeforeItUnlocks
    ),
    _mutant("unlock-is-not-awaited", "D153", "A shutdown unlocks one way.", UnlockIsNotAwaited),
    _mutant("never-leaves", "D152", "A shutdown does not unregister.", NeverLeaves),
    _mutant(
        "timers-end-with-the-first", "D151", "The timers end with the first consumer that ends.", TimersEndWithTheFirst
    ),
)
