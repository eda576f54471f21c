"""Results of cases, packed into a few byte strings to be sent from a player to its worker."""

from __future__ import annotations

from array import array
from typing import Any

from rocketmq_conformance.conformance.engine.player import Played
from rocketmq_conformance.reports.event import VERDICTS

_CODES = {verdict: code for code, verdict in enumerate(VERDICTS)}

#: Cases of one address as a player sends them: a dictionary of bytes and lists, nothing else.
Packed = dict[str, Any]


class Packer:
    """Collects the cases of one address; :meth:`take` hands them over."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._verdicts = bytearray()
        self._digests = array("q")
        self._steps = array("i")
        self._seconds = array("f")
        #: Texts of the few cases that have some: (position, text or texts).
        self._reasons: list[tuple[int, str]] = []
        self._unsupported: list[tuple[int, list[str]]] = []
        #: Cases that addresses part in: (position, voice, voice of the rules).
        self.voices: list[tuple[int, int, int]] = []

    def add(self, played: Played, comparable: bool) -> None:
        """Add a case; ``comparable`` says whether its digest means anything to others."""
        lacks = {*played.unsupported, *(played.judged.unsupported if played.judged else ())}
        if lacks:
            self._unsupported.append((len(self._verdicts), sorted(lacks)))
        if played.reason:
            self._reasons.append((len(self._verdicts), played.reason))
        self._verdicts.append(_CODES[played.verdict])
        self._digests.append(signed(played.digest) if comparable and played.digest else 0)
        self._steps.append(played.steps)
        self._seconds.append(played.seconds)

    def __len__(self) -> int:
        return len(self._verdicts)

    def take(self) -> Packed:
        """The cases since the last call."""
        taken: Packed = {
            "verdicts": bytes(self._verdicts),
            "digests": self._digests.tobytes(),
            "steps": self._steps.tobytes(),
            "seconds": self._seconds.tobytes(),
            "reasons": self._reasons,
            "unsupported": self._unsupported,
            "voices": self.voices,
        }
        self._begin()
        return taken


def signed(digest: str) -> int:
    """A digest (16 hexadecimal digits) as a column has it: a signed number of 64 bits."""
    return int.from_bytes(bytes.fromhex(digest), "big", signed=True)
