"""The real consumers' identity: that it is their own, that it is seen, and that it can differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from by_hand import java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.suite import Row
from rocketmq_conformance.suites.identity import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
#: 4.0.0 has a table of clients that cannot be replaced.
RELEASES = ("4.0.0-incubating", "4.1.0-incubating", "5.5.0")


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def done(stage: Stage, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer."""
    return values(stage, SUITE, *rows)


def test_ids_heartbeats_timestamps_and_files_are_those_of_the_release(stage: Stage) -> None:
    results = done(
        stage,
        row("start", 0),
        row("make_pull", 1, "G", "CLUSTERING"),
        row("start", 1),
        row("tell_id", 1),
        row("list_clients"),
        row("later"),
        row("read_timestamp", 0),
        row("save", 0, 7),
    )
    name = "ADDRESS@PID" if stage.profile.client.major == 4 else "ADDRESS@PID#N@STREAM"
    assert results[3:5] == [name, (("ADDRESS@DEFAULT", ("G",)), (name, ("G",)))]
    assert results[6:] == [2400, "HOME/.rocketmq_offsets/ADDRESS@DEFAULT/G/offsets.json"]


def test_a_consumer_that_was_started_has_no_threads_of_a_client(stage: Stage) -> None:
    names = ("Rebalance", "PullMessage")
    done(stage, row("start", 0))
    threads = thread_names()
    assert not [thread for thread in threads if thread.startswith(names)], threads


def thread_names() -> list[str]:
    """The names of all threads of the Java machine."""
    import jpype

    return [str(thread.getName()) for thread in jpype.JClass("java.lang.Thread").getAllStackTraces().keySet()]


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 6, 40) == [CONFORMS] * 6
    other = "5.5.0" if stage.profile.client.major == 4 else "4.8.0"
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client=other), 6, 40)
