"""Push consumers of the gRPC protocol, by hand: what a proxy is to see of them."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.grpc_push import (
    ACK,
    AGAIN,
    ASSIGN,
    CHANGE,
    RECEIVE,
    STALE_HANDLE,
    TERMINATED,
    GrpcPushModel,
)
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, SUCCEEDS

MODEL = GrpcPushModel()
JOIN, SEND, MEND = (MODEL.join, 0), (MODEL.send, EVERY), (MODEL.mend,)
ERROR = "INTERNAL_SERVER_ERROR"
RECEIVES, ASKED, GIVEN, ENDED, REFUSED = 0, 1, 2, 3, 6


def seen(*steps: Any) -> tuple[Any, frozenset[str]]:
    """The last answer, and the rules of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, frozenset(why.rules)


def part(at: int, *steps: Any) -> Any:
    """A part of the last answer."""
    return seen(*steps)[0][at]


def ended(*steps: Any) -> list[str]:
    """What became of messages in the last step."""
    return [how for _, _, how in part(ENDED, *steps)]


def test_a_member_receives_from_what_it_is_assigned_and_acknowledges_what_was_consumed() -> None:
    answer, rules = seen(JOIN, SEND)
    assert answer[RECEIVES] == ((-1,), ())
    assert answer[ASKED] == ((32, True, "2 s", "*"),)
    assert answer[GIVEN] == ((0, 0, 1), (1, 0, 1))
    assert answer[ENDED] == ((0, 0, "acknowledged"), (1, 0, "acknowledged"))
    assert {"GP-RCV-1", "GP-ACK-1", "GP-ASG-1"} <= rules
    assert seen(SEND)[0][:4] == (((), ()), (), (), ())
    assert "GP-ACK-3" not in seen(JOIN, (MODEL.refuse, ACK, ERROR), MEND)[1]


def test_how_a_case_begins_is_chosen_before_anyone_joins() -> None:
    assert part(ASKED, (MODEL.prepare, "both", 3, "customized"), JOIN) == ((3, True, "2 s", "*"),)
    assert part(RECEIVES, (MODEL.prepare, "both", 3, "customized"), JOIN) == ((0, 1), ())
    assert part(ASKED, JOIN, (MODEL.prepare, "both", 3, "customized"), JOIN) == ((32, True, "2 s", "*"),)


def test_what_fails_comes_again_after_the_time_of_the_attempt() -> None:
    fails, again = (MODEL.listen, FAILS), (MODEL.come_again,)
    waits = [ended(JOIN, fails, (MODEL.send, 0), *[again] * times) for times in range(3)]
    assert waits == [["comes again after 3 s"], ["comes again after 7 s"], ["comes again after 7 s"]]
    exponential = (MODEL.prepare, "any", 32, "exponential")
    waits = [ended(exponential, JOIN, fails, (MODEL.send, 0), *[again] * times) for times in range(5)]
    assert [one for (one,) in waits] == [f"comes again after {seconds} s" for seconds in (1, 2, 4, 5, 5)]
    assert ended(JOIN, fails, (MODEL.send, 0), (MODEL.listen, SUCCEEDS), again) == ["acknowledged"]


def test_queues_that_are_assigned_anew_are_received_from_and_others_no_more() -> None:
    second = (MODEL.assign, "second")
    answer, rules = seen(SEND, JOIN, second, SEND)
    assert (answer[RECEIVES], answer[GIVEN]) == (((1,), ()), ((1, 1, 1),))
    assert "GP-ASG-2" in seen(JOIN, second)[1]
    assert part(RECEIVES, JOIN, (MODEL.assign, "none")) == ((), ())
    assert rules >= {"GP-ASG-1"}


def test_a_question_for_the_assignment_that_is_refused_changes_nothing() -> None:
    refuse, second = (MODEL.refuse, ASSIGN, ERROR), (MODEL.assign, "second")
    answer, rules = seen(JOIN, refuse, second)
    assert (answer[RECEIVES], answer[REFUSED]) == (((-1,), ()), None)
    assert "GP-ASG-3" in rules
    assert part(RECEIVES, refuse, JOIN) == ((), ())
    assert part(RECEIVES, JOIN, refuse, second, MEND) == ((1,), ())
    assert part(RECEIVES, JOIN, refuse, second, (MODEL.refuse, ASSIGN, "TOO_MANY_REQUESTS")) == ((-1,), ())
    assert "GP-ASG-2" in seen(JOIN, refuse, second, (MODEL.refuse, ACK, ERROR))[1]
    assert "GP-ASG-2" not in seen(JOIN, refuse, MEND)[1]


def test_receives_that_are_refused_are_sent_again() -> None:
    refuse = (MODEL.refuse, RECEIVE, ERROR)
    answer, rules = seen(JOIN, refuse, SEND)
    assert (answer[RECEIVES], answer[GIVEN], answer[REFUSED]) == (((), ()), (), AGAIN)
    assert "GP-RCV-2" in rules
    answer, rules = seen(JOIN, refuse, SEND, MEND)
    assert (answer[RECEIVES], len(answer[GIVEN]), answer[REFUSED]) == (((-1,), ()), 2, None)
    assert "GP-RCV-2" in rules
    assert part(REFUSED, refuse) is None
    assert "GP-RCV-2" not in seen(refuse, MEND)[1]


def test_the_end_of_a_message_that_is_refused_is_sent_again() -> None:
    refuse = (MODEL.refuse, ACK, ERROR)
    answer, rules = seen(JOIN, refuse, SEND)
    assert (answer[ENDED], answer[REFUSED]) == ((), AGAIN)
    assert "GP-ACK-3" in rules
    assert ended(JOIN, refuse, SEND, MEND) == ["acknowledged"] * 2
    assert "GP-ACK-3" in seen(JOIN, refuse, SEND, MEND)[1]
    assert ended(JOIN, refuse, SEND, (MODEL.come_again,), MEND) == ["acknowledged"] * 2
    back = (MODEL.refuse, CHANGE, ERROR)
    assert part(REFUSED, JOIN, (MODEL.listen, FAILS), back, SEND) == AGAIN
    assert ended(JOIN, (MODEL.listen, FAILS), back, SEND, MEND) == ["comes again after 3 s"] * 2


def test_a_handle_that_is_refused_is_final() -> None:
    refuse = (MODEL.refuse, ACK, STALE_HANDLE)
    answer, rules = seen(JOIN, refuse, SEND)
    assert (answer[ENDED], answer[REFUSED]) == ((), None)
    assert "GP-ACK-4" in rules
    assert ended(JOIN, refuse, SEND, MEND) == []
    assert "GP-ACK-4" in seen(JOIN, refuse, SEND, MEND)[1]
    assert part(GIVEN, JOIN, refuse, SEND, MEND, (MODEL.come_again,)) == ((0, 0, 2), (1, 0, 2))


def test_a_wrong_checksum_is_given_back_and_every_other_form_is_consumed() -> None:
    answer, rules = seen(JOIN, (MODEL.send, 0, "corrupted"))
    assert answer[ENDED] == ((0, 0, "comes again after 3 s"),)
    assert "GP-BODY-2" in rules
    for form in ("crc32", "sha1", "gzip"):
        answer, rules = seen(JOIN, (MODEL.send, 0, form))
        assert answer[ENDED] == ((0, 0, "acknowledged"),)
        assert "GP-BODY-1" in rules


def test_one_that_is_shut_down_says_so_when_no_receive_is_open() -> None:
    assert seen(JOIN, (MODEL.leave, 0))[0][-2:] == (TERMINATED, 0)
    assert part(RECEIVES, JOIN, (MODEL.leave, 0)) == ((), ())
    assert seen((MODEL.leave, 0))[0][-2:] == (None, None)
    # it might take along what it is about to say
    refused = (JOIN, (MODEL.refuse, ACK, ERROR), SEND)
    assert seen(*refused, (MODEL.leave, 0))[0][-2:] == (None, None)
    assert part(RECEIVES, JOIN, (MODEL.crash, 0)) == ((), ())
    assert part(RECEIVES, JOIN, (MODEL.crash, 1), (MODEL.look,)) == ((-1,), ())
