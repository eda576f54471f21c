"""One case of a whole suite, played with a program for each member and judged by the traffic at their broker.

The play follows the model itself, to know for what a look may stop waiting: it ends when the traffic shows what is
expected, and has shown it for a while, or when its time is over. What it answers is what was seen, not what was
expected.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.given_in_order import GivenInOrder
from rocketmq_conformance.conformance.fakes.whole_case import Brought, runs
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.case_broker import CaseBroker, UnsupportedMoveError
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.look import Clock, Interrupted, Limits, shows
from rocketmq_conformance.conformance.targets.client_program.owned import differing
from rocketmq_conformance.conformance.targets.client_program.points import Points
from rocketmq_conformance.conformance.targets.client_program.program import Program
from rocketmq_conformance.conformance.targets.client_program.python_consumer import python_name
from rocketmq_conformance.models.client.fixtures import EVERY, FAILS, HOLDS, MEMBERS, TIMESTAMP_TEXT
from rocketmq_conformance.models.client.whole_allocation import RULE_OF
from rocketmq_conformance.models.client.whole_deadlines import FIRST_COMMIT, due
from rocketmq_conformance.models.client.whole_end import NOT_ENDED, Ended, end_of, with_end
from rocketmq_conformance.models.client.whole_moves import LATE, SILENT
from rocketmq_conformance.models.client.whole_push import Setting, WholePushState, known_end
from rocketmq_conformance.models.outcome import Err, Expected, Ok, Outcome, Unsupported, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites import (
    whole_allocation,
    whole_broadcast,
    whole_brokers,
    whole_listener,
    whole_lite,
    whole_orderly,
    whole_orderly_listener,
    whole_pause,
    whole_subscriptions,
)
from rocketmq_conformance.suites import whole_push as operations
from rocketmq_conformance.suites.declare.answer_parts import filled
from rocketmq_conformance.suites.declare.operation import Operation, OperationSpec
from rocketmq_conformance.suites.declare.suite import Suite

CLUSTERING, BROADCASTING = "CLUSTERING", "BROADCASTING"
ROUTES = Request.GET_ROUTEINFO_BY_TOPIC
#: As many programs start at a time as there are CPUs: of many at once some get no answer in time, and end.
_STARTS = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))
#: Seconds that a queue is suspended for when an orderly listener fails, and a little more.
_SUSPENSION = 1.2
_ONE_CLIENT = (
    "make one client, with {} (ROCKETMQ_INSTANCE) as its instance name, since client ids decide who gets which queue."
)
_SIGN = "sign every request to a broker with ROCKETMQ_ACCESS_KEY and ROCKETMQ_SECRET_KEY."
#: The strategies, that of every client first.
_STRATEGIES = tuple(RULE_OF)
_MISSING = 'the program does not say {{"takes": ["{}"]}} on standard output before it starts (docs/client.md)'

#: The requests without which a member that was sent elsewhere does not begin anew.
_BEGIN_ANEW = (Request.GET_CONSUMER_LIST_BY_GROUP, Request.QUERY_CONSUMER_OFFSET, Request.PULL_MESSAGE)

#: The kind of consumer that each suite asks a program for, and its message model.
KINDS = {
    operations.SUITE.name: ("push", CLUSTERING),
    whole_orderly.SUITE.name: ("orderly", CLUSTERING),
    whole_broadcast.SUITE.name: ("push", BROADCASTING),
    whole_lite.SUITE.name: ("lite", CLUSTERING),
    whole_listener.SUITE.name: ("push", CLUSTERING),
    whole_allocation.SUITE.name: ("push", CLUSTERING),
    whole_orderly_listener.SUITE.name: ("orderly", CLUSTERING),
    whole_brokers.SUITE.name: ("push", CLUSTERING),
    whole_pause.SUITE.name: ("push", CLUSTERING),
    whole_subscriptions.SUITE.name: ("push", CLUSTERING),
}
#: The suites whose answers show locks, and what listeners were given.
_SHOW_ALL = (whole_orderly.SUITE.name, whole_broadcast.SUITE.name, whole_lite.SUITE.name)
#: What a program says that it takes: commands for its listener, and a strategy other than the first.
LISTEN, STRATEGY = "listen", "strategy"
#: The operations that shut a member down.
_LEAVES = (operations.Leave, whole_listener.Leave)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long is waited, in seconds."""

    #: How much faster than standard the program's timers are.
    pace: float = 1.0
    #: By how much (s) a client may be later than its timers make it.
    margin: float = 10.0
    #: For a program's first heartbeat, and for its end after SIGTERM.
    connect: float = 60.0
    end: float = 15.0
    #: For what a step shows that has no deadlines: a correction (10 s), a round (20 s) and a commit (10 s) may follow.
    look: float = 50.0
    #: How long nothing else may be seen after that.
    quiet: float = 1.0
    #: A round of rebalance.
    round: float = 21.0
    #: How long timers may take to write offsets, and to ask for routes.
    write: float = 11.0
    routes: float = 31.0
    #: For the answer to a request, and for a round of five queues that waits for each.
    answer: float = 6.0
    answers: float = 30.0
    #: After how long a pull that failed has been sent again.
    retry: float = 4.0

    @classmethod
    def of(cls, pace: float) -> Timing:
        """Of a program whose timers are ``pace`` times faster than standard."""
        looks = cls(
            pace=pace,
            margin=5 + 5 / pace,
            look=5 + 45 / pace,
            quiet=0.5 + 0.5 / pace,
            round=0.5 + 20.5 / pace,
            write=0.5 + 10.5 / pace,
        )
        return replace(looks, routes=0.5 + 30.5 / pace, retry=0.5 + 3.5 / pace)


class PlayedGroup:
    """The members of one case at a broker of ``make`` (broadcasting?); ``interrupted`` ends every wait."""

    #: Do answers say how a member ended that was shut down?
    _shows_ends = True

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
        self._bound = suite.bind(profile)
        self._state = self._bound.initial
        self._command = command
        self._timing = timing
        self._clock = Clock(interrupted)
        self._setting = Setting()
        self._programs: dict[int, Program] = {}
        #: The members' client ids, as far as their heartbeats have shown them.
        self._ids: dict[int, str] = {}
        #: All ids that members have had.
        self._known: set[str] = set()
        #: How often members were asked for over connections without a heartbeat, before the last one joined.
        self._unnamed = 0
        self._begun = False
        self._listens = suite in (whole_listener.SUITE, whole_orderly_listener.SUITE)
        self._retries = suite is whole_listener.SUITE
        #: What listeners were given in order, where they may be given the same again.
        self._in_order = GivenInOrder() if suite is whole_orderly_listener.SUITE else None
        #: Are looks limited by the time that clients have?
        self._timed = suite is operations.SUITE
        #: When each member was first known.
        self._known_since: dict[int, float] = {}
        #: What each member's listener does, where it is not to succeed.
        self._listeners: dict[int, str] = {}
        #: Why nothing more can be played, or "".
        self._unsupported = ""
        #: The answer to whatever else is to be done, once a member is missing.
        self._lost: Err | None = None
        self._strategy = _STRATEGIES[0]
        self._shows_all = suite.name in _SHOW_ALL
        self._kind, self._model = KINDS[suite.name]
        #: The folder for the files of broadcasting members, which outlive them.
        self._store = TemporaryDirectory(prefix="rocketmq-offsets-")
        #: The messages that members said they were given since the last step, and whether any ever said so.
        self._given: list[Brought] = []
        self._says = False
        self._access = access
        #: What is to be seen of members before it means something that nothing happens.
        self._points = Points()
        self.case = make(self._model == BROADCASTING)
        self.case.guard = access.guard(profile.broker)
        self._prepare(Setting())
        if suite is whole_allocation.SUITE:
            self.case.divide(self._setting.queues)
        self.address = self._open()

    def close(self) -> None:
        """Kill the programs that still run, and close the broker."""
        for program in self._programs.values():
            program.kill()
        self._programs.clear()
        self.case.close()
        self._store.cleanup()

    def do(self, operation: Operation) -> Outcome:
        """Do one operation, and wait until the traffic shows its result. CannotRunError when a program does not
        connect, Interrupted at the end of a run. A move that the broker cannot make is unsupported, and the case goes
        on without it."""
        if self._lost:
            return self._lost
        if self._unsupported:
            return Unsupported(self._unsupported)
        before = self._state
        try:
            return self._do(operation)
        except UnsupportedMoveError as error:
            self._state = before
            return Unsupported(str(error))

    def _do(self, operation: Operation) -> Outcome:
        if self._in_order is not None:
            self._read_lines()
            self._in_order.begin_step()
        self.case.traffic.outdated = False
        before = self._state
        left_out = self._is_left_out(operation)
        expected, why = self._expect(operation)
        joined: str | None = None
        end = NOT_ENDED if isinstance(operation, _LEAVES) and self._shows_ends else None
        spent = 0.0
        match operation:
            case _ if left_out:
                pass
            case operations.Prepare():
                if not self._begun:
                    self._prepare(Setting(*operation.args))
                return Ok()
            case whole_allocation.Divide(queues, strategy):
                if not self._begun:
                    self._strategy = strategy
                    self.case.divide(queues)
                return Ok()
            case whole_allocation.Crowd(before, after):
                self.case.crowd(before, after)
            case operations.Join(member) if member not in self._programs:
                self._begun = True
                joined = self.start(member)
                self._unsupported = self._missing(self._programs[member])
                if self._unsupported:
                    return Unsupported(self._unsupported)
            case whole_listener.Leave(member) if self._listeners.get(member) == HOLDS:
                pass
            case operations.Leave(member) | whole_listener.Leave(member) if member in self._programs:
                if not self.stop(member):
                    return self._still_running()
                self._await_end(member)
                if self._shows_ends:
                    end = self._end_of(before, member)
            case operations.Crash(member) if member in self._programs:
                self._crash(member)
            case whole_broadcast.ComeBack(member, crashes) if member in self._programs:
                if crashes:
                    self._crash(member)
                elif not self.stop(member):
                    return self._still_running()
                self._await_end(member)
                self._send(EVERY)
                joined = self.start(member)
            case operations.Send(queue):
                self._send(queue)
            case operations.Resize(queues):
                self._resize(queues)
            case operations.Fail(request, fault) | operations.Interrupt(request, fault):
                self._instead(lambda: self._fail(Request[request], fault))
            case operations.Silence(request):
                self._instead(lambda: self._fail(Request[request], SILENT))
            case operations.Delay(request):
                self._instead(lambda: self.case.fail(Request[request], LATE))
            case operations.Mend():
                self._instead(self.case.mend)
            case operations.Freeze(member):
                frozen = self._programs.get(member)
                if frozen:
                    frozen.pause()
                self._send(EVERY)
                if frozen:
                    self._wait(lambda: False, self._timing.quiet)
                    frozen.resume()
            case whole_orderly.RefuseLocks(code):
                self.case.fail(Request.LOCK_BATCH_MQ, code)
            case whole_orderly.TakeLocks():
                self._take_locks()
            case whole_orderly.ExpireLocks():
                self.case.expire_locks()
            case operations.Reset(offset):
                spent = self._reset(offset)
            case whole_listener.Listen(member, listener) if member in self._programs:
                self._programs[member].send({LISTEN: listener})
                if self._in_order is not None and self._listeners.get(member) == FAILS:
                    # what failed before the command is given once more after it
                    self._wait(self._ended, _SUSPENSION)
                self._listeners[member] = listener
            case whole_listener.Deliver():
                self.case.deliver()
            case whole_listener.Refuse(refuses):
                if refuses:
                    self.case.fail(Request.CONSUMER_SEND_MSG_BACK, "SYSTEM_ERROR")
                else:
                    self.case.mend()
            case whole_lite.Seek(member, queue, offset):
                self._seek(member, queue, offset)
            case operations.Look():
                self._wait(lambda: False, self._timing.round)
            case operations.Join() | operations.Leave() | operations.Crash() | whole_broadcast.ComeBack():
                pass
            case whole_listener.Leave() | whole_listener.Listen():
                pass
            case _:
                return Unsupported(f"a program is not asked for {operation.spec.name}")
        limits = self._limits(before, operation, why)
        limits = limits._replace(owners=max(limits.owners - spent, 0.0))
        return self._look(operation.spec, expected, joined, limits, end)

    def lose(self, why: Err) -> Err:
        """A member did not connect: this is the answer to all that is done from now on."""
        self._lost = why
        return why

    def _expect(self, operation: Operation) -> tuple[Expected, Reason]:
        """Follow an operation by the model: its answer, and why."""
        self._state, expected, why = self._bound.handlers[type(operation)](self._state, *operation.args)
        self._points.begin(operation, why.rules, self.case.traffic.sent)
        return expected, why

    def _is_left_out(self, operation: Operation) -> bool:
        """Does an operation do nothing in this state?"""
        return whole_orderly_listener.is_left_out(self._state, operation)

    def _needed(self) -> str:
        """What a program must say that it takes, or ""."""
        return LISTEN if self._listens else STRATEGY if self._strategy != _STRATEGIES[0] else ""

    # --- members ----------------------------------------------------------------------------------------------

    def start(self, member: int) -> str:
        """Start a member; its client id, once it has sent a heartbeat; "" where it cannot send one."""
        name = MEMBERS[member]
        others = {self._ids[other] for other in self._programs if other in self._ids}
        beats, asked = self._sent(Request.HEART_BEAT), self._sent(ROUTES).total()
        self._unnamed = self._sent(Request.GET_CONSUMER_LIST_BY_GROUP)[""]
        # one that finds no route knows no broker that it could send a heartbeat to
        lost = self.case.fails(ROUTES)

        def known() -> list[str]:
            return [client for client in self._sent(Request.HEART_BEAT) - beats if client and client not in others]

        def began() -> bool:
            return self._sent(ROUTES).total() > asked if lost else bool(known())

        with _STARTS:
            program = self._begun_program(member, began)
            if program.code is not None and not began():
                # on a busy machine an answer may be too late for a client that starts
                program.kill()
                program = self._begun_program(member, began)
        if lost:
            self._ids.pop(member, None)
            if not began():
                reason = self._not_connected(program)
                self._programs.pop(member).kill()
                raise CannotRunError(reason)
            return ""
        found = known()
        guard = self.case.guard
        if guard.account is not None:
            self.case.settle()
        if len(found) != 1 or name not in found[0] or (guard.refused and not guard.signed):
            ids = " and ".join(sorted(found))
            reason = f"The client id of {name} is {ids}: {_ONE_CLIENT.format(name)}"
            if not found:
                reason = self._not_connected(program)
            elif len(found) == 1 and name in found[0]:
                reason = f"{self._command[0]} has signed nothing as it should ({guard.sentence}): {_SIGN}"
            # the rest of the case decides nothing, and is played without it
            self._programs.pop(member).kill()
            raise CannotRunError(reason)
        self._known_since[member] = self._clock.now()
        self._ids[member] = found[0]
        self._known.add(found[0])
        return found[0]

    def _begun_program(self, member: int, began: Callable[[], bool]) -> Program:
        """A member's program, once it has begun or ended."""
        if self._clock.is_over:
            raise Interrupted
        program = self._programs[member] = Program(self._command, self.variables(MEMBERS[member]))
        for command in self._first_commands():
            program.send(command)
        self._wait(lambda: began() or program.code is not None, self._timing.connect)
        return program

    def _first_commands(self) -> Sequence[dict[str, object]]:
        """The commands that a member is given as soon as it starts."""
        return ()

    def stop(self, member: int) -> bool:
        """Shut a member down; False when it had to be killed. One that waits for answers may take longer."""
        self._listeners.pop(member, None)
        if member in self._ids:
            self.case.traffic.to_end(self._ids[member])
        limit = self._timing.end + (self._timing.answers if self.case.keeps_waiting else 0)
        return self._programs.pop(member).stop(limit)

    def _sent(self, request: Request) -> Counter[str]:
        """How often each client sent a request, by its id."""
        sent = list(self.case.traffic.sent.items())
        return Counter({client: count for (client, code), count in sent if code == request})

    def _learn(self) -> None:
        """Learn the ids of members that could send no heartbeat at first."""
        for member in self._programs.keys() - self._ids.keys():
            for client in self._sent(Request.HEART_BEAT):
                if MEMBERS[member] in client:
                    self._ids[member] = client
                    self._known_since[member] = self._clock.now()
                    self._known.add(client)

    def _instead(self, act: Callable[[], None]) -> None:
        """Let other requests fail, or none.

        Members that the broker does not know by now come to be known at different times. Until all of them are, it
        refuses to say who they are, so that it does not depend on timing who takes what.
        """
        if self._programs and self.case.loses_members:
            self.case.fail(Request.GET_CONSUMER_LIST_BY_GROUP, "SYSTEM_ERROR")
            # who still waits for an answer closes its connection when that does not come
            self._wait(self._ended, self._timing.answer)
            self._wait(lambda: self._ended() or self._knows_all(), self._timing.routes + self._timing.look)
        act()

    def _knows_all(self) -> bool:
        """Does the broker know every member that runs?"""
        known = self.case.members()
        return all(any(MEMBERS[member] in client for client in known) for member in self._programs)

    def _missing(self, program: Program) -> str:
        """Why a program cannot play this case, or "": it takes something that the case needs, and says so.

        What it says may be read a moment after its heartbeat.
        """
        needed = self._needed()
        self._wait(lambda: not needed or needed in program.takes, self._timing.quiet)
        return "" if not needed or needed in program.takes else _MISSING.format(needed)

    def _send(self, queue: int) -> None:
        for number in self.case.seen:
            if queue in (number, EVERY):
                self.case.send(number)

    def _await_end(self, member: int) -> None:
        """Wait until the broker knows that a member is gone."""
        clients = self.case.traffic.clients
        self._wait(lambda: self._ids.get(member) not in list(clients.values()), self._timing.end)

    def _end_of(self, before: Any, member: int) -> Ended:
        """What is seen of how a member has ended, as far as that is certain."""
        if member not in self._ids:
            return NOT_ENDED
        shown = self.case.traffic.ends.shown(self._ids[member])
        return known_end(before.group, MEMBERS[member], shown) if isinstance(before, WholePushState) else shown

    def _still_running(self) -> Err:
        return Err("STILL_RUNNING", detail=f"it did not end within {self._timing.end:g} s of SIGTERM")

    def _crash(self, member: int) -> None:
        if self._model == BROADCASTING:
            # nothing shows when a timer has written a file
            self._wait(self._ended, self._timing.write)
        self._listeners.pop(member, None)
        self._programs.pop(member).kill()

    def variables(self, name: str) -> dict[str, str]:
        """The environment of a member."""
        return {
            "ROCKETMQ_NAME_SERVER": self.address,
            "ROCKETMQ_GROUP": self.case.group,
            "ROCKETMQ_TOPIC": self.case.topic,
            "ROCKETMQ_INSTANCE": name,
            "ROCKETMQ_KIND": self._kind,
            "ROCKETMQ_MODEL": self._model,
            "ROCKETMQ_OFFSETS": self._store.name,
            "ROCKETMQ_STRATEGY": self._strategy,
            "ROCKETMQ_CONSUME_FROM": self._setting.where,
            "ROCKETMQ_CONSUME_TIMESTAMP": TIMESTAMP_TEXT,
            "TZ": "UTC",
            **self._access.variables,
        }

    def _not_connected(self, program: Program) -> str:
        name = python_name(self._command) or self._command[0]
        connected = " It connected, but sent no heartbeat." if self.case.traffic.sent else ""
        connected = f" {self.case.guard.handshake}" if self.case.guard.handshake else connected
        words = f" Its last line on standard error: {program.last_words}" if program.last_words else ""
        code = program.code
        if code is not None:
            end = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            return f"{name} {end} before its first heartbeat.{connected}{words}"
        return (
            f"{name} sent no heartbeat within {self._timing.connect:g} s: let it start a consumer of "
            f"the name server in ROCKETMQ_NAME_SERVER.{connected}{words}"
        )

    def _take_locks(self) -> None:
        """Wait until the members know that their locks are lost, and end their pulls."""
        lost = self.case.pullers()
        self.case.take_locks()
        self._wait(lambda: self._ended() or lost <= self.case.traffic.refused, self._timing.look)
        self.case.fail_held_pulls()

    def _fail(self, request: Request, fault: str) -> None:
        """Let a request fail, and others no more.

        While commits failed, a member that was sent elsewhere was sent there again and again. Whether it is about to
        store that place, or to begin anew, depends on timing; so its commits are lost until it has begun.
        """
        waiting = self.case.traffic.waiting
        sent_away = request in _BEGIN_ANEW and not all(waiting(queue) for queue in range(self.case.queues))
        self.case.loses_commits = sent_away and bool(self._programs) and self.case.fails(Request.UPDATE_CONSUMER_OFFSET)
        self.case.fail(request, fault)
        if self.case.loses_commits:
            self._wait(self._ended, self._timing.write + self._timing.round)
            self.case.loses_commits = False

    def _reset(self, offset: int) -> float:
        """Wait until the queue is pulled anew, or until it was not for as long as clients sleep before they reset; how
        long (s) that took."""
        began, before = self._clock.now(), self.case.latest_pull(0)
        waits = any(queue == 0 for _, queue in self.case.pullers()) and self._kind != "lite"
        self.case.reset(offset)
        limit = self._timing.look if waits else self._timing.write
        self._wait(lambda: self._ended() or self.case.latest_pull(0) is not before, limit)
        return self._clock.now() - began

    def _resize(self, queues: int) -> None:
        """Wait until every member has learned the route, and has had a round of rebalance since."""
        if queues != self.case.queues:
            self.case.resize(queues)
            self._asked_routes()
            self._asked_members()

    def _asked_routes(self) -> None:
        """Wait until every member has asked for the route of the topic: of two, one is of the retry topic."""
        routes = self.case.traffic.routes
        wanted = {number: count + 2 for number, count in list(routes.items())}

        def asked() -> bool:
            # a client that opens a connection each time is given all the time
            return len(wanted) >= len(self._programs) and all(
                routes.get(number, 0) >= count for number, count in wanted.items()
            )

        self._wait(lambda: self._ended() or asked(), self._timing.routes)

    def _asked_members(self) -> None:
        """Wait until every member has asked for the members: of two, one is for the retry topic."""
        clients = [self._ids[member] for member in self._programs if member in self._ids]
        before = self._sent(Request.GET_CONSUMER_LIST_BY_GROUP)

        def asked() -> bool:
            now = self._sent(Request.GET_CONSUMER_LIST_BY_GROUP)
            return all(now[client] >= before[client] + 2 for client in clients)

        self._wait(lambda: self._ended() or asked(), 2 * self._timing.round)

    def _end_pulls(self, end: Callable[[], None], pulls: Callable[[], bool]) -> None:
        """End pulls that the broker holds, until there are none: members may not have read a command yet."""
        for _ in range(max(1, int(self._timing.look / self._timing.retry))):
            self._wait(self._ended, self._timing.quiet)
            end()
            self._wait(lambda: self._ended() or pulls(), self._timing.retry)
            if not pulls():
                return

    def _seek(self, member: int, queue: int, offset: int) -> None:
        """Wait until the queue is pulled anew, or until it was not for a while."""
        program, before = self._programs.get(member), self.case.latest_pull(queue)
        if program is not None:
            program.send({"seek": [self.case.topic, queue, offset]})
            moves = self.case.offers(queue, offset) and (self._ids[member], queue) in self.case.pullers()
            limit = self._timing.look if moves else self._timing.quiet
            self._wait(lambda: self._ended() or self.case.latest_pull(queue) is not before, limit)

    # --- looks ------------------------------------------------------------------------------------------------

    def _look(
        self, spec: OperationSpec, expected: Expected, joined: str | None, limits: Limits, end: Ended | None
    ) -> Outcome:
        brought: list[Brought] = []
        self._given.clear()
        # nothing is to be waited for in what a member has shown that has ended
        known = end_of(expected) if end else None

        def agrees() -> bool:
            return filled(spec, expected, self._observed(brought, known))[0] == expected

        def owners() -> bool:
            seen = self._observed(brought, known)
            return isinstance(seen, tuple) and isinstance(expected, tuple) and seen[:2] == expected[:2]

        shown = shows(
            self._clock,
            limits,
            owners,
            lambda: agrees() and self._reached(joined) and not self._unseen(),
            lambda: self._ended() or self.case.guard.refused,
            lambda: self.case.traffic.outdated,
        )
        ended = self._ended()
        if ended:
            return Err("ENDED", detail=ended)
        refused = self.case.guard.sentence
        if refused:
            return Err("NOT_SIGNED", detail=f"{refused}: {_SIGN}")
        self._refuse_strangers()
        if agrees() and not shown:
            detail = self._unseen() or f"{joined} neither asked for the members nor pulled"
            return Err("NOT_REACHED", definite=False, detail=detail)
        return Ok(self._observed(brought, end))

    def _limits(self, before: WholePushState, operation: Operation, why: Reason) -> Limits:
        """How long the look after an operation waits, by the time that clients have for what it leads to."""
        timing = self._timing
        if not self._timed:
            # up to 4.9.7 and 5.1.4 a broadcasting member is corrected twice before its file has the offset; up to 5.1.4
            # a listener that returns is followed by a round, 20 s until the lock is given back, and a round of the next
            # owner
            limit = timing.look * (2 if self._model == BROADCASTING or self._in_order is not None else 1)
            # a correction and another round may follow
            limit += timing.look if isinstance(operation, operations.Reset) else 0
            return Limits(limit, limit, timing.quiet)
        group = self._state.group
        promised = due(before.group.fails, group.fails, group.late, why.rules)
        margin = timing.margin * (2 if isinstance(operation, operations.Join) else 1)
        if isinstance(operation, operations.Join) and not self.case.queues:
            # clients may ask who is there once they have asked for the route again
            margin += timing.routes
        youngest = max((self._known_since.get(member, 0.0) for member in self._programs), default=0.0)
        first = max(0.0, youngest + FIRST_COMMIT / timing.pace - self._clock.now())
        return Limits(
            promised.owners / timing.pace + margin,
            promised.stored / timing.pace + first + margin,
            timing.quiet,
            timing.routes,
        )

    def _refuse_strangers(self) -> None:
        """CannotRunError when a member has made another client since it counted as started."""
        self._learn()
        strangers = {client for client in list(self.case.traffic.clients.values()) if client} - self._known
        if strangers:
            ids = " and ".join(sorted(strangers))
            one = _ONE_CLIENT.format("the name of the member")
            raise CannotRunError(f"{ids} is another client than a member made at first: {one}")

    def _reached(self, joined: str | None) -> bool:
        """Has a member that joined got so far as to ask who else is there, or when broadcasting to pull?

        Where nothing is to happen, that is how it is known that something could have.
        """
        if self._model == BROADCASTING:
            return joined is None or self.case.traffic.has_sent(joined, Request.PULL_MESSAGE)
        asked = self._sent(Request.GET_CONSUMER_LIST_BY_GROUP)
        # over a connection that was opened again no heartbeat may have come yet, nor any before there is a route
        return not joined or asked[joined] > 0 or asked[""] > self._unnamed

    def _unseen(self) -> str:
        """What members have not been seen to do that they would do before something could happen, or ""."""
        known = [self._ids[member] for member in self._programs if member in self._ids]
        return self._points.unseen(known, self.case.traffic.sent)

    def _observed(self, brought: list[Brought], end: Ended | None) -> Value:
        seen = self._shown(brought)
        return seen if end is None else with_end(seen, end)

    def _shown(self, brought: list[Brought]) -> Value:
        brought += self.case.take_brought()
        self._learn()
        running = {self._ids[member]: member for member in self._programs if member in self._ids}
        seen = self.case.observed(running, brought)
        if self._retries:
            return (*seen, self.case.retry_queue(running))
        if not self._shows_all and self._in_order is None:
            return seen
        locks = self.case.locks({client: member for member, client in self._ids.items()})
        if self._in_order is None:
            return (*seen, locks, self._listened(brought))
        self._read_lines()
        return (*seen, locks, *self._in_order.shown(seen[0], self._says or not brought))

    def _read_lines(self) -> None:
        """Read what members that run said they were given."""
        for member, program in self._programs.items():
            while program.got:
                topic, queue, offset = program.got.popleft()
                if topic == self.case.topic:
                    self._says = True
                    self._given.append((MEMBERS[member], queue, offset, 1))
                    if self._in_order is not None:
                        self._in_order.add(member, queue, offset)

    def _listened(self, brought: Sequence[Brought]) -> Value:
        """What listeners were given in this step, in their order; None when members do not say such things."""
        self._read_lines()
        if brought and not self._says:
            return None
        # concurrent listeners run beside one another
        given = self._given if self._kind == "orderly" else sorted(self._given)
        return tuple(sorted(((MEMBERS.index(one[0]), *one[1:]) for one in runs(given)), key=lambda one: one[:2]))

    def owned_otherwise(self, seen: Value) -> str:
        """How what members say they have differs from what they should have, for as long as a look takes, or "".
        ``seen`` is the answer of the step."""
        if not isinstance(seen, tuple) or not isinstance(seen[0], tuple):
            return ""
        pulled = seen[0]

        def differs() -> str:
            running = {MEMBERS[member]: program.owned for member, program in self._programs.items()}
            said = {name: queues for name, queues in running.items() if queues is not None}
            return differing(self._state, self.case.topic, pulled, said)

        self._wait(lambda: self._ended() or not differs(), self._timing.look)
        return differs()

    def wrong_line(self) -> str:
        """A sentence on a line of a member that runs which has not the shape it should have, or ""."""
        wrong = ((MEMBERS[member], program.wrong_line) for member, program in self._programs.items())
        return next((f"{name}: {sentence}" for name, sentence in wrong if sentence), "")

    def _ended(self) -> str:
        """What is to be said of a program that ended by itself, or ""."""
        for member, program in self._programs.items():
            if program.code is not None:
                return f"{MEMBERS[member]} ended by itself with exit code {program.code}. {program.last_words}".strip()
        return ""

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
        # the pull of a queue that its member has let go of may still wait, and what it brings is not consumed
        self.case.traffic.confirmed = self._in_order is not None
