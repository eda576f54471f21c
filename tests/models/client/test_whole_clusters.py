"""A process with two whole push consumers, as their traffic at two clusters shows them, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_clusters import WholeClustersModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeClustersModel(Profile(), ORDINARY)
NOBODY = (-1, -1)
BEGUN = (MODEL.choose, 1, 1, 12, LAST)
ONE = BEGUN, (MODEL.join, 0)
BOTH = *ONE, (MODEL.also,)


def seen(*steps: Any) -> tuple[Any, tuple[str, ...], str]:
    """The last answer, and the rules and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, why.rules, why.kind


def test_the_second_consumer_has_the_queues_of_its_cluster() -> None:
    assert seen(*ONE)[0][0] == ((0, 12), *[NOBODY] * 4)
    answer, rules, kind = seen(*BOTH)
    assert (answer[0], rules[0], kind) == (
        ((0, 12), NOBODY, NOBODY, (0, 12), NOBODY),
        "CID-SHARE",
        "a consumer of another cluster",
    )
    assert "REB-ROUTE-1" not in rules
    assert seen(*BOTH, (MODEL.send, EVERY))[0][1] == ((0, 0, 12, 1), (0, 3, 12, 1))
    assert seen(*ONE, (MODEL.send, EVERY))[0][1] == ((0, 0, 12, 1),)


def test_a_second_consumer_of_the_group_changes_nothing() -> None:
    for before, kind in ((ONE, "the group is taken"), (BOTH, "the group is taken, beside another cluster")):
        answer, rules, found = seen(*before, (MODEL.twin,))
        assert (answer, rules[0], found) == (seen(*before, (MODEL.look,))[0], "CID-TAKEN", kind)


def test_nothing_starts_where_the_process_does_not_run_or_has_both() -> None:
    for operation in (MODEL.also, MODEL.twin):
        assert seen(BEGUN, (operation,)) == seen(BEGUN, (MODEL.look,))
    assert seen(*BOTH, (MODEL.also,)) == seen(*BOTH, (MODEL.look,))


def test_both_consumers_end_with_the_process() -> None:
    ended = *BOTH, (MODEL.leave, 0)
    assert seen(*ended)[0][0] == (NOBODY,) * 5
    assert seen(*ended, (MODEL.join, 0))[0][0] == seen(*ONE)[0][0]
    assert seen(*BOTH, (MODEL.choose, 2, 2, NOTHING, LAST), (MODEL.look,))[0][0] == seen(*BOTH)[0][0]
