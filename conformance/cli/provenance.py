"""The command ``provenance``: do the Java methods that rules name still say what they said when they were read?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot, finish
from rocketmq_conformance.conformance.cli.output import say

if TYPE_CHECKING:
    from rocketmq_conformance.models.release import Release


@click.command()
@click.argument("releases", nargs=-1, metavar="[RELEASE…]")
@click.option("--against", metavar="RELEASE", help="Compare with this reviewed release, not with the nearest one.")
@click.option("--diff/--no-diff", "shows", default=True, help="Print the diff of what differs.", show_default=True)
def provenance(releases: tuple[str, ...], against: str | None, shows: bool) -> None:
    """Compare the Java methods that rules name with those of the releases that were reviewed.

    RELEASES are such as 5.5.0 or 4.9.4..5.5.0; without any, all that are published. The sources come from Maven. A
    method is compared without its comments and white space. So are the methods that requests pass on their way to an
    answer, which call graphs of the sources tell. A release that was not reviewed is compared with the
    newest one before it, and the rules to be read again are listed, with the diff of their methods.

    Exit codes: 0 nothing changed, 1 something did, or a rule names what does not exist, 4 could not run.
    """
    from rocketmq_conformance.conformance.adapter import CannotRunError
    from rocketmq_conformance.conformance.provenance import page
    from rocketmq_conformance.conformance.provenance.history import read_history
    from rocketmq_conformance.conformance.provenance.published import published_sources
    from rocketmq_conformance.conformance.provenance.review import mistakes, prose, review, unpublished
    from rocketmq_conformance.conformance.startup import phase, starting
    from rocketmq_conformance.models.rulebook import RULES
    from rocketmq_conformance.reports.start_display import StartDisplay

    history, rules = read_history(), tuple(RULES.values())
    chosen = _chosen(releases, "RELEASE") or history.releases
    (before,) = _chosen((against,), "--against") if against else (None,)
    if before is not None and before not in history.releases:
        raise click.UsageError(f"--against: {before} was not reviewed; {history.releases[-1]} is the newest that was.")
    differ = False
    for release in chosen:
        try:
            with StartDisplay(sys.stderr) as display, starting(None, display):
                new = published_sources(release)
                with phase(f"comparing the sources of {release}"):
                    made = review(release, new, history, before or history.nearest(release), rules)
                old = published_sources(made.before) if made.findings and shows and made.before != release else None
        except CannotRunError as error:
            raise CouldNot(str(error)) from error
        differ = differ or bool(made.findings)
        say(page.headline(made))
        for line in page.findings(made, old, new):
            say(line)
    wrong = list(mistakes(rules, history))
    for line in page.mistaken(wrong):
        say(line)
    for rule, citation in unpublished(rules, history):
        at = ", ".join(map(str, citation.releases))
        say(f"not published, not compared: {citation.named} @ {at} ({rule})")
    for rule, words in prose(rules):
        say(f"not of RocketMQ, not compared: {words} ({rule})")
    finish(1 if differ or wrong else 0)


def _chosen(texts: tuple[str, ...], name: str) -> tuple[Release, ...]:
    """The releases that arguments name, each once; a single one need not be published yet."""
    from rocketmq_conformance.conformance.predict.releases import range_of
    from rocketmq_conformance.models.release import Release

    found: list[Release] = []
    for text in texts:
        try:
            found += range_of(text) if ".." in text else [Release.parse(text)]
        except ValueError as error:
            raise click.UsageError(f"{name}: {error}") from error
    return tuple(dict.fromkeys(found))
