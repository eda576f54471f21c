"""The folder in which a release's broadcasting consumers keep their offset files."""

from __future__ import annotations

from pathlib import Path

import jpype

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

#: Read by the class when it is initialised, once per class loader.
FOLDER_PROPERTY = "rocketmq.client.localOffsetStoreDir"


def offset_folder(release: JavaRelease) -> Path:
    """The folder, which the property names (jvm.py sets it), else one below the JVM's own.

    AdapterError when the class was initialised before and keeps its files under the user's home.
    """
    system = jpype.JClass("java.lang.System")
    if system.getProperty(FOLDER_PROPERTY) is None:
        system.setProperty(FOLDER_PROPERTY, str(jvm.folder() / "offsets"))
    used = Path(str(release.load("client.consumer.store.LocalFileOffsetStore").LOCAL_OFFSET_STORE_DIR))
    if used.name == ".rocketmq_offsets":
        raise AdapterError(f"The client writes offsets to {used}: set -D{FOLDER_PROPERTY} before it is loaded.")
    return used
