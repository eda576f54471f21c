"""Sentences that are too long to be read at once: of the pages, of the help texts, and of the errors that users see.

``python tests/helpers/long_sentences.py`` prints their share by file, with ``--all`` each of them, too.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
from documented_commands import DOCUMENTS
from places import ROOT

from rocketmq_conformance.conformance.cli.main import cli

#: A sentence with more words is long.
LIMIT = 35
#: The exceptions whose texts users may see.
_ERRORS = re.compile(r"\w+(Error|Exception)|BadParameter|CouldNot")
_ITEM = re.compile(r"\s*([-*]|\d+\.)\s+")
#: Where a sentence ends: not within a name or a number of a version.
_END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[A-Z0-9\"'(*`\[§])")


class Share(NamedTuple):
    """The long sentences of one file, and how many it has."""

    file: str
    sentences: int
    long: list[str]


def sentences(text: str) -> Iterator[str]:
    """The sentences of a Markdown text, without its headings, tables, code blocks and pictures; links are their text,
    and each item of a list is a text of its own."""
    text = re.sub(r"^ *```.*?^ *```", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`", lambda code: re.sub(r"\s", "·", code[0]), text)
    text = re.sub(r"!\[[^]]*\]\([^)]*\)|<[^<>]*>", "", text)
    text = re.sub(r"\[((?:[^][]|`[^`]*`)*)\]\([^)]*\)", r"\1", text)
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        item, apart = _ITEM.match(line), not line.strip() or line.lstrip().startswith(("|", "#"))
        if item or apart:
            yield from _END.split(" ".join(block)) if block else ()
            block = []
        if not apart:
            block.append(line[item.end() if item else 0 :].strip())


def words(sentence: str) -> int:
    """How many words a sentence has; a piece of code is one."""
    return len(re.findall(r"[\w'’.,^-]*\w", re.sub(r"`[^`]*`", "code", sentence)))


def share(file: str, texts: Iterator[str]) -> Share:
    found = [sentence for sentence in texts if words(sentence) > 2]
    return Share(file, len(found), [sentence for sentence in found if words(sentence) > LIMIT])


def pages() -> list[Share]:
    return [share(path.relative_to(ROOT).as_posix(), sentences(path.read_text("utf-8"))) for path in DOCUMENTS]


def helps() -> list[Share]:
    """By command: its help, and that of its options."""
    return [share(f"--help of {name}", _helped(command)) for name, command in _commands("", cli)]


def errors() -> list[Share]:
    """By module: the texts of the errors that it makes; what is computed is one word."""
    files = sorted((ROOT / "conformance").rglob("*.py"))
    return [found for path in files if (found := share(path.relative_to(ROOT).as_posix(), _errors(path))).sentences]


def _commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name.strip(), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for part in command.list_commands(context):
            if found := command.get_command(context, part):
                yield from _commands(f"{name} {part}", found)


def _helped(command: click.Command) -> Iterator[str]:
    # what stands below \b is no prose
    for text in re.split(r"\n\s*\n", command.help or ""):
        yield from () if "\b" in text else sentences(text)
    for parameter in command.params:
        yield from sentences(getattr(parameter, "help", None) or "")


def _errors(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if _ERRORS.fullmatch(name):
                for argument in node.args:
                    yield from sentences(_text(argument))


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) if isinstance(part, ast.Constant) else "`…`" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
    return ""


def ratio(shares: list[Share]) -> float:
    return sum(len(one.long) for one in shares) / sum(one.sentences for one in shares)


if __name__ == "__main__":
    for title, shares in (("pages", pages()), ("help texts", helps()), ("errors", errors())):
        for one in shares:
            if one.long:
                print(f"{len(one.long) / one.sentences:6.1%} of {one.sentences:4} {one.file}")
                for sentence in one.long if "--all" in sys.argv else ():
                    print(f"    {words(sentence)}: {sentence}")
        print(f"{ratio(shares):6.1%} of all {title} have more than {LIMIT} words")
