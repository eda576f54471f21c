"""Addresses of implementations, ``kind:name[?key=value&…]``: read here alone, each into a value of its kind.

What only the implementation knows is left to who opens it: mutants, factories and their options, properties, images.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from urllib.parse import parse_qsl

from rocketmq_conformance.conformance.adapter import FASTEST, REAL, VIRTUAL
from rocketmq_conformance.conformance.remoting.host_port import HostPort, host_port, is_host_port
from rocketmq_conformance.conformance.targets.address_kinds import (
    LANES,
    STANDARD,
    Address,
    ClientAddress,
    ExecAddress,
    FakeBrokerAddress,
    JavaClientAddress,
    MutantAddress,
    Pairs,
    PortAddress,
    ProgramSettings,
    PythonAddress,
    ReleasedBrokerAddress,
    RunningBrokerAddress,
    ThroughAddress,
    UnpackedBrokerAddress,
)
from rocketmq_conformance.conformance.targets.near_name import did_you_mean, refuse_unknown
from rocketmq_conformance.models.release import Release

#: One of each kind: docs/reference/addresses.md has their options.
FORMS = (
    "port, mutant:NAME, python:MODULE:FACTORY, exec:COMMAND, client:COMMAND, java-client:VERSION, broker:VERSION or "
    "broker:HOST:PORT"
)
BROKER_FORM = (
    "broker:VERSION (such as broker:5.5.0), broker:HOST:PORT (such as broker:127.0.0.1:10911) or broker:dir=PATH (an "
    "unpacked distribution)"
)
THROUGH_FORM = "broker:VERSION (such as broker:5.5.0, or broker:5.5.0?via=container) or broker:HOST:PORT"
#: Brokers that one address may start: each takes about half a gigabyte.
MANY = 64
#: The most cases of a program that are played side by side.
MOST_LANES = 64
#: The shortest and the longest timer that can be set, in seconds.
SHORTEST, LONGEST = 0.01, 600.0
#: The options of programs, and how they are written.
PROGRAM_OPTIONS = ("pace", "lanes", "through", "tls", "credentials", *STANDARD)
PROGRAM_FORMS = (
    f"pace=N, lanes=N, through=BROKER, tls=on, credentials=on and the timers {', '.join(STANDARD)} in seconds"
)
#: The address of a broker that a program's cases go through, whose colons do not begin the command.
_THROUGH = r"broker:(?:\[[^\]]*\]|[^:&?\s]*)(?:\?via=container)?(?::[0-9]+(?=[:&]|$))?"
#: The address of a program: options stand before the colon, and everything after it is the command.
#: The only option of such a broker.
_CONTAINED = ("via", "container")
_PROGRAM = re.compile(rf"client(?:\?((?:through={_THROUGH}|[^:])*))?:(.*)", re.DOTALL)
_FOLDER = "dir="
#: The protocols of programs.
_REMOTING, _GRPC = "remoting", "grpc"
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
#: Options that are not for brokers that are running, and that are started.
_NOT_RUNNING = {
    "via": "broker:HOST:PORT cannot be started via anything: the broker is already running.",
    "upgraded-from": "upgraded-from is for a broker that the kit starts; write it with broker:VERSION.",
    "count": "count is for brokers that the kit starts; write it with broker:VERSION.",
}
_NOT_STARTED = {
    "routes": "routes is for a running broker; write it with broker:HOST:PORT.",
    "lease": "lease is how long the locks of a running broker live; write it with broker:HOST:PORT.",
    "slave": "slave is where the slave of a running broker is; write it with broker:HOST:PORT.",
}

Options = Mapping[str, str]


class AddressError(ValueError):
    """The text is not a valid address; the message is one sentence."""


# --- options: from text to their types, and back -----------------------------------------------------------------


def _number(options: Options, name: str, otherwise: str, most: int = 2**31) -> int | None:
    """An option that is a whole number above 0; ValueError with a sentence when it is something else."""
    text = options.get(name)
    if text is not None and not (text.isascii() and text.isdecimal() and 0 < int(text) <= most):
        raise ValueError(f"{text!r} is {otherwise}.")
    return None if text is None else int(text)


def _java(options: Options) -> int | None:
    """A feature release of Java."""
    return _number(options, "java", "no Java release; write a number, such as java=17")


def _release(options: Options, name: str, such_as: str) -> Release | None:
    return _parsed(options[name], f"no release; write one such as {such_as}") if name in options else None


def _parsed(text: str, otherwise: str) -> Release:
    try:
        return Release.parse(text)
    except ValueError:
        raise ValueError(f"{text!r} is {otherwise}.") from None


def _older(options: Options, release: Release | None = None) -> Release | None:
    """The release whose store is taken over; ValueError with a sentence when it is none, or the same one."""
    older = _release(options, "upgraded-from", "upgraded-from=4.9.7")
    if older and older == release:
        raise ValueError(f"A broker is upgraded from another release than {release}; name that one.")
    return older


def _pace_of(text: str) -> float:
    try:
        pace = float(text)
    except ValueError:
        pace = 0
    if not 0 < pace <= FASTEST:
        raise ValueError(f"{text!r} is no pace; write a number above 0, up to {FASTEST:,}, such as pace=100.")
    return pace


def _seconds(name: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not SHORTEST <= seconds <= LONGEST:
        raise ValueError(
            f"{name}={text} is no time: write seconds from {SHORTEST:g} to {LONGEST:g}, such as "
            f"{name}={STANDARD[name] / 20:g}."
        )
    return seconds


def _way(kind: str, options: Options) -> tuple[str, float | None]:
    """How it is reached, and the pace of its real clock, None when the clock is virtual."""
    clock, via = options.get("clock", VIRTUAL), options.get("via", "call")
    if clock not in (VIRTUAL, REAL):
        raise ValueError(f"{kind} has no clock {clock!r}; write clock={VIRTUAL} or clock={REAL}.")
    if clock == VIRTUAL and "pace" in options:
        raise ValueError(f"A virtual clock has no pace; write clock={REAL}&pace={options['pace']}.")
    pace = None if clock == VIRTUAL else _pace_of(options.get("pace", "1"))
    refuse_unknown(kind, options, ("via", "clock", "pace"), "via=call or via=tcp, clock=real and pace=N")
    if via not in ("call", "tcp"):
        raise ValueError(f"{kind} cannot be reached via {via!r}; write via=call or via=tcp.")
    return via, pace


def _refuse(options: Options, sentences: Mapping[str, str]) -> None:
    """ValueError for the first option that has a sentence."""
    for name, sentence in sentences.items():
        if name in options:
            raise ValueError(sentence)


# --- kinds -------------------------------------------------------------------------------------------------------


@cache
def parse_address(text: str) -> Address:
    """The address that a text is; AddressError for one that is none."""
    try:
        return _read(text)
    except AddressError:
        raise
    except ValueError as error:
        raise AddressError(str(error)) from error


def _read(text: str) -> Address:
    if program := _PROGRAM.fullmatch(text):
        options = dict(_pairs(program[1] or ""))
        known = ("protocol", *PROGRAM_OPTIONS)
        refuse_unknown("client", options, known, f"protocol=grpc, {PROGRAM_FORMS}, before the colon")
        return ClientAddress(program[2], program_settings(options))
    if text.startswith("exec:"):  # all that follows is the command
        return ExecAddress(text.removeprefix("exec:"))
    place, _, query = text.partition("?")
    kind, colon, name = place.partition(":")
    read = _KINDS.get(kind)
    if read is None:
        near = did_you_mean(kind, (*_KINDS, "client", "exec"))
        raise AddressError(f"{text!r} is no address{near}; write {FORMS}, such as broker:5.5.0.")
    return read(name if colon else None, _pairs(query))


def _pairs(query: str) -> Pairs:
    """The options, in their order; a plus is one, as in a path. ValueError for one that stands twice, but ``set``."""
    pairs = parse_qsl(query.replace("+", "%2B"), keep_blank_values=True)
    names = [name for name, _ in pairs if name != "set"]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"The option {name} stands {names.count(name)} times; write it once.")
    return pairs


def _port(name: str | None, pairs: Pairs) -> Address:
    if name:
        raise ValueError(f"The address `port` takes no name, but {name!r} was given.")
    return PortAddress(*_way("port", dict(pairs)))


def _mutant(name: str | None, pairs: Pairs) -> Address:
    options, properties = _parted(pairs)
    return MutantAddress(name or "", *_way("mutant", options), properties)


def _python(name: str | None, pairs: Pairs) -> Address:
    return PythonAddress(name or "", tuple(dict(pairs).items()))


def _java_client(name: str | None, pairs: Pairs) -> Address:
    if not name:
        raise ValueError("Name a release of the Java client, such as java-client:5.5.0.")
    options = dict(pairs)
    path = options.pop("classpath", None)
    via, pace = _way("java-client", options)
    if pace is not None and via == "tcp":
        raise ValueError("A java-client with a real clock is stepped by hand, without sockets: leave via=tcp away.")
    return JavaClientAddress(name, via, pace, path)


def _broker(name: str | None, pairs: Pairs) -> Address:
    options, properties = _parted(pairs)
    if name is None:
        return _fake(options, properties)
    if name.startswith(_FOLDER):
        return _unpacked(name.removeprefix(_FOLDER), options, properties)
    refuse_unknown(
        "A broker address",
        options,
        ("via", "lease", "image", "java", "routes", "upgraded-from", "count", "set", "slave"),
        "via=jars or via=container, java=N or image=NAME, count=N, upgraded-from=VERSION, set=NAME=VALUE, and lease=MS "
        "and slave=HOST:PORT for HOST:PORT",
    )
    return (_running if is_host_port(name) else _released)(name, options, properties)


def _fake(options: Options, properties: tuple[str, ...]) -> Address:
    known = ("like", "java", "upgraded-from", "set")
    refuse_unknown("The fake broker", options, known, "like=VERSION, java=N, upgraded-from=VERSION and set=NAME=VALUE")
    like = _release(options, "like", "broker?like=4.9.8")
    return FakeBrokerAddress(like, _java(options), _older(options), properties)


def _unpacked(folder: str, options: Options, properties: tuple[str, ...]) -> Address:
    refuse_unknown("broker:dir=PATH", options, ("like", "java", "set"), "like=VERSION, java=N and set=NAME=VALUE")
    if not folder:
        raise ValueError("broker:dir= names no folder; write such as broker:dir=distribution/target/rocketmq-5.5.1.")
    return UnpackedBrokerAddress(folder, _release(options, "like", "like=5.5.0"), _java(options), properties)


def _running(name: str, options: Options, properties: tuple[str, ...]) -> Address:
    _refuse(options, _NOT_RUNNING)
    if properties:
        raise ValueError("A running broker is judged as it is configured; write set=… with broker:VERSION.")
    at = host_port(name)
    if not 0 < at.port < 65536:
        raise ValueError(f"{at.port} is no port; write {BROKER_FORM}.")
    if options.get("routes", "kit") != "kit":
        raise ValueError("routes says whose name server the broker asks; leave it out, or write routes=kit.")
    lease = _number(options, "lease", "no lease; write how many ms the broker's locks live, such as lease=1000")
    return RunningBrokerAddress(at, lease, "routes" in options, _slave(options, at))


def _slave(options: Options, master: HostPort) -> HostPort | None:
    """Where the slave of a running broker is."""
    if "slave" not in options:
        return None
    if not is_host_port(options["slave"]) or not 0 < host_port(options["slave"]).port < 65536:
        raise ValueError(f"{options['slave']!r} is no HOST:PORT; write where the slave is, as in slave=10.0.0.7:10911.")
    at = host_port(options["slave"])
    if at == master:
        raise ValueError(f"{at} cannot be the slave of itself; write where its slave is.")
    return at


def _released(name: str, options: Options, properties: tuple[str, ...]) -> Address:
    _refuse(options, _NOT_STARTED)
    release = _parsed(name, f"neither a release nor HOST:PORT; write {BROKER_FORM}")
    via = options.get("via", "jars")
    if via not in ("jars", "container"):
        raise ValueError(f"Brokers cannot be started via {via!r}; write via=jars or via=container.")
    if via == "container":
        if "image" in options and "java" in options:
            raise ValueError("An image brings its own Java; write image=NAME or java=N.")
        if "image" in options and "upgraded-from" in options:
            raise ValueError("An image is of one release; write image=NAME or upgraded-from=VERSION.")
        if "image" in options and not _IMAGE.fullmatch(options["image"]):
            raise ValueError(
                f"{options['image']!r} is no name of an image; write one such as image=apache/rocketmq:{release}."
            )
    elif "image" in options:
        raise ValueError(f"image is about containers; write broker:{name}?via=container&image=….")
    java, older = _java(options), _older(options, release)
    count = _number(options, "count", f"no number of brokers; write one from 1 to {MANY}, such as count=2", MANY)
    return ReleasedBrokerAddress(release, via, options.get("image"), java, older, count or 1, properties)


_KINDS: Mapping[str, Callable[[str | None, Pairs], Address]] = {
    "port": _port,
    "mutant": _mutant,
    "python": _python,
    "java-client": _java_client,
    "broker": _broker,
}


def _parted(pairs: Pairs) -> tuple[dict[str, str], tuple[str, ...]]:
    """Options, and the properties that are set."""
    return {key: value for key, value in pairs if key != "set"}, tuple(value for key, value in pairs if key == "set")


def through_address(text: str) -> ThroughAddress:
    """A broker that cases can go through; AddressError for any other."""
    with suppress(ValueError):
        broker = parse_address(text)
        if isinstance(broker, ReleasedBrokerAddress | RunningBrokerAddress) and set(broker.options) <= {_CONTAINED}:
            return broker
    raise AddressError(f"{text!r} is no broker that cases can go through; write {THROUGH_FORM}.")


def program_settings(options: Options) -> ProgramSettings:
    """How a program is played by these options; ValueError with a sentence."""
    for name in ("tls", "credentials"):
        if options.get(name, "off") not in ("on", "off"):
            raise ValueError(f"{name}={options[name]} is not known to client; write {name}=on, or leave it away.")
    protocol = options.get("protocol", _REMOTING)
    if protocol not in (_REMOTING, _GRPC):
        raise ValueError(f"protocol={protocol} is not known to client; write protocol=grpc, or leave it away.")
    others = [name for name in options if name not in ("protocol", "lanes")]
    if protocol == _GRPC and others:
        raise ValueError(f"{others[0]} is for clients of the remoting protocol; leave it away with protocol=grpc.")
    lanes = _number(options, "lanes", f"no number of lanes; write one from 1 to {MOST_LANES}", MOST_LANES)
    return ProgramSettings(
        _pace_of(options.get("pace", "1")),
        tuple((name, _seconds(name, options[name])) for name in STANDARD if name in options),
        lanes or LANES,
        through_address(options["through"]) if "through" in options else None,
        options.get("tls") == "on",
        options.get("credentials") == "on",
        protocol,
    )


def going_through(address: Address, broker: str) -> Address:
    """The same program, with its cases going through a broker; AddressError for anything but a program."""
    through = through_address(broker)
    if isinstance(address, ClientAddress):
        return replace(address, settings=replace(address.settings, through=through))
    if isinstance(address, PythonAddress):
        return replace(address, given=tuple({**dict(address.given), "through": str(through)}.items()))
    raise AddressError(f"{str(address)!r} is no client:COMMAND: only the cases of a program go through a real broker.")
