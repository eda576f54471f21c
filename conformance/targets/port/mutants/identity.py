"""Mutants of the port's identity: client ids, shared clients, first timestamps and offset files."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.identity import (
    BEFORE,
    CLUSTERING,
    DEFAULT_NAME,
    FORMAT,
    Client,
    Consumer,
    Identity,
    LitePullConsumer,
    Process,
    PullConsumer,
)
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []


def _with_consumers(change: type[Consumer]) -> type[Identity]:
    """The port with a change in each kind of consumer; what a kind overrides wins."""

    class Changed(Identity):
        push = type("Push", (change,), {})
        pull = type("Pull", (change, PullConsumer), {})
        lite_pull = type("LitePull", (change, LitePullConsumer), {})

    return Changed


def _identity(changed: type[Identity] | type[Consumer]) -> type[Identity]:
    """The whole part, or it with each kind of consumer changed."""
    return changed if issubclass(changed, Identity) else _with_consumers(changed)


_mutant = declared(MUTANTS, "identity").of(_identity)


# --- client ids ----------------------------------------------------------------------------------------------


@_mutant("D20", "A clustering consumer keeps the name DEFAULT.")
class IdKeepsDefault(Consumer):
    def rename(self) -> None:
        pass


@_mutant("D106", "The name of an instance is the process's number.")
class IdOfProcessAlone(Consumer):
    def own_name(self) -> str:
        return str(self.process.number)


@_mutant("D106", "All starts of a process take the same number.")
class IdOfEqualNumbers(Consumer):
    def own_name(self) -> str:
        return f"{self.process.number}#1"


@_mutant("D105", "A broadcasting consumer is renamed, too.")
class IdRenamesBroadcasting(Consumer):
    def rename(self) -> None:
        if self.instance == DEFAULT_NAME:
            self.instance = self.own_name()


@_mutant("D20", "An instance that has a name is renamed, too.")
class IdRenamesNamed(Consumer):
    def rename(self) -> None:
        if self.mode == CLUSTERING:
            self.instance = self.own_name()


@_mutant("D20", "An empty name counts as DEFAULT.")
class IdRenamesEmpty(Consumer):
    def rename(self) -> None:
        if not self.instance:
            self.instance = DEFAULT_NAME
        super().rename()


@_mutant("D20", "The name default counts as DEFAULT.")
class IdRenamesAnyCase(Consumer):
    def rename(self) -> None:
        if self.instance.upper() == DEFAULT_NAME:
            self.instance = DEFAULT_NAME
        super().rename()


@_mutant("D20", "An instance is renamed when it is made, not when it starts.")
class IdNamedWhenMade(Consumer):
    def __init__(self, process: Process, group: str, mode: str) -> None:
        super().__init__(process, group, mode)
        super().rename()

    def rename(self) -> None:
        pass


@_mutant("D20", "The property of the name is read at the start.")
class IdPropertyAtStart(Consumer):
    def rename(self) -> None:
        if self.instance == DEFAULT_NAME and self.process.name is not None:
            self.instance = self.process.name
        super().rename()


@_mutant("D20", "The property of the name is not read.")
class IdPropertyIgnored(Consumer):
    def __init__(self, process: Process, group: str, mode: str) -> None:
        super().__init__(process, group, mode)
        self.instance = DEFAULT_NAME


@_mutant("D20", "The unit is no part of a client id.")
class IdWithoutUnit(Consumer):
    def suffixes(self) -> list[str]:
        return ["STREAM"] if self.stream else []


@_mutant("D20", "A blank unit is part of a client id.")
class IdWithBlankUnit(Consumer):
    def suffixes(self) -> list[str]:
        unit = [self.unit] if self.unit else []
        return [*unit, "STREAM"] if self.stream else unit


@_mutant("D20", "STREAM stands before the unit.")
class IdStreamFirst(Consumer):
    def suffixes(self) -> list[str]:
        return list(reversed(super().suffixes()))


@_mutant("D107", "A client id does not end with STREAM.")
class IdWithoutStream(Consumer):
    def suffixes(self) -> list[str]:
        return [suffix for suffix in super().suffixes() if suffix != "STREAM"]


@_mutant("D107", "Push consumers ask for STREAM, too.")
class IdStreamsPush(Identity):
    class push(Consumer):  # noqa: N801 - the name of the base's attribute
        stream = True


# --- shared clients ------------------------------------------------------------------------------------------


@_mutant("D106", "Two consumers of a client have the same group.")
class ClientSharesGroups(Consumer):
    def register(self, client: Client) -> bool:
        client.groups.append(self.group)
        return True


@_mutant("D106", "A refused consumer never starts.")
class ClientRefusesForGood(Consumer):
    def join(self, client: Client) -> bool:
        self.fresh = super().join(client)
        return self.fresh


@_mutant("D106", "A group stays taken after its consumer is gone.")
class ClientKeepsGroups(Consumer):
    def shutdown(self) -> None:
        self.client = None


@_mutant("D107", "A client ends with the first of its consumers.")
class ClientEndsWithFirst(Consumer):
    def shutdown(self) -> None:
        client = self.client
        super().shutdown()
        if client is not None:
            self.process.clients.pop(client.name, None)


@_mutant("D107", "Each consumer has a client of its own.")
class ClientIsNotShared(Identity):
    def list_clients(self) -> Result:
        clients = [(one.client.name, one.group) for one in self.consumers if one.client is not None]
        return tuple(sorted((self.written(name), (group,)) for name, group in clients))


@_mutant("D107", "A client's id changes while it runs.")
class ClientFollowsConfiguration(Identity):
    def list_clients(self) -> Result:
        groups: dict[str, list[str]] = {}
        for consumer in self.consumers:
            if consumer.client is not None:
                groups.setdefault(consumer.client_id(), []).append(consumer.group)
        return tuple(sorted((self.written(name), tuple(sorted(found))) for name, found in groups.items()))


@_mutant("D106", "A consumer that was shut down starts again.")
class ConsumerStartsAgain(Consumer):
    def shutdown(self) -> None:
        self.fresh = self.fresh or self.client is not None
        super().shutdown()


@_mutant("D106", "To start a running consumer succeeds.")
class ConsumerStartsTwice(Consumer):
    def start(self) -> Result:
        return super().start() if self.client is None else None


# --- timestamps ----------------------------------------------------------------------------------------------


@_mutant("D108", "The default timestamp is the moment of making.")
class TimestampIsNow(Consumer):
    def default_timestamp(self) -> str:
        return self.process.now.astimezone(ZoneInfo(self.process.zone)).strftime(FORMAT)


@_mutant("D108", "The default timestamp is an hour ago.")
class TimestampIsAnHourAgo(Consumer):
    def default_timestamp(self) -> str:
        return (self.process.now - 2 * BEFORE).astimezone(ZoneInfo(self.process.zone)).strftime(FORMAT)


@_mutant("D108", "The default timestamp is written in UTC.")
class TimestampInUtc(Consumer):
    def default_timestamp(self) -> str:
        return (self.process.now - BEFORE).astimezone(UTC).strftime(FORMAT)


@_mutant("D108", "The default timestamp has no seconds.")
class TimestampWithoutSeconds(Consumer):
    def default_timestamp(self) -> str:
        return super().default_timestamp()[:-2]


@_mutant("D108", "The default timestamp is computed at the start.")
class TimestampAtStart(Consumer):
    def start(self) -> Result:
        if self.fresh and self.timed and self.timestamp == self.first:
            self.timestamp = self.default_timestamp()
        return super().start()

    def default_timestamp(self) -> str:
        self.first = super().default_timestamp()
        return self.first


@_mutant("D108", "The default timestamp moves with the clock.")
class TimestampAtReading(TimestampAtStart):
    def start(self) -> Result:
        return Consumer.start(self)

    def read_timestamp(self) -> Result:
        if self.timed and self.timestamp == self.first:
            self.timestamp = self.default_timestamp()
        return super().read_timestamp()


@_mutant("D108", "A timestamp is read where it was written.")
class TimestampKeepsZone(Consumer):
    def __init__(self, process: Process, group: str, mode: str) -> None:
        super().__init__(process, group, mode)
        self.zone = process.zone

    def read_timestamp(self) -> Result:
        here, self.process.zone = self.process.zone, self.zone
        try:
            return super().read_timestamp()
        finally:
            self.process.zone = here


@_mutant("D109", "A timestamp that is set is not taken.")
class TimestampNotTaken(Identity):
    def set_timestamp(self, consumer: int, timestamp: str | None) -> Result:
        return None


@_mutant("D109", "A push consumer starts with any timestamp.")
class TimestampNotChecked(Consumer):
    checks = False


@_mutant("D109", "A consumer may start after a failure.")
class TimestampCheckedAgain(Consumer):
    def start(self) -> Result:
        refused = self.check() if self.fresh else None
        return super().start() if refused is None else refused


@_mutant("D109", "An instance is renamed before the check.")
class TimestampCheckedLate(Consumer):
    def start(self) -> Result:
        if self.fresh:
            self.rename()
        return super().start()


@_mutant("D109", "A lite pull consumer checks its timestamp.")
class TimestampCheckedByLite(Identity):
    lite_pull = type("Checking", (LitePullConsumer,), {"checks": True})


# --- offset files --------------------------------------------------------------------------------------------


@_mutant("D110", "The folder's property is not read.")
class FileWithoutProperty(Consumer):
    def folder(self, client: Client) -> Path:
        return self.process.root / "HOME" / ".rocketmq_offsets" / client.name / self.group


@_mutant("D110", "The folder's property is read again and again.")
class FilePropertyAgain(Consumer):
    def folder(self, client: Client) -> Path:
        self.process.offsets = None
        return super().folder(client)


@_mutant("D110", "The path of an offset file has no client id.")
class FileOfGroup(Consumer):
    def folder(self, client: Client) -> Path:
        return self.process.offset_folder() / "@" / self.group


@_mutant("D35", "The path of a started consumer names the group before the client id.")
class FileSwappedPath(Consumer):
    def folder(self, client: Client) -> Path:
        return self.process.offset_folder() / self.group / client.name


@_mutant("D110", "The path changes with the configuration.")
class FileOfConfiguration(Consumer):
    def save(self, offset: int) -> Path | None:
        if self.client is not None and self.store is not None:
            self.store.folder = self.folder(Client(self.client_id()))
            self.store.file = self.store.folder / self.store.file.name
            self.store.backup = self.store.folder / self.store.backup.name
        return super().save(offset)


@_mutant("D110", "Clustering consumers have files, too.")
class FileForClustering(Consumer):
    def open_store(self, client: Client) -> None:
        mode, self.mode = self.mode, "BROADCASTING"
        super().open_store(client)
        self.mode = mode


@_mutant("D110", "Broadcasting consumers have no file.")
class FileIsMissing(Consumer):
    def open_store(self, client: Client) -> None:
        pass


@_mutant("D105", "The offsets of the file are not read at the start.")
class FileNotRead(Consumer):
    def open_store(self, client: Client) -> None:
        super().open_store(client)
        if self.store is not None:
            self.store.forget()


@_mutant("D105", "A refused consumer makes another store later.")
class FileOfEachStart(Consumer):
    def join(self, client: Client) -> bool:
        self.store = None
        return super().join(client)


@_mutant("D105", "Lite pull makes its store before it is refused.")
class FileFirstForLite(Identity):
    lite_pull = type("OpensFirst", (LitePullConsumer,), {"join": Consumer.join})
