"""gRPC clients in Java, Python and for Node as ordinary programs, built and judged by their calls."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from builds import built_once
from places import ROOT

from rocketmq_conformance.conformance.targets.grpc_program.played_proxy import PlayedProxy
from rocketmq_conformance.models.outcome import Ok, agrees
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import grpc_answers as operations
from rocketmq_conformance.suites.declare.operation import Operation

pytestmark = pytest.mark.languages

EXAMPLES = ROOT / "examples" / "grpc"
PIP = [sys.executable, "-m", "pip", "install", "-q", "--target"]
NPM = ["npm", "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--prefix"]


def build_java(folder: Path) -> str:
    """The client by Maven, and the program compiled."""
    _run(["sh", str(EXAMPLES / "java" / "build.sh"), str(folder)])
    return str(folder / "consumer")


def build_python(folder: Path) -> str:
    """The client and what it needs, in a folder of their own."""
    _run([*PIP, str(folder), "rocketmq-python-client==5.1.2"])
    return f"env PYTHONPATH={folder} {sys.executable} {EXAMPLES / 'python' / 'consumer.py'}"


def build_node(folder: Path) -> str:
    """The client by npm, and the program beside it."""
    _run([*NPM, str(folder), "rocketmq-client-nodejs@1.0.8"])
    shutil.copy(EXAMPLES / "node" / "consumer.js", folder)
    return f"node {folder / 'consumer.js'}"


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


PLAN: list[Operation] = [
    operations.Join(0),
    operations.Send(-1, "ordinary"),
    operations.Send(0, "sha1"),
    operations.Refuse("ReceiveMessage", "INTERNAL_SERVER_ERROR"),
    operations.Mend(),
    operations.Listen("fails"),
    operations.Send(1, "ordinary"),
    operations.Send(0, "crc32"),
    operations.Leave(0),
]


@pytest.mark.parametrize(
    ("build", "differs"),
    [
        (build_java, []),
        # it ends with its receive open (D423)
        (build_python, ["leave: left"]),
        # what failed comes again at once (D421), as does a checksum by CRC32 (D422); it may end as that one (D423)
        pytest.param(
            build_node,
            ["send: ended", "send: ended"],
            marks=pytest.mark.skipif(not shutil.which("npm"), reason="needs npm"),
        ),
    ],
)
def test_a_client_is_judged(
    build: Callable[[Path], str], differs: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    commands: list[str] = []
    folder = built_once(f"grpc-{build.__name__}", lambda made: commands.append(build(made)), tmp_path_factory)
    assert folder.exists()
    bound, found = operations.SUITE.bind(Profile()), []
    state = bound.initial
    with closing(PlayedProxy(operations.SUITE, Profile(), shlex.split(commands[0]), Event())) as case:
        for operation in PLAN:
            outcome = case.do(operation)
            state, expected, _ = bound.handlers[type(operation)](state, *operation.args)
            assert isinstance(outcome, Ok), outcome
            assert isinstance(expected, tuple)
            assert isinstance(outcome.value, tuple)
            parts = zip(operation.spec.answer, expected, outcome.value, strict=True)
            found += [
                f"{operation.spec.name}: {name}"
                for name, wanted, given in parts
                if given is not None and not agrees(wanted, given)
            ]
    assert [one for one in found if one != "leave: left" or one in differs] == differs
