"""The kit's own Java changes no answer: without a compiler the same is done in Python."""

from __future__ import annotations

import pytest
from every import every

from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.event import CONFORMS
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler

pytestmark = pytest.mark.java

CASES = 40
SUITES_OF_BOTH = (
    "allocation",
    "remote-store",
    "start-push",
    "start-lite-pull",
    "start-pull",
    "rebalance",
    "rebalance-orderly",
    "rebalance-broker",
    "rebalance-plain",
    "rebalance-pull",
    "rebalance-changed",
    "rebalance-service",
)


def played(release: str, name: str) -> list[tuple[str, str, bool]]:
    """Verdict and digest of the first cases of a suite, by parts that are made anew, and whether all steps agreed at
    once."""
    profile = Profile(client=Release.parse(release))
    stage = Stage(open_address(f"java-client:{release}"), profile)
    stage.adapter.hello()
    suite = SUITES[name]
    draw = sampler(suite, profile)
    plans = [(number, draw.case(3, number, suite.steps)) for number in range(CASES)]
    try:
        return [
            (one.verdict, one.digest, one.judged is None) for one in Player(stage, Judge(suite, profile)).play(plans)
        ]
    finally:
        stage.close()


@every("release", ("4.9.8", "5.5.0"))
@pytest.mark.parametrize("name", SUITES_OF_BOTH)
def test_every_answer_is_the_same(release: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rocketmq_conformance.conformance.targets.java_client import java_source

    with_it = played(release, name)
    with monkeypatch.context() as patched:
        patched.setattr(java_source, "has_compiler", lambda: False)
        assert played(release, name) == with_it
    assert {verdict for verdict, _, _ in with_it} == {CONFORMS}


def test_all_are_compiled_by_a_jdk() -> None:
    from rocketmq_conformance.conformance.targets.java_client.java_source import compiled

    names = [
        "Allocations",
        "ConsumeLock",
        "Consumers",
        "PostponedTasks",
        "PullRequests",
        "PullTasks",
        "Rooms",
        "Rows",
        "ServiceLoop",
    ]
    names += ["Steps", "Transport"]
    assert [str(compiled(name).class_.getName()) for name in names] == names
