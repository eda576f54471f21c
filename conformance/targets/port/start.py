"""The port's start positions: the offset from which push, lite pull and plain pull consumers start."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.port import timestamp as clocks
from rocketmq_conformance.conformance.targets.port.file_store import FileStore
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError, Transport
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import start as operations

FIRST = "CONSUME_FROM_FIRST_OFFSET"
TIMESTAMP = "CONSUME_FROM_TIMESTAMP"

_MAX = int(Request.GET_MAX_OFFSET)
_SEARCH = int(Request.SEARCH_OFFSET_BY_TIMESTAMP)
_SUCCESS = int(Response.SUCCESS)

#: The errors of the checked variant.
NO_START = Err("CLIENT")
NO_TIME = Err("RUNTIME")


#: One of the three decisions: (queue, where, timestamp, zone) -> offset in messages.
Decide = Callable[[int, str, str | None, str], int]


class NoStartError(Exception):
    """The start offset is unknown."""


class NoTimeError(Exception):
    """The consumer's timestamp cannot be parsed."""


class StartPosition:
    """The start decisions of one consumer. Queues are given by their key in the topology."""

    def __init__(self, transport: Transport, topology: Topology = ORDINARY) -> None:
        self.transport = transport
        self.queues = topology.queues
        self.headers = [{"topic": queue.topic, "queueId": str(queue.id)} for queue in self.queues]
        self.remote = RemoteStore(transport, topology)
        #: The store of the consumer, by its message model.
        self.store: RemoteStore | FileStore = self.remote
        self.times: dict[tuple[str | None, str], int] = {}

    def forget(self) -> None:
        """Become a new consumer of a cluster."""
        self.store = self.remote
        self.remote.forget()

    def broadcast(self, store: FileStore) -> None:
        """Become a new broadcasting consumer, with what its file holds."""
        self.store = store
        store.restart()

    # --- decisions ----------------------------------------------------------------------------------------

    def push(self, queue: int, where: str, text: str | None, zone: str) -> int:
        """A push consumer's start; NoStartError or NoTimeError."""
        stored = self.push_stored(queue)
        if self.is_stored(stored):
            return stored
        if stored != NO_OFFSET:
            return self.push_unreadable(queue, where)
        return self.usable(self.begin(queue, where, text, zone))

    def push_stored(self, queue: int) -> int:
        """The offset that a push consumer goes on from."""
        return self.store.read_stored(queue)

    def push_unreadable(self, queue: int, where: str) -> int:
        """Push has no start when the broker fails."""
        raise NoStartError

    def usable(self, offset: int) -> int:
        """Push does not start at a negative offset."""
        if offset < 0:
            raise NoStartError
        return offset

    def lite_pull(self, queue: int, where: str, text: str | None, zone: str) -> int:
        """A lite pull consumer's start, -1 for none; NoStartError or NoTimeError."""
        stored = self.lite_stored(queue)
        if self.is_stored(stored):
            return stored
        if stored != NO_OFFSET:
            return self.lite_unreadable(queue, where)
        return self.begin(queue, where, text, zone)

    def lite_stored(self, queue: int) -> int:
        """The offset that a lite pull consumer goes on from."""
        return self.store.read(queue, "memory-then-store")

    def lite_unreadable(self, queue: int, where: str) -> int:
        """Lite pull answers -1 when the broker fails."""
        return -1

    def pull(self, queue: int, where: str, text: str | None, zone: str) -> int:
        """A plain pull consumer's start: it has no ConsumeFromWhere."""
        return 0

    def is_stored(self, offset: int) -> bool:
        """Is that an offset, and no sentinel?"""
        return offset >= 0

    # --- without a stored offset --------------------------------------------------------------------------

    def begin(self, queue: int, where: str, text: str | None, zone: str) -> int:
        """The start offset of a queue without a stored one."""
        if self.is_retry(self.queues[queue].topic):
            return self.begin_retry(queue, where)
        if where == FIRST:
            return self.first(queue)
        if where == TIMESTAMP:
            return self.search_offset(queue, self.time(text, zone))
        return self.last(queue, where)

    def is_retry(self, topic: str) -> bool:
        """Is it a retry topic?"""
        return topic.startswith("%RETRY%")

    def begin_retry(self, queue: int, where: str) -> int:
        """The start offset of a retry topic."""
        return self.max(queue) if where == TIMESTAMP else 0

    def first(self, queue: int) -> int:
        """The first offset, whether or not the broker still has it."""
        return 0

    def last(self, queue: int, where: str) -> int:
        """The next offset to be written; the deprecated values of ConsumeFromWhere mean the same."""
        return self.max(queue)

    # --- asking the broker --------------------------------------------------------------------------------

    def max(self, queue: int) -> int:
        """The next offset to be written."""
        return self.bound(queue, _MAX, self.header(queue))

    def search_offset(self, queue: int, time: int) -> int:
        """The first offset that was stored at ``time`` (ms since the epoch) or later."""
        return self.bound(queue, _SEARCH, self.header(queue) | {"timestamp": str(time), "boundaryType": "LOWER"})

    def header(self, queue: int) -> dict[str, str]:
        """The header of a request that concerns one queue."""
        return self.headers[queue]

    def bound(self, queue: int, code: int, ext: dict[str, str]) -> int:
        """Ask the broker for an offset; NoStartError."""
        topic, broker, _ = self.queues[queue]
        try:
            answered, _, fields, _ = self.transport.ask(topic, broker, code, ext)
        except (NoRouteError, OSError):
            return self.bound_failed(queue)
        if answered != _SUCCESS or "offset" not in fields:
            return self.bound_failed(queue)
        return int(fields["offset"])

    def bound_failed(self, queue: int) -> int:
        """The broker did not give an offset, so that there is no start."""
        raise NoStartError

    # --- time ---------------------------------------------------------------------------------------------

    def time(self, text: str | None, zone: str) -> int:
        """The consumer's timestamp in ms since the epoch, read once; NoTimeError."""
        time = self.times.get((text, zone))
        if time is None:
            time = self.times[text, zone] = self.read_time(text or "", zone)
        return time

    def read_time(self, text: str, zone: str) -> int:
        """The moment that a timestamp names; NoTimeError."""
        fields = self.fields(text)
        clock = self.clock(fields) if fields else None
        if clock is None:
            raise NoTimeError
        return clocks.milliseconds(self.instant(clock, zone))

    def fields(self, text: str) -> tuple[int, ...] | None:
        """The numbers of a timestamp."""
        return clocks.fields(text)

    def clock(self, fields: tuple[int, ...]) -> datetime | None:
        """The local time that the fields name."""
        return clocks.reading(*fields)

    def instant(self, clock: datetime, zone: str) -> datetime:
        """The moment of a local time in the machine's zone."""
        return clocks.instant(clock, zone)

    # --- operations ---------------------------------------------------------------------------------------

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.transport.begin(case)
        self.forget()

    def around(self) -> Methods:
        """The method that does each operation besides starting, by its class."""
        return {
            operations.Update: self.store.update,
            operations.Remove: self.store.remove,
            operations.Read: self.store.read,
        }


def checked(decide: Decide, queue: int, where: str, text: str | None, zone: str) -> Result:
    """A decision with its errors as outcomes."""
    try:
        return decide(queue, where, text, zone)
    except NoStartError:
        return NO_START
    except NoTimeError:
        return NO_TIME


def unchecked(decide: Decide, queue: int, where: str, text: str | None, zone: str) -> Result:
    """The same without errors, as the older method has it: no start is -1."""
    result = checked(decide, queue, where, text, zone)
    return -1 if result is NO_START else result
