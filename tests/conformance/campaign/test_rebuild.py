"""Rebuilding: what comes back from the seed is what was played, and what cannot come back is said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from campaign_maker import make, tabled, write_run
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.campaign.analysis.rebuild import (
    OTHER_DIGEST,
    Rebuilder,
    UnparsedResult,
    parse_result,
)
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, CampaignError, open_campaign
from rocketmq_conformance.conformance.engine.divergence import format_result
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import UNDEFINED, Err, Outcome, Result, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.operation import Operation

pytestmark = pytest.mark.tables
MUTANT = "mutant:failure-is-new"
CLIENT = ("allocation", "remote-store", "local-store", "start-push", "start-lite-pull", "start-pull")


class Odd(Port):
    """The port, except for some operations."""

    def __init__(self, odd: Callable[[Operation, int], Outcome | None]) -> None:
        super().__init__()
        self.odd = odd
        self.step = 0

    def calls(self, suite: Any) -> None:
        return None

    def reset(self, case: Any) -> None:
        super().reset(case)
        self.step = 0

    def apply(self, operation: Operation) -> Outcome:
        self.step += 1
        found = self.odd(operation, self.step)
        return super().apply(operation) if found is None else found


def odd(folder: Path, answers: Callable[[Operation, int], Outcome | None], **options: Any) -> Campaign:
    return make(folder, "python:odd", cases=20, block=10, adapters={"python:odd": lambda: Odd(answers)}, **options)


def stored(campaign: Campaign, suite: str, address: str) -> dict[int, list[dict[str, Any]]]:
    """Stored steps by case; what the rules leave open does not come back."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in campaign.read("steps", suite=suite).to_pylist():
        del row["suite"]
        if row["expected"] == "anything":
            row |= {"observed": "anything", "observed_class": "undefined"}
        if row["address"] == address:
            found.setdefault(row["case"], []).append(row)
    return found


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("campaign")
    profiles = {MUTANT: Profile.of(client="5.3.0")}
    return make(folder, "port", MUTANT, suites=CLIENT, cases=40, block=20, sample=1, profiles=profiles)


@pytest.mark.parametrize("suite", CLIENT)
@pytest.mark.parametrize("address", ["port", MUTANT])
def test_what_comes_back_is_what_was_played(campaign: Campaign, suite: str, address: str) -> None:
    played = stored(campaign, suite, address)
    traces = list(Rebuilder(campaign, suite, address).traces(range(40)))
    assert [trace.case for trace in traces] == sorted(played) == list(range(40))
    for trace in traces:
        assert trace.missing == ""
        assert trace.rows() == played[trace.case]
        assert trace.steps[0].before is not None or suite == "allocation"


def test_diverging_cases_are_among_them(campaign: Campaign) -> None:
    traces = Rebuilder(campaign, "remote-store", MUTANT).traces(range(40))
    ends = [trace.rows()[-1]["diverges"] for trace in traces]
    assert 5 < sum(ends) < 40


def test_nothing_is_taken_from_the_stored_steps_when_the_seed_gives_it(campaign: Campaign, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(campaign.folder, tmp_path / "c"))
    shutil.rmtree(folder / "steps")
    trace = Rebuilder(open_campaign(folder), "remote-store", MUTANT).trace(7)
    assert trace.rows() == stored(campaign, "remote-store", MUTANT)[7]


def test_only_cases_of_finished_blocks_come_back(campaign: Campaign, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(campaign.folder, tmp_path / "c"))
    blocks.path(folder, "cases", "remote-store", 0).unlink()
    rebuilder = Rebuilder(open_campaign(folder), "remote-store", "port")
    assert [trace.case for trace in rebuilder.traces([99, 31, 3, 20])] == [20, 31]
    with pytest.raises(CampaignError, match="has no case 3 of remote-store on port"):
        rebuilder.trace(3)


def changed(campaign: Campaign, folder: Path, *, keep: bool, **columns: Any) -> Campaign:
    """The campaign with other values in the rows of block 0 of remote-store, and with or without its steps."""
    shutil.copytree(campaign.folder, folder)
    rows = campaign.read("cases", suite="remote-store", block=0).to_pylist()
    rows = [{**row, **columns} for row in rows]
    blocks.write(blocks.path(folder, "cases", "remote-store", 0), tabled("cases", rows))
    if not keep:
        shutil.rmtree(folder / "steps")
    return open_campaign(folder)


@pytest.mark.parametrize("columns", [{"digest": 5}, {"steps": 41}, {"steps": 12}])
def test_what_does_not_fit_the_stored_case_is_not_given_out(
    campaign: Campaign, tmp_path: Path, columns: dict[str, int]
) -> None:
    trace = Rebuilder(changed(campaign, tmp_path / "c", keep=False, **columns), "remote-store", "port").trace(3)
    assert trace.steps == ()
    assert trace.missing == OTHER_DIGEST


def test_stored_steps_are_used_for_what_does_not_come_back(campaign: Campaign, tmp_path: Path) -> None:
    trace = Rebuilder(changed(campaign, tmp_path / "c", keep=True, digest=5), "remote-store", "port").trace(3)
    assert trace.missing == ""
    assert trace.rows() == stored(campaign, "remote-store", "port")[3]
    assert {step.before for step in trace.steps} == {None}


def test_another_rule_book_or_seed_is_noticed(campaign: Campaign, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(campaign.folder, tmp_path / "c"))
    shutil.rmtree(folder / "steps")
    content = json.loads((folder / "campaign.json").read_text())
    content["configuration"]["seed"] += 1
    (folder / "campaign.json").write_text(json.dumps(content))
    traces = list(Rebuilder(open_campaign(folder), "remote-store", "port").traces(range(40)))
    assert {trace.missing for trace in traces} == {OTHER_DIGEST}


def test_a_case_that_nothing_decided_comes_back_up_to_there(tmp_path: Path) -> None:
    timeout = Err("TIMEOUT", definite=False)
    campaign = odd(tmp_path, lambda operation, step: timeout if step == 6 else None)
    for trace in Rebuilder(campaign, "remote-store", "python:odd").traces(range(20)):
        assert trace.verdict == "undecided"
        assert 5 <= len(trace.steps) < 40
        assert trace.missing.endswith(" ended in TIMEOUT, which decides nothing")


def test_a_case_that_could_not_be_run_says_why(tmp_path: Path) -> None:
    def broken(operation: Operation, step: int) -> None:
        raise AdapterError("The cable is gone.")

    trace = Rebuilder(odd(tmp_path, broken), "remote-store", "python:odd").trace(4)
    assert (trace.verdict, trace.steps, trace.missing) == ("could not run", (), "The cable is gone.")


def test_operations_that_are_not_offered_are_left_out(tmp_path: Path) -> None:
    def no_clones(operation: Operation, step: int) -> Outcome | None:
        return Unsupported("no clones") if operation.spec.name in ("clone", "freeze") else None

    campaign = odd(tmp_path, no_clones, sample=1)
    played = stored(campaign, "remote-store", "python:odd")
    for trace in Rebuilder(campaign, "remote-store", "python:odd").traces(range(20)):
        assert trace.missing == ""
        assert trace.rows() == played[trace.case]
        assert len(trace.steps) < 40


def test_what_is_offered_now_and_then_does_not_come_back(tmp_path: Path) -> None:
    def no_large_offsets(operation: Operation, step: int) -> Outcome | None:
        return Unsupported("too large") if getattr(operation, "offset", 0) >= 13 else None

    traces = list(Rebuilder(odd(tmp_path, no_large_offsets), "remote-store", "python:odd").traces(range(20)))
    assert {trace.missing for trace in traces} <= {"which of its steps were left out is not known", OTHER_DIGEST}
    assert all(not trace.steps for trace in traces)


def test_suites_whose_results_depend_on_the_time_come_back_only_as_far_as_they_were_stored(tmp_path: Path) -> None:
    address = "broker:5.5.0"
    configuration = {"addresses": [address], "suites": ["broker-search"], "cases": 2, "seed": 1, "block": 10}
    content = {"version": 1, "kit": "1", "rulebook": "", "configuration": configuration}
    (tmp_path / "campaign.json").write_text(json.dumps(content))
    write_run(tmp_path, [address], {address: Profile()}, 1)
    voices = {"voice": 0, "rules_voice": 0}
    texts = {"reason": "", "unsupported": [], "rules": [], "answers": [], "transitions": [], "arm": "random"}
    case = {"address": address, "verdict": "conforms", "digest": 0, **voices, "steps": 1, "seconds": 0.1, **texts}
    step = {
        "case": 1,
        "address": address,
        "step": 1,
        "operation": "search",
        "arguments": '{"queue": 0, "around": [1, 2]}',
        "expected": "3",
        "observed": "3",
        "rules": ["BQ-SEARCH-1"],
        "state_kind": "within",
        "expected_class": "positive",
        "observed_class": "positive",
        "diverges": False,
    }
    write = lambda table, rows: blocks.write(  # noqa: E731
        blocks.path(tmp_path, table, "broker-search", 0), tabled(table, rows)
    )
    write("cases", [{"case": 0, **case}, {"case": 1, **case}])
    write("steps", [step])
    first, second = Rebuilder(open_campaign(tmp_path), "broker-search", address).traces([0, 1])
    assert first.steps == ()
    assert first.missing == "its results depend on the time of the run, and its steps were not stored"
    assert second.missing == ""
    assert (second.steps[0].row[1], second.steps[0].observed) == ((0, (1, 2)), 3)


def test_a_suite_that_this_kit_does_not_have(campaign: Campaign) -> None:
    with pytest.raises(CampaignError, match="has cases of the suite 'broker-moon', which this kit does not have"):
        Rebuilder(campaign, "broker-moon", "port")


def test_a_stored_step_of_an_unknown_operation(campaign: Campaign, tmp_path: Path) -> None:
    odd_one = changed(campaign, tmp_path / "c", keep=True, digest=5)
    file = blocks.path(odd_one.folder, "steps", "remote-store", 0)
    rows = odd_one.read("steps", suite="remote-store", block=0).to_pylist()
    blocks.write(
        file,
        pa.Table.from_pylist([{**row, "operation": "dance"} for row in rows], odd_one.read("steps").schema.remove(0)),
    )
    with pytest.raises(CampaignError, match="has steps of 'dance', which this kit's suite remote-store does not have"):
        Rebuilder(odd_one, "remote-store", "port").trace(3)


scalars = st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None))
results = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=8)
codes = st.sampled_from(["SYSTEM_BUSY", "CLIENT", "17", "two words"])
errors = st.builds(Err, codes, commits=st.sampled_from([(), ((0, 5),), ((0, -1, "awaited"), (1, 2**53))]))


@given(results | errors)
def test_a_result_is_read_as_it_was_written(result: Result) -> None:
    found = parse_result(format_result(result))
    assert found == result
    assert repr(found) == repr(result)


def test_what_the_rules_leave_open_is_read_as_such() -> None:
    assert parse_result(format_result(UNDEFINED)) is UNDEFINED
    assert parse_result(format_result("anything")) == "anything"


@pytest.mark.parametrize("text", ["<object at 0x7f>", "", "error ", "1 +", "f(1)"])
def test_what_is_no_result_keeps_its_text(text: str) -> None:
    found = parse_result(text)
    assert isinstance(found, UnparsedResult)
    assert format_result(found) == text
