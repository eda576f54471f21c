"""The folder in which a release's broadcasting consumers keep their offset files."""

from __future__ import annotations

import json
from pathlib import Path

import jpype

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.remoting import java_json
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


def offsets_in(file: Path) -> dict[tuple[str, int], int]:
    """The offsets in a file by topic and queue id; none where there is no file, and while it is written."""
    try:
        table = java_json.loads(file.read_text("utf-8"))["offsetTable"]
    except (FileNotFoundError, ValueError):
        return {}
    # the keys are JSON texts or objects
    queues = (((json.loads(key) if isinstance(key, str) else dict(key)), offset) for key, offset in table.items())
    return {(queue["topic"], queue["queueId"]): int(offset) for queue, offset in queues}
