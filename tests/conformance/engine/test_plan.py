"""Plans: written and read back as they were, the same for the same seed, and refused with a sentence."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.plan import PlanError
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

PROFILE = Profile.of("4.9.8", "5.1.4", 11)
STORE = SUITES["remote-store"]


def drawn(suite: Suite, seed: int, cases: int = 4) -> dict[int, list[Row]]:
    draw = sampler(suite, PROFILE)
    return {number: draw.case(seed, number, 30) for number in range(cases)}


def written(path: Path, suite: Suite, seed: int) -> bytes:
    plan.write(path, suite, PROFILE, seed, drawn(suite, seed).items())
    return path.read_bytes()


def with_step(path: Path, step: Any) -> Path:
    """A plan of one case with one step."""
    plan.write(path, STORE, PROFILE, 1, [])
    path.write_text(path.read_text() + json.dumps({"case": 0, "steps": [step]}) + "\n")
    return path


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_what_is_written_is_read_back(suite: Suite, tmp_path: Path) -> None:
    written(tmp_path / "p", suite, 7)
    read = plan.read(tmp_path / "p")
    assert read.suite is suite
    assert read.profile == PROFILE
    assert read.seed == 7
    assert read.rulebook == rulebook.digest()
    assert read.cases == drawn(suite, 7)
    assert repr(read.cases) == repr(drawn(suite, 7))


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_the_same_seed_writes_the_same_bytes_and_another_seed_others(suite: Suite, tmp_path: Path) -> None:
    a, b, c = (written(tmp_path / name, suite, seed) for name, seed in (("a", 7), ("b", 7), ("c", 8)))
    assert a == b
    assert set(a.splitlines()[1:]).isdisjoint(c.splitlines()[1:])


def test_cases_are_written_as_json_dumps_writes_them(tmp_path: Path) -> None:
    lines = [line for suite in SUITES.values() for line in written(tmp_path / "p", suite, 7).decode().splitlines()]
    assert [line for line in lines if json.dumps(json.loads(line)) != line] == []


def test_numbers_of_cases_are_kept(tmp_path: Path) -> None:
    cases = drawn(STORE, 1)
    plan.write(tmp_path / "p", STORE, PROFILE, 1, [(40, cases[0]), (3, cases[1])])
    assert list(plan.read(tmp_path / "p").cases) == [40, 3]


def test_a_case_is_in_the_file_as_soon_as_it_is_written(tmp_path: Path) -> None:
    cases = drawn(STORE, 1)
    with closing(plan.PlanWriter(tmp_path / "p", STORE, PROFILE, 1)) as writer:
        for number, rows in cases.items():
            writer.add(number, rows)
            assert plan.read(tmp_path / "p").cases == {known: cases[known] for known in range(number + 1)}


def test_a_last_line_that_is_cut_off_is_left_out_and_said(tmp_path: Path) -> None:
    whole = written(tmp_path / "p", STORE, 7).decode()
    last = len(whole.splitlines()[-1])
    cases = drawn(STORE, 7)
    for length in (1, last // 2, last - 1):
        (tmp_path / "p").write_text(whole[: -(length + 1)])
        read = plan.read(tmp_path / "p")
        assert read.cut_off
        assert read.cases == {number: cases[number] for number in (0, 1, 2)}
    for text in (whole, whole[:-1], whole[: -(last + 1)]):
        (tmp_path / "p").write_text(text)
        assert not plan.read(tmp_path / "p").cut_off


def test_a_line_that_is_damaged_and_not_the_end_of_a_killed_run_is_refused(tmp_path: Path) -> None:
    lines = written(tmp_path / "p", STORE, 7).decode().splitlines(keepends=True)
    for damaged in (2, 4):
        text = [line[:9] + "\n" if at == damaged else line for at, line in enumerate(lines)]
        (tmp_path / "p").write_text("".join(text))
        with pytest.raises(PlanError, match=f"line {damaged + 1} is not JSON: the plan is damaged"):
            plan.read(tmp_path / "p")


@pytest.mark.parametrize("number", [-1, 1.5, True, "1", None])
def test_cases_are_numbered_from_zero(number: Any, tmp_path: Path) -> None:
    plan.write(tmp_path / "p", STORE, PROFILE, 1, [])
    (tmp_path / "p").write_text((tmp_path / "p").read_text() + json.dumps({"case": number, "steps": []}) + "\n")
    with pytest.raises(PlanError, match="line 2: a case needs a number, from 0 up, and a list of steps"):
        plan.read(tmp_path / "p")


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ({"update": {"queue": 99, "offset": 0, "increase_only": True}}, "update cannot have queue = 99"),
        ({"update": {"queue": 0, "offset": 0.5, "increase_only": True}}, r"offset = 0\.5"),
        ({"update": {"queue": 0, "offset": 0, "increase_only": 1}}, "increase_only = 1"),
        ({"update": {"queue": False, "offset": 0, "increase_only": True}}, "queue = false"),
        ({"read": {"queue": 0, "kind": "memory", "fault": "explode"}}, 'fault = "explode"'),
        ({"persist_all": {"queues": "01"}}, 'queues = "01"'),
        ({"persist_all": {"queues": [0, 0]}}, r"queues = \[0, 0\]"),
        ({"persist_all": {"queues": [0, 9]}}, r"queues = \[0, 9\]"),
        ({"clone": {"topic": {"a": 1}}}, "topic = "),
        ({"clone": {"topic": None}}, "topic = null"),
    ],
)
def test_a_value_that_no_argument_can_have_is_refused(step: Any, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=f"line 2: .*{sentence}"):
        plan.read(with_step(tmp_path / "p", step))


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        ([["T", "b0", 0]], True),
        ([["T", "b0", 2**31]], False),
        ([["T", "b0"]], False),
        ([["T", "b0", 0, 0]], False),
        ([["T", 0, 0]], False),
        ([], True),
        (None, False),
    ],
)
def test_values_that_are_drawn_freely_are_checked_by_shape(value: Any, allowed: bool, tmp_path: Path) -> None:
    path, suite = tmp_path / "p", SUITES["allocation"]
    plan.write(path, suite, PROFILE, 1, [])
    path.write_text(path.read_text() + json.dumps({"case": 0, "steps": [{"sort_queues": {"queues": value}}]}))
    if allowed:
        assert len(plan.read(path).cases[0]) == 1
    else:
        with pytest.raises(PlanError, match="sort_queues cannot have queues"):
            plan.read(path)


def test_a_null_list_is_a_value_where_the_declaration_says_so(tmp_path: Path) -> None:
    path, suite = tmp_path / "p", SUITES["allocation"]
    row = (suite.index["allocate_by_machine_room"], ("c0", (), ("c0",), None))
    plan.write(path, suite, PROFILE, 1, [(0, [row])])
    assert plan.read(path).cases == {0: [row]}


def test_what_is_no_text_is_no_plan(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PlanError, match="is no plan: it is not UTF-8"):
        plan.read(tmp_path / "p")


def test_a_folder_is_no_plan(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"cannot be read \(.+\): name a plan file"):
        plan.read(tmp_path)


def test_a_flipped_bit_is_noticed_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "p"
    lines = written(file, STORE, 1).splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:2]))
    whole, found = file.read_bytes(), plan.read(file)
    unnoticed = 0
    for at in range(len(whole) - 1):
        file.write_bytes(bytes([*whole[:at], whole[at] ^ 1 << at % 7, *whole[at + 1 :]]))
        try:
            assert plan.read(file) == found
            unnoticed += 1
        except PlanError:
            pass
    assert unnoticed <= 2 * len("digest")  # without its key the digest is a field of a newer kit


def test_a_plan_that_was_changed_by_hand_is_read_without_its_digests(tmp_path: Path) -> None:
    file = tmp_path / "p"
    written(file, STORE, 1)
    found = plan.read(file)
    file.write_text(file.read_text().replace('"seed": 1,', '"seed": 2,'))
    with pytest.raises(PlanError, match=r'line 1 is damaged: .* take its "digest" out'):
        plan.read(file)
    file.write_text(re.sub(', "digest": "[0-9a-f]{16}"', "", file.read_text()))
    assert plan.read(file).cases == found.cases
    assert plan.read(file).seed == 2


@pytest.mark.parametrize(
    "header",
    [
        {"seed": "x"},
        {"seed": None},
        {"profile": None},
        {"profile": {"client": "newest", "broker": "5.5.0", "java": "17"}},
        {"profile": {"client": "5.5.0", "broker": "5.5.0", "java": "x"}},
    ],
    ids=json.dumps,
)
def test_a_header_that_says_nothing_of_use_is_refused(header: dict[str, Any], tmp_path: Path) -> None:
    written(tmp_path / "p", STORE, 1)
    first, *rest = (tmp_path / "p").read_text().splitlines()
    given = {key: value for key, value in json.loads(first).items() if key != "digest"} | header
    (tmp_path / "p").write_text("\n".join([json.dumps(given), *rest]))
    with pytest.raises(PlanError, match="line 1: the header's seed or profile"):
        plan.read(tmp_path / "p")


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    for content in ("", "\n \n"):
        (tmp_path / "p").write_text(content)
        with pytest.raises(PlanError, match="p is empty: name a file that a run wrote"):
            plan.read(tmp_path / "p")
