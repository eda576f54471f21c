"""Push consumers of FIFO groups of the gRPC protocol, by hand: what a proxy is to see of them."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models.client.grpc_fifo import DEAD, GrpcFifoModel
from rocketmq_conformance.models.client.grpc_push import ACK, ACKNOWLEDGED, AGAIN, FORWARD, TERMINATED
from rocketmq_conformance.models.client.plan_words import FAILS, SUCCEEDS

MODEL = GrpcFifoModel()
JOIN, FAIL, MEND = (MODEL.join, 0), (MODEL.listen, FAILS), (MODEL.mend,)
THREE = (MODEL.send, 0, "ordinary", 3)
ERROR = "INTERNAL_SERVER_ERROR"
RECEIVES, ASKED, GIVEN, ENDED, REFUSED, TRIES = 0, 1, 2, 3, 6, 7


def seen(*steps: Any) -> tuple[Any, frozenset[str]]:
    """The last answer, and the rules of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, frozenset(why.rules)


def ended(*steps: Any) -> list[tuple[int, str]]:
    """What became of the messages of the first queue in the last step, in order."""
    return [(offset, how) for queue, offset, how in seen(*steps)[0][ENDED] if queue == 0]


def test_messages_are_consumed_in_order() -> None:
    answer, rules = seen(JOIN, THREE)
    assert answer[RECEIVES] == ((0, 1), ())
    assert answer[GIVEN] == tuple((0, offset, 1) for offset in range(3))
    assert answer[ENDED] == tuple((0, offset, ACKNOWLEDGED) for offset in range(3))
    assert {"GP-FIFO-1", "GP-ACK-1", "GP-RCV-1"} <= rules
    assert "GP-FIFO-1" not in seen(JOIN, (MODEL.send, 0))[1]
    assert ended(THREE) == []
    assert ended(THREE, JOIN) == [(offset, ACKNOWLEDGED) for offset in range(3)]


def test_how_a_case_begins_is_chosen_before_anyone_joins() -> None:
    assert seen((MODEL.prepare_fifo, 3, "short", 1), JOIN)[0][ASKED] == ((3, True, "2 s", "*"),)
    assert seen(JOIN, (MODEL.prepare_fifo, 3, "short", 1), JOIN)[0][ASKED] == ((32, True, "2 s", "*"),)


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_what_fails_is_tried_again_by_its_member_and_is_dead_after_the_last_attempt(attempts: int) -> None:
    answer, rules = seen((MODEL.prepare_fifo, 1, "growing", attempts), JOIN, FAIL, THREE)
    assert answer[ENDED] == tuple((0, offset, DEAD) for offset in range(3))
    assert answer[TRIES] == tuple((0, offset, attempts) for offset in range(3))
    assert {"GP-FIFO-2", "GP-FIFO-5"} <= rules


def test_the_next_message_waits_until_the_end_of_the_one_before_is_taken() -> None:
    refuse = (MODEL.refuse, ACK, ERROR)
    answer, rules = seen(JOIN, refuse, THREE)
    assert (len(answer[GIVEN]), answer[ENDED], answer[REFUSED]) == (3, (), AGAIN)
    assert {"GP-FIFO-1", "GP-ACK-3"} <= rules
    # what was sent meanwhile is not given before those have ended
    assert seen(JOIN, refuse, THREE, (MODEL.send, 0))[0][GIVEN] == ()
    # the first one has succeeded, the others fail
    mended = (JOIN, refuse, THREE, (MODEL.send, 0), FAIL, MEND)
    assert ended(*mended) == [(0, ACKNOWLEDGED), (1, DEAD), (2, DEAD), (3, DEAD)]
    assert seen(*mended)[0][GIVEN] == ((0, 3, 1),)
    assert seen(*mended)[1] >= {"GP-ACK-3", "GP-FIFO-2"}


def test_what_cannot_be_forwarded_is_sent_again() -> None:
    refuse = (MODEL.refuse, FORWARD, ERROR)
    answer, rules = seen(JOIN, FAIL, refuse, THREE)
    assert (answer[ENDED], answer[TRIES], answer[REFUSED]) == ((), (), AGAIN)
    assert {"GP-FIFO-4", "GP-FIFO-1"} <= rules
    assert ended(JOIN, FAIL, refuse, THREE, (MODEL.listen, SUCCEEDS), MEND) == [
        (0, DEAD),
        (1, ACKNOWLEDGED),
        (2, ACKNOWLEDGED),
    ]
    assert "GP-FIFO-4" in seen(JOIN, FAIL, refuse, THREE, MEND)[1]
    # a message that its member is about to end may not be taken along
    assert seen(JOIN, FAIL, refuse, THREE, (MODEL.leave, 0))[0][-2:] == (None, None)
    assert seen(JOIN, (MODEL.leave, 0))[0][-2:] == (TERMINATED, 0)


def test_a_wrong_checksum_is_dead_at_once_and_no_order_is_asked_of_it() -> None:
    answer, rules = seen(THREE, (MODEL.send, 0, "corrupted"), (MODEL.send, 0), FAIL, JOIN)
    assert [one[1] for one in answer[ENDED]] == [0, 1, 2, 4, 3]
    assert answer[TRIES] == ((0, 0, 2), (0, 1, 2), (0, 2, 2), (0, 3, 1), (0, 4, 2))
    assert "GP-FIFO-3" in rules


def test_nothing_is_forwarded_that_others_may_wait_for_or_not() -> None:
    refuse = (MODEL.refuse, FORWARD, ERROR)
    assert ended(JOIN, refuse, (MODEL.send, 0, "corrupted")) == [(0, ACKNOWLEDGED)]
    assert ended((MODEL.send, 0, "corrupted"), refuse, JOIN) == [(0, DEAD)]
    assert ended((MODEL.send, 0, "corrupted"), (MODEL.refuse, ACK, ERROR), JOIN) == [(0, DEAD)]
