"""The page of the operations is what the declarations make."""

from __future__ import annotations

from every import every
from places import ROOT

from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operations_docs import page
from rocketmq_conformance.suites.declare.suite import Suite

COMMITTED = ROOT / "docs" / "operations.md"


def test_the_page_in_docs_is_up_to_date() -> None:
    assert COMMITTED.read_text("utf-8") == page(SUITES.values()), "make it anew: rocketmq-conformance regenerate"


@every("suite", SUITES.values())
def test_a_suite_is_documented_with_its_rules_operations_and_arguments(suite: Suite) -> None:
    said = page([suite])
    assert f"\n## {suite.name}\n" in said
    assert suite.sentence in said
    for rule in suite.rules:
        assert f"`{rule}`" in said
    for op in suite.operations:
        _, found, told = said.partition(f"\n### {op.spec.name}\n")
        assert found
        told = told.partition("\n### ")[0]
        assert op.spec.sentence in told
        assert f"Side {op.spec.side.value}, weight {op.spec.weight}." in told
        for name, _ in op.spec.domains:
            assert f"\n| {name} | " in told


def test_values_are_documented_with_their_weights() -> None:
    said = page([SUITES["remote-store"]])
    assert '| fault | `"answer"` ×6, `"SYSTEM_BUSY"`, `"TOPIC_NOT_EXIST"`, `"silent"` |' in said
    assert "| queues | set of `0`, `1`, `2`, `3` |" in said
    assert "| increase_only | `false`, `true` |" in said
