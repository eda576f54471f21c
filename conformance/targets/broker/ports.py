"""Ports of this machine that are free for servers."""

from __future__ import annotations

import random
import socket
import sys
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


class BrokerPorts:
    """A main port whose neighbours are free too: a broker also listens two below it, and one above.

    On Linux no other program takes them while the broker is down: each has a socket that is bound to it and does not
    listen, beside which servers may listen (SO_REUSEADDR).
    """

    def __init__(self) -> None:
        self._held: list[socket.socket] = []
        for _ in range(_TRIES):
            self.main = free_port()
            try:
                for port in ports_of(self.main):
                    self._held.append(socket.socket())
                    self._held[-1].bind((HOST, port))
            except OSError:
                self.close()
                continue
            for one in self._held:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if sys.platform != "linux":
                self.close()
            return
        raise CannotRunError("No three neighbouring ports are free for a broker: end some of the programs that listen.")

    def close(self) -> None:
        """Others may take them."""
        while self._held:
            self._held.pop().close()
