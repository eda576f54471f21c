"""Ports of this machine that are free for servers."""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from pathlib import Path

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.broker.process import HOST

#: The lowest port that is chosen, the lowest that systems usually give to connections, and how many are tried.
_LOWEST_PORT, _USUAL_FIRST, _TRIES = 10_000, 32_768, 200


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
