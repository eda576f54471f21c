"""The port's push consumers of the gRPC protocol."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.fakes.proxy_case import ProxyCase
from rocketmq_conformance.conformance.fakes.proxy_moves import arrive, assign, prepare_push
from rocketmq_conformance.conformance.fakes.proxy_seen import end, seen
from rocketmq_conformance.conformance.targets.port.grpc_consumer import GrpcConsumer
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.virtual_timers import VirtualTimers
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import grpc_push as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, TOPIC

#: Seconds that a step lasts: every timer is due in it.
_STEP = 12.0
_MEMBERS = 2
_FAILS = "fails"


class GrpcPush:
    """The members that run."""

    #: What each member is.
    consumer: type[GrpcConsumer] = GrpcConsumer
    #: How a case begins, by what its plan says of it.
    begins = staticmethod(prepare_push)

    def __init__(self, transport: Transport) -> None:
        pass  # it calls a proxy, and no broker

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs."""
        self.timers = VirtualTimers()
        self.proxy = ProxyCase(TOPIC, GROUP, self.timers.now)
        self.begins(self.proxy)
        self.members: list[GrpcConsumer | None] = [None] * _MEMBERS
        self.begun = self.fails = False

    def look(self) -> Result:
        """Let time pass: what the proxy saw meanwhile."""
        self.timers.run(_STEP)
        return seen(self.proxy, [member.client if member else None for member in self.members])

    def prepare(self, *said: str | int) -> Result:
        """Choose how the case begins."""
        if not self.begun:
            self.begins(self.proxy, *said)
        return None

    def join(self, member: int) -> Result:
        """A member starts, unless it runs."""
        self.proxy.begin_step()
        if self.members[member] is None:
            self.begun = True
            made = self.consumer(self.proxy, self.timers, f"client-{member}", lambda body: not self.fails)
            self.members[member] = made
            self.proxy.clients.pop(made.client, None)
            made.start()
        return self.look()

    def leave(self, member: int) -> Result:
        """A member is shut down, if it may go."""
        self.proxy.begin_step()
        leaving = self.members[member]
        if leaving is None or self.holds():
            shown = self.look()
            assert isinstance(shown, tuple)
            return (*shown, None, None)
        leaving.stop()
        leaving.crash()
        self.members[member] = None
        shown = self.look()
        assert isinstance(shown, tuple)
        return (*shown, *end(self.proxy, leaving.client))

    def crash(self, member: int) -> Result:
        """A member ends without a word, if it may go."""
        self.proxy.begin_step()
        gone = self.members[member]
        if gone is not None and not self.holds():
            gone.crash()
            self.members[member] = None
        return self.look()

    def holds(self) -> bool:
        """Is the end of a message refused that a member holds?"""
        return False

    def send(self, queue: int, form: str = "ordinary", messages: int = 1) -> Result:
        """Messages arrive in a queue, or in every queue."""
        self.proxy.begin_step()
        arrive(self.proxy, queue, form, messages)
        return self.look()

    def listen(self, listener: str) -> Result:
        """From now on every listener succeeds, or fails."""
        self.proxy.begin_step()
        self.fails = listener == _FAILS
        return self.look()

    def come_again(self) -> Result:
        """The time of messages is over that were given back."""
        self.proxy.begin_step()
        self.proxy.come_again()
        return self.look()

    def assign(self, assigned: str) -> Result:
        """The proxy assigns other queues."""
        self.proxy.begin_step()
        assign(self.proxy, assigned)
        return self.look()

    def wait(self) -> Result:
        """Time passes."""
        self.proxy.begin_step()
        return self.look()

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Prepare: self.prepare,
            operations.Join: self.join,
            operations.Leave: self.leave,
            operations.Crash: self.crash,
            operations.Send: self.send,
            operations.Listen: self.listen,
            operations.ComeAgain: self.come_again,
            operations.Assign: self.assign,
            operations.Look: self.wait,
        }


PART = GrpcPush
