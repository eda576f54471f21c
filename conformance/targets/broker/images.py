"""Finds, pulls or builds images of brokers: published ones, or our own of Maven's jars.

An image has a ``java`` on its path and jars below ``$ROCKETMQ_HOME/lib``, as the official ones have. Our own is built
once and kept under a tag that names release, Java and recipe; so is its base, when none can be pulled.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.startup import phase
from rocketmq_conformance.conformance.targets.broker import base_image
from rocketmq_conformance.conformance.targets.broker import launch_config as needs
from rocketmq_conformance.conformance.targets.broker.docker_engine import explanation
from rocketmq_conformance.conformance.targets.broker.published_jars import broker_class_path
from rocketmq_conformance.conformance.targets.maven import class_path
from rocketmq_conformance.models.release import Release

if TYPE_CHECKING:
    from testcontainers.core.docker_client import DockerClient

REPOSITORY = "rocketmq-conformance"
#: The image that a Java release is pulled as.
BASE = "eclipse-temurin:{feature}-jre"
#: The Java release used when this machine has none.
_USUAL_JAVA = 17
_HOME = "ROCKETMQ_HOME="
#: Timeout of ``java -version`` (s).
_SAYS = 60


@dataclass(frozen=True)
class Image:
    """An image that a broker, and mostly a name server, can be started from."""

    name: str
    #: The folder of its jars, and the feature release of its Java.
    lib: str
    java: int


def server_jars(version: str) -> Sequence[Path]:
    """The jars of the broker in a version, and of the name server where that is published, too."""
    jars = list(broker_class_path(("rocketmq-broker",), version))
    with suppress(CannotRunError):
        jars += class_path(("rocketmq-namesrv",), version)
    return jars


def find(
    docker: DockerClient,
    release: Release,
    name: str = "",
    feature: int | None = None,
    jars: Callable[[str], Sequence[Path]] = server_jars,
) -> Image:
    """The image of that name, pulled if need be; without a name our own of the release, built if need be.

    ``feature`` is the Java release of our own. CannotRunError when there is no such image, or none can be built.
    """
    return _described(docker, _there(docker, name) if name else _own(docker, release, feature, jars))


def _there(docker: DockerClient, name: str) -> str:
    if not _has(docker, name):
        _pull(docker, name)
    return name


def _pull(docker: DockerClient, name: str) -> None:
    try:
        with phase(f"pulling the image {name}"):
            docker.client.images.pull(name)
    except Exception as error:
        raise CannotRunError(
            f"There is no image {name} here, and it cannot be pulled ({explanation(error)}): name one that `docker "
            f"images` lists, or leave out image= to build one."
        ) from error


def _has(docker: DockerClient, name: str) -> bool:
    from docker.errors import ImageNotFound

    try:
        docker.client.images.get(name)
    except ImageNotFound:
        return False
    except Exception as error:
        raise CannotRunError(f"{name!r} is no image ({explanation(error)}): name one as docker does.") from error
    return True


def _own(
    docker: DockerClient,
    release: Release,
    feature: int | None,
    jars: Callable[[str], Sequence[Path]],
) -> str:
    """Our own image of a release; built once."""
    local = _local_java()
    wanted = feature or local or _USUAL_JAVA
    recipe = (files(__package__) / "image" / "Dockerfile").read_bytes()
    tag = f"{REPOSITORY}:{release}-java{wanted}-{sha256(recipe).hexdigest()[:8]}"
    if _has(docker, tag):
        return tag
    path = jars(needs.maven_version(release))
    base = _base(docker, wanted, local)
    with tempfile.TemporaryDirectory(prefix="rocketmq-conformance-") as folder:
        (Path(folder) / "lib").mkdir()
        for jar in path:
            shutil.copy(jar, Path(folder) / "lib")
        (Path(folder) / "Dockerfile").write_bytes(recipe)
        _build(folder, tag, {"JRE": base, "VERSION": str(release)})
    return tag


def _build(folder: str, tag: str, arguments: dict[str, str]) -> None:
    from testcontainers.core.image import DockerImage

    try:
        with phase(f"building the image {tag}"):
            DockerImage(folder, tag=tag, clean_up=False, buildargs=arguments).build().get_docker_client().client.close()
    except Exception as error:
        raise CannotRunError(
            f"The image {tag} cannot be built ({explanation(error)}): see whether the engine has room left."
        ) from error


def _base(docker: DockerClient, wanted: int, local: int | None) -> str:
    """An image with that Java: here already, pulled, or made of the Java of this machine."""
    pulled = BASE.format(feature=wanted)
    if _has(docker, pulled):
        return pulled
    made = base_image.name(REPOSITORY, needs.java()) if wanted == local else ""
    if made and _has(docker, made):
        return made
    try:
        _pull(docker, pulled)
    except CannotRunError as error:
        if not made:
            here = f"this machine has Java {local}: write java={local}" if local else "this machine has no Java"
            raise CannotRunError(
                f"There is no image {pulled} here, it cannot be pulled, and {here}, or install Java {wanted}."
            ) from error
    else:
        return pulled
    with phase("making an image of this machine's Java"):
        base_image.make(docker, made, needs.java())
    return made


def _local_java() -> int | None:
    """The Java of this machine; None when it has none."""
    try:
        return needs.java_feature(needs.java())
    except CannotRunError:
        return None


def _described(docker: DockerClient, name: str) -> Image:
    """The folder of jars and the Java of an image."""
    try:
        environment = docker.client.images.get(name).attrs["Config"]["Env"] or []
        homes = [value.removeprefix(_HOME) for value in environment if value.startswith(_HOME)]
        output = _java_version(docker, name)
    except Exception as error:
        raise CannotRunError(
            f"The image {name} does not say which Java it has ({explanation(error)}): name one with a java on its path."
        ) from error
    found = re.search(r'version "(?:1\.)?(\d+)', output.decode("utf-8", "replace"))
    if not found or not homes:
        lack = "java that prints its version" if homes else "ROCKETMQ_HOME"
        raise CannotRunError(f"The image {name} has no {lack}: name one that is laid out as apache/rocketmq is.")
    return Image(name, f"{homes[0]}/lib/*", int(found.group(1)))


def _java_version(docker: DockerClient, name: str) -> bytes:
    """The output of its ``java -version``; the container is removed even when it cannot be started."""
    container = docker.client.containers.create(name, ["-version"], entrypoint="java", network_disabled=True)
    try:
        container.start()
        container.wait(timeout=_SAYS)
        output: bytes = container.logs()
        return output
    finally:
        container.remove(force=True)
