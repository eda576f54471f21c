"""Counts in the README, and of the rules that programs show, are those of the project, which REWRITE_GOLDEN writes; all
other figures of the README are those of docs/reference/measured.md."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

import pytest
from places import ROOT

from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.engine.rule_list import listed_rules
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.targets.client_program.required_consumers import REQUIRED_CONSUMERS
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rule import Level
from rocketmq_conformance.models.rulebook import RULES
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.reach import shows

ROWS = [row for row in KeptRows(ROOT / "docs" / "proof").rows() if row.cases and not row.differences]

#: The rule that shows in programs alone that say they have strategies, and one that comes too late to show.
STRATEGY, TOO_LATE = {"ALLOC-CIRC-1"}, {"REB-SUB-BEAT"}


def releases(*sides: str) -> int:
    return len({str(Release.parse(row.release)) for row in ROWS if row.side in sides})


def counts_of_the_project() -> Iterator[tuple[str, object]]:
    """What stands before and behind each count of the README, as a pattern, and the count."""
    noticed = f"{sum(not mutant.equivalent for mutant in MUTANTS.values()):,}"
    yield r"(?<=confirmed by the classes of )\d+(?= Java clients)", releases("pure", "client")
    yield r"(?<=and by brokers of )\d+(?= releases)", releases("broker")
    yield (
        r"(?<=\| rules confirmed by real RocketMQ \| )\d+ of \d+",
        f"{len({row.rule for row in ROWS})} of {len(RULES)}",
    )
    yield r"(?<=\| mutants noticed, of those that a test can notice \| )[\d,]+ of [\d,]*\d", f"{noticed} of {noticed}"


def shown_with(command: str, *suites: str) -> set[str]:
    """The rules that the traffic of a program shows in suites, or any, that need a command, or none ("")."""
    names = suites or tuple(SUITES)
    chosen = [name for name, (_, needs) in REQUIRED_CONSUMERS.items() if needs == command and name in names]
    found = {rule for name in chosen for rule, why in shows(SUITES[name], Profile()).items() if not why}
    return {rule for rule in found - TOO_LATE if RULES[rule].level is not Level.QUIRK}


def counts_of_programs() -> Iterator[tuple[str, object]]:
    """The same of docs/reference/client.md."""
    pushes = shown_with(
        "", "whole-push", "whole-answers", "whole-brokers", "whole-topologies", "whole-slaves", "whole-allocation"
    )
    answers = {"WHOLE-ANS-TWICE", "WHOLE-ANS-LATE"} & pushes
    messages = {rule for rule in shown_with("", "whole-messages") if rule.startswith("WHOLE-MSG-")}
    read = {"WHOLE-MSG-READ", "WHOLE-MSG-TYPE"} & messages
    plain = shown_with("")
    yield r"(?<=`whole-allocation` with AVG: )\d+(?= rules)", len(pushes - answers - STRATEGY)
    yield r"(?<=in `whole-answers` )\d+(?= rules more)", len(answers)
    yield r"(?<=in `whole-messages` )\d+(?= rules more)", len(messages - read)
    yield r"(?<=bodies and keys another )\d+", len(read)
    yield r"(?<=up to )\d+(?= rules more)", len(shown_with("listen") - plain)
    yield r"(?<=the other cases of `whole-allocation`, )\d+", len(STRATEGY & plain)
    yield r"(?<=`whole-load`: )\d+(?= rules more)", len(shown_with("hold") - plain)
    for command in ("pause", "subscribe", "commit", "also", "assign"):
        suite = {"subscribe": "subscriptions", "also": "clusters"}.get(command, command)
        yield rf"(?<=`whole-{suite}`, )\d+", len(shown_with(command) - plain)
    yield r"(?<=with `got` lines )\d+(?= rules more)", len(plain - pushes - messages)


def counts_of_traffic() -> Iterator[tuple[str, object]]:
    """The same of docs/explanation/client-judging.md."""
    suites = [suite for suite in SUITES.values() if suite.side is Side.WHOLE]
    hello = Hello("a program", "1", sides=(Side.WHOLE.value,))
    listed = list(listed_rules(suites, hello, Profile(), {}, quirks=False))
    plain = shown_with("")
    yield r"(?<=Of the )\d+(?= that are listed)", len(listed)
    yield r"(?<=the traffic shows )\d+(?= of a program)", len(plain)
    yield r"\d+(?= more show with a listener)", len(shown_with("listen") - plain)
    yield r"\d+(?= with one that also takes `hold`)", len(shown_with("hold") - plain - shown_with("listen"))
    for command in ("pause", "subscribe", "commit", "also", "assign"):
        form = rf"\d+(?= with (?:a program|one)\s+that\s+takes `{command}`)"
        yield form, len(shown_with(command) - plain)
    stepped = sum("in single steps" in one.unseen for one in listed)
    nowhere = sum("no suite reaches it" in one.unseen for one in listed)
    yield r"\d+(?= are judged in single steps alone)", stepped
    others = [one for one in listed if one.unseen and RULES[one.id].level is not Level.QUIRK]
    yield r"\d+(?= belong to other releases)", len(others) - stepped - nowhere
    yield r"\d+(?= is reached by no suite)", nowhere


COUNTED = {
    "README.md": counts_of_the_project,
    "docs/reference/client.md": counts_of_programs,
    "docs/explanation/client-judging.md": counts_of_traffic,
}


def counted(text: str, counts: Iterable[tuple[str, object]]) -> str:
    """The text with these counts, each of which it has once."""
    for pattern, count in counts:
        text, times = re.subn(pattern, str(count), text)
        assert times == 1, pattern
    return text


@pytest.mark.parametrize("name", COUNTED)
def test_counts_in_pages_are_those_of_the_project(name: str) -> None:
    file = ROOT / name
    text = file.read_text("utf-8")
    new = counted(text, COUNTED[name]())
    if os.environ.get("REWRITE_GOLDEN"):
        file.write_text(new, "utf-8")
    else:
        assert text == new


def figures(text: str) -> set[str]:
    return {*re.findall(r"\d(?:[\d,.]*\d)?", text)}


def test_figures_in_the_readme_are_measured_ones() -> None:
    _, _, text = (ROOT / "README.md").read_text("utf-8").partition("\n## Measured\n")
    cells = [line.split(" | ")[1] for line in text.splitlines() if line.startswith("| ")][1:]
    written = figures(str([cell for cell in cells if re.fullmatch(r"[\d,]+ of [\d,]+", cell)]))
    measured = figures((ROOT / "docs" / "reference" / "measured.md").read_text("utf-8"))
    assert figures(" ".join(cells)) - measured - written == set()
