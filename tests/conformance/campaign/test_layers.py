"""The parts of a campaign import in one direction, which the docstring of the package writes down."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from rocketmq_conformance.conformance import campaign

PACKAGE = campaign.__name__
FOLDER = Path(campaign.__path__[0])


def layers() -> dict[str, int]:
    """The layer of every part, the lowest first, as the package's docstring lists them."""
    rows = [line for line in (campaign.__doc__ or "").splitlines() if line.startswith("``")]
    return {part: at for at, row in enumerate(rows) for part in re.findall(r"``(\w+)/?``", row)}


def imported_parts(source: str) -> set[str]:
    """The parts that a module imports from, those that only annotations need included."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.removeprefix(f"{PACKAGE}.").split(".")[0] for name in names if name.startswith(f"{PACKAGE}.")}
    return found


def test_every_part_has_a_layer() -> None:
    parts = {place.stem for place in FOLDER.iterdir() if place.suffix == ".py" or (place / "__init__.py").exists()}
    assert parts - {"__init__"} == set(layers())


def test_a_part_imports_only_from_its_own_layer_and_those_below() -> None:
    layer = layers()
    modules = [module for module in FOLDER.rglob("*.py") if module != FOLDER / "__init__.py"]
    upward = [
        f"{module.relative_to(FOLDER)} imports {part}"
        for module in modules
        for part in imported_parts(module.read_text(encoding="utf-8"))
        if layer[part] > layer[module.relative_to(FOLDER).parts[0].removesuffix(".py")]
    ]
    assert not upward


def test_the_check_sees_imports_of_either_form() -> None:
    assert imported_parts(f"from {PACKAGE}.spark.session import open_session") == {"spark"}
    assert imported_parts(f"from {PACKAGE} import driver\nimport {PACKAGE}.api") == {"driver", "api"}
    assert imported_parts("from rocketmq_conformance.conformance.engine import plan") == set()
