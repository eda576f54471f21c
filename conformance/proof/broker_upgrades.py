"""Upgrades: real brokers of two releases take turns on one store, and the model says what each makes of it.

A release is upgraded to from its predecessor, and upgraded itself to the newest one; each is taken back, too. Where it
has light message queues (enableLmq), they are switched on by an upgrade, and off when it is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from rocketmq_conformance.conformance.proof.broker_suites import prove_suite
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.proof.proof_docs import unjudged
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.models.broker.configuration import LIGHT
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import NEWEST, PUBLISHED, Release
from rocketmq_conformance.reports.proof import ProofRow
from rocketmq_conformance.suites import broker_upgrade

RULE, LIGHT_RULE = "RUN-UPGRADE-1", "BQ-COM-LMQ"
#: Steps of each pair's case: some four changes, and some two where light message queues are switched on.
STEPS, LIGHT_STEPS = 120, 60
#: Plays a suite on a broker and counts.


def prove(side: str, release: str, *, brief: bool = False) -> ProofRow:
    """The row of a release; every difference of its brokers is one of the rule, whichever rule's answer it is.

    A ``brief`` proof has one pair.
    """
    chosen = list(pairs(Release.parse(release)))[-1 if brief else 0 :]
    return _row(RULE, side, release, [_played(side, newer, older, STEPS) for newer, older in chosen])


def prove_light(side: str, release: str) -> ProofRow:
    """The row of a release on which light message queues are switched on and off again, by an upgrade and back."""
    newer = Release.parse(release)
    older = next(pairs(newer))[1]
    played = _played(side, newer, older, LIGHT_STEPS, {LIGHT: "true"})
    return _row(LIGHT_RULE, side, release, [played])


def pairs(release: Release) -> Iterator[tuple[Release, Release]]:
    """The newer and the older releases that take turns: the release beside its predecessor that has a broker, and the
    newest one beside it."""
    without = unjudged("broker")
    older = [one for one in PUBLISHED if one < release and str(one) not in without]
    if older:
        yield release, older[-1]
    if release < NEWEST:
        yield NEWEST, release


def _row(rule: str, side: str, release: str, counted: Sequence[Tally]) -> ProofRow:
    examples = [example for one in counted for example in one.examples]
    cases, differences = sum(one.cases for one in counted), sum(one.differences for one in counted)
    return ProofRow(rule, side, release, cases, differences, *examples[:1])


def _played(
    side: str,
    newer: Release,
    older: Release,
    steps: int,
    properties: Mapping[str, str] = MappingProxyType({}),
) -> Tally:
    adapter = BrokerAdapter(StartedBroker(newer, upgraded_from=older, properties=properties))
    try:
        hello = adapter.hello()
        profile = Profile.of(broker=str(newer), java=hello.java or 17).configured(properties)
        profile = replace(profile, upgraded_from=older)
        counted = Tally(side, f"{newer} upgraded from {older}")
        prove_suite(adapter, profile, counted, broker_upgrade.SUITE, 1, steps)
        return counted
    finally:
        adapter.close()
