"""The versions of everything that a release fixes, as the code has them: ``list versions``."""

from __future__ import annotations

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.campaign.tables import version as tables
from rocketmq_conformance.conformance.engine import plan, rulebook_versions
from rocketmq_conformance.conformance.targets.exec_client import lines
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.release import KNOWN, PUBLISHED
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.markdown_table import markdown_table

_INTRODUCTION = """# Versions

What this release of the kit fixes, where a file or a run says it, and what a later release may change.
`rocketmq-conformance list versions` makes this page from the code.
"""


def page() -> str:
    """The page, as Markdown that ends with a line break."""
    rows = [
        (
            *("the kit", __version__, "`rocketmq-conformance --version`"),
            "While it is 0.x a minor release may rename public names, and the changelog says so. From 1.0 on only a "
            "major one may.",
        ),
        (
            *("rules", f"{len(rulebook.RULES)}, with the digest `{rulebook.digest()}`", "the header of runs and plans"),
            "Any release may add rules, or correct one that the real thing contradicts. An id is never given to "
            "another rule.",
        ),
        (
            *("rule books", ", ".join(rulebook_versions.versions()), "`--rulebook VERSION`"),
            "Each release adds its own. Those of earlier releases never change.",
        ),
        (
            *("RocketMQ", f"{PUBLISHED[0]} to {KNOWN}", "`--like RELEASE`"),
            "Newer releases are judged as the newest one that is known, which is said.",
        ),
        (
            *("plans", str(plan.FORMAT), "`plan` in the first line of a plan"),
            "A kit reads the plans of every release before it. What it cannot read it names.",
        ),
        (
            *("events", str(event.FORMAT), "`format` in the first line of `events.jsonl`"),
            "Fields may be added within a version. A kit reads the events of every release before it.",
        ),
        (
            *("tables of campaigns", str(tables.VERSION), "`version` in `campaign.json` and in `runs`"),
            "Columns may be added within a version. A campaign is resumed only by the rules that began it.",
        ),
        (
            *("`exec:` programs and adapters", str(lines.PROTOCOL), "`protocol` in `hello`"),
            "An adapter of an older protocol is refused with one sentence, not misread.",
        ),
        (
            *("seeds", "–", "the header of a run"),
            "The plan of a seed is the same on every machine and Python. A release that changes the plans of a suite "
            "says so in the changelog.",
        ),
        (
            *("fingerprints", "–", "the name of a plan"),
            "They outlive a change of the seed, the steps and the plan. A release that makes them otherwise says so.",
        ),
    ]
    return (
        "\n".join([_INTRODUCTION, *markdown_table(("what", "version", "where it stands", "what may change"), rows)])
        + "\n"
    )
