"""accessMessageInMemoryMaxRatio: when a message counts as being on disk, whatever is really in memory (BQ-DISK-1)."""

from __future__ import annotations

#: What the messages of a case may take (bytes), and a machine with less memory than any broker has (bytes): between
#: these no ratio but those of 0 and less makes a difference to a case.
_CASE, _MACHINE = 1 << 20, 1 << 30


def is_on_disk(written: int, memory: int, ratio: int) -> bool:
    """BQ-DISK-1: does a message count as being on disk?

    ``written`` is how much the commit log holds from the message on (bytes), ``memory`` what the machine has (bytes),
    ``ratio`` the property (percent).
    """
    return written > int(memory * (ratio / 100.0))


def is_hot(ratio: int) -> bool:
    """Do messages of a case count as being in memory?"""
    return not is_on_disk(_CASE, _MACHINE, ratio)
