"""An unpacked distribution of RocketMQ, such as a build of one's own: its jars, and the release that judges it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.models.release import Release, nearest_published

_JAR = re.compile(r"rocketmq-broker(?:-(?P<version>\d[\w.-]*))?\.jar")
#: Where a jar says its version: the manifest of some builds, and what Maven writes.
_SAYINGS = (
    ("META-INF/MANIFEST.MF", re.compile(r"^Implementation-Version: *(\S+)", re.MULTILINE)),
    ("META-INF/maven/org.apache.rocketmq/rocketmq-broker/pom.properties", re.compile(r"^version=(\S+)", re.MULTILINE)),
)


@dataclass(frozen=True, slots=True)
class Distribution:
    """The jars of a distribution, the version of its broker's jar, and the published release that judges it."""

    folder: Path
    jars: tuple[Path, ...]
    version: str
    judged: Release
    #: Was that release asked for?
    asked: bool = False

    def __str__(self) -> str:
        why = f"the rules of {self.judged}, as asked" if self.asked else f"the nearest published release {self.judged}"
        return f"{self.version or 'a version that its jars do not say'} in {self.folder}, by {why}"

    def class_path(self, artifacts: Sequence[str], version: str) -> tuple[Path, ...]:
        """Its jars, whatever is asked for."""
        return self.jars


def distribution(path: str, like: Release | None = None) -> Distribution:
    """The distribution in a folder, judged by ``like``, else by the published release that is nearest to its version.

    CannotRunError with a sentence when the folder is none, or does not say which version it is.
    """
    folder = Path(path).expanduser().absolute()
    if not folder.is_dir():
        raise CannotRunError(f"There is no folder {path}: name an unpacked distribution of RocketMQ.")
    jars = tuple(sorted((folder / "lib").glob("*.jar")))
    brokers = [(jar, found) for jar in jars if (found := _JAR.fullmatch(jar.name))]
    if not brokers:
        raise CannotRunError(
            f"{path} is no unpacked distribution of RocketMQ: it has no lib/rocketmq-broker-VERSION.jar. Where Maven "
            "built it, name the folder in distribution/target that has bin, conf and lib in it."
        )
    if len(brokers) > 1:
        names = " and ".join(jar.name for jar, _ in brokers)
        raise CannotRunError(f"{path} has two brokers in lib, {names}: leave one of them there.")
    jar, named = brokers[0]
    version = named["version"] or _version_in(jar)
    try:
        return Distribution(folder, jars, version, like or nearest_published(version), like is not None)
    except ValueError:
        raise CannotRunError(f"{jar} does not say which release it is: add like=VERSION, such as like=5.5.0.") from None


def _version_in(jar: Path) -> str:
    """The version that a jar says inside; "" when it does not."""
    try:
        with ZipFile(jar) as opened:
            names = set(opened.namelist())
            for name, form in _SAYINGS:
                found = form.search(opened.read(name).decode("utf-8", "replace")) if name in names else None
                if found:
                    return found[1]
    except (BadZipFile, OSError) as error:
        raise CannotRunError(f"{jar} cannot be read ({error}): build it again.") from error
    return ""
