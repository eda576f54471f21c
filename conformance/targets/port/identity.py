"""Plays the suite ``identity`` on the port: consumers that name themselves, and share the clients of their process."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.local_store import LocalStore
from rocketmq_conformance.conformance.targets.port.timestamp import fields, instant, reading
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites import identity as operations
from rocketmq_conformance.suites.declare.topologies import GROUP

CLUSTERING, BROADCASTING = "CLUSTERING", "BROADCASTING"
DEFAULT_NAME = "DEFAULT"
#: How long before it was made a consumer would start.
BEFORE = timedelta(minutes=30)
FORMAT = "%Y%m%d%H%M%S"
_BEGINNING = datetime(2024, 6, 1, 12, tzinfo=UTC)
_DAY = timedelta(days=1)
_QUEUE = 0
REFUSED = Err("CLIENT")


class Process:
    """What consumers read off the process that they live in; ``root`` is the folder of a case's files."""

    def __init__(self, root: Path, folder: str, now: datetime, zone: str) -> None:
        self.root = root
        self.now = now
        self.zone = zone
        #: The property of the clients' name.
        self.name: str | None = None
        #: The property of the offset files' folder.
        self.folder: Path | None = root / folder if folder else None
        self.number = os.getpid()
        #: The folder of offset files once it was read.
        self.offsets: Path | None = None
        self.clients: dict[str, Client] = {}
        self._ticks = 0

    def next_tick(self) -> int:
        """A number that no two calls share, as a clock of ns gives."""
        self._ticks += 1
        return self._ticks

    def offset_folder(self) -> Path:
        """The folder of offset files, which is read once."""
        if self.offsets is None:
            self.offsets = self.folder or self.root / "HOME" / ".rocketmq_offsets"
        return self.offsets


class Client:
    """What consumers of one id share: the consumer groups of its heartbeat."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.groups: list[str] = []


class Consumer:
    """A consumer, from its making to its end."""

    #: Does it ask for the request type STREAM, have a timestamp, and look at it before it starts?
    stream = False
    timed = True
    checks = True

    def __init__(self, process: Process, group: str, mode: str) -> None:
        self.process = process
        self.group = group
        self.mode = mode
        self.address = local_address()
        self.instance = DEFAULT_NAME if process.name is None else process.name
        self.unit: str | None = None
        self.made = process.now
        self.timestamp: str | None = self.default_timestamp() if self.timed else None
        #: May it be started?
        self.fresh = True
        self.client: Client | None = None
        self.store: LocalStore | None = None
        #: The offset of a clustering consumer, which is kept at the broker.
        self.offset = -1

    # --- its name -----------------------------------------------------------------------------------------

    def client_id(self) -> str:
        """The client id by the configuration of this moment."""
        return "@".join([self.address, self.instance, *self.suffixes()])

    def suffixes(self) -> list[str]:
        """What follows the instance's name."""
        unit = [self.unit] if self.unit and not self.unit.isspace() else []
        return [*unit, "STREAM"] if self.stream else unit

    def rename(self) -> None:
        """Give the instance a name of its own, if it has none and no file depends on it."""
        if self.mode == CLUSTERING and self.instance == DEFAULT_NAME:
            self.instance = self.own_name()

    def own_name(self) -> str:
        """The name of an instance that no other one has."""
        return f"{self.process.number}#{self.process.next_tick()}"

    # --- its timestamp ------------------------------------------------------------------------------------

    def default_timestamp(self) -> str:
        """Half an hour ago, as text in the zone of the process."""
        return (self.process.now - BEFORE).astimezone(ZoneInfo(self.process.zone)).strftime(FORMAT)

    def read_timestamp(self) -> Result:
        """The timestamp as seconds before now, or as text."""
        if not self.timed or self.timestamp is None:
            return None
        moment = moment_of(self.timestamp, self.process.zone)
        if moment is None or abs(self.process.now - moment) > _DAY:
            return self.timestamp
        return round((self.process.now - moment).total_seconds())

    def check(self) -> Result:
        """Why its configuration is refused, or None."""
        if not self.checks:
            return None
        if self.timestamp is None:
            return Err("RUNTIME")
        return None if moment_of(self.timestamp, self.process.zone) else REFUSED

    # --- starting and ending ------------------------------------------------------------------------------

    def start(self) -> Result:
        """Start, unless it ever ran or its group is taken."""
        if not self.fresh:
            return REFUSED
        refusal = self.check()
        if refusal is not None:
            self.fresh = False
            return refusal
        self.rename()
        client = self.shared_client()
        if not self.join(client):
            return REFUSED
        self.client = client
        self.fresh = False
        return None

    def join(self, client: Client) -> bool:
        """Open the store, and take the group in this client; False when another consumer has it."""
        self.open_store(client)
        return self.register(client)

    def shared_client(self) -> Client:
        """The process's client of this id."""
        name = self.client_id()
        return self.process.clients.setdefault(name, Client(name))

    def register(self, client: Client) -> bool:
        """Take the group, if no other consumer of the client has it."""
        if self.group in client.groups:
            return False
        client.groups.append(self.group)
        return True

    def shutdown(self) -> None:
        """End, and the client with its last consumer."""
        if self.client is None:
            return
        client, self.client = self.client, None
        client.groups.remove(self.group)
        if not client.groups:
            self.process.clients.pop(client.name, None)

    # --- its offsets --------------------------------------------------------------------------------------

    def open_store(self, client: Client) -> None:
        """Open the offset file of a broadcasting consumer, and read it."""
        if self.mode == CLUSTERING:
            return
        if self.store is None:
            self.store = LocalStore()
            self.store.open_folder(self.folder(client))
        self.store.restart()

    def folder(self, client: Client) -> Path:
        """The folder of its offset file."""
        return self.process.offset_folder() / client.name / self.group

    def save(self, offset: int) -> Path | None:
        """Keep an offset, and persist it; the file that was written, in the folder of the case."""
        if self.client is None:
            return None
        if self.store is None:
            self.offset = offset
            return None
        self.store.update(_QUEUE, offset, False)
        self.store.persist_all((_QUEUE,))
        return self.store.file.relative_to(self.process.root)

    def read_offset(self) -> Result:
        """The offset in memory."""
        if self.client is None:
            return None
        return self.offset if self.store is None else self.store.read(_QUEUE, "memory")


class PullConsumer(Consumer):
    """A pull consumer: it has no timestamp."""

    stream = True
    timed = False
    checks = False


class LitePullConsumer(Consumer):
    """A lite pull consumer."""

    stream = True
    checks = False

    def join(self, client: Client) -> bool:
        """The store is opened after the group was taken."""
        if not self.register(client):
            return False
        self.open_store(client)
        return True


class Identity:
    """The consumers of a case."""

    push: type[Consumer] = Consumer
    pull: type[Consumer] = PullConsumer
    lite_pull: type[Consumer] = LitePullConsumer

    def __init__(self, transport: Transport) -> None:
        """It asks no broker."""

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.now, self.zone = _BEGINNING, "UTC"
        self.root = case.directory
        self.begin_process("")

    def begin_process(self, folder: str) -> Result:
        """Another process."""
        self.process = Process(self.root, folder, self.now, self.zone)
        self.consumers = [self.push(self.process, GROUP, mode) for mode in (BROADCASTING, BROADCASTING)]
        return None

    def name_clients(self, name: str | None) -> Result:
        """The property of the clients' name."""
        self.process.name = name
        return None

    def move_folder(self, folder: str) -> Result:
        """The property of the folder changes."""
        if self.process.offsets is not None:
            self.process.folder = self.root / folder
        return None

    def set_zone(self, zone: str) -> Result:
        """The process is elsewhere."""
        self.zone = self.process.zone = zone
        return None

    def later(self) -> Result:
        """Time passes."""
        self.now = self.process.now = self.now + timedelta(minutes=10)
        return None

    def make(self, kind: type[Consumer], consumer: int, group: str, mode: str) -> Result:
        """Make a consumer."""
        self.consumers[consumer].shutdown()
        self.consumers[consumer] = kind(self.process, group, mode)
        return None

    def make_push(self, consumer: int, group: str, mode: str) -> Result:
        """Make a push consumer."""
        return self.make(self.push, consumer, group, mode)

    def make_pull(self, consumer: int, group: str, mode: str) -> Result:
        """Make a pull consumer."""
        return self.make(self.pull, consumer, group, mode)

    def make_lite_pull(self, consumer: int, group: str, mode: str) -> Result:
        """Make a lite pull consumer."""
        return self.make(self.lite_pull, consumer, group, mode)

    def set_address(self, consumer: int, address: str) -> Result:
        """Another address."""
        self.consumers[consumer].address = address
        return None

    def set_instance(self, consumer: int, name: str) -> Result:
        """Another name."""
        self.consumers[consumer].instance = name
        return None

    def set_unit(self, consumer: int, unit: str | None) -> Result:
        """Another unit."""
        self.consumers[consumer].unit = unit
        return None

    def set_stream(self, consumer: int, stream: bool) -> Result:
        """Another request type."""
        self.consumers[consumer].stream = stream
        return None

    def set_timestamp(self, consumer: int, timestamp: str | None) -> Result:
        """Another timestamp."""
        if self.consumers[consumer].timed:
            self.consumers[consumer].timestamp = timestamp
        return None

    def start(self, consumer: int) -> Result:
        """Start a consumer."""
        return self.consumers[consumer].start()

    def shutdown(self, consumer: int) -> Result:
        """End a consumer."""
        self.consumers[consumer].shutdown()
        return None

    def tell_id(self, consumer: int) -> Result:
        """Its client id."""
        return self.written(self.consumers[consumer].client_id())

    def list_clients(self) -> Result:
        """The clients of the process."""
        clients = self.process.clients.values()
        return tuple(sorted((self.written(client.name), tuple(sorted(client.groups))) for client in clients))

    def read_timestamp(self, consumer: int) -> Result:
        """Its timestamp."""
        return self.consumers[consumer].read_timestamp()

    def save(self, consumer: int, offset: int) -> Result:
        """Keep an offset."""
        path = self.consumers[consumer].save(offset)
        if path is None:
            return None
        return "/".join(self.written(part) if "@" in part else part for part in path.parts)

    def read_offset(self, consumer: int) -> Result:
        """Its offset."""
        return self.consumers[consumer].read_offset()

    def written(self, client: str) -> str:
        """A client id with words for what the machine and the process choose."""
        address, _, rest = client.partition("@")
        instance, at, more = rest.partition("@")
        number, mark, _ = instance.partition("#")
        if number == str(self.process.number):
            instance = "PID#N" if mark else "PID"
        return f"{'ADDRESS' if address == local_address() else address}@{instance}{at}{more}"

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.BeginProcess: self.begin_process,
            operations.NameClients: self.name_clients,
            operations.MoveFolder: self.move_folder,
            operations.SetZone: self.set_zone,
            operations.Later: self.later,
            operations.MakePush: self.make_push,
            operations.MakePull: self.make_pull,
            operations.MakeLitePull: self.make_lite_pull,
            operations.SetAddress: self.set_address,
            operations.SetInstance: self.set_instance,
            operations.SetUnit: self.set_unit,
            operations.SetStream: self.set_stream,
            operations.SetTimestamp: self.set_timestamp,
            operations.Start: self.start,
            operations.Shutdown: self.shutdown,
            operations.TellId: self.tell_id,
            operations.ListClients: self.list_clients,
            operations.ReadTimestamp: self.read_timestamp,
            operations.Save: self.save,
            operations.ReadOffset: self.read_offset,
        }


@cache
def local_address() -> str:
    """The address by which this machine reaches others; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:  # no network
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def moment_of(text: str, zone: str) -> datetime | None:
    """The moment that a timestamp names in a zone; None when it is no time."""
    found = fields(text)
    clock = reading(*found) if found else None
    return instant(clock, zone) if clock else None


PART = Identity
