"""What a whole broadcasting consumer makes of its offset file after a crash, a full disk or a copy (WHOLE-FILE*).

A file has a backup beside it, with what it held before it was written last. A consumer that is started again reads the
file, and the backup where that is missing, empty or cut; where it needs a backup that is cut it does not start at all,
as it would begin as one that was never there, and skip what arrived meanwhile. OFF-L-* say the same of the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, cast

from rocketmq_conformance.models.client.broadcast import Files, file_store
from rocketmq_conformance.models.client.local_store import BACKUP, EMPTY, GARBAGE, MAIN, MISSING, Table
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_broadcast import Seen, WholeBroadcastModel, WholeBroadcastState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Level, Rule, reasons_by_kind

RULES = (
    Rule(
        "WHOLE-FILE",
        "A broadcasting consumer that is started again goes on from the offsets in its file, though they are older "
        "than what it has consumed, and though the file holds other entries, too: it is given messages again, and "
        "skips none.",
        "LocalFileOffsetStore#load, #readOffset @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-FILE-BACKUP",
        "One whose file is missing, empty or cut goes on from the backup beside it, which holds what the file held "
        "before it was written last; without both it begins as one that was never there.",
        "LocalFileOffsetStore#readLocalOffset, #readLocalOffsetBak @ 4.1.0, 4.9.8, 5.3.3",
        level=Level.SHOULD,
    ),
    Rule(
        "WHOLE-FILE-REFUSED",
        "One whose file is missing or cut, and whose backup is cut, does not start, and so skips nothing.",
        "LocalFileOffsetStore#load, #readLocalOffsetBak @ 4.1.0, 4.9.8, 5.3.3",
        level=Level.SHOULD,
    ),
)

#: What becomes of a file or of its backup: it stays, is cut off in the middle, emptied or deleted, is what it was
#: before the last message was consumed, or has an entry that no client knows.
KEPT, CUT, EMPTIED, LOST, OLDER, LONGER = "kept", "cut", "empty", "lost", "older", "longer"
#: What a consumer finds: what became of its file, and of the backup.
FOUND = {
    "file cut": (CUT, KEPT),
    "file empty": (EMPTIED, KEPT),
    "file lost": (LOST, KEPT),
    "file older": (OLDER, KEPT),
    "file longer": (LONGER, KEPT),
    "backup cut": (KEPT, CUT),
    "backup lost": (KEPT, LOST),
    "file cut, backup older": (CUT, OLDER),
    "both lost": (LOST, LOST),
    "both cut": (CUT, CUT),
    "file lost, backup cut": (LOST, CUT),
}
_TEXTS = {CUT: GARBAGE, EMPTIED: EMPTY, LOST: MISSING}
#: What decides where a consumer begins, by where its offsets come from.
_RULE = {MAIN: "WHOLE-FILE", BACKUP: "WHOLE-FILE-BACKUP", "no file": "WHOLE-FILE-BACKUP"}
_REFUSED = reasons_by_kind(("WHOLE-FILE-REFUSED",), *FOUND, beneath=("OFF-L-LOAD",))


class Damage(NamedTuple):
    """What a consumer is to find, and so its file and the backup."""

    found: str
    files: Files


class WholeFilesState(NamedTuple):
    """The consumer, and by client id the damage that it has not made good since."""

    life: WholeBroadcastState
    damaged: Mapping[str, Damage] = MappingProxyType({})


class WholeFilesModel:
    """The observations of a broadcasting consumer and its files, of one profile; every method is pure."""

    __slots__ = ("_life", "_store", "_topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self._topology = topology
        self._life = WholeBroadcastModel(profile, topology)
        self._store = StartModel(profile, topology).local

    def initial(self) -> WholeFilesState:
        """Before anything happened."""
        return WholeFilesState(self._life.initial())

    def learn(self, state: WholeFilesState, clients: tuple[str, ...]) -> WholeFilesState:
        """The state once these client ids of members were seen."""
        return state._replace(life=self._life.learn(state.life, clients))

    def prepare(
        self, state: WholeFilesState, queues: int, shape: str, stored: int, where: str
    ) -> Answer[WholeFilesState]:
        """Choose how the case begins; nothing happens once the consumer has run."""
        return _of(state, self._life.prepare(state.life, queues, shape, stored, where))

    def join(self, state: WholeFilesState, member: int) -> Answer[WholeFilesState]:
        """The consumer starts, unless it runs or cannot read its files."""
        name = self._topology.members[member]
        client = state.life.client_of(name)
        damage = state.damaged.get(client)
        if name in state.life.members or damage is None:
            return _of(state, self._life.join(state.life, member))
        held, source = self._store.stored(file_store({}, damage.files))
        if not isinstance(held, Mapping):
            life, seen, _ = self._life.look(state.life)
            return state._replace(life=life), seen, _REFUSED[damage.found]
        left = {one: offsets for one, offsets in state.life.files.items() if one != client}
        life = state.life._replace(files={**left, client: held} if source in (MAIN, BACKUP) else left)
        state = state._replace(damaged={one: kept for one, kept in state.damaged.items() if one != client})
        state, seen, why = _of(state, self._life.join(life, member))
        rules = tuple(dict.fromkeys((_RULE[source], *why.rules)))
        return state, seen, replace(why, rules=rules, kind=damage.found, beneath=(*why.beneath, "OFF-L-LOAD"))

    def leave(self, state: WholeFilesState, member: int) -> Answer[WholeFilesState]:
        """The consumer is shut down, if it runs."""
        return _of(state, self._life.leave(state.life, member))

    def send(self, state: WholeFilesState, queue: int) -> Answer[WholeFilesState]:
        """A message arrives in a queue, if there is one, or in every queue."""
        return _of(state, self._life.send(state.life, queue))

    def look(self, state: WholeFilesState) -> Answer[WholeFilesState]:
        """Time passes, a round of rebalance at least."""
        return _of(state, self._life.look(state.life))

    def come_back(self, state: WholeFilesState, member: int, found: str) -> Answer[WholeFilesState]:
        """The consumer is given a message of each queue and ends, another one arrives, its files become what it is to
        find, and it starts again, if it ran; of the messages those are seen that come after that."""
        name = self._topology.members[member]
        if name not in state.life.members:
            return self.look(state)
        client = state.life.client_of(name)
        older = state.life.files.get(client)
        life = state.life if older is not None else self._life.crash(state.life, member)[0]
        life, _, _ = self._life.send(life, EVERY)
        latest = life.files.get(client)
        life, _, _ = self._life.crash(life, member)
        life, _, _ = self._life.send(life, EVERY)
        if older is None or latest is None:
            # it has another client id than before, and so another file
            return self.join(state._replace(life=life), member)
        tables: Mapping[str, Table] = {KEPT: latest, OLDER: older, LONGER: latest}
        files = tuple(_TEXTS.get(how) or tables[how] for how in FOUND[found])
        return self.join(WholeFilesState(life, {**state.damaged, client: Damage(found, files)}), member)


def _of(state: WholeFilesState, answer: Answer[WholeBroadcastState]) -> Answer[WholeFilesState]:
    """The answer of the consumer's life, with its files."""
    life, seen, why = answer
    return state._replace(life=life), cast(Seen, seen), why
