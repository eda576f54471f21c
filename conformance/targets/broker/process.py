"""Runs brokers and name servers of any release as local processes, on loopback, in folders of their own."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Protocol, Self

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.process_group import ProcessGroup
from rocketmq_conformance.conformance.remoting.access import OPEN, Access, CertificateError
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.startup import more_time, phase, start_limit, time_left
from rocketmq_conformance.conformance.targets.broker import launch_config as needs
from rocketmq_conformance.conformance.targets.broker import program_log, tables_in_memory
from rocketmq_conformance.conformance.targets.broker.access_settings import PREFIX
from rocketmq_conformance.conformance.targets.broker.asked_access import NOTHING, AskedAccess
from rocketmq_conformance.conformance.targets.broker.published_jars import broker_class_path
from rocketmq_conformance.conformance.targets.broker.refusals import not_encrypted
from rocketmq_conformance.conformance.targets.broker.roomy_disk import broker_folder
from rocketmq_conformance.conformance.targets.maven import class_path
from rocketmq_conformance.conformance.targets.watcher import Watcher, watch_group
from rocketmq_conformance.models.release import Release

HOST = "127.0.0.1"
#: Timeouts of a start and a stop on a busy machine (s); within the start of an implementation its own counts.
START_LIMIT = 180.0
STOP_LIMIT = 60.0
#: For how long an answer to the question whether a server is up is waited for between two looks at the program (s).
_LOOK = 0.2
#: The lowest port that is chosen, the lowest that systems usually give to connections, and how many are tried.
_LOWEST_PORT, _USUAL_FIRST, _TRIES = 10_000, 32_768, 200
#: Environment variables that would change the processes' behaviour.
_UNWANTED = ("ROCKETMQ_HOME", "NAMESRV_ADDR", "JAVA_TOOL_OPTIONS", "ROCKETMQ_SERIALIZE_TYPE")

ClassPath = Callable[[Sequence[str], str], Sequence[Path]]


class Program(Protocol):
    """A Java program that is started, frozen and ended, on this machine or in a container."""

    name: str

    @property
    def alive(self) -> bool:
        """Is it running?"""
        ...

    def start(self, command: Sequence[str], ready: Callable[[], bool], limit: float = START_LIMIT) -> None:
        """Start it and wait until ``ready``; CannotRunError with what it says itself when it is not in time.

        It takes ``limit`` seconds at most; within the start of an implementation, what is left of that.
        """
        ...

    def stop(self) -> None:
        """Stop it gently (SIGTERM); ``start`` may follow."""
        ...

    def kill(self) -> None:
        """Kill it at once (SIGKILL); ``start`` may follow."""
        ...

    def pause(self) -> None:
        """Freeze it (SIGSTOP)."""
        ...

    def resume(self) -> None:
        """Resume it (SIGCONT)."""
        ...

    def close(self) -> None:
        """End it for good."""
        ...

    def last_error(self) -> str:
        """Why it ended, as far as it says so."""
        ...


class JavaProcess:
    """One Java program in a folder of its own, stopped by its process id.

    A small watcher process kills it, and removes its folder, when this process dies without stopping it.
    """

    def __init__(self, name: str, home: Path, log: Path) -> None:
        self.name = name
        self.home = home
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: Watcher | None = None
        self._frozen = False

    @property
    def alive(self) -> bool:
        """Is it running?"""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id; 0 before the first start."""
        return self._process.pid if self._process else 0

    def start(self, command: Sequence[str], ready: Callable[[], bool], limit: float = START_LIMIT) -> None:
        """Start it and wait until ``ready``; CannotRunError with what it says itself when it is not in time."""
        with phase(f"starting {self.name} and waiting until it answers"):
            self._start(command, ready, limit)

    def _start(self, command: Sequence[str], ready: Callable[[], bool], limit: float) -> None:
        whole = time_left(limit)
        environment = {
            name: value for name, value in os.environ.items() if name not in _UNWANTED and not name.startswith(PREFIX)
        }
        environment["HOME"] = str(self.home)
        self.log.unlink(missing_ok=True)  # output from before a restart explains nothing
        with (self.home / "output.txt").open("wb") as output:
            self._process = ProcessGroup(
                command,
                environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.home,
            ).process
        self._frozen = False
        self._watcher = watch_group(self._process.pid, tables_in_memory.folders(self.home))
        until = time.monotonic() + limit
        while time_left(until - time.monotonic()) > 0:
            if not self.alive:
                raise CannotRunError(f"{self.name} ended while it started: {self.last_error()}")
            if ready():
                return
            time.sleep(0.05)
        self.kill()
        raise late(self.name, whole, program_log.progress(*self._said))

    def stop(self) -> None:
        """Stop it gently; by force when that takes too long, and CannotRunError, as it has written nothing then."""
        if self._end(signal.SIGTERM):
            raise forced(self.name)

    def kill(self) -> None:
        """End it at once, as a power failure would."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Freeze it: none of its threads runs when this returns."""
        if self._process is not None and not self._frozen:
            self._process.send_signal(signal.SIGSTOP)
            # The signal only asks. A thread that was about to run may answer a request before it stops.
            with suppress(ChildProcessError):  # it has ended
                os.waitpid(self._process.pid, os.WUNTRACED)
            self._frozen = True

    def resume(self) -> None:
        """Resume it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._frozen = False

    def close(self) -> None:
        """End it for good."""
        self.kill()

    def last_error(self) -> str:
        """Why it ended, as far as its output and its log say so."""
        return program_log.cause(*self._said)

    @property
    def _said(self) -> tuple[Path, Path]:
        return self.home / "output.txt", self.log

    def _end(self, how: signal.Signals) -> bool:
        """End it by a signal; was it ended by force?"""
        process, force = self._process, False
        if process is not None and process.poll() is None:
            process.send_signal(how)
            self.resume()  # a frozen process does not handle SIGTERM
            try:
                process.wait(STOP_LIMIT)
            except subprocess.TimeoutExpired:
                force = True
                process.kill()
                process.wait()
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None
        return force


def forced(name: str) -> CannotRunError:
    """The error of a program that did not stop in time, and may not have written what it writes when it stops."""
    return CannotRunError(f"{name} did not stop within {STOP_LIMIT:.0f} s and was killed: see what keeps it")


def late(name: str, limit: float, progress: str) -> CannotRunError:
    """The error of a program that was not ready in time."""
    more = more_time() or " (--start-timeout allows more)"
    return CannotRunError(f"{name} was not ready after {limit:.0f} s{more}: {progress}")


class BrokerHost(Protocol):
    """Where brokers run: this machine, or containers (container.py)."""

    #: The command that starts a Java program there, and the address that a broker listens on.
    launcher: str
    bind_address: str

    @property
    def java(self) -> int:
        """The feature release of its Java."""
        ...

    def class_path(self, release: Release) -> str:
        """The class path."""
        ...

    def program(self, name: str, home: Path, log: Path, port: int) -> Program:
        """A broker with that main port."""
        ...


class LocalJava:
    """This machine: its Java, or the one of a feature release, and jars by Maven."""

    bind_address = HOST

    def __init__(self, jars: ClassPath = broker_class_path, java: int = 0) -> None:
        self.launcher = needs.java(java)
        self._jars = jars

    @property
    def java(self) -> int:
        """The feature release of its Java."""
        return needs.java_feature(self.launcher)

    def class_path(self, release: Release) -> str:
        """The class path."""
        return _joined(self._jars(("rocketmq-broker",), needs.maven_version(release)))

    def program(self, name: str, home: Path, log: Path, port: int) -> Program:
        """A process."""
        return JavaProcess(name, home, log)


class NameServer:
    """A name server of a release."""

    def __init__(self, release: Release, jars: ClassPath = class_path, limit: float | None = None) -> None:
        """``limit`` is for its start (s), that of the whole start that is under way unless given."""
        launcher = needs.java()
        path = jars(("rocketmq-namesrv",), needs.maven_version(release))
        self.release = release
        self._limit = limit or start_limit(START_LIMIT)
        self.home = Path(tempfile.mkdtemp(prefix="rocketmq-conformance-"))
        self.port = free_port()
        self.process = JavaProcess(
            f"Name server {release}", self.home, needs.write_logging(release, self.home, "namesrv")
        )
        configuration = self.home / "namesrv.conf"
        needs.write_properties(configuration, needs.name_server_configuration(self.home, self.port))
        main = "org.apache.rocketmq.namesrv.NamesrvStartup"
        flags = needs.name_server_flags(release, needs.java_feature(launcher))
        self._command = _command(launcher, flags, self.home, _joined(path), main, configuration)

    @property
    def address(self) -> str:
        """host:port."""
        return f"{HOST}:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        question = Question(self.port, Request.GET_BROKER_CLUSTER_INFO)
        _start(self.process, self._command, question, self._limit, (self.port,))

    def close(self) -> None:
        """Stop it and remove its folder."""
        self.process.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:  # Ctrl-C too: nothing may go on running
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Broker:
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
        if isinstance(self._host, LocalJava):
            tables_in_memory.keep_in_memory(self.home)
        self.port = free_broker_port()
        self._configuration = self.home / "broker.conf"
        self._sizes, self._lease, self._ordinary = sizes or {}, lease, ordinary
        self._asked, self._version = asked, version
        self._access = asked.access
        self.become(release, properties, name_server)

    def become(self, release: Release, properties: Mapping[str, str], name_server: str) -> None:
        """While it is down: the next start is one of this release, in the same folder and on the same port."""
        host = self._host
        path = self._class_path(release)
        self.release = release
        log = needs.write_logging(release, self.home, "broker")
        self.process = host.program(f"Broker {self._version or release}", self.home, log, self.port)
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
        # an engine says itself which port of a container is taken, and frees those of one that has ended a little late
        ports = ports_of(self.port) if isinstance(self._host, LocalJava) else ()
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
        tables_in_memory.remove(self.home)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:  # Ctrl-C too: nothing may go on running
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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


def free_port() -> int:
    """A port that is free.

    It is below the ephemeral ports, so that no connection takes it while its owner is down.
    """
    for _ in range(_TRIES):
        port = random.randrange(_LOWEST_PORT, max(_first_of_connections(), _LOWEST_PORT + 1))
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _first_of_connections() -> int:
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):  # another system than Linux
        return _USUAL_FIRST


def ports_of(port: int) -> tuple[int, int, int]:
    """The ports that a broker with this main port listens on."""
    return port - 2, port, port + 1


def free_broker_port() -> int:
    """A main port whose neighbours are free too: a broker also listens two below it, and one above."""
    for _ in range(_TRIES):
        port = free_port()
        try:
            for neighbour in ports_of(port):
                with socket.socket() as probe:
                    probe.bind((HOST, neighbour))
        except OSError:
            continue
        return port
    raise CannotRunError("No three neighbouring ports are free for a broker: end some of the programs that listen.")
