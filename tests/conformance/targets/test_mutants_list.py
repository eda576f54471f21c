"""The list that ``list mutants`` shows is what the mutants themselves say."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets import mutants_list
from rocketmq_conformance.conformance.targets.mutants import MUTANTS


def test_the_list_is_up_to_date() -> None:
    assert mutants_list.FILE.read_text("utf-8") == mutants_list.text(MUTANTS.values()), (
        "make it anew: rocketmq-conformance regenerate"
    )


def test_an_equivalent_mutant_says_why() -> None:
    alike = next(mutant for mutant in MUTANTS.values() if mutant.equivalent)
    assert mutants_list.text([alike]).endswith(f"{alike.sentence}  (equivalent: {alike.equivalent})\n")
