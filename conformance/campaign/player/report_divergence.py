"""Reports a divergence of a campaign: plays its case again from the seed, shrinks it, stores the minimal plan."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from rocketmq_conformance.conformance.campaign.player.implementation import Implementation
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.divergence import divergence_event, listen, plan_file
from rocketmq_conformance.conformance.engine.first_difference import play_and_compare
from rocketmq_conformance.conformance.engine.judge import Judged, fingerprint_of
from rocketmq_conformance.conformance.engine.player import BROKEN, Player
from rocketmq_conformance.conformance.engine.shrink import Shrunk, shrink
from rocketmq_conformance.conformance.engine.transcript import Message
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.suites.declare.suite import Row, Suite


def report_divergence(
    one: Implementation,
    other: Implementation | None,
    spec: CampaignSpec,
    suite: Suite,
    case: int,
    rows: Sequence[Row],
    folder: Path,
    named: bool,
) -> str:
    """The event (JSON) of a divergence of ``one`` from the model, or from another implementation; "" when it is gone.

    The minimal plan is written into ``folder``; it is ``named`` after both where there are several. AdapterError and
    CannotRunError when the case cannot be played.
    """
    judge = one.judge(suite)
    player = Player(one.stage, judge)
    second = Player(other.stage, other.judge(suite)) if other else None

    def execute(rows: Sequence[Row]) -> Judged:
        if second:
            return play_and_compare(player, second, rows, case)
        return player.execute(rows, case)

    failing = execute(rows)
    if failing.verdict != DIVERGES:
        return ""
    shrunk = Shrunk(failing, 0)
    messages: list[list[Message]] = []
    try:
        shrunk = shrink(judge, execute, failing)
        if other is None:
            shrunk, messages = listen(one.stage, judge, shrunk, case)
    except BROKEN:
        pass  # the event has what is known so far
    fingerprint = fingerprint_of(suite, shrunk.judged.steps[-1])
    file = plan_file(folder, suite, f"{fingerprint}-{_tag(one, other)}" if named else fingerprint)
    file.parent.mkdir(parents=True, exist_ok=True)
    hidden = file.with_name(f".{file.name}.{os.getpid()}")  # another process may write the same kind
    plan.write(hidden, suite, one.profile, spec.seed, [(case, shrunk.judged.rows)])
    hidden.replace(file)
    command = ["replay", str(file), one.address, *spec.judged_as]
    if other:  # judged as the other one, it diverges from the model too
        releases = zip(("client", "broker", "java"), _releases(one), _releases(other), strict=True)
        command += [word for side, a, b in releases if a != b for word in ("--with", f"{side}={b}")]
    found = len(failing.steps)
    return json.dumps(
        divergence_event(suite, case, fingerprint, shrunk, found, str(file), command, messages=messages).json()
    )


def _releases(one: Implementation) -> tuple[str, str, str]:
    return str(one.profile.client), str(one.profile.broker), str(one.profile.java)


def _tag(one: Implementation, other: Implementation | None) -> str:
    """Which implementations a plan parts, when there are several."""
    return f"{one.position}" + (f"-{other.position}" if other else "")
