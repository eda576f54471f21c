"""Common queries of a campaign's tables, for pandas and for Spark SQL; the page of the tables shows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Query:
    """One question. ``pandas`` leaves its answer in ``answer``; both give the same rows."""

    question: str
    pandas: str
    sql: str


#: What every snippet of pandas begins with; ``folder`` is the campaign's.
PANDAS = """\
import pandas as pd

cases = pd.read_parquet(f"{folder}/cases")
divergences = pd.read_parquet(f"{folder}/divergences")
steps = pd.read_parquet(f"{folder}/steps")
"""
#: The same views in DuckDB, by three lines of Python.
DUCKDB = """\
import duckdb
for table in ("runs", "cases", "behaviours", "steps", "divergences"):
    duckdb.sql(f"CREATE OR REPLACE VIEW {table} AS FROM read_parquet('{folder}/{table}/**/*.parquet')")
"""
#: The views that every query of Spark reads.
SPARK = """\
for table in ("runs", "cases", "behaviours", "steps", "divergences"):
    spark.read.parquet(f"{folder}/{table}").createOrReplaceTempView(table)
"""

QUERIES = (
    Query(
        "Verdicts by suite",
        """\
answer = (
    cases.groupby(["suite", "address", "verdict"], observed=True)
    .agg(cases=("case", "size"), steps=("steps", "sum"))
    .reset_index()
)
""",
        """\
SELECT suite, address, verdict, count(*) AS cases, sum(steps) AS steps
FROM cases
GROUP BY suite, address, verdict
ORDER BY suite, address, verdict
""",
    ),
    Query(
        "Which cases reached a rule",
        """\
reached = cases["rules"].map(lambda rules: "OFF-R-CLONE" in rules)
answer = cases[reached][["suite", "case", "address"]].sort_values(["suite", "case", "address"])
""",
        """\
SELECT suite, `case`, address
FROM cases
WHERE array_contains(rules, 'OFF-R-CLONE')
ORDER BY suite, `case`, address
""",
    ),
    Query(
        "The slowest cases",
        """\
slowest = cases.sort_values(["seconds", "suite", "case", "address"], ascending=[False, True, True, True])
answer = slowest.head(10)[["suite", "case", "address", "seconds"]]
""",
        """\
SELECT suite, `case`, address, seconds
FROM cases
ORDER BY seconds DESC, suite, `case`, address
LIMIT 10
""",
    ),
    Query(
        "New behaviours per 1,000 cases",
        """\
ids = cases["answers"].map(list) + cases["transitions"].map(list)
shown = cases[["suite", "case"]].assign(id=ids).explode("id").dropna()
first = shown.groupby(["suite", "id"], observed=True)["case"].min().reset_index()
first["thousand"] = first["case"] // 1000
answer = first.groupby(["suite", "thousand"], observed=True).size().rename("behaviours").reset_index()
""",
        """\
SELECT suite, first DIV 1000 AS thousand, count(*) AS behaviours
FROM (
    SELECT suite, id, min(`case`) AS first
    FROM (SELECT suite, `case`, explode(concat(answers, transitions)) AS id FROM cases)
    GROUP BY suite, id
)
GROUP BY suite, thousand
ORDER BY suite, thousand
""",
    ),
    Query(
        "Clusters of divergences, each with its shortest case",
        """\
answer = (
    divergences.sort_values(["step", "case"])
    .groupby(["suite", "address", "against", "fingerprint"], observed=True)
    .agg(
        cases=("case", "nunique"),
        shortest=("case", "first"),
        step=("step", "first"),
        operation=("operation", "first"),
    )
    .reset_index()
)
""",
        """\
SELECT suite, address, against, fingerprint, count(DISTINCT `case`) AS cases,
       min_by(`case`, struct(step, `case`)) AS shortest, min(step) AS step, first(operation) AS operation
FROM divergences
GROUP BY suite, address, against, fingerprint
ORDER BY suite, address, against, fingerprint
""",
    ),
    Query(
        "The steps of a divergence",
        """\
last = divergences[divergences["against"] == "model"].sort_values(["step", "suite", "case", "address"]).iloc[0]
mine = (steps["suite"] == last["suite"]) & (steps["case"] == last["case"]) & (steps["address"] == last["address"])
columns = ["step", "operation", "arguments", "expected", "observed", "diverges"]
answer = steps[mine].sort_values("step")[columns]
""",
        """\
WITH last AS (
    SELECT suite, `case`, address FROM divergences WHERE against = 'model'
    ORDER BY step, suite, `case`, address LIMIT 1
)
SELECT step, operation, arguments, expected, observed, diverges
FROM steps JOIN last USING (suite, `case`, address)
ORDER BY step
""",
    ),
    Query(
        "Which addresses part from which, and how often",
        """\
said = cases[cases["voice"] > 0].sort_values("address")
alike = said.groupby(["suite", "case", "voice"], observed=True)["address"].agg(", ".join).reset_index()
by_case = alike.sort_values("address").groupby(["suite", "case"], observed=True)["address"]
ways = by_case.agg(voices=" | ".join, several="size").reset_index()
parted = ways[ways["several"] > 1].groupby(["suite", "voices"], observed=True)
answer = parted.agg(cases=("case", "size"), first=("case", "min")).reset_index()
""",
        """\
WITH alike AS (
    SELECT suite, `case`, array_join(array_sort(collect_list(address)), ', ') AS addresses
    FROM cases WHERE voice > 0 GROUP BY suite, `case`, voice
), ways AS (
    SELECT suite, `case`, array_join(array_sort(collect_list(addresses)), ' | ') AS voices, count(*) AS several
    FROM alike GROUP BY suite, `case`
)
SELECT suite, voices, count(*) AS cases, min(`case`) AS first
FROM ways WHERE several > 1
GROUP BY suite, voices
ORDER BY suite, voices
""",
    ),
    Query(
        "The story of every difference: since which address, how often, what was done before and after",
        """\
columns = ["suite", "operation", "fingerprint", "against", "address"]
between = divergences[divergences["against"] != "model"].sort_values(["step", "case"])
told = between.groupby(columns, observed=True)
answer = told.agg(
    cases=("case", "nunique"), shortest=("case", "first"), before=("expected", "first"), after=("observed", "first")
).reset_index()
""",
        """\
SELECT suite, operation, fingerprint, against, address, count(DISTINCT `case`) AS cases,
       min_by(`case`, struct(step, `case`)) AS shortest,
       min_by(expected, struct(step, `case`)) AS before, min_by(observed, struct(step, `case`)) AS after
FROM divergences
WHERE against <> 'model'
GROUP BY suite, operation, fingerprint, against, address
ORDER BY suite, operation, fingerprint, against, address
""",
    ),
    Query(
        "Cases in which two addresses did not do the same",
        """\
decided = cases[cases["verdict"].isin(["conforms", "diverges"]) & (cases["digest"] != 0)]
pairs = decided.merge(decided, on=["suite", "case"], suffixes=("_a", "_b"))
differs = (pairs["address_a"] < pairs["address_b"]) & (pairs["digest_a"] != pairs["digest_b"])
columns = ["suite", "case", "address_a", "verdict_a", "address_b", "verdict_b"]
answer = pairs[differs][columns].sort_values(["suite", "case"])
""",
        """\
SELECT suite, `case`, a.address AS address_a, a.verdict AS verdict_a, b.address AS address_b, b.verdict AS verdict_b
FROM cases AS a JOIN cases AS b USING (suite, `case`)
WHERE a.address < b.address AND a.digest != b.digest AND a.digest != 0 AND b.digest != 0
  AND a.verdict IN ('conforms', 'diverges') AND b.verdict IN ('conforms', 'diverges')
ORDER BY suite, `case`
""",
    ),
)
