"""Resolves RocketMQ's jars by running the ordinary Maven client: a user's mirror settings apply.

Nothing is copied: a class path names jars in Maven's own repository. It is stored in a cache folder, and Maven
is run again only when a jar is no longer there.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cache import cache_folder, keep
from rocketmq_conformance.conformance.process_group import ProcessGroup
from rocketmq_conformance.conformance.startup import more_time, phase, time_left
from rocketmq_conformance.conformance.waiting import looks

GROUP = "org.apache.rocketmq"
#: Timeout of Maven for each class path (s) where nothing else limits it: a first download is 90 MB, over a slow line.
LIMIT = 900.0
#: Seconds after which Maven looks again for what it did not find, by its own settings.
_LOOKS_AGAIN = 24 * 3600.0
#: Seconds between two looks at a Maven that runs.
_LOOK = 0.2
#: One module for each of what is wanted: Maven starts once for all.
_ALL = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>rocketmq.conformance</groupId>
  <artifactId>all</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <modules>{modules}</modules>
</project>
"""
_MODULE = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>rocketmq.conformance</groupId>
  <artifactId>{name}</artifactId>
  <version>1</version>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
_DEPENDENCY = """    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
    </dependency>"""
#: A jar by itself brings nothing else with it, nor does one of sources.
_ALONE = _DEPENDENCY.replace(
    "    </dependency>",
    """      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>""",
)
_SOURCES = _ALONE.replace("      <exclusions>", "      <classifier>sources</classifier>\n      <exclusions>")
#: Where a module's class path is written.
_ANSWER = "class-path.txt"
#: What Maven says of an artifact that its repository does not have.
_NOT_PUBLISHED = ("Could not find artifact", "was not found in")
#: Maven goes on without what an artifact needs where it cannot read that.
_NEEDS_UNKNOWN = re.compile(r"The POM for (?P<artifact>\S+?):jar:\S+ is (?:missing|invalid)")
_UNREACHED = re.compile(r"Could not transfer metadata [^\n]+")
#: A version in the file in which Maven keeps which there are.
_VERSION = re.compile(r"<version>([^<]+)</version>")
_MISSING = re.compile(r"Could not find artifact \S+|\S+ was not found in \S+|Could not transfer artifact [^>]+")
#: A line of Maven's output about a file that has arrived, with its size.
_ARRIVED = re.compile(r"Downloaded from .*\.jar \(([0-9.]+) (B|kB|MB|GB)")
_BYTES = {"B": 1, "kB": 1000, "MB": 1000**2, "GB": 1000**3}
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def is_snapshot(version: str) -> bool:
    """Is it a version that changes, as a build that Maven has put into the repository of this machine?"""
    return version.endswith("-SNAPSHOT")


class Wanted(NamedTuple):
    """Artifacts such as "rocketmq-client" in one version, with all that they need at run time; or their jars ``alone``;
    or, if ``sources``, the jars with their Java sources alone."""

    artifacts: tuple[str, ...]
    version: str
    group: str = GROUP
    sources: bool = False
    alone: bool = False

    def __str__(self) -> str:
        return f"{', '.join(self.artifacts)} {self.version}"

    @property
    def remembered(self) -> Path:
        """The file of the class path, which may not exist."""
        what = "sources-" if self.sources else "alone-" if self.alone else ""
        name = f"{what}{'+'.join(sorted(self.artifacts))}-{self.version}.txt"
        return cache_folder() / "class-path" / name

    @property
    def missed(self) -> Path:
        """The file of the reason why Maven did not find it, which may not exist."""
        return self.remembered.with_suffix(".missing")

    def module(self, name: str) -> str:
        """The module of Maven that needs it."""
        form = _SOURCES if self.sources else _ALONE if self.alone else _DEPENDENCY
        needs = [form.format(group=self.group, artifact=one, version=self.version) for one in self.artifacts]
        return _MODULE.format(name=name, dependencies="\n".join(needs))


def class_path(artifacts: Sequence[str], version: str, group: str = GROUP) -> tuple[Path, ...]:
    """The jars of artifacts in one version, with all that they need at run time.

    CannotRunError when there is no Maven, or when Maven cannot get them.
    """
    return _jars(Wanted(tuple(artifacts), version, group))


def published(wanted: Iterable[Wanted]) -> dict[Wanted, tuple[Path, ...]]:
    """The jars of those that Maven has.

    CannotRunError when there is no Maven, or when it cannot say whether it has one.
    """
    every = tuple(wanted)
    reasons = fetch(every)
    for one, reason in reasons.items():
        if not is_missing(reason):
            raise CannotRunError(f"Maven cannot get {one}: {reason}")
    return {one: _read(one.remembered) for one in every if one not in reasons}


def jars_alone(artifacts: Sequence[str], version: str) -> dict[str, Path]:
    """The jars of those artifacts that Maven has in one version, by artifact, and nothing that they need; errors as of
    ``published``."""
    wanted = {Wanted((artifact,), version, alone=True): artifact for artifact in artifacts}
    return {wanted[one]: jars[0] for one, jars in published(wanted).items()}


def versions_of(artifacts: Sequence[str], since: str) -> dict[str, tuple[str, ...]]:
    """The versions of each artifact that Maven names; ``since`` is one that there is.

    CannotRunError with a sentence when there is no Maven, or when it does not reach its repository.
    """
    wanted = [Wanted((artifact,), f"[{since},)", alone=True) for artifact in artifacts]
    with phase("asking Maven which versions there are") as describe:
        try:
            # a range of versions makes Maven look which there are, once a day
            code, output, answers = _ask(_launcher(), wanted, (), describe)
        except OSError as error:
            raise CannotRunError(f"Maven does not start ({error.strerror}).") from error
    unreached = _UNREACHED.search(output)
    if unreached or not all(answers):
        reason = unreached[0] if unreached else _first_error(output, _named(0)) or f"it ended with {code}."
        raise CannotRunError(f"Maven cannot say which releases there are: {reason[:200]}")
    found: dict[str, tuple[str, ...]] = {}
    for artifact, answer in zip(artifacts, answers, strict=True):
        texts = [file.read_text("utf-8", "replace") for file in Path(answer).parent.parent.glob("maven-metadata-*.xml")]
        found[artifact] = tuple(dict.fromkeys(version for text in texts for version in _VERSION.findall(text)))
    return found


def is_missing(reason: str) -> bool:
    """Is the reason why Maven cannot get something that its repository does not have it?"""
    return any(words in reason for words in _NOT_PUBLISHED)


def fetch(wanted: Iterable[Wanted]) -> dict[Wanted, str]:
    """Have Maven get the jars of all of them at once, which takes a fraction of the time; why it cannot, of those that
    it cannot get.

    CannotRunError when there is no Maven.
    """
    unknown = [one for one in dict.fromkeys(wanted) if not _known(one)]
    reasons = {one: reason for one in unknown if (reason := _missed(one))}
    left = [one for one in unknown if one not in reasons]
    found = _resolve(left) if left else {}
    for one, reason in found.items():
        if is_missing(reason) and not is_snapshot(one.version):
            _write(one.missed, reason)
    return reasons | found


def _jars(wanted: Wanted) -> tuple[Path, ...]:
    wrong = [name for name in (*wanted.artifacts, wanted.version) if not _NAME.fullmatch(name)]
    if wrong or not wanted.artifacts:
        raise CannotRunError(f"{', '.join(wrong) or 'nothing'} is no Maven artifact or version: ask for a release.")
    known = _known(wanted)
    if known:
        return known
    if reasons := fetch([wanted]):
        raise CannotRunError(f"Maven cannot get {wanted}: {reasons[wanted]}")
    jars = _read(wanted.remembered)
    if not jars:
        raise CannotRunError(
            f"Maven named jars of {wanted.version} that are not there: delete {wanted.remembered} and try again."
        )
    return jars


def _known(wanted: Wanted) -> tuple[Path, ...]:
    """The class path that was found before; empty when a jar is missing, or the version may have changed."""
    return () if is_snapshot(wanted.version) else _read(wanted.remembered)


def _missed(wanted: Wanted) -> str:
    """Why Maven did not find it a short while ago: it would not look again; "" when it did not say so."""
    with suppress(OSError):
        if time.time() - wanted.missed.stat().st_mtime < _LOOKS_AGAIN:
            return wanted.missed.read_text("utf-8")
    return ""


def _read(remembered: Path) -> tuple[Path, ...]:
    """The class path stored in a file; empty when the file, or one of the jars, is missing."""
    try:
        names = remembered.read_text("utf-8").strip()
    except OSError:
        return ()
    jars = tuple(Path(name) for name in names.split(os.pathsep) if name)
    return jars if all(jar.is_file() for jar in jars) else ()


def _write(path: Path, text: str) -> None:
    try:
        keep(path, text)
    except OSError as error:
        raise CannotRunError(f"{path.parent} cannot be written ({error.strerror}): set XDG_CACHE_HOME.") from error


def _resolve(wanted: Sequence[Wanted]) -> dict[Wanted, str]:
    """Run Maven, offline first: it may have the jars already. Why there is no class path, of those that have none."""
    launcher = _launcher()
    with phase(f"looking for the jars of {_listed(wanted)} in Maven's repository on this machine") as describe:
        reasons = _run(launcher, wanted, ("-o",), describe)
    if not reasons:
        return {}
    what = _listed(list(reasons))
    with (
        phase(f"waiting for another Maven, to download the jars of {what}"),
        _exclusive_lock(),
        phase(f"downloading the jars of {what} by Maven") as describe,
    ):
        left = [one for one in reasons if not _known(one)]  # the other Maven may have got it
        return _run(launcher, left, (), describe) if left else {}


def _launcher() -> str:
    launcher = shutil.which("mvn")
    if not launcher:
        raise CannotRunError("RocketMQ's jars come through Maven, and there is no mvn: install Maven.")
    return launcher


def _listed(wanted: Sequence[Wanted]) -> str:
    return f"{wanted[0]} and {len(wanted) - 1} more" if len(wanted) > 1 else f"{wanted[0]}"


@contextmanager
def _exclusive_lock() -> Iterator[None]:
    """Hold a lock while Maven downloads, as its repository is not safe for concurrent use; best effort."""
    with ExitStack() as held:
        with suppress(OSError):
            cache_folder().mkdir(parents=True, exist_ok=True)
            flock(held.enter_context((cache_folder() / "maven.lock").open("w")), LOCK_EX)
        yield


def _run(
    launcher: str, wanted: Sequence[Wanted], more: Sequence[str], describe: Callable[[str], None]
) -> dict[Wanted, str]:
    """Run Maven once, and store class paths; why there is none. ``describe`` gets what has arrived."""
    try:
        code, output, answers = _ask(launcher, wanted, more, describe)
    except OSError as error:
        return dict.fromkeys(wanted, f"it does not start ({error.strerror}).")
    reasons: dict[Wanted, str] = {}
    unknown = {found["artifact"].rpartition(":")[2] for found in _NEEDS_UNKNOWN.finditer(output)}
    for at, (one, text) in enumerate(zip(wanted, answers, strict=True)):
        lacking = [] if one.sources or one.alone else sorted(unknown & set(one.artifacts))
        if text and lacking:
            reasons[one] = f"Could not find artifact that says what {lacking[0]} {one.version} needs"
        elif text:
            _write(one.remembered, text)
        else:
            reasons[one] = _first_error(output, _named(at)) or f"it ended with {code}."
    return reasons


def _named(number: int) -> str:
    """The name of the module of one that is wanted."""
    return f"module-{number}"


def _ask(
    launcher: str, wanted: Sequence[Wanted], more: Sequence[str], describe: Callable[[str], None]
) -> tuple[int, str, list[str]]:
    """Run Maven once: its exit code and output, and the class path of each, "" where there is none.

    OSError when it does not start, CannotRunError when its time is up.
    """
    with tempfile.TemporaryDirectory(prefix="rocketmq-conformance-") as folder:
        modules = [_named(number) for number in range(len(wanted))]
        for one, name in zip(wanted, modules, strict=True):
            (Path(folder) / name).mkdir()
            (Path(folder) / name / "pom.xml").write_text(one.module(name), "utf-8")
        pom = Path(folder) / "pom.xml"
        pom.write_text(_ALL.format(modules="".join(f"<module>{name}</module>" for name in modules)), "utf-8")
        command = [
            *(launcher, "-B", "-Dstyle.color=never", *more, "--fail-at-end", "-f", str(pom)),
            *("dependency:build-classpath", "-DincludeScope=runtime", f"-Dmdep.outputFile={_ANSWER}"),
            # brokers of 4.2.0 name a jar by this property, which otherwise only a plug-in of their build sets
            f"-Dos.detected.classifier={_classifier()}",
        ]
        limit = time_left(LIMIT * len(wanted))
        try:
            code, output = _watched(command, folder, limit, describe)
        except TimeoutError:
            raise CannotRunError(
                f"Maven took longer than {limit:.0f} s to get {_listed(wanted)}{more_time()}: see "
                "whether its repository can be reached. What has arrived is kept."
            ) from None
        answers = (Path(folder) / name / _ANSWER for name in modules)
        return code, output, [answer.read_text("utf-8").strip() if answer.is_file() else "" for answer in answers]


def _watched(command: Sequence[str], folder: str, limit: float, describe: Callable[[str], None]) -> tuple[int, str]:
    """Run Maven; its exit code and output. TimeoutError when its time is up; an exception ends Maven."""
    log = Path(folder) / "output.txt"
    maven: ProcessGroup | None = None
    try:
        with log.open("wb") as output:
            maven = ProcessGroup(
                command,
                os.environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
            )
        for _ in looks(limit):
            if maven.ends_within(_LOOK):
                return maven.process.returncode, log.read_text("utf-8", "replace")
            describe(_arrived(log.read_text("utf-8", "replace")))
        raise TimeoutError
    finally:
        if maven is not None and maven.process.returncode is None:
            maven.kill()


def _arrived(output: str) -> str:
    """What was downloaded so far, such as "12 jars, 34.1 MB"; "" when nothing was."""
    found = list(_ARRIVED.finditer(output))
    size = sum(float(match[1]) * _BYTES[match[2]] for match in found)
    return f"{len(found)} jars, {size / 1e6:.1f} MB" if found else ""


def _first_error(output: str, module: str) -> str:
    """The missing artifact that Maven's output names for a module, else its first error; empty without one."""
    lines = [line.partition("[ERROR]")[2].strip() for line in output.splitlines() if "[ERROR]" in line]
    errors = [line for line in lines if line]
    errors = [line for line in errors if f" {module}:" in line] or errors
    found = _MISSING.search(" ".join(errors))
    return (found.group() if found else errors[0] if errors else "")[:400]


def _classifier() -> str:
    system = {"Darwin": "osx", "Windows": "windows"}.get(platform.system(), "linux")
    machine = {"arm64": "aarch_64", "aarch64": "aarch_64"}.get(platform.machine().lower(), "x86_64")
    return f"{system}-{machine}"
