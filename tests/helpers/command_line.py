"""The kit's command line, run in this process: what a user would see of it, without the second that a child takes.

For what a process of its own is the point of (signals, closed pipes, another Python, a missing Java) start a child.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from places import HELPERS

from rocketmq_conformance.conformance.cli.main import main
from rocketmq_conformance.conformance.targets.java_client import jvm


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended."""

    returncode: int
    stdout: str
    stderr: str


def kit(*args: str, cwd: Path, **env: str) -> Ended:
    """Run a command in ``cwd``, where Python looks for modules besides; uncoloured unless ``env`` says otherwise."""
    out, err = _stream(), _stream()
    # FORCE_COLOR wins over NO_COLOR in no library
    colours = {} if "FORCE_COLOR" in env else {"NO_COLOR": "1"}
    # for the children of the command
    path = os.pathsep.join(filter(None, (str(HELPERS), os.environ.get("PYTHONPATH"))))
    code, ctrl_c = 0, signal.getsignal(signal.SIGINT)
    with (
        chdir(cwd),
        _modules_of(cwd),
        patch.dict(os.environ, {"COLUMNS": "400", "PYTHONPATH": path, **colours, **env}),
        patch.object(sys, "argv", ["rocketmq-conformance", *args]),
        patch.object(jvm, "end", _stay),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        finally:
            signal.signal(signal.SIGINT, ctrl_c)  # a command that ends ignores it
    return Ended(code, _text(out), _text(err))


def _stay(code: int) -> None:
    """A command ends with the Java machine of its process, but this process has more tests to run."""


@contextmanager
def _modules_of(folder: Path) -> Iterator[None]:
    """Let modules be imported from a folder, and forget them afterwards: the next test has others of their names."""
    before = set(sys.modules)
    with patch.object(sys, "path", [str(folder), str(HELPERS), *sys.path]):
        yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(folder)):
            del sys.modules[name]


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()
