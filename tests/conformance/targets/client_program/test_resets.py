"""A reset of members that have a pull under way: what its answer would undo."""

from __future__ import annotations

import threading

import pytest
from brief_timing import BRIEF

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_orderly, whole_push
from rocketmq_conformance.suites.declare.suite import Suite


@pytest.mark.parametrize(
    ("suite", "release", "ends"),
    [
        # an orderly consumer that sleeps has the queue again before the pull is answered, and waits for its lock
        (whole_orderly.SUITE, "4.4.0", True),
        (whole_orderly.SUITE, "5.4.0", True),
        (whole_orderly.SUITE, "5.5.0", False),
        (whole_push.SUITE, "5.4.0", False),
    ],
)
def test_a_pull_that_is_held_ends_before_an_orderly_consumer_that_sleeps_is_reset(
    suite: Suite, release: str, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, pull = Profile.of(release, release), Command(int(Request.PULL_MESSAGE), {"queueOffset": "12"})
    case = GroupCase(profile)
    ended: list[Command] = []
    monkeypatch.setattr(case, "latest_pull", lambda queue: pull)
    monkeypatch.setattr(case, "end_pull", lambda queue, held: ended.append(held))
    group = PlayedGroup(*(suite, profile, [""], BRIEF, threading.Event(), lambda _: case, GivenAccess()))
    try:
        group._reset(3)
    finally:
        group.close()
    assert ended == [pull] * ends
