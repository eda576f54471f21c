"""What must be seen of members before it means something that nothing happens."""

from __future__ import annotations

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.points import Points
from rocketmq_conformance.suites import whole_allocation
from rocketmq_conformance.suites import whole_push as operations

LIST, QUERY, BEAT = (
    int(request) for request in (Request.GET_CONSUMER_LIST_BY_GROUP, Request.QUERY_CONSUMER_OFFSET, Request.HEART_BEAT)
)
FAIL = operations.Fail("GET_CONSUMER_LIST_BY_GROUP", "SYSTEM_ERROR")


def test_members_keep_queues_without_a_list_once_each_has_asked_for_it() -> None:
    points = Points()
    points.begin(FAIL, ("WHOLE-LIST",), {("a", LIST): 3, ("b", LIST): 3})
    assert points.unseen(["a", "b"], {("a", LIST): 4, ("b", LIST): 3}) == (
        "b was not seen to ask for the members of its group"
    )
    assert points.unseen(["a", "b"], {("a", LIST): 4, ("b", LIST): 4}) == ""
    # what was asked since it fails counts later, too, but not when members are notified that one is gone
    sent = {("a", LIST): 4, ("b", LIST): 4}
    points.begin(operations.Send(0), ("WHOLE-LIST",), sent)
    assert points.unseen(["a"], sent) == ""
    points.begin(operations.Crash(1), ("WHOLE-LIST",), sent)
    assert points.unseen(["a"], sent) != ""


def test_members_among_others_that_do_not_exist_have_asked_for_them() -> None:
    points = Points()
    points.begin(whole_allocation.Crowd(0, 1), (), {("a", LIST): 1})
    assert points.unseen(["a"], {("a", LIST): 1}) != ""
    assert points.unseen(["a"], {("a", LIST): 2}) == ""


def test_a_crowd_that_is_as_it_was_tells_them_nothing() -> None:
    points = Points()
    points.begin(whole_allocation.Crowd(0, 0), (), {})
    assert points.unseen(["a"], {}) == ""
    for _ in range(2):
        points.begin(whole_allocation.Crowd(2, 1), (), {})
    assert points.unseen(["a"], {}) == ""


def test_commits_that_a_client_need_not_send_are_not_waited_for() -> None:
    points, commit = Points(), int(Request.UPDATE_CONSUMER_OFFSET)
    points.begin(operations.Fail("UPDATE_CONSUMER_OFFSET", "SYSTEM_ERROR"), ["WHOLE-LOST"], {("a", commit): 1})
    for sent, unshown in ((1, {"WHOLE-LOST"}), (2, set())):
        assert points.unseen(["a"], {("a", commit): sent}) == ""
        assert points.unshown({("a", commit): sent}) == unshown
    points.begin(operations.Mend(), ["WHOLE-LOST"], {})
    assert points.unshown({}) == set()


def test_a_lite_consumer_that_ignores_a_reset_has_sent_something_since() -> None:
    points = Points()
    points.begin(operations.Reset(3), ("WHOLE-RESET-LITE",), {("a", BEAT): 1})
    assert points.unseen(["a"], {("a", BEAT): 1}) == "a sent nothing after it was asked to reset"
    assert points.unseen(["a"], {("a", BEAT): 2}) == ""
    points.begin(operations.Reset(3), ("WHOLE-RESET",), {("a", BEAT): 1})
    assert points.unseen(["a"], {("a", BEAT): 1}) == ""


def test_a_request_that_fails_was_sent_by_some_member() -> None:
    points = Points()
    points.begin(operations.Fail("QUERY_CONSUMER_OFFSET", "SYSTEM_BUSY"), (), {("a", QUERY): 4})
    points.begin(operations.Join(0), ("WHOLE-UNREAD",), {("a", QUERY): 4})
    assert points.unseen(["a"], {("a", QUERY): 4}) == "no member was seen to send QUERY_CONSUMER_OFFSET, which fails"
    assert points.unseen(["a"], {("a", QUERY): 4, ("", QUERY): 1}) == ""
    points.begin(operations.Mend(), ("WHOLE-UNREAD",), {})
    assert points.unseen(["a"], {}) == ""


def test_a_request_that_fails_matters_only_to_its_own_rules() -> None:
    points = Points()
    points.begin(operations.Fail("GET_MAX_OFFSET", "SYSTEM_ERROR"), ["WHOLE-PULL"], {})
    assert points.unseen([], {}) == ""
    points.begin(operations.Fail("GET_MAX_OFFSET", "SYSTEM_ERROR"), ["WHOLE-UNREAD"], {})
    assert points.unseen([], {}) == "no member was seen to send GET_MAX_OFFSET, which fails"
    assert points.unseen([], {("a", int(Request.GET_MAX_OFFSET)): 1}) == ""
