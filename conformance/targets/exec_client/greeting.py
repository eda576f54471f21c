"""What a program says of itself in its first line: who it is, what it plays, and how it wants to be asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rocketmq_conformance.conformance.adapter import VIRTUAL, Hello
from rocketmq_conformance.conformance.targets.exec_client.lines import PROTOCOL, ProtocolError
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Suite

#: The kinds of each field that a program may name.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "protocol": int,
    "name": str,
    "version": str,
    "client": (str, type(None)),
    "sides": list,
    "suites": list,
    "unsupported": dict,
    "clock": str,
    "pace": (int, float),
    "broker": str,
    "whole_cases": bool,
}
_SIDES = ("pure", "client")
#: How it talks to brokers: by exchange lines, or over sockets to the name server that a reset names.
EXCHANGE, TCP = "exchange", "tcp"
_RELEASE = re.compile(r"\d+(\.\d+)+(-\w+)?")


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a program says of itself."""

    hello: Hello
    #: Does it talk to brokers over sockets?
    sockets: bool
    #: Does it take whole cases in one line?
    whole_cases: bool
    #: Operations that it does not have, as "suite.operation", with the reasons.
    lacks: dict[str, str]

    def takes_whole(self, suite: Suite) -> bool:
        """Are whole cases of the suite played in one line? What it asks brokers must name its step."""
        return self.whole_cases and (not self.sockets or suite.side.value == "pure")


def greeting(given: Any) -> Greeting:
    """Read the answer to hello; ProtocolError, with one sentence, when something is wrong with it."""
    if not isinstance(given, dict):
        raise ProtocolError('its first line is no hello: answer {"id": 0, "hello": {"protocol": 1, "name": …}}')
    if given.get("protocol") != PROTOCOL:
        raise ProtocolError(
            f"it speaks version {given.get('protocol')!r} of the protocol, and this kit version {PROTOCOL}: see "
            "docs/reference/exec.md"
        )
    for name, value in given.items():
        if name not in _FIELDS:
            raise ProtocolError(f"its hello has an unknown field {name!r}; there are {', '.join(_FIELDS)}")
        if not isinstance(value, _FIELDS[name]) or (isinstance(value, bool) and _FIELDS[name] is not bool):
            raise ProtocolError(f"its hello has {name} = {value!r}, of the wrong kind (docs/reference/exec.md)")
    broker = given.get("broker", EXCHANGE)
    if broker not in (EXCHANGE, TCP):
        raise ProtocolError(f"its hello has broker = {broker!r}: say {EXCHANGE!r} or {TCP!r}")
    sides = tuple(given.get("sides", _SIDES))
    if not set(sides) <= set(_SIDES):
        raise ProtocolError(f"its hello has sides = {list(sides)!r}: there are {' and '.join(_SIDES)}")
    client = given.get("client")
    if client is not None and not _RELEASE.fullmatch(client):
        raise ProtocolError(f"its hello has client = {client!r}: say which release judges it, such as '5.5.0', or null")
    unsupported, lacks = _unsupported(given)
    return Greeting(
        Hello(
            given.get("name") or "a program",
            given.get("version", ""),
            client=client,
            unsupported=unsupported,
            sides=sides,
            clock=given.get("clock", VIRTUAL),
            pace=given.get("pace", 1),
        ),
        broker == TCP,
        given.get("whole_cases", False),
        lacks,
    )


def _unsupported(given: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The suites and the operations that it does not offer, with the reasons."""
    unsupported: dict[str, str] = {}
    lacks: dict[str, str] = {}
    if "suites" in given:
        _known(given["suites"])
        unsupported = {name: "its program does not offer it" for name in SUITES if name not in given["suites"]}
    for name, reason in given.get("unsupported", {}).items():
        suite, _, operation = name.partition(".")
        _known([suite])
        if operation and operation not in SUITES[suite].index:
            raise ProtocolError(f"its hello names the operation {name!r}, which does not exist")
        (lacks if operation else unsupported)[name] = str(reason) or "its program says so"
    return unsupported, lacks


def _known(names: list[Any]) -> None:
    wrong = next((name for name in names if name not in SUITES), None)
    if wrong is not None:
        raise ProtocolError(f"its hello names the suite {wrong!r}, which does not exist (`list suites` has them)")
