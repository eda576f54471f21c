"""A divergence beside a property that is off its default: unsupported, undecided, or a divergence as ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO

import pytest

from rocketmq_conformance.conformance import api
from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.properties.found import LISTED_ONLY, FoundProperty
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.mutants import BROKER_MUTANTS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.console import ConsoleReport
from rocketmq_conformance.reports.event import (
    CONFORMS,
    DIVERGES,
    UNDECIDED,
    UNSUPPORTED,
    CaseEnded,
    DivergenceFound,
    Event,
    RunEnded,
    RunStarted,
    SuiteEnded,
)
from rocketmq_conformance.reports.html_view import view
from rocketmq_conformance.reports.markdown import summary_page
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.suites import broker_search


class Found:
    """What a run of ``broker-search`` found."""

    def __init__(self, adapter: BrokerAdapter) -> None:
        options = Options(address="broker", seed=1, cases=40)
        self.events: list[Event] = list(api.judge(adapter, [broker_search.SUITE], options))
        self.header = next(one for one in self.events if isinstance(one, RunStarted))
        self.suite = next(one for one in self.events if isinstance(one, SuiteEnded))
        self.end = next(one for one in self.events if isinstance(one, RunEnded))
        self.cases = Counter(one.verdict for one in self.events if isinstance(one, CaseEnded))
        self.reasons = {one.reason for one in self.events if isinstance(one, CaseEnded) and one.reason}
        self.divergences = [one for one in self.events if isinstance(one, DivergenceFound)]


@pytest.fixture
def mutant() -> Mapping[str, type]:
    """The parts of a broker that answers searches wrongly."""
    return next(one for one in BROKER_MUTANTS.values() if one.suites[0] == "broker-search").parts


def broker(parts: Mapping[str, type] | None = None, **properties: str) -> BrokerAdapter:
    """A fake broker that reports these properties."""
    return BrokerAdapter(FakeLocation(Profile(), parts, properties=properties))


class Described(BrokerAdapter):
    """A broker of which more is known than it reports."""

    def __init__(self, parts: Mapping[str, type] | None, *properties: FoundProperty) -> None:
        super().__init__(FakeLocation(Profile(), parts))
        self._properties = properties

    def hello(self) -> Hello:
        """The broker's, with the properties."""
        return replace(super().hello(), properties=self._properties)


def listed(*rules: str) -> FoundProperty:
    """A property that touches these rules."""
    return FoundProperty(name="odd", value="1", default="0", kind=LISTED_ONLY, effect="searches are odd", rules=rules)


def rules_of(mutant: Mapping[str, type]) -> set[str]:
    """The rules that the mutant breaks."""
    found = Found(broker(mutant))
    assert found.end.verdict == DIVERGES
    return {str(rule["id"]) for one in found.divergences for rule in one.rules}


def test_a_mutant_beside_an_unclassified_property_does_not_pass(mutant: Mapping[str, type]) -> None:
    found = Found(broker(mutant, enableMultiDispatch="true"))
    assert (found.end.verdict, found.end.exit_code) == (UNDECIDED, 3)
    assert found.cases[UNDECIDED]
    assert not found.cases[DIVERGES]
    assert found.end.divergences == 0
    shown = [one for one in found.divergences if not one.unshrunk]
    assert shown
    for one in shown:
        assert "beside enableMultiDispatch=true" in one.doubt
        assert str(one.rules[0]["id"]) in one.doubt
        assert one.steps[-1].diverges
        assert len(one.steps) < one.found_steps
    named = [reason for reason in found.reasons if "enableMultiDispatch=true" in reason and "BQ-TIME-" in reason]
    assert named
    assert all("unclassified and off its default" in reason for reason in named)
    assert found.suite.verdict == UNDECIDED
    assert [one["name"] for one in found.header.properties] == ["enableMultiDispatch"]


def test_reports_show_an_undecided_difference_and_call_it_that(mutant: Mapping[str, type]) -> None:
    summary, console = RunSummary(), StringIO()
    report = ConsoleReport(console, width=200)
    for one in Found(broker(mutant, enableMultiDispatch="true")).events:
        summary.add(one)
        report(one)
    assert summary.divergences == []
    doubt = summary.doubtful[0].doubt
    assert "Undecided difference 1: broker-search" in console.getvalue()
    assert "unclassified and off its default" in " ".join(console.getvalue().split())
    assert "Undecided difference: broker-search" in summary_page(summary)
    assert "unclassified and off its default" in summary_page(summary)
    assert [story.line.rule for story in view(summary).doubtful.full] == [summary.doubtful[0].rules[0]["id"]]
    assert summary.conclusion().verdict == UNDECIDED
    assert doubt in {reason for _, _, reason in summary.reasons}


def test_properties_of_a_release_that_is_not_known_explain_nothing(mutant: Mapping[str, type]) -> None:
    found = Found(BrokerAdapter(FakeLocation(Profile(broker=Release(9, 9, 9)), mutant, properties={"brandNew": "1"})))
    assert (found.end.verdict, found.end.exit_code) == (DIVERGES, 1)
    assert found.header.properties == []
    assert "they say nothing about the configuration: brandNew=1" in found.header.notes[0]


def test_the_same_mutant_diverges_without_the_property(mutant: Mapping[str, type]) -> None:
    found = Found(broker(mutant, enableMultiDispatch="false", listenPort="7"))
    assert (found.end.verdict, found.end.exit_code) == (DIVERGES, 1)
    assert found.divergences
    assert found.header.properties == []


def test_a_healthy_broker_passes_beside_an_unclassified_property_which_is_named() -> None:
    found = Found(broker(enableMultiDispatch="true", vendorProperty="x"))
    assert (found.end.verdict, found.end.exit_code) == (CONFORMS, 0)
    assert [one["name"] for one in found.header.properties] == ["enableMultiDispatch", "vendorProperty"]


def test_a_listed_property_makes_its_rules_unsupported(mutant: Mapping[str, type]) -> None:
    found = Found(Described(mutant, listed(*rules_of(mutant))))
    assert found.end.verdict == CONFORMS
    assert found.cases.keys() == {CONFORMS, UNSUPPORTED}
    assert any("unsupported with odd=1" in reason for reason in found.suite.unsupported.values())


def test_a_listed_property_pardons_no_other_rule(mutant: Mapping[str, type]) -> None:
    found = Found(Described(mutant, listed("BQ-LOCK-1")))
    assert (found.end.verdict, found.end.exit_code) == (DIVERGES, 1)


@pytest.mark.parametrize("faulty", [False, True])
def test_beside_a_configuration_that_cannot_be_read_nothing_diverges(
    faulty: bool, mutant: Mapping[str, type], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = FakeLocation(Profile(), mutant if faulty else None)
    handlers = source._broker.dispatcher._handlers
    monkeypatch.setitem(
        handlers, Request.GET_BROKER_CONFIG, lambda *request: (int(Response.NO_PERMISSION), "you may not", {}, b"")
    )
    found = Found(BrokerAdapter(source))
    assert (found.end.verdict, found.end.exit_code) == ((UNDECIDED, 3) if faulty else (CONFORMS, 0))
    refused = "the broker refuses to show its configuration (NO_PERMISSION you may not)"
    assert any(note.startswith(refused) for note in found.header.notes)
    assert found.header.properties == []
    assert any(refused in reason for reason in found.reasons) is faulty
