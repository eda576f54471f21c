"""Groups of whole push consumers of a broker that has a slave, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.whole_slaves import MASTER, SLAVE, WholeSlavesModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeSlavesModel(Profile(), ORDINARY)
NOBODY = (-1, -1)
BEGUN = (MODEL.prepare, 1, 7)
ONE = BEGUN, (MODEL.join, 0)
SUGGESTED = *ONE, (MODEL.suggest, SLAVE)
ALONE = *ONE, (MODEL.go_away,)


def seen(*steps: Any) -> tuple[Any, Any, Any, str]:
    """The last answer without the queue that there is not, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    if result is None:
        return None, None, None, why.kind
    places, brought, stored = result
    assert (places[1], places[3], stored[1], stored[3]) == (NOBODY, NOBODY, NOTHING, NOTHING)
    return places[::2], brought, stored[::2], why.kind


def test_the_master_is_pulled_and_has_the_commits() -> None:
    assert seen(*ONE) == (((0, 12), NOBODY), ((0, 0, 7, 5),), (12, 7), "begins at the master")
    assert seen(*ONE, (MODEL.join, 0)) == (((0, 12), NOBODY), (), (12, 7), "nothing is new")
    assert seen(*ONE, (MODEL.send, 0)) == (((0, 13), NOBODY), ((0, 0, 12, 1),), (13, 7), "given by the master")
    assert seen(*ONE, (MODEL.send, 1))[1] == ()
    assert seen(*ONE, (MODEL.prepare, 2, NOTHING), (MODEL.look,))[2] == (12, 7)
    assert seen(BEGUN)[3] == "before anyone joins"


def test_a_slave_that_is_suggested_is_pulled_and_has_no_commits() -> None:
    assert seen(*SUGGESTED) == ((NOBODY, (0, 12)), (), (12, 7), "the slave is suggested")
    answer = (NOBODY, (0, 13)), ((0, 0, 12, 1),), (13, 7), "given by the slave that is suggested"
    assert seen(*SUGGESTED, (MODEL.send, EVERY)) == answer
    assert seen(*SUGGESTED, (MODEL.suggest, MASTER))[::3] == (((0, 12), NOBODY), "the master is suggested")
    assert seen(*SUGGESTED, (MODEL.suggest, SLAVE))[3] == "nothing is new"
    assert seen(BEGUN, (MODEL.suggest, SLAVE))[3] == "nothing is new"


def test_while_the_master_is_away_the_slave_has_pulls_and_commits() -> None:
    assert seen(*ALONE) == ((NOBODY, (0, 12)), (), (12, 12), "goes away")
    assert seen(*ALONE, (MODEL.send, 0)) == ((NOBODY, (0, 13)), ((0, 0, 12, 1),), (12, 13), "given by the slave")
    assert seen(*ALONE, (MODEL.go_away,))[2:] == ((12, 12), "goes away")
    assert seen(*ALONE, (MODEL.synchronise,))[2:] == ((12, 12), "pulls at the slave")
    assert seen(*ALONE, (MODEL.suggest, SLAVE))[3] == "pulls at the slave"
    assert seen(*ALONE, (MODEL.leave, 0)) == ((NOBODY, NOBODY), (), (12, 12), "nobody, master away")


def test_a_master_that_is_back_has_what_members_hold() -> None:
    back = *ALONE, (MODEL.send, 0), (MODEL.come_back,)
    assert seen(*back) == (((0, 13), NOBODY), (), (13, 13), "comes back")
    assert seen(*back, (MODEL.come_back,))[3] == "nothing is new"
    assert seen(*SUGGESTED, (MODEL.go_away,), (MODEL.come_back,))[0] == (NOBODY, (0, 12))


def test_who_begins_does_so_by_the_offsets_of_the_node_in_use() -> None:
    crashed = *ONE, (MODEL.crash, 0), (MODEL.go_away,)
    assert seen(*crashed, (MODEL.join, 1)) == ((NOBODY, (1, 12)), ((1, 0, 7, 5),), (12, 12), "begins at the slave")
    taken = *ONE, (MODEL.synchronise,), (MODEL.crash, 0), (MODEL.go_away,), (MODEL.join, 1)
    assert seen(*taken)[1] == ()
    lost = *ALONE, (MODEL.send, 0), (MODEL.leave, 0), (MODEL.come_back,)
    assert seen(*lost)[2] == (12, 13)
    assert seen(*lost, (MODEL.join, 1))[1:3] == (((1, 0, 12, 1),), (13, 13))
    assert seen(*lost, (MODEL.synchronise,))[2] == (12, 12)


def test_members_divide_the_queues_at_whichever_node() -> None:
    state, _, why = MODEL.join(MODEL.join(MODEL.initial(), 0)[0], 1)
    assert why.kind == "queues change hands"
    state, answer, why = MODEL.go_away(state)
    assert (answer[0], why.kind) == ((NOBODY, NOBODY, (0, 12), (1, 12)), "goes away")
    assert MODEL.leave(state, 2)[1][0] == answer[0]
    state, answer, why = MODEL.leave(state, 1)
    assert (answer[0], why.kind) == ((NOBODY, NOBODY, (0, 12), (0, 12)), "pulls at the slave")
    assert MODEL.join(state, 1)[2].kind == "queues change hands, master away"
    assert MODEL.learn(state, ("a", "", "")).group.clients != state.group.clients
