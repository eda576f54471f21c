"""What members say they have is compared with what the model gives them, where nothing fails."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.client_program.claimed_queues import wrong_claim
from rocketmq_conformance.models.client.whole_push import WholePushModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholePushModel(Profile(), ORDINARY)
ALONE, *_ = MODEL.join(MODEL.initial(), 0)
BOTH, *_ = MODEL.join(ALONE, 1)
#: Who pulls each queue, and from where.
SHARED = ((0, 12), (0, 12), (1, 12), (1, 12))


def queues(*ids: int) -> set[tuple[str, int]]:
    return {("T-1", number) for number in ids}


def test_shares_are_right() -> None:
    assert wrong_claim(ALONE, "T-1", [(0, 12)] * 4, {"member-0": queues(0, 1, 2, 3)}) == ""
    assert wrong_claim(BOTH, "T-1", SHARED, {"member-0": queues(0, 1), "member-1": queues(2, 3)}) == ""


def test_other_topics_and_members_that_say_nothing_are_left_open() -> None:
    assert wrong_claim(BOTH, "T-1", SHARED, {}) == ""
    assert wrong_claim(BOTH, "T-1", SHARED, {"member-1": {*queues(2, 3), ("%RETRY%G", 0)}}) == ""


def test_who_has_more_or_less_is_named() -> None:
    for more in ((0, 1, 2), (0,)):
        claims = {"member-0": queues(*more)}
        expected = f"member-0 says that it has the queues {list(more)}, and should have [0, 1]"
        assert wrong_claim(BOTH, "T-1", SHARED, claims) == expected


def test_while_requests_fail_nothing_is_compared() -> None:
    failing, *_ = MODEL.fail(BOTH, "GET_CONSUMER_LIST_BY_GROUP", "SYSTEM_ERROR")
    assert wrong_claim(failing, "T-1", SHARED, {"member-0": set()}) == ""
    assert wrong_claim(object(), "T-1", SHARED, {"member-0": set()}) == ""


def test_where_others_pull_traffic_says_enough() -> None:
    assert wrong_claim(BOTH, "T-1", [(0, 12)] * 4, {"member-0": queues(0, 1, 2, 3)}) == ""
    assert wrong_claim(BOTH, "T-1", [*SHARED[:3], (-1, -1)], {"member-0": queues(0, 1, 2, 3)}) == ""
