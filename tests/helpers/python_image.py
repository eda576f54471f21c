"""An image with this machine's Python, its libraries and a shell, for a Docker engine that reaches no registry."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis

#: Programs of the system that recipes run.
_PROGRAMS = ("sh", "rm", "env")
_FOUND = re.compile(r"(?:=> )?(/\S+) \(0x")
#: Parts of the standard library that nothing here imports.
_LEFT_OUT = frozenset(
    {"site-packages", "dist-packages", "test", "idlelib", "tkinter", "ensurepip", "EXTERNALLY-MANAGED"}
)
_PIP = '#!/bin/sh\nPYTHONPATH=/opt/pip exec python3 -m pip "$@"\n'


def import_python_image(tag: str, wheels: Path) -> None:
    """Import it under a tag; its pip installs from the wheels of the folder alone."""
    import pip  # which only the environment of containers has for certain

    python = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", dereference=True) as tar:
        _add_bytes(tar, "etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
        _add_bytes(tar, "etc/group", b"root:x:0:\n")
        _add_bytes(tar, "usr/local/bin/pip", _PIP.encode(), 0o755)
        entry = tarfile.TarInfo("tmp")
        entry.type, entry.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(entry)
        programs = [Path(found) for found in map(shutil.which, _PROGRAMS) if found]
        for program in programs:
            tar.add(program, f"bin/{program.name}")
        tar.add(python, _inside(python))
        tar.add(python, "usr/local/bin/python3")
        modules = [file for key in ("stdlib", "platstdlib") for file in _files(_base_path(key))]
        for file in dict.fromkeys(modules):
            tar.add(file, _inside(file))
        for file in _files(Path(pip.__file__).parent):
            tar.add(file, f"opt/pip/pip/{file.relative_to(Path(pip.__file__).parent)}")
        for wheel in wheels.glob("*.whl"):
            tar.add(wheel, f"opt/wheels/{wheel.name}")
        extensions = [
            *(file for file in modules if file.suffix == ".so"),
            *Path(hypothesis.__file__).parent.rglob("*.so"),
        ]
        for library in _libraries([*programs, python, *extensions]):
            tar.add(library, _inside(library))
    scripts = sysconfig.get_path("scripts", vars=_base())
    changes = [
        f"ENV PATH={scripts}:/usr/local/bin:/usr/bin:/bin",
        f"ENV PYTHONHOME={sys.base_prefix}",
        "ENV LANG=C.UTF-8 PIP_NO_INDEX=1 PIP_FIND_LINKS=/opt/wheels PIP_ROOT_USER_ACTION=ignore",
    ]
    command = ["docker", "import", *(f"--change={change}" for change in changes), "-", tag]
    subprocess.run(command, input=archive.getvalue(), capture_output=True, timeout=120, check=True)


def _base() -> dict[str, str]:
    return {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}


def _base_path(key: str) -> Path:
    return Path(sysconfig.get_path(key, vars=_base() | {"installed_base": sys.base_prefix}))


def _inside(path: Path) -> str:
    return str(path).lstrip("/")


def _files(folder: Path) -> Iterator[Path]:
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _LEFT_OUT - {"__pycache__"})
        yield from (Path(at) / name for name in sorted(names) if name not in _LEFT_OUT)


def _libraries(users: list[Path]) -> list[Path]:
    """What the loader finds for programs and extensions, the loader itself among them."""
    command = ["ldd", *map(str, users)]
    output = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
    return [Path(found) for found in sorted(set(_FOUND.findall(output)))]


def _add_bytes(tar: tarfile.TarFile, place: str, content: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(place)
    entry.size, entry.mode = len(content), mode
    tar.addfile(entry, io.BytesIO(content))
