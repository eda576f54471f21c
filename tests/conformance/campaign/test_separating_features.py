"""Discrimination: what is named as separating divergences is what is wrong with the implementation."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_maker import make

from rocketmq_conformance.conformance.campaign.analysis.clusters import clusters
from rocketmq_conformance.conformance.campaign.analysis.features import features
from rocketmq_conformance.conformance.campaign.analysis.separating_features import (
    BEST,
    LEAST,
    Sample,
    SeparatorFinder,
    separators,
)
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.step import Step

pytestmark = pytest.mark.tables
STORE = SUITES["remote-store"]
#: Suite, operation, and the sharpest separator of its largest cluster, by mutant: what the mutant's sentence says, in
#: terms of a step. Some mutants show in other operations as well, which use that one.
GOLDEN = {
    "descending-order": ("allocation", "sort_queues", "queues has more than one broker"),
    "order-ignores-case": ("allocation", "sort_queues", "some broker of queues has capitals, and some has none"),
    "id-difference-unbounded": ("allocation", "sort_queues", "some id of queues < 0"),
    "last-position": ("allocation", "allocate_averagely", "me is in members twice"),
    "blank-id-refused": ("allocation", "allocate_averagely", "me has blanks at an end"),
    "python-split": ("allocation", "allocate_by_machine_room", 'some broker of queues has an "@" at an end'),
    "crc32": ("allocation", "place_text", "operation place_text"),
    "pull-not-found-too": ("remote-store", "read", "fault = 'PULL_NOT_FOUND'"),
    "no-route-is-new": ("remote-store", "read", "queue = 4"),
    "memory-first-stays": ("remote-store", "read", "kind = 'memory-then-store'"),
    "persist-forgets": ("remote-store", "read", "last of the same queue: persist"),
    "empty-set-clears": ("remote-store", "persist_all", "earlier persist_all(queues empty)"),
    "skips-zero": ("remote-store", "persist", "state: memory of the queue = 0"),
    "skips-equal": ("remote-store", "persist", "memory of the queue = broker.stored of the queue"),
    "commit-never-decreases": ("remote-store", "commit", "offset < memory of the queue"),
    "null-is-a-queue": ("remote-store", "clone", "earlier update(queue < 0)"),
    "deprecated-max-is-max": ("start-push", "start", "where = 'CONSUME_FROM_MAX_OFFSET'"),
}


def campaign_of(folder: Path, mutant: str, suite: str, cases: int = 300) -> Campaign:
    return make(folder, f"mutant:{mutant}", suites=(suite,), cases=cases, block=100)


@pytest.mark.parametrize("mutant", GOLDEN)
def test_what_is_wrong_with_a_mutant_is_named_first(mutant: str, tmp_path: Path) -> None:
    suite, operation, feature = GOLDEN[mutant]
    campaign = campaign_of(tmp_path, mutant, suite)
    largest = max((one for one in clusters(campaign) if one.operation == operation), key=lambda one: one.count)
    found = SeparatorFinder(campaign, [largest]).separators(largest)
    assert 1 <= len(found) <= BEST
    assert found[0].feature == feature
    assert found[0].diverging >= 0.85
    assert found[0].diverging - found[0].others > 0.6


def test_of_two_addresses_the_parting_is_separated_too(tmp_path: Path) -> None:
    mutant = "mutant:pull-not-found-too"
    campaign = make(tmp_path, "port", mutant, cases=200, profiles={mutant: Profile.of(client="5.3.0")})
    (cluster,) = [one for one in clusters(campaign) if one.against == "port"]
    assert cluster.address == mutant
    assert SeparatorFinder(campaign, [cluster]).separators(cluster)[0].feature == "fault = 'PULL_NOT_FOUND'"


def test_it_is_the_same_every_time(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, "freeze-ignored", "remote-store", 100)
    found = clusters(campaign)
    forward, backward = SeparatorFinder(campaign, found), SeparatorFinder(campaign, found)
    last_first = [backward.separators(one) for one in reversed(found)]
    assert [forward.separators(one) for one in found] == last_first[::-1]


# --- the choice -----------------------------------------------------------------------------------------------------


def trace(*operations: Operation) -> list[Step]:
    return Judge(STORE, Profile()).expected([STORE.row(operation) for operation in operations])


def operation(name: str, *arguments: object) -> Operation:
    return STORE.operations[STORE.index[name]](*arguments)


def reads(count: int, fault: str, kind: str = "store") -> list[Sample]:
    return [Sample(trace(operation("read", at % 4, kind, fault)), 0) for at in range(count)]


def test_a_perfect_line_is_found() -> None:
    found = separators(STORE, reads(30, "silent"), reads(30, "answer"))
    assert (found[0].feature, found[0].diverging, found[0].others) == ("fault = 'silent'", 1.0, 0.0)


def test_steps_of_other_operations_count_only_when_there_are_no_others() -> None:
    persists = [Sample(trace(operation("persist", at % 4)), 0) for at in range(40)]
    found = separators(STORE, reads(30, "answer"), persists)
    assert (found[0].feature, found[0].diverging, found[0].others) == ("operation read", 1.0, 0.0)
    assert separators(STORE, reads(30, "silent"), [*persists, *reads(30, "answer")])[0].feature == "fault = 'silent'"


def test_what_all_steps_have_separates_nothing() -> None:
    assert separators(STORE, reads(40, "answer"), reads(40, "answer")) == []
    assert separators(STORE, [], reads(4, "answer")) == []
    assert separators(STORE, reads(4, "answer"), []) == []


def test_one_case_says_nothing() -> None:
    """Any of many features may be rare among the others, and hold in the only case by mere chance."""
    others = reads(20, "answer") + reads(2, "silent")
    assert separators(STORE, reads(1, "silent"), others) == []
    assert separators(STORE, reads(12, "silent"), others)[0].feature == "fault = 'silent'"


def test_a_feature_is_reported_by_its_opposite_when_that_is_what_diverging_steps_have() -> None:
    faults = ("silent", "cut", "SYSTEM_BUSY", "no-field", "SYSTEM_ERROR", "PULL_NOT_FOUND", "QUERY_NOT_FOUND")
    diverging = [sample for fault in faults for sample in reads(8, fault)]
    found = separators(STORE, diverging, reads(40, "answer"))
    assert "fault is not 'answer'" in {one.feature for one in found}
    assert all(one.diverging - one.others >= LEAST for one in found)


def test_the_simpler_of_two_that_say_the_same_is_reported_alone() -> None:
    # the fault decides the kind of state, what is expected, and nothing else
    found = separators(STORE, reads(30, "SYSTEM_BUSY"), reads(30, "answer"))
    assert [one.feature for one in found] == ["fault = 'SYSTEM_BUSY'"]


def test_what_came_before_is_reported_in_terms_of_this_step() -> None:
    def sample(frozen: int, queue: int) -> Sample:
        steps = trace(
            operation("freeze", frozen, 5), operation("remove", frozen), operation("read", queue, "memory", "answer")
        )
        return Sample(steps, 2)

    diverging = [sample(at % 4, at % 4) for at in range(24)]
    agreeing = [sample(at % 4, (at + 1 + at // 4) % 4) for at in range(60) if at % 4 != (at + 1 + at // 4) % 4]
    found = separators(STORE, diverging, agreeing)
    assert found[0].feature == "earlier freeze of the same queue"


# --- the words ------------------------------------------------------------------------------------------------------


def words(steps: list[Step]) -> set[str]:
    return {feature.text for feature in features(STORE, steps, len(steps) - 1)}


def test_features_of_a_step() -> None:
    steps = trace(
        operation("update", 2, 2**31, False), operation("freeze", 1, 6), operation("commit", 2, 100, False, "answer")
    )
    found_words = words(steps)
    assert {
        "operation commit",
        "queue = 2",
        "offset = 100",
        "offset > 0",
        "fault = 'answer'",
        "kind of state = accepted",
        "expected = items",
        "number expected = 1",
        "state: memory has the queue",
        "state: memory of the queue >= 2**31",
        "offset < memory of the queue",
        "earlier update of the same queue",
        "earlier freeze",
        "earlier freeze(offset = 6)",
        "last of the same queue: update",
        "last of the same queue: update(increase_only = False)",
    } <= found_words
    assert "earlier freeze of the same queue" not in found_words
    assert "state: frozen has the queue" not in found_words
    assert "offset >= 2**31" not in found_words


def test_a_queue_is_known_by_its_name_in_the_broker() -> None:
    steps = trace(operation("commit_elsewhere", 3, 12), operation("read", 3, "store", "answer"))
    assert "state: broker.stored of the queue = 12" in words(steps)


def test_members_of_lists_are_reported_only_when_they_are_there() -> None:
    steps = trace(operation("update", 1, 5, True), operation("persist_all", (1, 3)), operation("persist", 3))
    assert {"earlier persist_all with the queue", "earlier persist_all(queues empty)"} & words(steps) == {
        "earlier persist_all with the queue"
    }
    assert {"queues has 3", "number of queues = 2", "state: memory has some of queues"} <= words(steps[:2])


def test_steps_without_a_state_have_the_other_features() -> None:
    (step,) = trace(operation("read", 1, "memory", "answer"))
    found_words = words([step._replace(before=None, after=None)])
    assert "queue = 1" in found_words
    assert not any(text.startswith("state: ") for text in found_words)
