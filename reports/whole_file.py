"""Files that are there as a whole: whoever reads one while it is written anew sees the old or the new content."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a temporary file beside ``path`` and rename it; OSError when that fails."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, "utf-8")
    os.replace(beside, path)
