"""What is not referred to by name in the source: every such place has a reason, and a new one needs one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import rocketmq_conformance

PACKAGE = Path(rocketmq_conformance.__file__).parent
ROOMS = ("models", "suites", "conformance", "reports")
JAVA = "a class of Java, whose attributes no type checker knows"
TABLES = "the tables of a broker are fields of a tuple, and all damaged, read and written alike"

#: Functions that take an attribute by a computed name, or import a module by one, and why.
REASONS = {
    "__init__.py::__getattr__": "a public name is imported when it is used first",
    "models/rulebook.py::_collect": "the rules of every model, with no list of models",
    "models/new_group_start.py::deciding_switches": "every switch of a release's rules, whatever switches there are",
    "suites/declare/discovery.py::Suites._own": "suites are found by their files",
    "suites/declare/discovery.py::Suites._modules": "the package of the suites stands above the one that finds them",
    "suites/declare/hypothesis_machine.py::walk": "the same rules, by the operations of a plan",
    "conformance/campaign/analysis/on_spark.py::": "Py4J has no types",
    "conformance/campaign/spark/session.py::_start": "py4j comes with an extra, and has no types",
    "conformance/campaign/tables/folder.py::resume": "every field of a campaign is compared with what is asked for now",
    "conformance/cli/lazy_group.py::LazyGroup.get_command": "a command is imported when it is used",
    "conformance/engine/enumeration.py::_plain": "every field of a state counts, whatever fields it has",
    "conformance/proof/fake_broker.py::Conversation.hold": "a table names the chapters of a story with their rules",
    "conformance/targets/opener.py::_factory": "the user names the module and the factory",
    "conformance/cli/list.py::page": "what makes a page is imported when it is asked for",
    "conformance/targets/opener.py::_python": "the methods of an adapter are named as one list",
    "conformance/targets/client_program/host.py::Host": "the user names the factory, and chooses methods",
    "conformance/targets/client_program/host.py::Host._own": "the optional methods of a consumer are named as one list",
    "conformance/targets/discovery.py::module_of": "what plays a suite is found by the suite's name",
    "conformance/targets/discovery.py::suite_modules": "mutants are found by listing their package",
    "conformance/targets/java_client/assembly.py::started": JAVA,
    "conformance/targets/java_client/defaults.py::JavaDefaults._setting": JAVA,
    "conformance/targets/java_client/consume.py::JavaConsume.consumeMessage": JAVA,
    "conformance/targets/java_client/consume_orderly.py::JavaConsumeOrderly.consumeMessage": JAVA,
    "conformance/targets/java_client/consumer.py::JavaConsumer.__init__": JAVA,
    "conformance/targets/java_client/consumer_making.py::CalledMaking.assembled": JAVA,
    "conformance/targets/java_client/consumer_making.py::CalledMaking.consumer": JAVA,
    "conformance/targets/java_client/consumption.py::JavaConsumption.start": JAVA,
    "conformance/targets/java_client/identity.py::JavaIdentity._made": JAVA,
    "conformance/targets/java_client/local_store.py::JavaLocalStore.__init__": JAVA,
    "conformance/targets/java_client/rows.py::_call": JAVA,
    "conformance/targets/java_client/rows.py::set_each": JAVA,
    "conformance/targets/java_client/start.py::JavaStart.step": JAVA,
    "conformance/targets/java_client/timers.py::JavaTimers._made": JAVA,
    "conformance/targets/java_client/transport.py::RemotingCalls._proxy": JAVA,
    "conformance/targets/java_client/whole.py::WholeConsumer._made": JAVA,
    "conformance/targets/broker/mutants/broker_tables.py::TablesBackupStays.write": TABLES,
    "models/broker/table_files.py::damaged": TABLES,
    "models/broker/table_files.py::load": TABLES,
    "models/broker/table_files.py::written": TABLES,
    "conformance/targets/address_kinds.py::_Written.options": "every option of an address is written, whatever it has",
    "conformance/predict/facts.py::_parsed": "each field of facts is checked by its type",
    "reports/event.py::_values": "every field of an event is written, whatever fields it has",
}


def computed(tree: ast.AST, where: str = "") -> Iterator[str]:
    """The functions, by their qualified names, with a computed reference: once for each reference."""
    for node in ast.iter_child_nodes(tree):
        inside = where
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            inside = f"{where}.{node.name}" if where else node.name
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            by_name = node.func.id in ("getattr", "setattr") and not isinstance(node.args[1], ast.Constant)
            if by_name or node.func.id in ("import_module", "__import__"):
                yield where
        yield from computed(node, inside)


@cache
def found() -> set[str]:
    paths = [path for room in ROOMS for path in PACKAGE.joinpath(room).rglob("*.py")]
    return {
        f"{path.relative_to(PACKAGE).as_posix()}::{function}"
        for path in [*paths, *PACKAGE.glob("*.py")]
        for function in computed(ast.parse(path.read_text("utf-8")))
    }


def test_every_reference_by_a_computed_name_has_a_reason() -> None:
    assert sorted(found() - set(REASONS)) == []


def test_no_reason_is_left_of_a_reference_that_is_gone() -> None:
    assert sorted(set(REASONS) - found()) == []


def test_the_check_sees_a_computed_name() -> None:
    source = "class A:\n  def b(self, c):\n    getattr(self, 'd')\n    return [getattr(self, c), import_module('e')]\n"
    assert list(computed(ast.parse(source))) == ["A.b", "A.b"]
