"""What the output and the log of a Java program say about its start: why it ended, or how far it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

#: What servers of RocketMQ say when they are up.
_BOOTED = "boot success"
#: The first line of a stack trace, and of a cause in it; all others are indented.
_THROWN = re.compile(r'(?:Exception in thread "[^"]*" )?((?:[\w$]+\.)+[\w$]*(?:Exception|Error)\b.*)')
_CAUSED = "Caused by: "
#: Lines of a log about what ended a program, the likelier ones first.
_TELLING = (re.compile(r"\b(?:ERROR|FATAL)\b"), re.compile(r"(?i)\b(?:fail|not match|cannot |could not )"))
#: Lines about something else: what a broker tries beside, steps that were not reached, and the end itself.
_ASIDE = re.compile(r"ScheduledTask|registerBroker|RocketmqRemoting|transition from|by shutdown|No resource file")
_LONGEST = 400


def cause(output: Path, log: Path) -> str:
    """Why a program ended, as far as it says so: a stack trace in its output, else an error or a warning in its log.

    Where there is none, its last line.
    """
    found = _thrown(_lines(output))
    for telling in _TELLING:
        for path in (output, log):
            found = found or _last(telling, _lines(path))
    return found[:_LONGEST] or last_line(output, log)


def progress(output: Path, log: Path) -> str:
    """How far a program is that still runs, and does not answer."""
    if any(_BOOTED in line for line in _lines(output)):
        return "it says that it has booted, and does not answer"
    line = last_line(output, log)
    return f"its last line is {line}" if line != _NOTHING else line


_NOTHING = "no output"


def last_line(*files: Path) -> str:
    """The last line of all."""
    lines = [line.strip() for path in files for line in _lines(path)]
    return lines[-1][:_LONGEST] if lines else _NOTHING


def _thrown(lines: Iterable[str]) -> str:
    """What was thrown last, and what that was caused by in the end."""
    thrown = caused = ""
    for line in lines:
        if line.startswith(_CAUSED):
            caused = line.removeprefix(_CAUSED)
        elif found := _THROWN.fullmatch(line):
            thrown, caused = found[1], ""
    return f"{thrown} ({caused})" if thrown and caused else thrown or caused


def _last(telling: re.Pattern[str], lines: Iterable[str]) -> str:
    """The last line that tells, and what was thrown there."""
    found, before = "", ""
    for line in lines:
        if telling.search(line) and not _ASIDE.search(line) and not _THROWN.fullmatch(line) and not line[0].isspace():
            found = before = line
        else:
            if before and _THROWN.fullmatch(line):
                found = f"{before}: {line}"
            before = ""
    return found


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return [line.rstrip() for line in path.read_text("utf-8", "replace").splitlines() if line.strip()]
