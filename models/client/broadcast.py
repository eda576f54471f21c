"""The offsets of broadcasting members: a file for each client id, instead of the broker (REB-BC-STORE, REB-BC-REM).

A consumer that is started without an offset store of its own makes one by its message model: the remote store in a
cluster, the local one (OFF-L-*) when it broadcasts. The file lies below the client id and the group, so that members
with the same client id share it, and outlives its member: the next one with that client id goes on where it ends.

What a round does with such a store differs by release. Up to 4.9.7 and 5.1.4 the local store can neither persist nor
remove one queue. A queue that is lost keeps its offset in memory, and the file learns nothing of it; only the timer and
the shutdown write.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rocketmq_conformance.models.client.local_store import MISSING, File, LocalStore, local_store
from rocketmq_conformance.models.client.offset_table import UNFROZEN
from rocketmq_conformance.models.rule import Rule

RULES = (
    Rule(
        "REB-BC-STORE",
        "A broadcasting consumer keeps its offsets in the file of its client id and group (OFF-L-*): it loads the file "
        "when it begins, and its timer and its shutdown write the offsets of the queues in its table there. It asks no "
        "broker for an offset, and commits none.",
        "DefaultMQPushConsumerImpl#start, DefaultMQPullConsumerImpl#start @ 4.0.0, 4.6.0, 4.9.8, 5.3.3; "
        "DefaultLitePullConsumerImpl#initOffsetStore @ 4.6.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "REB-BC-REM",
        "A queue that a broadcasting member loses is persisted to the file and then forgotten; before 4.9.8 and 5.2.0 "
        "neither, so that it stays in memory. What memory holds of a queue that is added is forgotten only since then.",
        "RebalancePushImpl#removeUnnecessaryMessageQueue, #removeDirtyOffset, LocalFileOffsetStore#persist, "
        "#removeOffset @ 4.9.7, 4.9.8, 5.1.4, 5.2.0, 5.5.0",
    ),
)

#: The file of a client id, and its backup; no tuple of two, which compiled code would copy and thereby never find to be
#: the same.
Files = tuple[File, ...]
NO_FILES: Files = (MISSING, MISSING)
#: By client id; those of a client id that never persisted are missing.
FilesById = Mapping[str, Files]
NOTHING_PERSISTED: FilesById = MappingProxyType({})


def file_store(memory: Mapping[int, int], files: Files) -> LocalStore:
    """The local store of a member with this memory."""
    return local_store((memory, UNFROZEN, *files))


def files_of(store: LocalStore) -> Files:
    """The files behind a store."""
    return store.main, store.backup


def offset_in(files: Files, queue: int) -> int | None:
    """The offset of a queue in the file, which no crash damages in a group."""
    main = files[0]
    return None if isinstance(main, str) else main.get(queue)
