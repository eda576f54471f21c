"""The page of the tables of campaigns, made from their schemas: ``list tables``."""

from __future__ import annotations

import pyarrow as pa

from rocketmq_conformance.conformance.campaign.tables.queries import DUCKDB, PANDAS, QUERIES, SPARK, Query
from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS, TABLES, TEXT
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.reports.markdown_table import markdown_table

_INTRODUCTION = f"""# Tables of a campaign, version {VERSION}

No column is ever null. `suite` is the partition column of every table but `runs`: it is in the name of the folder.
"""


def page() -> str:
    """The page, as Markdown that ends with a line break."""
    tables = "\n".join(_table(name, schema) for name, schema in TABLES.items())
    queries = "\n".join(_query(query) for query in QUERIES)
    return f"{_INTRODUCTION}\n{tables}\n{_begin()}\n{queries}"


def _table(name: str, schema: pa.Schema) -> str:
    rows = [(f"`{field.name}`", kind(field.type), field.metadata[b"doc"].decode()) for field in schema]
    if name in BLOCKS:
        rows.insert(0, ("`suite`", "string", "name of the suite"))
    return "\n".join([f"## {name}", "", *markdown_table(("column", "type", "meaning"), rows), ""])


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

For DuckDB, after this in Python; it takes the SQL with "case" in double quotes, where that is SQL of every database:

```python
{DUCKDB}```

`runs` says with which kit, rule book, releases and seed the rows were made; `rocketmq-conformance campaign diff A B`
compares two campaigns.
"""


def _query(query: Query) -> str:
    return f"### {query.question}\n\n```python\n{query.pandas}```\n\n```sql\n{query.sql}```\n"
