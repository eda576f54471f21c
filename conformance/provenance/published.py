"""The published sources of a release, from the jars that Maven gets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.provenance.java_source import JavaSource, Member
from rocketmq_conformance.conformance.provenance.named import Named
from rocketmq_conformance.conformance.targets import maven
from rocketmq_conformance.conformance.targets.broker.launch_config import maven_version
from rocketmq_conformance.conformance.targets.maven import Wanted
from rocketmq_conformance.models.release import Release

#: Artifacts whose classes rules name. The first two tell whether there is such a release at all.
ARTIFACTS = (
    *("rocketmq-client", "rocketmq-store", "rocketmq-broker", "rocketmq-common", "rocketmq-filter"),
    *("rocketmq-namesrv", "rocketmq-remoting"),
)
#: Those that a broker is made of.
_OF_BROKERS = ("rocketmq-broker", "rocketmq-store", "rocketmq-common", "rocketmq-filter", "rocketmq-remoting")
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
    return sources_of((release,))(release)


def sources_of(releases: Iterable[Release]) -> Callable[[Release], Published]:
    """The sources of each of these releases, which Maven gets all at once; CannotRunError with a sentence when they
    cannot be had."""
    wanted = {release: _wanted(release, ARTIFACTS) for release in releases}
    jars = maven.published(one for some in wanted.values() for one in some)

    def sources(release: Release) -> Published:
        found = [path for one in wanted[release] for path in jars.get(one, ())]
        lacking = tuple(one.artifacts[0] for one in wanted[release] if one not in jars)
        if lacking[:2] == ARTIFACTS[:2]:
            raise CannotRunError(
                f"No sources of {maven_version(release)} are published: Maven finds no {' and no '.join(lacking[:2])}."
            )
        return Published(JavaSource(files_of(found)), lacking)

    return sources


def broker_files(release: Release) -> dict[str, bytes]:
    """The Java files of a broker, by path; CannotRunError with a sentence when they cannot be had."""
    return files_of([path for jars in maven.published(_wanted(release, _OF_BROKERS)).values() for path in jars])


def _wanted(release: Release, artifacts: Iterable[str]) -> list[Wanted]:
    version = maven_version(release)
    return [Wanted((one,), version, sources=True) for one in artifacts if release >= _SINCE.get(one, release)]


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
