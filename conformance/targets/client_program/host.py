"""The program that runs for each member of ``python:module:factory`` when what the factory makes is a consumer.

Its settings are environment variables; it writes lines and reads commands as every program of ``client:COMMAND`` does
(docs/reference/client.md), and turns them into calls of the consumer's methods. The consumer's own
prints go to standard error.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn, TextIO

#: The exit code when what a factory makes is no consumer.
NO_CONSUMER = 4
#: The methods that a consumer must have.
_REQUIRED = ("start", "shutdown")
#: The commands that are methods of a consumer, if it has them for the kit (``Host._own``).
_METHODS = (
    *("seek", "pause", "subscribe", "unsubscribe", "commit", "also", "end"),
    *("assign", "pause_queues", "resume_queues", "seek_to_begin", "seek_to_end"),
)
#: Those that are called with a list of queues.
_OF_QUEUES = ("assign", "pause_queues", "resume_queues")
_HELD = "holds"
_LISTEN, _HOLD = "listen", "hold"
_CHUNK = 65536
#: Seconds between two questions for the queues that a consumer has.
_OFTEN = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings:
    """What a member of a group is to be: each field is a variable of docs/reference/client.md."""

    #: host:port
    name_server: str
    group: str
    topic: str
    #: An instance name, from which a client id can be made that no other member has.
    instance: str
    #: "push", "orderly" or "lite".
    kind: str
    #: "CLUSTERING" or "BROADCASTING".
    model: str
    #: The folder for the offset files of broadcasting members.
    offsets: Path
    #: "AVG" or "AVG_BY_CIRCLE".
    strategy: str
    #: "AUTOMATIC" or "ON_DEMAND".
    commit: str
    #: "SHARED" among the members, or "ASSIGNED" by the command of that name.
    queues: str
    consume_from: str
    #: yyyyMMddHHmmss in UTC.
    consume_timestamp: str
    #: Does the broker take encrypted connections alone? The file of the certificate that vouches for its own (PEM).
    tls: bool = False
    tls_ca: Path | None = None
    #: The account by which requests are signed; "" for none.
    access_key: str = ""
    secret_key: str = ""


class Listener:
    """What a consumer calls for each message that it gives to its listener, or that was polled.

    True: the message was consumed. False: it failed, and comes again.
    """

    def __init__(self, say: Callable[[Mapping[str, object]], None]) -> None:
        self._say = say
        self._does = "succeeds"
        #: The message that it holds once, and how many commands `listen` came.
        self._hung: tuple[str, int, int] | None = None
        self._times = 0
        self._changed = threading.Condition()
        self._changed_async = asyncio.Event()

    def consume(self, topic: str, queue: int, offset: int, *read: int | str) -> bool:
        """A message is given, by any thread, of which the bytes of the body and the keys may be ``read``; returns once
        the listener need not hold it any more."""
        self._say({"got": [topic, queue, offset, *read]})
        with self._changed:
            returns = self._returns((topic, queue, offset))
            self._changed.wait_for(returns)
            return self._does == "succeeds"

    async def consume_async(self, topic: str, queue: int, offset: int, *read: int | str) -> bool:
        """The same as a coroutine, on the event loop that awaits the consumer's own methods."""
        self._say({"got": [topic, queue, offset, *read]})
        returns = self._returns((topic, queue, offset))
        while not returns():
            await self._changed_async.wait()
        return self._does == "succeeds"

    def _returns(self, message: tuple[str, int, int]) -> Callable[[], bool]:
        """When the listener may return that is given a message."""
        hangs, since = message == self._hung, self._times
        self._hung = None if hangs else self._hung
        return lambda: self._does != _HELD and (not hangs or self._times > since)

    def hold(self, topic: str, queue: int, offset: int) -> None:
        """The first time that it is given this message it holds it until the next command `listen`."""
        with self._changed:
            self._hung = topic, queue, offset

    def do(self, how: str) -> None:
        """From now on it "succeeds", "fails" or "holds"; on the event loop."""
        with self._changed:
            self._times += 1
            self._does = how
            self._changed.notify_all()
        self._changed_async.set()
        self._changed_async = asyncio.Event()


def settings_of(variables: Mapping[str, str]) -> ConsumerSettings:
    """The settings in a program's environment variables."""
    authority = variables.get("ROCKETMQ_TLS_CA", "")
    return ConsumerSettings(
        name_server=variables["ROCKETMQ_NAME_SERVER"],
        group=variables["ROCKETMQ_GROUP"],
        topic=variables["ROCKETMQ_TOPIC"],
        instance=variables["ROCKETMQ_INSTANCE"],
        kind=variables["ROCKETMQ_KIND"],
        model=variables["ROCKETMQ_MODEL"],
        offsets=Path(variables["ROCKETMQ_OFFSETS"]),
        strategy=variables["ROCKETMQ_STRATEGY"],
        commit=variables["ROCKETMQ_COMMIT"],
        queues=variables["ROCKETMQ_QUEUES"],
        consume_from=variables["ROCKETMQ_CONSUME_FROM"],
        consume_timestamp=variables["ROCKETMQ_CONSUME_TIMESTAMP"],
        tls=variables.get("ROCKETMQ_TLS") == "on",
        tls_ca=Path(authority) if authority else None,
        access_key=variables.get("ROCKETMQ_ACCESS_KEY", ""),
        secret_key=variables.get("ROCKETMQ_SECRET_KEY", ""),
    )


def required_parameters(factory: Callable[..., object], given: Mapping[str, object]) -> int:
    """How many positional arguments a factory needs beside those that are given by name."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # it is written in C, and says nothing
        return 0
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(
        one.kind in positional and one.default is inspect.Parameter.empty and one.name not in given
        for one in parameters
    )


class Host:
    """One consumer from its factory to its end; ``lines`` is where lines are written."""

    def __init__(self, name: str, options: Mapping[str, str], lines: TextIO) -> None:
        self._name, self._options, self._lines = name, options, lines
        self._writing = threading.Lock()
        self._consumer: Any = None
        #: What it says that it takes, and the modules whose methods are written for the kit.
        self._takes: set[str] = set()
        self._homes: set[str] = set()
        self._listener = Listener(self._say)
        self._commands: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._rest = b""

    async def run(self) -> None:
        """Make the consumer, start it, and shut it down on SIGTERM."""
        loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        await self._make()
        loop.add_reader(sys.stdin.fileno(), self._read)
        started = asyncio.ensure_future(_called(self._consumer.start))
        stopping = asyncio.ensure_future(stop.wait())
        obeying = asyncio.ensure_future(self._obey())
        watching = asyncio.ensure_future(self._watch())
        await asyncio.wait({started, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if started.done():
            started.result()  # raises what it raised
            await stopping
        watching.cancel()
        await _called(self._consumer.shutdown)
        obeying.cancel()

    async def _make(self) -> None:
        """Call the factory, and say what the consumer takes."""
        module, _, factory = self._name.partition(":")
        make = getattr(import_module(module), factory)
        listens = required_parameters(make, self._options) > 1
        arguments = [settings_of(os.environ), *([self._listener] if listens else [])]
        try:
            made = self._consumer = await _called(make, *arguments, **self._options)
        except NotImplementedError as error:
            self._say({"unsupported": str(error)})
            raise
        missing = [f"{method}()" for method in _REQUIRED if not callable(getattr(made, method, None))]
        if missing:
            _refuse(f"What {self._name} made is no consumer: it has no {' and no '.join(missing)}.")
        words = getattr(made, "takes", ())
        if isinstance(words, (list, tuple, set, frozenset)) and all(isinstance(word, str) for word in words):
            self._takes.update(words)
        self._takes.update([_LISTEN, _HOLD] if listens else [])
        self._homes = {module, make.__module__}
        self._takes.update(method for method in _METHODS if self._own(method))
        self._say({"takes": sorted(self._takes)})

    def _own(self, name: str) -> Callable[..., Any] | None:
        """A method that the consumer has for the kit: of a class in the module of its factory, or named by ``takes``.

        One that is inherited from the client itself may be called ``commit``, too, and mean something else.
        """
        method = getattr(self._consumer, name, None)
        own = name in self._takes or getattr(method, "__module__", "") in self._homes
        return method if own and callable(method) else None

    def _say(self, line: Mapping[str, object]) -> None:
        with self._writing:
            self._lines.write(json.dumps(line) + "\n")
            self._lines.flush()

    def _read(self) -> None:
        """Take the commands that have come on standard input."""
        data = os.read(sys.stdin.fileno(), _CHUNK)
        if not data:
            os._exit(0)  # who gives commands is gone, and nobody else would end this process
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._commands.put_nowait(json.loads(line))

    async def _watch(self) -> None:
        """Say which queues the consumer has, if it says so, whenever they change.

        An error may be another thread that changed them meanwhile: that of the second question in a row is printed.
        """
        said: list[tuple[str, int]] | None = None
        failed = 0
        while say_owned := self._own("owned"):
            try:
                owned = sorted((topic, queue) for topic, queue in await _called(say_owned))
                if owned != said:
                    self._say({"owned": owned})
                    said = owned
                failed = 0
            except Exception:
                failed += 1
                if failed == 2:
                    traceback.print_exc()
            await asyncio.sleep(_OFTEN)

    async def _obey(self) -> None:
        """Do what commands say, one after the other; one that the consumer refuses changes nothing."""
        while True:
            for word, value in (await self._commands.get()).items():
                method = self._own(word) if word in _METHODS else None
                if word == _LISTEN:
                    self._listener.do(value)
                elif word == _HOLD:
                    self._listener.hold(*value)
                elif method:
                    try:
                        several = isinstance(value, list) and word not in _OF_QUEUES
                        await _called(method, *(value if several else [value]))
                    except Exception:
                        traceback.print_exc()


async def _called(function: Callable[..., Any], *arguments: object, **options: object) -> Any:
    """What a function or a coroutine function returns."""
    result = function(*arguments, **options)
    return await result if inspect.isawaitable(result) else result


def _refuse(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr, flush=True)
    sys.exit(NO_CONSUMER)


def main() -> None:
    """Run the consumer of ``module:factory``, with the options that follow as ``key=value``."""
    name, *pairs = sys.argv[1:]
    lines = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the consumer prints is no line
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    asyncio.run(_host(name, dict(pair.split("=", 1) for pair in pairs), lines))


async def _host(name: str, options: Mapping[str, str], lines: TextIO) -> None:
    await Host(name, options, lines).run()
