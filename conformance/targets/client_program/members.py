"""The members of one case: a program each, which is known by its client id once it has sent a heartbeat."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.case_broker import CaseBroker
from rocketmq_conformance.conformance.targets.client_program.program import Program
from rocketmq_conformance.conformance.targets.client_program.python_consumer import python_name
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Clock, Interrupted
from rocketmq_conformance.models.client.fixtures import MEMBERS

_ROUTES = Request.GET_ROUTEINFO_BY_TOPIC
#: As many programs start at a time as there are CPUs: of many at once some get no answer in time, and end.
_STARTS = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))
_ONE_CLIENT = (
    "make one client, with {} (ROCKETMQ_INSTANCE) as its instance name, since client ids decide who gets which queue."
)
#: What a program has to do whose requests are refused.
SIGN = "sign every request to a broker with ROCKETMQ_ACCESS_KEY and ROCKETMQ_SECRET_KEY."


class MemberPrograms:
    """The programs of a case's members at its broker, by the members' numbers; ``command`` starts one."""

    def __init__(self, command: Sequence[str], timing: Timing, clock: Clock, case: CaseBroker) -> None:
        self._command = command
        self._timing, self._clock = timing, clock
        self._case = case
        #: Those that run.
        self.programs: dict[int, Program] = {}
        #: The members' client ids, as far as their heartbeats have shown them.
        self.ids: dict[int, str] = {}
        #: All ids that members have had.
        self._known: set[str] = set()
        #: How often members were asked for over connections without a heartbeat, before the last one joined.
        self.unnamed = 0
        #: When each member was first known.
        self.known_since: dict[int, float] = {}

    def close(self) -> None:
        """Kill the programs that still run."""
        for program in self.programs.values():
            program.kill()
        self.programs.clear()

    def clients(self) -> list[str]:
        """The client ids of those that run, as far as they are known."""
        return [self.ids[member] for member in self.programs if member in self.ids]

    def numbers(self) -> dict[str, int]:
        """The numbers of those that run, by client id."""
        return {self.ids[member]: member for member in self.programs if member in self.ids}

    def start(self, member: int, variables: Mapping[str, str], commands: Sequence[Mapping[str, object]] = ()) -> str:
        """Start a member in this environment, and give it commands at once; its client id, once it has sent a
        heartbeat; "" where it cannot send one, or says that it cannot be this consumer."""
        name = MEMBERS[member]
        others = {self.ids[other] for other in self.programs if other in self.ids}
        beats, asked = self.sent(Request.HEART_BEAT), self.sent(_ROUTES).total()
        self.unnamed = self.sent(Request.GET_CONSUMER_LIST_BY_GROUP)[""]
        # one that finds no route knows no broker that it could send a heartbeat to
        lost = self._case.fails(_ROUTES)

        def known() -> list[str]:
            return [client for client in self.sent(Request.HEART_BEAT) - beats if client and client not in others]

        def began() -> bool:
            return self.sent(_ROUTES).total() > asked if lost else bool(known())

        with _STARTS:
            program = self._start_program(member, variables, commands, began)
            if program.unsupported:
                return ""
            if program.code is not None and not began():
                # on a busy machine an answer may be too late for a client that starts
                program.kill()
                program = self._start_program(member, variables, commands, began)
        if lost:
            self.ids.pop(member, None)
            if not began():
                reason = self._not_connected(program)
                self.programs.pop(member).kill()
                raise CannotRunError(reason)
            return ""
        found = known()
        guard = self._case.guard
        if guard.account is not None:
            self._case.settle()
        if len(found) != 1 or name not in found[0] or (guard.refused and not guard.signed):
            ids = " and ".join(sorted(found))
            reason = f"The client id of {name} is {ids}: {_ONE_CLIENT.format(name)}"
            if not found:
                reason = self._not_connected(program)
            elif len(found) == 1 and name in found[0]:
                reason = f"{self._command[0]} has signed nothing as it should ({guard.sentence}): {SIGN}"
            # the rest of the case decides nothing, and is played without it
            self.programs.pop(member).kill()
            raise CannotRunError(reason)
        self.known_since[member] = self._clock.now()
        self.ids[member] = found[0]
        self._known.add(found[0])
        return found[0]

    def _start_program(
        self,
        member: int,
        variables: Mapping[str, str],
        commands: Sequence[Mapping[str, object]],
        began: Callable[[], bool],
    ) -> Program:
        """A member's program, once it has begun its work, has said that it cannot, or has ended."""
        if self._clock.is_over:
            raise Interrupted
        program = self.programs[member] = Program(self._command, variables)
        for command in commands:
            program.send(command)
        self._clock.wait(lambda: began() or program.code is not None or bool(program.unsupported), self._timing.connect)
        return program

    def stop(self, member: int) -> bool:
        """Shut a member down; False when it had to be killed. One that waits for answers may take longer."""
        if member in self.ids:
            self._case.traffic.to_end(self.ids[member])
        limit = self._timing.end + (self._timing.answers if self._case.keeps_waiting else 0)
        return self.programs.pop(member).stop(limit)

    def kill(self, member: int) -> None:
        """Let a member crash."""
        self.programs.pop(member).kill()

    def sent(self, request: Request) -> Counter[str]:
        """How often each client sent a request, by its id."""
        sent = list(self._case.traffic.sent.items())
        return Counter({client: count for (client, code), count in sent if code == request})

    def learn(self) -> None:
        """Learn the ids of members that could send no heartbeat at first."""
        for member in self.programs.keys() - self.ids.keys():
            for client in self.sent(Request.HEART_BEAT):
                if MEMBERS[member] in client:
                    self.ids[member] = client
                    self.known_since[member] = self._clock.now()
                    self._known.add(client)

    def all_known(self) -> bool:
        """Does the broker know every member that runs?"""
        known = self._case.members()
        return all(any(MEMBERS[member] in client for client in known) for member in self.programs)

    def await_end(self, member: int) -> None:
        """Wait until the broker knows that a member is gone."""
        clients = self._case.traffic.clients
        self._clock.wait(lambda: self.ids.get(member) not in list(clients.values()), self._timing.end)

    def refuse_strangers(self) -> None:
        """CannotRunError when a member has made another client since it counted as started."""
        self.learn()
        strangers = {client for client in list(self._case.traffic.clients.values()) if client} - self._known
        if strangers:
            ids = " and ".join(sorted(strangers))
            one = _ONE_CLIENT.format("the name of the member")
            raise CannotRunError(f"{ids} is another client than a member made at first: {one}")

    def wrong_line(self) -> str:
        """A sentence on a line of a member that runs which has not the shape it should have, or ""."""
        wrong = ((MEMBERS[member], program.wrong_line) for member, program in self.programs.items())
        return next((f"{name}: {sentence}" for name, sentence in wrong if sentence), "")

    def ended(self) -> str:
        """What is to be said of a program that ended by itself, or ""."""
        for member, program in self.programs.items():
            if program.code is not None:
                return f"{MEMBERS[member]} ended by itself with exit code {program.code}. {program.last_words}".strip()
        return ""

    def _not_connected(self, program: Program) -> str:
        name = python_name(self._command) or self._command[0]
        connected = " It connected, but sent no heartbeat." if self._case.traffic.sent else ""
        connected = f" {self._case.guard.handshake}" if self._case.guard.handshake else connected
        words = f" Its last line on standard error: {program.last_words}" if program.last_words else ""
        code = program.code
        if code is not None:
            end = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            return f"{name} {end} before its first heartbeat.{connected}{words}"
        return (
            f"{name} sent no heartbeat within {self._timing.connect:g} s: let it start a consumer of "
            f"the name server in ROCKETMQ_NAME_SERVER.{connected}{words}"
        )
