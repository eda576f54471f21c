"""Runs Java programs of RocketMQ in containers, with the folder and ports of a local process, on loopback only.

Where the engine's programs can use this machine's network, containers do: its loopback is theirs, so that brokers reach
each other, name servers, and the kit. Elsewhere each has a loopback of its own, and its ports are published on ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.broker.docker_engine import (
    connect,
    explanation,
    shares_network,
)
from rocketmq_conformance.conformance.targets.broker.images import Image, find
from rocketmq_conformance.conformance.targets.broker.process import HOST, STOP_LIMIT, Program, forced
from rocketmq_conformance.conformance.targets.watcher import Watcher
from rocketmq_conformance.models.release import Release

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.docker_client import DockerClient

#: Status of a process that was killed (128 and SIGKILL).
_KILLED = 137


class ContainerProcess(Program):
    """One in a container of its own, that has its folder under the same name as here."""

    def __init__(self, name: str, home: Path, log: Path, image: Image, ports: Sequence[int]) -> None:
        """``ports`` are published; with none it uses this machine's network."""
        super().__init__(f"{name} in {image.name}", home, log)
        self.image = image
        self.ports = tuple(ports)
        self._container: DockerContainer | None = None

    @property
    def alive(self) -> bool:
        return self._status() in ("running", "paused")

    @property
    def pid(self) -> int:
        self.container.reload()
        found = int(self.container.attrs["State"]["Pid"])
        try:
            here = str(self.home).encode() in Path(f"/proc/{found}/cmdline").read_bytes()
        except OSError:  # the engine's programs are not seen here
            here = False
        return found if here else 0

    @property
    def container(self) -> Any:
        """Docker's view of the container."""
        assert self._container is not None, "not started"
        return self._container.get_wrapped_container()

    def _begin(self, command: Sequence[str]) -> None:
        try:
            if self._container is None:
                self._create(command).start()
            else:
                self.container.start()
        except Exception as error:
            output = explanation(error)
            self.close()
            raise CannotRunError(f"{self.name} cannot be started ({output}): see `docker ps -a`.") from error

    def stop(self) -> None:
        if self.alive:
            self.resume()
            self.container.stop(timeout=int(STOP_LIMIT))
            if self.container.wait()["StatusCode"] == _KILLED:
                raise forced(self.name)

    def kill(self) -> None:
        if self.alive:
            self.container.kill()
            self.container.wait()

    def pause(self) -> None:
        self.container.pause()

    def resume(self) -> None:
        if self._status() == "paused":
            self.container.unpause()

    def close(self) -> None:
        if self._container is not None:
            try:
                self._container.stop(force=True)
            except Exception as error:
                raise CannotRunError(
                    f"The container of {self.name} cannot be removed ({explanation(error)}): remove {self.home.name} "
                    "with docker."
                ) from error
            finally:
                self._container = None
        self._unwatch()

    def _said(self) -> tuple[Path, Path]:
        output, log = super()._said()
        if self._container is not None:
            with suppress(Exception):  # what it put out until it was removed is left
                output.write_bytes(self.container.logs())
        return output, log

    def _status(self) -> str:
        if self._container is None or self._container._container is None:
            return ""
        try:
            self.container.reload()
            return str(self.container.status)
        except Exception:  # the container was removed, or the engine ended
            return "gone"

    def _create(self, command: Sequence[str]) -> DockerContainer:
        from testcontainers.core.container import DockerContainer

        container = DockerContainer(self.image.name).with_command(list(command[1:])).with_name(self.home.name)
        container.with_env("HOME", str(self.home))
        container.with_volume_mapping(str(self.home), str(self.home), "rw")
        ports: dict[str, Any] = container.ports
        for port in self.ports:
            ports[str(port)] = (HOST, port)
        network = {} if self.ports else {"network_mode": "host"}
        container.with_kwargs(
            entrypoint=[command[0]], user=_user(container.get_docker_client()), working_dir=str(self.home), **network
        )
        source = (files(__package__) / "reaper.py").read_text("utf-8")
        self._watcher = Watcher([sys.executable, "-c", source, self.home.name, str(self.home)])
        self._container = container
        return container


def _user(docker: DockerClient) -> str:
    """The user inside the container: ours, so that we own its files. In a rootless engine, root is us already."""
    rootless = any("rootless" in option for option in docker.client.info().get("SecurityOptions") or ())
    return "0:0" if rootless else f"{os.getuid()}:{os.getgid()}"


class Containers:
    """Runs brokers and name servers in containers; the image of each release is found, or built, on first use."""

    launcher = "java"

    def __init__(self, release: Release, image: str = "", feature: int | None = None) -> None:
        """``image`` is one that the user named, of the release; ``feature`` the Java of our own."""
        self._named, self._feature = {release: image}, feature
        self._images: dict[Release, Image] = {}
        docker = connect()
        try:
            self.shares_ports = shares_network(docker)
            self.image = self._image(docker, release)
        finally:
            docker.client.close()
        # a container that does not share the network is reached by its own address
        self.bind_address = HOST if self.shares_ports else "0.0.0.0"

    @property
    def java(self) -> int:
        """The feature release of its Java."""
        return self.image.java

    def class_path(self, release: Release) -> str:
        """The class path."""
        if release not in self._images:
            docker = connect()
            try:
                self._image(docker, release)
            finally:
                docker.client.close()
        return self._images[release].lib

    def program(self, release: Release, name: str, home: Path, log: Path, ports: Sequence[int]) -> Program:
        """A program of a release whose class path was asked for, which listens on these ports."""
        return ContainerProcess(name, home, log, self._images[release], () if self.shares_ports else ports)

    def _image(self, docker: DockerClient, release: Release) -> Image:
        found = self._images[release] = find(docker, release, self._named.get(release, ""), self._feature)
        return found
