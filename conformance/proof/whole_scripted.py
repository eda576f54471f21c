"""Proof of whole consumers on a broker that fails by a script: each case has a broker, and consumers, of its own.

The table (``whole_cases``) has the faults, the model (``models/client/whole_group``) the expected result of every look.
A look waits until the consumers show what is expected, and then a little longer, for what should not happen.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.message_forms import between_plain
from rocketmq_conformance.conformance.fakes.responses import document
from rocketmq_conformance.conformance.fakes.watched_case import Failing, meets_message
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.proof.whole_cases import TableCase
from rocketmq_conformance.conformance.proof.whole_played import LOOK_LIMIT, POLL_INTERVAL, PlayedCase, play_all
from rocketmq_conformance.conformance.proof.whole_script import BRIEF_HOLD, HOLD, Script
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.fault import parse
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.host_port import host_port
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.client.initial_broker import TIMES, log_of_shape
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.switches import RESETS_AT_ONCE
from rocketmq_conformance.models.client.whole import ORDERLY
from rocketmq_conformance.models.client.whole_group import WholeGroupModel
from rocketmq_conformance.models.client.whole_moves import (
    COMMIT,
    FILLED,
    LATE,
    LOADED,
    PULL,
    ROUTE,
    SILENT,
    SPANNED,
    STRETCHED,
    TOO_LATE,
    TWICE,
    ArriveAgain,
    ArriveAs,
    AssignQueues,
    Deliver,
    Expire,
    Fail,
    Flood,
    Hang,
    Listen,
    Load,
    LockElsewhere,
    Mend,
    Move,
    Observation,
    PauseQueues,
    ResetTo,
    Stay,
    Suspend,
    UnlockElsewhere,
    Unsubscribe,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY, OTHER_TOPIC, TOPIC

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

#: How long a look that expects nothing waits for requests that fail, and how many of them must have come.
_MET_LIMIT, _MET = 10.0, 2
#: How long the first pull of a queue may take, and how long a listener waits for its consumer's next pull (s).
_PULL_LIMIT, _GATE_LIMIT = 6.0, 30.0
#: By how much late answers are late (ms).
_DELAY = 1000
#: Seconds between two messages of a steady load.
_EVERY = 0.02
#: Faults after which a client waits for a response.
_UNANSWERED = frozenset({"silent", "cut", "garbage"})


class ScriptedCase(PlayedCase):
    """One case that is played. ``instance`` names its clients in this process."""

    def __init__(
        self,
        classes: JavaRelease,
        profile: Profile,
        case: TableCase,
        instance: str,
        parts: Mapping[str, type],
        limit: float,
    ) -> None:
        # a name of its own: a client that could not start may still be looking for a broker where this one is now
        super().__init__(classes, case, instance, f"{GROUP}-{uuid4().hex}", TOPIC, limit)
        # an answer to an old pull undoes a reset if it comes right after it: keep away from that moment
        at_once = case.kind == ORDERLY and RESETS_AT_ONCE.on(profile.client)
        waits = any(isinstance(move, ResetTo) for move in case.moves) and not at_once
        self._script = Script(BRIEF_HOLD if waits else HOLD)
        self._now = TIMES[0]
        self.broker = FakeBroker(profile, clock=lambda: self._now, parts={**self._script.parts, **parts})
        self.broker.answer_by(self)
        #: The ids of the queues that had an owner at the last look, and how often they had been pulled.
        self._owned: set[int] = set()
        self._pulled: Counter[int] = Counter()
        #: The queues whose messages were not given while a load lasted.
        self._starved: set[int] = set()
        #: The members whose listeners fail.
        self._failing: frozenset[str] = frozenset()
        #: Requests that a fault is planted for, and how many of each had come by then.
        self._planted: dict[int, int] = {}

    def start(self) -> None:
        """Start its broker, with topics, messages and what is stored."""
        self.address = self._open.enter_context(self.broker).address
        self._connection = self._open.enter_context(Connection(*host_port(self.address)))
        self.broker.create_topic(TOPIC, self.case.queues)
        if self.case.other:
            self.broker.create_topic(OTHER_TOPIC, len(ORDINARY.topic_queues[OTHER_TOPIC]))
        self.broker.create_group(self.group)
        if self.case.fails:
            self.broker.create_topic(RETRY + self.group, 1)
        for number in self.case.numbers:
            topic, queue = self.case.place_of(number)
            for self._now in TIMES:
                self.send(number)
            self.broker.expire(topic, queue, log_of_shape(self.case.shape).first)
            if self.case.stored is not None:
                self.ask(requests.commit(self.group, topic, queue, self.case.stored))

    def close(self) -> None:
        """Let what a fault holds go, and end the case."""
        try:
            self.broker.faults.disarm()
        finally:
            super().close()

    # --- the broker -----------------------------------------------------------------------------------------

    def ask(self, request: requests.Ask) -> Command:
        """Send a request; the broker's response."""
        return self._connection.call(request.code, request.ext, request.body)

    def send(self, queue: int) -> None:
        """A message arrives."""
        topic, number = self.case.place_of(queue)
        self.broker.send(topic, b"x", number)

    def stored(self) -> tuple[int, ...]:
        """The stored offset of each queue."""
        self.broker.settle()
        stored = self.broker.state.stored
        return tuple(stored.get((self.group, *self.case.place_of(number)), -1) for number in self.case.numbers)

    # --- moves ----------------------------------------------------------------------------------------------

    def move(self, move: Move) -> None:
        """Do a move, that is, any step but a look."""
        match move:
            case Fail():
                self._fail(move)
            case Mend():
                self._script.mend()
                self.broker.faults.disarm()
                self._planted.clear()
            case ArriveAgain(how, queue):
                self._script.repeated.arm(TOPIC, queue, how)
                if how == TOO_LATE:
                    self._script.repeated.put_off_held(self.broker.forget_held_pulls(TOPIC, queue))
                self.send(queue)
            case ArriveAs(form, queue):
                self.broker.send_together(between_plain(form, TOPIC, queue))
            case Hang(queue):
                self._hung = queue, self._max(queue)
                self._returns.clear()
                self.send(queue)
            case Listen(name, listener):
                self._failing = self._failing | {name} if listener == FAILS else self._failing - {name}
            case Deliver():
                wait_until(lambda: self.broker.retries.waiting >= self.case.queues, self._limit, POLL_INTERVAL)
                self._now += max(self.broker.retries.levels)
                self.broker.deliver()
            case Flood(queue, behind):
                self._flood(queue, behind)
            case Load(queue):
                self._load(queue)
            case Expire(first):
                self.broker.expire(TOPIC, 0, first)
            case ResetTo(offset):
                key = document({"brokerName": BROKER, "queueId": 0, "topic": TOPIC}).decode()
                fields = {"group": self.group, "topic": TOPIC, "timestamp": "0", "isForce": "true"}
                body = f'{{"offsetTable":{{{key}:{offset}}}}}'.encode()
                self.broker.send_to_members(
                    self.group, Command(int(Request.RESET_CONSUMER_CLIENT_OFFSET), fields, body)
                )
            case Suspend() | PauseQueues() | AssignQueues():
                super().move(move)
                self.broker.fail_held_pulls()
            case Unsubscribe():
                super().move(move)
                self.broker.fail_held_pulls(OTHER_TOPIC)
            case LockElsewhere():
                self._planted[Request.LOCK_BATCH_MQ] = self.broker.arrived(Request.LOCK_BATCH_MQ) + 1
                super().move(move)
            case UnlockElsewhere():
                self._planted.clear()
                super().move(move)
            case _:
                super().move(move)

    def _flood(self, queue: int, behind: bool) -> None:
        """More messages arrive than a member has at a time; ``behind`` one that hangs, after others were consumed."""
        self._aside = queue
        if behind:
            self._send_many(queue, SPANNED)
            last = queue, self._max(queue) - 1
            wait_until(lambda: any(last in one.given for one in self.consumers.values()), self._limit, POLL_INTERVAL)
        for free in self._free.values():
            free.clear()
        self._send_many(queue, STRETCHED if behind else FILLED)

    def _send_many(self, queue: int, messages: int) -> None:
        for _ in range(messages):
            self.send(queue)

    def _load(self, queue: int) -> None:
        """Messages keep arriving in a queue; of those of the others what is given later does not show."""
        others = {number for number in self.case.numbers if number != queue}
        for number in others:
            self.send(number)
        for _ in range(LOADED - 1):
            self.send(queue)
            time.sleep(_EVERY)
        given = {number for name, consumer in self.consumers.items() for number, _ in self._given(name, consumer)}
        self._starved = others - given
        self.send(queue)

    def _given(self, name: str, consumer: WholeConsumer) -> list[tuple[int, int]]:
        return [one for one in super()._given(name, consumer) if one[0] not in self._starved]

    def pulled(self, consumer: WholeConsumer) -> tuple[int, ...]:
        """The queues that a consumer has, but for one that is set aside and not pulled to its end."""
        owned = consumer.owned()
        aside = self._aside
        return tuple(one for one in owned if one != aside or self._script.latest.get(one) == self._max(one))

    def _max(self, queue: int) -> int:
        return self.broker.state.logs[TOPIC, queue].max

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Answer a request of a client; TimeoutError and ConnectionError as for any handler."""
        script = self._script
        lone = script.lone
        if lone is None or not meets_message(lone, request, self.broker.storage):
            return self.broker.dispatcher.handle(peer, request)
        script.met += 1
        if lone.fault == LATE:
            self.broker.later(_DELAY / 1000, lambda: self._answer(peer, request))
            return None
        # an answer that is sent here comes once more
        return self._answer(peer, request) if lone.fault == TWICE else lone.answer(request)

    def _answer(self, peer: Peer, request: Command) -> Command | None:
        response = self.broker.dispatcher.handle(peer, request)
        if response is not None:
            peer.answer(request, replace(response))
        return response

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        self.broker.dispatcher.closed(peer)

    def _fail_alone(self, move: Fail) -> None:
        queue = None if move.queue == EVERY else move.queue
        topic = TOPIC if queue is not None or move.request == ROUTE else None
        self._script.lone, self._script.met = Failing(Request[move.request], move.fault, topic, queue), 0
        if move.request == PULL and move.fault == SILENT:
            self.broker.forget_held_pulls(topic, queue)
        elif move.request == PULL:
            self.broker.fail_held_pulls(topic, queue)

    def _fail(self, move: Fail) -> None:
        if move.queue is not None:
            self._fail_alone(move)
            return
        # lite pull consumers of 5.x have a request of their own
        names = [move.request, "LITE_PULL_MESSAGE"] if move.request == PULL else [move.request]

        def arm() -> None:
            for name in names:
                self.broker.faults.arm(Request[name], parse(f"slow:{_DELAY}" if move.fault == LATE else move.fault))

        for name in names:
            self._planted[Request[name]] = self.broker.arrived(Request[name])
        if move.later:
            self._script.fail_later(arm)
        else:
            arm()

    def gate(self, name: str) -> None:
        """A pull commits, too: let nothing be consumed before the next one is under way."""
        super().gate(name)
        if any(isinstance(move, Fail) and move.request == COMMIT for move in self.case.moves):
            wait_until(lambda: self._script.pulls[0] >= 2, _GATE_LIMIT, POLL_INTERVAL)

    def fails(self, name: str) -> bool:
        """Does the listener of a member fail?"""
        return name in self._failing

    def leave(self, name: str) -> None:
        """A member is shut down."""
        super().leave(name)
        # locks that the timer of one that was just shut down has taken again expire
        self._now += MAX_LIVE_TIME + 1

    # --- looks ----------------------------------------------------------------------------------------------

    def settle(self, expected: Observation) -> None:
        """Wait until the queues that were taken are pulled, and what fails has failed."""
        super().settle(expected)
        taken = {queue for _, owned, _ in expected[0] for queue in owned} - self._owned
        # an orderly consumer that has a queue waits with its first pull, and asks once more where to begin
        wait_until(
            lambda: all(self._script.pulls[queue] > self._pulled[queue] for queue in taken), _PULL_LIMIT, POLL_INTERVAL
        )
        if self._script.lone is not None:
            wanted = 1 if self._script.lone.request == Request.CONSUMER_SEND_MSG_BACK else _MET
            wait_until(lambda: self._script.met >= wanted, _MET_LIMIT, POLL_INTERVAL)
        idle = not all(owned for _, owned, _ in expected[0])
        if self._planted and (idle or Request.PULL_MESSAGE in self._planted):
            wait_until(self._met, _MET_LIMIT, POLL_INTERVAL)

    def look(self, expected: Observation) -> Observation:
        """Wait for what is expected, and return what is observed."""
        observed = super().look(expected)
        self._owned = {queue for _, owned, _ in observed[0] for queue in owned}
        self._pulled = Counter(self._script.pulls)
        return observed

    def _met(self) -> bool:
        return any(self.broker.arrived(request) >= before + _MET for request, before in self._planted.items())


def rules_of(whys: Iterable[Reason], name: str) -> Reason:
    """The rules of whole consumers among those of a case."""
    return Reason(tuple(dict.fromkeys(rule for why in whys for rule in why.rules if rule.startswith("WHOLE-"))), name)


def expected(life: WholeGroupModel, case: TableCase) -> tuple[tuple[Observation, ...], Reason]:
    """The expected result of every look, and the rules of whole consumers behind it."""
    looks, whys = life.play(case.group(life.start.store.broker), case.moves)
    return looks, rules_of(whys, str(case))


def play_cases(
    classes: JavaRelease, every: Sequence[tuple[TableCase, Mapping[str, type]]], limit: float = LOOK_LIMIT
) -> list[tuple[Observation, ...]]:
    """The observed results of every look of every case, many played at the same time.

    The mapping of a case replaces parts of its broker, and ``limit`` is how long (s) a look waits for what is expected.
    CannotRunError when a consumer does not start at all.
    """
    profile = Profile(classes.release, classes.release)
    life = WholeGroupModel(StartModel(profile, ORDINARY))

    def opened(number: int, attempt: int) -> ScriptedCase:
        case, parts = every[number]
        return ScriptedCase(classes, profile, case, f"whole-{number}-{attempt}", parts, limit)

    # what takes longest first
    order = sorted(range(len(every)), key=lambda number: -_weight(every[number][0]))
    wanted = [expected(life, case)[0] for case, _ in every]
    found = play_all(order, lambda number, attempt: opened(number, attempt).played(wanted[number]))
    return [found[number] for number in range(len(every))]


def _weight(case: TableCase) -> int:
    """The rough duration of a case: resets and corrections take ten seconds, lost answers five."""
    slow = any(isinstance(move, ResetTo | Expire | Stay) for move in case.moves)
    lost = any(isinstance(move, Fail) and (move.later or move.fault in _UNANSWERED) for move in case.moves)
    return 100 * slow + 50 * lost + len(case.moves)


def prove_cases(tally: Tally, classes: JavaRelease, every: Sequence[TableCase], limit: float = LOOK_LIMIT) -> None:
    """Play cases on one release, and compare.

    A case that differs is played once more when the others are done, and that counts: on a busy machine a client's
    timers may come so late that a look is over before them.
    """
    life = WholeGroupModel(StartModel(Profile(classes.release, classes.release), ORDINARY))
    observed = dict(zip(every, play_cases(classes, [(case, {}) for case in every], limit), strict=True))
    again = [case for case in every if observed[case] != expected(life, case)[0]]
    observed.update(zip(again, play_cases(classes, [(case, {}) for case in again], limit), strict=True))
    for case in every:
        tally.add(*expected(life, case), observed[case], case.__str__)
