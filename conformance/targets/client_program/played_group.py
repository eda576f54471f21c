"""One case of a whole suite, played with a program for each member and judged by the traffic at their broker.

The play follows the model itself, to know for what a look may stop waiting (``watched_group``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.case_broker import UnsupportedMoveError
from rocketmq_conformance.conformance.targets.client_program.program import Introduced, Program
from rocketmq_conformance.conformance.targets.client_program.program_cases import NOT_CONNECTED
from rocketmq_conformance.conformance.targets.client_program.required_consumers import LISTEN, STRATEGY
from rocketmq_conformance.conformance.targets.client_program.watched_group import STRATEGIES, WatchedGroup
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, HOLDS
from rocketmq_conformance.models.client.whole_end import NOT_ENDED, Ended
from rocketmq_conformance.models.client.whole_moves import LATE, SILENT
from rocketmq_conformance.models.client.whole_push import Setting, WholePushState, known_end
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
from rocketmq_conformance.suites import (
    whole_allocation,
    whole_broadcast,
    whole_listener,
    whole_lite,
    whole_orderly,
    whole_orderly_listener,
)
from rocketmq_conformance.suites import whole_push as operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Seconds that a queue is suspended for when an orderly listener fails, and a little more.
_SUSPENSION = 1.2
#: The requests without which a member that was sent elsewhere does not begin anew.
_BEGIN_ANEW = (Request.GET_CONSUMER_LIST_BY_GROUP, Request.QUERY_CONSUMER_OFFSET, Request.PULL_MESSAGE)
#: The operations that shut a member down.
_LEAVES = (operations.Leave, whole_listener.Leave)


class PlayedGroup(WatchedGroup):
    """The members of one case, and what is done to them and their broker."""

    #: Do answers say how a member ended that was shut down?
    _shows_ends = True

    def do(self, operation: Operation) -> Outcome:
        """Do one operation, and wait until the traffic shows its result. CannotRunError when a program does not
        connect, Interrupted at the end of a run. A move that the broker cannot make is unsupported, and the case goes
        on without it."""
        if self._failure:
            return self._failure
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
        before = self._state
        left_out = self._is_left_out(operation)
        self._expect(operation)
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
            case whole_allocation.Crowd(early, late):
                self.case.crowd(early, late, self.members.clients())
            case operations.Join(member) if member not in self.members.programs:
                self._begun = True
                joined = self.start(member)
                self._unsupported = self._missing(self.members.programs[member])
                if self._unsupported:
                    return Unsupported(self._unsupported)
            case whole_listener.Leave(member) if self._listeners.get(member) == HOLDS:
                pass
            case operations.Leave(member) | whole_listener.Leave(member) if member in self.members.programs:
                waits = self._may_wait(before, member)
                if not (self.stop(member) or waits):
                    return self._still_running()
                self.members.await_end(member)
                if self._shows_ends and not waits:
                    end = self._end_of(before, member)
            case operations.Crash(member) if member in self.members.programs:
                self._crash(member)
            case whole_broadcast.ComeBack(member, crashes) if member in self.members.programs:
                if crashes:
                    self._crash(member)
                else:
                    waits = self._may_wait(before, member)
                    if not (self.stop(member) or waits):
                        return self._still_running()
                self.members.await_end(member)
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
                frozen = self.members.programs.get(member)
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
            case whole_listener.Listen(member, listener) if member in self.members.programs:
                self.members.programs[member].send({LISTEN: listener})
                if self._in_order is not None and self._listeners.get(member) == FAILS:
                    # what failed before the command is given once more after it
                    self._wait(self.members.ended, _SUSPENSION)
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
        _, why = self._decided()
        limits = self._limits(before, operation, why)
        limits = limits._replace(owners=max(limits.owners - spent, 0.0))
        return self._look(operation.spec, joined, limits, end)

    def _played(self, operation: Operation, act: Callable[[], None] = lambda: None) -> Outcome:
        """Do an operation by an action, which may ask for the state after it, and look."""
        before = self._state
        _, why = self._expect(operation)
        act()
        return self._look(operation.spec, None, self._limits(before, operation, why), None)

    def give_up(self, why: Err) -> Err:
        """The rest of the case decides nothing: this is the answer to all that is done from now on."""
        self._failure = why
        return why

    @property
    def is_connected(self) -> bool:
        """Did any program connect?"""
        return bool(self.case.traffic.clients)

    @property
    def misses_member(self) -> bool:
        """Did a member not connect, where others did?"""
        return self._failure is not None and self._failure.code == NOT_CONNECTED

    def _is_left_out(self, operation: Operation) -> bool:
        """Does an operation do nothing in this state?"""
        return whole_orderly_listener.is_left_out(self._state, operation)

    def introduce(self) -> Introduced:
        """Start a member: what it says of itself. CannotRunError when it does not connect."""
        self.start(0)
        program = self.members.programs[0]
        self._wait(lambda: bool(program.takes or program.unsupported), self._timing.quiet)
        return program.introduced

    # --- members ----------------------------------------------------------------------------------------------

    def start(self, member: int) -> str:
        """Start a member; its client id, once it has sent a heartbeat; "" where it cannot send one."""
        return self.members.start(member, self.variables(ORDINARY.members[member]), self._first_commands())

    def _first_commands(self) -> Sequence[dict[str, object]]:
        """The commands that a member is given as soon as it starts."""
        return ()

    def stop(self, member: int) -> bool:
        """Shut a member down; False when it had to be killed."""
        self._listeners.pop(member, None)
        return self.members.stop(member)

    def _instead(self, act: Callable[[], None]) -> None:
        """Let other requests fail, or none.

        Members that the broker does not know by now come to be known at different times. Until all of them are, it
        refuses to say who they are, so that it does not depend on timing who takes what.
        """
        if self.members.programs and self.case.loses_members:
            self.case.fail(Request.GET_CONSUMER_LIST_BY_GROUP, "SYSTEM_ERROR")
            # who still waits for an answer closes its connection when that does not come
            self._wait(self.members.ended, self._timing.answer)
            self._wait(
                lambda: self.members.ended() or self.members.all_known(), self._timing.routes + self._timing.look
            )
        act()

    def _missing(self, program: Program) -> str:
        """Why a program cannot play this case, or "": it is such a consumer, takes what the case needs, and says so.

        What it says may be read a moment after its heartbeat.
        """
        needs = STRATEGY if self._strategy != STRATEGIES[0] else self._needs
        self._wait(lambda: bool(program.unsupported) or not program.introduced.lacks(needs), self._timing.quiet)
        return program.introduced.lacks(needs)

    def _send(self, queue: int) -> None:
        for number in self.case.seen:
            if queue in (number, EVERY):
                self.case.send(number)

    def _end_of(self, before: Any, member: int) -> Ended:
        """What is seen of how a member has ended, as far as that is certain."""
        if member not in self.members.ids:
            return NOT_ENDED
        shown = self.case.traffic.ends.shown(self.members.ids[member])
        return known_end(before.group, ORDINARY.members[member], shown) if isinstance(before, WholePushState) else shown

    def _may_wait(self, before: Any, member: int) -> bool:
        """May a member wait for its listener when it is shut down, however long that takes?"""
        return self._listeners.get(member) == HOLDS

    def _still_running(self) -> Err:
        return Err("STILL_RUNNING", detail=f"it did not end within {self._timing.end:g} s of SIGTERM")

    def _crash(self, member: int) -> None:
        if self._broadcasts:
            # nothing shows when a timer has written a file
            self._wait(self.members.ended, self._timing.write)
        self._listeners.pop(member, None)
        self.members.kill(member)

    def _take_locks(self) -> None:
        """Wait until the members know that their locks are lost."""
        lost = self.case.pullers()
        self.case.take_locks()
        self._wait(lambda: self.members.ended() or lost <= self.case.traffic.refused, self._timing.look)

    def _fail(self, request: Request, fault: str) -> None:
        """Let a request fail, and others no more.

        While commits failed, a member that was sent elsewhere was sent there again and again. Whether it is about to
        store that place, or to begin anew, depends on timing; so its commits are lost until it pulls there. Heartbeats
        fail once it does: a queue that it takes raises its subscription's version, and pulls would be refused.
        """

        def pulls_all() -> bool:
            return all(self.case.traffic.waiting(queue) for queue in range(self.case.queues))

        lost = self.case.fails(Request.UPDATE_CONSUMER_OFFSET) and bool(self.members.programs) and not pulls_all()
        if lost and request is Request.HEART_BEAT:
            self.case.mend()
            self._wait(lambda: self.members.ended() or pulls_all(), self._timing.write + self._timing.round)
        self.case.loses_commits = lost and request in _BEGIN_ANEW
        self.case.fail(request, fault)
        if self.case.loses_commits:
            self._wait(self.members.ended, self._timing.write + self._timing.round)
            self.case.loses_commits = False

    def _reset(self, offset: int) -> float:
        """Wait until the queue is pulled anew, or until it was not for as long as clients sleep before they reset; how
        long (s) that took."""
        began, before = self._clock.monotonic(), self.case.latest_pull(0)
        at = before.ext["queueOffset"] if before is not None else ""
        waits = any(queue == 0 for _, queue in self.case.pullers()) and self.consumer.kind != "lite"
        self.case.reset(offset)
        if self._undoes_resets and before is not None:
            self._wait(self.members.ended, self._timing.delay)
            self.case.end_pull(0, before)
        limit = self._timing.look if waits else self._timing.write

        def anew() -> bool:
            pull = self.case.latest_pull(0)
            # one that found nothing is sent again all the time
            return pull is not None and pull is not before and (waits or pull.ext["queueOffset"] != at)

        self._wait(lambda: self.members.ended() or anew(), limit)
        return self._clock.monotonic() - began

    def _resize(self, queues: int) -> None:
        """Wait until every member has learned the route, and has had a round of rebalance since."""
        if queues != self.case.queues:
            self.case.resize(queues)
            self._wait_for_route_requests()
            self._wait_for_member_requests()

    def _wait_for_route_requests(self) -> None:
        """Wait until every member has asked for the route of the topic: of two, one is of the retry topic."""
        routes = self.case.traffic.routes
        wanted = {number: count + 2 for number, count in list(routes.items())}

        def asked() -> bool:
            # one that opens a connection each time, unseen, is given all the time
            return len(wanted) >= len(self.members.programs) and all(
                routes.get(number, 0) >= count for number, count in wanted.items()
            )

        self._wait(lambda: self.members.ended() or asked(), self._timing.routes)

    def _wait_for_member_requests(self) -> None:
        """Wait until every member has asked for the members: of two, one is for the retry topic."""
        clients = self.members.clients()
        before = self.members.sent(Request.GET_CONSUMER_LIST_BY_GROUP)

        def asked() -> bool:
            now = self.members.sent(Request.GET_CONSUMER_LIST_BY_GROUP)
            return all(now[client] >= before[client] + 2 for client in clients)

        self._wait(lambda: self.members.ended() or asked(), 2 * self._timing.round)

    def _seek(self, member: int, queue: int, offset: int) -> None:
        """Wait until the queue is pulled anew, or until it was not for a while."""
        program, before = self.members.programs.get(member), self.case.latest_pull(queue)
        if program is not None:
            program.send({"seek": [self.case.topic, queue, offset]})
            moves = self.case.offers(queue, offset) and (self.members.ids[member], queue) in self.case.pullers()
            limit = self._timing.look if moves else self._timing.quiet
            self._wait(lambda: self.members.ended() or self.case.latest_pull(queue) is not before, limit)
