"""events.jsonl: the event stream of a run as JSON Lines, one event a line.

The header (``run-started``) is the first line and the footer (``run-ended``) the last. Every line is on disk before
the next event comes, so that a killed run leaves every event up to then; such a file has no footer, and nothing can be
concluded from it. ``progress`` is for terminals and is not written.

The footer ends with a digest of the whole file, ``"digest": "…"``, so that damage is noticed. A file of an older kit,
or one that was cut off, has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TextIO

from rocketmq_conformance.reports.decode import event_of
from rocketmq_conformance.reports.event import FORMAT, Event, Progress, RunEnded, RunStarted
from rocketmq_conformance.reports.given_file import MOST, TOO_LONG, opened
from rocketmq_conformance.reports.measurement_event import (
    CorruptionEnded,
    CorruptionStarted,
    FolkloreEnded,
    FolkloreStarted,
    PowerEnded,
    PowerStarted,
)
from rocketmq_conformance.reports.run_summary import Conclusion, RunSummary

#: Name of the file in the folder of a run.
NAME = "events.jsonl"
#: The events that a stream begins with.
_HEADERS = (RunStarted, PowerStarted, CorruptionStarted, FolkloreStarted)

#: What stands before the digest, which is of the text of all lines up to here.
_SEAL = ', "digest": "'
#: ASCII only: a cut in the middle of the file never splits a character, and unpaired surrogates survive.
_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False)


class JsonlReport:
    """Writes events to a text stream. Closes the stream only when it opened it itself (``JsonlReport.to``)."""

    def __init__(self, stream: TextIO, *, owned: bool = False) -> None:
        self._stream = stream
        self._owned = owned
        self._digest = _Digest()

    @classmethod
    def to(cls, path: Path) -> JsonlReport:
        """A report into a new file; OSError when it cannot be written."""
        return cls(path.open("w", encoding="ascii", newline="\n"), owned=True)

    def __call__(self, event: Event) -> None:
        """Write and flush the event's line."""
        if isinstance(event, Progress):
            return
        line = _ENCODER.encode(event.json())
        if _is_footer(event):
            line = line.removesuffix("}")
            line += f'{_SEAL}{self._digest.of(line.encode())}"}}'
        else:
            self._digest.add(line.encode())
        self._stream.write(line + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        if self._owned:
            self._stream.close()


class _Digest:
    """The digest of lines, however they end."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)

    def add(self, line: bytes) -> None:
        """One more line."""
        self._hash.update(line.rstrip(b"\r\n") + b"\n")

    def of(self, last: bytes) -> str:
        """The digest of the lines so far, and of the text of the last one before its own digest."""
        whole = self._hash.copy()
        whole.update(last)
        return whole.hexdigest()

    def fits(self, footer: bytes) -> bool:
        """Is the digest in a footer that of the lines? One without a digest is taken to be."""
        text, seal, digest = footer.rstrip().rpartition(_SEAL.encode())
        return not seal or digest == f'{self.of(text)}"}}'.encode()


@dataclass(frozen=True)
class Recording:
    """The contents of a file of events."""

    events: list[Event]
    #: Is the footer there? Without it the run was cut off.
    complete: bool

    def conclusion(self) -> Conclusion:
        """The conclusion on the run; an incomplete recording is never a pass."""
        summary = RunSummary()
        for event in self.events:
            summary.add(event)
        return summary.conclusion()


def read(path: Path) -> Recording:
    """Read a file of events whole; as ``stream``."""
    events = list(stream(path))
    return Recording(events, complete=bool(events) and _is_footer(events[-1]))


def stream(path: Path) -> Iterator[Event]:
    """The events of a file, one after the other: a file may be larger than memory.

    A file that ends early, even in the middle of a line, is read as far as it goes and has no footer. Any other flaw
    raises ValueError: one sentence with the line's number, or, at the footer, that the file is damaged.
    """
    last: Event | None = None
    digest = _Digest()
    with opened(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(MOST + 1), b""), 1):
            if len(line) > MOST:
                raise ValueError(f"Line {number} of {path} cannot be read: {TOO_LONG}.")
            # The last line may have no end. It counts when only the line end is missing: no object is valid JSON
            # once it is cut.
            if not line.endswith(b"\n") and not (last and _is_footer(last)) and not _is_json(line):
                return
            try:
                found = _object(line)
                _check_format(found)
                event = event_of(found)
                _check_place(event, last)
            except ValueError as error:
                raise ValueError(f"Line {number} of {path} {error}.") from None
            if _is_footer(event) and not digest.fits(line):
                raise ValueError(f"{path} is damaged, or was changed: its lines are not those that were written.")
            digest.add(line)
            last = event
            yield event


def _object(line: bytes) -> object:
    try:
        found: object = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    return found


def _refuse(constant: str) -> float:
    """NaN and Infinity are not JSON, and no report can calculate with them."""
    raise ValueError(constant)


def _is_json(line: bytes) -> bool:
    try:
        _object(line)
    except ValueError:
        return False
    return True


def _is_footer(event: Event) -> bool:
    return isinstance(event, RunEnded | PowerEnded | CorruptionEnded | FolkloreEnded)


def _check_format(found: object) -> None:
    """Refuse a newer format before anything else of the line is looked at: all of it may have changed."""
    if isinstance(found, dict) and found.get("event") in [header.kind for header in _HEADERS]:
        written = found.get("format")
        if isinstance(written, int) and written > FORMAT:
            raise ValueError(
                f"is of format {written}, and this kit reads formats up to {FORMAT}: update rocketmq-conformance"
            )


def _check_place(event: Event, before: Event | None) -> None:
    """Raise ValueError when the event may not follow the one before it."""
    header = isinstance(event, _HEADERS)
    if before and _is_footer(before):
        raise ValueError("comes after the footer")
    if header and before:
        raise ValueError("is a second header: keep the events of one run in one file")
    if not header and not before:
        raise ValueError("comes before any header: the begin of the file is lost")
