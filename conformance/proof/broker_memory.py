"""The proof of the memory ratio: at every ratio, messages that just count as being in memory, and on disk (BQ-DISK-1).

A broker up to 5.0.0 compares what the commit log holds from a message on with a share of the machine's memory. The
commit log of its store begins far behind the only message of each queue, so nothing has to be that large.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.aged_store import write_far_store
from rocketmq_conformance.conformance.targets.broker.launch_config import COMMIT_LOG_FILE
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.configuration import MEMORY_RATIO
from rocketmq_conformance.models.broker.memory_ratio import is_on_disk
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog
from rocketmq_conformance.models.broker.switches import EMPTY_IS_UNKNOWN, EMPTY_MOVES_MIN
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

_GROUP, _TOPIC = "NEW", "FAR"
#: Every ratio that makes sense, and some that do not.
RATIOS = (*range(101), -1, 101, 250)
#: Bytes beside what a ratio allows.
_BESIDE = (-1, 0, 1)
#: Where a control group says how much memory its processes may take, for a machine that has more.
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def machine_memory() -> int:
    """The memory of this machine as Java sees it (bytes)."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    texts = [path.read_text().strip() for path in _LIMITS if path.is_file()]
    return min([memory, *(int(text) for text in texts if text.isdecimal())])


def allowed(memory: int, ratio: int) -> int:
    """What the commit log may hold from a message on that counts as being in memory (bytes)."""
    return int(memory * (ratio / 100.0))


def edges(memory: int) -> list[int]:
    """What the commit log holds from a message on: what each ratio allows, and a byte less and more."""
    return sorted({size for ratio in RATIOS for at in _BESIDE if (size := allowed(memory, ratio) + at) > 0})


def shows(release: Release) -> bool:
    """Does the release judge by the ratio, and also messages that expired? 5.0.0 moves min past these (BQ-MIN-3)."""
    return not EMPTY_IS_UNKNOWN.on(release) and not EMPTY_MOVES_MIN.on(release)


def prove(tally: Tally) -> None:
    """Ask for the offset of a new group, at every ratio, on a broker of its own."""
    release = Release.parse(tally.release)
    memory = machine_memory()
    written = edges(memory)
    start = (max(written) // COMMIT_LOG_FILE + 1) * COMMIT_LOG_FILE

    def fill(home: Path) -> None:
        write_far_store(home, _TOPIC, start, written)

    location = StartedBroker(release, lambda: Broker(release, fill))
    try:
        with location.open() as connection:
            prove_ratios(connection, tally, memory, written, start)
    finally:
        location.close()


def prove_ratios(connection: Connection, tally: Tally, memory: int, written: Sequence[int], start: int) -> None:
    """The same on a broker that has the store: ``written`` is what its commit log holds from each queue's message on,
    when it ends at ``start`` (bytes). Each ratio is asked about its own edges and those of its neighbours."""
    rules = BrokerRules.of(Profile.of(broker=tally.release))
    for ratio in RATIOS:
        connection.call(*requests.set_property(MEMORY_RATIO, str(ratio)))
        moved = _end(connection) - start  # a broker may write messages of its own
        least, most = allowed(memory, ratio - 1) - 1, allowed(memory, ratio + 1) + 1
        for queue, size in enumerate(written):
            if not least <= size <= most and size not in (written[0], written[-1]):
                continue
            log = QueueLog(first=1, hot=not is_on_disk(size + moved, memory, ratio))
            state = BrokerState(logs={(_TOPIC, queue): log})
            _, expected, why = query_offset(rules, state, _GROUP, _TOPIC, queue)
            answer = connection.call(*requests.query(_GROUP, _TOPIC, queue, None))
            tally.add(expected, why, responses.number(answer), partial(_describe, ratio, size + moved, memory))


def _end(connection: Connection) -> int:
    """Where the commit log ends (bytes)."""
    answer = connection.call(*requests.runtime_info())
    return int(java_json.loads(answer.body.decode())["table"]["commitLogMaxOffset"])


def _describe(ratio: int, size: int, memory: int) -> str:
    return f"{size} bytes from the message on, {MEMORY_RATIO}={ratio}, {memory} bytes of memory"
