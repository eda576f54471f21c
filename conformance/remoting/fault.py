"""Faults of a server: how it plays the requests of a code instead of answering them honestly.

As text (``parse``): ``silent``, ``cut``, ``garbage``, ``no-field`` (``no-field:offset``), ``slow:250`` (ms), or a
response code by name or number (``SYSTEM_BUSY``, ``2``); ``*3`` behind it means three times, then honest again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocketmq_conformance.conformance.remoting.codes import Request, Response

#: No response; cut the connection; bytes that are no frame; the response without (some of) its header fields; the
#: honest response, late; a response code.
SILENT, CUT, GARBAGE, NO_FIELD, SLOW, CODE = "silent", "cut", "garbage", "no-field", "slow", "code"

_FORM = re.compile(r"(?P<name>[A-Za-z0-9_-]+)(?::(?P<value>[A-Za-z0-9_]+))?(?:\*(?P<times>[1-9][0-9]*))?")
_HELP = "write silent, cut, garbage, no-field, no-field:NAME, slow:MS or a response code such as SYSTEM_BUSY"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. ``value`` is the delay in ms of ``slow``, the number of ``code``; ``name`` the field of
    ``no-field``, all of them when empty; ``times`` how often it is played, None for always."""

    kind: str
    value: int = 0
    name: str = ""
    times: int | None = None

    def __str__(self) -> str:
        detail = {SLOW: f"slow:{self.value}", CODE: str(self.value), NO_FIELD: f"no-field:{self.name}".rstrip(":")}
        return detail.get(self.kind, self.kind) + (f"*{self.times}" if self.times else "")


def parse(text: str) -> Fault:
    """Read a fault; raises ValueError with a sentence."""
    found = _FORM.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is no fault; {_HELP}")
    name, value = found["name"], found["value"] or ""
    times = int(found["times"]) if found["times"] else None
    if name == NO_FIELD:
        return Fault(NO_FIELD, name=value, times=times)
    if name == SLOW and value.isdecimal():
        return Fault(SLOW, int(value), times=times)
    if not value:
        if name in {SILENT, CUT, GARBAGE}:
            return Fault(name, times=times)
        if name in Response.__members__:
            return Fault(CODE, int(Response[name]), times=times)
        if name.isdecimal() and len(name) < 6:
            return Fault(CODE, int(name), times=times)
    raise ValueError(f"{text!r} is no fault; {_HELP}")


def parse_armed(text: str) -> tuple[int, Fault]:
    """Read ``REQUEST=FAULT``, such as ``QUERY_CONSUMER_OFFSET=slow:250`` or ``14=cut*1``; raises ValueError."""
    request, separator, fault = text.partition("=")
    if separator and request in Request.__members__:
        return int(Request[request]), parse(fault)
    if separator and request.isdecimal() and len(request) < 7:
        return int(request), parse(fault)
    raise ValueError(f"{text!r} names no request; write REQUEST=FAULT, such as QUERY_CONSUMER_OFFSET=silent")


class Faults:
    """The faults that are armed, by request code. Arm and disarm from any thread."""

    def __init__(self) -> None:
        self._armed: dict[int, Fault] = {}

    def arm(self, request: int, fault: Fault | str) -> None:
        """Play ``request`` by ``fault`` from now on; a text is parsed first."""
        self._armed[int(request)] = parse(fault) if isinstance(fault, str) else fault

    def disarm(self, request: int | None = None) -> None:
        """Answer ``request`` honestly again, or everything."""
        if request is None:
            self._armed.clear()
        else:
            self._armed.pop(int(request), None)

    def take(self, request: int) -> Fault | None:
        """The fault that plays the request which just arrived; counts it."""
        if not self._armed:
            return None
        fault = self._armed.get(request)
        if fault is not None and fault.times is not None:
            if fault.times <= 1:
                self._armed.pop(request, None)
            else:
                self._armed[request] = Fault(fault.kind, fault.value, fault.name, fault.times - 1)
        return fault
