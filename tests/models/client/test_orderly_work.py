"""The order in which listeners were given messages, and which of them once more, by hand."""

from rocketmq_conformance.models.client.orderly_work import given_in_order


def test_messages_that_follow_each_other_are_one_run() -> None:
    given, again, latest = given_in_order({}, [(0, 1, 7), (0, 1, 8), (1, 0, 3), (0, 0, 9)])
    assert (given, again) == (((0, 0, 9, 1), (0, 1, 7, 2), (1, 0, 3, 1)), ())
    assert latest == {(0, 1): 8, (1, 0): 3, (0, 0): 9}


def test_another_order_is_more_than_one_run() -> None:
    given, again, _ = given_in_order({}, [(0, 1, 8), (0, 1, 7), (0, 1, 8)])
    assert (given, again) == (((0, 1, 8, 1), (0, 1, 7, 2)), ())


def test_a_message_is_given_once_more_however_often_that_is() -> None:
    often = given_in_order({}, [(0, 1, 7)] * 5)
    assert often == (((0, 1, 7, 1),), ((0, 1, 7, 1),), {(0, 1): 7})
    assert given_in_order(often[2], [(0, 1, 7)] * 2 + [(0, 1, 8)]) == (((0, 1, 8, 1),), ((0, 1, 7, 1),), {(0, 1): 8})
    assert given_in_order(often[2], []) == ((), (), {(0, 1): 7})
