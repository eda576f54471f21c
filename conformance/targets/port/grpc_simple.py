"""The port's simple consumers of the gRPC protocol."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.fakes.proxy_case import ProxyCase
from rocketmq_conformance.conformance.fakes.proxy_moves import arrive, refuse
from rocketmq_conformance.conformance.fakes.proxy_seen import end, simply_seen
from rocketmq_conformance.conformance.targets.port.grpc_simple_consumer import GrpcSimpleConsumer
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.virtual_timers import VirtualTimers
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import grpc_simple as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, TOPIC

#: Seconds that a step lasts: every timer is due in it.
_STEP = 12.0


class GrpcSimple:
    """The member that runs."""

    consumer = GrpcSimpleConsumer

    def __init__(self, transport: Transport) -> None:
        pass  # it calls a proxy, and no broker

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs."""
        self.timers = VirtualTimers()
        self.proxy = ProxyCase(TOPIC, GROUP, self.timers.now)
        self.member: GrpcSimpleConsumer | None = None
        self.joined = 0

    def look(self) -> Result:
        """Let time pass: what the proxy saw meanwhile."""
        self.timers.run(_STEP)
        return simply_seen(self.proxy, self.member.client if self.member else None)

    def join(self) -> Result:
        """The member starts, unless it runs."""
        self.proxy.begin_step()
        if self.member is None:
            self.joined += 1
            self.member = self.consumer(self.proxy, self.timers, f"client-{self.joined}")
            self.member.start()
        return self.look()

    def leave(self) -> Result:
        """The member is shut down, if it runs."""
        self.proxy.begin_step()
        leaving, self.member = self.member, None
        if leaving is not None:
            leaving.stop()
        shown = self.look()
        assert isinstance(shown, tuple)
        return (*shown, end(self.proxy, leaving.client)[0] if leaving else None)

    def send(self, queue: int) -> Result:
        """A message arrives in a queue, or in every queue."""
        self.proxy.begin_step()
        arrive(self.proxy, queue)
        return self.look()

    def receive(self, most: int, seconds: int) -> Result:
        """The member receives once, if it runs."""
        self.proxy.begin_step()
        if self.member:
            self.member.receive(most, seconds)
        return self.look()

    def acknowledge(self, queue: int, offset: int) -> Result:
        """The member acknowledges a message, if it has it."""
        self.proxy.begin_step()
        if self.member:
            self.member.acknowledge(queue, offset)
        return self.look()

    def change(self, queue: int, offset: int, seconds: int) -> Result:
        """The member changes for how long a message is hidden, if it has it."""
        self.proxy.begin_step()
        if self.member:
            self.member.change(queue, offset, seconds)
        return self.look()

    def time_is_up(self) -> Result:
        """The time is over of all messages that were given."""
        self.proxy.begin_step()
        self.proxy.time_is_up()
        return self.look()

    def refuse(self, call: str, code: str) -> Result:
        """From now on a call is refused."""
        self.proxy.begin_step()
        refuse(self.proxy, call, code)
        return self.look()

    def mend(self) -> Result:
        """Every call is answered again."""
        self.proxy.begin_step()
        self.proxy.mend()
        return self.look()

    def wait(self) -> Result:
        """Time passes."""
        self.proxy.begin_step()
        return self.look()

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Join: self.join,
            operations.Leave: self.leave,
            operations.Send: self.send,
            operations.Receive: self.receive,
            operations.Acknowledge: self.acknowledge,
            operations.Change: self.change,
            operations.TimeIsUp: self.time_is_up,
            operations.Refuse: self.refuse,
            operations.Mend: self.mend,
            operations.Look: self.wait,
        }


PART = GrpcSimple
