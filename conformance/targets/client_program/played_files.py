"""One case of the suite of offset files, played with a program whose file the kit damages while it does not run."""

from __future__ import annotations

from pathlib import Path

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.offset_file_damage import backup_of, become, offset_files
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.whole_files import CUT, FOUND, KEPT, WholeFilesState
from rocketmq_conformance.models.outcome import Err, Outcome
from rocketmq_conformance.suites import whole_files as operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: How often a file is written until it holds what was consumed, and until its backup holds that, too: what was just
#: consumed may be missing in the first of them.
_WRITES = 3


class PlayedFiles(PlayedGroup):
    """The member of one case, and its files."""

    def _do(self, operation: Operation) -> Outcome:
        match operation:
            case operations.ComeBack(member, found) if member in self.members.programs:
                return self._come_back(operation, member, found)
            case operations.Join(member) if member not in self.members.programs and self._state.damaged:
                before = self._state
                self._expect(operation)
                return self._started(operation, before, member)
            case operations.ComeBack():
                return self._played(operation)
            case _:
                return super()._do(operation)

    def _come_back(self, operation: Operation, member: int, found: str) -> Outcome:
        before = self._state
        self._expect(operation)
        self._await_writes()
        older = {file: file.read_bytes() for file in self._files()}
        self._file_ids.of(self.members.seen_ids())  # while the file is there
        missing = self._missing_file(found)
        if missing:
            return self.give_up(Err("NOT_REACHED", definite=False, detail=missing))
        self._send(EVERY)
        self._wait(lambda: self.members.ended() or self._consumed(), self._timing.look)
        self._await_writes()
        if not self.stop(member):
            return self._still_running()
        self.members.await_end(member)
        self.case.take_brought()
        self._send(EVERY)
        become(older, found)
        return self._started(operation, before, member)

    def _started(self, operation: Operation, before: WholeFilesState, member: int) -> Outcome:
        """Start the member: one that ends by itself, or is expected not to start and sends no heartbeat, does not run,
        and that is seen."""
        joined: str | None = None
        try:
            joined = self.start(member)
        except CannotRunError:
            if not self.members.ended_at_start and self._state.life.members:
                raise
        _, why = self._decided()
        return self._look(operation.spec, joined, self._limits(before, operation, why), None)

    def _files(self) -> list[Path]:
        return offset_files(Path(self._store.name))

    def _missing_file(self, found: str) -> str:
        """Why the files cannot become what they are to be found as, or ""."""
        files = self._files()
        if not files:
            return f"{ORDINARY.members[0]} has written no file below ROCKETMQ_OFFSETS"
        file_becomes, backup_becomes = FOUND[found]
        backups = [backup_of(file) for file in files]
        if backup_becomes == CUT and file_becomes != KEPT:
            empty = [backup.name for backup in backups if not (backup.exists() and backup.stat().st_size)]
            if empty:
                return f"there is no backup {' or '.join(empty)} that could be cut"
        return ""

    def _consumed(self) -> bool:
        """Does the member wait behind the last message of every queue?"""
        places = self.case.observed(self.members.numbers(), [])[0]
        assert isinstance(places, tuple)
        ends = [((0, self.case.max_offset(queue)),) for queue in self.case.seen]
        return list(places) == ends

    def _await_writes(self) -> None:
        """Wait until the files have been written so often that they hold what was consumed, and backups, too; or as
        long as that takes a client that writes what has changed alone."""
        seen = {self._written_at()}

        def written() -> bool:
            seen.add(self._written_at())
            return len(seen) > _WRITES

        self._wait(lambda: self.members.ended() or written(), 2 * self._timing.write)

    def _written_at(self) -> int:
        """When the files were written last (ns)."""
        return max((file.stat().st_mtime_ns for file in self._files()), default=0)
