"""Proof of what consumers do where a broker has a slave (WHOLE-SLV-*): real ones, while the master goes and comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import uuid4

from rocketmq_conformance.conformance.fakes.whole_slaves import SlavePair
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.client.whole_slaves import MASTER, MOST, SLAVE
from rocketmq_conformance.models.outcome import Expected, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.suite import BoundModel
from rocketmq_conformance.suites.declare.topologies import GROUP, TOPIC
from rocketmq_conformance.suites.whole_slaves import (
    SUITE,
    ComeBack,
    GoAway,
    Join,
    Leave,
    Prepare,
    Send,
    Suggest,
)

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

#: The offset that is stored at both nodes at first.
STORED = 7
#: How long (s) consumers may take, and how long nothing else may come after it.
_LIMIT, _QUIET = 60.0, 1.0
#: What is done: a consumer runs while the slave is suggested, and while the master is away; another one joins then,
#: ends, and joins again once the master is back with what it had.
STEPS = (
    *(Join(0), Suggest(SLAVE), Send(EVERY), Suggest(MASTER), GoAway(), Send(EVERY), ComeBack(), Send(EVERY)),
    *(Leave(0), GoAway(), Join(1), Send(EVERY), Leave(1), ComeBack(), Join(1)),
)


def expected(profile: Profile) -> list[tuple[Expected, Reason]]:
    """What is to be seen after each step, and why."""
    bound: BoundModel = SUITE.bind(profile)
    state, found = bound.handlers[Prepare](bound.initial, MOST, STORED)[0], list[tuple[Expected, Reason]]()
    for step in STEPS:
        state, seen, why = bound.handlers[type(step)](state, *step.args)
        found.append((seen, Reason(tuple(rule for rule in why.rules if rule.startswith("WHOLE-SLV")), why.kind)))
    return found


class _Played:
    """The consumers at a pair of nodes."""

    def __init__(self, classes: JavaRelease) -> None:
        self._classes, self._name = classes, uuid4().hex
        self.pair = SlavePair(Profile(classes.release, classes.release))
        self._consumers: dict[int, WholeConsumer] = {}
        self._numbers: dict[str, int] = {}
        self._brought: list[tuple[str, int, int, int]] = []
        self.pair.begin(MOST, STORED)
        self._address = self.pair.open()

    def close(self) -> None:
        """End the consumers, and close the nodes."""
        for member in [*self._consumers]:
            self._end(member)
        self.pair.stop()

    def do(self, step: object) -> None:
        """Do a step."""
        self._brought.clear()
        match step:
            case Join(member):
                self._start(member)
            case Leave(member):
                self._end(member)
            case Suggest(node):
                self.pair.suggest(node)
            case Send(queue):
                self.pair.send(queue)
            case GoAway():
                self.pair.go_away()
            case ComeBack():
                self.pair.come_back()
                self.pair.reopen()

    def seen(self) -> Value:
        """What the traffic shows since the last step."""
        self._brought += self.pair.take_brought()
        for case in self.pair.there:
            case.end_pulls(range(MOST), first=True)
        return self.pair.observed(self._numbers, self._brought)

    def _start(self, member: int) -> None:
        from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

        client = f"{self._name}-{member}"
        consumer = WholeConsumer(self._classes, PUSH, self._address, GROUP, TOPIC, LAST, client=client)
        self._consumers[member] = consumer.__enter__()
        self._numbers[consumer.client_id] = member

    def _end(self, member: int) -> None:
        self._consumers.pop(member).__exit__(None, None, None)


def prove_slaves(tally: Tally, classes: JavaRelease, rule: str = "") -> None:
    """Play the steps on one release, and compare what is seen after each; the first that differs ends them."""
    wanted = expected(Profile(classes.release, classes.release))
    if rule and not any(rule in why.rules for _, why in wanted):
        return
    played = _Played(classes)
    try:
        for step, (answer, why) in zip(STEPS, wanted, strict=True):
            played.do(step)
            seen = _settled(played.seen, answer)
            tally.add(answer, why, seen, step.__str__)
            if seen != answer:
                return
    finally:
        played.close()


def _settled(seen: Callable[[], Value], answer: Expected) -> Value:
    wait_until(lambda: seen() == answer, _LIMIT, 0.1)
    time.sleep(_QUIET)
    return seen()
