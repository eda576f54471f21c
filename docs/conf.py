"""How Sphinx makes a site of these pages, which stay plain Markdown: ``tox run -e docs``.

Pages have no directives. What Sphinx needs beside them is added as it reads them: the contents, which are the links of
docs/index.md and the pages that are made from the code, and folders, which a site cannot show, as plain text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

project = "rocketmq-conformance"
extensions = ["myst_parser"]
root_doc = "docs/index"
exclude_patterns = ["CHANGELOG.md", "site"]
html_theme = "furo"
html_title = project
myst_heading_anchors = 4
nitpicky = True

#: Tables begin at the left, and a long word in one breaks instead of pushing the other columns off a narrow screen.
_STYLE = """<style>
table.docutils { margin-left: 0; }
table.docutils th { text-align: left; }
table.docutils td code.literal { white-space: normal; overflow-wrap: anywhere; }
</style>"""
_PART = re.compile(r"^## (.+)\n((?:(?!## ).*\n)*)", re.MULTILINE)
_PAGE = re.compile(r"\]\(([\w./-]+)\.md\)")
_LINK = re.compile(r"\[([^][]+)\]\(([\w./-]+)\)")


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    folder = (Path(app.srcdir) / name).parent
    source[0] = _LINK.sub(lambda link: link[1] if (folder / link[2]).is_dir() else link[0], source[0])
    if name == root_doc:
        parts = {title: _PAGE.findall(text) for title, text in _PART.findall(source[0])}
        named = {page for pages in parts.values() for page in pages}
        for title, pages in parts.items():
            made = {f"{title.lower()}/{file.stem}" for file in (folder / title.lower()).glob("*.md")} - named
            source[0] += _contents(title, [*pages, *sorted(made)])
        others = [page for page in sorted(app.env.found_docs) if re.match(r"docs/decisions/|(?!docs/)", page)]
        source[0] += _contents("Project", [f"/{page}" for page in others])


def _contents(title: str, pages: list[str]) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```", ""])


def _style(app: Sphinx, name: str, template: str, context: dict[str, Any], tree: object) -> None:
    context["metatags"] = context.get("metatags", "") + _STYLE


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", _style)
    app.connect("source-read", _read)
