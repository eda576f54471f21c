"""What commands print: the one way from them to a terminal or a pipe, beside reports.

What comes from outside (remarks of brokers, lines of programs, names in files) may hold escape sequences, and line ends
that make it look like a line of the kit: no character of it reaches the terminal as it is.
"""

from __future__ import annotations

import re

import click

#: What ends or indents the lines of a text that the kit has made of clean pieces.
_LAYOUT = re.compile(r"([\n\t])")
#: Characters of a longer error that are shown: a remark may have megabytes.
_LONGEST_ERROR = 4000


def say(sentence: str, *, err: bool = False) -> None:
    """Print one line."""
    click.echo(_clean(sentence), err=err)


def say_text(text: str, *, err: bool = False) -> None:
    """Print a text that has its line ends."""
    click.echo("".join(part if part in "\n\t" else _clean(part) for part in _LAYOUT.split(text)), nl=False, err=err)


def show_error(error: click.ClickException) -> None:
    """Print the sentence of an error, and beside a wrong usage where help is."""
    from rocketmq_conformance.reports.text import shortened  # --help prints without it

    error.message = shortened(_clean(error.message), _LONGEST_ERROR)  # type: ignore[misc]
    error.show()


def _clean(text: str) -> str:
    from rocketmq_conformance.reports.text import clean

    return clean(text)
