"""The one-way rule: every part imports only from parts that stand before it, and reports imports nothing of ours."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from places import ROOT

PACKAGE = "rocketmq_conformance"
#: The parts of the house, the lowest first. A part imports from itself and from the parts on earlier lines.
ORDER = (
    ("models",),
    ("suites.declare",),
    ("suites",),
    ("conformance.properties",),
    ("conformance.adapter", "conformance.alarm", "conformance.waiting"),
    ("conformance.process_group",),
    ("conformance.startup",),
    ("conformance.remoting",),
    ("conformance.fakes",),
    ("conformance.engine", "conformance.cache"),
    ("conformance.targets",),
    ("conformance.opening",),
    ("conformance.strategies",),
    ("conformance.stateful", "conformance.suite_workers"),
    ("conformance.api",),
    ("conformance.campaign", "conformance.predict"),
    ("conformance.proof",),
    ("conformance.release_axis", "conformance.provenance"),
    ("conformance.cli", "conformance.pytest_plugin"),
)
#: The first part that may import reports, which itself imports nothing of ours.
REPORTS, MAY_REPORT = "reports", "conformance.engine"
LEVEL = {part: level for level, parts in enumerate(ORDER) for part in parts}


def part_of(module: str) -> str:
    """The part that a module belongs to, by its name without the package's; "" for the package itself."""
    names = [part for part in (*LEVEL, REPORTS) if f"{module}.".startswith(f"{part}.")]
    return max(names, key=len, default="")


def imports(source: str) -> Iterator[str]:
    """What a module imports from the package, wherever in the module it does, by names without the package's."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name.removeprefix(f"{PACKAGE}.") for name in names if name.startswith(f"{PACKAGE}."))


def against_the_rule(module: str, source: str) -> list[str]:
    """The imports of a module that it may not have."""
    own = part_of(module)
    found = []
    for name in imports(source):
        other = part_of(name)
        if REPORTS in (own, other):
            allowed = own == other or (own != REPORTS and LEVEL[own] >= LEVEL[MAY_REPORT])
        else:
            allowed = not other or other == own or LEVEL[other] < LEVEL[own]
        if not allowed:
            found.append(f"{module} imports {name}")
    return found


def modules() -> Iterator[tuple[str, str]]:
    """Every module of the four rooms, by name, and its source."""
    for room in ("models", "suites", "conformance", "reports"):
        for path in sorted((ROOT / room).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            yield name, path.read_text(encoding="utf-8")


def test_every_part_imports_only_what_stands_before_it() -> None:
    seen = list(modules())
    assert len(seen) > 300
    assert [offence for module, source in seen for offence in against_the_rule(module, source)] == []


def test_every_module_belongs_to_a_part() -> None:
    assert [name for name, _ in modules() if not part_of(name) and name != "conformance"] == []


def circles(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules that import one another, also where only types are named."""
    order = TopologicalSorter(graph)
    try:
        order.prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_one_another() -> None:
    seen = dict(modules())
    named = {module: {*imports(source)} for module, source in seen.items()}
    # "from a import b" names a.b, which may be a module or something in a
    graph = {
        module: {name if name in seen else name.rpartition(".")[0] for name in names} & seen.keys() - {module}
        for module, names in named.items()
    }
    assert sum(map(len, graph.values())) > 3000
    assert circles(graph) == []
    assert set(circles({**graph, "suites.declare.step": {"suites.declare.oracle"}})) > {"suites.declare.step"}


def test_the_check_sees_forbidden_imports() -> None:
    upwards = f"from {PACKAGE}.conformance.engine import plan"
    assert against_the_rule("conformance.fakes.broker", upwards)
    assert against_the_rule("conformance.campaign.spec", f"import {PACKAGE}.conformance.proof.evidence")
    assert against_the_rule("reports.text", f"from {PACKAGE} import models")
    assert against_the_rule("suites.rebalance", f"def later():\n    from {PACKAGE}.reports import event")
    assert not against_the_rule("conformance.cli.main", upwards)
    assert not against_the_rule("conformance.engine.judge", f"from {PACKAGE}.reports.event import CONFORMS")


def test_the_import_package_is_a_link_to_each_room() -> None:
    package = ROOT / "src" / PACKAGE
    links = {path.name: path.resolve() for path in package.iterdir() if path.is_symlink()}
    assert links == {room: ROOT / room for room in ("models", "suites", "conformance", "reports")}


def test_models_do_no_input_output() -> None:
    forbidden = {"os", "sys", "socket", "subprocess", "random", "time", "secrets", "pathlib", "threading", "requests"}
    found = []
    for path in sorted(Path(ROOT / "models").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            found += [f"{path.name} imports {name}" for name in names if name.split(".")[0] in forbidden]
    assert found == []
