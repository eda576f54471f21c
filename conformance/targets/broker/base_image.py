"""Builds a base image from this machine's Java and its libraries, for when no registry can be reached."""

from __future__ import annotations

import io
import os
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.broker.docker_engine import explanation

if TYPE_CHECKING:
    from testcontainers.core.docker_client import DockerClient

_JAVA_HOME = "opt/java"
#: Parts of a JDK that no broker needs.
_LEFT_OUT = frozenset({"jmods", "src.zip", "man", "demo", "sample", "docs", "include", "legal", "ct.sym"})
#: Libraries for windows and sound: their dependencies may be missing here.
_SEEN_OR_HEARD = re.compile(r"awt|font|splash|sound|lcms|mlib|javajpeg|freetype|fontmanager|atk")
#: Libraries that jars bring native code for.
_ASKED_FOR = (
    "libdl.so.2",
    "librt.so.1",
    "libpthread.so.0",
    "libm.so.6",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "libz.so.1",
)
_FOUND = re.compile(r"(?:=> )?(/\S+) \(0x")


def name(repository: str, launcher: str) -> str:
    """The name of the image of a Java launcher's installation."""
    output = subprocess.run([launcher, "-version"], capture_output=True, timeout=60, check=False).stderr
    return f"{repository}-base:{sha256(output + repr(platform.libc_ver()).encode()).hexdigest()[:12]}"


def make(docker: DockerClient, tag: str, launcher: str) -> None:
    """Make it; CannotRunError when this machine cannot."""
    if platform.system() != "Linux" or not shutil.which("ldd"):
        raise CannotRunError(
            "No image with a Java can be pulled, and only a Linux with ldd can make one of its own: reach a registry."
        )
    home = Path(launcher).resolve().parent.parent
    with tempfile.TemporaryDirectory(prefix="rocketmq-conformance-") as folder:
        archive = Path(folder) / "root.tar"
        with tarfile.open(archive, "w", dereference=True) as tar:
            _add_text(tar, "etc/passwd", "root:x:0:0:root:/:/\n")
            _add_text(tar, "etc/group", "root:x:0:\n")
            _add_text(tar, "etc/nsswitch.conf", "hosts: files dns\n")
            _add_folder(tar, "tmp", 0o1777)
            for source, place in _java(home):
                tar.add(source, place, recursive=False)
            for library in _libraries(home):
                tar.add(library, library.lstrip("/"), recursive=False)
        changes = [f"ENV JAVA_HOME=/{_JAVA_HOME}", f"ENV PATH=/{_JAVA_HOME}/bin", "ENV LANG=C.UTF-8"]
        repository, _, version = tag.partition(":")
        try:
            docker.client.api.import_image(str(archive), repository, version, changes=changes)
        except Exception as error:
            raise CannotRunError(
                f"The engine does not take an image of this machine's Java ({explanation(error)}): see whether it has "
                "room left."
            ) from error


def _java(home: Path) -> Iterator[tuple[str, str]]:
    """The files of a Java installation, and their places."""
    for at, folders, names in os.walk(home, followlinks=True):
        folders[:] = sorted(folder for folder in folders if folder not in _LEFT_OUT)
        for each in sorted(names):
            source = Path(at) / each
            if each not in _LEFT_OUT and source.is_file():  # links may be broken
                yield str(source), f"{_JAVA_HOME}/{source.relative_to(home)}"


def _libraries(home: Path) -> list[str]:
    """The system's libraries that a Java and native code in jars need, the loader among them."""
    users = [home / "bin" / "java", *(found for found in home.glob("**/*.so") if not _SEEN_OR_HEARD.search(found.name))]
    output = [_output_of("ldd", str(user)) for user in users]
    known = _output_of("ldconfig", "-p") or _output_of("/sbin/ldconfig", "-p")
    found = {match for text in output for match in _FOUND.findall(text)}
    machine = platform.machine().replace("_", "-")
    for line in known.splitlines():
        soname, _, path = line.strip().partition(" => ")
        if soname.split(" ")[0] in _ASKED_FOR and machine in soname.replace("_", "-"):
            found.add(path)
    return sorted(path for path in found if not path.startswith(f"{home}/") and Path(path).is_file())


def _output_of(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
    except OSError:
        return ""


def _add_text(tar: tarfile.TarFile, place: str, text: str) -> None:
    entry = tarfile.TarInfo(place)
    entry.size = len(text)
    tar.addfile(entry, io.BytesIO(text.encode()))


def _add_folder(tar: tarfile.TarFile, place: str, mode: int) -> None:
    entry = tarfile.TarInfo(place)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    tar.addfile(entry)
