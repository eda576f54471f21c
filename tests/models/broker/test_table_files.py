"""Files of tables, worked out by hand, and the suite broker-tables."""

from __future__ import annotations

from collections import Counter

import pytest

from rocketmq_conformance.models.broker import table_files
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.broker_process import UNREACHABLE
from rocketmq_conformance.models.broker.broker_tables import (
    EARLY,
    FIRST,
    LATE,
    NEXT,
    REFUSED,
    BrokerTablesModel,
    BrokerTablesState,
)
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.broker.table_files import (
    BACKUP,
    BRACES,
    CUT,
    EMPTY,
    GONE,
    GROUPS,
    MAIN,
    OFFSETS,
    TABLES,
    TOPICS,
    ZEROS,
    Copy,
    TableFile,
)
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_tables
from rocketmq_conformance.suites.declare.sampler import sampler

NOT_FOUND = Err("QUERY_NOT_FOUND")
OLD, MIDDLE, NEW = (BrokerTablesModel(Profile.of(broker=release)) for release in ("4.9.7", "5.1.4", "5.5.0"))
ALL = (OLD, MIDDLE, NEW)


def ended(model: BrokerTablesModel, how: str = STOP, observed: Result = EARLY, offset: int = 5) -> BrokerTablesState:
    """A broker that was ended right after a commit."""
    return model.end(model.commit(model.initial(), 0, 0, 0, offset)[0], observed, how)[0]


def damaged(model: BrokerTablesModel, state: BrokerTablesState, *damages: tuple[str, str, str]) -> BrokerTablesState:
    for damage in damages:
        state, result, _ = model.damage(state, *damage)
        assert result is None
    return state


def stored(model: BrokerTablesModel, state: BrokerTablesState) -> Result:
    answer = model.query(state, 0, 0, 0)[1]
    assert answer is None or isinstance(answer, (int, Err))
    return answer


@pytest.mark.parametrize("how", [GONE, EMPTY, CUT, ZEROS])
@pytest.mark.parametrize("model", ALL)
def test_a_file_that_is_none_is_replaced_by_the_backup(model: BrokerTablesModel, how: str) -> None:
    state, result, why = model.start(damaged(model, ended(model), *((table, MAIN, how) for table in TABLES)))
    assert result is None
    assert "BQ-FILE-LOAD" in why.rules
    # a stop wrote the old offsets, and from 5.0.0 on the tables, into the backups
    topics, groups = ((), ()) if model is OLD else ((0,), (0,))
    assert model.topics(state)[1] == (topics, True)
    assert model.groups(state)[1] == groups
    assert stored(model, state) == (0 if model is OLD else NOT_FOUND)
    assert model.query_kept(state, 0)[1] == 12


@pytest.mark.parametrize("model", ALL)
def test_an_undamaged_file_is_read_and_an_empty_object_is_a_table(model: BrokerTablesModel) -> None:
    state, result, why = model.start(ended(model))
    assert (result, stored(model, state)) == (None, 5)
    assert "BQ-FILE-LOAD" in why.rules
    state, result, why = model.start(damaged(model, ended(model), (OFFSETS, MAIN, BRACES)))
    assert result is None
    assert "BQ-FILE-FORGET" in why.rules
    assert model.query_kept(state, 1)[1] == (0 if model is OLD else NOT_FOUND)
    assert model.topics(state)[1] == ((0,), True)


def test_files_and_backups_that_are_gone_are_forgotten_and_messages_are_not() -> None:
    for model in ALL:
        state = model.send(model.initial(), 0, 0, 2)[0]
        state = model.end(state, EARLY, STOP)[0]
        lost = [(table, copy, how) for table in TABLES for copy, how in ((MAIN, GONE), (BACKUP, EMPTY))]
        state, result, _ = model.start(damaged(model, state, *lost))
        assert (result, model.topics(state)[1], model.groups(state)[1]) == (None, ((), False), ())
        assert model.max(state, 0, 0)[1] == 2
        assert model.max(state, AGED_TOPIC, 0)[1] == 15
        assert model.send(state, 0, 0, 1)[1] == Err("TOPIC_NOT_EXIST")


@pytest.mark.parametrize("table", TABLES)
def test_a_backup_that_cannot_be_read_refuses_the_start(table: str) -> None:
    later: dict[BrokerTablesModel, object] = {}
    for model in ALL:
        state = damaged(model, ended(model), (table, MAIN, ZEROS), (table, BACKUP, CUT))
        state, result, why = model.start(state)
        assert (result, why.rules) == (REFUSED, ("BQ-FILE-REFUSE", "BQ-FILE-REFUSED-WRITES"))
        assert model.query(state, 0, 0, 0)[1] == UNREACHABLE
        state, later[model], _ = model.start(state)
        if model is NEW:
            assert stored(model, state) == (5 if table == GROUPS else NOT_FOUND)
        elif model is OLD:
            assert state.disk.offsets.main.table == ({} if table != GROUPS else state.broker.stored)
    # offsets were written over on 4.9.7, everything on 5.5.0, and nothing on 5.1.4
    assert later == {OLD: None if table == OFFSETS else REFUSED, MIDDLE: REFUSED, NEW: None}


def test_an_unusable_file_becomes_the_backup_unless_the_start_deletes_it() -> None:
    for model in ALL:
        state = model.start(damaged(model, ended(model), (OFFSETS, MAIN, ZEROS)))[0]
        state = model.end(state, EARLY, STOP)[0]
        assert state.disk.offsets.backup.state == ("" if model is NEW else ZEROS)


def test_a_start_of_5_0_0_writes_topics() -> None:
    model = BrokerTablesModel(Profile.of(broker="5.0.0"))
    state, _, why = model.start(damaged(model, ended(model), (TOPICS, MAIN, CUT)))
    assert "BQ-FILE-START" in why.rules
    assert state.disk.topics == TableFile(Copy(state.broker.topics), Copy(None, CUT))


def test_a_kill_before_the_timer_loses_and_one_after_it_does_not() -> None:
    for observed, kept in ((EARLY, NOT_FOUND), ("nonsense", NOT_FOUND), (LATE, 5)):
        assert stored(NEW, NEW.start(ended(NEW, KILL, observed))[0]) == kept
    state = NEW.commit(NEW.initial(), 0, 0, 0, 5)[0]
    assert NEW.watch(state, NEXT)[1] == NEXT
    state, result, why = NEW.watch(state, "30.0 s after the start")
    assert (result, why.rules) == (FIRST, ("BQ-COM-12",))
    assert NEW.watch(state, FIRST)[1] == NEXT
    state, result, _ = NEW.end(state, EARLY, KILL)
    assert result == LATE
    assert stored(NEW, NEW.start(state)[0]) == 5


def test_what_is_damaged_twice_stays_what_it_is() -> None:
    disk = NEW.initial().disk
    for first, second, left in ((GONE, ZEROS, GONE), (EMPTY, CUT, EMPTY), (EMPTY, GONE, GONE), (CUT, EMPTY, EMPTY)):
        twice = table_files.damaged(table_files.damaged(disk, TOPICS, BACKUP, first), TOPICS, BACKUP, second)
        assert twice.topics.backup == Copy(None, left)
    assert table_files.damaged(table_files.damaged(disk, TOPICS, MAIN, GONE), TOPICS, MAIN, BRACES).topics.main == Copy(
        {}
    )


def test_topics_and_groups_are_written_when_they_are_made() -> None:
    state = NEW.create_group(NEW.create_topic(NEW.initial(), 1, 2)[0], 1)[0]
    assert set(state.disk.topics.main.table) - set(state.disk.topics.backup.table) == {"T1"}
    assert state.disk.groups == TableFile(Copy(frozenset({"G0", "G1"})), Copy(frozenset({"G0"})))
    down = NEW.end(state, EARLY, KILL)[0]
    assert NEW.create_topic(down, 0, 1)[:2] == (down, UNREACHABLE)


def test_plans_reach_everything() -> None:
    kinds: Counter[str] = Counter()
    shown = ""
    for release in ("4.9.7", "5.0.0", "5.5.0"):
        profile = Profile.of(broker=release)
        bound, drawn = broker_tables.SUITE.bind(profile), sampler(broker_tables.SUITE, profile)
        for case in range(40):
            state = bound.initial
            for at, args in drawn.case(1, case, broker_tables.SUITE.steps):
                spec = broker_tables.SUITE.operations[at].spec
                if spec.guard is None or spec.guard(state):
                    given = (None, *args) if spec.observes else args
                    state, _, why = bound.by_position[at](state, *given)
                    kinds[why.kind] += 1
            shown += broker_tables.SUITE.show(state)
    assert kinds.keys() >= {"refused", "backup read", "backup read, file deleted", "table forgotten", "all read"}
    assert kinds.keys() >= {"table forgotten, topics written", FIRST, f"killed {LATE}", f"stopped {EARLY}"}
    assert all(text in shown for text in ("down: ", "running: ", "offsets zeros (", "(gone)", "({})"))
