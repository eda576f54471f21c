"""What the traffic of whole consumers shows of a member that is shut down, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models.client.plan_words import HOLDS
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_broadcast import WholeBroadcastModel
from rocketmq_conformance.models.client.whole_end import end_of
from rocketmq_conformance.models.client.whole_listener import WholeListenerModel
from rocketmq_conformance.models.client.whole_lite import WholeLiteModel
from rocketmq_conformance.models.client.whole_orderly import WholeOrderlyModel
from rocketmq_conformance.models.client.whole_push import WholePushModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

PUSH, ORDERLY, LITE = (
    WholePushModel(Profile(), ORDINARY),
    WholeOrderlyModel(Profile(), ORDINARY),
    WholeLiteModel(Profile(), ORDINARY),
)
BROADCAST, LISTENER = WholeBroadcastModel(Profile(), ORDINARY), WholeListenerModel(Profile(), ORDINARY)
NOTHING = (None, None, None, None)


def ended(model: Any, *steps: Any) -> tuple[Any, tuple[str, ...]]:
    """What the last step shows of the end of a member, and the rules that end it."""
    state, seen, why = model.prepare(model.initial(), 2, "young", 7, LAST)
    for handler, *arguments in steps:
        state, seen, why = handler(state, *arguments)
    return end_of(seen), tuple(rule for rule in why.rules if rule in ("TIMER-END", "TIMER-BEAT", "REB-PERSIST-1"))


@pytest.mark.parametrize(
    ("model", "commits", "unlocks"),
    [
        (PUSH, "one way", None),
        (LITE, "one way", None),
        (LISTENER, "one way", None),
        (ORDERLY, "one way", "awaited"),
        (BROADCAST, None, None),
    ],
)
def test_who_is_shut_down_unregisters(model: Any, commits: Any, unlocks: Any) -> None:
    shown, rules = ended(model, (model.join, 0), (model.leave, 0))
    assert shown == (1, True, commits, unlocks)
    assert rules == ("TIMER-END", "TIMER-BEAT", *(("REB-PERSIST-1",) if commits else ()))


@pytest.mark.parametrize("model", [PUSH, BROADCAST])
def test_nothing_is_seen_of_one_that_does_not_run(model: Any) -> None:
    assert ended(model, (model.join, 0), (model.leave, 1)) == (NOTHING, ())


def test_nothing_is_seen_of_one_that_cannot_be_shut_down() -> None:
    holding = (LISTENER.join, 0), (LISTENER.listen, 0, HOLDS), (LISTENER.leave, 0)
    assert ended(LISTENER, *holding) == (NOTHING, ())


# --- while requests fail ------------------------------------------------------------------------------------------

LIST, BEAT, ROUTE, PULL = "GET_CONSUMER_LIST_BY_GROUP", "HEART_BEAT", "GET_ROUTEINFO_BY_TOPIC", "PULL_MESSAGE"


@pytest.mark.parametrize(
    "fault", [(LIST, "cut"), (LIST, "silent"), (BEAT, "SYSTEM_ERROR"), (BEAT, "garbage"), (ROUTE, "no-field")]
)
def test_nothing_is_seen_of_one_that_the_broker_may_not_know(fault: tuple[str, str]) -> None:
    assert ended(PUSH, (PUSH.fail, *fault), (PUSH.join, 0), (PUSH.leave, 0)) == (NOTHING, ())


@pytest.mark.parametrize(
    "fault", [(LIST, "SYSTEM_ERROR"), (BEAT, "SYSTEM_ERROR"), (ROUTE, "no-field"), (PULL, "silent")]
)
def test_one_that_the_broker_knows_ends_as_ever(fault: tuple[str, str]) -> None:
    shown, _ = ended(PUSH, (PUSH.join, 0), (PUSH.fail, *fault), (PUSH.leave, 0))
    assert shown == (1, True, "one way", None)


@pytest.mark.parametrize(
    ("fault", "connections"), [((LIST, "cut"), None), ((BEAT, "silent"), None), ((LIST, "no-field"), 1)]
)
def test_the_connections_of_one_that_was_cut_off_are_left_open(fault: tuple[str, str], connections: Any) -> None:
    begun = (PUSH.fail, *fault), (PUSH.join, 0), (PUSH.mend,)
    shown, rules = ended(PUSH, *begun, (PUSH.leave, 0))
    assert shown == (connections, True, "one way", None)
    assert rules == ("TIMER-END", *(("TIMER-BEAT",) if connections else ()), "REB-PERSIST-1")
    # who joins later has lost none
    assert ended(PUSH, *begun, (PUSH.join, 1), (PUSH.leave, 1))[0] == (1, True, "one way", None)
