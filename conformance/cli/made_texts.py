"""What ``list`` and ``explain`` show, as made files: much faster to read than all suites are to import.

``rocketmq-conformance regenerate`` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from rocketmq_conformance.suites.declare.entry_points import packages_may_bring_suites

FOLDER = Path(__file__).with_name("made")
SUITES, RULES, OPERATIONS = "suites.txt", "rules.txt", "operations.txt"
SCHEMA, EXPLANATIONS = "operations.schema.json", "explanations.json"


def made_text(name: str) -> str | None:
    """The text of a made file; None when installed packages may bring suites that it does not know."""
    return None if packages_may_bring_suites() else (FOLDER / name).read_text("utf-8")


def made_explanation(rule_id: str) -> str | None:
    """What ``explain`` shows of a rule by the newest releases; None when that is not known here."""
    text = made_text(EXPLANATIONS)
    explanations: Mapping[str, str] = json.loads(text) if text else {}
    return explanations.get(rule_id.upper())


def texts() -> dict[str, str]:
    """The texts of all made files, by name."""
    from rocketmq_conformance.conformance.cli.explain import explanation
    from rocketmq_conformance.conformance.cli.list import operations, rules, schema, suites
    from rocketmq_conformance.models import rulebook
    from rocketmq_conformance.models.profile import Profile

    explanations = {rule.id: explanation(rule, Profile()) for rule in rulebook.RULES.values()}
    return {
        SUITES: suites(),
        RULES: rules(),
        OPERATIONS: operations(),
        SCHEMA: schema(),
        EXPLANATIONS: json.dumps(explanations, indent=1) + "\n",
    }
