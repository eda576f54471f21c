"""Proof of expiry: a real broker whose oldest messages expire while it runs, and which is then restarted.

A broker first looks for expired files when it is a minute old, so this one is started first and queried when it is
that old. Then it ends: a broker that only waits takes a tenth of a processor.
"""

from __future__ import annotations

import time

from rocketmq_conformance.conformance.proof import broker_tables as tables
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.launch_config import COMMIT_LOG_FILE
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.conformance.targets.scoped import Scoped
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker import aged_store, lifecycle
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.fixtures import TOPICS, initial_state
from rocketmq_conformance.models.broker.lifecycle import STOP
from rocketmq_conformance.models.broker.search import LOWER, UPPER
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.outcome import Result, Unsupported, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites import broker_search
from rocketmq_conformance.suites.broker_expired import Earliest, Search
from rocketmq_conformance.suites.broker_offsets import CreateTopic, Max, Min, Query
from rocketmq_conformance.suites.broker_restart import Restart
from rocketmq_conformance.suites.broker_search import SendTimed
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.values.broker import show

#: How old a broker is when it looks for expired files for the first time (s), with some margin.
_AGE = 64.0
#: How long expiry may take from then on, and how long the broker needs to look at every queue (s).
_LIMIT = 60.0
_SETTLE = 3.0
#: Size of a message that only fills files (bytes), and how many push everything before them out of the last file.
_FILLER = 100_000
_FILLERS = 2 * COMMIT_LOG_FILE // _FILLER
_HOURS = ";".join(f"{hour:02}" for hour in range(24))
#: Messages that will expire, and that will not, by queue of topic 0.
_QUEUES = 4
_BEFORE = {0: 10, 1: 3}
_AFTER = {0: 5, 3: 4}
_FILLER_TOPIC = 1


class Expiry(Scoped):
    """One broker from its start to its restart after messages expired."""

    def __init__(self, release: Release, profile: Profile) -> None:
        self.adapter = BrokerAdapter(StartedBroker(release))
        self.rules = BrokerRules.of(profile)
        self.handlers = tables.handlers(profile)
        self.state = BrokerState()
        self._started = 0.0
        self._proven = False

    def start(self) -> None:
        """Start the broker, and fill it."""
        self.adapter.hello()
        self._started = time.monotonic()
        self._fill()

    def close(self) -> None:
        """End the broker."""
        self.adapter.close()

    def prove_when_due(self, tally: Tally) -> None:
        """Prove it if the broker is old enough."""
        if time.monotonic() >= self._started + _AGE:
            self.prove(tally)

    def prove(self, tally: Tally) -> None:
        """Wait until the broker is old enough, let messages expire, query everything, restart, query again; once."""
        if self._proven:
            return
        self._proven = True
        time.sleep(max(0.0, self._started + _AGE - time.monotonic()))
        self.adapter.ask(requests.set_property("deleteWhen", _HOURS))
        self.adapter.ask(requests.set_property("fileReservedTime", "0"))
        self._await_expiry()
        firsts = {(TOPICS[0], queue): count for queue, count in _BEFORE.items()}
        firsts |= {(aged_store.TOPIC, queue): log.max for queue, log in enumerate(aged_store.QUEUES)}
        self.state, whys = lifecycle.expire(self.rules, self.state, firsts)
        for (topic, queue), why in whys.items():
            index = AGED_TOPIC if topic == aged_store.TOPIC else 0
            self._check(tally, Min(index, queue), why_instead=why)
        for queue, count in _BEFORE.items():
            self.adapter.forget_messages(0, 0, queue, count)
        self._check_everything(tally)
        self.adapter.apply(Restart(STOP))
        self.state = lifecycle.restart(self.rules, self.state)
        self._check_everything(tally)
        self.adapter.close()

    def _fill(self) -> None:
        """Write messages that will expire, files full of others, and messages that will not."""
        old, new = aged_store.aged_broker(self.rules), initial_state()
        self.state = old._replace(topics={**old.topics, **new.topics})
        self.adapter.reset_many([(0, broker_search.SUITE)])
        self._do(CreateTopic(0, _QUEUES))
        for queue, count in _BEFORE.items():
            self._do(SendTimed(0, queue, count, True))
        self._do(CreateTopic(_FILLER_TOPIC, 1))
        name = self.adapter.topic_name(0, _FILLER_TOPIC)
        for _ in range(_FILLERS):
            self.adapter.ask(requests.send(name, 0, int(time.time() * 1000), b"f" * _FILLER))
        for queue, count in _AFTER.items():
            self._do(SendTimed(0, queue, count, True))

    def _await_expiry(self) -> None:
        wait_until(lambda: self._observe(Min(0, 0)) == _BEFORE[0], _LIMIT, 0.2)
        time.sleep(_SETTLE)

    def _check_everything(self, tally: Tally) -> None:
        asked = tables.aged_looks()
        for queue in range(_QUEUES):
            asked += [Max(0, queue), Min(0, queue), Earliest(0, queue)]
            asked += [Query(1, 0, queue, zero) for zero in tables.SET_ZERO]
            for number in (0, 1, -1):
                for delta in (-1, 0, 1):
                    asked += [Search(0, queue, number, delta, edge) for edge in ("", LOWER, UPPER)]
        for operation in asked:
            self._check(tally, operation)

    def _check(self, tally: Tally, operation: Operation, why_instead: Reason | None = None) -> None:
        handler = self.handlers[type(operation)]
        _, expected, why = handler(self.state, *operation.args)
        tally.add(expected, why_instead or why, self._observe(operation), lambda: f"{operation} on {show(self.state)}")

    def _do(self, operation: Operation) -> None:
        """Do an operation on the broker and on the model's state alike."""
        observed = self._observe(operation)
        handler = self.handlers[type(operation)]
        given = (observed, *operation.args) if operation.spec.observes else operation.args
        self.state, _, _ = handler(self.state, *given)

    def _observe(self, operation: Operation) -> Result:
        outcome = self.adapter.apply(operation)
        assert not isinstance(outcome, Unsupported), outcome
        return result_of(outcome)
