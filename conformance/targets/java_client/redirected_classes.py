"""Copies of a release's classes in which some calls are calls of a class of the adapter's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.maven import class_path

#: The packages of the classes that are copied: those that hold the behaviour of consumers and clients.
_COPIED = ("org/apache/rocketmq/client/impl/consumer/", "org/apache/rocketmq/client/impl/factory/")


def redirected_classes(version: str, name: str, own: bytes, redirect: Callable[[bytes], bytes]) -> Path:
    """A folder with the class file ``own``, whose class has this name, and the release's classes that ``redirect``
    changes, as it makes them."""
    folder = jvm.folder() / f"{name}-{version}"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.class").write_bytes(own)
    (jar,) = [jar for jar in class_path(("rocketmq-client",), version) if jar.name.startswith("rocketmq-client-")]
    with ZipFile(jar) as classes:
        for path in classes.namelist():
            if path.startswith(_COPIED) and path.endswith(".class"):
                data = classes.read(path)
                copy = redirect(data)
                if copy != data:
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    (folder / path).write_bytes(copy)
    return folder
