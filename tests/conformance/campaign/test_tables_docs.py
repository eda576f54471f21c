"""The page of the tables is what the schemas make, and its queries answer what they say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from campaign_maker import discovery_of, make
from places import ROOT

from rocketmq_conformance.conformance.campaign.analysis.clusters import clusters
from rocketmq_conformance.conformance.campaign.analysis.rebuild import Rebuilder
from rocketmq_conformance.conformance.campaign.tables.queries import DUCKDB, PANDAS, QUERIES, SPARK, Query
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.conformance.campaign.tables.schema import TABLES
from rocketmq_conformance.conformance.campaign.tables.tables_docs import page
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.models.profile import Profile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MUTANT = "mutant:clone-ignores-topic"
BY_QUESTION = {query.question: query for query in QUERIES}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    suites = ("remote-store", "local-store")
    profiles = {MUTANT: Profile.of(client="5.3.0")}
    folder = tmp_path_factory.mktemp("campaign") / "c"
    return make(folder, "port", MUTANT, suites=suites, cases=60, block=20, profiles=profiles)


def asked(query: Query, campaign: Campaign) -> pd.DataFrame:
    names: dict[str, Any] = {"folder": str(campaign.folder)}
    exec(PANDAS + query.pandas, names)
    answer = names["answer"]
    assert isinstance(answer, pd.DataFrame)
    return answer.reset_index(drop=True)


def question(words: str, campaign: Campaign) -> list[tuple[Any, ...]]:
    return list(asked(BY_QUESTION[words], campaign).itertuples(index=False, name=None))


def cases(campaign: Campaign) -> list[dict[str, Any]]:
    return campaign.read("cases").to_pylist()  # type: ignore[no-any-return]


# --- the page -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_reported_with_its_meaning(table: str) -> None:
    _, found, section = page().partition(f"\n## {table}\n")
    assert found
    rows = re.findall(r"^\| `(\w+)` \| ([\w ,]+) \| (.+) \|$", section.partition("\n#")[0], re.MULTILINE)
    columns = [field.name for field in TABLES[table]]
    assert [row[0] for row in rows] == (columns if table == "runs" else ["suite", *columns])
    assert all(len(meaning) > 5 for _, _, meaning in rows)


def test_the_page_says_the_version_and_has_every_query() -> None:
    assert page().startswith(f"# Tables of a campaign, version {VERSION}\n")
    for query in QUERIES:
        assert f"### {query.question}\n\n```python\n{query.pandas}```\n\n```sql\n{query.sql}```\n" in page()


# --- what the queries answer ----------------------------------------------------------------------------------------


def test_verdicts_by_suite(campaign: Campaign) -> None:
    wanted: dict[tuple[str, str, str], list[int]] = {}
    for row in cases(campaign):
        counted = wanted.setdefault((row["suite"], row["address"], row["verdict"]), [0, 0])
        counted[0] += 1
        counted[1] += row["steps"]
    assert question("Verdicts by suite", campaign) == [(*key, *wanted[key]) for key in sorted(wanted)]
    assert ("remote-store", MUTANT, "diverges") in wanted


def test_cases_that_reached_a_rule(campaign: Campaign) -> None:
    wanted = [(row["suite"], row["case"], row["address"]) for row in cases(campaign) if "OFF-R-CLONE" in row["rules"]]
    assert question("Which cases reached a rule", campaign) == sorted(wanted)
    assert 0 < len(wanted) < len(cases(campaign))


def test_slowest_cases(campaign: Campaign) -> None:
    ordered = sorted(cases(campaign), key=lambda row: (-row["seconds"], row["suite"], row["case"], row["address"]))
    wanted = [(row["suite"], row["case"], row["address"]) for row in ordered[:10]]
    assert [row[:3] for row in question("The slowest cases", campaign)] == wanted


def test_new_behaviours(campaign: Campaign) -> None:
    numbers = {one.suite: one.behaviours for one in discovery_of(campaign).results()}
    wanted = [(suite, 0, numbers[suite]) for suite in sorted(campaign.suites)]
    assert question("New behaviours per 1,000 cases", campaign) == wanted


def test_clusters(campaign: Campaign) -> None:
    found = question("Clusters of divergences, each with its shortest case", campaign)
    wanted = [
        (one.suite, one.address, one.against, one.fingerprint, one.count, one.case, one.step, one.operation)
        for one in clusters(campaign)
    ]
    assert sorted(found) == sorted(wanted)
    assert {one.against for one in clusters(campaign)} == {"model", "port"}


def test_steps_of_a_divergence(campaign: Campaign) -> None:
    shortest = min(clusters(campaign), key=lambda one: (one.step, one.suite, one.case, one.address))
    trace = Rebuilder(campaign, shortest.suite, shortest.address).trace(shortest.case)
    columns = ["step", "operation", "arguments", "expected", "observed", "diverges"]
    wanted = [tuple(row[column] for column in columns) for row in trace.rows()]
    assert question("The steps of a divergence", campaign) == wanted
    assert wanted[-1][-1] is True


def test_two_addresses(campaign: Campaign) -> None:
    digests = {(row["suite"], row["case"], row["address"]): row["digest"] for row in cases(campaign)}
    parted = [
        (suite, case)
        for suite, case, address in sorted(digests)
        if address == "port" and digests[suite, case, address] != digests[suite, case, MUTANT]
    ]
    found = question("Cases in which two addresses did not do the same", campaign)
    assert [row[:2] for row in found] == parted
    assert {row[2:] for row in found} == {(MUTANT, "diverges", "port", "conforms")}


def parted(campaign: Campaign) -> list[tuple[str, int]]:
    voices = {(row["suite"], row["case"], row["address"]): row["voice"] for row in cases(campaign)}
    return [key[:2] for key, voice in sorted(voices.items()) if key[2] == MUTANT and voice != voices[*key[:2], "port"]]


def test_who_parts_from_whom(campaign: Campaign) -> None:
    found = question("Which addresses part from which, and how often", campaign)
    assert found == [("remote-store", f"{MUTANT} | port", len(parted(campaign)), parted(campaign)[0][1])]


def test_the_story_of_a_difference(campaign: Campaign) -> None:
    found = question(
        "The story of every difference: since which address, how often, what was done before and after", campaign
    )
    assert {row[3:5] for row in found} == {("port", MUTANT)}
    assert sum(row[5] for row in found) == len(parted(campaign))
    for *_, shortest, before, after in found:
        assert ("remote-store", shortest) in parted(campaign)
        assert before != after


def test_three_lines_open_the_tables(
    campaign: Campaign, spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    guide = (ROOT / "docs" / "reference" / "campaign-tables.md").read_text("utf-8")
    opening = re.findall("```python\n(.+?)```", guide, re.DOTALL)
    assert len(opening) == 3
    for lines in opening:
        assert lines.count("\n") == 3
        exec(lines.replace("nightly", str(campaign.folder)), {})
        assert "diverges" in capfd.readouterr().out, lines
    story = BY_QUESTION["The story of every difference: since which address, how often, what was done before and after"]
    assert f"```sql\n{story.sql}```" in guide


def test_duckdb_answers_the_same(campaign: Campaign) -> None:
    names: dict[str, Any] = {"folder": str(campaign.folder)}
    exec(DUCKDB, names)
    for query in QUERIES:
        if "array_" in query.sql or "explode" in query.sql or "struct(" in query.sql:
            continue  # functions that only Spark has by these names
        found = names["duckdb"].sql(query.sql.replace("`", '"')).fetchall()
        wanted = list(asked(query, campaign).itertuples(index=False, name=None))
        assert found == wanted or sorted(found) == sorted(wanted), query.question


def test_spark_answers_the_same(campaign: Campaign, spark: SparkSession) -> None:
    exec(SPARK, {"spark": spark, "folder": str(campaign.folder)})
    others = []
    for query in QUERIES:
        found = [tuple(row) for row in spark.sql(query.sql).collect()]
        wanted = list(asked(query, campaign).itertuples(index=False, name=None))
        if "ORDER BY suite, address" in query.sql:
            found, wanted = sorted(found), sorted(wanted)
        if not found or found != wanted:
            others.append((query.question, found, wanted))
    assert others == []
