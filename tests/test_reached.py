"""What a file reaches is found in the sources, and is no less than what it loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from places import HELPERS, ROOT, TESTS
from reached import COMPUTED, PACKAGE, ROOMS, reached, read, suites_of

JAVA_TESTS = TESTS / "conformance" / "targets" / "java_client"
#: Modules that import by a computed name which is written out in the module, is a user's, or is of another package.
WRITTEN_OUT = {
    "conformance/campaign/analysis/on_spark.py",
    "conformance/campaign/spark/session.py",
    "conformance/cli/lazy_group.py",
    "conformance/cli/list.py",
    "conformance/targets/client_program/host.py",
    "conformance/targets/discovery.py",
    "conformance/targets/opener.py",
}


def names(*roots: Path) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for root in roots for path in reached(root, suites_of(root))}


def test_imports_and_what_is_named_are_read(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text(
        '"""suites.pull is only mentioned."""\n'
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import types_alone\n"
        "def late():\n    from rocketmq_conformance.suites import pull, timers\n"
        '    return ROOT / "docs" / f"{name}.md", Path("a", "b"), "c.txt"\n'
    )
    source = read(file)
    assert source.imports == (
        ("typing", ("TYPE_CHECKING",)),
        (f"{PACKAGE}.suites", ("pull", "timers")),
    )
    assert source.texts >= {"/docs/*.md", "/a/b", "c.txt"}
    assert not any("mentioned" in text or text == "/docs" for text in source.texts)


def test_a_file_with_the_name_of_a_suite_reaches_the_parts_of_that_suite_alone() -> None:
    found = names(JAVA_TESTS / "test_pull.py")
    assert found >= {
        *("suites/pull.py", "models/client/pull.py", "conformance/targets/java_client/pull.py"),
        *(
            "conformance/targets/java_client/PullRequests.java",
            "conformance/fakes/broker.py",
            "tests/helpers/by_hand.py",
        ),
    }
    assert found.isdisjoint(
        {"suites/timers.py", "conformance/targets/java_client/timers.py", "conformance/cli/main.py"}
    )


def test_a_file_that_runs_commands_reaches_every_suite_and_plan() -> None:
    found = names(TESTS / "conformance" / "targets" / "broker" / "test_broker_upgrade.py")
    assert found >= {
        *("suites/timers.py", "conformance/cli/matrix.py", "conformance/targets/java_client/timers.py"),
        *("suites/covering/pull.plan.jsonl", "reports/templates/page.html.j2", "conformance/properties/defaults.txt"),
    }


@pytest.mark.parametrize("name", ["conformance/proof/test_broker.py", "conformance/engine/test_corpus.py"])
def test_nothing_is_loaded_that_is_not_reached(name: str) -> None:
    load = "runpy.run_path(sys.argv[1])"
    files = "(m.__file__ for m in sys.modules.values() if getattr(m, '__file__', None))"
    done = subprocess.run(
        [sys.executable, "-c", f"import runpy, sys; {load}; print(*{files})", TESTS / name],
        env={"PYTHONPATH": f"{ROOT / 'src'}:{HELPERS}"},
        capture_output=True,
        text=True,
        check=True,
    )
    inner = {Path(file).resolve() for file in done.stdout.split()}
    own = (file for file in inner if file.is_relative_to(ROOT) and "site-packages" not in file.parts)
    loaded = {file.relative_to(ROOT).as_posix() for file in own}
    assert len(loaded) > 100
    assert loaded - names(TESTS / name) == set()


def test_every_import_by_a_computed_name_is_known() -> None:
    found = set()
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        text = path.read_text("utf-8")
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        called = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
        if called & {"import_module", "part_of", "module_of", "suite_modules", "iter_modules", "walk_packages"}:
            found.add(path.relative_to(ROOT).as_posix())
    assert found == {*COMPUTED, *WRITTEN_OUT}
