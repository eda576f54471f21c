"""Files that a user names: whatever keeps one from being read is an OSError, and none is waited for without end."""

from __future__ import annotations

import errno
import os
import select
from io import BytesIO, TextIOWrapper
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

#: Bytes that are read at most of a file, or of a line where lines are read one by one: 256 MB.
MOST = 256 * 1024 * 1024
TOO_LONG = "it is longer than 256 MB"
#: Seconds in which a pipe has to give something.
PATIENCE = 10.0


def opened(path: Path) -> BinaryIO:
    """A file, open for reading; OSError for anything that is none, and for a pipe that nobody writes to."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:  # a name from another file may hold anything
        raise OSError(errno.EINVAL, "no file can have this name") from None
    try:
        if not S_ISREG(os.fstat(number).st_mode) and not select.select([number], [], [], PATIENCE)[0]:
            raise OSError(errno.ETIMEDOUT, f"nothing came in {PATIENCE:g} s")
        os.set_blocking(number, True)
        return os.fdopen(number, "rb")
    except OSError:
        os.close(number)
        raise


def text_of(path: Path) -> str:
    """The text of a file; OSError, also when it is longer than ``MOST``, and UnicodeDecodeError."""
    with opened(path) as file:
        too_long = OSError(errno.EFBIG, TOO_LONG)
        if os.fstat(file.fileno()).st_size > MOST:
            raise too_long
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise too_long
    return TextIOWrapper(BytesIO(data), encoding="utf-8").read()
