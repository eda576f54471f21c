"""Files that are there as a whole: whoever reads one while it is written anew sees the old or the new content."""

from __future__ import annotations

import os
from pathlib import Path
from threading import get_ident


def write_whole(path: Path, text: str) -> None:
    """Write a temporary file beside ``path``, one of this thread, and rename it; OSError when that fails."""
    beside = path.with_name(f"{path.name}.{os.getpid()}-{get_ident()}.part")
    try:
        beside.write_text(text, "utf-8")
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
