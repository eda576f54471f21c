"""How a result that is a page is written: as text, Markdown, JSON, or a page of HTML."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from rocketmq_conformance.conformance.cli.output import say_text

if TYPE_CHECKING:
    from rocketmq_conformance.reports.prediction import Page

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json", "html"]),
    default="text",
    show_default=True,
    help="How it is written.",
)


def write(form: str, page: Callable[[], Page], document: Callable[[], dict[str, Any]]) -> None:
    """Write a result to standard output; one that is closed does not affect the exit code."""
    with suppress(BrokenPipeError):
        if form == "json":
            say_text(json.dumps(document(), indent=1) + "\n")
            return
        from rocketmq_conformance.reports import prediction

        match form:
            case "markdown":
                say_text(prediction.markdown(page()))
            case "html":
                from rocketmq_conformance.reports.prediction_html import html

                say_text(html(page()))
            case _:
                prediction.show(page(), sys.stdout)
