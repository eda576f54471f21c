"""What addresses stand for: a value of the implementation's kind, whose ``str()`` is an address of the same value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar
from urllib.parse import quote

from rocketmq_conformance.conformance.adapter import REAL
from rocketmq_conformance.conformance.remoting.host_port import HostPort
from rocketmq_conformance.models.release import Release

#: A published release.
RELEASE = r"\d+\.\d+\.\d+(?:-(?!SNAPSHOT)[A-Za-z]+)?"
#: Cases of a program that are played side by side, unless its address says otherwise; up to three
#: programs run in each.
LANES = 12
#: The timers of programs that looks depend on, and what clients have by default, in seconds.
STANDARD: Mapping[str, float] = {
    "rebalance": 20.0,
    "persist": 5.0,
    "first_persist": 10.0,
    "correction": 10.0,
    "heartbeat": 30.0,
    "routes": 30.0,
}

Pairs = Sequence[tuple[str, str]]


def _plain(number: float) -> str:
    return str(number).removesuffix(".0")


def _as(name: str, write: Callable[[Any], str] = str) -> dict[str, Callable[[Any], Pairs]]:
    """The metadata of a field that is an option."""
    return {"written": lambda value: [(name, write(value))]}


def _on(value: bool) -> str:
    return "on"


#: The pace of a real clock, and properties of a broker, each as NAME=VALUE.
_PACE = {"written": lambda pace: [("clock", REAL), *([] if pace == 1 else [("pace", _plain(pace))])]}
_PROPERTIES = {"written": lambda pairs: [("set", pair) for pair in pairs]}


@dataclass(frozen=True, slots=True)
class _Written:
    """What has options as fields."""

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """Those that are not the default, by name, as text."""
        given = [(one, getattr(self, one.name)) for one in fields(self) if "written" in one.metadata]
        return tuple(pair for one, value in given if value != one.default for pair in one.metadata["written"](value))

    @property
    def query(self) -> str:
        """The same as they stand in an address."""
        pairs = "&".join(f"{name}={quote(value, safe='/:[]=,@?')}" for name, value in self.options)
        return f"?{pairs}" if pairs else ""


@dataclass(frozen=True, slots=True)
class Address(_Written):
    """Where an implementation is; ``str()`` gives a text of the same value."""

    #: Does it play thousands of cases a second?
    FAST: ClassVar[bool] = False
    #: Is it a part of the kit?
    OWN: ClassVar[bool] = False
    #: Its kind and its name, as they are written.
    PLACE: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{self.PLACE.format(self)}{self.query}"

    @property
    def published(self) -> Release | None:
        """The published release that it names; None for any other."""
        return None

    @property
    def lasting(self) -> bool:
        """Is the same implementation there tomorrow? Not that of a running broker or a build."""
        return self.OWN or (self.published is not None and {"image", "classpath"}.isdisjoint(dict(self.options)))


@dataclass(frozen=True, slots=True)
class PortAddress(Address):
    """The bundled port."""

    via: str = field(default="call", metadata=_as("via"))
    pace: float | None = field(default=None, metadata=_PACE)

    FAST = OWN = True
    PLACE = "port"


@dataclass(frozen=True, slots=True)
class MutantAddress(Address):
    """A port or a fake broker with a deliberate fault."""

    name: str
    via: str = field(default="call", metadata=_as("via"))
    pace: float | None = field(default=None, metadata=_PACE)
    properties: tuple[str, ...] = field(default=(), metadata=_PROPERTIES)

    FAST = OWN = True
    PLACE = "mutant:{0.name}"


@dataclass(frozen=True, slots=True)
class PythonAddress(Address):
    """An adapter in Python, or a consumer: its factory, and what that is given by name."""

    name: str
    given: tuple[tuple[str, str], ...] = field(default=(), metadata={"written": lambda given: given})

    FAST = True
    PLACE = "python:{0.name}"


@dataclass(frozen=True, slots=True)
class ExecAddress(Address):
    """An adapter in any language."""

    command: str

    PLACE = "exec:{0.command}"


@dataclass(frozen=True, slots=True)
class JavaClientAddress(Address):
    """The real Java client."""

    version: str
    via: str = field(default="call", metadata=_as("via"))
    pace: float | None = field(default=None, metadata=_PACE)
    classpath: str | None = field(default=None, metadata=_as("classpath"))

    PLACE = "java-client:{0.version}"

    @property
    def published(self) -> Release | None:
        return Release.parse(self.version) if re.fullmatch(RELEASE, self.version) else None


@dataclass(frozen=True, slots=True)
class BrokerAddress(Address):
    """A broker of any kind."""


@dataclass(frozen=True, slots=True)
class FakeBrokerAddress(BrokerAddress):
    """The fake broker."""

    like: Release | None = field(default=None, metadata=_as("like"))
    java: int | None = field(default=None, metadata=_as("java"))
    upgraded_from: Release | None = field(default=None, metadata=_as("upgraded-from"))
    properties: tuple[str, ...] = field(default=(), metadata=_PROPERTIES)

    OWN = True
    PLACE = "broker"

    @property
    def published(self) -> Release | None:
        return self.like


@dataclass(frozen=True, slots=True)
class ReleasedBrokerAddress(BrokerAddress):
    """A broker of a release, which the kit starts: from jars, or in a container."""

    release: Release
    via: str = field(default="jars", metadata=_as("via"))
    image: str | None = field(default=None, metadata=_as("image"))
    java: int | None = field(default=None, metadata=_as("java"))
    upgraded_from: Release | None = field(default=None, metadata=_as("upgraded-from"))
    count: int = field(default=1, metadata=_as("count"))
    properties: tuple[str, ...] = field(default=(), metadata=_PROPERTIES)

    PLACE = "broker:{0.release}"

    @property
    def published(self) -> Release | None:
        return self.release


@dataclass(frozen=True, slots=True)
class UnpackedBrokerAddress(BrokerAddress):
    """A broker of the distribution in a folder, which the kit starts."""

    folder: str
    like: Release | None = field(default=None, metadata=_as("like"))
    java: int | None = field(default=None, metadata=_as("java"))
    properties: tuple[str, ...] = field(default=(), metadata=_PROPERTIES)

    PLACE = "broker:dir={0.folder}"


@dataclass(frozen=True, slots=True)
class RunningBrokerAddress(BrokerAddress):
    """A broker that runs already; how long its locks live (ms), whether the kit serves its routes, and its slave."""

    at: HostPort
    lease: int | None = field(default=None, metadata=_as("lease"))
    routed: bool = field(default=False, metadata=_as("routes", lambda routed: "kit"))
    slave: HostPort | None = field(default=None, metadata=_as("slave"))

    PLACE = "broker:{0.at}"


#: A broker that a program's cases go through.
ThroughAddress = ReleasedBrokerAddress | RunningBrokerAddress


@dataclass(frozen=True, slots=True)
class ProgramSettings(_Written):
    """How a program is played: how many times faster than standard its timers are, and those that differ from that."""

    pace: float = field(default=1.0, metadata=_as("pace", _plain))
    timers: tuple[tuple[str, float], ...] = field(
        default=(), metadata={"written": lambda timers: [(name, _plain(seconds)) for name, seconds in timers]}
    )
    lanes: int = field(default=LANES, metadata=_as("lanes"))
    through: ThroughAddress | None = field(default=None, metadata=_as("through"))
    tls: bool = field(default=False, metadata=_as("tls", _on))
    credentials: bool = field(default=False, metadata=_as("credentials", _on))
    protocol: str = field(default="remoting", metadata=_as("protocol"))


@dataclass(frozen=True, slots=True)
class ClientAddress(Address):
    """A program that starts a consumer."""

    command: str
    settings: ProgramSettings = ProgramSettings()

    def __str__(self) -> str:
        return f"client{self.settings.query}:{self.command}"
