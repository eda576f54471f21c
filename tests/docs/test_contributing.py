"""A first pull request as CONTRIBUTING has it: a rule, played in a fresh clone by the commands of the page."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from fresh import python3_on_path
from places import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: What its author writes by hand: half a sentence becomes a rule of its own, with a test, a mutant and a changelog.
#: By file: what is there once, and what takes its place; "" is a new file.
WRITTEN = {
    "models/allocation/circle.py": {
        "members; an id owns the queues of its first place only.": "members.",
        "    ),\n)\n\n_DEALT": (
            "    ),\n"
            "    Rule(\n"
            '        "ALLOC-CIRC-2",\n'
            '        "An id that is there twice owns the queues of its first place only.",\n'
            '        "AllocateMessageQueueAveragelyByCircle#allocate @ 4.0.0, 5.5.0",\n'
            "    ),\n)\n\n_DEALT"
        ),
        '_TWICE = Reason(("ALLOC-CIRC-1",)': '_TWICE = Reason(("ALLOC-CIRC-2",)',
    },
    "suites/allocation.py": {'"ALLOC-CIRC-1",\n': '"ALLOC-CIRC-1",\n        "ALLOC-CIRC-2",\n'},
    "tests/models/allocation/test_allocation.py": {
        "def test_circle_deals_like_cards(": (
            "def test_in_a_circle_the_first_place_of_an_id_counts() -> None:\n"
            '    answer = MODEL.by_circle(None, "a", queues(*range(8)), ("b", "a", "a"))\n'
            '    assert (answer[2].rules, ids_of(answer)) == (("ALLOC-CIRC-2",), [1, 4, 7])\n\n\n'
            "def test_circle_deals_like_cards("
        )
    },
    "conformance/targets/port/mutants/allocation.py": {
        "# --- argument checks": (
            '@_mutant("D20", "In a circle an id that is there twice owns the queues of its last place.")\n'
            "class CircleOfLastPlace(Allocation):\n"
            "    def by_circle(self, me: str, queues: Queues, ids: Ids) -> Queues:\n"
            "        if ids.count(me) < 2:\n"
            "            return super().by_circle(me, queues, ids)\n"
            "        last = len(ids) - 1 - ids[::-1].index(me)\n"
            "        return tuple(queue for at, queue in enumerate(queues) if at % len(ids) == last)\n\n\n"
            "# --- argument checks"
        )
    },
    "changelog.d/+circle.added.md": {"": "The rule ALLOC-CIRC-2: which place of an id counts in a circle.\n"},
}


def commands(heading: str) -> str:
    """The commands that CONTRIBUTING has first under a heading."""
    found = _BLOCK.search(PAGE, PAGE.index(f"# {heading}\n"))
    assert found
    return found[1]


def write(clone: Path) -> None:
    for name, edits in WRITTEN.items():
        path = clone / name
        text = path.read_text("utf-8") if path.exists() else ""
        for old, new in edits.items():
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        path.write_text(text, "utf-8")


def test_what_the_pull_request_changes_is_here(tmp_path: Path) -> None:
    for name in WRITTEN:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    write(tmp_path)
    assert commands("Contributing").startswith("git clone … && cd rocketmq-conformance\n")


@pytest.mark.fresh
def test_a_rule_is_added_in_a_fresh_clone(tmp_path: Path) -> None:
    environment = python3_on_path(tmp_path)

    def played(script: str, folder: Path) -> str:
        command = ["bash", "-e", "-o", "pipefail", "-c", script]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (script, done.stdout[-4000:], done.stderr[-4000:])
        return done.stdout

    installed = commands("Contributing").replace("clone …", f"clone -q '{ROOT}' rocketmq-conformance")
    assert "Verdict: conforms" in played(installed, tmp_path)
    clone = tmp_path / "rocketmq-conformance"
    environment["PATH"] = f"{clone / '.venv' / 'bin'}{os.pathsep}{environment['PATH']}"
    write(clone)
    promote = commands("Mutants and corpus plans").splitlines()[0].replace("NAME …", "circle-of-last-place")
    assert "1 promoted" in played(promote, clone)
    made = played(commands("What is made"), clone)
    # it has its mutant, and a plan that notices that; what real releases do is asked with Java
    about = [line for line in made.splitlines() if "ALLOC-CIRC-2" in line or "circle-of-last-place" in line]
    assert about == ["missing  rule ALLOC-CIRC-2: no proof has a row for it"]
    check = commands("The 20-second check").replace("NAMES-OF-YOUR-MUTANTS", "circle-of-last-place")
    assert "Verdict: conforms" in played(check.replace("NAME", "allocation"), clone)
    assert "ALLOC-CIRC-2" in played("towncrier build --draft", clone)
    assert "ALLOC-CIRC-2" in played("rocketmq-conformance explain ALLOC-CIRC-2", clone)
    status = played("git status --porcelain", clone).splitlines()
    assert {line[3:] for line in status} > {*WRITTEN}
    (plan,) = [line for line in status if "suites/corpus" in line]
    assert re.fullmatch(r"\?\? suites/corpus/allocation\.\w+\.plan\.jsonl", plan)
