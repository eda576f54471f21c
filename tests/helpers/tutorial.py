"""A page that is followed by the letter: the files that it shows are written, its commands run in one shell, in a new
folder, and what it shows as their output is what they print.

A block of Python behind "Write `name`:" is a file. A block ``sh`` is a part of the script. A block without a language
is what the commands since the last such block print, in this order; … stands for anything, and it does not matter
how lines are broken.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from places import ROOT

_BLOCK = re.compile(r"(?:Write `([\w.]+)`:\n\n)?^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What a page installs is here already.
_INSTALLS = re.compile(r"^(python3 -m venv|pip install) .*\n", re.MULTILINE)
_MARK = "--- a part of the page ends ---"


def unlike(page: str, folder: Path, changes: Mapping[str, str] | None = None) -> list[str]:
    """Follow a page of ``docs/tutorial`` in a folder; what it shows and its commands do not print. Words of the page
    are changed before, such as a port into a free one."""
    text = (ROOT / "docs" / "tutorial" / page).read_text("utf-8").replace("CHECKOUT", str(ROOT))
    for old, new in (changes or {}).items():
        text = text.replace(old, new)
    script, shown = [""], []
    for name, language, block in _BLOCK.findall(text):
        if name:
            (folder / name).write_text(block, "utf-8")
        elif language == "sh":
            script[-1] += _INSTALLS.sub("", block)
        elif not language:
            shown.append(block)
            script.append("")
    return [
        f"{one}\n--- was not printed in:\n{out}"
        for one, out in zip(shown, _play(script, folder), strict=False)
        if not printed(one, out)
    ]


def printed(shown: str, out: str) -> bool:
    """Does the output have everything that is shown, in its order?"""
    place, output = 0, " ".join(out.split())
    for piece in re.split("…", shown):
        for line in filter(None, (" ".join(line.split()) for line in _joined(piece))):
            found = output.find(line, place)
            if found < 0:
                return False
            place = found + len(line)
    return True


def _joined(piece: str) -> list[str]:
    """The lines of a piece, each with those that go on with it, which begin with more spaces."""
    return re.sub(r"\n {12,}", " ", piece).splitlines()


def _play(script: list[str], folder: Path) -> list[str]:
    commands = folder / "commands"
    commands.mkdir()
    for name, words in (("python", ""), ("python3", ""), ("rocketmq-conformance", "-m rocketmq_conformance ")):
        command = commands / name
        command.write_text(f'#!/bin/sh\nexec {sys.executable} {words}"$@"\n', "utf-8")
        command.chmod(0o755)
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run(
        [bash, "-c", f"\necho '{_MARK}'\n".join(script)],
        cwd=folder,
        env={**os.environ, "PATH": f"{commands}:{os.environ['PATH']}", "COLUMNS": "400", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    return done.stdout.split(_MARK)
