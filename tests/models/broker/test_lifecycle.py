"""Expiry, restarts and kills as changes of state."""

from __future__ import annotations

import pytest
from every import every

from rocketmq_conformance.models.broker import aged_store, lifecycle
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.broker_restart import BrokerRestartModel
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.lifecycle import (
    KILL,
    STOP,
    UncertainBroker,
    expire,
    kill,
    reopened,
    restart,
    save,
    set_memory,
    step,
    stop,
    with_memory,
)
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Topic
from rocketmq_conformance.models.outcome import UNDEFINED, Err, Result
from rocketmq_conformance.models.profile import Profile

OLD = BrokerRules.of(Profile.of(broker="4.9.7"))
NEW = BrokerRules.of(Profile.of(broker="5.5.0"))
NOT_FOUND = Err("QUERY_NOT_FOUND")


@every(
    ("log", "first", "old_min", "new_min", "kind"),
    [
        (QueueLog(times=(1, 2, 3)), 0, 0, 0, "all kept"),
        (QueueLog(times=(1, 2, 3)), 2, 2, 2, "head expired"),
        (QueueLog(times=(1, 2, 3)), 3, 0, 3, "all expired"),
        (QueueLog(times=(1, 2, 3)), 9, 0, 3, "all expired"),
        (QueueLog(min=1, first=1, times=(2, 3)), 3, 1, 3, "all expired"),
        (QueueLog(min=1, first=1, times=(2, 3)), 1, 1, 1, "all kept"),
        (QueueLog(), 0, 0, 0, "all kept"),
    ],
)
def test_min_after_expiry(log: QueueLog, first: int, old_min: int, new_min: int, kind: str) -> None:
    for rules, lowest in ((OLD, old_min), (NEW, new_min)):
        before = BrokerState(logs={("T", 0): log})
        after, whys = expire(rules, before, {("T", 0): first})
        assert after.logs[("T", 0)].min == lowest
        assert after.logs[("T", 0)].max == log.max
        assert whys[("T", 0)].kind == kind
        assert before.logs[("T", 0)] == log


@pytest.mark.parametrize(
    ("log", "old_min", "new_min"),
    [
        (QueueLog(times=(1,)), 0, 0),
        (QueueLog(min=0, first=10, times=(1,)), 10, 10),
        (QueueLog(min=0, first=3), 0, 3),
        (QueueLog(min=10, first=15), 0, 15),
        (QueueLog(), 0, 0),
    ],
)
def test_min_after_a_restart(log: QueueLog, old_min: int, new_min: int) -> None:
    assert reopened(OLD, log) == log._replace(min=old_min)
    assert reopened(NEW, log) == log._replace(min=new_min)


def test_the_aged_store_as_real_brokers_report_it() -> None:
    bounds = {
        release: [(log.min, log.max) for log in (reopened(rules, log) for log in aged_store.QUEUES)]
        for release, rules in (("4.9.7", OLD), ("5.5.0", NEW))
    }
    assert bounds["4.9.7"] == [(10, 15), (0, 3), (0, 5), (0, 0), (0, 12), (3, 4), (7, 18)]
    assert bounds["5.5.0"] == [(10, 15), (3, 3), (0, 5), (0, 0), (0, 12), (3, 4), (7, 18)]
    assert (aged_store.TOPIC, 3) not in aged_store.aged_broker(NEW).logs


def test_the_ratio_makes_queues_cold_up_to_5_0_0() -> None:
    state = BrokerState(logs={("T", 0): QueueLog(times=(1,))})
    assert not with_memory(OLD, state, hot=False).logs[("T", 0)].hot
    assert with_memory(NEW, state, hot=False) is state


def write(key: str, offset: int) -> BrokerState:
    return BrokerState(stored={("G", key, 0): offset})


def stored(offset: int) -> UncertainBroker:
    """A broker that has stored 1 on disk, and ``offset`` since."""
    forked = UncertainBroker.of(write("T", 1))
    return step(forked, None, lambda state: (write("T", offset), None, lifecycle._SAVED))[0]


def test_a_stopped_broker_knows_everything() -> None:
    after, result, why = stop(NEW, stored(2))
    assert result is None
    assert [state.stored for state in after.possible] == [{("G", "T", 0): 2}]
    assert after.saved == ({("G", "T", 0): 2},)
    assert after.how == STOP
    assert why.rules == ("RUN-RESTART-1",)


def test_a_killed_broker_has_one_of_the_tables_that_may_be_on_disk() -> None:
    after, _, why = kill(NEW, stored(2))
    assert [state.stored[("G", "T", 0)] for state in after.possible] == [2, 1]
    assert after.how == KILL
    assert why.kind == "killed, some not on disk"
    after, _, why = kill(NEW, save(stored(2))[0])
    assert [state.stored[("G", "T", 0)] for state in after.possible] == [2]
    assert why.kind == "killed, all on disk"


def test_an_answer_narrows_the_possible_states() -> None:
    model = BrokerRestartModel(Profile())
    state = model.initial()
    state = model.commit(state, None, 0, 0, 0, 5)[0]
    state = model.save(state, None)[0]
    state = model.commit(state, None, 0, 0, 0, 6)[0]
    state = model.commit(state, None, 0, 0, 1, 7)[0]
    state = model.restart(state, None, KILL)[0]
    assert len(state.possible) == 3
    # queue 0 has 6: queue 1 may have 7 or nothing
    state, expected, why = model.query(state, 6, 0, 0, 0, None)
    assert expected == 6
    assert why.rules == ("BQ-COM-12", "BQ-QUERY-1")
    assert len(state.possible) == 2
    lost, expected, _ = model.query(state, NOT_FOUND, 0, 0, 1, None)
    assert expected == NOT_FOUND
    assert len(lost.possible) == 1
    # an answer that no possible broker gives is a difference, and narrows nothing
    same, expected, _ = model.query(state, 99, 0, 0, 1, None)
    assert expected == 7
    assert same.possible == state.possible


def test_a_commit_after_the_kill_is_known_again() -> None:
    model = BrokerRestartModel(Profile())
    state = model.commit(model.initial(), None, 0, 0, 0, 5)[0]
    state = model.restart(state, None, KILL)[0]
    state = model.commit(state, None, 0, 0, 0, 8)[0]
    assert len(state.possible) == 1
    _, expected, why = model.query(state, 8, 0, 0, 0, None)
    assert expected == 8
    assert why.rules == ("BQ-QUERY-1",)


def test_a_commit_without_a_queue_leaves_survivors_alone() -> None:
    model = BrokerRestartModel(Profile())
    state = model.commit(model.initial(), None, 0, 0, 0, 5)[0]
    state = model.restart(state, None, STOP)[0]
    state = model.commit(state, None, 0, 0, None, 5)[0]
    assert model.query(state, 5, 0, 0, 0, None)[2].rules == ("BQ-COM-11", "BQ-QUERY-1")


@pytest.mark.parametrize("release", ["4.9.7", "5.5.0"])
def test_nothing_is_promised_of_a_topic_whose_messages_were_deleted_before_a_restart(release: str) -> None:
    model = BrokerRestartModel(Profile.of(broker=release))
    state = model.send(model.initial(), ((0, 10), (1, 10)), 0, 0, 2, False)[0]
    state = model.delete_topic(state, None, 0)[0]
    # until then the queue is empty
    assert model.max(state, 0, 0, 0)[1] == 0
    state = model.restart(state, None, STOP)[0]
    for handler in (model.max, model.min, model.earliest):
        assert handler(state, 2, 0, 0)[1] is UNDEFINED
    assert model.search(state, 2, 0, 0, 0, 0, "")[1] is UNDEFINED
    assert model.query(state, 0, 0, 0, 0, None)[1] is UNDEFINED
    assert model.query(state, Err("SYSTEM_ERROR"), 0, 0, None, None)[1] == Err("SYSTEM_ERROR")
    assert model.send(state, Err("TOPIC_NOT_EXIST"), 0, 0, 1, False)[1] == Err("TOPIC_NOT_EXIST")
    state = model.create_topic(state, None, 0, 1)[0]
    assert model.send(state, ((2, 11),), 0, 0, 1, False)[1] is UNDEFINED
    assert model.send(state, Err("no"), 0, 1, 1, False)[1] == (
        Err("SYSTEM_ERROR") if release == "4.9.7" else Err("INVALID_PARAMETER")
    )
    state = model.commit(state, None, 0, 0, 0, 5)[0]
    assert model.query(state, 5, 0, 0, 0, None)[1] == 5
    # deleting it once more empties it, until the next restart
    state = model.delete_topic(state, None, 0)[0]
    assert model.max(state, 0, 0, 0)[1] == 0
    state = model.restart(state, None, STOP)[0]
    assert model.max(state, 0, 0, 0)[1] is UNDEFINED


def test_a_topic_deleted_without_messages_does_not_come_back() -> None:
    model = BrokerRestartModel(Profile())
    state = model.delete_topic(model.initial(), None, 0)[0]
    state = model.restart(state, None, STOP)[0]
    assert model.max(state, 0, 0, 0)[1] == 0


def test_the_ratio_holds_until_the_restart() -> None:
    model = BrokerRestartModel(Profile.of(broker="4.9.7"))
    state, _, why = model.memory(model.initial(), None, False)
    assert why.kind == "cold"
    state = model.send(state, ((0, 10),), 0, 0, 1, False)[0]
    assert model.query(state, NOT_FOUND, 0, 0, 0, None)[1] == NOT_FOUND
    assert model.query(state, NOT_FOUND, 0, AGED_TOPIC, 2, None)[1] == NOT_FOUND
    hot, _, why = model.memory(state, None, True)
    assert why.kind == "hot"
    assert model.query(hot, 0, 0, 0, 0, None)[1] == 0
    state = model.restart(state, None, STOP)[0]
    assert model.query(state, 0, 0, 0, 0, None)[1] == 0


def test_the_ratio_is_not_looked_at_from_5_1_0() -> None:
    state = UncertainBroker.of(BrokerState(logs={("T", 0): QueueLog(times=(1,))}))
    assert set_memory(NEW, state, hot=False)[0] is state


def test_a_restart_keeps_topics_groups_and_offsets() -> None:
    state = BrokerState(
        topics={"T": Topic(1, 2, 4)}, groups=frozenset({"G"}), disabled=frozenset({"G"}), stored={("G", "X", 3): -7}
    )
    assert restart(NEW, state) == state


def test_the_kept_group_is_answered_from_the_store() -> None:
    model = BrokerRestartModel(Profile())
    state = model.initial()
    answers: list[Result] = [12, 1, 0, 2, 9999, NOT_FOUND, NOT_FOUND]
    for queue, answer in enumerate(answers):
        assert model.query_kept(state, answer, queue, None)[1] == answer
    assert model.query_kept(state, 12, 0, None)[2].rules == ("BQ-COM-11", "BQ-QUERY-1")


def test_groups_in_a_restarted_broker() -> None:
    model = BrokerRestartModel(Profile())
    state = model.create_group(model.initial(), None, 1)[0]
    state = model.commit(state, None, 1, 0, 0, 3)[0]
    state = model.delete_group(state, None, 1, "cleanOffset")[0]
    assert model.commit(state, None, 1, 0, 0, 3)[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")
    assert model.query(state, NOT_FOUND, 1, 0, 0, None)[1] == NOT_FOUND


@pytest.mark.parametrize(
    ("release", "properties", "version", "expression", "answer"),
    [
        ("5.5.0", {}, 1, "TAGS =", Err("SYSTEM_ERROR")),
        ("5.5.0", {}, 3, "TAGS =", Err("FILTER_DATA_NOT_EXIST")),
        ("5.5.0", {}, 3, "", Err("FILTER_DATA_NOT_LATEST")),
        ("5.5.1", {}, 1, "TAGS =", Err("FILTER_DATA_NOT_EXIST")),
        ("5.5.1", {}, 3, "", Err("FILTER_DATA_NOT_EXIST")),
        ("5.5.0", {"enablePropertyFilter": "true"}, 1, "TAGS = 'B'", ("SUCCESS", 2, (0,))),
        ("5.5.0", {"enablePropertyFilter": "true"}, 3, "TAGS = 'B'", ("SUCCESS", 2, (1,))),
        ("5.5.1", {"enablePropertyFilter": "true"}, 1, "TAGS = 'B'", ("SUCCESS", 2, (1,))),
        ("4.0.0", {}, 1, "TAGS = 'B'", ("PULL_RETRY_IMMEDIATELY", 2, ())),
    ],
)
def test_a_group_that_subscribes_again_after_a_stop(
    release: str, properties: dict[str, str], version: int, expression: str, answer: Result
) -> None:
    model = BrokerRestartModel(Profile.of(broker=release).configured(properties))
    after, result, why = model.subscribe_again(model.initial(), None, version, expression)
    assert (after.how, result) == (STOP, answer)
    assert ("BQ-FILTER-STOP" in why.rules) is (release != "4.0.0")
