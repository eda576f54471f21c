"""Predictions as text, Markdown and HTML, whatever their texts hold."""

from __future__ import annotations

import io

from event_streams import TEXT
from hypothesis import given
from hypothesis import strategies as st
from page_tree import checked

from rocketmq_conformance.reports.prediction import CODE, PLAIN, Cell, Page, Section, markdown, show
from rocketmq_conformance.reports.prediction_html import html

CELL = st.builds(Cell, TEXT, st.sampled_from((PLAIN, CODE)))
SECTION = st.builds(
    Section,
    TEXT,
    st.just(("topic", "queue")),
    st.lists(st.tuples(CELL, CELL), max_size=2).map(tuple),
    st.lists(CELL, max_size=2).map(tuple),
)
PAGE = st.builds(Page, TEXT, CELL, st.lists(SECTION, max_size=2).map(tuple))


@given(PAGE)
def test_every_line_of_a_prediction_is_printable(page: Page) -> None:
    shown = io.StringIO()
    show(page, shown, width=60)
    for text in (shown.getvalue(), markdown(page), html(page)):
        assert [line for line in text.split("\n") if not line.isprintable()] == []
    checked(html(page))
