"""Mutants of the port's identity: client ids, shared clients, first timestamps and offset files."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

from rocketmq_conformance.conformance.targets.mutant import Mutant
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


def _with_consumers(change: type[Consumer]) -> type[Identity]:
    """The port with a change in each kind of consumer; what a kind overrides wins."""

    class Changed(Identity):
        push = type("Push", (change,), {})
        pull = type("Pull", (change, PullConsumer), {})
        lite_pull = type("LitePull", (change, LitePullConsumer), {})

    return Changed


# --- client ids ----------------------------------------------------------------------------------------------


class KeepsDefaultName(Consumer):
    def rename(self) -> None:
        pass


class NamedByProcessAlone(Consumer):
    def own_name(self) -> str:
        return str(self.process.number)


class SameNumber(Consumer):
    def own_name(self) -> str:
        return f"{self.process.number}#1"


class RenamesBroadcasting(Consumer):
    def rename(self) -> None:
        if self.instance == DEFAULT_NAME:
            self.instance = self.own_name()


class RenamesNamed(Consumer):
    def rename(self) -> None:
        if self.mode == CLUSTERING:
            self.instance = self.own_name()


class RenamesEmpty(Consumer):
    def rename(self) -> None:
        if not self.instance:
            self.instance = DEFAULT_NAME
        super().rename()


class RenamesAnyCase(Consumer):
    def rename(self) -> None:
        if self.instance.upper() == DEFAULT_NAME:
            self.instance = DEFAULT_NAME
        super().rename()


class NamedWhenMade(Consumer):
    def __init__(self, process: Process, group: str, mode: str) -> None:
        super().__init__(process, group, mode)
        super().rename()

    def rename(self) -> None:
        pass


class PropertyAtStart(Consumer):
    def rename(self) -> None:
        if self.instance == DEFAULT_NAME and self.process.name is not None:
            self.instance = self.process.name
        super().rename()


class PropertyIgnored(Consumer):
    def __init__(self, process: Process, group: str, mode: str) -> None:
        super().__init__(process, group, mode)
        self.instance = DEFAULT_NAME


class UnitIgnored(Consumer):
    def suffixes(self) -> list[str]:
        return ["STREAM"] if self.stream else []


class BlankUnitCounts(Consumer):
    def suffixes(self) -> list[str]:
        unit = [self.unit] if self.unit else []
        return [*unit, "STREAM"] if self.stream else unit


class StreamFirst(Consumer):
    def suffixes(self) -> list[str]:
        return list(reversed(super().suffixes()))


class NoStream(Consumer):
    def suffixes(self) -> list[str]:
        return [suffix for suffix in super().suffixes() if suffix != "STREAM"]


class StreamsPush(Identity):
    class push(Consumer):  # noqa: N801 - the name of the base's attribute
        stream = True


# --- shared clients ------------------------------------------------------------------------------------------


class SharesGroups(Consumer):
    def register(self, client: Client) -> bool:
        client.groups.append(self.group)
        return True


class RefusedForGood(Consumer):
    def join(self, client: Client) -> bool:
        self.fresh = super().join(client)
        return self.fresh


class GroupTakenForGood(Consumer):
    def shutdown(self) -> None:
        self.client = None


class EndsSharedClient(Consumer):
    def shutdown(self) -> None:
        client = self.client
        super().shutdown()
        if client is not None:
            self.process.clients.pop(client.name, None)


class ClientsOfTheirOwn(Identity):
    def list_clients(self) -> Result:
        clients = [(one.client.name, one.group) for one in self.consumers if one.client is not None]
        return tuple(sorted((self.written(name), (group,)) for name, group in clients))


class FollowsConfiguration(Identity):
    def list_clients(self) -> Result:
        groups: dict[str, list[str]] = {}
        for consumer in self.consumers:
            if consumer.client is not None:
                groups.setdefault(consumer.client_id(), []).append(consumer.group)
        return tuple(sorted((self.written(name), tuple(sorted(found))) for name, found in groups.items()))


class StartsAgain(Consumer):
    def shutdown(self) -> None:
        self.fresh = self.fresh or self.client is not None
        super().shutdown()


class StartsTwice(Consumer):
    def start(self) -> Result:
        return super().start() if self.client is None else None


# --- timestamps ----------------------------------------------------------------------------------------------


class TimestampIsNow(Consumer):
    def default_timestamp(self) -> str:
        return self.process.now.astimezone(ZoneInfo(self.process.zone)).strftime(FORMAT)


class TimestampIsAnHourAgo(Consumer):
    def default_timestamp(self) -> str:
        return (self.process.now - 2 * BEFORE).astimezone(ZoneInfo(self.process.zone)).strftime(FORMAT)


class TimestampInUtc(Consumer):
    def default_timestamp(self) -> str:
        return (self.process.now - BEFORE).astimezone(UTC).strftime(FORMAT)


class TimestampWithoutSeconds(Consumer):
    def default_timestamp(self) -> str:
        return super().default_timestamp()[:-2]


class TimestampMovesWhenStarted(Consumer):
    def start(self) -> Result:
        if self.fresh and self.timed and self.timestamp == self.first:
            self.timestamp = self.default_timestamp()
        return super().start()

    def default_timestamp(self) -> str:
        self.first = super().default_timestamp()
        return self.first


class TimestampMovesWhenRead(TimestampMovesWhenStarted):
    def start(self) -> Result:
        return Consumer.start(self)

    def read_timestamp(self) -> Result:
        if self.timed and self.timestamp == self.first:
            self.timestamp = self.default_timestamp()
        return super().read_timestamp()


class ReadInZoneOfMaking(Consumer):
    def __init__(self, process: Process, group: str, mode: str) -> None:
        super().__init__(process, group, mode)
        self.zone = process.zone

    def read_timestamp(self) -> Result:
        here, self.process.zone = self.process.zone, self.zone
        try:
            return super().read_timestamp()
        finally:
            self.process.zone = here


class TimestampNotTaken(Identity):
    def set_timestamp(self, consumer: int, timestamp: str | None) -> Result:
        return None


class AcceptsAnyTimestamp(Consumer):
    checks = False


class StartsAfterFailure(Consumer):
    def start(self) -> Result:
        refused = self.check() if self.fresh else None
        return super().start() if refused is None else refused


class RenamedBeforeCheck(Consumer):
    def start(self) -> Result:
        if self.fresh:
            self.rename()
        return super().start()


class LiteChecksTimestamp(Identity):
    lite_pull = type("Checking", (LitePullConsumer,), {"checks": True})


# --- offset files --------------------------------------------------------------------------------------------


class FolderPropertyIgnored(Consumer):
    def folder(self, client: Client) -> Path:
        return self.process.root / "HOME" / ".rocketmq_offsets" / client.name / self.group


class FolderReadAgain(Consumer):
    def folder(self, client: Client) -> Path:
        self.process.offsets = None
        return super().folder(client)


class FileOfGroupAlone(Consumer):
    def folder(self, client: Client) -> Path:
        return self.process.offset_folder() / "@" / self.group


class SwapsGroupAndClient(Consumer):
    def folder(self, client: Client) -> Path:
        return self.process.offset_folder() / self.group / client.name


class FileOfConfiguration(Consumer):
    def save(self, offset: int) -> Path | None:
        if self.client is not None and self.store is not None:
            self.store.folder = self.folder(Client(self.client_id()))
            self.store.file = self.store.folder / self.store.file.name
            self.store.backup = self.store.folder / self.store.backup.name
        return super().save(offset)


class FileForEveryModel(Consumer):
    def open_store(self, client: Client) -> None:
        mode, self.mode = self.mode, "BROADCASTING"
        super().open_store(client)
        self.mode = mode


class NoFile(Consumer):
    def open_store(self, client: Client) -> None:
        pass


class FileNotRead(Consumer):
    def open_store(self, client: Client) -> None:
        super().open_store(client)
        if self.store is not None:
            self.store.forget()


class StoreOfEachStart(Consumer):
    def join(self, client: Client) -> bool:
        self.store = None
        return super().join(client)


class LiteOpensStoreFirst(Identity):
    lite_pull = type("OpensFirst", (LitePullConsumer,), {"join": Consumer.join})


def _mutant(name: str, defect: str, sentence: str, changed: type[Identity] | type[Consumer]) -> Mutant:
    """A mutant of the whole part, or of each kind of consumer."""
    part = changed if issubclass(changed, Identity) else _with_consumers(changed)
    return Mutant.of("identity", name, defect, sentence, part)


MUTANTS = (
    _mutant("id-keeps-default", "D20", "A clustering consumer keeps the name DEFAULT.", KeepsDefaultName),
    _mutant("id-of-process-alone", "D106", "The name of an instance is the process's number.", NamedByProcessAlone),
    _mutant("id-of-equal-numbers", "D106", "All starts of a process take the same number.", SameNumber),
    _mutant("id-renames-broadcasting", "D105", "A broadcasting consumer is renamed, too.", RenamesBroadcasting),
    _mutant("id-renames-named", "D20", "An instance that has a name is renamed, too.", RenamesNamed),
    _mutant("id-renames-empty", "D20", "An empty name counts as DEFAULT.", RenamesEmpty),
    _mutant("id-renames-any-case", "D20", "The name default counts as DEFAULT.", RenamesAnyCase),
    _mutant("id-named-when-made", "D20", "An instance is renamed when it is made, not when it starts.", NamedWhenMade),
    _mutant("id-property-at-start", "D20", "The property of the name is read at the start.", PropertyAtStart),
    _mutant("id-property-ignored", "D20", "The property of the name is not read.", PropertyIgnored),
    _mutant("id-without-unit", "D20", "The unit is no part of a client id.", UnitIgnored),
    _mutant("id-with-blank-unit", "D20", "A blank unit is part of a client id.", BlankUnitCounts),
    _mutant("id-stream-first", "D20", "STREAM stands before the unit.", StreamFirst),
    _mutant("id-without-stream", "D107", "A client id does not end with STREAM.", NoStream),
    _mutant("id-streams-push", "D107", "Push consumers ask for STREAM, too.", StreamsPush),
    _mutant("client-shares-groups", "D106", "Two consumers of a client have the same group.", SharesGroups),
    _mutant("client-refuses-for-good", "D106", "A refused consumer never starts.", RefusedForGood),
    _mutant("client-keeps-groups", "D106", "A group stays taken after its consumer is gone.", GroupTakenForGood),
    _mutant("client-ends-with-first", "D107", "A client ends with the first of its consumers.", EndsSharedClient),
    _mutant("client-is-not-shared", "D107", "Each consumer has a client of its own.", ClientsOfTheirOwn),
    _mutant("client-follows-configuration", "D107", "A client's id changes while it runs.", FollowsConfiguration),
    _mutant("consumer-starts-again", "D106", "A consumer that was shut down starts again.", StartsAgain),
    _mutant("consumer-starts-twice", "D106", "To start a running consumer succeeds.", StartsTwice),
    _mutant("timestamp-is-now", "D108", "The default timestamp is the moment of making.", TimestampIsNow),
    _mutant("timestamp-is-an-hour-ago", "D108", "The default timestamp is an hour ago.", TimestampIsAnHourAgo),
    _mutant("timestamp-in-utc", "D108", "The default timestamp is written in UTC.", TimestampInUtc),
    _mutant("timestamp-without-seconds", "D108", "The default timestamp has no seconds.", TimestampWithoutSeconds),
    _mutant("timestamp-at-start", "D108", "The default timestamp is computed at the start.", TimestampMovesWhenStarted),
    _mutant("timestamp-at-reading", "D108", "The default timestamp moves with the clock.", TimestampMovesWhenRead),
    _mutant("timestamp-keeps-zone", "D108", "A timestamp is read where it was written.", ReadInZoneOfMaking),
    _mutant("timestamp-not-taken", "D109", "A timestamp that is set is not taken.", TimestampNotTaken),
    _mutant("timestamp-not-checked", "D109", "A push consumer starts with any timestamp.", AcceptsAnyTimestamp),
    _mutant("timestamp-checked-again", "D109", "A consumer may start after a failure.", StartsAfterFailure),
    _mutant("timestamp-checked-late", "D109", "An instance is renamed before the check.", RenamedBeforeCheck),
    _mutant("timestamp-checked-by-lite", "D109", "A lite pull consumer checks its timestamp.", LiteChecksTimestamp),
    _mutant("file-without-property", "D110", "The folder's property is not read.", FolderPropertyIgnored),
    _mutant("file-property-again", "D110", "The folder's property is read again and again.", FolderReadAgain),
    _mutant("file-of-group", "D110", "The path of an offset file has no client id.", FileOfGroupAlone),
    _mutant(
        "file-swapped-path",
        "D35",
        "The path of a started consumer names the group before the client id.",
        SwapsGroupAndClient,
    ),
    _mutant("file-of-configuration", "D110", "The path changes with the configuration.", FileOfConfiguration),
    _mutant("file-for-clustering", "D110", "Clustering consumers have files, too.", FileForEveryModel),
    _mutant("file-is-missing", "D110", "Broadcasting consumers have no file.", NoFile),
    _mutant("file-not-read", "D105", "The offsets of the file are not read at the start.", FileNotRead),
    _mutant("file-of-each-start", "D105", "A refused consumer makes another store later.", StoreOfEachStart),
    _mutant("file-first-for-lite", "D105", "Lite pull makes its store before it is refused.", LiteOpensStoreFirst),
)
