"""The members of one case: a program each, which is known by its client id once it has sent a heartbeat."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from weakref import WeakKeyDictionary

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.host_port import host_port
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.client_program.case_broker import CaseBroker
from rocketmq_conformance.conformance.targets.client_program.program import Program
from rocketmq_conformance.conformance.targets.client_program.python_consumer import python_name
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Clock, Interrupted
from rocketmq_conformance.suites.declare.topologies import ORDINARY

_ROUTES = Request.GET_ROUTEINFO_BY_TOPIC
#: As many programs start at a time as there are CPUs: of many at once some get no answer in time, and end.
_STARTS = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))
#: What a program has to do that is several clients of the group, or the client that another one is.
_ONE_CLIENT = "make one client of the group, since a group has a member for each client id."
_OWN_ID = "give each client an id of its own, such as by ROCKETMQ_INSTANCE as its instance name."
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
        #: May a member make other clients of the group?
        self.several = False
        #: Did the last program that was started end by itself, without a heartbeat?
        self.ended_at_start = False
        #: When each member was first known.
        self.known_since: dict[int, float] = {}
        #: The members that opened connections, as far as that was asked for and seen.
        self._openers: WeakKeyDictionary[Peer, int] = WeakKeyDictionary()
        case.owner = self.owner

    def close(self) -> None:
        """Kill the programs that still run."""
        for program in self.programs.values():
            program.kill()
        self.programs.clear()

    def clients(self) -> list[str]:
        """The client ids of those that run, as far as they are known."""
        return [self.ids[member] for member in self.programs if member in self.ids]

    def seen_ids(self) -> tuple[str, ...]:
        """The client ids of members, by their numbers, as far as they are known ("" else)."""
        return tuple(self.ids.get(member, "") for member in range(len(ORDINARY.members)))

    def numbers(self) -> dict[str, int]:
        """The numbers of those that run, by client id."""
        return {self.ids[member]: member for member in self.programs if member in self.ids}

    def start(self, member: int, variables: Mapping[str, str], commands: Sequence[Mapping[str, object]] = ()) -> str:
        """Start a member in this environment, and give it commands at once; its client id, once it has sent a
        heartbeat; "" where it cannot send one, or says that it cannot be this consumer."""
        name, traffic = ORDINARY.members[member], self._case.traffic
        others = {self.ids[other]: ORDINARY.members[other] for other in self.programs if other in self.ids}
        # it may come back under another id
        self.ids.pop(member, None)
        beats, asked = self.sent(Request.HEART_BEAT), self.sent(_ROUTES).total()
        connections = {*traffic.clients}
        self.unnamed = self.sent(Request.GET_CONSUMER_LIST_BY_GROUP)[""]
        # one that finds no route knows no broker that it could send a heartbeat to
        lost = self._case.fails(_ROUTES)

        def known() -> list[str]:
            new = self.sent(Request.HEART_BEAT) - beats
            return [client for client in new if client in traffic.in_group and client not in others]

        def twin(*openers: int | None) -> str:
            """The client of another member that sends heartbeats over a new connection of these."""
            new = [(traffic.peers.get(at), one) for at, one in list(traffic.clients.items()) if at not in connections]
            return next((client for peer, client in new if client in others and self._opener(peer) in openers), "")

        def began() -> bool:
            return self.sent(_ROUTES).total() > asked if lost else bool(known() or twin(member))

        self.ended_at_start = False
        with _STARTS:
            program = self._start_program(member, variables, commands, began)
            if program.unsupported:
                return ""
            if program.code is not None and not began():
                # on a busy machine an answer may be too late for a client that starts
                program.kill()
                program = self._start_program(member, variables, commands, began)
        if lost:
            if not began():
                reason = self._not_connected(program)
                self.programs.pop(member).kill()
                raise CannotRunError(reason)
            return ""
        found = known()
        if len(found) > 1:
            # another one may have been late with its first heartbeat
            found = [client for client in found if self._opener_of(client) in (member, None)]
        guard = self._case.guard
        if guard.account is not None:
            self._case.settle()
        if len(found) != 1 or (guard.refused and not guard.signed):
            reason = self._several(member, found)
            if not found:
                other = twin(member, None)
                reason = f"{name} has the client id of {others[other]}, {other}: {_OWN_ID}" if other else ""
                reason = reason or self._not_connected(program)
            elif len(found) == 1:
                reason = f"{self._command[0]} has signed nothing as it should ({guard.sentence}): {SIGN}"
            self.ended_at_start = not found and program.code is not None
            # the rest of the case decides nothing, and is played without it
            self.programs.pop(member).kill()
            raise CannotRunError(reason)
        self._is_known(member, found[0])
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
        unknown = [member for member in self.programs if member not in self.ids]
        if not unknown:
            return
        new = sorted(self._case.traffic.in_group.intersection(self._connected()) - {*self.clients()})
        for client in new:
            named = [member for member in unknown if ORDINARY.members[member] in client]
            member = self._opener_of(client)
            if member is None and len(named) == 1:
                (member,) = named
            if member in unknown:
                self._is_known(member, client)
                unknown.remove(member)

    def _is_known(self, member: int, client: str) -> None:
        self.known_since[member] = self._clock.monotonic()
        self.ids[member] = client
        self._known.add(client)

    def all_known(self) -> bool:
        """Does the broker know every member that runs?"""
        self.learn()
        known = self._case.members()
        return all(self.ids.get(member) in known for member in self.programs)

    def owner(self, peer: Peer) -> str:
        """The client id of the member that opened a connection, as soon as a heartbeat has come over another one, or
        ""."""
        opener = self._opener(peer)
        if opener is None:
            return ""
        if opener in self.ids:
            return self.ids[opener]
        traffic = self._case.traffic
        named = [(traffic.peers.get(at), one) for at, one in list(traffic.clients.items()) if one in traffic.in_group]
        return next((client for other, client in named if self._opener(other) == opener), "")

    def _opener(self, peer: Peer | None) -> int | None:
        """The member whose program opened a connection, where that can be seen; whichever thread asks."""
        if peer is None:
            return None
        running = list(self.programs.items())
        if len(running) == 1:
            return running[0][0]
        if peer not in self._openers:
            port = host_port(peer.address).port if peer.address else 0
            opener = next((member for member, program in running if program.opened(port)), None)
            if opener is None:
                return None
            self._openers[peer] = opener
        return self._openers[peer]

    def _opener_of(self, client: str) -> int | None:
        """The member that is a client, by its connections."""
        traffic = self._case.traffic
        peers = [traffic.peers.get(number) for number, one in list(traffic.clients.items()) if one == client]
        return next((member for peer in peers if (member := self._opener(peer)) is not None), None)

    def _connected(self) -> set[str]:
        """The clients that have sent a heartbeat over a connection that is open."""
        return {*list(self._case.traffic.clients.values())}

    def await_end(self, member: int) -> None:
        """Wait until the broker knows that a member is gone."""
        clients = self._case.traffic.clients
        self._clock.wait(lambda: self.ids.get(member) not in list(clients.values()), self._timing.end)

    def refuse_strangers(self) -> None:
        """CannotRunError when a member has made another client of the group since it counted as started, or it cannot
        be seen which member is which client."""
        self.learn()
        if self.several:
            return
        strangers = self._case.traffic.in_group.intersection(self._connected()) - self._known
        if not strangers:
            return
        ids = " and ".join(sorted(strangers))
        unknown = [ORDINARY.members[member] for member in self.programs if member not in self.ids]
        if unknown:
            raise CannotRunError(
                f"It cannot be seen whether {ids} is {' or '.join(unknown)}: make ROCKETMQ_INSTANCE part of the client "
                "id."
            )
        member = next((found for one in sorted(strangers) if (found := self._opener_of(one)) is not None), None)
        if member is None:
            raise CannotRunError(f"{ids} is another client than a member made at first: {_ONE_CLIENT}")
        raise CannotRunError(self._several(member, {self.ids[member], *strangers}))

    @staticmethod
    def _several(member: int, clients: Iterable[str]) -> str:
        return f"{ORDINARY.members[member]} is {' and '.join(sorted(clients))}: {_ONE_CLIENT}"

    def wrong_line(self) -> str:
        """A sentence on a line of a member that runs which has not the shape it should have, or ""."""
        wrong = ((ORDINARY.members[member], program.wrong_line) for member, program in self.programs.items())
        return next((f"{name}: {sentence}" for name, sentence in wrong if sentence), "")

    def ended(self) -> str:
        """What is to be said of a program that ended by itself, or ""."""
        for member, program in self.programs.items():
            if program.code is not None:
                name = ORDINARY.members[member]
                return f"{name} ended by itself with exit code {program.code}. {program.last_words}".strip()
        return ""

    def _not_connected(self, program: Program) -> str:
        name = python_name(self._command) or self._command[0]
        connected = " It connected, but sent no heartbeat." if self._case.traffic.sent else ""
        if self.sent(Request.HEART_BEAT) and not self._case.traffic.in_group:
            connected = f" It sent heartbeats, and none of the group {self._case.group}."
        connected = f" {self._case.guard.handshake}" if self._case.guard.handshake else connected
        words = f" It wrote on standard error: {program.last_words}" if program.last_words else ""
        code = program.code
        if code is not None:
            end = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            return f"{name} {end} before its first heartbeat.{connected}{words}"
        return (
            f"{name} sent no heartbeat within {self._timing.connect:g} s: let it start a consumer of "
            f"the name server in ROCKETMQ_NAME_SERVER.{connected}{words}"
        )
