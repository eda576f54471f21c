"""The broker of suite broker-upgrade: releases of it take turns on one store.

A broker is stopped, and another release starts with its topics, groups, messages and stored offsets. What the store
holds is told by the rules of the release that runs: min, and the answer to a group without an offset, may change. Where
the newer release has light message queues (enableLmq), each has a file for stored offsets of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from rocketmq_conformance.models.broker import aged_store, lifecycle
from rocketmq_conformance.models.broker.broker_restart import BrokerRestartModel
from rocketmq_conformance.models.broker.lifecycle import UncertainBroker
from rocketmq_conformance.models.broker.state import BrokerState, Stored
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "RUN-UPGRADE-1",
        "A release starts on the store that another one left behind, an older or a younger one: topics, groups and "
        "messages are the same, and stored offsets those that were on disk.",
        "DefaultMessageStore#load, ConsumerOffsetManager#decode, TopicConfigManager#decode @ 4.9.7, 5.5.0",
    ),
)

_KINDS = ("upgraded", "taken back", "the same release")
_CHANGED = {kind: Reason(("RUN-UPGRADE-1",), kind) for kind in _KINDS}
_OTHER_FILE = {kind: Reason(("RUN-UPGRADE-1", "BQ-COM-LMQ"), kind) for kind in _KINDS}


class UpgradedBroker(NamedTuple):
    """A broker, and whether the newer one of its two releases runs."""

    newer: bool
    broker: UncertainBroker
    #: Tables of which one is in the file for stored offsets of the other release; () when the two have one file.
    elsewhere: tuple[Stored, ...] = ()


class BrokerUpgradeModel:
    """The rules of a broker whose releases take turns, for one profile; every method is pure.

    A profile that says nothing of an upgrade has its own release twice.
    """

    __slots__ = ("_apart", "_older", "_same", "newer")

    def __init__(self, profile: Profile) -> None:
        older = profile.upgraded_from or profile.broker
        #: The two releases, each as a broker that is restarted.
        self.newer = BrokerRestartModel(profile)
        self._older = BrokerRestartModel(replace(profile, broker=older, configuration=(), upgraded_from=None))
        self._same = older == profile.broker
        #: Does the newer one alone have the file of brokers with light message queues?
        self._apart = self.newer.broker.rules.light

    def initial(self) -> UpgradedBroker:
        """The initial state: the newer release runs, on the aged store."""
        return UpgradedBroker(True, self.newer.initial(), (aged_store.kept(),) if self._apart else ())

    def _running(self, state: UpgradedBroker) -> BrokerRestartModel:
        return self.newer if state.newer else self._older

    def change(self, state: UpgradedBroker, observed: Result, how: str) -> Answer[UpgradedBroker]:
        """RUN-UPGRADE-1, BQ-COM-LMQ: it was stopped or killed, and the other release was started."""
        after = UpgradedBroker(not state.newer, state.broker)
        warm = state.broker._replace(possible=tuple(_in_memory(one) for one in state.broker.possible))
        if self._apart:
            after = after._replace(elsewhere=lifecycle.on_disk(warm, how))
            warm = lifecycle.with_tables(warm, state.elsewhere)
        broker, expected, _ = self._running(after).restart(warm, observed, how)
        kind = "the same release" if self._same else "upgraded" if after.newer else "taken back"
        return after._replace(broker=broker), expected, (_OTHER_FILE if self._apart else _CHANGED)[kind]

    def save(self, state: UpgradedBroker, observed: Result) -> Answer[UpgradedBroker]:
        """BQ-COM-12."""
        return _of(state, self._running(state).save(state.broker, observed))

    def memory(self, state: UpgradedBroker, observed: Result, hot: bool) -> Answer[UpgradedBroker]:
        """RUN-DYN-1."""
        return _of(state, self._running(state).memory(state.broker, observed, hot))

    def create_topic(self, state: UpgradedBroker, observed: Result, topic: int, queues: int) -> Answer[UpgradedBroker]:
        """BQ-TOPIC-1."""
        return _of(state, self._running(state).create_topic(state.broker, observed, topic, queues))

    def delete_topic(self, state: UpgradedBroker, observed: Result, topic: int) -> Answer[UpgradedBroker]:
        """BQ-TOPIC-3, BQ-TOPIC-5."""
        return _of(state, self._running(state).delete_topic(state.broker, observed, topic))

    def create_group(self, state: UpgradedBroker, observed: Result, group: int) -> Answer[UpgradedBroker]:
        """BQ-GROUP-1."""
        return _of(state, self._running(state).create_group(state.broker, observed, group))

    def delete_group(self, state: UpgradedBroker, observed: Result, group: int, flag: str) -> Answer[UpgradedBroker]:
        """BQ-GROUP-2."""
        return _of(state, self._running(state).delete_group(state.broker, observed, group, flag))

    def send(
        self, state: UpgradedBroker, observed: Result, topic: int, queue: int, count: int, apart: bool
    ) -> Answer[UpgradedBroker]:
        """BQ-SEND-1."""
        return _of(state, self._running(state).send(state.broker, observed, topic, queue, count, apart))

    def commit(
        self, state: UpgradedBroker, observed: Result, group: int, topic: int, queue: int | None, offset: int | None
    ) -> Answer[UpgradedBroker]:
        """BQ-UPDATE-*."""
        return _of(state, self._running(state).commit(state.broker, observed, group, topic, queue, offset))

    def query(
        self, state: UpgradedBroker, observed: Result, group: int, topic: int, queue: int | None, set_zero: bool | None
    ) -> Answer[UpgradedBroker]:
        """BQ-QUERY-*."""
        return _of(state, self._running(state).query(state.broker, observed, group, topic, queue, set_zero))

    def query_kept(
        self, state: UpgradedBroker, observed: Result, queue: int, set_zero: bool | None
    ) -> Answer[UpgradedBroker]:
        """BQ-COM-11."""
        return _of(state, self._running(state).query_kept(state.broker, observed, queue, set_zero))

    def max(self, state: UpgradedBroker, observed: Result, topic: int, queue: int) -> Answer[UpgradedBroker]:
        """BQ-STORE-MAX."""
        return _of(state, self._running(state).max(state.broker, observed, topic, queue))

    def min(self, state: UpgradedBroker, observed: Result, topic: int, queue: int) -> Answer[UpgradedBroker]:
        """BQ-STORE-MIN."""
        return _of(state, self._running(state).min(state.broker, observed, topic, queue))

    def earliest(self, state: UpgradedBroker, observed: Result, topic: int, queue: int) -> Answer[UpgradedBroker]:
        """BQ-EARLIEST-1."""
        return _of(state, self._running(state).earliest(state.broker, observed, topic, queue))

    def search(
        self, state: UpgradedBroker, observed: Result, topic: int, queue: int, message: int, delta: int, boundary: str
    ) -> Answer[UpgradedBroker]:
        """BQ-TIME-*."""
        running = self._running(state)
        return _of(state, running.search(state.broker, observed, topic, queue, message, delta, boundary))


def _of(state: UpgradedBroker, answer: Answer[UncertainBroker]) -> Answer[UpgradedBroker]:
    broker, expected, why = answer
    return state._replace(broker=broker), expected, why


def _in_memory(state: BrokerState) -> BrokerState:
    """Every message 0 is in memory: it was read when the store was opened."""
    return state._replace(logs={key: log._replace(hot=True) for key, log in state.logs.items()})
