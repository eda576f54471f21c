"""Running real campaigns in tests, and looking at what they left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from places import HELPERS
from prepared_signals import interruptible
from waiting import PATIENCE, wait_until

from rocketmq_conformance.conformance.campaign.api import campaign
from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign
from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS
from rocketmq_conformance.conformance.engine.memory_folder import PARENT
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.event import Event, RunEnded

#: What every campaign here is asked for, unless a test says otherwise: 16 blocks of 16 cases.
ASKED: dict[str, Any] = {
    "addresses": ("port",),
    "suites": ("remote-store", "local-store"),
    "cases": 256,
    "seed": 13,
    "steps": 8,
}
CASES, BLOCKS_OF_IT = 256, 16
#: The same in the words of the command.
WORDS = ["-k", "remote-store", "-k", "local-store", "--cases", "256", "--seed", "13", "--steps", "8"]

Rows = list[dict[str, Any]]


def play(out: Path, **more: Any) -> int:
    """Play a campaign by the library; its events must come to the code that it answers."""
    code = campaign(out, **{**ASKED, **more})
    check(out, code)
    return code


def resume(out: Path, **more: Any) -> int:
    """Go on with a campaign."""
    code = campaign(out, resume=True, **more)
    check(out, code)
    return code


def check(out: Path, code: int) -> None:
    """What was told is whole, comes to that exit code and counts what is in the tables; nothing is left lying about."""
    recording = jsonl.read(out / jsonl.NAME)
    assert recording.complete
    assert recording.conclusion().exit_code == code
    end = ended(out)
    verdicts = [row["verdict"] for row in rows(out, "cases")]
    assert {name: verdicts.count(name) for name in end.cases} == end.cases
    assert end.exit_code == code
    [*_, last] = open_campaign(out).runs().to_pylist()
    assert (last["verdict"], last["left"], last["stopped"]) == (end.verdict, end.left, end.stopped)
    assert {name: last[name.replace(" ", "_")] for name in end.cases} == end.cases
    assert not list(out.rglob(".*"))
    assert not (out / "stop").exists()


def events(out: Path) -> list[Event]:
    """Everything that was told."""
    return list(jsonl.read(out / jsonl.NAME).events)


def ended(out: Path) -> RunEnded:
    """How it ended."""
    [end] = (event for event in events(out) if isinstance(event, RunEnded))
    return end


def rows(out: Path, table: str) -> Rows:
    """The rows of a table, in an order that does not depend on who wrote them; wall times left out."""
    found = open_campaign(out).read(table).to_pylist()
    for row in found:
        row.pop("seconds", None)
    if table == "behaviours":
        found = list({(row["suite"], row["id"]): row for row in found}.values())
    return sorted(found, key=lambda row: [str(value).zfill(20) for value in row.values()])


def tables(out: Path) -> dict[str, Rows]:
    """All rows of all tables."""
    return {table: rows(out, table) for table in BLOCKS}


def nameless(out: Path) -> dict[str, Rows]:
    """The tables of a campaign of one address, without its name."""
    found = tables(out)
    for table in found.values():
        for row in table:
            row.pop("address", None)
    return found


# --- as a user does it ------------------------------------------------------------------------------------------


@contextmanager
def command(*words: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """The command `campaign`, in a process group of its own as a shell would have it; its players leave no folder."""
    disk, memory = cwd / ".disk", cwd / ".memory"
    for folder in (disk, memory):
        folder.mkdir(exist_ok=True)
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "400", "PYTHONPATH": str(HELPERS)}
    environment |= {"TMPDIR": str(disk), PARENT: str(memory)}
    process = subprocess.Popen(
        [sys.executable, "-m", "rocketmq_conformance", "campaign", *words],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        preexec_fn=interruptible,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    wait_until(lambda: not [*disk.glob("rocketmq-conformance-player-*"), *memory.iterdir()])


def done(*words: str, cwd: Path, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    """The command from its beginning to its end; everything that it started must be gone then."""
    with command(*words, cwd=cwd) as process, nothing_left(process.pid):
        output, errors = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(words, process.returncode, output, errors)


def blocks_of(out: Path) -> int:
    """Blocks that are finished."""
    return sum(1 for _ in out.glob("cases/*/block-*.parquet"))


def family(pid: int) -> set[psutil.Process]:
    """A process with all that come from it."""
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        return {parent, *parent.children(recursive=True)}
    return set()


@contextmanager
def nothing_left(pid: int) -> Iterator[None]:
    """Whatever came from a process is gone soon after the end of the block."""
    seen: set[psutil.Process] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            seen.update(family(pid))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    _, alive = psutil.wait_procs(seen, PATIENCE)
    left = [one for one in alive if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    assert not left, [re.sub(r"\s+", " ", " ".join(one.cmdline()))[:200] for one in left]
