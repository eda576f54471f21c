"""The adapter of brokers: turns operations into requests over one connection, in as many lanes as requested.

Every case has topic and group names of its own, and no case restarts the broker unless its suite has operations for
that, on a broker that the adapter started itself. How a suite is played is in the module that bears its name.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from typing import TypeVar

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, Case, Hello, Play, RecordMessage
from rocketmq_conformance.conformance.engine.documents import what_is_wrong
from rocketmq_conformance.conformance.engine.transcript import BROKER, MEMBER, request_text, response_text
from rocketmq_conformance.conformance.fakes.broker import NAME, ROLE, SLAVE
from rocketmq_conformance.conformance.properties.defaults import new_with, parse
from rocketmq_conformance.conformance.properties.found import FoundProperty, off_default
from rocketmq_conformance.conformance.properties.harmless import why_harmless
from rocketmq_conformance.conformance.properties.pairs import off_default_of_pair
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.startup import phase, time_left
from rocketmq_conformance.conformance.targets.broker import requests as wire
from rocketmq_conformance.conformance.targets.broker import responses
from rocketmq_conformance.conformance.targets.broker.broker_location import BrokerLocation
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import (
    Requests,
    UnsupportedHereError,
    begin,
    clean_up,
    leave,
)
from rocketmq_conformance.conformance.targets.broker.member_connections import MemberConnections
from rocketmq_conformance.conformance.targets.broker.missing_needs import AT_SLAVE, missing_needs, readable
from rocketmq_conformance.conformance.targets.broker.part import LANES, Need, Part
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import PATIENCE, Job, run, stream
from rocketmq_conformance.conformance.targets.broker.process_control import ProcessControl
from rocketmq_conformance.conformance.targets.broker.recorded_job import recorded
from rocketmq_conformance.conformance.targets.broker.refusals import broken, refused_account, refuses_account
from rocketmq_conformance.conformance.targets.discovery import not_played, part_of
from rocketmq_conformance.conformance.waiting import SteadyClock
from rocketmq_conformance.models.broker.broker_process import DOWN, FROZEN
from rocketmq_conformance.models.broker.configuration import (
    LONG_POLLING,
    SHORT_POLLING,
)
from rocketmq_conformance.models.outcome import Err, Outcome, Unsupported, outcome_of
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.judged_step import each_of, relay
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import Suite

T = TypeVar("T")

#: First release that acknowledges a topic only when it exists (BQ-TOPIC-1).
_WAITS_FOR_TOPICS = Release(4, 7, 1)
#: Seconds without use after which the broker may have closed a connection.
_IDLE = 0.5
_SIDES = (Side.BROKER.value,)
_DESCRIPTION = re.compile(r"V(\d+)_(\d+)_(\d+)(?:_(ALPHA|PREVIEW))?")


class BrokerAdapter:
    """Drives one broker. ``reset`` and ``apply`` use the first lane; ``reset_many`` and ``apply_many`` all of them.

    With a broker that the kit did not start, everything that a case created is deleted when its lane begins another
    case, or at the end.
    """

    exclusive = True

    def __init__(self, source: BrokerLocation, clock: SteadyClock = time) -> None:
        self.source = source
        #: Measures how old locks are, and lets them expire.
        self._clock = clock
        self._epoch = time.time() - clock.monotonic()
        #: The parts, by their suite's name.
        self._parts: dict[str, Part] = {name: part for name in SUITES if (part := part_of(__package__, name))}
        #: The job of each operation of any suite, or the method of ``ProcessControl`` for the broker as a whole.
        self._jobs = {operation: job for part in self._parts.values() for operation, job in part.jobs.items()}
        self._controls = {operation: do for part in self._parts.values() for operation, do in part.controls.items()}
        self._of_a_pair = frozenset[type[Operation]]().union(*(part.of_a_pair for part in self._parts.values()))
        self._connection: Connection | None = None
        #: The connection to the broker's slave.
        self._slave: Connection | None = None
        self._run = secrets.token_hex(4)
        self._cases = 0
        self._lanes: dict[int, CaseNames] = {}
        self._members = MemberConnections(source.open)
        #: The time of the connection's last use; brokers close one that is idle for two minutes, or as configured.
        self._version = ""
        #: May be pulled from the broker?
        self._readable = True
        self._broker_name = NAME
        #: The time between the broker's checks of held pulls (s).
        self._hold_check, self._short_polling = source.hold_check, False
        #: The group that reads store times, and whether it exists.
        self._reader = f"conf-{self._run}-reader"
        self._reads = False
        self._process = ProcessControl(source.own, self, source.beside)
        #: The last request about a reset that was sent to members, by group.
        self._resets: dict[str, Command] = {}

    # --- the adapter ------------------------------------------------------------------------------------------

    def hello(self) -> Hello:
        """Ask the broker which release it is, and for its configuration."""
        text = self._description()
        release = broker_release(text)
        self.source.accept(text, release)
        if self.source.unpacked:
            release = self.source.unpacked.judged
            text = f"{text}: {self.source.unpacked}"
        own = self.source.own
        read, unread = self._configuration()
        for name, value in self.source.properties.items():
            if not unread and read.get(name) != value:
                raise CannotRunError(f"The broker did not take {name}={value}: it says {read.get(name)!r}.")
        self._readable = readable(read)
        self._broker_name = read.get("brokerName") or NAME
        self._short_polling = read.get(LONG_POLLING) == "false"
        short = int(read.get(SHORT_POLLING, 1000)) / 1000
        self._hold_check = short if self._short_polling else self.source.hold_check
        return Hello(
            "broker",
            text,
            broker=None if release is None else str(release),
            java=None if own is None else own.java,
            patience=max((one.patience for one in (own, self.source.beside) if one is not None), default=0.0),
            upgraded_from=str(own.upgraded_from) if own and own.upgraded_from else None,
            unsupported=dict.fromkeys(self._parts, AT_SLAVE)
            if read.get(ROLE) == SLAVE
            else self._unsupported(missing_needs(self.source, release, read)),
            sides=_SIDES,
            properties=self._found(release, read),
            configuration_unread=unread,
            notes=(*self.source.notes, *_new(release, read)),
        )

    def _found(self, release: Release | None, read: Mapping[str, str]) -> tuple[FoundProperty, ...]:
        """What is off its default; of a pair that runs already, at either of the two."""
        if self.source.beside is None:
            return tuple(off_default(release, read, self.source.given))
        return tuple(off_default_of_pair(release, read, self.source.beside.configuration(read)))

    def _configuration(self) -> tuple[dict[str, str], str]:
        """The broker's properties, and why they could not be read, as half a sentence."""
        connection = self._connected()
        try:
            answer = self._first_answer(connection, wire.configuration())
        except OSError as error:
            self.disconnect()
            return {}, f"the broker does not answer GET_BROKER_CONFIG ({error})"
        refused = responses.refused(answer)
        if refused is None:
            return parse(self.source.access.redacted(answer.body.decode("utf-8", "replace"))), ""
        return {}, f"the broker refuses to show its configuration ({refused.code} {refused.detail})".replace(" )", ")")

    def _unsupported(self, missing: Mapping[Need, str]) -> dict[str, str]:
        """The suites that this broker cannot be judged by, with the reason."""
        found = not_played(__package__, "broker", _SIDES)
        for name, part in sorted(self._parts.items()):
            reasons = [missing[need] for need in Need if need in part.needs and need in missing]
            if reasons:
                found[name] = reasons[0]
        return found

    def reset(self, case: Case) -> None:
        """Begin a case in the first lane."""
        self.reset_many([(0, case.suite)])

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation in the first lane."""
        return self.apply_many([(0, operation)])[0]

    def close(self) -> None:
        """Delete what is left on a broker that the kit did not start, and release everything."""
        try:
            if self._connection is not None and not self._connection.closed and self.source.own is None:
                self._connection.forget()  # what a case that was interrupted waited for
                reader = CaseNames("", self._reader, used_groups={self._reader} if self._reads else set())
                run(self._connection, [clean_up(names) for names in (*self._lanes.values(), reader)])
                if self._slave is not None:
                    run(self._to_slave(), [clean_up(names) for names in self._lanes.values()])
        except OSError:
            pass  # what cannot be deleted stays
        finally:
            self.disconnect()
            if self._slave is not None:
                self._slave.close()
            self.source.close()

    def shared_addresses(self) -> tuple[str, ...]:
        """The addresses of the brokers that this adapter starts for others; none when the kit does not start it."""
        return self.source.shared_addresses()

    def record_messages(self, record: RecordMessage | None) -> None:
        """Record every request and response of operations from now on; None ends it."""
        self._members.record = record

    # --- lanes ------------------------------------------------------------------------------------------------

    def lanes(self, suite: Suite) -> int:
        """The number of cases of a suite that may be played side by side."""
        part = self._parts.get(suite.name)
        return LANES if part is None else part.lanes

    def case_seconds(self, suite: Suite) -> float:
        """What a case waits for is real, but at the fake broker."""
        return suite.case_seconds if self.source.takes_time else 0.0

    def reset_many(self, cases: Sequence[tuple[int, Suite]]) -> None:
        """Begin a case of a suite in each of these lanes."""
        self._begin_pair(any(self._needs_slave(suite) for _, suite in cases))
        self._play([clean_up(self._lanes.pop(lane)) for lane, _ in cases if lane in self._lanes])
        self._process.warm()
        self._begin_reading()
        late_topics = self.late_topics()
        self._play([self._begin(lane, suite, late_topics) for lane, suite in cases])

    def _begin_pair(self, needs_slave: bool) -> None:
        """Have a broker that runs, with a slave if that is needed, and neither with pulls from before, which the other
        one may not read (SLV-SYNC-PULLED, SLV-ACT-OFFLINE)."""
        if needs_slave and self._slave is not None and self._lanes:
            if self.source.beside is not None:
                # a slave that asks in between takes the offsets again that were deleted there
                self._play([clean_up(names) for names in self._lanes.values()])
            run(self._to_slave(), [clean_up(names) for names in self._lanes.values()], clock=self._clock)
        self._process.revive()
        if not needs_slave:
            return
        self._process.pair()
        self._play([clean_up(self._lanes.pop(lane)) for lane in list(self._lanes)])
        if self._reads:
            self.ask(wire.delete_group(self._reader, "cleanOffset", "removeOffset"))
            self._reads = False

    def _needs_slave(self, suite: Suite) -> bool:
        part = self._parts.get(suite.name)
        return part is not None and Need.SLAVE in part.needs

    def _begin(self, lane: int, suite: Suite, late_topics: bool) -> Job[None]:
        """Begin a case in a lane; are topics acknowledged before they exist?"""
        self._cases += 1
        names = self._lanes[lane] = CaseNames(f"conf-{self._run}-{self._cases}", self._reader, late_topics)
        names.take_reset_notice = self._take_reset_notice
        names.lease, names.delay = self.source.lease, self.source.delay
        names.readable = self._readable
        names.takes_time, names.broker = self.source.takes_time, self._broker_name
        names.clock, names.start, names.epoch = self._clock, self._clock.monotonic(), self._epoch
        self._members.give(names, lane)
        names.hold_check, names.lateness = self._hold_check, self.source.lateness
        names.short_polling = self._short_polling
        part = self._parts.get(suite.name)
        yield from begin(names, part is None or part.with_topic, part is None or part.with_group)

    def late_topics(self) -> bool:
        """Does the broker acknowledge a topic before it exists?"""
        release = broker_release(self._description()) if self.source.late_topics else None
        return release is not None and release < _WAITS_FOR_TOPICS

    def _begin_reading(self) -> None:
        if not self._reads:
            self.ask(wire.create_group(self._reader))
            self._reads = True

    def apply_many(self, work: Sequence[tuple[int, Operation]]) -> list[Outcome]:
        """Do one operation in each of these lanes, all at once; the outcomes are in the same order."""
        if len(work) == 1 and (control := self._controls.get(type(work[0][1]))) is not None:
            operation = work[0][1]
            return [self._process.do(control, operation, type(operation) in self._of_a_pair)]
        if self._process.state == DOWN:
            return [self._process.reached() for _ in work]
        return self._play([self._job(lane, operation) for lane, operation in work])

    def play_many(self, cases: Sequence[tuple[int, Sequence[Operation]]]) -> list[list[Outcome]]:
        """Do whole sequences of operations, one in each of these lanes, without waiting for one another."""
        return self._play([self._sequence(lane, partial(each_of, operations)) for lane, operations in cases])

    def stream(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Future[T], None, None]:
        """Play cases of a suite from their beginning on, each in a lane of its own. A next one begins when as many
        results were taken as there are lanes."""
        self._begin_pair(self._needs_slave(suite))
        self._process.warm()
        self._begin_reading()
        late_topics = self.late_topics()
        lanes = self.lanes(suite)
        free = list(range(lanes))
        jobs = (self._case(free, suite, late_topics, play) for play in cases)
        try:
            yield from stream(self._connected(), jobs, lanes, self._process.patience(PATIENCE), self._clock)
        except OSError as error:
            raise self._disconnect_error(error) from error

    def play_cases(self, suite: Suite, cases: Iterable[Sequence[Operation]]) -> Generator[list[Outcome], None, None]:
        """The same for cases that are played to their end whatever comes: the outcomes of each."""
        with closing(self.stream(suite, (partial(each_of, operations) for operations in cases))) as played:
            for ended in played:
                yield ended.result()

    def _case(self, free: list[int], suite: Suite, late_topics: bool, play: Play[T]) -> Job[Future[T]]:
        """Play a case in one of the free lanes."""
        lane = free.pop()
        if lane in self._lanes:
            yield from clean_up(self._lanes[lane])
        yield from self._begin(lane, suite, late_topics)
        came = yield from self._sequence(lane, play)
        free.append(lane)
        ended: Future[T] = Future()
        ended.set_result(came)
        return ended

    def _sequence(self, lane: int, play: Play[T]) -> Job[T]:
        came = yield from relay(play(), partial(self._job, lane))
        yield from leave(self._lanes[lane])
        return came

    def _job(self, lane: int, operation: Operation) -> Job[Outcome]:
        make = self._jobs.get(type(operation))
        if make is None:
            return Unsupported(f"a broker is not asked for {operation.spec.name} here")
        return (yield from self._done(lane, lambda names: make(names, *operation.args)))

    def _done(self, lane: int, make: Callable[[CaseNames], Requests]) -> Job[Outcome]:
        """The outcome of a job of the case in a lane."""
        names = self._lanes[lane]
        job = make(names)
        try:
            result = yield from job if self._members.record is None else recorded(job, names, self._members.record)
        except UnsupportedHereError as error:
            return Unsupported(str(error))
        except TimeoutError as error:
            # what a frozen broker does with it is part of the model
            return Err("TIMEOUT", definite=self._process.state == FROZEN, detail=str(error))
        return outcome_of(result)

    def _take_reset_notice(self, group: str) -> Command | None:
        """The last request about a reset that the broker sent to the members of a group; it is given once."""
        connection = self._connection
        for request in connection.requests() if connection is not None else ():
            if request.code == Request.RESET_CONSUMER_CLIENT_OFFSET:
                self._resets[request.ext.get("group", "")] = request
        return self._resets.pop(group, None)

    # --- the broker as a whole --------------------------------------------------------------------------------

    def _description(self) -> str:
        """The broker's description of its version, such as V5_5_0; asked once."""
        if not self._version:
            self._version = self._ask_version()
        return self._version

    def _start_patience(self) -> float:
        """The timeout of a first question (s): a broker that the kit has started is there, however busy it is."""
        return PATIENCE if self.source.own is None else time_left(PATIENCE)

    def _first_answer(self, connection: Connection, ask: wire.Ask) -> Command:
        with phase(f"asking the broker at {connection.address} ({Request(ask.code).name})"):
            return connection.call(ask.code, ask.ext, timeout=self._start_patience())

    def _ask_version(self) -> str:
        connection, patience = self._connected(), self._start_patience()
        try:
            answer = self._first_answer(connection, wire.runtime_info())
            if refuses_account(answer):
                raise CannotRunError(refused_account(connection.address, answer, self.source.access))
            if answer.code:
                raise ValueError(f"it refuses GET_BROKER_RUNTIME_INFO with code {answer.code} {answer.remark}")
            return str(java_json.loads(answer.body.decode())["table"]["brokerVersionDesc"])
        except TimeoutError as error:
            self.disconnect()
            raise CannotRunError(
                f"What listens at {connection.address} did not answer GET_BROKER_RUNTIME_INFO in {patience:.0f} s: see "
                "whether it is a broker, and what keeps it."
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.disconnect()
            reason = broken(connection) if isinstance(error, ConnectionError) else ""
            raise CannotRunError(
                reason
                or f"What listens at {connection.address} is no broker ({what_is_wrong(error)}): name the address of "
                "one."
            ) from error

    def first(self, operation: Operation) -> Outcome:
        """Do one operation in the first lane, as a request."""
        return self._play([self._job(0, operation)])[0]

    def first_job(self, make: Callable[[CaseNames], Requests]) -> Outcome:
        """Do a job of the case in the first lane."""
        return self._play([self._done(0, make)])[0]

    def slave_job(self, make: Callable[[CaseNames], Requests]) -> Outcome:
        """Do a job of the case in the first lane at the broker's slave."""
        try:
            return run(self._to_slave(), [self._done(0, make)], clock=self._clock)[0]
        except OSError as error:
            raise AdapterError(f"The slave does not answer ({error}): see whether it runs, and replay.") from error

    def _to_slave(self) -> Connection:
        """The connection to the slave."""
        known = self._slave
        if known is None or not known.usable(0.0):
            known = self._slave = self._process.slave.open()
        return known

    def topic_name(self, lane: int, topic: int) -> str:
        """The broker's name of a topic of the case in a lane."""
        return self._lanes[lane].topic(topic)

    def forget_messages(self, lane: int, topic: int, queue: int, count: int) -> None:
        """The broker deleted the oldest messages of a queue: searches begin with what is left."""
        names = self._lanes[lane]
        key = names.topic(topic), queue
        names.logs[key] = names.logs[key]._replace(times=names.logs[key].times[count:])

    def ask(self, request: wire.Ask) -> bytes:
        """Send one request for the broker as a whole; the body of the response."""
        code, ext, body = request
        if self._members.record:
            self._members.record(MEMBER, BROKER, request_text(code, ext))
        try:
            answer = self._connected().call(code, ext, body)
        except OSError as error:
            raise self._disconnect_error(error) from error
        if self._members.record:
            self._members.record(BROKER, MEMBER, response_text(answer.code, answer.ext, answer.body))
        refused = responses.refused(answer)
        if refused is not None:
            raise AdapterError(f"The broker refused request {code}: {refused.code} {refused.detail}.")
        return answer.body

    def _play(self, jobs: Sequence[Job[T]]) -> list[T]:
        if not jobs:
            return []
        try:
            return run(self._connected(), jobs, self._process.patience(PATIENCE), self._clock)
        except OSError as error:
            raise self._disconnect_error(error) from error

    def _disconnect_error(self, error: OSError) -> AdapterError:
        self.disconnect()
        if isinstance(error, TimeoutError):
            return AdapterError("The broker did not answer in time: see whether it is overloaded, and replay.")
        end = self.source.describe_end()
        return AdapterError(f"{end[:1].upper()}{end[1:]} ({error}): start it again and replay.")

    def _connected(self) -> Connection:
        if self._connection is not None and not self._connection.usable(_IDLE):
            # those of members have an end of their own
            self._connection, self._version = None, ""
        if self._connection is None:
            self._connection = self.source.open()
        return self._connection

    def disconnect(self) -> None:
        """Close all connections; the next request makes a new one, perhaps to another release."""
        self._version = ""
        self._members.close()
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _new(release: Release | None, read: Mapping[str, str]) -> Iterator[str]:
    """A sentence on the properties that came with a release that the kit does not know."""
    new = [] if release is None else [name for name in new_with(release, read) if not why_harmless(name)]
    if new:
        yield (
            f"{release} brings properties whose defaults the kit does not know, so that they say nothing about the "
            f"configuration: {', '.join(f'{name}={read[name]}' for name in new)}"
        )


def broker_release(description: str) -> Release | None:
    """The release that a broker's description names: V4_9_7 is 4.9.7; None when it names none."""
    found = _DESCRIPTION.match(description)
    if not found:
        return None
    major, minor, patch, stage = found.groups()
    return Release(int(major), int(minor), int(patch), stage or "")
