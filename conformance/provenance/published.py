"""The published sources of a release, from the jars that Maven gets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.provenance.java_source import JavaSource, Member
from rocketmq_conformance.conformance.provenance.named import Named
from rocketmq_conformance.conformance.targets.broker.launch_config import maven_version
from rocketmq_conformance.conformance.targets.maven import is_missing, source_jars
from rocketmq_conformance.models.release import Release

#: Artifacts whose classes rules name. The first two tell whether there is such a release at all.
ARTIFACTS = (
    *("rocketmq-client", "rocketmq-store", "rocketmq-broker", "rocketmq-common", "rocketmq-filter"),
    *("rocketmq-namesrv", "rocketmq-remoting"),
)
#: Artifacts that are younger than 4.0.0.
_SINCE = {"rocketmq-filter": Release(4, 1, 0)}


@dataclass(frozen=True, slots=True)
class Published:
    """The sources of a release, and the artifacts whose sources were not published with it."""

    source: JavaSource
    lacking: tuple[str, ...] = ()

    def member(self, named: Named) -> Member | None:
        """A member of a class, as :meth:`JavaSource.member`."""
        return self.source.member(named)

    def tells(self, named: Named) -> bool:
        """Can it be known whether the release has a class? Not when the class may be in what was not published."""
        return not self.lacking or self.source.member(Named(named.type, "")) is not None


def published_sources(release: Release) -> Published:
    """The sources of a release; CannotRunError with a sentence when they cannot be had."""
    version = maven_version(release)
    artifacts = tuple(name for name in ARTIFACTS if release >= _SINCE.get(name, release))
    lacking: list[str] = []
    try:
        jars = list(source_jars(artifacts, version))
    except CannotRunError as error:
        if not is_missing(str(error)):
            raise
        jars, lacking = _one_by_one(artifacts, version)
    return Published(JavaSource(files_of(jars)), tuple(lacking))


def _one_by_one(artifacts: tuple[str, ...], version: str) -> tuple[list[Path], list[str]]:
    """The jars that there are, and the artifacts without one."""
    jars: list[Path] = []
    lacking: list[str] = []
    for artifact in artifacts:
        try:
            jars += source_jars((artifact,), version)
        except CannotRunError as error:
            if not is_missing(str(error)):
                raise
            lacking.append(artifact)
        if not jars and len(lacking) == 2:
            raise CannotRunError(f"No sources of {version} are published: Maven finds no {' and no '.join(lacking)}.")
    return jars, lacking


def files_of(jars: list[Path]) -> dict[str, bytes]:
    """The Java files in jars, by path; CannotRunError with a sentence for a damaged jar."""
    files: dict[str, bytes] = {}
    for jar in sorted(jars):
        try:
            with ZipFile(jar) as opened:
                files |= {name: opened.read(name) for name in opened.namelist() if name.endswith(".java")}
        except (BadZipFile, OSError) as error:
            raise CannotRunError(f"{jar} cannot be read ({error}): delete it, and it is downloaded again.") from error
    return files
