"""Nodes by release: where each request goes, and when the route is asked for, worked out by hand."""

from __future__ import annotations

from typing import Any

from every import every

from rocketmq_conformance.models.client.nodes import NodesState
from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.nodes import (
    SUITE,
    Bound,
    Commit,
    Heartbeat,
    Learn,
    Lock,
    Members,
    ReadStored,
    Unregister,
)

BOTH, MASTER, SLAVE, SLAVE_FIRST, NONE = (0, 1), (0,), (1,), (16, 0), ()
ASKED, AT_ONCE = True, False
RELEASES = ("4.9.2", "4.9.8", "5.5.0")


def played(release: str, known: tuple[int, ...], *steps: tuple[Any, ...], accidents: bool = True) -> list[Expected]:
    """What each step answers once these nodes were learned, and the nodes that are known at the end."""
    profile = Profile.of(client=release)
    bound = SUITE.bind(profile if accidents else profile.mended())
    state, answers = NodesState(), []
    for operation, *arguments in ((Learn, known), *steps):
        state, answer, _ = bound.handlers[operation](state, *arguments)
        answers.append(answer)
    return [*answers[1:], state.known]


@every("release", RELEASES)
@every("operation", [ReadStored, Commit, Members])
def test_the_master_is_asked_while_it_is_known_and_the_route_when_nothing_is(release: str, operation: type) -> None:
    assert played(release, BOTH, (operation, SLAVE)) == [(AT_ONCE, 0), BOTH]
    assert played(release, NONE, (operation, BOTH)) == [(ASKED, 0), BOTH]
    assert played(release, NONE, (operation, SLAVE)) == [(ASKED, 1), SLAVE]
    assert played(release, NONE, (operation, NONE)) == [(ASKED, None), NONE]


@every(
    ("release", "reads", "commits"), [("4.9.2", AT_ONCE, AT_ONCE), ("4.9.8", ASKED, ASKED), ("5.5.0", ASKED, AT_ONCE)]
)
def test_a_slave_is_asked_for_offsets_when_the_route_has_no_master(release: str, reads: bool, commits: bool) -> None:
    assert played(release, SLAVE, (ReadStored, SLAVE), (Commit, NONE)) == [(reads, 1), (commits, 1), SLAVE]
    known, node = (BOTH, 0) if reads else (SLAVE, 1)
    assert played(release, SLAVE, (ReadStored, BOTH)) == [(reads, node), known]
    known, node = (BOTH, 0) if commits else (SLAVE, 1)
    assert played(release, SLAVE, (Commit, BOTH)) == [(commits, node), known]


@every(("release", "accidents", "node"), [("4.9.2", True, 16), ("4.9.2", False, 0), ("4.9.8", True, 0)])
def test_a_slave_in_the_bucket_of_the_master_comes_first(release: str, accidents: bool, node: int) -> None:
    steps = (ReadStored, NONE), (Commit, NONE), (Members, NONE)
    answers = played(release, SLAVE_FIRST, *steps, accidents=accidents)
    assert answers[:3] == [(AT_ONCE, node), (AT_ONCE, node), (AT_ONCE, 0)]
    assert played(release, NONE, (ReadStored, SLAVE_FIRST), accidents=accidents)[0] == (ASKED, node)


@every("which", ["min", "max", "search", "earliest"])
def test_bounds_are_of_the_master(which: str) -> None:
    assert played("5.5.0", BOTH, (Bound, which, NONE)) == [(AT_ONCE, 0), BOTH]
    assert played("5.5.0", SLAVE, (Bound, which, MASTER)) == [(ASKED, 0), MASTER]
    assert played("5.5.0", SLAVE, (Bound, which, SLAVE)) == [(ASKED, None), SLAVE]


def test_locks_are_of_the_master_and_ask_for_no_route() -> None:
    assert played("5.5.0", BOTH, (Lock, NONE)) == [(AT_ONCE, 0), BOTH]
    assert played("5.5.0", SLAVE, (Lock, BOTH)) == [(AT_ONCE, None), SLAVE]


def test_members_are_asked_of_the_slave_that_is_known() -> None:
    assert played("5.5.0", SLAVE, (Members, BOTH)) == [(AT_ONCE, 1), SLAVE]


@every("operation", [Heartbeat, Unregister])
def test_every_node_gets_heartbeats_and_unregisters(operation: type) -> None:
    assert played("5.5.0", SLAVE_FIRST, (operation,), (Learn, SLAVE), (operation,)) == [(0, 16), None, (1,), SLAVE]
    assert played("5.5.0", NONE, (operation,)) == [(), NONE]


def test_a_route_replaces_what_is_known_and_none_leaves_it() -> None:
    assert played("5.5.0", BOTH, (Learn, NONE), (Learn, SLAVE)) == [None, None, SLAVE]
    assert played("5.5.0", BOTH, (Learn, NONE)) == [None, BOTH]
