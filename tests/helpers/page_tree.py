"""A page as a tree, and what must hold for every page: for tests."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

VOID = frozenset({"meta", "link", "input", "br"})
#: Everything that a page is made of; none of them loads anything.
ALLOWED = frozenset(
    {
        *("html", "head", "meta", "title", "link", "style", "body", "script", "header", "nav", "main", "section"),
        *("footer", "h1", "h2", "h3", "h4", "p", "div", "span", "a", "strong", "b", "code", "mark", "ul", "ol", "li"),
        *("dl", "dt", "dd", "figure", "figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td"),
        *("details", "summary", "label", "input", "button"),
        *("svg", "symbol", "marker", "path", "use", "g", "rect", "line", "polyline", "circle", "text", "tspan"),
    }
)


@dataclass
class Node:
    """An element; ``children`` are elements and texts."""

    tag: str
    attributes: dict[str, str]
    children: list[Node | str] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """The element and all below it, in their order."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag: str, **attributes: str) -> list[Node]:
        """Elements below with these attributes; ``class_`` is one of the classes."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [node for node in self.walk() if node.tag == tag and node.has(wanted)]

    def has(self, wanted: dict[str, str]) -> bool:
        """Has it these attributes?"""
        own = {**self.attributes, "class": ""}
        classes = self.attributes.get("class", "").split()
        return all(value in classes if name == "class" else own.get(name) == value for name, value in wanted.items())

    def one(self, tag: str, **attributes: str) -> Node:
        """The only such element."""
        found = self.all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} of {tag} {attributes}"
        return found[0]

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def words(self) -> str:
        """Its text with every run of white space as one blank."""
        return " ".join(self.text.split())


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]
        self.doctypes: list[str] = []

    def handle_decl(self, decl: str) -> None:
        self.doctypes.append(decl)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute of {tag} twice"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")


def tree(page: str) -> Node:
    """The tree of a page; AssertionError when it is not well-formed."""
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert builder.open == [builder.root], f"<{builder.open[-1].tag}> is not closed"
    assert page.startswith("<!doctype html>")
    assert builder.doctypes == ["doctype html"]
    return builder.root


def checked(page: str) -> Node:
    """The tree of a page that is harmless, fetches nothing, and can be read by everybody."""
    page.encode("utf-8")
    root = tree(page)
    nodes = list(root.walk())[1:]
    assert {node.tag for node in nodes} <= ALLOWED
    _fetches_nothing(root, nodes)
    _holds_together(nodes)
    _reads_well(root, nodes)
    for node in nodes:
        if node.tag not in ("style", "script"):
            texts = [*(child for child in node.children if isinstance(child, str)), *node.attributes.values()]
            assert all(line.isprintable() for text in texts for line in text.split("\n")), texts
    return root


def _fetches_nothing(root: Node, nodes: list[Node]) -> None:
    for node in nodes:
        for name, value in node.attributes.items():
            assert not name.startswith("on"), name
            assert name not in ("style", "src", "srcset", "action", "xlink:href", "background", "poster"), name
            if name == "href":
                assert re.fullmatch(r"#[\w-]+", value) or (
                    node.tag == "link" and value.startswith("data:image/svg+xml,")
                ), value
            assert name in ("marker-end",) or "url(" not in value or node.tag == "meta" or name.startswith("aria-"), (
                value
            )
    (style,), (script,) = root.all("style"), root.all("script")
    assert not re.search(r"url\(|@import|@font-face", style.text)
    assert not re.search(r"fetch|XMLHttpRequest|WebSocket|import|eval|innerHTML|http", script.text)
    policy = root.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    assert policy == (
        f"default-src 'none'; style-src '{_hash(style.text)}'; script-src '{_hash(script.text)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()


def _holds_together(nodes: list[Node]) -> None:
    ids = [node.attributes["id"] for node in nodes if "id" in node.attributes]
    assert len(ids) == len(set(ids)), "an id twice"
    for node in nodes:
        used = [node.attributes.get(name, "") for name in ("aria-labelledby", "for")]
        used += [node.attributes["href"][1:]] if node.attributes.get("href", "").startswith("#") else []
        used += re.findall(r"url\(#([\w-]+)\)", node.attributes.get("marker-end", ""))
        assert all(name in ids for name in used if name), used


def _reads_well(root: Node, nodes: list[Node]) -> None:
    assert root.one("html").attributes["lang"] == "en"
    levels = [int(node.tag[1]) for node in nodes if re.fullmatch("h[1-6]", node.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    assert all("scope" in node.attributes for node in nodes if node.tag == "th")
    for node in nodes:
        if node.tag == "svg" and "aria-hidden" not in node.attributes and "role" not in node.attributes:
            # Part of a drawing that has a name as a whole.
            assert any(node is inner for outer in root.all("svg", role="img") for inner in outer.walk())
    assert all(node.attributes.get("aria-label") for node in root.all("svg", role="img"))
