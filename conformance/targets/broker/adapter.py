"""The adapter of real brokers: operations become requests, over one connection, in as many lanes as asked for.

Every case has topic and group names of its own, and no case restarts the broker: only the operations of
``broker-restart`` do, on a broker that the adapter started itself.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, Case, Hear, Hello
from rocketmq_conformance.conformance.engine.transcript import BROKER, MEMBER, request_text, response_text
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import broker_admin, broker_assignment, broker_doubt, broker_locks
from rocketmq_conformance.conformance.targets.broker import jobs as operations
from rocketmq_conformance.conformance.targets.broker import requests as wire
from rocketmq_conformance.conformance.targets.broker.broker_location import Source
from rocketmq_conformance.conformance.targets.broker.fake_name_server import routed
from rocketmq_conformance.conformance.targets.broker.jobs import Names, begin, clean_up, leave
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import PATIENCE, Job, run
from rocketmq_conformance.conformance.targets.broker.process_control import Life
from rocketmq_conformance.conformance.targets.broker.recorded_job import heard
from rocketmq_conformance.models.broker.broker_process import DOWN, FROZEN
from rocketmq_conformance.models.outcome import Err, Outcome, Unsupported, outcome_of
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite

T = TypeVar("T")

#: Cases that are played side by side when nobody says otherwise.
LANES = 64
#: Suites whose cases mostly wait, and how many of them are played side by side.
WAITING, WAITING_LANES = frozenset({"broker-locks"}), 256
#: Leases that are too long to wait for (s).
_LONGEST_LEASE = 10.0
_TOO_LONG = (
    "takes a minute: start the broker with -Drocketmq.broker.rebalance.lockMaxLiveTime=1000 and name it "
    "HOST:PORT?lease=1000, or judge broker:VERSION"
)
#: Suites that are played one case at a time, because they change the broker as a whole.
ALONE = frozenset({"broker-restart", "broker-process", "broker-cold"})
#: Suites that need the aged store.
AGED_SUITES = frozenset({"broker-restart", "broker-expired", "broker-process", "broker-cold"})
#: Suites whose routes the adapter plays the name server for, and how many of their cases are played side by side: a
#: broker asks for one route after the other, and gives up after 3 s.
ROUTED_SUITES, ROUTED_LANES = frozenset({"broker-assignment"}), 16
#: First release that acknowledges a topic when it is there (BQ-TOPIC-1).
_WAITS_FOR_TOPICS = Release(4, 7, 1)
#: Seconds without use after which a connection is made anew.
_IDLE = 60.0
_OPERATIONS = (
    operations.OPERATIONS
    | broker_admin.OPERATIONS
    | broker_locks.OPERATIONS
    | broker_doubt.OPERATIONS
    | broker_assignment.OPERATIONS
)
_DESCRIPTION = re.compile(r"V(\d+)_(\d+)_(\d+)(?:_(ALPHA|PREVIEW))?")


class BrokerAdapter:
    """Drives one broker. ``reset`` and ``apply`` use the first lane; ``reset_many`` and ``apply_many`` all of them.

    With a broker of somebody else, everything that a case created is deleted when its lane begins another case, or
    at the end.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._connection: Connection | None = None
        self._run = secrets.token_hex(4)
        self._cases = 0
        self._lanes: dict[int, Names] = {}
        #: Connections of members, by number.
        self._members: dict[int, Connection] = {}
        #: When the connection was used last; brokers close one that nobody uses for two minutes.
        self._used = 0.0
        self._version = ""
        #: The group that reads store times, and whether it exists.
        self._reader = f"conf-{self._run}-reader"
        self._reads = False
        self._hear: Hear | None = None
        self._life = Life(source.own, self)
        #: What members were told about resets, by group.
        self._resets: dict[str, Command] = {}

    # --- the adapter ------------------------------------------------------------------------------------------

    def hello(self) -> Hello:
        """Ask the broker which release it is."""
        text = self._said()
        release = broker_release(text)
        self.source.accept(text, release)
        own = self.source.own
        unsupported = {}
        if own is None:
            reason = "needs a broker that the kit starts itself; judge broker:VERSION instead of HOST:PORT"
            needing = AGED_SUITES if self.source.routed else AGED_SUITES | ROUTED_SUITES
            unsupported = dict.fromkeys(sorted(needing), reason)
        elif not self.source.routed and release is not None and routed(release):
            reason = "needs a broker that reaches the kit's name server; judge broker:VERSION without via=container"
            unsupported = dict.fromkeys(sorted(ROUTED_SUITES), reason)
        if own is not None and (missing := own.cold):
            unsupported["broker-cold"] = missing
        return Hello(
            "broker",
            text,
            broker=None if release is None else str(release),
            java=None if own is None else own.java,
            unsupported=unsupported,
            sides=("broker",),
        )

    def reset(self, case: Case) -> None:
        """Begin a case in the first lane."""
        self.reset_many([(0, case.suite)])

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation in the first lane."""
        return self.apply_many([(0, operation)])[0]

    def close(self) -> None:
        """Delete what is left on a broker of somebody else, and release everything."""
        try:
            if self._connection is not None and not self._connection.closed and self.source.own is None:
                reader = Names("", self._reader, used_groups={self._reader} if self._reads else set())
                run(self._connection, [clean_up(names) for names in (*self._lanes.values(), reader)])
        except OSError:
            pass  # what cannot be deleted any more stays
        finally:
            self.disconnect()
            self.source.close()

    def shared_address(self) -> str:
        """Where others reach the broker that this adapter started; "" for a broker of somebody else."""
        return self.source.shared_address()

    def overhear(self, hear: Hear | None) -> None:
        """Tell of every request and response of operations from now on; None ends it."""
        self._hear = hear

    # --- lanes ------------------------------------------------------------------------------------------------

    def lanes(self, suite: Suite) -> int:
        """How many cases of a suite may be played side by side."""
        if suite.name in ROUTED_SUITES:
            return ROUTED_LANES
        return 1 if suite.name in ALONE else WAITING_LANES if suite.name in WAITING else LANES

    def reset_many(self, cases: Sequence[tuple[int, Suite]]) -> None:
        """Begin a case of a suite in each of these lanes."""
        self._life.revive()
        self._play([clean_up(self._lanes.pop(lane)) for lane, _ in cases if lane in self._lanes])
        self._life.warm()
        self._begin_reading()
        late_topics = self.late_topics()
        begun: list[Job[None]] = []
        for lane, suite in cases:
            self._cases += 1
            names = self._lanes[lane] = Names(f"conf-{self._run}-{self._cases}", self._reader, late_topics)
            names.told = self._told
            names.cut = self._send_and_cut
            names.lease = self.source.lease
            names.ask_as = partial(self._ask_as, names)
            with_topic, with_group = suite.name != "broker-expired", suite.name != "broker-search"
            begun.append(begin(names, with_topic, with_group))
        self._play(begun)

    def late_topics(self) -> bool:
        """Does the broker acknowledge a topic before it is there?"""
        release = broker_release(self._said()) if self.source.late_topics else None
        return release is not None and release < _WAITS_FOR_TOPICS

    def _begin_reading(self) -> None:
        if not self._reads:
            self.ask(wire.create_group(self._reader))
            self._reads = True

    def apply_many(self, work: Sequence[tuple[int, Operation]]) -> list[Outcome]:
        """Do one operation in each of these lanes, all at once; the outcomes are in the same order."""
        if len(work) == 1 and (done := self._life.do(work[0][1])) is not None:
            return [done]
        if self._life.place == DOWN:
            return [self._life.reached() for _ in work]
        return self._play([self._job(lane, operation) for lane, operation in work])

    def play_many(self, cases: Sequence[tuple[int, Sequence[Operation]]]) -> list[list[Outcome]]:
        """Do whole sequences of operations, one in each of these lanes, without waiting for one another."""
        return self._play([self._sequence(lane, operations) for lane, operations in cases])

    def _sequence(self, lane: int, operations: Sequence[Operation]) -> Job[list[Outcome]]:
        outcomes: list[Outcome] = []
        for operation in operations:
            outcomes.append((yield from self._job(lane, operation)))
        yield from leave(self._lanes[lane])
        return outcomes

    def _job(self, lane: int, operation: Operation) -> Job[Outcome]:
        requests = _OPERATIONS.get(operation.spec.name)
        if requests is None:
            return Unsupported(f"{operation.spec.name} is nothing that a broker is asked here")
        if operation.spec.name == "wait" and self.source.lease > _LONGEST_LEASE:
            return Unsupported(_TOO_LONG)
        names = self._lanes[lane]
        job = requests(names, *operation.args)
        try:
            result = yield from job if self._hear is None else heard(job, names, self._hear)
        except TimeoutError as error:
            # what a frozen broker does with it is part of the model
            return Err("TIMEOUT", definite=self._life.place == FROZEN, detail=str(error))
        return outcome_of(result)

    def _ask_as(self, names: Names, connection: int, request: wire.Ask) -> Command:
        """Ask over a connection of a member's own; members of all lanes share it, each in its own groups."""
        member = self._members.get(connection)
        if member is None or member.closed:
            member = self._members[connection] = self.source.open()
        code, ext, body = request
        if self._hear:
            self._hear(MEMBER, BROKER, names.plain(request_text(code, ext)))
        answer = member.call(code, ext, body, PATIENCE)
        if self._hear:
            self._hear(BROKER, MEMBER, names.plain(response_text(answer.code, answer.ext, answer.body)))
        return answer

    def _told(self, group: str) -> Command | None:
        """The last thing that the broker told the members of a group about a reset; it is given once."""
        connection = self._connection
        for request in connection.requests() if connection is not None else ():
            if request.code == Request.RESET_CONSUMER_CLIENT_OFFSET:
                self._resets[request.ext.get("group", "")] = request
        return self._resets.pop(group, None)

    def _send_and_cut(self, ask: wire.Ask, cut: str) -> None:
        """A request over a connection that is cut; what the broker says to it nobody hears."""
        connection = self._connected()
        host, _, port = connection.address.rpartition(":")
        if self._hear:
            self._hear(MEMBER, BROKER, f"{request_text(ask.code, ask.ext)}, cut when {cut}")
        broker_doubt.send_and_cut(host, int(port), ask, cut)

    # --- the broker as a whole --------------------------------------------------------------------------------

    def _said(self) -> str:
        """What the broker says of its version, such as V5_5_0; asked once."""
        if not self._version:
            self._version = self._ask_version()
        return self._version

    def _ask_version(self) -> str:
        connection = self._connected()
        try:
            answer = connection.call(wire.runtime_info().code, {})
            if answer.code:
                raise ValueError(f"it refuses GET_BROKER_RUNTIME_INFO with code {answer.code} {answer.remark}")
            return str(json.loads(answer.body)["table"]["brokerVersionDesc"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.disconnect()
            raise CannotRunError(
                f"What listens at {connection.address} is no broker ({error}): name the address of one."
            ) from error

    def first(self, operation: Operation) -> Outcome:
        """Do one operation in the first lane, as a request."""
        return self._play([self._job(0, operation)])[0]

    def topic_name(self, lane: int, topic: int) -> str:
        """The broker's name of a topic of the case in a lane."""
        return self._lanes[lane].topic(topic)

    def forget_messages(self, lane: int, topic: int, queue: int, count: int) -> None:
        """The broker deleted the oldest messages of a queue: searches begin with what is left."""
        names = self._lanes[lane]
        key = names.topic(topic), queue
        names.logs[key] = names.logs[key]._replace(times=names.logs[key].times[count:])

    def ask(self, request: wire.Ask) -> bytes:
        """One request for the broker as a whole; the body of its answer."""
        code, ext, body = request
        if self._hear:
            self._hear(MEMBER, BROKER, request_text(code, ext))
        try:
            answer = self._connected().call(code, ext, body)
        except OSError as error:
            raise self._broken(error) from error
        if self._hear:
            self._hear(BROKER, MEMBER, response_text(answer.code, answer.ext, answer.body))
        refused = wire.refused(answer)
        if refused is not None:
            raise AdapterError(f"The broker refused request {code}: {refused.code} {refused.detail}.")
        return answer.body

    def _play(self, jobs: Sequence[Job[T]]) -> list[T]:
        if not jobs:
            return []
        try:
            return run(self._connected(), jobs, self._life.patience(PATIENCE))
        except OSError as error:
            raise self._broken(error) from error

    def _broken(self, error: OSError) -> AdapterError:
        self.disconnect()
        if isinstance(error, TimeoutError):
            return AdapterError("The broker did not answer in time: see whether it is overloaded, and replay.")
        said = self.source.describe_end()
        return AdapterError(f"{said[:1].upper()}{said[1:]} ({error}): start it again and replay.")

    def _connected(self) -> Connection:
        now = time.monotonic()
        if self._connection is not None and (self._connection.closed or now - self._used > _IDLE):
            self.disconnect()
        if self._connection is None:
            self._connection = self.source.open()
        self._used = now
        return self._connection

    def disconnect(self) -> None:
        """Close all connections; the next request makes a new one."""
        for member in self._members.values():
            member.close()
        self._members.clear()
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def broker_release(description: str) -> Release | None:
    """The release that a broker's description names: V4_9_7 is 4.9.7; None when it names none."""
    found = _DESCRIPTION.match(description)
    if not found:
        return None
    major, minor, patch, stage = found.groups()
    return Release(int(major), int(minor), int(patch), stage or "")
