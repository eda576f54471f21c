"""Pages, help texts and errors are written in sentences that can be read at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from long_sentences import Share, errors, helps, pages, ratio, sentences, words
from places import ROOT


def test_sentences_end_at_a_stop_an_item_or_a_block() -> None:
    text = (
        "# A heading. Left out.\n\nOne of 5.5.0, e.g. this\n[link. Its](to.md) `text. A`. **Two!** Three?\n\n"
        "- an item\n  of two lines\n- another one\n\n| a table | is |\n|---|---|\n\n```sh\nCode. Left.\n```\nEnd"
    )
    assert list(sentences(text)) == [
        *("One of 5.5.0, e.g. this link.", "Its `text.·A`.", "**Two!", "Three?"),
        *("an item of two lines", "another one", "End"),
    ]


def test_a_piece_of_code_is_one_word() -> None:
    assert words("It's `run --seed 7` of 5.5.0, and 1,000 one-way commits.") == 8


def test_a_guide_is_read_in_three_minutes() -> None:
    guides = (ROOT / "docs" / "guides").glob("*.md")
    length = {page.name: sum(map(words, sentences(page.read_text("utf-8")))) for page in guides}
    assert {name: found for name, found in length.items() if found > 700} == {}


@pytest.mark.parametrize("shares", [pages, helps, errors])
def test_few_sentences_are_long(shares: Callable[[], list[Share]]) -> None:
    found = shares()
    assert ratio(found) <= 0.02, [f"{one.file}: {sentence}" for one in found for sentence in one.long]
