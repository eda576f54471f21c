"""The page of what was proven, made from the rows of the proofs (docs/proof): ``prove page``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rule import Level, Rule
from rocketmq_conformance.reports.markdown_table import markdown_table
from rocketmq_conformance.reports.proof import PAIR, ProofRow, ProvenRule, pairs, pairs_confirmed, render


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Releases of the client or the broker that no proof covers, and why (a sentence)."""

    side: str
    releases: tuple[str, ...]
    reason: str


UNJUDGED = (
    Unjudged(
        "client",
        ("5.3.4",),
        "Maven Central has a few modules of 5.3.4, but neither its client nor the parent that they name.",
    ),
    Unjudged(
        "broker",
        ("5.3.4",),
        "Maven Central has its broker, but not rocketmq-remoting 5.3.4, which the broker needs to start.",
    ),
    Unjudged(
        "broker",
        ("4.9.6", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.1.2"),
        "Maven Central has clients of these releases, but no broker.",
    ),
)

_INTRODUCTION = """# Rules and releases

`rocketmq-conformance explain RULE` prints what a rule requires and its source. A case counts for every rule that
made its answer. docs/explanation/proof.md says how rules are proven.
"""

#: Rules that no proof covers yet, and the evidence for them (a sentence each).
UNASKED = {
    "WIRE-JSON-1": "Real Java clients read the routes of the fake name server in "
    "`tests/conformance/fakes/test_broker_java.py`, but no name server was compared with it.",
}

_PAIRS = """
## Pairs

A real client of each release on a real broker of each release, over TCP, through the decision tables of what both
decide together: commit and read back, where a consumer starts, max, min and search by time. A cell has differences and
cases; a case counts for every rule that made its answer.

"""

_UNASKED = """
## Rules that no proof asks about

A rule of level UNDEFINED promises nothing, so nothing can be confirmed. The others without rows:

"""


def unjudged(side: str) -> frozenset[str]:
    """The releases of a side that cannot be judged."""
    return frozenset(release for group in UNJUDGED if group.side == side for release in group.releases)


_UNJUDGED = """
## Releases that cannot be judged

A proof says so by itself when it cannot get a release. Of releases from 4.0.0 to 5.5.0 these could not be asked:

"""


def proof_page(rules: Iterable[Rule], rows: Iterable[ProofRow], unjudged: Iterable[Unjudged] = UNJUDGED) -> str:
    """The page, as Markdown that ends with a line break; ValueError when a row's rule is not among ``rules``."""
    proven = [ProvenRule(rule.id, rule.level.value, rule.origin.value) for rule in rules]
    found = [replace(row, release=_plain(row.release)) for row in rows]
    asked = {row.rule for row in found if row.cases and row.side != PAIR}
    table = render(proven, found)
    unasked = [rule.id for rule in proven if rule.id not in asked and rule.level != Level.UNDEFINED.value]
    whys = ((rule, UNASKED.get(rule, "Only its source.")) for rule in unasked)
    groups = ((group.side, ", ".join(group.releases), group.reason) for group in unjudged)
    together = pairs(found)
    parts = [
        _INTRODUCTION,
        "\n",
        table,
        _PAIRS * bool(together),
        together,
        "\n" * bool(together),
        pairs_confirmed(found),
        _UNASKED + "\n".join(markdown_table(("rule", "what speaks for it"), whys)) + "\n" if unasked else "",
        _UNJUDGED,
        "\n".join(markdown_table(("side", "releases", "reason"), groups)),
        "\n",
    ]
    return "".join(parts)


def _plain(release: str) -> str:
    """The release as the profile names it: 4.0.0-incubating is 4.0.0."""
    return str(Release.parse(release))


def page_of(kept: KeptRows) -> str:
    """The page of rows that proofs wrote; OSError or ValueError with one sentence when a file cannot be used."""
    return proof_page(rulebook.RULES.values(), kept.rows())
