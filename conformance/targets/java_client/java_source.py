"""Classes of the kit's own Java sources, beside this module: compiled by the JDK, where there is one, and kept."""

from __future__ import annotations

import shutil
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jpype

from rocketmq_conformance.conformance.cache import cache_folder
from rocketmq_conformance.conformance.targets.java_client import jvm

#: Separates the parts of a text that crosses from or to Java: no name and no field has it (``Reflected.java``).
BETWEEN = "\x1f"


def compiled(name: str) -> Any | None:
    """The class of ``NAME.java``; None when the Java machine of this process comes without a compiler.

    All sources are compiled at once, in a second or two, by the first process that wants one.
    """
    return _class_of(name) if has_compiler() else None


@cache
def has_compiler() -> bool:
    """Does the Java machine of this process come with a compiler?"""
    return _compiler() is not None


def _compiler() -> Any | None:
    jvm.start()
    return jpype.JClass("javax.tools.ToolProvider").getSystemJavaCompiler()


@cache
def _class_of(name: str) -> Any:
    url = jpype.JClass("java.io.File")(str(_folder())).toURI().toURL()
    array = jpype.JArray(jpype.JClass("java.net.URL"))([url])
    parent = jpype.JClass("java.lang.ClassLoader").getPlatformClassLoader()
    return jpype.JClass(jpype.JClass("java.net.URLClassLoader")(array, parent).loadClass(name))


@cache
def _folder() -> Path:
    """The folder of the classes, which later processes find as long as neither sources nor Java change."""
    sources = sorted(Path(__file__).parent.glob("*.java"))
    java = jpype.JClass("java.lang.System").getProperty("java.vm.version")
    state = sha256(str(java).encode())
    for source in sources:
        state.update(b"\0" + source.name.encode() + b"\0" + source.read_bytes())
    kept = cache_folder() / "java" / state.hexdigest()
    if kept.is_dir():
        return kept
    made = jvm.folder() / "compiled"
    _compile(sources, made)
    with suppress(OSError):  # nothing can be kept, or another process was faster
        kept.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=kept.parent) as whole:
            shutil.copytree(made, Path(whole) / kept.name).rename(kept)
    return made


def _compile(sources: list[Path], folder: Path) -> None:
    compiler = _compiler()
    assert compiler is not None
    folder.mkdir()
    errors = jpype.JClass("java.io.ByteArrayOutputStream")()
    if compiler.run(None, None, errors, "-nowarn", "-d", str(folder), *map(str, sources)):
        raise RuntimeError(f"The kit's Java cannot be compiled: {errors.toString()}")
