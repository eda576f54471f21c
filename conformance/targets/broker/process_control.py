"""Plays operations on a broker as a whole: stops, kills, freezes and starts it, and pages it out of memory.

A broker that the kit did not start is never touched.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.broker_location import ManagedBroker, ManagedSlave
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.running_slave import RunningSlave
from rocketmq_conformance.models.broker.broker_process import DOWN, FROZEN, RUNNING
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
from rocketmq_conformance.suites.broker_offsets import Query
from rocketmq_conformance.suites.declare.operation import Operation

#: Seconds after which a topic that was acknowledged early is surely on disk.
_LATE = 0.5
#: Most retries of a query when its message was paged in or out meanwhile.
_LOOKS = 5
_RATIO = "accessMessageInMemoryMaxRatio"
_ORDINARY_RATIO = "40"
#: The reason why nothing is done to a broker that the kit did not start.
_ASKED = "the slave asked its master meanwhile, before the step or after it"
_LEFT_ALONE = (
    "only a broker that the kit started itself is ended, frozen, changed or put out of memory: judge broker:VERSION"
)


class BrokerConnection(Protocol):
    """The way to ask the broker: the adapter's own."""

    def ask(self, request: requests.Ask) -> bytes:
        """Send one request for the broker as a whole; the body of the response."""
        ...

    def disconnect(self) -> None:
        """Close all connections."""
        ...

    def late_topics(self) -> bool:
        """Does the broker acknowledge a topic before it exists?"""
        ...

    def first(self, operation: Operation) -> Outcome:
        """Do one operation in the first lane."""
        ...

    def first_job(self, make: Callable[[CaseNames], Requests]) -> Outcome:
        """Do a job of the case in the first lane."""
        ...

    def slave_job(self, make: Callable[[CaseNames], Requests]) -> Outcome:
        """Do a job of the case in the first lane at the broker's slave."""
        ...

    def topic_name(self, lane: int, topic: int) -> str:
        """The broker's name of a topic of the case in a lane."""
        ...


class ProcessControl:
    """The operations on the broker as a whole; ``broker`` is None for one that the kit did not start."""

    def __init__(
        self, broker: ManagedBroker | None, connection: BrokerConnection, beside: RunningSlave | None = None
    ) -> None:
        """``beside`` is the slave of a broker that the kit did not start, if it knows of one."""
        self._broker, self._beside = broker, beside
        self.connection = connection
        #: The broker's state: RUNNING, FROZEN or DOWN.
        self.state = RUNNING
        #: Has a case had a slave?
        self._paired = False
        #: Was the memory ratio changed and not yet restored?
        self._cold = False

    def do(self, control: Callable[..., Outcome], operation: Operation, of_a_pair: bool = False) -> Outcome:
        """Do an operation, of which ``control`` is the method of this class; does it leave the processes alone?"""
        if self._broker is not None:
            return control(self, *operation.args)
        if self._beside is None or not of_a_pair:
            return Unsupported(_LEFT_ALONE)
        outcome = control(self, *operation.args)
        return Err("ASKED", definite=False, detail=_ASKED) if self._beside.asked_meanwhile() else outcome

    # --- between operations -----------------------------------------------------------------------------------

    def patience(self, ordinary: float) -> float:
        """The timeout of a request (s)."""
        return self._broker.silence if self._broker is not None and self.state == FROZEN else ordinary

    def revive(self) -> None:
        """Restore the initial state of a case: a running broker."""
        if self._broker is None:
            return
        if self._broker.tables.damaged:
            self.end(KILL)
            self._broker.tables.restore()
        if self.state == FROZEN:
            self.resume()
        elif self.state == DOWN:
            self.start()
            if self._paired and not self._broker.slave.online():
                raise AdapterError("The master does not come online any more: see its log for the reason.")
        if self._broker.older_runs:
            self.change(KILL)

    def pair(self) -> None:
        """Restore the initial state of a case that has a slave: it has come up."""
        if self._broker is not None:
            _ = self._broker.slave
            self._paired = True
        elif self._beside is not None:
            self._beside.synchronise()

    def warm(self) -> None:
        """Restore the initial state of a case: the ordinary memory ratio."""
        if self._cold:
            self._set_ratio(hot=True)

    def reached(self) -> Outcome:
        """The outcome of a request while the broker is down: does anything listen on its port?"""
        broker = self.managed
        try:
            Connection("127.0.0.1", broker.port, broker.silence).close()
        except OSError:
            return Err("UNREACHABLE")
        return Err("REACHABLE", detail="another process listens on the port of a broker that was ended")

    # --- operations -------------------------------------------------------------------------------------------

    def restart(self, how: str) -> Outcome:
        """Stop (``STOP``) or kill (``KILL``) the broker, and start it again."""
        self.end(how)
        return self._start(how)

    def change(self, how: str) -> Outcome:
        """Stop (``STOP``) or kill (``KILL``) the broker, and start the other release on its store."""
        self.end(how)
        self.managed.change_release()
        return self._start(f"{how} and a change of its release")

    def stop(self) -> Outcome:
        """Stop the broker gently."""
        return self.end(STOP)

    def kill(self) -> Outcome:
        """Kill the broker."""
        return self.end(KILL)

    def start(self) -> Outcome:
        """Start the broker again."""
        return self._start(STOP)

    def pause(self) -> Outcome:
        """Freeze the broker."""
        self.managed.pause()
        self.state = FROZEN
        return Ok()

    def resume(self) -> Outcome:
        """Resume the broker, and wait until it has caught up."""
        self.managed.resume()
        self.state = RUNNING
        self.connection.ask(requests.runtime_info())
        time.sleep(self.managed.settled)
        return Ok()

    def save(self) -> Outcome:
        """Wait until the offsets on disk are those in memory."""
        self.managed.save(lambda: self.connection.ask(requests.stored_offsets()))
        return Ok()

    def synchronise(self) -> Outcome:
        """Wait until the slave has asked its master."""
        self.slave.synchronise()
        return Ok()

    def set_memory(self, hot: bool) -> Outcome:
        """Set the memory ratio to 0, or back."""
        self._set_ratio(hot)
        return Ok()

    def evict(self) -> Outcome:
        """Page the broker's messages out of memory."""
        reason = self.managed.evict()
        return Unsupported(reason) if reason else Ok()

    def query_pages(self, group: int, topic: int, queue: int, set_zero: bool | None) -> Outcome:
        """Query an offset in the first lane, while message 0 stays in memory, or out of it."""
        broker, name = self.managed, self.connection.topic_name(0, topic)
        for _ in range(_LOOKS):
            before = broker.in_memory(name, queue)
            outcome = self.connection.first(Query(group, topic, queue, set_zero))
            if broker.in_memory(name, queue) == before:
                break
        else:
            return Err("RESTLESS", definite=False, detail="message 0 is put in and out of memory all the time")
        if isinstance(outcome, Ok):
            return Ok((outcome.value, before))
        return Ok((outcome.code, before)) if isinstance(outcome, Err) and outcome.definite else outcome

    @property
    def slave(self) -> ManagedSlave:
        """The broker's slave: the kit's, or the one that its address names."""
        return self.managed.slave if self._beside is None else self._beside

    @property
    def managed(self) -> ManagedBroker:
        """The broker that the kit started."""
        assert self._broker is not None, "do() leaves any other broker alone"
        return self._broker

    def end(self, how: str) -> Outcome:
        """Stop (``STOP``) or kill (``KILL``) the broker."""
        if self.state == RUNNING and self.connection.late_topics():
            time.sleep(_LATE)  # a topic that exists may not be on disk yet
        self.connection.disconnect()
        if how == KILL:
            self.managed.kill()
        else:
            self._stop()
        self.state = DOWN
        self._cold = False
        return Ok()

    def _stop(self) -> None:
        try:
            self.managed.stop()
        except CannotRunError as error:
            self.state = DOWN
            raise AdapterError(f"{error}.") from error

    def _start(self, how: str) -> Outcome:
        try:
            self.managed.start()
        except CannotRunError as error:
            raise AdapterError(f"The broker did not come back after a {how}: {error}") from error
        self.state = RUNNING
        return Ok()

    def _set_ratio(self, hot: bool) -> None:
        ordinary = self.managed.properties.get(_RATIO, _ORDINARY_RATIO)
        self.connection.ask(requests.set_property(_RATIO, ordinary if hot else "0"))
        self._cold = not hot
