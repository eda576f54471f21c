"""The adapter of real brokers: operations become requests, over one connection, in as many lanes as asked for.

Every case has topic and group names of its own, and no case restarts the broker: only the operations of
``broker-restart`` do, on a broker that the adapter started itself.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, Case, Hello
from rocketmq_conformance.conformance.broker import administering, assigning, doubting, locking, operations, pages, wire
from rocketmq_conformance.conformance.broker.heard import heard
from rocketmq_conformance.conformance.broker.lanes import PATIENCE, Job, run
from rocketmq_conformance.conformance.broker.operations import DEFAULT_LEASE, Names, begin, clean_up, leave
from rocketmq_conformance.conformance.broker.pipeline import Pipeline
from rocketmq_conformance.conformance.broker.process import Broker, Here, JavaProcess
from rocketmq_conformance.conformance.broker.routing import RouteServer, routed
from rocketmq_conformance.conformance.broker.store import write_aged_store
from rocketmq_conformance.conformance.messages import BROKER, MEMBER, Hear, request_text, response_text
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.broker.processes import DOWN, FROZEN, RUNNING
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported, outcome_of
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.broker_offsets import Query
from rocketmq_conformance.suites.operation import Operation
from rocketmq_conformance.suites.suite import Suite

T = TypeVar("T")

#: Cases that are played side by side when nobody says otherwise.
LANES = 64
#: Suites whose cases mostly wait, and how many of them are played side by side.
WAITING, WAITING_LANES = frozenset({"broker-locks"}), 256
#: How long the locks of brokers live that the adapter starts (s): long beside a request, short beside patience.
SHORT_LEASE = 1.0
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
#: How long the broker may take to write stored offsets: first after 10 s, then every second.
_SAVE_LIMIT = 60.0
#: Seconds without an answer that show a broker to be frozen, and in which one that goes on has done what it was asked.
_SILENCE = 0.5
_SETTLED = 0.3
#: First release that acknowledges a topic when it is there (BQ-TOPIC-1).
_WAITS_FOR_TOPICS = Release(4, 7, 1)
#: Seconds after which an older one has surely written it to disk.
_LATE = 0.5
#: Seconds without use after which a connection is made anew.
_IDLE = 60.0
#: How often a query is asked again because its message came into memory, or went, just then.
_LOOKS = 5
_RATIO = "accessMessageInMemoryMaxRatio"
_ORDINARY_RATIO = "40"
_OPERATIONS = (
    operations.OPERATIONS | administering.OPERATIONS | locking.OPERATIONS | doubting.OPERATIONS | assigning.OPERATIONS
)
_DESCRIPTION = re.compile(r"V(\d+)_(\d+)_(\d+)(?:_(ALPHA|PREVIEW))?")


class Source(Protocol):
    """Where the broker is, and what may be done with it."""

    #: Does the adapter own the broker, so that it may be stopped and reconfigured?
    owned: bool

    #: How long its locks live (s).
    lease: float

    #: Is its name server the kit's, with the routes of ``broker-assignment``?
    routed: bool

    def open(self) -> Connection:
        """Connect, starting the broker if need be; CannotRunError when it cannot be."""
        ...

    def describe_end(self) -> str:
        """Why a connection may have broken: the end of the broker, in a few words."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


class Running:
    """A broker that somebody else runs."""

    owned = False

    def __init__(self, host: str, port: int, lease: float = DEFAULT_LEASE, routed: bool = False) -> None:
        self.host, self.port = host, port
        self.lease = lease
        self.routed = routed

    def open(self) -> Connection:
        """Connect."""
        try:
            return Pipeline(self.host, self.port)
        except OSError as error:
            raise CannotRunError(
                f"No broker answers at {self.host}:{self.port} ({error}): start it, or name another address."
            ) from error

    def describe_end(self) -> str:
        return f"the broker at {self.host}:{self.port} closed the connection"

    def close(self) -> None:
        """Nothing is ours."""


class Started:
    """A broker that the adapter starts, on an aged store."""

    owned = True

    def __init__(
        self,
        release: Release,
        make: Callable[[], Broker] | None = None,
        image: str = "",
        java: int = 0,
        *,
        contained: bool = False,
    ) -> None:
        """``java`` is a feature release; ``contained`` says that it is in a container.

        ``image`` is one that the user named: who knows which release it holds.
        """
        self.release = release
        self.image = image
        self.lease = SHORT_LEASE
        #: Does the broker ask the kit's name server for routes? One in a container does not reach it.
        self.routed = routed(release) and not contained
        self._make = make or self._made
        self._java = java
        self._broker: Broker | None = None
        self._routes: RouteServer | None = None

    def _made(self) -> Broker:
        if not self.routed:
            return Broker(self.release, write_aged_store, lease=self.lease, place=Here(java=self._java))
        if self._routes is None:
            self._routes = RouteServer(self.release)
        routes = self._routes.start()
        return Broker(self.release, write_aged_store, routes, lease=self.lease, place=Here(java=self._java))

    @property
    def broker(self) -> Broker:
        """The process; started on first use."""
        if self._broker is None:
            made = self._make()
            try:
                made.start()
            except BaseException:
                made.close()
                raise
            self._broker = made
        return self._broker

    def open(self) -> Connection:
        """Connect."""
        try:
            return Pipeline("127.0.0.1", self.broker.port)
        except OSError as error:
            raise AdapterError(f"{self.describe_end()}: {error}.") from error

    def describe_end(self) -> str:
        process = self.broker.process
        if process.alive:
            return f"{process.name} closed the connection"
        return f"{process.name} died; the last it said: {process.last_error()}"

    def close(self) -> None:
        """Kill the broker and remove its folder."""
        if self._broker is not None:
            self._broker.close()
            self._broker = None
        if self._routes is not None:
            self._routes.stop()
            self._routes = None


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
        #: The memory ratio was changed and not yet set back.
        self._cold = False
        #: RUNNING, FROZEN or DOWN: what was done to the broker's process.
        self._place = RUNNING
        self._version = ""
        #: The group that reads store times, and whether it exists.
        self._reader = f"conf-{self._run}-reader"
        self._reads = False
        self._hear: Hear | None = None
        #: Operations on the broker as a whole.
        self._whole: dict[str, Callable[..., Outcome]] = {
            "restart": self.restart,
            "stop": partial(self.end, STOP),
            "kill": partial(self.end, KILL),
            "start": self.start,
            "pause": self.pause,
            "resume": self.resume,
            "save": self.save,
            "memory": self.memory,
            "evict": self.evict,
            "query_pages": self.query_pages,
        }
        #: What members were told about resets, by group.
        self._resets: dict[str, Command] = {}

    # --- the adapter ------------------------------------------------------------------------------------------

    def hello(self) -> Hello:
        """Ask the broker which release it is."""
        text = self._said()
        release = broker_release(text)
        source = self.source
        unsupported = {}
        if isinstance(source, Started) and source.image and release != source.release:
            raise CannotRunError(
                f"The broker in the image {source.image} says that it is {text}: write broker:{release or 'RELEASE'}."
            )
        if not source.owned:
            reason = "needs a broker that the kit starts itself; judge broker:VERSION instead of HOST:PORT"
            needing = AGED_SUITES if source.routed else AGED_SUITES | ROUTED_SUITES
            unsupported = dict.fromkeys(sorted(needing), reason)
        elif not source.routed and release is not None and routed(release):
            reason = "needs a broker that reaches the kit's name server; judge broker:VERSION without via=container"
            unsupported = dict.fromkeys(sorted(ROUTED_SUITES), reason)
        if isinstance(source, Started) and not isinstance(source.broker.process, JavaProcess):
            unsupported["broker-cold"] = "needs a broker that runs as a program here; judge it without via=container"
        elif source.owned and (missing := pages.missing()):
            unsupported["broker-cold"] = missing
        java = source.broker.java if isinstance(source, Started) else None
        return Hello(
            "broker",
            text,
            broker=None if release is None else str(release),
            java=java,
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
            if self._connection is not None and not self._connection.closed and not self.source.owned:
                reader = Names("", self._reader, used_groups={self._reader} if self._reads else set())
                run(self._connection, [clean_up(names) for names in (*self._lanes.values(), reader)])
        except OSError:
            pass  # what cannot be deleted any more stays
        finally:
            self._disconnect()
            self.source.close()

    def shared_address(self) -> str:
        """Where others reach the broker that this adapter started; "" for a broker of somebody else."""
        if not isinstance(self.source, Started):
            return ""
        routes = "&routes=kit" if self.source.routed else ""
        return f"broker:127.0.0.1:{self.source.broker.port}?lease={int(self.source.lease * 1000)}{routes}"

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
        self._revive()
        self._play([clean_up(self._lanes.pop(lane)) for lane, _ in cases if lane in self._lanes])
        if self._cold:
            self._set_ratio(hot=True)
        self._begin_reading()
        late_topics = self._late_topics()
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

    def _late_topics(self) -> bool:
        """Does the broker acknowledge a topic before it is there?"""
        release = broker_release(self._said())
        return release is not None and release < _WAITS_FOR_TOPICS

    def _begin_reading(self) -> None:
        if not self._reads:
            self._ask(wire.create_group(self._reader))
            self._reads = True

    def apply_many(self, work: Sequence[tuple[int, Operation]]) -> list[Outcome]:
        """Do one operation in each of these lanes, all at once; the outcomes are in the same order."""
        if len(work) == 1 and (do := self._whole.get(work[0][1].form.name)):
            return [do(*work[0][1].args)]
        if self._place == DOWN:
            return [self._reached() for _ in work]
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
        requests = _OPERATIONS.get(operation.form.name)
        if requests is None:
            return Unsupported(f"{operation.form.name} is nothing that a broker is asked here")
        if operation.form.name == "wait" and self.source.lease > _LONGEST_LEASE:
            return Unsupported(_TOO_LONG)
        names = self._lanes[lane]
        job = requests(names, *operation.args)
        try:
            result = yield from job if self._hear is None else heard(job, names, self._hear)
        except TimeoutError as error:
            # what a frozen broker does with it is part of the model
            return Err("TIMEOUT", definite=self._place == FROZEN, detail=str(error))
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
        doubting.send_and_cut(host, int(port), ask, cut)

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
            self._disconnect()
            raise CannotRunError(
                f"What listens at {connection.address} is no broker ({error}): name the address of one."
            ) from error

    def restart(self, how: str) -> Outcome:
        """Stop or kill the broker, and start it again."""
        ended = self.end(how)
        return ended if isinstance(ended, Unsupported) else self.start(how)

    def end(self, how: str) -> Outcome:
        """Stop or kill the broker."""
        source = self.source
        if not isinstance(source, Started):
            return Unsupported("a broker that the kit did not start cannot be restarted")
        if self._place == RUNNING and self._late_topics():
            time.sleep(_LATE)  # a topic that is there may not be on disk yet
        self._disconnect()
        (source.broker.kill if how == KILL else source.broker.stop)()
        self._place = DOWN
        self._cold = False
        return Ok()

    def start(self, how: str = STOP) -> Outcome:
        """Start the broker after a stop or kill."""
        source = self.source
        if not isinstance(source, Started):
            return Unsupported("a broker that the kit did not start cannot be restarted")
        try:
            source.broker.start()
        except CannotRunError as error:
            raise AdapterError(f"The broker did not come back after a {how}: {error}") from error
        self._place = RUNNING
        return Ok()

    def pause(self) -> Outcome:
        """Freeze the broker."""
        source = self.source
        if not isinstance(source, Started):
            return Unsupported("a broker that the kit did not start cannot be frozen")
        source.broker.process.pause()
        self._place = FROZEN
        return Ok()

    def resume(self) -> Outcome:
        """Let the broker go on, and wait until it has caught up."""
        source = self.source
        if not isinstance(source, Started):
            return Unsupported("a broker that the kit did not start cannot be frozen")
        source.broker.process.resume()
        self._place = RUNNING
        self._ask(wire.runtime_info())
        time.sleep(_SETTLED)
        return Ok()

    def _revive(self) -> None:
        """A case begins with a broker that runs."""
        if self._place == FROZEN:
            self.resume()
        elif self._place == DOWN:
            self.start()

    def _reached(self) -> Outcome:
        """Does anybody listen where the broker did?"""
        assert isinstance(self.source, Started)
        try:
            Connection("127.0.0.1", self.source.broker.port, _SILENCE).close()
        except OSError:
            return Err("UNREACHABLE")
        return Err("REACHABLE", detail="somebody listens on the port of a broker that was ended")

    def save(self) -> Outcome:
        """Wait until the offsets on disk are those in memory."""
        source = self.source
        if not isinstance(source, Started):
            return Unsupported("the offsets file of a broker that the kit did not start cannot be seen")
        until = time.monotonic() + _SAVE_LIMIT
        while time.monotonic() < until:
            wanted = _table(self._ask(wire.stored_offsets()).decode())
            try:
                written = _table(source.broker.offsets_file.read_text())
            except (OSError, ValueError):  # just being written
                written = None
            if written == wanted:
                return Ok()
            time.sleep(0.1)
        raise AdapterError(
            f"The broker did not write its offsets in {_SAVE_LIMIT:.0f} s: see whether its disk is full."
        )

    def memory(self, hot: bool) -> Outcome:
        """Set the memory ratio to 0, or back."""
        if not self.source.owned:
            return Unsupported("the settings of a broker that the kit did not start are left alone")
        self._set_ratio(hot)
        return Ok()

    def evict(self) -> Outcome:
        """Put the messages out of memory."""
        source = self.source
        if not isinstance(source, Started) or not isinstance(source.broker.process, JavaProcess):
            return Unsupported("a broker that the kit did not start as a program here is left its memory")
        reason = pages.evict(source.broker.process.pid, source.broker.store)
        return Unsupported(reason) if reason else Ok()

    def query_pages(self, group: int, topic: int, queue: int, set_zero: bool | None) -> Outcome:
        """Query an offset in the first lane, while message 0 is in memory all the time, or out of it."""
        source = self.source
        if not isinstance(source, Started):
            return Unsupported("what a broker that the kit did not start has in memory cannot be seen")
        name = self._lanes[0].topic(topic)
        for _ in range(_LOOKS):
            before = pages.in_memory(source.broker.store, name, queue)
            (outcome,) = self._play([self._job(0, Query(group, topic, queue, set_zero))])
            if pages.in_memory(source.broker.store, name, queue) == before:
                break
        else:
            return Err("RESTLESS", definite=False, detail="message 0 is put in and out of memory all the time")
        if isinstance(outcome, Ok):
            return Ok((outcome.value, before))
        return Ok((outcome.code, before)) if isinstance(outcome, Err) and outcome.definite else outcome

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
        return self._ask(request)

    def _set_ratio(self, hot: bool) -> None:
        self._ask(wire.set_property(_RATIO, _ORDINARY_RATIO if hot else "0"))
        self._cold = not hot

    def _ask(self, request: wire.Ask) -> bytes:
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
            return run(self._connected(), jobs, _SILENCE if self._place == FROZEN else PATIENCE)
        except OSError as error:
            raise self._broken(error) from error

    def _broken(self, error: OSError) -> AdapterError:
        self._disconnect()
        if isinstance(error, TimeoutError):
            return AdapterError("The broker did not answer in time: see whether it is overloaded, and replay.")
        said = self.source.describe_end()
        return AdapterError(f"{said[:1].upper()}{said[1:]} ({error}): start it again and replay.")

    def _connected(self) -> Connection:
        now = time.monotonic()
        if self._connection is not None and (self._connection.closed or now - self._used > _IDLE):
            self._disconnect()
        if self._connection is None:
            self._connection = self.source.open()
        self._used = now
        return self._connection

    def _disconnect(self) -> None:
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


def _table(text: str) -> object:
    return java_json.loads(text).get("offsetTable")
