"""The catalogues in docs/ hold what the code cites, and nothing else: defects, words."""

from __future__ import annotations

import re

from places import ROOT

from rocketmq_conformance.conformance.targets.mutants import MUTANTS

DEFECTS = (ROOT / "docs" / "reference" / "defects.md").read_text("utf-8")
WORDS = (ROOT / "docs" / "reference" / "words.md").read_text("utf-8")


def _sections(text: str) -> dict[str, str]:
    """The text below each heading of the second level, by heading."""
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_defect_that_a_mutant_cites_has_an_entry() -> None:
    entries = _sections(DEFECTS)
    assert [mutant.name for mutant in MUTANTS.values() if mutant.defect not in entries] == []


def test_defects_without_a_mutant_are_named() -> None:
    cited = {mutant.defect for mutant in MUTANTS.values()}
    named = re.search(r"without a mutant: (.*)\.\n", DEFECTS)
    assert named
    assert [number for number in _sections(DEFECTS) if number not in cited] == named[1].split(", ")


def test_every_entry_has_a_sentence_and_says_where_it_is_from() -> None:
    entries = _sections(DEFECTS)
    assert list(entries) == sorted(entries, key=lambda number: int(number[1:]))
    form = re.compile(
        r"\n\*\*[^*]+\.\*\* .+\n\n"
        r"(\[.+\]\(https://github\.com/.+\)|(Read in the source|Shown by `[a-z-]+`), not reported\.)\n",
        re.S,
    )
    assert [number for number, entry in entries.items() if not form.match(entry)] == []


def test_entries_refer_to_entries() -> None:
    cited = set(re.findall(r"\bD\d{2,3}\b", DEFECTS))
    assert cited == _sections(DEFECTS).keys()


def test_thirty_three_words_are_explained() -> None:
    words = re.findall(r"^\| ([a-z][a-z ]*) \| [A-Z\x60]", WORDS, flags=re.MULTILINE)
    assert len(words) == len(set(words)) == 33
