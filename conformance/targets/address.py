"""Addresses of implementations, ``kind:name[?key=value&…]``: read here alone, each into a value of its kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar
from urllib.parse import parse_qsl

from rocketmq_conformance.conformance.targets.near_name import did_you_mean
from rocketmq_conformance.models.release import Release

FORMS = (
    "port[?via=tcp][&clock=real&pace=N]",
    "mutant:NAME[?set=NAME=VALUE]",
    "python:package.module:factory[?pace=N][&TIMER=SECONDS][&lanes=N][&through=BROKER]",
    "exec:COMMAND",
    "java-client:VERSION[?via=tcp]",
    "java-client:VERSION?clock=real[&pace=N]",
    "java-client:VERSION?classpath=PATH",
    "java-client:VERSION-SNAPSHOT",
    "client[?pace=N][&TIMER=SECONDS][&lanes=N][&through=BROKER][&tls=on][&credentials=on]:COMMAND",
    "broker:VERSION[?via=jars][&set=NAME=VALUE]",
    "broker:VERSION?via=container[&image=NAME]",
    "broker:HOST:PORT",
    "broker:dir=PATH[?like=VERSION][&set=NAME=VALUE]",
    "broker[?like=VERSION]",
)
#: A published release.
RELEASE = r"\d+\.\d+\.\d+(?:-(?!SNAPSHOT)[A-Za-z]+)?"
#: The address of a broker that a program's cases go through, whose colons do not begin the command.
_THROUGH = r"broker:(?:\[[^\]]*\]|[^:&?\s]*)(?::[0-9]+(?=[:&]|$))?"
#: The address of a program: options stand before the colon, and everything after it is the command.
_PROGRAM = re.compile(rf"client(?:\?((?:through={_THROUGH}|[^:])*))?:(.*)", re.DOTALL)
_HOST_AND_PORT = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\s/]+)):(\d{1,5})")
_FOLDER = "dir="


class AddressError(ValueError):
    """The text is not a valid address; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where an implementation is; ``str()`` gives the text back, exactly as it was written."""

    text: str
    #: What follows the kind: a release, a place, a folder, a command, what to import.
    name: str = field(compare=False)
    options: Mapping[str, str] = field(compare=False)
    #: Properties of a broker that it sets, each as NAME=VALUE.
    properties: tuple[str, ...] = field(compare=False, default=())

    #: Does it play thousands of cases a second?
    FAST: ClassVar[bool] = False
    #: Is it a part of the kit? Is it of a release?
    OWN: ClassVar[bool] = False
    PUBLISHED: ClassVar[bool] = False

    def __str__(self) -> str:
        return self.text

    @property
    def release(self) -> Release | None:
        """The published release that it names; None for any other."""
        version = self.options.get("like", self.name) if self.PUBLISHED else ""
        return Release.parse(version) if re.fullmatch(RELEASE, version) else None

    @property
    def lasting(self) -> bool:
        """Is the same implementation there tomorrow? Not that of a running broker or a build."""
        return self.OWN or (self.release is not None and {"image", "classpath"}.isdisjoint(self.options))

    def through(self, broker: str) -> Address:
        """The same program, with its cases going through a broker; AddressError for anything but a program."""
        if not isinstance(self, ClientAddress | PythonAddress):
            raise AddressError(
                f"{self.text!r} is no client:COMMAND: only the cases of a program go through a real broker."
            )
        if not re.fullmatch(_THROUGH, broker):
            raise AddressError(
                f"{broker!r} is no broker that cases can go through; write broker:VERSION or broker:HOST:PORT."
            )
        command = f":{self.name}" if isinstance(self, ClientAddress) else ""
        place = self.text.removesuffix(command)
        return parse_address(f"{place}{'&' if '?' in place else '?'}through={broker}{command}")


class PortAddress(Address):
    """The bundled port."""

    FAST = OWN = True


class MutantAddress(Address):
    """A port or a fake broker with a deliberate fault."""

    FAST = OWN = True


class PythonAddress(Address):
    """An adapter in Python, or a consumer."""

    FAST = True


class ExecAddress(Address):
    """An adapter in any language."""


class ClientAddress(Address):
    """A program that starts a consumer."""


class JavaClientAddress(Address):
    """The real Java client."""

    PUBLISHED = True


class BrokerAddress(Address):
    """A broker of any kind."""


class FakeBrokerAddress(BrokerAddress):
    """The fake broker."""

    OWN = PUBLISHED = True


class ReleasedBrokerAddress(BrokerAddress):
    """A broker of a release, which the kit starts."""

    PUBLISHED = True


class UnpackedBrokerAddress(BrokerAddress):
    """A broker of the distribution in a folder, which the kit starts."""


@dataclass(frozen=True, slots=True)
class RunningBrokerAddress(BrokerAddress):
    """A broker that runs already."""

    host: str = ""
    port: int = 0


_KINDS: Mapping[str, type[Address]] = {
    "port": PortAddress,
    "mutant": MutantAddress,
    "python": PythonAddress,
    "java-client": JavaClientAddress,
    "broker": ReleasedBrokerAddress,
}


@cache
def parse_address(text: str) -> Address:
    """The address that a text is; AddressError for one of no kind. Name and options are checked by who opens it."""
    if program := _PROGRAM.fullmatch(text):
        return ClientAddress(text, program[2], dict(parse_qsl(program[1] or "", keep_blank_values=True)))
    if text.startswith("exec:"):  # all that follows is the command
        return ExecAddress(text, text.removeprefix("exec:"), {})
    place, _, query = text.partition("?")
    kind, colon, name = place.partition(":")
    made = _KINDS.get(kind)
    if made is None:
        near = did_you_mean(kind, (*_KINDS, "client", "exec"))
        raise AddressError(f"{text!r} is no address{near}; write one of {', '.join(FORMS)}.")
    pairs = parse_qsl(query, keep_blank_values=True)
    if kind not in ("broker", "mutant"):
        return made(text, name, dict(pairs))
    options = {key: value for key, value in pairs if key != "set"}
    properties = tuple(value for key, value in pairs if key == "set")
    if kind == "broker" and (at := _HOST_AND_PORT.fullmatch(name)):
        return RunningBrokerAddress(text, name, options, properties, at[1] or at[2], int(at[3]))
    if kind == "broker" and name.startswith(_FOLDER):
        return UnpackedBrokerAddress(text, name.removeprefix(_FOLDER), options, properties)
    return (made if colon or kind == "mutant" else FakeBrokerAddress)(text, name, options, properties)
