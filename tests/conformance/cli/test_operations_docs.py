"""The page of the operations is what the declarations make."""

from __future__ import annotations

from every import every

from rocketmq_conformance.conformance.cli.operations_docs import page
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Suite


@every("suite", SUITES.values())
def test_a_suite_is_documented_with_its_rules_operations_and_arguments(suite: Suite) -> None:
    text = page([suite])
    assert f"\n## {suite.name}\n" in text
    assert suite.sentence in text
    for rule in suite.rules:
        assert f"`{rule}`" in text
    for op in suite.operations:
        _, found, section = text.partition(f"\n### {op.spec.name}\n")
        assert found
        section = section.partition("\n### ")[0]
        assert op.spec.sentence in section
        assert f"Side {op.spec.side.value}, weight {op.spec.weight}." in section
        for name, _ in op.spec.domains:
            assert f"\n| {name} | " in section


def test_values_are_documented_with_their_weights() -> None:
    text = page([SUITES["remote-store"]])
    assert '| fault | `"answer"` ×6, `"SYSTEM_BUSY"`, `"TOPIC_NOT_EXIST"`, `"silent"` |' in text
    assert "| queues | set of `0`, `1`, `2`, `3` |" in text
    assert "| increase_only | `false`, `true` |" in text
