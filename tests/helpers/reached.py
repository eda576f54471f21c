"""The files of the project that a test file or a module reaches, found in the sources alone: what it imports, inside
functions, too; what it names; and what these reach.

What only its types name does not count, nor do docstrings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

from places import HELPERS, ROOT, TESTS

PACKAGE = "rocketmq_conformance"
ROOMS = ("models", "suites", "conformance", "reports")
_ROOMS = tuple(ROOT / name for name in ROOMS)
#: The folders whose modules a module imports by a computed name. All other computed names are written out as text in
#: the module itself, or are a user's.
COMPUTED = {
    "models/rulebook.py": ("models", "models/broker", "models/client", "models/allocation"),
    "suites/declare/discovery.py": ("suites",),
    "conformance/targets/broker/adapter.py": ("conformance/targets/broker",),
    "conformance/targets/java_client/adapter.py": ("conformance/targets/java_client",),
    "conformance/targets/mutants.py": ("conformance/targets/port/mutants", "conformance/targets/broker/mutants"),
    "conformance/targets/port/adapter.py": ("conformance/targets/port",),
}
#: What starts the kit in a process of its own.
_COMMAND = re.compile(r"(^|-m )rocketmq[-_]conformance$|^rocketmq-conformance (?!-)|-m rocketmq_conformance ")
#: Functions whose arguments are parts of paths; other words without dot or slash are not.
_PATHS = ("joinpath", "Path", "glob", "rglob", "copytree")
_MODULE = re.compile(rf"\b(?:{PACKAGE}\.)?((?:{'|'.join(ROOMS)})(?:\.\w+)+)")
#: Has the public names, each imported from its module when it is used.
_PUBLIC = ROOT / "src" / PACKAGE / "__init__.py"
#: Names of folders alone, by which tests find what lies in them.
_PLACES = HELPERS / "places.py"


class Source(NamedTuple):
    """What a Python file says."""

    #: Modules that it imports, with the names that it takes from each.
    imports: tuple[tuple[str, tuple[str, ...]], ...]
    #: Texts in it, and paths that are put together of them; * stands for what is computed.
    texts: frozenset[str]


@cache
def reached(root: Path, played: frozenset[str] | None = None) -> frozenset[Path]:
    """The files that a file reaches, with itself. Of what is imported by the name of a suite, only that of suites that
    are ``played`` counts; None for all."""
    seen: set[Path] = set()
    left = [root]
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left += _next(path, played)
    return frozenset(seen)


def suites_of(path: Path) -> frozenset[str] | None:
    """The suites that a test file plays: that of its name and those that it names; None for all, where it has the name
    of none, or takes all of them."""
    own = path.stem.removeprefix("test_")
    if TESTS not in path.parents or own not in _suites():
        return None
    source = path.read_text("utf-8")
    if re.search(r"\bSUITES\b(?!\[|$)", re.sub(r"import .*", "", source)) or "command_line" in source:
        return None
    named = {name for name in _suites() if name == own or re.search(rf"\b{name.replace('_', '[-_]')}\b", source)}
    # a suite of another topology is played by the parts of its family, with whose name its own begins
    return frozenset(name for name in _suites() if any(f"{one}_".startswith(f"{name}_") for one in named))


@cache
def _suites() -> frozenset[str]:
    return frozenset(
        path.stem for path in (ROOT / "suites").glob("*.py") if re.search(r"^SUITE = ", path.read_text("utf-8"), re.M)
    )


@cache
def _next(path: Path, played: frozenset[str] | None) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(_found(path, played)))


def _found(path: Path, played: frozenset[str] | None) -> Iterator[Path]:
    if path.suffix != ".py" or path == _PUBLIC:
        return
    source = read(path)
    for module, names in source.imports:
        yield from _modules(module, names, path)
    for folder in COMPUTED.get(path.relative_to(ROOT).as_posix(), ()):
        if played is None or folder != "models":
            yield from (one for one in _inside(folder) if played is None or one.stem in played)
    for text in source.texts if path != _PLACES else ():
        if TESTS in path.parents and _COMMAND.search(text):
            yield ROOT / "conformance" / "cli" / "main.py"
        for name in _MODULE.findall(text):
            yield from _named(name)
        found = _files(text) if TESTS in path.parents else (one for one in _files(text) if _in(one, _ROOMS))
        yield from (one for one in found if played is None or _of_played(one, played))


def _of_played(path: Path, played: Collection[str]) -> bool:
    """Is a plan of the kit one of these suites'? Of any other file it is true."""
    return path.parent.parent != ROOT / "suites" or path.name.partition(".")[0].replace("-", "_") in played


@cache
def _inside(folder: str) -> tuple[Path, ...]:
    return tuple((ROOT / folder).glob("*.py"))


@cache
def _modules(module: str, names: tuple[str, ...], path: Path) -> tuple[Path, ...]:
    """The files that are loaded when a file imports names from a module, if these are of the project."""
    if module != PACKAGE and not module.startswith(f"{PACKAGE}."):
        own = [folder / f"{module.replace('.', '/')}.py" for folder in (path.parent, HELPERS)]
        return tuple(one for one in own if one.is_file())[:1]
    inner = module.removeprefix(PACKAGE).removeprefix(".")
    if inner:
        found = [*_packages(inner), *(file for name in names if (file := _file(f"{inner}.{name}")))]
        return tuple(found)
    public = [_public().get(name) or name for name in names]
    return _PUBLIC, *(file for name in public for file in _packages(name))


@cache
def _public() -> dict[str, str]:
    """The modules that the public names come from."""
    tree = ast.parse(_PUBLIC.read_text("utf-8"))
    return {
        alias.name: str(node.module).removeprefix(f"{PACKAGE}.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _named(name: str) -> Iterator[Path]:
    """The modules that a text names: a module, or everything in a package."""
    parts = name.split(".")
    while parts and not _file(".".join(parts)):
        parts.pop()
    if parts:
        yield from _packages(".".join(parts))
        if (ROOT / "/".join(parts)).is_dir():
            yield from _inside("/".join(parts))


def _packages(module: str) -> Iterator[Path]:
    """The file of a module, and those of the packages that it is in."""
    parts = module.split(".")
    yield from (file for end in range(1, len(parts) + 1) if (file := _file(".".join(parts[:end]))))


@cache
def _file(module: str) -> Path | None:
    place = ROOT / module.replace(".", "/")
    return next((file for file in (place / "__init__.py", place.with_suffix(".py")) if file.is_file()), None)


@cache
def _data() -> tuple[tuple[Path, str], ...]:
    """The files that are no modules, with their paths; of tests and examples modules, too, which they start."""
    folders = [ROOT / name for name in (*ROOMS, "docs", "tests", "examples", "benchmarks", ".ci")]
    found = [
        path for folder in folders for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    data = [path for path in found if path.suffix != ".py" or not _in(path, _ROOMS)]
    data += [path for path in ROOT.iterdir() if path.is_file()]
    return tuple((path, f"/{path.relative_to(ROOT).as_posix()}") for path in sorted(data))


def _in(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


@cache
def _files(text: str) -> tuple[Path, ...]:
    """The files that a text names, by the end of their path or of that of a folder that they are in."""
    path, text = text.startswith("/"), text.strip("/").removeprefix("../")
    if not path and not {"/", "."} & {*text}:
        return ()
    if not re.fullmatch(r"[\w.*-][\w.*/ -]*", text) or len(text.replace("*", "").strip("/.")) < 3:
        return ()
    if text == HELPERS.name:  # from which helpers are imported
        return ()
    ends = (f"*/{text}", f"*/{text}/*") if "*" in text else ()
    named = (one for one in _data() if any(fnmatch(one[1], end) for end in ends) or f"/{text}/" in f"{one[1]}/")
    # a folder of tests is meant where tests are named alone
    return tuple(path for path, name in named if "/test_" not in name or "test" in text)


@cache
def read(path: Path) -> Source:
    """What a Python file says."""
    imports: list[tuple[str, tuple[str, ...]]] = []
    texts: set[str] = set()
    _visit(ast.parse(path.read_text("utf-8")), imports, texts)
    return Source(tuple(dict.fromkeys(imports)), frozenset(texts))


def _visit(node: ast.AST, imports: list[tuple[str, tuple[str, ...]]], texts: set[str]) -> None:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            for child in node.orelse:
                _visit(child, imports, texts)
            return
        case ast.Import():
            imports += [(alias.name, ()) for alias in node.names]
        case ast.ImportFrom():
            imports.append((str(node.module), tuple(alias.name for alias in node.names)))
        case ast.Expr(value=ast.Constant()):  # a docstring
            return
        case ast.BinOp(op=ast.Div()):
            texts.add(f"/{_text(node)}")
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _PATHS:
            texts.add(f"/{'/'.join(map(_text, node.args))}")
        case ast.JoinedStr() | ast.Constant(value=str()):
            texts.add(_text(node))
    for child in _parts(node) if isinstance(node, ast.BinOp) else ast.iter_child_nodes(node):
        _visit(child, imports, texts)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """What a path is put together of, one after the other: its beginnings are no paths by themselves."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from (*_parts(node.left), node.right)
    elif isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    else:
        yield node


def _text(node: ast.AST) -> str:
    """The text of a constant, or of one that is put together; * for what is computed."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(map(_text, values))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            before = _text(left)
            return f"{before}/{_text(right)}" if before.strip("*") else _text(right)
    return "*"
