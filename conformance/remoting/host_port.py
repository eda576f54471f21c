"""Where a server is: ``HOST:PORT``, with brackets around a host that is an address of IPv6."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

#: Colons in a host are those of IPv6, with or without brackets.
_FORM = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|((?:[0-9A-Fa-f]{0,4}:){2,}[0-9A-Fa-f:.]*|[^:\s/\[\]]+)):([0-9]{1,5})")


class HostPort(NamedTuple):
    """A host and a port; ``str()`` gives ``host:port``."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@lru_cache(1024)
def host_port(text: str) -> HostPort:
    """What ``HOST:PORT`` says, also of a port that no server can have; ValueError for a text that is none."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no HOST:PORT")
    return HostPort(found[1] or found[2], int(found[3]))


def is_host_port(text: str) -> bool:
    """Is it written like that?"""
    return _FORM.fullmatch(text) is not None
