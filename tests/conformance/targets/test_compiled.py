"""Compiled modules are all of those that setup.py names; what they say is compared by the digests of all suites."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from every import every
from places import ROOT

import rocketmq_conformance
from rocketmq_conformance.conformance.campaign.spark import shipping
from rocketmq_conformance.conformance.compiled import is_compiled, mypyc_attr

SETUP = ROOT / "setup.py"


def hot() -> list[str]:
    """The modules that setup.py compiles."""
    found: dict[str, list[str]] = {}
    for node in ast.parse(SETUP.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "HOT":
            found = eval(compile(ast.Expression(node.value), str(SETUP), "eval"))
    return [f"{rocketmq_conformance.__name__}.{package}.{name}" for package, names in found.items() for name in names]


@pytest.mark.compiled
def test_the_kit_is_compiled() -> None:
    assert is_compiled()


@pytest.mark.compiled
@every("name", hot())
def test_a_hot_module_is_compiled(name: str) -> None:
    assert not str(import_module(name).__file__).endswith(".py")


def test_every_hot_module_is_there() -> None:
    assert len(hot()) == len(set(hot())) > 30
    for name in hot():
        import_module(name)


def test_an_editable_install_is_not_compiled() -> None:
    pytest.importorskip("setuptools")
    asked = {**os.environ, "ROCKETMQ_CONFORMANCE_COMPILE": "1"}
    command = [sys.executable, str(SETUP), "editable_wheel"]
    done = subprocess.run(command, cwd=SETUP.parent, env=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().startswith("An editable install stays plain Python")


def test_the_version_tells_that_the_kit_is_compiled() -> None:
    command = [sys.executable, "-m", "rocketmq_conformance", "--version"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.rstrip().endswith(", compiled") == is_compiled()
    assert rocketmq_conformance.__version__ in output


def test_python_is_told_nothing() -> None:
    class Open:
        pass

    assert mypyc_attr(allow_interpreted_subclasses=True)(Open) is Open


def test_only_python_is_shipped() -> None:
    endings = {Path(name).suffix for name in shipping.contents()}
    assert ".py" in endings
    assert not endings & {".so", ".pyd"}
