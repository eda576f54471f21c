"""Resolves RocketMQ's jars by running the ordinary Maven client: a user's mirror settings apply.

Nothing is copied: the class path names jars in Maven's own repository. It is stored in a cache folder, and Maven
is run again only when a jar is no longer there.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path

from rocketmq_conformance.conformance.adapter import CannotRunError

GROUP = "org.apache.rocketmq"
#: Timeout of a Maven run (s): a first download is 90 MB, over a slow line.
LIMIT = 900.0
_POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>rocketmq.conformance</groupId>
  <artifactId>class-path</artifactId>
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
_MISSING = re.compile(r"Could not find artifact \S+|\S+ was not found in \S+|Could not transfer artifact [^>]+")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def cache_folder() -> Path:
    """The folder of files that the kit can make again."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "rocketmq-conformance"


def class_path(artifacts: Sequence[str], version: str) -> tuple[Path, ...]:
    """The jars of artifacts such as "rocketmq-client" in one version, with all that they need at run time.

    CannotRunError when there is no Maven, or when Maven cannot get them.
    """
    wrong = [name for name in (*artifacts, version) if not _NAME.fullmatch(name)]
    if wrong or not artifacts:
        raise CannotRunError(f"{', '.join(wrong) or 'nothing'} is no Maven artifact or version: ask for a release.")
    remembered = cache_folder() / "class-path" / f"{'+'.join(sorted(artifacts))}-{version}.txt"
    known = _read(remembered)
    if known:
        return known
    text = _resolve(artifacts, version)
    _write(remembered, text)
    jars = _read(remembered)
    if not jars:
        raise CannotRunError(f"Maven named jars of {version} that are not there: delete {remembered} and try again.")
    return jars


def _read(remembered: Path) -> tuple[Path, ...]:
    """The class path stored in a file; empty when the file, or one of the jars, is missing."""
    try:
        names = remembered.read_text("utf-8").strip()
    except OSError:
        return ()
    jars = tuple(Path(name) for name in names.split(os.pathsep) if name)
    return jars if all(jar.is_file() for jar in jars) else ()


def _write(path: Path, text: str) -> None:
    """Replace the file atomically: another process may be reading it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as new:
            new.write(text)
        os.replace(new.name, path)
    except OSError as error:
        raise CannotRunError(f"{path.parent} cannot be written ({error.strerror}): set XDG_CACHE_HOME.") from error


def _resolve(artifacts: Sequence[str], version: str) -> str:
    """Run Maven, offline first: it may have the jars already."""
    launcher = shutil.which("mvn")
    if not launcher:
        raise CannotRunError("RocketMQ's jars come through Maven, and there is no mvn: install Maven.")
    error = ""
    for more in (("-o",), ()):
        with nullcontext() if more else _alone():
            text, error = _run(launcher, artifacts, version, more)
        if text:
            return text
    raise CannotRunError(f"Maven cannot get {', '.join(artifacts)} {version}: {error}")


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock while Maven downloads, as its repository is not safe for concurrent use; best effort."""
    with ExitStack() as held:
        with suppress(OSError):
            cache_folder().mkdir(parents=True, exist_ok=True)
            flock(held.enter_context((cache_folder() / "maven.lock").open("w")), LOCK_EX)
        yield


def _run(launcher: str, artifacts: Sequence[str], version: str, more: Sequence[str]) -> tuple[str, str]:
    """The class path, empty on failure, and Maven's first error."""
    with tempfile.TemporaryDirectory(prefix="rocketmq-conformance-") as folder:
        made = [_DEPENDENCY.format(group=GROUP, artifact=name, version=version) for name in artifacts]
        pom, answer = Path(folder) / "pom.xml", Path(folder) / "class-path.txt"
        pom.write_text(_POM.format(dependencies="\n".join(made)), "utf-8")
        command = [
            *(
                launcher,
                "-q",
                "-B",
                "-Dstyle.color=never",
                *more,
                "-f",
                str(pom),
                "dependency:build-classpath",
                "-DincludeScope=runtime",
            ),
            f"-Dmdep.outputFile={answer}",
            # brokers of 4.2.0 name a jar by this property, which otherwise only a plug-in of their build sets
            f"-Dos.detected.classifier={_classifier()}",
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, cwd=folder)
        except subprocess.TimeoutExpired:
            return "", f"it took longer than {LIMIT:.0f} s; see whether its repository can be reached."
        except OSError as error:
            return "", f"it does not start ({error.strerror})."
        text = answer.read_text("utf-8").strip() if done.returncode == 0 and answer.is_file() else ""
        return text, _first_error(done.stdout) or f"it ended with {done.returncode}."


def _first_error(output: str) -> str:
    """The missing artifact that Maven's output names, else its first error; empty without one."""
    lines = [line.partition("[ERROR]")[2].strip() for line in output.splitlines() if "[ERROR]" in line]
    errors = [line for line in lines if line]
    found = _MISSING.search(" ".join(errors))
    return (found.group() if found else errors[0] if errors else "")[:400]


def _classifier() -> str:
    system = {"Darwin": "osx", "Windows": "windows"}.get(platform.system(), "linux")
    machine = {"arm64": "aarch_64", "aarch64": "aarch_64"}.get(platform.machine().lower(), "x86_64")
    return f"{system}-{machine}"
