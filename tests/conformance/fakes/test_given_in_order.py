"""What orderly listeners are shown to have been given, step by step."""

from rocketmq_conformance.conformance.fakes.given_in_order import GivenInOrder

MINE, OTHERS = ((0, 8),), ((1, 8),)


def test_what_a_member_was_given_before_is_given_once_more_while_it_has_the_queue() -> None:
    order = GivenInOrder()
    order.begin_step()
    order.add(0, 0, 7)
    assert order.shown(MINE, True) == (((0, 0, 7, 1),), ())
    order.begin_step()
    order.add(0, 0, 7)
    assert order.shown(MINE, True) == ((), ((0, 0, 7, 1),))
    assert order.shown(OTHERS, True) == ((), ())
    order.begin_step()
    order.add(0, 0, 7)
    assert order.shown(MINE, True) == (((0, 0, 7, 1),), ())


def test_programs_that_say_nothing_show_nothing() -> None:
    assert GivenInOrder().shown(MINE, False) == (None, None)


def test_a_queue_that_is_not_there_belongs_to_nobody() -> None:
    order = GivenInOrder()
    order.add(0, 5, 7)
    order.add(0, 5, 7)
    assert order.shown(MINE, True) == (((0, 5, 7, 1),), ())
