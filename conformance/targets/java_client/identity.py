"""Plays the suite ``identity`` with the release's own consumers, which are started by their own ``start``.

Nothing that a consumer chooses is put in by hand: its id, its timestamp and its store come from its constructor and its
``start``, in an environment (system properties, time zone) that is set for the time of each call. A process of the
plan is a class loader, because the folder of offset files is read when a class is initialised; there is one for each
value of its property, shared by all cases. Clients have neither threads nor sockets (:mod:`client_table`).

The clock of the machine cannot be set, and nothing waits for it. A timestamp is dated by the step after which the
consumer holds another text, another object of Java that is, than before: it is older than that moment by whole minutes,
to which the plan's time since then is added.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import jpype

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.java_client.client_table import client_table
from rocketmq_conformance.conformance.targets.java_client.offset_folder import FOLDER_PROPERTY
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.client.identity import ADDRESS, FILE_NAME, LATER, MODES, NUMBER, PID
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites import identity as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

NAME_PROPERTY = "rocketmq.client.name"
_FORMAT = "yyyyMMddHHmmss"
_DIGITS = re.compile(r"\d{14}")
_DAY_MILLIS = 86_400_000
_FOLDERS = count()

C = TypeVar("C", bound="JavaIdentity")
P = ParamSpec("P")


@dataclass(slots=True)
class _Consumer:
    """A consumer, and its implementation."""

    outside: Any
    inside: Any
    #: The identity of its timestamp's text.
    text: int = 0
    #: When it got this text: the clock of the machine before and after (ms), and that of the plan (s).
    between: tuple[int, int] = (0, 0)
    at: int = 0
    runs: bool = False


class _Process:
    """The classes of a process, and its clients."""

    def __init__(self, version: str) -> None:
        self.release = JavaRelease(version)
        self.table = client_table(self.release)
        self.models = self.release.load("remoting.protocol.heartbeat.MessageModel")
        self.queue = self.release.load("common.message.MessageQueue")(*ORDINARY.queues[0])
        self.in_memory = self.release.load("client.consumer.store.ReadOffsetType").READ_FROM_MEMORY
        self.client_failed = self.release.load("client.exception.MQClientException")
        listener = self.release.load("client.consumer.listener.MessageListenerConcurrently")
        self.listener = jpype.JProxy(listener, dict={"consumeMessage": _never})
        self.parse = self.release.load("common.UtilAll").parseDate
        self._identities: dict[str, Any] = {}

    def text_identity(self, consumer: Any) -> int:
        """The identity of the text of a consumer's timestamp. It is found within Java: a string that comes from there
        is another object every time."""
        kind = consumer.getClass()
        name = str(kind.getName())
        if name not in self._identities:
            handles = jpype.JClass("java.lang.invoke.MethodHandles")
            lookup = handles.publicLookup()
            object_class = jpype.JClass("java.lang.Object").class_
            identify = jpype.JClass("java.lang.System").class_.getMethod("identityHashCode", object_class)
            getter = lookup.unreflect(kind.getMethod("getConsumeTimestamp"))
            text = jpype.JClass("java.lang.invoke.MethodType").methodType(jpype.JInt, getter.type().returnType())
            self._identities[name] = handles.filterReturnValue(getter, lookup.unreflect(identify).asType(text))
        return int(self._identities[name].invokeWithArguments(consumer))


def _never(messages: Any, context: Any) -> Any:
    raise AssertionError("no messages are pulled")


def _in_process(call: Callable[Concatenate[C, P], Result]) -> Callable[Concatenate[C, P], Result]:
    """Do a step in the environment of the plan's process, and return what Java raises."""

    def played(self: C, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        with self.environment():
            try:
                return call(self, *args, **kwargs)
            except jpype.JException as error:
                code = "CLIENT" if isinstance(error, self.process.client_failed) else "RUNTIME"
                return Err(code, detail=str(error)[:300])

    return played


class JavaIdentity(Part):
    """The consumers of a case."""

    over_sockets = False

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        self._version = release.version
        self._processes: dict[str, _Process] = {}
        self._root = jvm.folder() / f"identity-{next(_FOLDERS)}"
        self._system = jpype.JClass("java.lang.System")
        self._zones = jpype.JClass("java.util.TimeZone")
        self._hash_set = jpype.JClass("java.util.HashSet")
        self._addresses = _own_addresses()
        self.consumers: list[_Consumer] = []

    def begin(self, case: Case) -> None:
        """Begin a case: no files, and a process with its first consumers."""
        self._exchange = case.exchange
        self._now, self._zone = 0, "UTC"
        self._end_consumers()
        shutil.rmtree(self._root, ignore_errors=True)
        self.begin_process("")

    def close(self) -> None:
        """End all consumers, whose threads would stay."""
        self._end_consumers()

    def _end_consumers(self) -> None:
        for consumer in self.consumers:
            consumer.outside.shutdown()
        self.consumers = []

    @contextmanager
    def environment(self) -> Iterator[None]:
        """The system properties and the time zone of the process, which all Java code of this machine shares."""
        wanted = {"user.home": str(self._root / "HOME"), FOLDER_PROPERTY: self._folder, NAME_PROPERTY: self._name}
        before = {name: self._system.getProperty(name) for name in wanted}
        zone = self._zones.getDefault()
        self._set(wanted)
        self._zones.setDefault(self._zones.getTimeZone(self._zone))
        try:
            yield
        finally:
            self._zones.setDefault(zone)
            self._set(before)

    def _set(self, properties: dict[str, str | None]) -> None:
        for name, value in properties.items():
            if value is None:
                self._system.clearProperty(name)
            else:
                self._system.setProperty(name, value)

    # --- the process --------------------------------------------------------------------------------------

    def begin_process(self, folder: str) -> Result:
        """Other classes, and no consumers but the first ones."""
        self._end_consumers()
        self._name: str | None = None
        self._folder = str(self._root / folder) if folder else None
        self._read = False
        #: ``System.nanoTime()`` before and after each start.
        self._starts: list[tuple[int, int]] = []
        if folder not in self._processes:
            self._processes[folder] = _Process(self._version)
        self.process = self._processes[folder]
        self.process.table.remoting.exchange = self._exchange
        with self.environment():
            self.consumers = [self._push(GROUP, mode) for mode in MODES]
        return None

    def name_clients(self, name: str | None) -> Result:
        """``rocketmq.client.name``."""
        self._name = name
        return None

    def move_folder(self, folder: str) -> Result:
        """``rocketmq.client.localOffsetStoreDir``, once it was read."""
        if self._read:
            self._folder = str(self._root / folder)
        return None

    def set_zone(self, zone: str) -> Result:
        """``TimeZone.setDefault``, during each call."""
        self._zone = zone
        return None

    def later(self) -> Result:
        """The plan's time passes."""
        self._now += LATER
        return None

    def _millis(self) -> int:
        return int(self._system.currentTimeMillis())

    # --- making and configuring ---------------------------------------------------------------------------

    def _made(self, name: str, field: str, group: str, mode: str) -> _Consumer:
        release = self.process.release
        before = self._millis()
        outside = release.load(f"client.consumer.{name}")(group)
        made = _Consumer(outside, release.get(outside, field))
        self._timestamp(made, before)
        outside.setNamesrvAddr("127.0.0.1:1")
        outside.setMessageModel(getattr(self.process.models, mode))
        return made

    def _timestamp(self, consumer: _Consumer, before: int) -> Any:
        """The consumer's timestamp, dated by the moment (ms) before the step that may have changed it."""
        if not hasattr(consumer.outside, "getConsumeTimestamp"):
            return None
        text = consumer.outside.getConsumeTimestamp()
        identity = self.process.text_identity(consumer.outside)
        if identity != consumer.text:
            consumer.text, consumer.between, consumer.at = identity, (before, self._millis()), self._now
        return text

    def _push(self, group: str, mode: str) -> _Consumer:
        made = self._made("DefaultMQPushConsumer", "defaultMQPushConsumerImpl", group, mode)
        made.outside.registerMessageListener(self.process.listener)
        made.outside.subscribe(TOPIC, "*")
        return made

    def _place(self, consumer: int, made: Callable[[], _Consumer]) -> Result:
        self.consumers[consumer].outside.shutdown()
        self.consumers[consumer] = made()
        return None

    @_in_process
    def make_push(self, consumer: int, group: str, mode: str) -> Result:
        """``new DefaultMQPushConsumer``."""
        return self._place(consumer, lambda: self._push(group, mode))

    @_in_process
    def make_pull(self, consumer: int, group: str, mode: str) -> Result:
        """``new DefaultMQPullConsumer``."""
        names = "DefaultMQPullConsumer", "defaultMQPullConsumerImpl"
        return self._place(consumer, lambda: self._made(*names, group, mode))

    @_in_process
    def make_lite_pull(self, consumer: int, group: str, mode: str) -> Result:
        """``new DefaultLitePullConsumer``."""
        names = "DefaultLitePullConsumer", "defaultLitePullConsumerImpl"
        return self._place(consumer, lambda: self._made(*names, group, mode))

    @_in_process
    def set_address(self, consumer: int, address: str) -> Result:
        """``setClientIP``."""
        self.consumers[consumer].outside.setClientIP(address)
        return None

    @_in_process
    def set_instance(self, consumer: int, name: str) -> Result:
        """``setInstanceName``."""
        self.consumers[consumer].outside.setInstanceName(name)
        return None

    @_in_process
    def set_unit(self, consumer: int, unit: str | None) -> Result:
        """``setUnitName``."""
        self.consumers[consumer].outside.setUnitName(unit)
        return None

    @_in_process
    def set_stream(self, consumer: int, stream: bool) -> Result:
        """``setEnableStreamRequestType``."""
        self.consumers[consumer].outside.setEnableStreamRequestType(stream)
        return None

    @_in_process
    def set_timestamp(self, consumer: int, timestamp: str | None) -> Result:
        """``setConsumeTimestamp``, of a consumer that has it."""
        outside = self.consumers[consumer].outside
        if hasattr(outside, "setConsumeTimestamp"):
            outside.setConsumeTimestamp(timestamp)
        return None

    # --- starting and ending ------------------------------------------------------------------------------

    @_in_process
    def start(self, consumer: int) -> Result:
        """``start``."""
        started = self.consumers[consumer]
        moment, before = self._millis(), int(self._system.nanoTime())
        try:
            self.process.table.start(started.outside)
        finally:
            self._starts.append((before, int(self._system.nanoTime())))
            self._timestamp(started, moment)
            self._read = self._read or self._broadcasts(started)
        started.runs = True
        return None

    def _broadcasts(self, consumer: _Consumer) -> bool:
        """Does it have a store with a file?"""
        store = self.process.release.get(consumer.inside, "offsetStore")
        return store is not None and store.getClass().getSimpleName() == "LocalFileOffsetStore"

    @_in_process
    def shutdown(self, consumer: int) -> Result:
        """``shutdown``."""
        self.consumers[consumer].outside.shutdown()
        self.consumers[consumer].runs = False
        return None

    # --- looking ------------------------------------------------------------------------------------------

    @_in_process
    def tell_id(self, consumer: int) -> Result:
        """``buildMQClientId``."""
        return self._written(str(self.consumers[consumer].outside.buildMQClientId()))

    @_in_process
    def list_clients(self) -> Result:
        """What the heartbeats of all clients say."""
        beats = self.process.table.heartbeats()
        return tuple(sorted((self._written(client), groups) for client, groups in beats))

    @_in_process
    def read_timestamp(self, consumer: int) -> Result:
        """``getConsumeTimestamp``, read as a start reads it."""
        held = self.consumers[consumer]
        text = self._timestamp(held, self._millis())
        moment = None if text is None else self.process.parse(text, _FORMAT)
        if moment is None or not _DIGITS.fullmatch(str(text)):
            return None if text is None else str(text)
        millis = int(moment.getTime())
        before, after = held.between
        if abs(after - millis) > _DAY_MILLIS:
            return str(text)
        passed = self._now - held.at
        minutes = -((millis - before // 1000 * 1000) // 60_000)
        if millis + minutes * 60_000 <= after:
            return minutes * 60 + passed
        return (after - millis) // 1000 + passed

    def _written(self, client: str) -> str:
        """A client id with words for what the machine and the process choose."""
        address, _, rest = client.partition("@")
        instance, at, more = rest.partition("@")
        number, mark, nanos = instance.partition("#")
        if number == str(os.getpid()) and (not mark or self._is_of_start(nanos)):
            instance = f"{PID}#{NUMBER}" if mark else PID
        return f"{ADDRESS if address in self._addresses else address}@{instance}{at}{more}"

    def _is_of_start(self, nanos: str) -> bool:
        return nanos.isdigit() and any(before <= int(nanos) <= after for before, after in self._starts)

    # --- offset files -------------------------------------------------------------------------------------

    @_in_process
    def save(self, consumer: int, offset: int) -> Result:
        """``updateOffset`` and ``persistAll`` of its store, and a look at the disk."""
        held = self.consumers[consumer]
        if not held.runs:
            return None
        for file in self._files():
            os.utime(file, (0, 0))
        store = self.process.release.get(held.inside, "offsetStore")
        store.updateOffset(self.process.queue, offset, False)
        store.persistAll(self._hash_set([self.process.queue]))
        paths = [file.relative_to(self._root).parts for file in self._files() if file.stat().st_mtime]
        written = ["/".join(self._written(part) if "@" in part else part for part in parts) for parts in paths]
        return ", ".join(written) or None

    def _files(self) -> list[Path]:
        return sorted(self._root.rglob(FILE_NAME))

    @_in_process
    def read_offset(self, consumer: int) -> Result:
        """``readOffset`` of its store, from memory."""
        held = self.consumers[consumer]
        if not held.runs:
            return None
        store = self.process.release.get(held.inside, "offsetStore")
        return int(store.readOffset(self.process.queue, self.process.in_memory))

    def calls(self) -> Methods:
        """One callable per operation; releases lack some, which the profile does not offer then."""
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


def _own_addresses() -> frozenset[str]:
    """The addresses of this machine, as Java writes them; those of IPv6 in brackets, too."""
    found = set()
    for interface in jpype.JClass("java.util.Collections").list(
        jpype.JClass("java.net.NetworkInterface").getNetworkInterfaces()
    ):
        for address in jpype.JClass("java.util.Collections").list(interface.getInetAddresses()):
            text = str(address.getHostAddress())
            found |= {text, f"[{text}]"}
    return frozenset(found)


PART = JavaIdentity
