"""The local offset store: the offset table of a broadcasting consumer, backed by a file of its own (OFF-L-*).

Memory maps queues to offsets, as in the remote store; a file takes the broker's place, and a backup stands beside it
with the previous contents of the file::

    <folder>/<client id>/<group>/offsets.json       {"offsetTable": {<queue>: <offset>, ...}}
    <folder>/<client id>/<group>/offsets.json.bak

Reading falls back to the backup when the file is missing, empty or cannot be parsed. A backup that cannot be parsed
is an error only when it is needed: it keeps a consumer from starting, and reads as -1 from then on.

Up to 4.9.7 and 5.1.4 a file holds what was persisted last and nothing else; ``persist`` and ``remove`` do nothing.
Later ones merge into the contents of the file, so that an entry never leaves it. The price: while the file and its
backup are both unreadable they write nothing at all, where older ones simply wrote a new file.

Client 5.4.0 writes offsets of 64 bits and reads only those of 32: two billion messages into a queue it cannot parse
its own file, and later the backup neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeGuard

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.offset_table import (
    MEMORY,
    NO_QUEUE_READ,
    STORE,
    cloned,
    updated,
    with_frozen,
    without,
)
from rocketmq_conformance.models.client.plan_words import NO_QUEUE
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.fast_tuples import maker
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Origin, Reason, Rule, accident, reasons_by_kind

RULES = (
    Rule(
        "OFF-L-PATH",
        "The store lives in <folder>/<client id>/<group>/offsets.json, its backup in the same name with .bak.",
        "LocalFileOffsetStore#<init> @ 4.0.0, 4.9.7, 5.5.0",
    ),
    Rule(
        "OFF-L-SAVE",
        "Writing copies the file, whatever it holds, to the backup, and then replaces it; a missing file leaves the "
        "backup alone. Before 5.1.0 a crash can leave no file, from then on an empty or truncated one.",
        "MixAll#string2File @ 4.9.7, 5.0.0, 5.1.0, 5.5.0",
    ),
    Rule(
        "OFF-L-LOAD",
        "A file that is missing, empty or unparsable is read from the backup; a missing or empty backup means no "
        "offsets, an unparsable one is an error. Loading puts every entry into memory.",
        "LocalFileOffsetStore#load, #readLocalOffset, #readLocalOffsetBak @ 4.1.0, 4.9.7, 5.5.0",
    ),
    Rule(
        "OFF-L-INT",
        "Client 5.4.0 cannot parse a file with an offset below -2^31 or from 2^31 on, though it writes them.",
        "OffsetSerializeWrapper#fromJson, fastjson2 2.0.43 @ 5.4.0; read again with fastjson2 2.0.59 @ 5.5.0",
        releases="5.4.0",
        origin=Origin.OBSERVED,
        quirk="such an offset is in a file",
    ),
    Rule(
        "OFF-L-READ",
        "From memory as in the remote store. From the store: the file is read anew and its offset overwrites memory "
        "even backwards; -1 when the file lacks the queue or cannot be read.",
        "LocalFileOffsetStore#readOffset @ 4.0.0, 4.9.7, 5.5.0",
    ),
    Rule(
        "OFF-L-PALL",
        "persist_all of an empty set does nothing. Otherwise it merges the entries inside the set into the file, and "
        "writes nothing when the file cannot be read; before 4.9.8 and 5.2.0 the file holds nothing else afterwards. "
        "Memory keeps all entries.",
        "LocalFileOffsetStore#persistAll @ 4.0.0, 4.9.7, 4.9.8, 5.1.4, 5.2.0, 5.5.0",
    ),
    Rule(
        "OFF-L-P",
        "persist merges the queue's entry, if there is one, into the file; before 4.9.8 and 5.2.0 it does nothing.",
        "LocalFileOffsetStore#persist @ 4.9.7, 4.9.8, 5.1.4, 5.2.0, 5.5.0",
    ),
    Rule(
        "OFF-L-REM",
        "remove forgets the entry in memory, frozen or not, and leaves the file; before 4.9.8 and 5.2.0 it does "
        "nothing.",
        "LocalFileOffsetStore#removeOffset @ 4.9.7, 4.9.8, 5.1.4, 5.2.0, 5.5.0",
    ),
)

#: A file that is no table of offsets.
MISSING, EMPTY, GARBAGE = "missing", "empty", "garbage"
Table = Mapping[int, int]
#: The contents of a file: a table by queue index, or one of the three above.
File = Table | str

MAIN, BACKUP = "main", "backup"
#: Kinds of damage, and the file afterwards.
DAMAGES = {"delete": MISSING, "empty": EMPTY, "garbage": GARBAGE}

UNPARSABLE = Err("CLIENT")
_NOTHING: Table = MappingProxyType({})


class LocalStore(NamedTuple):
    """The store of one consumer and its two files. Keys are those of the topology's queues."""

    memory: Table = _NOTHING
    frozen: frozenset[int] = frozenset()
    main: File = MISSING
    backup: File = MISSING


local_store = maker(LocalStore)

_READ = reasons_by_kind(("OFF-L-READ",), "memory hit", "memory miss")
_FOUND = reasons_by_kind(
    ("OFF-L-READ",), "absent", "memory empty", "file raises memory", "file lowers memory", "file is memory"
)
_FOUND_BACKUP = {kind: Reason(("OFF-L-READ", "OFF-L-LOAD"), f"backup: {kind}") for kind in _FOUND}
_FOUND_FROZEN = Reason(("OFF-L-READ", "OFF-FRZ-1"), "memory frozen")
_UNREADABLE = reasons_by_kind(("OFF-L-READ", "OFF-L-LOAD"), "no file", "unparsable")
_ALL = reasons_by_kind(("OFF-L-PALL",), "nothing asked", "fresh", "fresh, others lost")
_ALL_MERGED = reasons_by_kind(("OFF-L-PALL", "OFF-L-SAVE"), "main", "backup", "no file")
_ONE = reasons_by_kind(("OFF-L-P",), "no queue", "no entry", "does nothing")
_ONE_MERGED = reasons_by_kind(("OFF-L-P", "OFF-L-SAVE"), "main", "backup", "no file")
_NOT_WRITTEN = {
    "all": Reason(("OFF-L-PALL", "OFF-L-LOAD"), "unparsable"),
    "one": Reason(("OFF-L-P", "OFF-L-LOAD"), "unparsable"),
}
_REMOVE = reasons_by_kind(("OFF-L-REM",), "entry", "frozen entry", "no entry", "does nothing")
_LOADED = reasons_by_kind(("OFF-L-LOAD",), "main", "backup", "no file", "unparsable")
_LOADED_WIDE = {kind: accident(Reason(("OFF-L-LOAD", "OFF-L-INT"), f"offset too large: {kind}")) for kind in _LOADED}
_DAMAGED = {
    (which, how): Reason(("OFF-L-PATH", "OFF-L-SAVE"), f"{which}: {how}") for which in (MAIN, BACKUP) for how in DAMAGES
}


def _files_of(state: LocalStore, source: str) -> tuple[File, ...]:
    return (state.main,) if source == MAIN else (state.main, state.backup)


class LocalStoreModel:
    """The store's rules for one profile and topology; every method is pure."""

    __slots__ = ("client", "topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.client = ClientRules.of(profile)
        self.topology = topology

    def update(self, state: LocalStore, queue: int, offset: int, increase_only: bool) -> Answer[LocalStore]:
        """OFF-UPD-1."""
        memory, why = updated(state.memory, state.frozen, queue, offset, increase_only)
        return (state if memory is state.memory else state._replace(memory=memory)), None, why

    def freeze(self, state: LocalStore, queue: int, offset: int) -> Answer[LocalStore]:
        """OFF-FRZ-1."""
        memory, frozen, why = with_frozen(state.memory, state.frozen, queue, offset)
        return (state if memory is state.memory else state._replace(memory=memory, frozen=frozen)), None, why

    def read(self, state: LocalStore, queue: int, kind: str) -> Answer[LocalStore]:
        """OFF-L-READ: the offset in messages, or -1."""
        if queue == NO_QUEUE:
            return state, -1, NO_QUEUE_READ
        if kind != STORE:
            held = state.memory.get(queue)
            if held is not None:
                return state, held, _READ["memory hit"]
            if kind == MEMORY:
                return state, -1, _READ["memory miss"]
        table, source = self.stored(state)
        if not isinstance(table, Mapping):
            return self._by_files(state, (state, -1, _UNREADABLE["unparsable"]))
        if source == "no file":
            return self._by_files(state, (state, -1, _UNREADABLE["no file"]))
        reasons = _FOUND if source == MAIN else _FOUND_BACKUP
        return self._by_files(state, self._refreshed(state, queue, table.get(queue), reasons))

    def _refreshed(
        self, state: LocalStore, queue: int, offset: int | None, why: Mapping[str, Reason]
    ) -> Answer[LocalStore]:
        if offset is None:
            return state, -1, why["absent"]
        if queue in state.frozen:
            return state, offset, _FOUND_FROZEN
        old = state.memory.get(queue)
        if old is None:
            kind = "memory empty"
        elif old == offset:
            return state, offset, why["file is memory"]
        else:
            kind = "file raises memory" if offset > old else "file lowers memory"
        return state._replace(memory={**state.memory, queue: offset}), offset, why[kind]

    def stored(self, state: LocalStore) -> tuple[Table | Err, str]:
        """OFF-L-LOAD: the table of the files, or the error, and the file that it came from."""
        if self._parses(state.main):
            return state.main, MAIN
        if self._parses(state.backup):
            return state.backup, BACKUP
        if state.backup in (MISSING, EMPTY):
            return _NOTHING, "no file"
        return UNPARSABLE, "unparsable"

    def _parses(self, file: File) -> TypeGuard[Table]:
        if isinstance(file, str):
            return False
        return not self.client.file_ints or all(-(2**31) <= offset < 2**31 for offset in file.values())

    def persist(self, state: LocalStore, queue: int) -> Answer[LocalStore]:
        """OFF-L-P."""
        if not self.client.file_merges:
            return state, None, _ONE["does nothing"]
        if queue == NO_QUEUE:
            return state, None, _ONE["no queue"]
        held = state.memory.get(queue)
        if held is None:
            return state, None, _ONE["no entry"]
        table, source = self.stored(state)
        if not isinstance(table, Mapping):
            return self._by_files(state, (state, None, _NOT_WRITTEN["one"]))
        return self._by_files(state, (self._written(state, {**table, queue: held}), None, _ONE_MERGED[source]))

    def persist_all(self, state: LocalStore, queues: tuple[int, ...]) -> Answer[LocalStore]:
        """OFF-L-PALL."""
        if not queues:
            return state, None, _ALL["nothing asked"]
        chosen = {queue: offset for queue, offset in state.memory.items() if queue in queues}
        if not self.client.file_merges:
            lost = isinstance(state.main, Mapping) and not state.main.keys() <= chosen.keys()
            return self._written(state, chosen), None, _ALL["fresh, others lost" if lost else "fresh"]
        table, source = self.stored(state)
        if not isinstance(table, Mapping):
            return self._by_files(state, (state, None, _NOT_WRITTEN["all"]))
        return self._by_files(state, (self._written(state, {**table, **chosen}), None, _ALL_MERGED[source]))

    def _by_files(self, state: LocalStore, answer: Answer[LocalStore]) -> Answer[LocalStore]:
        """OFF-L-INT: what was read of the files is an accident of Java when an offset is too large for it."""
        after, result, why = answer
        return (after, result, accident(why)) if self._too_large(state) else answer

    def _too_large(self, state: LocalStore) -> bool:
        """Is there an offset in the files that were looked at which is too large for the client?"""
        _, source = self.stored(state)
        return any(isinstance(file, Mapping) and not self._parses(file) for file in _files_of(state, source))

    def _written(self, state: LocalStore, table: Table) -> LocalStore:
        """OFF-L-SAVE: an empty or garbage file is copied to the backup like any other."""
        backup = state.backup if state.main == MISSING else state.main
        return local_store((state.memory, state.frozen, table, backup))

    def remove(self, state: LocalStore, queue: int) -> Answer[LocalStore]:
        """OFF-L-REM."""
        if not self.client.file_merges:
            return state, None, _REMOVE["does nothing"]
        memory, frozen, why = without(state.memory, state.frozen, queue, _REMOVE)
        return (state if memory is state.memory else state._replace(memory=memory, frozen=frozen)), None, why

    def clone(self, state: LocalStore, topic: str) -> Answer[LocalStore]:
        """OFF-R-CLONE: sorted (queue, offset) pairs."""
        pairs, why = cloned(state.memory, topic, self.topology)
        return state, pairs, why

    def restart(self, state: LocalStore) -> Answer[LocalStore]:
        """OFF-L-LOAD: a new store on the same files; nothing is frozen any more."""
        table, source = self.stored(state)
        why = (_LOADED_WIDE if self._too_large(state) else _LOADED)[source]
        if not isinstance(table, Mapping):
            return LocalStore(main=state.main, backup=state.backup), UNPARSABLE, why
        return LocalStore(table, frozenset(), state.main, state.backup), None, why

    def damage(self, state: LocalStore, which: str, how: str) -> Answer[LocalStore]:
        """A crash or a full disk damages a file; a missing file is made."""
        left = DAMAGES[how]
        damaged = state._replace(main=left) if which == MAIN else state._replace(backup=left)
        return damaged, None, _DAMAGED[which, how]
