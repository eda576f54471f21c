"""The port's remote offset store: a table of offsets in memory, persisted to the broker."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request, Response, response_name
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET, OffsetTable
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError, Transport
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites import remote_store as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY

BROKER_FAILED = -2
NO_QUEUE = -3
#: The error of a commit when the broker has no route, and when it does not respond.
UNROUTED = Err("CLIENT")
UNANSWERED = Err("REMOTING")

_QUERY = int(Request.QUERY_CONSUMER_OFFSET)
_UPDATE = int(Request.UPDATE_CONSUMER_OFFSET)
_SUCCESS = int(Response.SUCCESS)
_NOT_FOUND = int(Response.QUERY_NOT_FOUND)


def header(topic: str, number: int) -> dict[str, str]:
    """The header fields that name the group and a queue."""
    return {"consumerGroup": GROUP, "topic": topic, "queueId": str(number)}


class OffsetNotFoundError(Exception):
    """The broker has no offset for the group."""


class QueryFailedError(Exception):
    """The query was not sent, or failed."""


class RemoteStore(OffsetTable):
    """Offsets of one consumer, and its requests to the broker."""

    def __init__(self, transport: Transport, topology: Topology = ORDINARY) -> None:
        super().__init__(topology)
        self.transport = transport
        self.queues = topology.queues
        self.headers = [header(queue.topic, queue.id) for queue in self.queues]
        self.queries = [self.query_header(queue.topic, queue.id) for queue in self.queues]

    # --- reading ------------------------------------------------------------------------------------------

    def read(self, queue: int, kind: str) -> int:
        """The offset of a queue from memory, from the broker, or from memory first."""
        if queue < 0:
            return NO_QUEUE
        if kind != "store":
            entry = self.table.get(queue)
            if entry is not None:
                return entry.offset
            if not self.falls_through(kind):
                return NO_OFFSET
        return self.read_stored(queue)

    def falls_through(self, kind: str) -> bool:
        """Is the broker asked when memory has no offset?"""
        return kind == "memory-then-store"

    def read_stored(self, queue: int) -> int:
        """Query the broker, and keep the offset in memory."""
        try:
            offset = self.fetch(queue)
        except OffsetNotFoundError:
            return self.not_found(queue)
        except QueryFailedError:
            return self.failed(queue)
        self.refresh(queue, offset)
        return offset

    def not_found(self, queue: int) -> int:
        """The result of reading an offset that the broker does not have."""
        return NO_OFFSET

    def failed(self, queue: int) -> int:
        """The result of reading when the query failed."""
        return BROKER_FAILED

    def fetch(self, queue: int) -> int:
        """The offset that the broker has; OffsetNotFoundError or QueryFailedError."""
        topic, broker, _ = self.queues[queue]
        try:
            code, _, ext, _ = self.transport.ask(topic, broker, _QUERY, self.queries[queue])
        except NoRouteError as unrouted:
            raise self.unrouted() from unrouted
        except OSError as unanswered:
            raise self.unanswered() from unanswered
        return self.offset_of(ext) if code == _SUCCESS else self.refused(code)

    def unrouted(self) -> Exception:
        """The broker has no route."""
        return QueryFailedError()

    def unanswered(self) -> Exception:
        """The query timed out, or the response was lost."""
        return QueryFailedError()

    def refused(self, code: int) -> int:
        """The broker refused the query."""
        if code == _NOT_FOUND:
            raise OffsetNotFoundError
        raise QueryFailedError

    def offset_of(self, ext: dict[str, str]) -> int:
        """The offset in a response."""
        if "offset" not in ext:
            raise QueryFailedError
        return int(ext["offset"])

    def query_header(self, topic: str, number: int) -> dict[str, str]:
        """The header of a query."""
        return header(topic, number)

    # --- writing ------------------------------------------------------------------------------------------

    def persist(self, queue: int) -> Result:
        """Send one queue's offset, one way."""
        entry = self.table.get(queue)
        if entry is not None:
            self.send(queue, entry.offset)
        return None

    def persist_all(self, queues: tuple[int, ...]) -> Result:
        """Send the offsets of some queues, one way, and remove all others from memory."""
        if not queues:
            return None
        for queue in list(self.table):
            if queue in queues:
                self.send(queue, self.table[queue].offset)
            else:
                self.forget_unused(queue)
        return None

    def forget_unused(self, queue: int) -> None:
        """Remove an unused queue from memory."""
        del self.table[queue]

    def send(self, queue: int, offset: int) -> None:
        """Send a commit one way, ignoring errors."""
        self.commit(queue, offset, True)

    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        """Send a commit, and report a refusal unless it is one way."""
        topic, broker, _ = self.queues[queue]
        ext = {**self.headers[queue], "commitOffset": str(offset)}
        try:
            code, _, _, _ = self.transport.ask(topic, broker, _UPDATE, ext, one_way)
        except NoRouteError:
            return UNROUTED
        except OSError:
            return None if one_way else UNANSWERED
        return self.verdict(code, one_way)

    def verdict(self, code: int, one_way: bool) -> Result:
        """The result of a commit for its caller."""
        return None if one_way or code == _SUCCESS else Err(response_name(code))

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.transport.begin(case)
        self.forget()

    # --- operations ---------------------------------------------------------------------------------------

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Update: self.update,
            operations.Freeze: self.freeze,
            operations.Read: self.read,
            operations.Persist: self.persist,
            operations.PersistAll: self.persist_all,
            operations.Remove: self.remove,
            operations.Clone: self.clone,
            operations.Commit: self.commit,
        }


PART = RemoteStore
