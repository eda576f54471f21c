"""The page of the tables of campaigns (docs/campaign-tables.md), made from their schemas."""

from __future__ import annotations

import pyarrow as pa

from rocketmq_conformance.conformance.campaign.tables.queries import PANDAS, QUERIES, SPARK, Query
from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS, TABLES, TEXT, VERSION

_INTRODUCTION = f"""# Tables of a campaign

A campaign is a folder. Everything that it found out is in Parquet files, which pandas, Spark, DuckDB and others read
without this kit. The page is made from the schemas by `rocketmq-conformance regenerate`.

| file | what is in it |
|---|---|
| `campaign.json` | what was asked for; a resumed campaign must ask for the same |
| `runs/run-0000.parquet` | one row per session: the campaign begins with one, and every resumption adds one |
| `cases/suite=S/block-00000000.parquet` | one row per case and address |
| `behaviours/suite=S/block-….parquet` | what the ids of `answers` and `transitions` mean |
| `steps/suite=S/block-….parquet` | the steps of sampled cases and of divergences |
| `divergences/suite=S/block-….parquet` | one row per case that differs, from the model or from another address |
| `plans/S.FINGERPRINT.plan.jsonl` | the minimal plan of every cluster of divergences; `replay` plays it |
| `events.jsonl` | the campaign as every report reads it |

A *block* is a fixed range of the cases of a suite. Its file of `cases` is written last, and whole: what is there is
finished, and is there once. A block that has no divergence, no stored step or no behaviour that was new to the process
that played it has no file in that table, and a table that never had a row has no folder. After a campaign that was
killed, the other tables may have rows of blocks that are not finished; they go away when it is resumed, and a join with
`cases` leaves them out.

The steps of a case that are not stored come back from the seed: the plan of case *i* of a suite is the same for
everybody, what the model expects of it is what an implementation that conforms did, and `divergences` says what one
that diverges did instead. `rocketmq_conformance.conformance.campaign.analysis.rebuild` does that.

## Versions

These are the tables of version {VERSION}. `campaign.json` has the version under `"version"`, every Parquet file in its
metadata under `rocketmq-conformance`, and `runs` in a column.

- A column may be added without a new version. Older files lack it; the kit reads it as empty, or 0.
- Removing a column, or changing its type or its meaning, makes a new version.
- The kit reads every version up to its own, and refuses a newer one with one sentence.

## Columns

No column is ever null. `suite` is the partition column of every table but `runs`: it is in the name of the folder.
"""


def tables_page() -> str:
    """The page, as Markdown that ends with a line break."""
    tables = "\n".join(_table(name, schema) for name, schema in TABLES.items())
    queries = "\n".join(_query(query) for query in QUERIES)
    return f"{_INTRODUCTION}\n{tables}\n{_begin()}\n{queries}"


def _table(name: str, schema: pa.Schema) -> str:
    rows = [f"| `{field.name}` | {kind(field.type)} | {field.metadata[b'doc'].decode()} |" for field in schema]
    if name in BLOCKS:
        rows = ["| `suite` | string | name of the suite |", *rows]
    return "\n".join([f"### {name}", "", "| column | type | meaning |", "|---|---|---|", *rows, ""])


def kind(type_: pa.DataType) -> str:
    """A type in words that hold for every reader."""
    if type_ == TEXT:
        return "string"
    if pa.types.is_list(type_):
        return f"list of {kind(type_.value_type)}"
    return "timestamp, UTC" if pa.types.is_timestamp(type_) else str(type_)


def _begin() -> str:
    return f"""## Queries

For pandas (2.2 or newer, with pyarrow); `folder` is the campaign's folder, and every answer ends up in `answer`:

```python
{PANDAS}```

For Spark SQL, after this in Python (`case` is a word of SQL, and therefore stands in back quotes):

```python
{SPARK}```

`runs` says with which kit, rule book, releases and seed the rows were made; `rocketmq-conformance campaign diff A B`
compares two campaigns.
"""


def _query(query: Query) -> str:
    return f"### {query.question}\n\n```python\n{query.pandas}```\n\n```sql\n{query.sql}```\n"
