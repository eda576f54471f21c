"""The covering plans that come with the kit: a file per suite, which a run plays before anything else.

A file has the plans for every release. A run plays those that show something new by its profile; what they show on
other releases alone is left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from rocketmq_conformance import suites as room
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.corpus import SUFFIX, StoredCase
from rocketmq_conformance.conformance.engine.covering import SEED, Rows, chosen, found_from, searched
from rocketmq_conformance.conformance.engine.documents import json_of
from rocketmq_conformance.conformance.engine.model_tour import Tours
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.tiers import COVER
from rocketmq_conformance.reports.whole_file import write_whole
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.reach import reachable
from rocketmq_conformance.suites.declare.suite import Suite


def folder() -> Path:
    """The folder of the kit's covering plans. In the source tree the room is a link, which is followed."""
    return Path(room.__path__[0]).resolve() / "covering"


def file_of(suite: Suite) -> Path:
    """The file of a suite's covering plans; a suite of another package has none."""
    return folder() / f"{suite.name}{SUFFIX}"


@lru_cache(maxsize=64)
def stored(suite: Suite) -> Sequence[Rows]:
    """The covering plans of a suite for all releases, in their order; none for a suite of another package."""
    file = file_of(suite)
    return [tuple(rows) for rows in plan.read(file).cases.values()] if file.exists() else []


@lru_cache(maxsize=64)
def cases(suite: Suite, profile: Profile) -> Sequence[StoredCase]:
    """The covering plans of a suite that show something by this profile, each without steps that it does not have."""
    file = file_of(suite)
    plans = chosen(suite, profile, stored(suite))
    return [StoredCase(file, number, SEED, rows, COVER) for number, rows in enumerate(plans)]


def first_look(suite: Suite, profile: Profile) -> Sequence[StoredCase]:
    """Some of the covering plans, short ones first, that have every operation and every rule that can fire by this
    profile, each without steps that it does not have."""
    tours, file = Tours(suite, profile), file_of(suite)
    found: list[StoredCase] = []
    wanted: set[object] = {*suite.offered(profile), *reachable(suite, profile)}
    for number, rows in sorted(enumerate(stored(suite)), key=lambda one: len(one[1])):
        if not wanted:
            break
        seen = tours.play(rows)
        shown = {one for step in seen for one in (step.row[0], *step.behaviour[1])}
        if not wanted.isdisjoint(shown):
            wanted -= shown
            found.append(StoredCase(file, number, SEED, [step.row for step in seen], COVER))
    return found


def searched_by_name(name: str) -> list[Rows]:
    """The covering plans of a suite of the kit, searched anew; in a process of its own if need be."""
    return searched(SUITES[name])


def write(suite: Suite, plans: Sequence[Rows]) -> None:
    """Make these the covering plans of a suite; their file says what they were found from."""
    file_of(suite).parent.mkdir(exist_ok=True)
    plan.write(file_of(suite), suite, Profile(), SEED, enumerate(map(list, plans)), found_from(suite, plans))


def confirm(suite: Suite) -> None:
    """Leave the covering plans of a suite as they are, which were found again: their file says from what."""
    header, _, rest = file_of(suite).read_text("utf-8").partition("\n")
    fields = {name: value for name, value in json_of(header).items() if name != plan.DIGEST}
    fields[plan.FOUND_FROM] = found_from(suite, stored(suite))
    write_whole(file_of(suite), f"{json.dumps(fields)}\n{rest}")


def same(suite: Suite, plans: Sequence[Rows]) -> bool:
    """Are these the stored covering plans of a suite? They are not when those cannot be read."""
    try:
        return plans == stored(suite)
    except plan.PlanError:
        return False


def is_stale(name: str) -> bool:
    """Were the covering plans of a suite of the kit found from something else than the suite and its model of now, are
    there none, or can they not be read? In a process of its own if need be."""
    suite = SUITES[name]
    try:
        with file_of(suite).open(encoding="utf-8") as file:
            kept = json_of(file.readline()).get(plan.FOUND_FROM)
        return bool(kept != found_from(suite, stored(suite)))
    except (FileNotFoundError, ValueError):
        return True
