"""What commands import: a command that only shows something starts no engine and loads no large library."""

from __future__ import annotations

import json
import subprocess
import sys

from rocketmq_conformance.conformance.cli import campaign
from rocketmq_conformance.conformance.cli.list import listed
from rocketmq_conformance.conformance.cli.main import COMMANDS

LARGE = ("docker", "hypothesis", "jinja2", "jpype", "numpy", "pandas", "pyarrow", "pyspark", "rich", "testcontainers")
ENGINE = ("rocketmq_conformance.conformance.engine.stage", "rocketmq_conformance.conformance.engine.plan")
MODELS = ("rocketmq_conformance.models.rulebook", "rocketmq_conformance.suites.declare.discovery")
HELP = [
    "--help",
    "--version",
    "list rules --help",
    *(f"{name} --help" for name in COMMANDS if name != "explain"),
    *(f"campaign {name} --help" for name in campaign.COMMANDS),
]
#: Commands that one process runs in turn, and what it must not have loaded at the end.
GROUPS = (
    (HELP, (*LARGE, *ENGINE, *MODELS)),
    (
        ["list suites", "list operations", "list operations --format schema", "explain OFF-R-READ"],
        (*LARGE, *ENGINE),
    ),
    (["list rules", "list mutants"], (*LARGE, *ENGINE, *MODELS)),
)
PROGRAM = """
import contextlib, io, json, sys
import rocketmq_conformance
assert "click" not in sys.modules
from rocketmq_conformance.conformance.cli.main import cli
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert not cli.main(words.split(), standalone_mode=False), words
print(json.dumps(sorted(sys.modules)))
"""


def test_commands_that_show_something_import_nothing_large() -> None:
    offenders = []
    for what in ("suites", "operations", "rules", "mutants"):
        listed(what)  # it is kept
    listed("operations", "schema")
    for commands, unwanted in GROUPS:
        words = [sys.executable, "-c", PROGRAM, json.dumps(commands)]
        loaded = {*json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)}
        assert "rocketmq_conformance.conformance.cli.main" in loaded
        offenders += [f"one of {commands} imports {name}" for name in unwanted if name in loaded]
    assert offenders == []
