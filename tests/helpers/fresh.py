"""What tests that install the project in a new folder have in common."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def python3_on_path(folder: Path) -> dict[str, str]:
    """The environment of commands that call ``python3``: this Python, with no checkout on its path."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', "utf-8")
    (tools / "python3").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return environment | {"PATH": f"{tools}{os.pathsep}{environment['PATH']}", "COLUMNS": "400"}
