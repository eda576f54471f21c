"""Addresses of brokers: ``broker:VERSION[?via=jars]`` and ``broker:HOST:PORT[?lease=MS][&routes=kit]``.

``routes=kit`` is for a broker that the kit started in another process, whose routes are those of ``broker-assignment``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.broker.adapter import BrokerAdapter, Running, Started
from rocketmq_conformance.conformance.broker.operations import DEFAULT_LEASE
from rocketmq_conformance.models.release import Release

FORM = "broker:VERSION (such as broker:5.5.0) or broker:HOST:PORT (such as broker:127.0.0.1:10911)"
_HOST_AND_PORT = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\s/]+)):(\d{1,5})")


def open_broker(name: str, options: Mapping[str, str] = MappingProxyType({})) -> BrokerAdapter:
    """The adapter for what follows ``broker:``; ValueError with a sentence when it is no address.

    ``options`` are those of the address's query part. Nothing is started yet.
    """
    unknown = set(options) - {"via", "lease", "routes"}
    if unknown:
        raise ValueError(
            f"A broker address has no option {sorted(unknown)[0]!r}; it knows via=jars, and lease=MS for HOST:PORT."
        )
    place = _HOST_AND_PORT.fullmatch(name)
    if place:
        if "via" in options:
            raise ValueError("broker:HOST:PORT cannot be started via anything: the broker is already running.")
        port = int(place[3])
        if not 0 < port < 65536:
            raise ValueError(f"{port} is no port; write {FORM}.")
        if options.get("routes", "kit") != "kit":
            raise ValueError("routes says whose name server the broker asks; leave it out, or write routes=kit.")
        return BrokerAdapter(Running(place[1] or place[2], port, _lease(options.get("lease")), "routes" in options))
    if "routes" in options:
        raise ValueError("routes is for a running broker; write it with broker:HOST:PORT.")
    if "lease" in options:
        raise ValueError("lease is how long the locks of a running broker live; write it with broker:HOST:PORT.")
    try:
        release = Release.parse(name)
    except ValueError:
        raise ValueError(f"{name!r} is neither a release nor HOST:PORT; write {FORM}.") from None
    via = options.get("via", "jars")
    if via != "jars":
        raise CannotRunError(f"Brokers cannot be started via {via!r} here; write broker:{name}?via=jars.")
    return BrokerAdapter(Started(release))


def _lease(text: str | None) -> float:
    """Seconds; ValueError with a sentence when it is no number of ms."""
    if text is None:
        return DEFAULT_LEASE
    if not text.isdecimal() or not int(text):
        raise ValueError(f"{text!r} is no lease; write how many ms the broker's locks live, such as lease=1000.")
    return int(text) / 1000
