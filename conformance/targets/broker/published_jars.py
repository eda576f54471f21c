"""The jars of a published broker; those modules that are not published with it are taken from the release before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.broker.launch_config import maven_version
from rocketmq_conformance.conformance.targets.maven import class_path, is_missing, jars_alone
from rocketmq_conformance.models.release import PUBLISHED, Release

_OF_ROCKETMQ = "rocketmq-"


class PublishedJars(NamedTuple):
    """The jars of a broker, and the modules among them that are those of an older release."""

    paths: tuple[Path, ...]
    borrowed: tuple[str, ...] = ()
    older: str = ""

    def note(self, version: str) -> str:
        """Which jars are whose, as a sentence without its full stop; "" when all are of this version."""
        if not self.borrowed:
            return ""
        return (
            f"{', '.join(self.borrowed)} are of {self.older}, as Maven has only a part of {version}; broker:dir=PATH "
            "judges a build that is whole"
        )


@lru_cache(maxsize=16)
def published_jars(version: str) -> PublishedJars:
    """The jars of the broker in a version; CannotRunError with a sentence when it cannot be put together."""
    try:
        return PublishedJars(class_path(("rocketmq-broker",), version))
    except CannotRunError as error:
        older = _before(version)
        if older is None or not is_missing(str(error)):
            raise
        try:
            whole = class_path(("rocketmq-broker",), older)
        except CannotRunError:
            raise error from None
        modules = {module: path for path in whole if (module := _module(path, older))}
        own = jars_alone(tuple(modules), version)
        if "rocketmq-broker" not in own:
            raise CannotRunError(
                f"{str(error).rstrip('.')}: Maven has no broker {version}. A build of it is judged as broker:dir=PATH."
            ) from error
        paths = tuple(own.get(_module(path, older), path) for path in whole)
        return PublishedJars(paths, tuple(sorted(modules.keys() - own.keys())), older)


def broker_class_path(artifacts: Sequence[str], version: str) -> tuple[Path, ...]:
    """The class path of the broker in a version, as ``maven.class_path`` gives that of anything."""
    return published_jars(version).paths


def _before(version: str) -> str | None:
    """The version of the last release before one that may have been published in part; None for anything else."""
    try:
        release = Release.parse(version)
    except ValueError:
        return None
    return next((maven_version(one) for one in reversed(PUBLISHED) if one < release), None)


def _module(path: Path, version: str) -> str:
    """The module of RocketMQ that a jar is in this version; "" for any other jar."""
    name = path.name.removesuffix(f"-{version}.jar")
    return name if name.startswith(_OF_ROCKETMQ) and name != path.name else ""
