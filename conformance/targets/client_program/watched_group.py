"""What is seen of one case with whole consumers, by the traffic at their broker.

A look waits for what the model expects: it ends when the traffic shows that, and has shown it for a while, or when its
time is over. What it answers is what was seen, not what was expected.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from rocketmq_conformance.conformance.fakes.given_in_order import GivenInOrder
from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.traffic import Brought, Traffic, runs
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.case_broker import CaseBroker, Watched
from rocketmq_conformance.conformance.targets.client_program.claimed_queues import wrong_claim
from rocketmq_conformance.conformance.targets.client_program.file_ids import FileIds
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.members import SIGN, MemberPrograms
from rocketmq_conformance.conformance.targets.client_program.points import Points
from rocketmq_conformance.conformance.targets.client_program.required_consumers import (
    BROADCASTING,
    LISTEN,
    REQUIRED_CONSUMERS,
)
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Clock, Limits, wait_for_traffic
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.member_settings import TIMESTAMP_TEXT
from rocketmq_conformance.models.client.plan_words import HOLDS, NOTHING
from rocketmq_conformance.models.client.whole import BROADCAST, ORDERLY
from rocketmq_conformance.models.client.whole_allocation import RULE_OF
from rocketmq_conformance.models.client.whole_deadlines import (
    AT_ONCE,
    COMMITS,
    FIRST_COMMIT,
    POLLED_COMMITS,
    due,
    waits_of,
)
from rocketmq_conformance.models.client.whole_end import Ended, end_of, with_end
from rocketmq_conformance.models.client.whole_moves import RETRIES
from rocketmq_conformance.models.client.whole_push import NO_OWNER, Setting
from rocketmq_conformance.models.outcome import Err, Expected, Ok, Outcome, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites import (
    whole_allocation,
    whole_assign,
    whole_broadcast,
    whole_broadcast_listener,
    whole_clusters,
    whole_commit,
    whole_files,
    whole_groups,
    whole_listener,
    whole_lite,
    whole_orderly,
    whole_orderly_listener,
)
from rocketmq_conformance.suites import whole_push as operations
from rocketmq_conformance.suites.declare.answer_parts import filled
from rocketmq_conformance.suites.declare.operation import Operation, OperationSpec
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: What is to be said of a step that clients with standard timers may show as late as it was seen.
_LATE = "it was seen in the time that standard timers have, and too late at this pace"
#: The place of a queue that nobody pulls.
_NOBODY = (NO_OWNER, NOTHING)
#: The strategies, that of every client first.
STRATEGIES = tuple(RULE_OF)
#: The suites whose answers show locks, and what listeners were given.
_SHOW_ALL = tuple(
    one.SUITE.name for one in (whole_orderly, whole_broadcast, whole_files, whole_lite, whole_commit, whole_assign)
)
#: How long (s) offsets take to be stored, where that is not the time of a timer.
_STORED_AFTER = {
    whole_lite.SUITE.name: POLLED_COMMITS,
    whole_assign.SUITE.name: POLLED_COMMITS,
    whole_commit.SUITE.name: AT_ONCE,
    whole_broadcast.SUITE.name: AT_ONCE,
    whole_broadcast_listener.SUITE.name: AT_ONCE,
    whole_files.SUITE.name: AT_ONCE,
}
#: The operations that start a consumer.
_STARTS = (operations.Join, whole_broadcast.ComeBack, whole_files.ComeBack, whole_clusters.Also, whole_groups.Also)


class _Followed(NamedTuple):
    """A step as the model has it: the state before it, the client ids that were known, the state after it, the answer,
    and why."""

    operation: Operation
    before: Any
    ids: tuple[str, ...]
    after: Any
    expected: Expected
    why: Reason


class WatchedGroup:
    """The members of one case at a broker of ``make`` (broadcasting?); ``interrupted`` ends every wait."""

    def __init__(
        self,
        suite: Suite,
        profile: Profile,
        command: Sequence[str],
        timing: Timing,
        interrupted: threading.Event,
        make: Callable[[bool], CaseBroker],
        access: GivenAccess,
    ) -> None:
        self.suite = suite
        self._bound, self._mended = suite.bind(profile), suite.bind(profile.mended())
        self._state = self._bound.initial
        self._timing = timing
        self._clock = Clock(interrupted)
        self._setting = Setting()
        self._begun = False
        #: The consumer that its programs are to be, and a command that they need.
        self.consumer, self._needs = REQUIRED_CONSUMERS[suite.name]
        self._listens = self._needs == LISTEN
        self._retries = suite is whole_listener.SUITE
        #: What listeners were given in order, where they may be given the same again.
        self._in_order = GivenInOrder() if suite is whole_orderly_listener.SUITE else None
        #: What each member's listener does, where it is not to succeed.
        self._listeners: dict[int, str] = {}
        #: Why nothing more can be played, or "".
        self._unsupported = ""
        #: Over how many connections routes had been asked for before the step.
        self._asked_over = 0
        #: The answer to whatever else is to be done, once a member is missing.
        self._failure: Err | None = None
        self._strategy = STRATEGIES[0]
        self._shows_all = suite.name in _SHOW_ALL
        self._broadcasts = self.consumer.model == BROADCASTING
        kind = BROADCAST if self._broadcasts else self.consumer.kind
        #: What rules add to what is due at once (s).
        self._waits = waits_of(kind, ClientRules.of(profile), self._listens)
        #: Would the answer to a pull that is held undo a reset? That of an orderly consumer which sleeps, and has the
        #: queue again when it comes, and waits for its lock.
        self._undoes_resets = kind == ORDERLY and not ClientRules.of(profile).resets_at_once
        #: The folder for the files of broadcasting members, which outlive them.
        self._store = TemporaryDirectory(prefix="rocketmq-offsets-")
        self._file_ids = FileIds(Path(self._store.name))
        #: The messages that members said they were given since the last step, and in all; and whether any ever said so,
        #: in whichever case.
        self._given: list[Brought] = []
        self._given_said = SaidMessages()
        self.says = False
        self._access = access
        #: What is to be seen of members before it means something that nothing happens.
        self._points = Points()
        self.case = make(self._broadcasts)
        self.case.listeners_fail = self._listens and not self._broadcasts
        self.case.guard = access.guard(profile.broker)
        self.members = MemberPrograms(command, timing, self._clock, self.case)
        self._prepare(Setting())
        if suite is whole_allocation.SUITE:
            self.case.divide(self._setting.queues)
        self.address = self._open()

    def close(self) -> None:
        """Kill the programs that still run, and close the broker."""
        self.members.close()
        self.case.close()
        self._store.cleanup()

    def _expect(self, operation: Operation) -> tuple[Expected, Reason]:
        """Follow an operation by the model: its answer, and why."""
        for traffic in self._traffic():
            traffic.outdated = False
        self._asked_over = self._askers()
        self._adopt(self._follow(self._bound, operation, self._state))
        self._points.begin(operation, self._followed.why.rules, self.case.traffic.sent)
        return self._followed.expected, self._followed.why

    def _decided(self) -> tuple[Expected, Reason]:
        """The same for the step that is under way, by the client ids that members have shown by now."""
        followed = self._followed
        if followed.ids != self.seen_ids():
            self._adopt(self._follow(self._bound, followed.operation, followed.before))
        return self._followed.expected, self._followed.why

    def _follow_without(self, seen: Value) -> None:
        """Follow a client without an accident of Java once queues are where such a client has them."""
        if self._followed.why.quirk is True and isinstance(seen, tuple):
            mended = self._follow(self._mended, self._followed.operation, self._followed.before)
            if _is_nearer(seen, mended.expected, self._followed.expected):
                self._bound = self._mended
                self._adopt(mended)

    def _adopt(self, followed: _Followed) -> None:
        self._followed, self._state = followed, followed.after
        self._points.rules = frozenset(followed.why.rules)

    def _follow(self, bound: BoundModel, operation: Operation, before: Any) -> _Followed:
        ids = self.seen_ids()
        state = bound.learn(before, ids) if bound.learn else before
        return _Followed(operation, before, ids, *bound.handlers[type(operation)](state, *operation.args))

    def seen_ids(self) -> tuple[str, ...]:
        """The client ids of members, as far as they were seen; of broadcasting ones those by which their files go."""
        ids = self.members.seen_ids()
        return self._file_ids.of(ids) if self._broadcasts else ids

    def variables(self, name: str) -> dict[str, str]:
        """The environment of a member."""
        return {
            "ROCKETMQ_NAME_SERVER": self.address,
            "ROCKETMQ_GROUP": self.case.group,
            "ROCKETMQ_TOPIC": self.case.topic,
            "ROCKETMQ_INSTANCE": name,
            "ROCKETMQ_KIND": self.consumer.kind,
            "ROCKETMQ_MODEL": self.consumer.model,
            "ROCKETMQ_OFFSETS": self._store.name,
            "ROCKETMQ_STRATEGY": self._strategy,
            "ROCKETMQ_COMMIT": self.consumer.commit,
            "ROCKETMQ_QUEUES": self.consumer.queues,
            "ROCKETMQ_CONSUME_FROM": self._setting.where,
            "ROCKETMQ_CONSUME_TIMESTAMP": TIMESTAMP_TEXT,
            "ROCKETMQ_PACE": f"{self._timing.program_pace:g}",
            "TZ": "UTC",
            **self._access.variables,
        }

    def _look(self, spec: OperationSpec, joined: str | None, limits: Limits, end: Ended | None) -> Outcome:
        brought: list[Brought] = []
        self._given.clear()
        self._given_said.begin_step()
        # nothing is to be waited for in what a member has shown that has ended
        known = end_of(self._decided()[0]) if end else None

        #: What was seen last, and when pulls were answered that it shows and that are not expected.
        seen, renewed = self._shown(brought), self._clock.monotonic()
        began = renewed

        def agrees() -> bool:
            expected = self._decided()[0]
            return filled(spec, expected, _ended(seen, known))[0] == expected

        def owners() -> bool:
            nonlocal seen
            seen = self._shown(brought)
            self._follow_without(seen)
            expected = self._decided()[0]
            return isinstance(seen, tuple) and isinstance(expected, tuple) and _same(expected[:2], seen[:2])

        def everything() -> bool:
            nonlocal renewed
            if owners():
                # what is wrong with a commit shows before a later one
                committed = self._clock.monotonic() > max(began + COMMITS / self._timing.pace, self._first_commits())
                busy = {queue for _, queue, _, _ in brought}.union(() if committed else self._behind(seen))
                seen_all = self._settles(busy) and agrees() and self._reached(joined) and not self._unseen()
                return seen_all and not self._points.unshown(self.case.traffic.sent)
            if self._clock.monotonic() - renewed > self._timing.quiet:
                renewed = self._clock.monotonic()
                self._renew_pulls(seen)
            return False

        def look(limits: Limits) -> bool:
            return wait_for_traffic(
                self._clock,
                limits,
                owners,
                everything,
                lambda: self.members.ended() or self.case.guard.refused,
                lambda: self._later(joined, limits),
            )

        shown = look(limits)
        if not (shown or owners()) and self._renew_pulls(seen):
            # the last of them may have come while a queue was about to change hands
            left = limits.everything - limits.owners
            shown = look(limits._replace(owners=self._timing.retry, everything=self._timing.retry + left))
        in_time = shown or (owners() and agrees())
        left = limits.standard - (self._clock.monotonic() - began)
        late = not in_time and left > 0 and look(Limits(left, left, limits.quiet))
        ended = self.members.ended()
        if ended:
            return Err("ENDED", detail=ended)
        refused = self.case.guard.sentence
        if refused:
            return Err("NOT_SIGNED", detail=f"{refused}: {SIGN}")
        self.members.refuse_strangers()
        if late:
            return Err("LATE", definite=False, detail=f"{_LATE}, after {self._clock.monotonic() - began:.0f} s")
        if not shown and owners() and agrees():
            unseen = self._unseen() or ("" if self._reached(joined) else f"{joined} neither asked nor pulled")
            if unseen:
                return Err("NOT_REACHED", definite=False, detail=unseen)
        return Ok(_ended(seen, end), unshown=self._unshown(limits))

    def _later(self, joined: str | None, limits: Limits) -> float:
        """By how many seconds members may be later, as they wait for a timer: one whose subscription is outdated for
        its next heartbeat, and one that joined and lost the connection over which it asked for the route, for the next
        one of these, and a round."""
        if joined and self._askers() > self._asked_over + 1:
            return self._timing.routes + self._timing.round
        return limits.heartbeat if any(traffic.outdated for traffic in self._traffic()) else 0.0

    def _askers(self) -> int:
        """Over how many connections routes were asked for."""
        return sum(len(traffic.askers) for traffic in self._traffic())

    def _unshown(self, limits: Limits) -> frozenset[str]:
        """The rules of the step that would not have shown if they had been broken: nothing was sent that they are
        about, or a timer does the same no later than a look waits for it."""
        timing = self._timing
        timers = {"REB-SVC-WAKE": timing.next_round, "REB-SUB-BEAT": timing.routes - timing.quiet}
        anyway = {rule for rule, seconds in timers.items() if seconds <= limits.owners} | timing.too_quick_for().keys()
        return (self._points.unshown(self.case.traffic.sent) | anyway) & self._points.rules

    def _limits(self, before: Any, operation: Operation, why: Reason) -> Limits:
        """How long the look after an operation waits, by the time that clients have for what it leads to."""
        timing = self._timing
        failed, fails, late = {}, {}, ""
        if not self._broadcasts:
            group = self._state.group
            failed, fails, late = before.group.fails, group.fails, group.late
        # a reason may name nothing but what was given once members had the locks
        rules = {*why.rules, "REB-LOCK-3"} if isinstance(operation, whole_orderly.ExpireLocks) else why.rules
        promised = due(failed, fails, late, rules, _STORED_AFTER.get(self.suite.name, COMMITS), self._waits)
        starts = 2 if isinstance(operation, _STARTS) else 1
        margin = paced = timing.margin * starts
        if isinstance(operation, operations.Join) and not self.case.queues:
            # clients may ask who is there once they have asked for the route again
            margin += timing.routes
        first = self._first_commits() - self._clock.monotonic()
        later = max(0.0, first + FIRST_COMMIT * (1 - 1 / timing.pace))
        standard = promised.stored + later + margin - paced + timing.standard_margin * starts
        return Limits(
            promised.owners / timing.pace + margin,
            promised.stored / timing.pace + max(0.0, first) + margin,
            timing.quiet,
            timing.routes,
            standard if timing.standard_margin else 0.0,
        )

    def _brokers(self) -> Sequence[tuple[Watched, Mapping[int, int]]]:
        """The brokers of the case that are there, or what is watched by itself, each with the numbers by which answers
        show its queues."""
        return [(self.case, {queue: queue for queue in (*self.case.seen, *((RETRIES,) if self._retries else ()))})]

    def _traffic(self) -> Sequence[Traffic]:
        """The traffic at each of them."""
        return [broker.traffic for broker, _ in self._brokers()]

    def _first_commits(self) -> float:
        """When the timers of all members that run have committed for the first time, by the clock."""
        known = [self.members.known_since.get(member, 0.0) for member in self.members.programs]
        return max(known, default=0.0) + FIRST_COMMIT / self._timing.pace

    def _behind(self, seen: Value) -> set[int]:
        """The queues of the topic whose stored offsets are not seen yet that are expected."""
        expected = self._decided()[0]
        assert isinstance(expected, tuple)
        assert isinstance(seen, tuple)
        assert isinstance(expected[2], tuple)
        assert isinstance(seen[2], tuple)
        stored = zip(self._places(), expected[2], seen[2], strict=False)
        return {number for number, wanted, offset in stored if wanted != offset}

    def _settles(self, busy: Collection[int]) -> bool:
        """Did members find nothing in every queue that they wait in, but the busy ones? Where that was not seen their
        pulls are answered, so that clients commit the offset that they wait for (PULL-NON-1)."""
        settled = True
        for broker, numbers in self._brokers():
            idle = {queue for queue, number in numbers.items() if number not in busy}
            settled = settled and idle.isdisjoint(broker.traffic.unsettled())
            broker.end_pulls(idle, first=True)
        return settled

    def _renew_pulls(self, seen: Value) -> bool:
        """Answer the pulls of queues that others should have: who has let go of a queue does not pull it again. Are
        there any?"""
        wanted, places = (one[0] if isinstance(one, tuple) else () for one in (self._decided()[0], seen))
        assert isinstance(wanted, tuple)
        assert isinstance(places, tuple)
        pairs = zip(self._places(), wanted, places, strict=False)
        others = {number for number, owner, place in pairs if place not in (owner, _NOBODY, ())}
        for broker, numbers in self._brokers():
            broker.end_pulls({queue for queue, number in numbers.items() if number in others})
        return bool(others)

    def _places(self) -> Sequence[int]:
        """The numbers of the queues whose places answers show, in their order."""
        return self.case.seen

    def _reached(self, joined: str | None) -> bool:
        """Has a member that joined got so far as to ask who else is there, or when broadcasting to pull?

        Where nothing is to happen, that is how it is known that something could have.
        """
        if self._broadcasts:
            return joined is None or self.case.traffic.has_sent(joined, Request.PULL_MESSAGE)
        asked = self.members.sent(Request.GET_CONSUMER_LIST_BY_GROUP)
        # over a connection that was opened again no heartbeat may have come yet, nor any before there is a route
        return not joined or asked[joined] > 0 or asked[""] > self.members.unnamed

    def _unseen(self) -> str:
        """What members have not been seen to do that they would do before something could happen, or ""."""
        known = self.members.clients()
        return self._points.unseen(known, self.case.traffic.sent)

    def _shown(self, brought: list[Brought]) -> Value:
        self._collect(brought)
        self.members.learn()
        running = self.members.numbers()
        if not self._shows_all and self._in_order is None:
            seen = self.case.observed(running, self.case.given(brought, self._heard(), self._open_to(running)))
            return (*seen, self.case.retry_queue(running)) if self._retries else seen
        seen = self.case.observed(running, brought)
        locks = self.case.locks({client: member for member, client in self.members.ids.items()})
        if self._in_order is None:
            return (*seen, locks, self._listened(brought))
        self._read_lines()
        return (*seen, locks, *self._in_order.shown(seen[0], self.says or not brought))

    def _collect(self, brought: list[Brought]) -> None:
        """Add what pulls have brought by now to what they brought in this step."""
        brought += self.case.take_brought()

    def _open_to(self, running: Mapping[str, int]) -> Container[str | tuple[str, int]]:
        """The clients, or queues of them, that need not say that they were given something: what a listener holds may
        wait for a thread, or never be given."""
        return {client for client, member in running.items() if self._listeners.get(member) == HOLDS}

    def _heard(self) -> SaidMessages | None:
        """What members said that they were given; None when they do not say such things."""
        self._read_lines()
        return self._given_said if self.says else None

    def _read_lines(self) -> None:
        """Read what members that run said they were given."""
        for member, client in self.members.ids.items():
            program = self.members.programs.get(member)
            while program is not None and program.got:
                topic, queue, offset = program.got.popleft()
                number = self._numbered(topic, queue)
                if number is None:
                    continue
                self.says = True
                self._given_said.add(client, number, offset)
                if topic == self.case.topic:
                    self._given.append((ORDINARY.members[member], queue, offset, 1))
                    if self._in_order is not None:
                        self._in_order.add(member, queue, offset)

    def _numbered(self, topic: str, queue: int) -> int | None:
        """How a queue of the case is known that members name; None of any other queue."""
        return queue if topic in (self.case.topic, f"{RETRY}{self.case.group}") else None

    def _listened(self, brought: Sequence[Brought]) -> Value:
        """What listeners were given in this step, in their order; None when members do not say such things."""
        self._read_lines()
        if brought and not self.says:
            return None
        # concurrent listeners run beside one another
        given = self._given if self.consumer.kind == "orderly" else sorted(self._given)
        return tuple(
            sorted(((ORDINARY.members.index(one[0]), *one[1:]) for one in runs(given)), key=lambda one: one[:2])
        )

    def owned_otherwise(self, seen: Value) -> Err | None:
        """How what members say they have differs from what they should have, for as long as a look takes; it decides
        nothing where it does not for as long as one takes of clients whose timers are standard. ``seen`` is the answer
        of the step."""
        if not isinstance(seen, tuple) or not isinstance(seen[0], tuple):
            return None
        pulled = seen[0]

        def differs() -> str:
            running = {ORDINARY.members[member]: program.owned for member, program in self.members.programs.items()}
            said = {name: queues for name, queues in running.items() if queues is not None}
            return wrong_claim(self._state, self.case.topic, pulled, said)

        self._wait(lambda: self.members.ended() or not differs(), self._timing.look)
        if not differs():
            return None
        if self._timing.standard_margin:
            self._wait(lambda: self.members.ended() or not differs(), Timing().look - self._timing.look)
        otherwise = differs()
        return Err("OWNS_OTHERWISE", detail=otherwise) if otherwise else Err("LATE", definite=False, detail=_LATE)

    def _wait(self, done: Callable[[], object], limit: float) -> None:
        self._clock.wait(done, limit)

    def _open(self) -> str:
        """Open the door of the broker; its address."""
        return self.case.open()

    def _prepare(self, setting: Setting) -> None:
        self.case.prepare(*setting)
        self._setting = setting
        if self._retries:
            self.case.add_retry_topic()


def _same(expected: Expected, seen: Value) -> bool:
    """Are the parts that are seen as they are expected? None: it is not said."""
    assert isinstance(expected, tuple)
    assert isinstance(seen, tuple)
    return all(shown is None or wanted == shown for wanted, shown in zip(expected, seen, strict=True))


def _is_nearer(seen: tuple[Value, ...], mended: Expected, followed: Expected) -> bool:
    """Does the first part in which two answers differ show the first of them?"""
    assert isinstance(mended, tuple)
    assert isinstance(followed, tuple)
    parts = zip(seen, mended, followed, strict=False)
    return next((shown == wanted for shown, wanted, other in parts if wanted != other), False)


def _ended(seen: Value, end: Ended | None) -> Value:
    """What is seen of a group, and of the end of the member that was to end."""
    return seen if end is None else with_end(seen, end)
