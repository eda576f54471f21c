"""Reading a stored campaign: its specification, and the finished blocks of its tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS, RUNS, TEXT
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.documents import json_of, what_is_wrong
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.given_file import text_of

#: What a campaign was asked for; its presence makes a folder a campaign.
FILE = "campaign.json"
#: The key of its digest; files of older kits have none.
DIGEST = "digest"
_VERSION_KEY = b"rocketmq-conformance"
#: A file of a block: its table, suite and number.
BlockFile = tuple[str, str, int]


class CampaignError(ValueError):
    """A campaign that cannot be read or used; the text is one sentence with what to do."""


class DamagedError(CampaignError):
    """A campaign whose files are damaged or cannot be read."""


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """A stored campaign; tables are read when they are asked for."""

    #: Empty where only Spark reads the campaign.
    folder: Path
    kit: str
    #: Digest of the rule book that judged.
    rulebook: str
    configuration: dict[str, Any]
    addresses: tuple[str, ...]
    suites: tuple[str, ...]
    seed: int
    #: Cases of the whole campaign, spread evenly over the suites; every address plays each of them.
    cases: int
    #: Steps of a case, or None for what each suite has by itself.
    steps: int | None
    #: Cases of a block.
    block: int
    #: Releases whose operations the plans have, by side, where they are not those of the first address.
    plans: dict[str, str] = field(default_factory=dict)
    #: Releases that judge, by address; empty before the first session has recorded them.
    profiles: dict[str, Profile] = field(default_factory=dict)
    #: Name and version of the implementations, by address.
    implementations: dict[str, tuple[str, str]] = field(default_factory=dict)
    #: Where Spark reads the campaign, with the scheme of the storage; "" for a folder that this process reads.
    url: str = ""
    #: Where only Spark reads the campaign: its files, each with its bytes where this process was given them.
    given: Mapping[BlockFile, bytes] | None = None
    #: What was read of files, for those that read them again; None when nothing is kept.
    kept: dict[tuple[Any, ...], pa.Table] | None = None

    @property
    def name(self) -> str:
        """How the user calls it."""
        return self.url or str(self.folder)

    def profile(self, address: str) -> Profile:
        """The releases that judge an address; CampaignError when no session has recorded them yet."""
        try:
            return self.profiles[address]
        except KeyError:
            if address in self.addresses:
                content = f"{self.name} does not say which releases judge {address}: resume the campaign first."
            else:
                content = f"{self.name} has no address {address!r}; it has {', '.join(self.addresses)}."
            raise CampaignError(content) from None

    @property
    def planned(self) -> Profile:
        """The releases whose operations the plans have; CampaignError when no session has recorded them yet."""
        return plan.profile_of({**plan.profile_json(self.profile(self.addresses[0])), **self.plans})

    def finished(self, suite: str) -> list[int]:
        """Numbers of the finished blocks of a suite, ascending."""
        return self._blocks("cases", suite)

    def explained(self, suite: str) -> list[int]:
        """Numbers of the blocks that say what behaviours mean, finished or not, ascending."""
        return self._blocks("behaviours", suite)

    def read(
        self,
        table: str,
        columns: Sequence[str] | None = None,
        suite: str | None = None,
        block: int | Sequence[int] | None = None,
    ) -> pa.Table:
        """Rows of finished blocks, in the order of suites and blocks.

        Behaviours are those of all blocks, finished or not: an id means the same everywhere, and a process explains it
        only once.

        The result has the columns that were asked for (all when None), with the types of the table's schema;
        ``suite`` can be asked for like any column and comes first among all of them. ``suite`` selects, and ``block``
        one block or several.
        CampaignError for a file that is damaged or from a newer kit.
        """
        schema = pa.schema([pa.field("suite", TEXT, nullable=False), *BLOCKS[table]])
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        parts: list[pa.Table] = []
        for name in self.suites if suite is None else (suite,):
            chosen = self._blocks(table, name) if block is None else [block] if isinstance(block, int) else block
            for number in chosen:
                if (block is None and table == "cases") or self._has(table, name, number):
                    parts.append(self._block((table, name, number), schema))
        return pa.concat_tables(parts).unify_dictionaries() if parts else schema.empty_table()

    def _block(self, file: BlockFile, schema: pa.Schema) -> pa.Table:
        key = *file, *schema.names
        if self.kept is not None and key in self.kept:
            return self.kept[key]
        data = None if self.given is None else self.given[file]
        rows = _rows(blocks.path(Path(self.name), *file), schema, file[1], data)
        if self.kept is not None:
            self.kept[key] = rows
        return rows

    def _blocks(self, table: str, suite: str) -> list[int]:
        if self.given is not None:
            return sorted(number for of, name, number in self.given if (of, name) == (table, suite))
        try:
            return sorted(blocks.numbers(self.folder, "behaviours" if table == "behaviours" else "cases", suite))
        except OSError as error:
            raise _unreadable(self.folder / table, error) from error

    def _has(self, table: str, suite: str, block: int) -> bool:
        if self.given is not None:
            return (table, suite, block) in self.given
        finished = table == "behaviours" or blocks.path(self.folder, "cases", suite, block).exists()
        return finished and blocks.path(self.folder, table, suite, block).exists()

    def runs(self) -> pa.Table:
        """One row per session, the first one first."""
        return _runs(self.folder)


#: A campaign and one of its addresses.
PlayedCampaign = tuple[Campaign, str]


def open_campaign(folder: Path, runs: Callable[[], pa.Table] | None = None) -> Campaign:
    """Open a campaign's folder; CampaignError when there is none, or none that this kit can read.

    ``runs`` gives the rows of its sessions, those of the folder by default.
    """
    file = folder / FILE
    try:
        text = text_of(file)
    except (FileNotFoundError, NotADirectoryError):
        raise CampaignError(f"{folder} holds no campaign: name the folder that has a {FILE}.") from None
    except UnicodeDecodeError as error:
        raise _damaged(file, "it is not UTF-8 text") from error
    except OSError as error:
        raise _unreadable(file, error) from error
    return parse_campaign(text, runs=runs or (lambda: _runs(folder)), folder=folder)


def parse_campaign(text: str, *, runs: Callable[[], pa.Table], folder: Path = Path(), url: str = "") -> Campaign:
    """The campaign that the text of its ``campaign.json`` describes, and the rows of its sessions.

    CampaignError when this kit cannot read it.
    """
    name = url or str(folder)
    file = f"{name}/{FILE}"
    try:
        content = json_of(text)
    except ValueError as error:
        raise _damaged(file, "it is not JSON") from error
    if not isinstance(content, dict) or type(content.get("version")) is not int:
        raise _damaged(file, "it has no version")
    if content["version"] > VERSION:
        raise _newer(name, content["version"])
    opened = replace(_campaign(folder, file, content), url=url)
    if content.pop(DIGEST, None) not in {None, digest_of(content)}:
        raise _damaged(file, "it is not what was written")
    sessions = runs().select(["addresses", "implementations", "versions", "profiles"]).to_pylist()
    for session in sessions[-1:]:
        try:
            for address, profile in zip(session["addresses"], session["profiles"], strict=True):
                opened.profiles[address] = plan.profile_of(json_of(profile))
        except (KeyError, TypeError, ValueError) as error:
            why = f"the profiles of its last session cannot be read ({what_is_wrong(error)})"
            raise _damaged(f"{name}/runs", why) from error
        named = zip(session["addresses"], session["implementations"], session["versions"], strict=False)
        opened.implementations.update({address: (name, version) for address, name, version in named})
    return opened


def digest_of(content: Mapping[str, Any]) -> str:
    """The digest of a campaign's JSON but for itself."""
    return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


def set_aside_damaged(folder: Path) -> None:
    """Rename the files of a campaign's tables that are damaged. CampaignError for a file of a newer kit.

    A block of which one file is damaged is no finished one any more: its ``cases`` are renamed, too.
    """
    for table, schema in {"runs": RUNS, **BLOCKS}.items():
        for file in sorted((folder / table).glob("run-*.parquet" if table == "runs" else "suite=*/block-*.parquet")):
            try:
                _rows(file, schema, None)
            except DamagedError:
                blocks.set_aside(file)
                cases = folder / "cases" / file.parent.name / file.name
                if cases.exists():
                    blocks.set_aside(cases)


def without_dictionaries(table: pa.Table) -> pa.Table:
    """The same rows with plain texts where there were dictionaries."""
    for at, column in enumerate(table.schema):
        if column.type == TEXT:
            table = table.set_column(at, column.name, table.column(at).cast(pa.string()))
    return table


def _campaign(folder: Path, file: str, content: dict[str, Any]) -> Campaign:
    wanted = content.get("configuration")
    if not isinstance(wanted, dict):
        raise _damaged(file, "it has no configuration")
    for key, right in (("kit", str), ("rulebook", str)):
        if not isinstance(content.get(key), right):
            raise _damaged(file, f"its {key!r} is missing or malformed")
    for key in ("seed", "cases", "block"):
        if type(wanted.get(key)) is not int or (key == "block" and wanted[key] < 1):
            raise _damaged(file, f"the configuration's {key!r} is no whole number")
    for key in ("addresses", "suites"):
        if not _texts(wanted.get(key)):
            raise _damaged(file, f"the configuration's {key!r} is no list of names")
    steps = wanted.get("steps")
    if steps is not None and type(steps) is not int:
        raise _damaged(file, "the configuration's 'steps' is no whole number")
    return Campaign(
        folder=folder,
        kit=content["kit"],
        rulebook=content["rulebook"],
        configuration=wanted,
        addresses=tuple(wanted["addresses"]),
        suites=tuple(wanted["suites"]),
        seed=wanted["seed"],
        cases=wanted["cases"],
        steps=steps,
        block=wanted["block"],
        plans=wanted.get("plans") or {},
    )


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _runs(folder: Path) -> pa.Table:
    place = folder / "runs"
    try:
        files = sorted(place.glob("run-*.parquet")) if place.is_dir() else []
    except OSError as error:
        raise _unreadable(place, error) from error
    parts = [_rows(file, RUNS, None) for file in files]
    return pa.concat_tables(parts) if parts else RUNS.empty_table()


def _rows(file: Path, schema: pa.Schema, suite: str | None, data: bytes | None = None) -> pa.Table:
    """The columns of ``schema`` of one file, or of its bytes; those that an older kit did not write are empty."""
    try:
        if data is None:
            data = file.read_bytes()
        if not blocks.is_whole(data):
            raise _damaged_block(file, "its bytes are not those that were written")
        source = pa.BufferReader(data)
        footer = pq.read_metadata(source)
        version = int((footer.metadata or {}).get(_VERSION_KEY, b"0"))
        if version > VERSION:
            raise _newer(file, version)
        known = set(footer.schema.to_arrow_schema().names)
        names = [name for name in schema.names if name in known]
        texts = [name for name in names if schema.field(name).type == TEXT]
        with pq.ParquetFile(source, metadata=footer, read_dictionary=texts, page_checksum_verification=True) as opened:
            found = opened.read(names, use_threads=False)
        size = footer.num_rows
        columns = [_column(found, column, size, suite) for column in schema]
        return pa.Table.from_arrays(columns, schema=schema)
    except CampaignError:
        raise
    except (pa.ArrowException, ValueError) as error:
        raise _damaged_block(file, str(error)) from error
    except FileNotFoundError as error:
        raise CampaignError(f"{file} went away while it was read: read the campaign again.") from error
    except PermissionError as error:
        raise _unreadable(file, error) from error
    except OSError as error:  # what Arrow raises for pages that cannot be decoded
        raise _damaged_block(file, str(error)) from error


def _column(found: pa.Table, column: pa.Field, size: int, suite: str | None) -> pa.ChunkedArray:
    if column.name == "suite" and suite is not None:
        return _constant(suite, size)
    if column.name in found.column_names:
        values = found.column(column.name)
        return values if values.type == column.type else values.cast(column.type)
    if column.type == TEXT:
        return _constant("", size)
    nothing: Any = [] if pa.types.is_list(column.type) else "" if pa.types.is_string(column.type) else 0
    return pa.chunked_array([pa.array([nothing] * size).cast(column.type)])


def _constant(text: str, size: int) -> pa.ChunkedArray:
    indices = pa.repeat(pa.scalar(0, pa.int32()), size)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, pa.array([text]))])


def _newer(what: Path | str, version: int) -> CampaignError:
    return CampaignError(f"{what} has tables of version {version}; this kit reads up to {VERSION}: use a newer kit.")


def _damaged(file: Path | str, why: str) -> DamagedError:
    return DamagedError(f"{file} is damaged: {why}.")


def _damaged_block(file: Path, why: str) -> DamagedError:
    """A block can be played again, and a campaign goes on without what an earlier session said of itself."""
    again = " and plays the block again" if file.name.startswith("block-") else ""
    return DamagedError(f"{file} is damaged ({_first_sentence(why)}): resume the campaign, which sets it aside{again}.")


def _unreadable(what: Path, error: OSError) -> DamagedError:
    content = error.strerror or type(error).__name__
    return DamagedError(f"{what} cannot be read ({content}): name a campaign's folder that can be read.")


def _first_sentence(text: str) -> str:
    short = " ".join(text.split()).partition(". ")[0]
    return (short if len(short) <= 120 else short[:119] + "…").rstrip(".")
