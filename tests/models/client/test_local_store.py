"""The local offset store: its model, its files, the port's own store, and the real class of Java clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from every import every

from rocketmq_conformance.conformance.targets.offset_file_damage import GARBAGE_TEXT, damage_offset_file, store_folder
from rocketmq_conformance.conformance.targets.port.local_store import LocalStore as PortStore
from rocketmq_conformance.conformance.targets.port.offset_file import parse, render
from rocketmq_conformance.models.client.local_store import EMPTY, GARBAGE, MISSING, LocalStore, LocalStoreModel
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err, Result, agrees
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.local_store import SUITE

NEW, OLD, WIDE = (LocalStoreModel(Profile.of(client=release), ORDINARY) for release in ("5.5.0", "5.1.4", "5.4.0"))
#: The first release that merges in either line, and the last that does not.
GENERATIONS = {"4.9.7": False, "4.9.8": True, "5.1.4": False, "5.2.0": True, "5.5.0": True}
BIG = 2**31


# --- the model -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", GENERATIONS)
def test_entries_leave_the_file_in_old_releases_only(release: str) -> None:
    model = LocalStoreModel(Profile.of(client=release), ORDINARY)
    state, result, why = model.persist_all(LocalStore({1: 9}, main={0: 5}), (1, 2))
    assert result is None
    assert state.main == ({0: 5, 1: 9} if GENERATIONS[release] else {1: 9})
    assert state.backup == {0: 5}
    assert state.memory == {1: 9}
    assert why.kind == ("main" if GENERATIONS[release] else "fresh, others lost")


@pytest.mark.parametrize("release", GENERATIONS)
def test_persist_and_remove_do_nothing_in_old_releases(release: str) -> None:
    model, state = LocalStoreModel(Profile.of(client=release), ORDINARY), LocalStore({0: 5})
    assert model.persist(state, 0)[0].main == ({0: 5} if GENERATIONS[release] else MISSING)
    assert model.remove(state, 0)[0].memory == ({} if GENERATIONS[release] else {0: 5})


def test_an_empty_set_writes_nothing() -> None:
    for model in (NEW, OLD):
        state = LocalStore({0: 5})
        assert model.persist_all(state, ())[0] is state


def test_a_set_without_entries_still_writes_a_file() -> None:
    assert NEW.persist_all(LocalStore(), (1,))[0].main == {}
    assert OLD.persist_all(LocalStore({0: 5}), (1,))[0].main == {}


@pytest.mark.parametrize("main", [MISSING, EMPTY, GARBAGE])
def test_the_backup_takes_the_place_of_an_unreadable_file(main: str) -> None:
    state = LocalStore(main=main, backup={0: 5})
    assert NEW.read(state, 0, "store")[1] == 5
    assert NEW.restart(state)[:2] == (LocalStore({0: 5}, frozenset(), main, {0: 5}), None)
    written = NEW.persist(state._replace(memory={1: 7}), 1)[0]
    assert written.main == {0: 5, 1: 7}
    assert written.backup == ({0: 5} if main == MISSING else main)


def test_a_broken_backup_is_an_error_when_it_is_needed() -> None:
    state = LocalStore({0: 1}, frozenset({0}), EMPTY, GARBAGE)
    assert NEW.restart(state)[:2] == (LocalStore(main=EMPTY, backup=GARBAGE), Err("CLIENT"))
    assert NEW.read(state, 0, "store")[1] == -1
    assert NEW.persist(state, 0)[0] is state
    assert NEW.persist_all(state, (0,))[0] is state
    assert OLD.persist_all(state, (0,))[0] == LocalStore({0: 1}, frozenset({0}), {0: 1}, EMPTY)
    assert NEW.restart(state._replace(main={0: 3}))[1] is None


def test_a_broken_file_reaches_the_backup() -> None:
    state = NEW.persist(LocalStore({0: 1}, main=GARBAGE), 0)[0]
    assert state.backup == GARBAGE
    assert NEW.restart(NEW.damage(state, "main", "empty")[0])[1] == Err("CLIENT")


@pytest.mark.parametrize(
    ("memory", "expected"),
    [({}, "memory empty"), ({0: 1}, "file raises memory"), ({0: 9}, "file lowers memory"), ({0: 5}, "file is memory")],
)
def test_reading_the_file_overwrites_memory(memory: Mapping[int, int], expected: str) -> None:
    state, result, why = NEW.read(LocalStore(memory, main={0: 5}), 0, "store")
    assert (state.memory, result, why.kind) == ({0: 5}, 5, expected)


def test_frozen_entries_hold_until_they_are_removed_or_the_process_ends() -> None:
    frozen = NEW.freeze(LocalStore(main={0: 5}), 0, 100)[0]
    assert NEW.update(frozen, 0, 6, False)[0] is frozen
    assert NEW.read(frozen, 0, "store")[:2] == (frozen, 5)
    assert NEW.freeze(frozen, 0, 20)[0].memory == {0: 20}
    assert NEW.remove(frozen, 0)[0] == LocalStore(main={0: 5})
    assert NEW.persist(frozen, 0)[0].main == {0: 100}
    assert NEW.restart(frozen)[0].frozen == frozenset()


def test_no_queue_has_no_effect_and_no_offset() -> None:
    state = LocalStore()
    assert NEW.update(state, -1, 5, False)[0] is state
    assert NEW.freeze(state, -1, 5)[0] is state
    assert NEW.persist(state, -1)[0] is state
    assert NEW.remove(state, -1)[0] is state
    assert [model.read(state, -1, "store")[1] for model in (NEW, OLD)] == [-1, -1]


def test_client_540_reads_only_offsets_of_32_bits() -> None:
    for offset, readable in ((BIG - 1, True), (BIG, False), (-BIG, True), (-BIG - 1, False)):
        state = LocalStore(main={0: offset, 1: 7})
        assert WIDE.read(state, 1, "store")[1] == (7 if readable else -1)
        assert NEW.read(state, 1, "store")[1] == 7
        assert ("OFF-L-INT" in WIDE.restart(state)[2].rules) is not readable
    state = WIDE.persist(LocalStore({0: BIG}), 0)[0]
    assert state.main == {0: BIG}
    state = WIDE.persist(WIDE.persist(state, 0)[0], 0)[0]
    assert WIDE.restart(state)[1] == Err("CLIENT")


def test_sampled_cases_reach_every_branch_and_change_no_state() -> None:
    kinds: Counter[tuple[tuple[str, ...], str]] = Counter()
    for release in ("5.5.0", "5.4.0", "5.1.4"):
        profile = Profile.of(client=release)
        bound, drawn = SUITE.bind(profile), sampler(SUITE, profile)
        for case in range(200):
            state = bound.initial
            for at, args in drawn.case(5, case, SUITE.steps):
                shown = SUITE.show(state)
                after, _, why = bound.by_position[at](state, *args)
                assert SUITE.show(state) == shown
                kinds[why.rules, why.kind] += 1
                state = after
    assert {rule for rules, _ in kinds for rule in rules} == set(SUITE.rules)
    assert {kind for rules, kind in kinds if rules == ("OFF-L-REM",)} == {
        "entry",
        "frozen entry",
        "no entry",
        "does nothing",
    }


# --- files ---------------------------------------------------------------------------------------------------

TABLE = {ORDINARY.queues[0]: 7, ORDINARY.queues[3]: -1, ORDINARY.queues[1]: 2**53 + 1}
GLUED = '{\n\t"offsetTable":{{\n\t\t\t"brokerName":"b",\n\t\t\t"queueId":1,\n\t\t\t"topic":"T"\n\t\t}:7\n\t}\n}'


def test_a_table_is_read_as_it_was_written() -> None:
    assert parse(render(TABLE)) == TABLE
    assert parse(render({})) == {}


def test_both_layouts_of_java_are_read() -> None:
    for text in (GLUED, GLUED.replace("{{", "{\n\t\t{").replace("}:7", "}:7")):
        assert parse(text) == {MessageQueue("T", "b", 1): 7}


@every(
    "text",
    [
        GARBAGE_TEXT,
        "",
        "[]",
        '{"offsetTable":{"q":1}}',
        '{"offsetTable":{{"topic":"T"}:1}}',
        GLUED.replace(":7", ":x"),
        GLUED.replace("}:7", "}:7,"),
        GLUED + "}",
        GLUED[:-1],
    ],
)
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)


def test_damage_makes_empties_and_deletes_files(tmp_path: Path) -> None:
    folder = store_folder(tmp_path, "G")
    damage_offset_file(folder, "main", "delete")
    assert not folder.exists()
    damage_offset_file(folder, "backup", "garbage")
    assert (folder / "offsets.json.bak").read_text() == GARBAGE_TEXT
    damage_offset_file(folder, "backup", "empty")
    assert (folder / "offsets.json.bak").read_text() == ""
    damage_offset_file(folder, "backup", "delete")
    assert list(folder.iterdir()) == []
    assert folder == tmp_path / "10.0.0.1@conformance" / "G"
    damage_offset_file(folder, "backup", "empty", name="table")
    assert [file.name for file in folder.iterdir()] == ["table.bak"]


# --- the port ------------------------------------------------------------------------------------------------

Calls = Mapping[str, Callable[..., Result]]


def first_difference(begin: Callable[[int], Calls], profile: Profile, cases: int) -> str | None:
    """The first operation whose answer differs from the model's, within so many cases."""
    bound, drawn = SUITE.bind(profile), sampler(SUITE, profile)
    names = [op.spec.name for op in SUITE.operations]
    for case in range(cases):
        calls, state = begin(case), bound.initial
        for at, args in drawn.case(11, case, SUITE.steps):
            state, expected, why = bound.by_position[at](state, *args)
            observed = calls[names[at]](*args)
            if not agrees(expected, observed):
                return f"case {case}: {SUITE.operation((at, args))} answers {observed!r}, not {expected!r} ({why})"
    return None


def test_the_port_offers_every_operation() -> None:
    assert tuple(PortStore().calls()) == SUITE.operations


# --- the real class ------------------------------------------------------------------------------------------

#: Releases on both sides of every change, and the one with an odd parser.
RELEASES = ("4.7.1", "4.9.8", "5.0.0", "5.1.4", "5.2.0", "5.4.0", "5.5.0")


@pytest.mark.java
@pytest.mark.parametrize("release", RELEASES)
def test_the_model_is_the_real_class(release: str) -> None:
    from rocketmq_conformance.conformance.targets.java_client.local_store import JavaLocalStore
    from rocketmq_conformance.conformance.targets.java_client.release import java_release

    store = JavaLocalStore(java_release(release))

    def begin(case: int) -> Calls:
        store.open()
        return {operation.spec.name: call for operation, call in store.calls().items()}

    assert first_difference(begin, Profile.of(client=release), 300) is None


@pytest.mark.java
@pytest.mark.parametrize("release", ["4.7.1", "5.5.0"])
def test_the_port_and_the_real_class_read_each_others_files(release: str, tmp_path: Path) -> None:
    from rocketmq_conformance.conformance.targets.java_client.local_store import JavaLocalStore
    from rocketmq_conformance.conformance.targets.java_client.release import java_release

    java = JavaLocalStore(java_release(release))
    port = PortStore()
    port.open(tmp_path, "G")
    java.update(0, 2**53 + 1, False)
    java.update(3, -1, False)
    java.persist_all((0, 3))
    port.folder.mkdir(parents=True)
    port.file.write_bytes((java.folder / "offsets.json").read_bytes())
    assert port.restart() is None
    assert port.clone("") == ((0, 2**53 + 1), (3, -1))
    port.update(1, 8, False)
    port.persist(1)
    (java.folder / "offsets.json").write_bytes(port.file.read_bytes())
    assert java.restart() is None
    assert java.clone("") == ((0, 2**53 + 1), (1, 8), (3, -1))


@pytest.mark.java
def test_the_users_own_offsets_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rocketmq_conformance.conformance.adapter import AdapterError
    from rocketmq_conformance.conformance.targets.java_client.local_store import JavaLocalStore
    from rocketmq_conformance.conformance.targets.java_client.release import java_release

    real = java_release("5.5.0")

    class Careless:
        LOCAL_OFFSET_STORE_DIR = str(tmp_path / ".rocketmq_offsets")

    def load(name: str) -> object:
        return Careless if name.endswith("LocalFileOffsetStore") else original(name)

    original = real.load
    monkeypatch.setattr(real, "load", load)
    with pytest.raises(AdapterError, match=r"set -Drocketmq\.client\.localOffsetStoreDir"):
        JavaLocalStore(real)
    assert list(tmp_path.iterdir()) == []
