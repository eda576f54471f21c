"""The public names: each exists, is documented and typed, and examples and documentation import only them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from places import ROOT

import rocketmq_conformance
from rocketmq_conformance import hypothesis as by_hypothesis

PACKAGE = "rocketmq_conformance"
API = ROOT / "docs" / "reference" / "api.md"
PUBLIC = set(rocketmq_conformance.__all__)
#: What the module for tests by Hypothesis has.
BY_HYPOTHESIS = set(by_hypothesis.__all__)
HYPOTHESIS = ROOT / "docs" / "tutorial" / "hypothesis.md"


def python_blocks(page: Path) -> list[str]:
    """The Python code of a page."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def shown_code() -> Iterator[tuple[str, str]]:
    """What users are shown: the name of a file, and Python code in it."""
    for path in sorted((ROOT / "examples").rglob("*.py")):
        yield path.name, path.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for block in python_blocks(page):
            yield page.name, block


def deep_imports(source: str) -> list[str]:
    """The imports of ours that are no public names."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.startswith(f"{PACKAGE}.")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            allowed = PUBLIC | {f"hypothesis.{name}" for name in BY_HYPOTHESIS}
            found += [name for name in names if name.removeprefix(f"{PACKAGE}.") not in allowed]
    return found


def test_every_public_name_exists() -> None:
    here = PUBLIC if find_spec("pyarrow") else PUBLIC - {"campaign"}  # which comes with the extra `spark`
    assert [name for name in here if getattr(rocketmq_conformance, name, None) is None] == []
    assert set(dir(rocketmq_conformance)) >= PUBLIC


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Adaptor'"):
        _ = rocketmq_conformance.Adaptor


def test_type_checkers_see_the_names_that_there_are() -> None:
    tree = ast.parse(Path(rocketmq_conformance.__file__).read_text(encoding="utf-8"))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name: node.module.removeprefix(f"{PACKAGE}.")
        for node in checked.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert seen == rocketmq_conformance._MODULE_OF
    assert set(seen) == PUBLIC


def test_the_page_documents_exactly_the_public_names() -> None:
    rows = [line for line in API.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    named = re.findall(r"`(\w+)(?:\([^`]*\))?`", " ".join(row.split("|")[1] for row in rows))
    assert set(named) == PUBLIC | BY_HYPOTHESIS
    assert len(named) == len(set(named))


def test_examples_and_documentation_use_public_names_only() -> None:
    assert [f"{name}: {one}" for name, source in shown_code() for one in deep_imports(source)] == []


def test_the_check_sees_imports_from_below() -> None:
    assert deep_imports(f"from {PACKAGE}.models.outcome import Ok\nimport {PACKAGE}.suites") == [
        f"{PACKAGE}.models.outcome.Ok",
        f"{PACKAGE}.suites",
    ]
    assert deep_imports(f"import {PACKAGE}\nfrom {PACKAGE} import Ok") == []


@pytest.mark.parametrize("block", python_blocks(API))
def test_the_examples_of_the_page_run(block: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_tests_of_the_tutorial_pass(tmp_path: Path) -> None:
    blocks = [block for block in python_blocks(HYPOTHESIS) if "broker:4.9.7" not in block]
    for number, block in enumerate(blocks):
        (tmp_path / f"test_{number}.py").write_text(block.replace("max_examples=500", "max_examples=5"), "utf-8")
    # what the strategies draw is looked at as often as a reader would
    (tmp_path / "conftest.py").write_text("from hypothesis import settings\nsettings.load_profile('ci')\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=tmp_path, capture_output=True, text=True
    )
    assert re.search(r"^5 passed", done.stdout, re.MULTILINE), done.stdout


def test_importing_the_package_imports_none_of_its_rooms() -> None:
    script = f"import sys, {PACKAGE}\nprint([name for name in sys.modules if name.startswith('{PACKAGE}.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
