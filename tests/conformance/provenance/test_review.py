"""Releases beside those that were reviewed, and the notes of rules themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.provenance import page
from rocketmq_conformance.conformance.provenance.calls import Calls, read_calls, watched
from rocketmq_conformance.conformance.provenance.hashing import hashed
from rocketmq_conformance.conformance.provenance.history import History, read_history, text_of
from rocketmq_conformance.conformance.provenance.java_source import JavaSource
from rocketmq_conformance.conformance.provenance.named import Named, members_of
from rocketmq_conformance.conformance.provenance.published import Published, files_of, published_sources
from rocketmq_conformance.conformance.provenance.review import Change, mistakes, prose, review, unpublished
from rocketmq_conformance.conformance.targets import maven
from rocketmq_conformance.conformance.targets.maven import Wanted
from rocketmq_conformance.models.release import NEWEST, PUBLISHED, Release
from rocketmq_conformance.models.rule import Rule
from rocketmq_conformance.models.rulebook import RULES

OLD, GAP, NEW, NEXT = (Release.parse(text) for text in ("5.3.3", "5.4.0", "5.5.0", "5.6.0"))
RULE = Rule("R-1", "A sentence.", "A#m, #gone, #came @ 5.3.3; prose of 2020")
OLDER = Rule("R-2", "A sentence.", "A#m @ 5.3.3", releases="up to 5.4.0")
TEXTS = {
    OLD: b"class A { int m() { return 1; } void gone() { } }",
    NEW: b"class A { int m() { return 2; } void came() { } }",
}


def sources(release: Release) -> Published:
    text = TEXTS.get(release)
    return Published(JavaSource({"A.java": text} if text else {}), () if text else ("rocketmq-client",))


@pytest.fixture
def history() -> History:
    return read_history(text_of(hashed((RULE, OLDER), (OLD, GAP, NEW), sources)))


def test_what_differs_is_listed_with_its_rules(history: History) -> None:
    made = review(NEW, sources(NEW), history, OLD, (RULE, OLDER))
    assert {(str(one.named), one.change, one.rules) for one in made.findings} == {
        ("A#m", Change.CHANGED, ("R-1",)),
        ("A#gone", Change.GONE, ("R-1",)),
        ("A#came", Change.CAME, ("R-1",)),
    }
    assert page.headline(made) == (
        "5.5.0 beside 5.3.3: 3 sources of 1 rules compared, 3 differ: 1 rules to be read again"
    )
    assert [*page.findings(made, None, sources(NEW))][-1] == "changed: A#m, read for R-1"
    assert [*page.findings(made, sources(OLD), sources(NEW))][-2:] == [
        "-int m() { return 1; }",
        "+int m() { return 2; }",
    ]


def test_what_requests_pass_is_compared_for_the_rules_that_it_is_on_the_way_of() -> None:
    calls = Calls(
        {"PULL_MESSAGE": (Named("A", "came"),)}, {Named("A", "came"): (Named("A", "m"),), Named("A", "m"): ()}
    )
    rule = Rule("R-1", "A sentence.", "A#came @ 5.5.0")
    kept = read_history(text_of(hashed((rule,), (OLD, NEW), sources, calls)))
    made = review(NEW, sources(NEW), kept, OLD, (rule,), calls)
    assert [*page.findings(made, None, sources(NEW))] == [
        "came: A#came, read for R-1",
        "changed: A#m, on the way of R-1",
    ]


def test_a_release_that_was_reviewed_is_as_it_was(history: History) -> None:
    made = review(NEW, sources(NEW), history, history.nearest(NEW), (RULE,))
    assert (made.before, made.findings, made.compared) == (NEW, (), 3)
    assert page.headline(made) == "5.5.0 beside what was reviewed: 3 sources of 1 rules compared, none differs"


@pytest.mark.parametrize(("release", "before"), [(NEXT, NEW), (OLD, OLD), (Release(4, 0, 0), OLD)])
def test_a_release_is_compared_with_the_nearest_reviewed_one(
    history: History, release: Release, before: Release
) -> None:
    assert history.nearest(release) == before


def test_what_is_not_published_is_not_compared(history: History) -> None:
    made = review(GAP, sources(GAP), history, OLD, (RULE,))
    assert (made.findings, made.compared, made.unknown) == ((), 0, 3)
    assert page.headline(made).endswith(
        "none differs; 3 cannot be told, as the sources of rocketmq-client are not published"
    )


def test_a_member_without_hashes_is_to_be_hashed(history: History) -> None:
    made = review(NEW, sources(NEW), history, NEW, (replace(RULE, source="A#other"),))
    (line,) = page.findings(made, sources(NEW), sources(NEW))
    assert line == "not hashed yet (`regenerate --provenance` does it): A#other, read for R-1"


def test_a_rule_that_names_what_is_not_there_is_mistaken(history: History) -> None:
    rules = (RULE, replace(RULE, id="R-3", source="A#gone, #m @ 5.5.0"))
    assert [*page.mistaken(mistakes(rules, history))] == [
        "mistaken: R-1 names A#came @ 5.3.3, which does not exist there",
        "mistaken: R-3 names A#gone @ 5.5.0, which does not exist there",
    ]
    nowhere = (replace(RULE, source="A#never"),)
    everywhere = read_history(text_of(hashed(nowhere, (OLD, NEW), sources)))
    assert [one.why for one in mistakes(nowhere, everywhere)] == ["does not exist in any release"]


def test_what_nobody_can_compare_is_listed(history: History) -> None:
    assert [*prose((RULE, OLDER))] == [("R-1", "prose of 2020")]
    hidden = (replace(RULE, source="A#hidden @ 5.4.0"),)
    made = read_history(text_of(hashed(hidden, (OLD, GAP, NEW), sources)))
    assert [(rule, str(citation.named)) for rule, citation in unpublished(hidden, made)] == [("R-1", "A#hidden")]
    assert [*mistakes(hidden, made)] == []


# --- the notes of this project ----------------------------------------------------------------------------------


def test_every_rule_names_what_exists_where_it_says() -> None:
    assert [*page.mistaken(mistakes(RULES.values(), read_history()))] == []


def test_everything_that_rules_name_is_hashed_in_every_published_release() -> None:
    kept = read_history()
    on_the_way = watched(read_calls(), RULES.values())
    assert on_the_way.keys().isdisjoint(members_of(RULES.values()))
    assert tuple(sorted(kept.hashes)) == tuple(sorted((*members_of(RULES.values()), *on_the_way)))
    assert kept.releases == PUBLISHED
    assert kept.nearest(NEXT) == NEWEST


# --- jars -------------------------------------------------------------------------------------------------------


def jar(folder: Path, name: str, files: dict[str, str]) -> Path:
    path = folder / name
    with ZipFile(path, "w") as made:
        for inside, text in files.items():
            made.writestr(inside, text)
    return path


def test_artifacts_without_sources_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = jar(tmp_path, "a.jar", {"x/A.java": "class A { }", "readme.txt": "class B { }"})

    def get(wanted: Iterable[Wanted]) -> dict[Wanted, tuple[Path, ...]]:
        return {one: (made,) for one in wanted if "rocketmq-broker" not in one.artifacts}

    monkeypatch.setattr(maven, "published", get)
    found = published_sources(NEW)
    assert found.lacking == ("rocketmq-broker",)
    assert (found.tells(Named("A", "m")), found.tells(Named("B", "m"))) == (True, False)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("Could not find artifact x", "No sources of 5.5.0 are published: Maven finds no rocketmq-client and no"),
        ("Could not transfer artifact x", "Could not transfer"),
    ],
)
def test_sources_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch, said: str, sentence: str) -> None:
    monkeypatch.setattr(maven, "fetch", lambda wanted: dict.fromkeys(wanted, said))
    with pytest.raises(CannotRunError, match=sentence):
        published_sources(NEW)


def test_a_damaged_jar_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jar").write_text("no jar")
    with pytest.raises(CannotRunError, match=r"a\.jar cannot be read"):
        files_of([tmp_path / "a.jar"])
