"""What the next release brings: a file for each change, of which a section of the changelog is made."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from long_sentences import LIMIT, sentences, words
from places import ROOT

from rocketmq_conformance import __version__

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
FRAGMENTS = sorted(path for path in (ROOT / SETTINGS["directory"]).iterdir() if path.name != "README.md")
KINDS = [kind["directory"] for kind in SETTINGS["type"]]


def faults(path: Path) -> list[str]:
    """What is wrong with a fragment, in words."""
    text = path.read_text("utf-8").strip()
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    said = list(sentences(text))
    wrong = {
        "its name is not +SLUG.KIND.md": not re.fullmatch(rf"(\+[a-z\d-]+|\d+)\.({'|'.join(KINDS)})\.md", path.name),
        "it is not a sentence or a few": not 1 <= len(said) <= 4 or not text.endswith((".", "!", "`.", ").")),
        "a sentence of it is too long": any(words(one) > LIMIT for one in said),
        "a link of it, from the root of the project, leads nowhere": not all((ROOT / link).exists() for link in links),
    }
    return [f"{path.name}: {what}" for what, is_so in wrong.items() if is_so]


def test_fragments_are_well_formed() -> None:
    assert [fault for path in FRAGMENTS for fault in faults(path)] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.added.md", "A sentence."),
        ("+run.new.md", "A sentence."),
        ("+run.added.md", ""),
        ("+run.added.md", "no sentence"),
        ("+run.added.md", f"{'word ' * 36}."),
        ("+run.added.md", "It has a [page](docs/nowhere.md)."),
    ],
)
def test_a_fragment_that_is_not_is_noticed(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert len(faults(tmp_path / name)) == 1


def test_the_section_of_the_next_release_has_them_all() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version", __version__],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert re.fullmatch(rf"## {re.escape(__version__)} - \d{{4}}-\d\d-\d\d", lines[0])
    assert sum(line.startswith("- ") for line in lines) == len(FRAGMENTS)
    used = {path.name.split(".")[1] for path in FRAGMENTS}
    assert [line[4:].lower() for line in lines if line.startswith("### ")] == [kind for kind in KINDS if kind in used]


def test_the_changelog_goes_by_release_and_says_where_the_next_one_begins() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert text.count(SETTINGS["start_string"]) == 1
    released = re.findall(r"^## (.+)$", text.partition(SETTINGS["start_string"])[2], re.MULTILINE)
    assert released[-1] == "Before 0.2.0"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", one) for one in released[:-1])
