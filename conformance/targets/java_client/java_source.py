"""Classes of the kit's own Java sources, beside this module: compiled by the JDK, where there is one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jpype

from rocketmq_conformance.conformance.targets.java_client import jvm

#: Separates the parts of a text that crosses from or to Java: no name and no field has it (``Reflected.java``).
BETWEEN = "\x1f"


def compiled(name: str) -> Any | None:
    """The class of ``NAME.java``; None when the Java machine of this process comes without a compiler.

    It is compiled once per process into the machine's home folder, in less than a second.
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
    compiler = _compiler()
    assert compiler is not None
    source = Path(__file__).with_name(f"{name}.java")
    folder = jvm.folder() / "compiled"
    folder.mkdir(exist_ok=True)
    errors = jpype.JClass("java.io.ByteArrayOutputStream")()
    if compiler.run(None, None, errors, "-nowarn", "-sourcepath", str(source.parent), "-d", str(folder), str(source)):
        raise RuntimeError(f"{source.name} cannot be compiled: {errors.toString()}")
    url = jpype.JClass("java.io.File")(str(folder)).toURI().toURL()
    array = jpype.JArray(jpype.JClass("java.net.URL"))([url])
    parent = jpype.JClass("java.lang.ClassLoader").getPlatformClassLoader()
    return jpype.JClass(jpype.JClass("java.net.URLClassLoader")(array, parent).loadClass(name))
