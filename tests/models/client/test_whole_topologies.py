"""Groups of whole push consumers by what routes say of two brokers, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_topologies import WholeTopologiesModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeTopologiesModel(Profile(), ORDINARY)
NOBODY = (-1, -1)
BEGUN = (MODEL.choose, 2, 2, 7, LAST)
ONE = BEGUN, (MODEL.join, 0)


def seen(*steps: Any) -> tuple[Any, str]:
    """The last answer, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, why.kind


def test_a_broker_that_comes_brings_its_queues() -> None:
    answer, kind = seen(*ONE)
    assert (answer[0], kind) == (((0, 12), (0, 12), *[NOBODY] * 3), "messages of one broker")
    assert seen(*ONE, (MODEL.send, 3))[0][1] == ()
    answer, kind = seen(*ONE, (MODEL.appear,))
    assert (answer[0], answer[1]) == (((0, 12), (0, 12), NOBODY, (0, 12), (0, 12)), ((0, 3, 7, 5), (0, 4, 7, 5)))
    assert kind == "comes back, messages of one broker"
    away = *ONE, (MODEL.appear,), (MODEL.go_away,)
    assert seen(*away)[0][0] == seen(*ONE)[0][0]
    assert seen(*away, (MODEL.send, EVERY))[0][1] == ((0, 0, 12, 1), (0, 1, 12, 1))


def test_a_new_group_begins_at_a_broker_that_comes_as_at_the_first() -> None:
    new = (MODEL.choose, 1, 1, NOTHING, LAST), (MODEL.join, 0)
    first, second = seen(*new)[0][1], seen(*new, (MODEL.appear,))[0][1]
    assert (first, second) == (((0, 0, 0, 12),), ((0, 3, 0, 12),))


@pytest.mark.parametrize(("written", "kind"), [(1, "more are written than read"), (-1, "fewer are written than read")])
def test_queues_are_divided_that_are_read_however_many_are_written(written: int, kind: str) -> None:
    answer, found = seen(*ONE, (MODEL.appear,), (MODEL.route_as, 1, 1, written))
    assert (answer[0], found) == (((0, 12), NOBODY, NOBODY, (0, 12), NOBODY), kind)


def test_a_broker_where_the_topic_may_not_be_read_has_no_queues() -> None:
    hidden = *ONE, (MODEL.appear,), (MODEL.route_as, 2, 0, 0)
    answer, kind = seen(*hidden)
    assert (answer[0], kind) == (((0, 12), (0, 12), *[NOBODY] * 3), "a topic that may not be read at a broker")
    assert seen(*hidden, (MODEL.route_as, 2, 1, 0))[0][0][3] == (0, 12)


def test_nothing_is_new_where_the_route_stays() -> None:
    for steps in ((*ONE, (MODEL.route_as, 1, 1, 1)), (*ONE, (MODEL.appear,), (MODEL.route_as, 2, 2, 0))):
        assert seen(*steps)[1] == "nothing is new"
    assert seen(BEGUN, (MODEL.appear,), (MODEL.route_as, 1, 1, 1))[1] == "without its owner"
    assert seen(*ONE, (MODEL.choose, 1, 1, NOTHING, LAST), (MODEL.look,)) == seen(*ONE, (MODEL.look,))
