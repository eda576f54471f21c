"""Brokers and name servers of any release as local processes, on loopback, in folders of their own."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.access import OPEN, Access, CertificateError
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.startup import start_limit, time_left
from rocketmq_conformance.conformance.targets.broker import launch_config as needs
from rocketmq_conformance.conformance.targets.broker import tables_in_memory
from rocketmq_conformance.conformance.targets.broker.asked_access import NOTHING, AskedAccess
from rocketmq_conformance.conformance.targets.broker.ports import BrokerPorts, free_port, ports_of
from rocketmq_conformance.conformance.targets.broker.process import HOST, START_LIMIT, JavaProcess, Program
from rocketmq_conformance.conformance.targets.broker.published_jars import broker_class_path
from rocketmq_conformance.conformance.targets.broker.refusals import not_encrypted
from rocketmq_conformance.conformance.targets.broker.roomy_disk import broker_folder
from rocketmq_conformance.conformance.targets.maven import class_path
from rocketmq_conformance.conformance.targets.scoped import Scoped
from rocketmq_conformance.models.release import Release

#: For how long an answer to the question whether a server is up is waited for between two looks at the program (s).
_LOOK = 0.2

ClassPath = Callable[[Sequence[str], str], Sequence[Path]]


class BrokerHost(Protocol):
    """Where brokers run: this machine, or containers (container.py)."""

    #: The command that starts a Java program there, and the address that a broker listens on.
    launcher: str
    bind_address: str
    #: Are its programs' ports and loopback those of this machine?
    shares_ports: bool

    @property
    def java(self) -> int:
        """The feature release of its Java."""
        ...

    def class_path(self, release: Release) -> str:
        """The class path."""
        ...

    def program(self, release: Release, name: str, home: Path, log: Path, ports: Sequence[int]) -> Program:
        """A program of a release whose class path was asked for, which listens on these ports."""
        ...


class LocalJava:
    """This machine: its Java, or the one of a feature release, and jars by Maven."""

    bind_address = HOST
    shares_ports = True

    def __init__(self, jars: ClassPath = broker_class_path, java: int = 0, module: str = "rocketmq-broker") -> None:
        self.launcher = needs.java(java)
        self._jars, self._module = jars, module

    @property
    def java(self) -> int:
        """The feature release of its Java."""
        return needs.java_feature(self.launcher)

    def class_path(self, release: Release) -> str:
        """The class path."""
        return _joined(self._jars((self._module,), needs.maven_version(release)))

    def program(self, release: Release, name: str, home: Path, log: Path, ports: Sequence[int]) -> Program:
        """A process."""
        return JavaProcess(name, home, log)


class NameServer(Scoped):
    """A name server of a release."""

    def __init__(
        self,
        release: Release,
        jars: ClassPath = class_path,
        limit: float | None = None,
        host: BrokerHost | None = None,
    ) -> None:
        """``limit`` is for its start (s), that of the whole start that is under way unless given; ``host`` is where it
        runs, this machine with ``jars`` unless given."""
        self._host = host = host or LocalJava(jars, module="rocketmq-namesrv")
        path = host.class_path(release)
        self.release = release
        self._limit = limit or start_limit(START_LIMIT)
        self.home = Path(tempfile.mkdtemp(prefix="rocketmq-conformance-"))
        self.port = free_port()
        log = needs.write_logging(release, self.home, "namesrv")
        self.process = host.program(release, f"Name server {release}", self.home, log, (self.port,))
        configuration = self.home / "namesrv.conf"
        properties = needs.name_server_configuration(self.home, self.port)
        needs.write_properties(configuration, {**properties, "bindAddress": host.bind_address})
        main = "org.apache.rocketmq.namesrv.NamesrvStartup"
        flags = needs.name_server_flags(release, host.java)
        self._command = _command(host.launcher, flags, self.home, path, main, configuration)

    @property
    def address(self) -> str:
        """host:port."""
        return f"{HOST}:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        question = Question(self.port, Request.GET_BROKER_CLUSTER_INFO)
        _start(self.process, self._command, question, self._limit, (self.port,) if self._host.shares_ports else ())

    def close(self) -> None:
        """Stop it and remove its folder."""
        self.process.close()
        shutil.rmtree(self.home, ignore_errors=True)


class Broker(Scoped):
    """A broker of a release; ``prepare`` may fill its folder before the first start (aged_store.py)."""

    def __init__(
        self,
        release: Release,
        prepare: Callable[[Path], None] = lambda home: None,
        name_server: str = "",
        jars: ClassPath = broker_class_path,
        sizes: Mapping[str, int] | None = None,
        lease: float | None = None,
        host: BrokerHost | None = None,
        properties: Mapping[str, str] = MappingProxyType({}),
        ordinary: bool = False,
        asked: AskedAccess = NOTHING,
        version: str = "",
        limit: float | None = None,
    ) -> None:
        """``properties`` are beside the kit's own, or replace them; an ``ordinary`` broker has none of the kit's but
        its places. ``sizes`` (bytes) replaces properties by the ends of their names, such as FileSizeCommitLog;
        ``lease`` is the lease of its locks (s), a minute unless given; ``host`` is where it runs, this machine with
        ``jars`` unless given; ``asked`` is the access that it asks for; ``version`` names a build, which
        is started as ``release`` is; ``limit`` is for each of its starts (s), that of the whole start that is under way
        unless given.
        """
        self._limit = limit or start_limit(START_LIMIT)
        self._host = host or LocalJava(jars)
        self.java = self._host.java
        self._class_path = cache(self._host.class_path)
        self._class_path(release)  # what is missing is said before there is a folder
        self.home = broker_folder(release)
        prepare(self.home)
        self._ports = BrokerPorts()
        self.port = self._ports.main
        if isinstance(self._host, LocalJava):
            tables_in_memory.keep_in_memory(self.home)
        if not self._host.shares_ports:
            self._ports.close()  # an engine that publishes them takes them itself, and keeps them
        self._configuration = self.home / "broker.conf"
        self._sizes, self._lease, self._ordinary = sizes or {}, lease, ordinary
        self._asked, self._version = asked, version
        self._access = asked.access
        self._set(release, properties, name_server)

    def become(self, release: Release, properties: Mapping[str, str], name_server: str) -> None:
        """While it is down: the next start is one of this release, in the same folder and on the same port."""
        self.process.close()  # a container is of one image
        self._set(release, properties, name_server)

    def _set(self, release: Release, properties: Mapping[str, str], name_server: str) -> None:
        host = self._host
        path = self._class_path(release)
        self.release = release
        log = needs.write_logging(release, self.home, "broker")
        name = f"Broker {self._version or release}"
        self.process = host.program(release, name, self.home, log, ports_of(self.port))
        self._properties = needs.broker_configuration(release, self.home, self.port, name_server)
        self._properties["bindAddress"] = host.bind_address
        for ending, size in self._sizes.items():
            self._properties |= {name: str(size) for name in self._properties if name.endswith(ending)}
        if self._ordinary:
            self._properties = {name: self._properties[name] for name in needs.PLACES}
        self._properties |= {**properties, **self._asked.properties}
        main = "org.apache.rocketmq.broker.BrokerStartup"
        flags = (
            *needs.broker_flags(release, self.java, self._lease),
            f"-Djava.io.tmpdir={self.temporary_files}",
            *self._asked.prepare(self.home),
        )
        self._command = _command(host.launcher, flags, self.home, path, main, self._configuration)

    @property
    def address(self) -> str:
        """host:port."""
        return f"{HOST}:{self.port}"

    @property
    def store(self) -> Path:
        """The folder of its messages and tables."""
        return self.home / "store"

    @property
    def temporary_files(self) -> Path:
        """The folder of its temporary files; a broker that is killed leaves a library of 12 MB there."""
        return self.home / "tmp"

    @property
    def offsets_file(self) -> Path:
        """The file to which the broker writes stored offsets: another one with light message queues."""
        light = self._properties.get("enableLmq") == "true"
        return self.store / "config" / ("lmqConsumerOffset.json" if light else "consumerOffset.json")

    def start(self) -> None:
        """Start it, with its ordinary configuration, and wait until it answers."""
        # a broker rewrites the file with every property when one is changed
        needs.write_properties(self._configuration, self._properties)
        shutil.rmtree(self.temporary_files, ignore_errors=True)
        self.temporary_files.mkdir()
        question = Question(self.port, Request.GET_BROKER_RUNTIME_INFO, self._access)
        # an engine that publishes ports says itself which is taken, and frees those of one that has ended a little late
        ports = ports_of(self.port) if self._host.shares_ports else ()
        try:
            _start(self.process, self._command, question, self._limit, ports)
        except CannotRunError as error:
            raise CannotRunError(self._access.redacted(str(error))) from None

    def stop(self) -> None:
        """Stop it gently; ``start`` may follow."""
        self.process.stop()

    def kill(self) -> None:
        """Kill it; ``start`` may follow."""
        self.process.kill()

    def close(self) -> None:
        """Kill it and remove its folder."""
        self.process.close()
        self._ports.close()
        tables_in_memory.remove(self.home)


def _command(launcher: str, flags: Sequence[str], home: Path, path: str, main: str, configuration: Path) -> list[str]:
    return [
        launcher,
        *flags,
        f"-Duser.home={home}",
        f"-Drocketmq.home.dir={home}",
        f"-Drmq.logback.configurationFile={needs.logging_file(home)}",
        "-cp",
        path,
        main,
        "-c",
        str(configuration),
    ]


def _joined(path: Sequence[Path]) -> str:
    return os.pathsep.join(str(jar) for jar in path)


class Question:
    """Asks a server that starts whether it is up, over one connection that stays open until it answers.

    On a busy machine the first answer takes long: to hang up and ask again would be to begin again.
    """

    def __init__(self, port: int, request: Request, access: Access = OPEN) -> None:
        self._port, self._request, self._access = port, request, access
        self._connection: Connection | None = None

    def answered(self) -> bool:
        """Has it answered with SUCCESS by now? Waits a moment. CannotRunError when its certificate is wrong."""
        try:
            if self._connection is None:
                # a handshake is answered late, too
                patience = max(time_left(START_LIMIT), 1.0)
                self._connection = Connection(HOST, self._port, patience, access=self._access)
                self._connection.post(self._request)
            answer = self._connection.collect(_LOOK)
            if answer.code == Response.SUCCESS:
                return True
            self._connection.post(self._request)  # it is there, and has not begun its work
        except CertificateError as error:
            raise CannotRunError(not_encrypted(f"{HOST}:{self._port}", error)) from error
        except TimeoutError:
            pass
        except OSError:
            self.close()
        return False

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _start(program: Program, command: Sequence[str], question: Question, limit: float, ports: Sequence[int]) -> None:
    """Start a program that listens on these ports, and wait until it answers; CannotRunError names one that another
    program has taken."""
    _refuse_taken(program.name, ports)
    try:
        with closing(question):
            program.start(command, question.answered, limit)
    except CannotRunError as error:
        _refuse_taken(program.name, ports, error)
        raise


def _refuse_taken(name: str, ports: Sequence[int], error: CannotRunError | None = None) -> None:
    """CannotRunError when another program listens on one of the ports of a program that does not run."""
    for port in ports:
        with socket.socket() as probe:
            # as servers do: connections of a program that was killed may linger
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                raise CannotRunError(
                    f"{name} cannot listen on {HOST}:{port}, which another program has taken meanwhile: end that one, "
                    "or run again."
                ) from error
