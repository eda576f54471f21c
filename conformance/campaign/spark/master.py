"""Spark masters: how they are written, and whether one can be reached."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass

from rocketmq_conformance.conformance.adapter import CannotRunError

#: How often a task may fail before the job does. A local master would give up at the first worker that dies.
FAILURES = 4
#: Seconds that a master may take to accept a connection.
PATIENCE = 5.0
LOOPBACK = "127.0.0.1"

_LOCAL = re.compile(r"local(?:\[\s*([1-9]\d*|\*)\s*(?:,\s*([1-9]\d*)\s*)?\])?")
_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]")
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:,/\[\]]+):(\d{1,5})")
_ELSEWHERE = re.compile(r"yarn|k8s://\S+")


class MasterError(ValueError):
    """A malformed master; the text is one sentence for the user."""


@dataclass(frozen=True)
class Master:
    """Where Spark runs."""

    #: As Spark wants it.
    url: str
    #: Do the tasks run in processes that this one starts?
    local: bool = False
    #: Host and port of the masters of a standalone cluster, those that stand by included.
    hosts: tuple[tuple[str, int], ...] = ()


def parse(text: str) -> Master:
    """Read a master: ``local``, ``local[N]``, ``local[*]``, ``spark://HOST:PORT``, ``yarn`` or ``k8s://URL``.

    A local master lets a task fail as often as a cluster does, unless its second number says otherwise.
    MasterError for anything else.
    """
    local = _LOCAL.fullmatch(text)
    if local:
        return Master(f"local[{local[1] or 1},{local[2] or FAILURES}]", local=True)
    if _LOCAL_CLUSTER.fullmatch(text):
        return Master(text, local=True)
    if text.startswith("spark://"):
        found = [_HOST.fullmatch(part) for part in text.removeprefix("spark://").split(",")]
        hosts = tuple((match[1].strip("[]"), int(match[2])) for match in found if match)
        if len(hosts) == len(found) and all(0 < port < 1 << 16 for _, port in hosts):
            return Master(text, hosts=hosts)
        raise MasterError(f"A Spark cluster is written spark://HOST:PORT, not {text!r}.")
    if text.startswith("sc://"):
        raise MasterError("Spark Connect runs no campaigns: write the cluster's own master, such as spark://HOST:PORT.")
    if _ELSEWHERE.fullmatch(text):
        return Master(text)
    raise MasterError(
        f"Spark knows no master {text!r}: write local[N] or local[*] for N or all cores of this machine, "
        "spark://HOST:PORT, yarn or k8s://URL."
    )


def reach(master: Master, patience: float = PATIENCE) -> bool:
    """Make sure that a standalone master listens; is it, or the local one, on the loopback interface?

    CannotRunError when none of its hosts accepts a connection within ``patience`` seconds. Spark itself would try for
    a minute, and print stack traces.
    """
    if master.local:
        return True
    reasons = []
    for host, port in master.hosts:
        try:
            with socket.create_connection((host, port), timeout=patience) as connection:
                return ipaddress.ip_address(connection.getpeername()[0]).is_loopback
        except OSError as error:
            reasons.append(error.strerror or str(error))
        except UnicodeError:
            reasons.append(f"{host} is no name of a host")
    if reasons:
        raise CannotRunError(
            f"No Spark master answers at {master.url} ({reasons[0]}): start it, or name another one with --master."
        )
    return False
