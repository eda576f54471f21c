"""The command ``explain``: one rule of the rule book and the suites that reach it, or a suite and its rules."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocketmq_conformance.conformance.cache import kept_text
from rocketmq_conformance.conformance.cli.options import like_option, overrides, releases_option, rule_named
from rocketmq_conformance.conformance.cli.output import say, say_text
from rocketmq_conformance.conformance.proof.beliefs import beliefs_of
from rocketmq_conformance.reports.text import in_columns
from rocketmq_conformance.suites.declare.entry_points import packages_may_bring_suites

if TYPE_CHECKING:
    from rocketmq_conformance.models.profile import Profile
    from rocketmq_conformance.models.rule import Rule
    from rocketmq_conformance.suites.declare.suite import Suite

#: Where runs are kept by default.
DEFAULT_FOLDER = Path("conformance-out")
_QUIRK = "an accident of Java, judged where Java itself is, and elsewhere with --quirks"
_FINGERPRINT = re.compile(r"[0-9a-fA-F]{8}")


@click.command()
@click.argument("rule_id", metavar="RULE|SUITE|FINGERPRINT")
@releases_option
@like_option
@click.option(
    "--in",
    "folder",
    type=click.Path(path_type=Path),
    default=DEFAULT_FOLDER,
    show_default=True,
    help="Where the run of a fingerprint is looked for: its folder, or one that holds folders of runs.",
)
def explain(rule_id: str, releases: dict[str, str], like: str | None, folder: Path) -> None:
    """Show what RULE requires, of which releases, where it comes from, and which suites reach it.

    Of a SUITE: what it tries, and the rules that it can reach. Of a FINGERPRINT: the divergence in full, as the newest
    run in the folder found it.
    """
    if _FINGERPRINT.fullmatch(rule_id):
        say_text(_divergence_text(rule_id.lower(), folder) + "\n")
        return
    chosen = overrides(releases, like)
    kept = None if chosen or packages_may_bring_suites() else _kept().get(rule_id.upper())
    if kept:
        say_text(kept + _believed(rule_id))
        return
    from rocketmq_conformance.conformance.engine.handshake import newer_releases
    from rocketmq_conformance.models.profile import Profile
    from rocketmq_conformance.suites.declare.discovery import SUITES

    newest = Profile()
    profile = Profile.of(
        chosen.get("client", str(newest.client)),
        chosen.get("broker", str(newest.broker)),
        int(chosen.get("java", newest.java)),
    )
    for newer in newer_releases(profile, "explained by"):
        say(newer)
    suite = SUITES.get(rule_id.lower())
    if suite:
        say_text(suite_explanation(suite, profile))
    else:
        say_text(explanation(rule_named(rule_id), profile) + _believed(rule_id))


def _believed(rule_id: str) -> str:
    """What is easily believed of a rule, and what the real thing does."""
    return "".join(f"  believed  {one.believed}\n  but       {one.found}\n" for one in beliefs_of(rule_id.upper()))


def _kept() -> Mapping[str, str]:
    """What is shown of each rule by the newest releases."""
    explanations: Mapping[str, str] = json.loads(kept_text("explanations", _explanations))
    return explanations


def _explanations() -> str:
    from rocketmq_conformance.models import rulebook
    from rocketmq_conformance.models.profile import Profile

    return json.dumps({rule.id: explanation(rule, Profile()) for rule in rulebook.RULES.values()})


def _divergence_text(fingerprint: str, folder: Path) -> str:
    """The full block of a divergence, from the newest events that hold it."""
    from rocketmq_conformance.reports import jsonl
    from rocketmq_conformance.reports.divergence_block import plain_text
    from rocketmq_conformance.reports.event import DivergenceFound

    files = [file for file in (folder / jsonl.NAME, *folder.glob(f"*/{jsonl.NAME}")) if file.is_file()]
    for file in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True):
        try:
            for event in jsonl.stream(file):
                if isinstance(event, DivergenceFound) and event.fingerprint == fingerprint and event.steps:
                    return plain_text(event, shutil.get_terminal_size().columns, f"case {event.case} of {file.parent}")
        except ValueError:
            continue  # damaged, or of something else than a run
    raise click.UsageError(
        f"No run in {folder} has a divergence {fingerprint}: "
        "name the folder of the run with --in, or give the id of a rule."
    )


def explanation(rule: Rule, profile: Profile) -> str:
    """What a rule requires, where it comes from, and which suites reach it by a profile."""
    lines = [
        f"{rule.id}  ({rule.level.value}, {rule.origin.value})",
        f"  {rule.sentence}",
        f"  releases  {rule.releases}",
        *([f"  needs     {rule.needs}"] if rule.needs else []),
        *([f"  quirk     where {rule.quirk}: {_QUIRK}"] if rule.quirk else []),
        f"  source    {rule.source}",
        *_suites(rule, profile),
    ]
    return "".join(f"{line}\n" for line in lines)


def suite_explanation(suite: Suite, profile: Profile) -> str:
    """What a suite tries, and every rule that it reaches by a profile; the others with the releases that have them."""
    from rocketmq_conformance.models import rulebook
    from rocketmq_conformance.suites.declare.reach import reach, where

    reasons = reach(suite, profile)
    lines = [f"{suite.name}  ({suite.side.value})", f"  {suite.sentence}"]
    for rule in (rulebook.RULES[name] for name in suite.rules):
        note = f"  (only {where(suite, rule)})" if reasons[rule.id] else ""
        lines += ["", f"{rule.id}  {rule.level.value}{note}", f"  {rule.sentence}"]
    return "".join(f"{line}\n" for line in lines)


def _suites(rule: Rule, profile: Profile) -> Iterator[str]:
    """The lines on the suites: where each of them reaches the rule, and which of them do so by the profile."""
    from rocketmq_conformance.suites.declare.discovery import SUITES
    from rocketmq_conformance.suites.declare.reach import reach, where

    suites = [suite for suite in SUITES.values() if rule.id in suite.rules]
    if not suites:
        yield "  suites    none: `prove` compares it with real releases"
        return
    for at, line in enumerate(in_columns([(suite.name, where(suite, rule)) for suite in suites])):
        yield f"  {'' if at else 'suites':<10}{line}"
    reasons = {suite.name: reach(suite, profile)[rule.id] for suite in suites}
    fires = [name for name, reason in reasons.items() if not reason]
    yield f"  by {profile} it can fire in {', '.join(fires) or 'no suite'}"
    for reason in dict.fromkeys(filter(None, reasons.values())):
        yield f"    not in {', '.join(name for name, why in reasons.items() if why == reason)}: {reason}"
