"""The difference of two campaigns: nothing is called equal that was not compared, and what differs is told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from campaign_maker import changed, make
from click.testing import CliRunner, Result

from rocketmq_conformance.conformance.campaign.analysis.compared_cases import (
    Compared,
    compare_range,
    compare_steps,
)
from rocketmq_conformance.conformance.campaign.analysis.diff import NothingComparedError, diff
from rocketmq_conformance.conformance.campaign.analysis.parts import Part, ranges
from rocketmq_conformance.conformance.campaign.analysis.rebuild import Rebuilder
from rocketmq_conformance.conformance.campaign.analysis.suite_comparison import REBUILT
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, CampaignError, open_campaign
from rocketmq_conformance.conformance.cli.campaign_diff import diff as command
from rocketmq_conformance.conformance.engine.divergence import said
from rocketmq_conformance.conformance.engine.first_difference import CUT_SHORT, LEFT_OPEN, LEFT_OUT
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Err, Outcome, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.campaign_diff import DIFFERENT, NOTHING, SAME, UNDECIDED, CampaignDifference
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation

pytestmark = pytest.mark.tables
ONE, OTHER = "mutant:freeze-ignored", "mutant:no-refresh"
CASES, BLOCK = 120, 50


class Odd(Port):
    """The port, except for some operations of some cases."""

    def __init__(self, odd: Callable[[int, Operation], Outcome | None]) -> None:
        super().__init__()
        self.odd = odd
        self.case = 0

    def calls(self, suite: Any) -> None:
        return None

    def reset(self, case: Any) -> None:
        super().reset(case)
        self.case = case.number

    def apply(self, operation: Operation) -> Outcome:
        found = self.odd(self.case, operation)
        return super().apply(operation) if found is None else found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("campaigns")


@pytest.fixture(scope="module")
def port(folder: Path) -> Campaign:
    return make(folder / "port", "port", cases=CASES, block=BLOCK)


@pytest.fixture(scope="module")
def one(folder: Path) -> Campaign:
    return make(folder / "one", ONE, cases=CASES, block=BLOCK)


@pytest.fixture(scope="module")
def other(folder: Path) -> Campaign:
    return make(folder / "other", OTHER, cases=CASES, block=BLOCK)


@pytest.fixture(scope="module")
def known(port: Campaign, one: Campaign) -> CampaignDifference:
    """What is between the port and a mutant."""
    return diff(port, one)


def odd(folder: Path, answers: Callable[[int, Operation], Outcome | None], **options: Any) -> Campaign:
    adapters = {"python:odd": lambda: Odd(answers)}
    return make(folder, "python:odd", cases=CASES, block=BLOCK, adapters=adapters, **options)


def configured(campaign: Campaign, folder: Path, **values: Any) -> Campaign:
    shutil.copytree(campaign.folder, folder)
    content = json.loads((folder / "campaign.json").read_text())
    for key, value in values.items():
        (content if key in content else content["configuration"])[key] = value
    (folder / "campaign.json").write_text(json.dumps(content))
    return open_campaign(folder)


def digests(campaign: Campaign) -> dict[int, int]:
    rows = campaign.read("cases", ["case", "digest"], "remote-store").to_pylist()
    return {row["case"]: row["digest"] for row in rows}


# --- what is counted ------------------------------------------------------------------------------------------------


def test_a_campaign_is_the_same_as_itself(one: Campaign) -> None:
    found = diff(one, one)
    assert (found.verdict, found.exit_code) == (SAME, 0)
    assert [(suite.suite, suite.same, suite.different) for suite in found.suites] == [("remote-store", CASES, 0)]
    assert found.differences == []


def test_two_that_differ_are_distinguished_case_by_case(
    port: Campaign, one: Campaign, known: CampaignDifference
) -> None:
    left, right = digests(port), digests(one)
    differing = {case for case in left if left[case] != right[case]}
    assert (known.verdict, known.exit_code) == (DIFFERENT, 1)
    assert known.suites[0].different == len(differing) == sum(difference.cases for difference in known.differences)
    assert known.suites[0].same == CASES - len(differing)
    counts = [difference.cases for difference in known.differences]
    assert counts == sorted(counts, reverse=True)
    assert len({difference.fingerprint for difference in known.differences}) == len(counts)


def test_the_sides_can_be_swapped(one: Campaign, other: Campaign) -> None:
    there, back = diff(one, other), diff(other, one)
    assert there.suites[0].different == back.suites[0].different
    forth = [(one.case, one.step, one.operation, one.cases, one.a, one.b) for one in there.differences]
    turned = [(one.case, one.step, one.operation, one.cases, one.b, one.a) for one in back.differences]
    assert sorted(forth, key=lambda row: row[:2]) == sorted(turned, key=lambda row: row[:2])


def in_range(a: Campaign, b: Campaign, *, one_profile: bool) -> tuple[Part, Compared]:
    """All cases of two campaigns of one suite and address, compared."""
    (part,) = ranges(a.suites[0], [a, b], 1000)
    addresses = a.addresses[0], b.addresses[0]
    return part, compare_range(part, a, b, addresses=addresses, one_profile=one_profile, most=1000)


def test_what_the_divergences_say_is_what_the_steps_say(one: Campaign, other: Campaign) -> None:
    part, by_divergences = in_range(one, other, one_profile=True)
    _, unknown = in_range(one, other, one_profile=False)
    assert (by_divergences.unknown, unknown.groups) == (0, {})
    assert len(unknown.parting) > 50
    by_steps = compare_steps(part._replace(cases=unknown.parting.tolist()), one, other, (ONE, OTHER))
    assert by_steps.reasons == {}
    assert by_divergences.groups == by_steps.groups


def test_the_exemplar_is_the_shortest(one: Campaign, known: CampaignDifference) -> None:
    rows = one.read("divergences").to_pylist()
    for difference in known.differences:
        (row,) = [row for row in rows if row["case"] == difference.case]
        alike = [
            (each["step"], each["case"])
            for each in rows
            if all(each[key] == row[key] for key in ("operation", "state_kind", "expected_class", "observed_class"))
        ]
        assert (difference.step, difference.case) == min(alike)
        assert difference.cases == len(alike)
        step = Rebuilder(one, row["suite"], row["address"]).trace(difference.case).steps[difference.step - 1]
        spec = SUITES[row["suite"]].operations[step.row[0]].spec
        assert (difference.a.did, difference.b.did) == (said(spec, step.expected), said(spec, step.observed))
        assert (difference.a.conforms, difference.b.conforms) == (True, False)
        assert difference.b.expected == said(spec, step.expected)
        assert [rule["id"] for rule in difference.b.rules] == row["rules"]
        assert all(rule["sentence"] for rule in difference.b.rules)
        assert len(difference.before) == difference.step - 1
        assert difference.operation.startswith(f"{row['operation']}(")


def test_what_separates_is_named(known: CampaignDifference) -> None:
    reads = [
        difference
        for difference in known.differences
        if difference.operation.startswith("read(queue") and difference.cases > 5
    ]
    assert reads
    for difference in reads:
        assert difference.separates[0].feature in ("earlier freeze of the same queue", "state: frozen has the queue")
        assert difference.separates[0].diverging == 1
        assert difference.separates[0].others < 0.2


# --- releases -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def releases(folder: Path) -> tuple[Campaign, Campaign]:
    """Two clients that conform to their release: what is no release of its own here is a mutant."""
    old, new = {"mutant:null-is-not-found": Profile.of(client="4.9.8")}, {"port": Profile.of(client="5.1.0")}
    sizes = {"cases": CASES, "block": BLOCK}
    a = make(folder / "4.9.8", "mutant:null-is-not-found", profiles=old, **sizes)  # type: ignore[arg-type]
    return a, make(folder / "5.1.0", "port", profiles=new, **sizes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def changes(releases: tuple[Campaign, Campaign]) -> CampaignDifference:
    """What is between the two releases."""
    return diff(*releases)


def test_two_releases_are_reported_with_the_rules_of_each(changes: CampaignDifference) -> None:
    assert changes.a.profile["client"] == "4.9.8"
    assert changes.b.profile["client"] == "5.1.0"
    difference = next(one for one in changes.differences if one.a.state_kind == "no queue")
    assert (difference.a.did, difference.a.conforms, difference.b.did, difference.b.conforms) == (
        "-1",
        True,
        "-3",
        True,
    )
    assert [rule["id"] for rule in difference.a.rules] == ["OFF-VAL-1"]
    assert difference.separates[0].feature == "queue < 0"


def test_a_case_that_ends_before_the_two_part_is_not_called_equal(changes: CampaignDifference) -> None:
    # in 4.9.8 a refusal reads as -1, which the mutant does not know: its case ends where it diverges from its model
    suite = changes.suites[0]
    assert CUT_SHORT in suite.undecided
    assert suite.same + suite.different + sum(suite.undecided.values()) == CASES


def test_only_so_many_are_rebuilt(releases: tuple[Campaign, Campaign], changes: CampaignDifference) -> None:
    whole, part = changes.suites[0], diff(*releases, rebuilt=10).suites[0]
    looked_at = whole.different + sum(whole.undecided.values())
    assert part.different + sum(part.undecided.values()) == 10
    assert part.not_looked_at == looked_at - 10
    assert part.same == whole.same


# --- what is not compared -------------------------------------------------------------------------------------------


def test_a_case_that_only_one_decided_is_not_called_equal(port: Campaign, tmp_path: Path) -> None:
    timeout = Err("TIMEOUT", definite=False)
    b = odd(tmp_path, lambda case, operation: timeout if case % 3 == 0 else None)
    found = diff(port, b)
    assert found.suites[0].undecided == {"undecided in B, decided in the other": CASES // 3}
    assert found.suites[0].same == CASES - CASES // 3
    assert (found.verdict, found.exit_code) == (UNDECIDED, 3)
    both = diff(b, b)
    assert (both.suites[0].neither, both.suites[0].undecided, both.verdict) == (CASES // 3, {}, SAME)


def test_cases_that_only_one_has_are_counted(port: Campaign, tmp_path: Path) -> None:
    less = changed(port, tmp_path / "less", lambda row: row if row["case"] >= 20 else None)
    more = changed(port, tmp_path / "more", lambda row: row if row["case"] < 70 else None)
    suite = diff(less, more).suites[0]
    assert (suite.same, suite.only_a, suite.only_b) == (50, 50, 20)


def test_cases_without_a_digest_are_compared_by_verdict_only(port: Campaign, one: Campaign, tmp_path: Path) -> None:
    a = changed(port, tmp_path / "a", lambda row: {**row, "digest": 0})
    same = diff(a, port)
    assert (same.suites[0].verdict_only, same.suites[0].same, same.verdict, same.exit_code) == (CASES, 0, NOTHING, 3)
    b = changed(one, tmp_path / "b", lambda row: {**row, "digest": 0})
    found = diff(a, b)
    diverging = one.read("divergences").num_rows
    assert found.suites[0].different == diverging
    assert found.suites[0].verdict_only == CASES - diverging
    difference = found.differences[0]
    assert (difference.a.conforms, difference.b.conforms) == (True, False)
    assert diff(b, a).differences[0].a == difference.b


def test_a_digest_that_fits_nothing_is_not_called_a_difference(port: Campaign, tmp_path: Path) -> None:
    a = changed(port, tmp_path / "a", lambda row: {**row, "digest": row["digest"] ^ (row["case"] == 77)})
    found = diff(a, port)
    assert found.suites[0].different == 0
    assert sum(found.suites[0].undecided.values()) == 1
    assert found.verdict == UNDECIDED


def test_operations_that_only_one_offers_end_the_comparison_of_a_case(port: Campaign, tmp_path: Path) -> None:
    def no_clones(case: int, operation: Operation) -> Outcome | None:
        return Unsupported("no clones") if case < 30 and operation.spec.name == "clone" else None

    found = diff(port, odd(tmp_path, no_clones))
    assert found.suites[0].undecided == {LEFT_OUT: sum(has_clone(port, case) for case in range(30))}
    assert found.suites[0].same == CASES - found.suites[0].undecided[LEFT_OUT]


def has_clone(campaign: Campaign, case: int) -> bool:
    rebuilder = Rebuilder(campaign, "remote-store", "port")
    return any(rebuilder.suite.operations[row[0]].spec.name == "clone" for row in rebuilder.plan(case))


def test_what_the_rules_leave_open_is_no_difference(folder: Path) -> None:
    suites = ("allocation",)
    a = make(folder / "open-a", "port", suites=suites, cases=300, block=100)
    b = configured(a, folder / "open-b")
    # a case whose results the rules leave open, with another digest on either side
    open_case = next(
        trace.case
        for trace in Rebuilder(a, "allocation", "port").traces(range(300))
        if any(content == "anything" for content in (row["expected"] for row in trace.rows()))
    )
    part = Part("allocation", ([open_case // 100], [open_case // 100]), [open_case])
    assert compare_steps(part, a, b, ("port", "port")).reasons == {LEFT_OPEN: (open_case, 1)}


# --- campaigns that do not belong together --------------------------------------------------------------------------


def test_other_seeds(port: Campaign, tmp_path: Path) -> None:
    with pytest.raises(NothingComparedError, match=r"Nothing can be compared: the seed is 11 in .* and 12 in"):
        diff(port, configured(port, tmp_path / "b", seed=12))


def test_other_steps(port: Campaign, tmp_path: Path) -> None:
    b = configured(port, tmp_path / "b", steps=39)
    with pytest.raises(NothingComparedError, match="cases of remote-store have 40 steps in A and 39 in B"):
        diff(port, b)
    assert diff(port, configured(port, tmp_path / "c", steps=40)).verdict == SAME


def test_no_suite_in_common(port: Campaign, tmp_path: Path) -> None:
    b = make(tmp_path, "port", suites=("start-pull",), cases=5)
    with pytest.raises(NothingComparedError, match=r"port has remote-store, .* has start-pull\."):
        diff(port, b)


def test_some_suites_in_common(port: Campaign, tmp_path: Path) -> None:
    b = make(tmp_path, "port", suites=("remote-store", "start-pull"), cases=CASES, block=BLOCK)
    found = diff(port, b)
    assert found.notes == ["only B has start-pull"]
    assert found.verdict == SAME


def test_releases_that_were_planned_with_other_operations(port: Campaign, tmp_path: Path) -> None:
    b = make(tmp_path, "port", cases=10, profiles={"port": Profile.of(client="4.9.8")})
    with pytest.raises(NothingComparedError, match="do not have the same operations of remote-store"):
        diff(port, b)


def test_another_rule_book_is_a_note_as_long_as_cases_come_back(
    port: Campaign, one: Campaign, known: CampaignDifference, tmp_path: Path
) -> None:
    b = configured(one, tmp_path / "b", rulebook="0123", kit="9.9")
    found = diff(port, b)
    assert len(found.notes) == 2
    assert found.notes[0].endswith("B by 0123")
    assert found.notes[1].endswith("B by 9.9")
    assert [replace(difference, separates=[]) for difference in found.differences] == [
        replace(difference, separates=[]) for difference in known.differences
    ]


def test_a_kit_that_planned_other_cases(port: Campaign, tmp_path: Path) -> None:
    b = changed(port, tmp_path / "b", lambda row: {**row, "digest": row["digest"] ^ 1})
    with pytest.raises(NothingComparedError, match="B is from a kit that plans other cases of remote-store"):
        diff(port, b)


def test_two_campaigns_of_one_kit_that_is_not_this_one(
    port: Campaign, one: Campaign, known: CampaignDifference, tmp_path: Path
) -> None:
    turned = [
        changed(each, tmp_path / name, lambda row: {**row, "digest": row["digest"] ^ 1})
        for name, each in (("a", port), ("b", one))
    ]
    found = diff(*turned)
    assert found.suites[0].different == known.suites[0].different
    assert found.suites[0].same == known.suites[0].same
    difference, whole = found.differences[0], known.differences[0]
    assert (difference.cases, difference.case, difference.step, difference.fingerprint) == (
        whole.cases,
        whole.case,
        whole.step,
        whole.fingerprint,
    )
    assert (difference.a, difference.b, difference.separates) == (whole.a, whole.b, [])


def test_a_suite_that_this_kit_does_not_have(port: Campaign, tmp_path: Path) -> None:
    b = configured(port, tmp_path / "b", suites=["moon"])
    with pytest.raises(NothingComparedError, match="this kit does not have the suite"):
        diff(b, b)


def test_addresses(folder: Path, port: Campaign, known: CampaignDifference) -> None:
    two = make(folder / "two", "port", ONE, cases=CASES, block=BLOCK)
    with pytest.raises(CampaignError, match=f"has port, {ONE}: say with --address-a which of them is meant"):
        diff(two, port)
    with pytest.raises(CampaignError, match="has no address 'x'; it has port"):
        diff(two, port, "port", "x")
    assert diff(two, port, "port").verdict == SAME
    assert diff(two, two, "port", ONE).suites[0].different == known.suites[0].different


# --- the command ----------------------------------------------------------------------------------------------------


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_the_command_tells_the_difference(port: Campaign, one: Campaign) -> None:
    done = run(port.folder, one.folder)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1].startswith("Campaigns: different (exit code 1): ")
    assert run(port.folder, port.folder).exit_code == 0


def test_the_command_tells_it_as_json_lines(port: Campaign, one: Campaign) -> None:
    done = run(port.folder, one.folder, "--format", "jsonl")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["line"] for line in lines][:2] == ["diff", "suite"]
    footer = {"verdict": "different", "exit_code": 1, "seconds": lines[-1]["seconds"], "engine": "in one process"}
    assert lines[-1] == {"line": "end", **footer}
    assert lines[2]["a"]["did"] != lines[2]["b"]["did"]


def test_bad_input_is_one_sentence_with_its_exit_code(port: Campaign, tmp_path: Path) -> None:
    damaged = Path(shutil.copytree(port.folder, tmp_path / "damaged"))
    blocks.path(damaged, "cases", "remote-store", 1).write_bytes(b"PAR1")
    other = configured(port, tmp_path / "b", seed=12)
    for arguments, code, content in (
        ((port.folder, tmp_path / "nowhere"), 2, "holds no campaign"),
        ((port.folder, port.folder, "--address-b", "x"), 2, "has no address 'x'"),
        ((port.folder, damaged), 4, "is damaged ("),
        ((port.folder, other.folder), 3, "Nothing can be compared: the seed is 11"),
        ((port.folder,), 2, "Missing argument 'B'"),
    ):
        done = run(*arguments)
        assert done.exit_code == code
        assert done.stdout == ""
        assert content in done.stderr
        assert "Traceback" not in done.stderr


def test_the_number_of_rebuilt_cases_can_be_chosen(releases: tuple[Campaign, Campaign]) -> None:
    a, b = releases
    done = run(a.folder, b.folder, "--rebuild", 5, "--format", "jsonl")
    suite = json.loads(done.stdout.splitlines()[1])
    assert suite["different"] + sum(suite["undecided"].values()) == 5
    assert REBUILT > 1000
