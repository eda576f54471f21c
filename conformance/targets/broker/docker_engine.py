"""Connects to the Docker engine by testcontainers, or says in one sentence why that fails."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rocketmq_conformance.conformance.adapter import CannotRunError

if TYPE_CHECKING:
    from testcontainers.core.docker_client import DockerClient

_LOCAL = ("", "unix", "npipe")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OTHERWISE = "or leave out via=container, and a local process does"


def connect() -> DockerClient:
    """A client of the engine that DOCKER_HOST or Docker's own settings name; CannotRunError when there is none."""
    place = urlsplit(os.environ.get("DOCKER_HOST", ""))
    if place.scheme not in _LOCAL and place.hostname not in _LOOPBACK:
        raise CannotRunError(
            f"The Docker engine at {place.hostname} is another machine, and a broker's folder and ports are on this "
            f"one: unset DOCKER_HOST, {_OTHERWISE}."
        )
    try:
        from testcontainers.core.config import testcontainers_config
        from testcontainers.core.docker_client import DockerClient
    except ImportError as error:
        raise CannotRunError(
            "A broker in a container needs testcontainers: install it with `pip install rocketmq-conformance[broker]`, "
            f"{_OTHERWISE}."
        ) from error
    # a container of its own that tidies up would have to be pulled; ours are removed by a process (reaper.py)
    testcontainers_config.ryuk_disabled = True
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("testcontainers"):
            logging.getLogger(name).setLevel(logging.WARNING)
    try:
        return DockerClient()
    except Exception as error:  # docker's own errors, and those of the libraries below it
        raise CannotRunError(f"{_unreachable(error)}, {_OTHERWISE}.") from error


def shares_network(docker: DockerClient) -> bool:
    """Can a container of the engine use this machine's network? Not on another system than Linux, in a virtual machine,
    or where users have names of their own."""
    about = docker.client.info()
    security = " ".join(about.get("SecurityOptions") or ())
    named_apart = "rootless" in security or "userns" in security
    in_a_machine = "Desktop" in str(about.get("OperatingSystem"))
    return sys.platform == "linux" and not (named_apart or in_a_machine)


def explanation(error: BaseException) -> str:
    """The engine's explanation of a refused request, in one line."""
    text: Any = getattr(error, "explanation", None) or getattr(error, "msg", None) or str(error)
    return " ".join(str(text.decode() if isinstance(text, bytes) else text).split()).rstrip(".")[:300]


def _unreachable(error: Exception) -> str:
    where = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    text = str(error)
    if "Permission denied" in text:
        return f"You have no right to use the Docker engine at {where}: join the group of its socket (mostly docker)"
    if "FileNotFoundError" in text or "No such file" in text:
        return f"There is no Docker engine at {where}: install Docker and start it, or set DOCKER_HOST"
    if "Connection refused" in text:
        return f"No Docker engine answers at {where}: start it (dockerd), or set DOCKER_HOST"
    return f"The Docker engine at {where} cannot be used ({explanation(error)}): see whether it runs"
