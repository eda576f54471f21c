"""A broker whose traffic is watched for two groups: whose messages and offsets are whose."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.whole_groups import WholeGroups
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP, OTHER_GROUP, TOPIC


def groups(first: int, second: int) -> WholeGroups:
    """Two groups that have stored these offsets."""
    made = WholeGroups(Profile())
    made.prepare_groups(first, second, LAST)
    return made


def test_each_group_has_stored_its_own_offsets() -> None:
    nobody = ((-1, -1),) * 4
    assert groups(7, 2).observed({}, []) == (nobody, (), (7, 7, 2, 2))
    assert groups(NOTHING, NOTHING).observed({}, []) == (nobody, (), (-1,) * 4)


def test_a_pull_is_watched_for_its_group_alone() -> None:
    made = groups(7, 2)
    pulls = {group: Command(11, {"consumerGroup": group, "topic": TOPIC, "queueId": "0"}) for group in (GROUP, "X")}
    assert made.traffic.watches(pulls[GROUP])
    assert not made.other.traffic.watches(pulls[GROUP])
    assert not made.traffic.watches(pulls["X"])
    assert made.traffic_of(Command(11, {"consumerGroup": OTHER_GROUP})) is made.other.traffic


def test_what_a_group_was_given_has_the_numbers_of_its_queues() -> None:
    made = groups(7, 2)
    made.traffic.brought = [("me", 1, 7, 1)]
    made.other.traffic.brought = [("me", 1, 2, 1), ("me", -2, 0, 1)]
    assert made.take_brought() == [("me", 1, 7, 1), ("me", 3, 2, 1), ("me", -2, 0, 1)]


def test_a_line_that_names_a_message_counts_for_one_of_the_groups() -> None:
    made = groups(7, 2)
    for traffic in (made.traffic, made.other.traffic):
        traffic.carried["me", 0, 7] = 1
    brought = [("me", 0, 7, 1), ("me", 2, 7, 1)]
    assert made.given(brought, None) == brought
    for heard in ([], brought[:1], brought, [*brought, ("me", 0, 7, 1)]):
        said = SaidMessages()
        for _ in heard:
            said.add("me", 0, 7)
        assert list(made.given(brought, said)) == heard
