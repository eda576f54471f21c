"""Reading campaigns: what was asked for, columns and suites, finished blocks only, and one sentence for bad input."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from campaign_maker import make, tabled

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import (
    DIGEST,
    FILE,
    Campaign,
    CampaignError,
    DamagedError,
    digest_of,
    open_campaign,
    set_aside_damaged,
)
from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS, CASES, RUNS, TEXT
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import given_file

pytestmark = pytest.mark.tables
MUTANT = "mutant:clone-ignores-topic"
OLDER = Profile.of(client="5.3.0")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("campaign") / "c"
    suites = ("remote-store", "start-pull")
    return make(folder, "port", MUTANT, suites=suites, cases=50, block=20, profiles={MUTANT: OLDER}, steps=15)


@pytest.fixture
def copied(made: Campaign, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made.folder, tmp_path / "copy"))


def rewritten(folder: Path, **changed: Any) -> Path:
    file = folder / "campaign.json"
    values = json.loads(file.read_text())
    for key, value in changed.items():
        (values if key in values else values["configuration"])[key] = value
    values.pop(DIGEST, None)
    file.write_text(json.dumps(values))
    return folder


def block_file(folder: Path, table: str = "cases", number: int = 1) -> Path:
    return blocks.path(folder, table, "remote-store", number)


def refused(folder: Path, kind: type[CampaignError] = CampaignError) -> str:
    with pytest.raises(CampaignError) as caught:
        open_campaign(folder).read("cases")
    assert type(caught.value) is kind
    values = str(caught.value)
    assert values.endswith(".")
    assert "\n" not in values
    assert values.count(". ") == 0
    return values


# --- what was asked for ---------------------------------------------------------------------------------------------


def test_a_campaign_knows_what_it_was_asked_for(made: Campaign) -> None:
    assert made.kit == __version__
    assert made.rulebook == rulebook.digest()
    assert made.addresses == ("port", MUTANT)
    assert made.suites == ("remote-store", "start-pull")
    assert (made.seed, made.cases, made.steps, made.block) == (11, 100, 15, 20)
    assert made.profiles == {"port": Profile(), MUTANT: OLDER}
    assert made.implementations["port"] == ("port", __version__)


def test_profiles_are_those_of_the_last_session(copied: Path) -> None:
    file = copied / "runs" / "run-0000.parquet"
    row = open_campaign(copied).runs().to_pylist()[0]
    row["profiles"] = [json.dumps({"client": "5.1.0", "broker": "5.1.0", "java": "11"}) for _ in row["profiles"]]
    blocks.write(file.with_name("run-0001.parquet"), pa.Table.from_pylist([row], RUNS))
    assert open_campaign(copied).profile("port") == Profile.of("5.1.0", "5.1.0", 11)
    assert open_campaign(copied).runs().num_rows == 2


def test_without_a_session_the_releases_are_not_known(copied: Path) -> None:
    shutil.rmtree(copied / "runs")
    campaign = open_campaign(copied)
    assert campaign.runs().num_rows == 0
    assert campaign.runs().schema == RUNS
    with pytest.raises(CampaignError, match="does not say which releases judge port: resume the campaign first"):
        campaign.profile("port")
    assert campaign.read("cases").num_rows == 200


def test_an_address_that_is_not_there_is_reported_with_those_that_are(made: Campaign) -> None:
    with pytest.raises(CampaignError, match=f"has no address 'broker:5.5.0'; it has port, {MUTANT}"):
        made.profile("broker:5.5.0")


# --- tables ---------------------------------------------------------------------------------------------------------


def test_a_table_has_the_schema_that_is_documented(made: Campaign) -> None:
    for table, schema in BLOCKS.items():
        read = made.read(table)
        assert read.num_rows
        assert read.schema == pa.schema([pa.field("suite", TEXT, nullable=False), *schema])
        assert all(column.null_count == 0 for column in read.columns)


def test_rows_come_by_suite_and_block(made: Campaign) -> None:
    rows = made.read("cases", ["suite", "case", "address"]).to_pylist()
    played = [(row["suite"], row["case"] // 20) for row in rows]
    assert played == sorted(played)
    assert len(rows) == 2 * 50 * 2


def test_columns_suites_and_blocks_are_selected(made: Campaign) -> None:
    read = made.read("cases", ["case", "verdict"], "start-pull", 2)
    assert read.column_names == ["case", "verdict"]
    assert sorted(set(read["case"].to_pylist())) == list(range(40, 50))
    assert made.read("cases", ["suite"], "start-pull")["suite"].unique().to_pylist() == ["start-pull"]


def test_a_table_without_files_is_empty_and_has_its_schema(copied: Path) -> None:
    shutil.rmtree(copied / "steps")
    read = open_campaign(copied).read("steps", ["case", "operation"])
    assert read.num_rows == 0
    assert read.schema.types == [pa.int64(), TEXT]


def test_blocks_that_are_not_finished_are_not_read(copied: Path) -> None:
    before = open_campaign(copied)
    counts = {table: before.read(table, suite="remote-store").num_rows for table in BLOCKS}
    gone = before.read("divergences", suite="remote-store", block=1).num_rows
    assert gone
    block_file(copied).unlink()
    after = open_campaign(copied)
    assert after.finished("remote-store") == [0, 2]
    assert set(after.read("cases", ["case"], "remote-store")["case"].to_pylist()) == {*range(20), *range(40, 50)}
    assert after.read("divergences", suite="remote-store").num_rows == counts["divergences"] - gone
    assert after.read("divergences", suite="remote-store", block=1).num_rows == 0
    assert after.read("cases", suite="remote-store", block=1).num_rows == 0
    # a behaviour means the same wherever it is told
    assert after.read("behaviours", suite="remote-store").num_rows == counts["behaviours"]


def test_files_on_their_way_are_not_read(copied: Path) -> None:
    hidden = block_file(copied).with_name(".block-00000009.parquet.77")
    hidden.write_bytes(b"half a file")
    assert open_campaign(copied).read("cases").num_rows == 200


def test_columns_that_an_older_kit_did_not_write_are_empty(copied: Path) -> None:
    file = block_file(copied)
    lacking = ["unsupported", "reason", "steps", "digest"]
    blocks.write(file, pq.read_table(file).drop_columns(lacking))
    rows = open_campaign(copied).read("cases", ["case", *lacking], "remote-store", 1).to_pylist()
    assert len(rows) == 40
    assert rows[0] == {"case": 20, "unsupported": [], "reason": "", "steps": 0, "digest": 0}


def test_columns_of_a_newer_kit_are_left_alone(copied: Path) -> None:
    file = block_file(copied)
    table = pq.read_table(file)
    blocks.write(file, table.append_column("mood", pa.array(["good"] * table.num_rows)))
    assert open_campaign(copied).read("cases").num_rows == 200


def test_a_million_cases_are_read_at_once(tmp_path: Path, made: Campaign) -> None:
    size, count = 50_000, 20
    (tmp_path / "campaign.json").write_text((made.folder / "campaign.json").read_text())
    rewritten(tmp_path, addresses=["port"], suites=["remote-store"], block=size)
    empty = pa.ListArray.from_arrays(np.zeros(size + 1, np.int32), pa.array([], pa.string()))
    numbers = empty.cast(pa.list_(pa.int64()))
    one = pa.DictionaryArray.from_arrays(np.zeros(size, np.int32), ["port"])
    for block in range(count):
        case = pa.array(np.arange(block * size, (block + 1) * size))
        steps, seconds = pa.array(np.full(size, 40, np.int32)), pa.array(np.zeros(size, np.float32))
        voice = pa.array(np.zeros(size, np.int16))
        columns = [case, one, one, one, case, steps, seconds, empty, numbers, numbers, one, empty, voice, voice]
        blocks.write(blocks.path(tmp_path, "cases", "remote-store", block), pa.table(columns, schema=CASES))
    campaign = open_campaign(tmp_path)
    begun = time.process_time()
    read = campaign.read("cases", ["case", "address", "verdict", "digest"])
    assert time.process_time() - begun < 1
    assert read.num_rows == size * count
    assert read["case"].to_numpy()[-1] == size * count - 1


# --- bad input ------------------------------------------------------------------------------------------------------


def test_a_folder_without_campaign(tmp_path: Path) -> None:
    assert refused(tmp_path).endswith(f"{tmp_path} holds no campaign: name the folder that has a campaign.json.")
    assert "holds no campaign" in refused(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    assert "holds no campaign" in refused(tmp_path / "file")


@pytest.mark.parametrize("text", ["", "{", "[]", '"campaign"', "{}", '{"version": "1"}', '{"version": true}'])
def test_a_damaged_campaign_json(copied: Path, text: str) -> None:
    (copied / "campaign.json").write_text(text)
    assert "campaign.json is damaged: " in refused(copied, DamagedError)


def test_a_campaign_json_that_is_no_text(copied: Path) -> None:
    (copied / "campaign.json").write_bytes(b"\xff\xfe\x00")
    assert "it is not UTF-8 text" in refused(copied, DamagedError)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("configuration", []),
        ("kit", 1),
        ("rulebook", None),
        ("seed", "1"),
        ("cases", 1.5),
        ("block", 0),
        ("steps", "40"),
        ("addresses", "port"),
        ("addresses", []),
        ("suites", [1]),
    ],
)
def test_a_campaign_json_with_another_content(copied: Path, key: str, value: Any) -> None:
    assert "campaign.json is damaged: " in refused(rewritten(copied, **{key: value}), DamagedError)


def test_a_campaign_of_a_newer_kit(copied: Path) -> None:
    values = refused(rewritten(copied, version=VERSION + 1))
    assert values == f"{copied} has tables of version 2; this kit reads up to 1: use a newer kit."


def test_a_file_of_a_newer_kit(copied: Path) -> None:
    file = block_file(copied)
    table = pq.read_table(file).replace_schema_metadata({"rocketmq-conformance": "2"})
    pq.write_table(table, file)
    assert refused(copied) == f"{file} has tables of version 2; this kit reads up to 1: use a newer kit."


@pytest.mark.parametrize("size", [0, 3, 200, -40])
def test_a_file_that_is_cut_off(copied: Path, size: int) -> None:
    file = block_file(copied)
    file.write_bytes(file.read_bytes()[:size])
    values = refused(copied, DamagedError)
    assert values.startswith(f"{file} is damaged (")
    assert values.endswith("): resume the campaign, which sets it aside and plays the block again.")


def test_a_file_with_damaged_pages(copied: Path) -> None:
    file = block_file(copied)
    content = bytearray(file.read_bytes())
    content[4 : len(content) // 2] = b"\xff" * (len(content) // 2 - 4)
    file.write_bytes(content)
    assert " is damaged (" in refused(copied, DamagedError)


def test_a_damaged_file_of_another_table_is_named(copied: Path) -> None:
    block_file(copied, "divergences").write_bytes(b"PAR1")
    with pytest.raises(DamagedError, match=r"divergences.* is damaged .*: resume the campaign, which sets it aside"):
        open_campaign(copied).read("divergences")


def test_any_bit_of_a_block_or_a_session_that_flips_is_noticed_or_changes_nothing(made: Campaign, copied: Path) -> None:
    rows, content = made.read("cases"), json.loads((copied / FILE).read_text())
    (copied / FILE).write_text(json.dumps({**content, DIGEST: digest_of(content)}))
    for file in (block_file(copied), copied / "runs" / "run-0000.parquet", copied / FILE):
        written = file.read_bytes()
        for bit in range(0, 8 * len(written), max(1, len(written) // 50) | 1):
            flipped = bytearray(written)
            flipped[bit // 8] ^= 1 << bit % 8
            file.write_bytes(flipped)
            try:
                read = open_campaign(copied)
                assert (read.read("cases"), replace(read, folder=made.folder)) == (rows, made), (file, bit)
            except CampaignError:
                pass
        file.write_bytes(written)


@pytest.mark.parametrize("table", ["cases", "behaviours", "divergences"])
def test_a_damaged_block_is_set_aside_and_is_no_finished_one(copied: Path, table: str) -> None:
    assert open_campaign(copied).finished("remote-store") == [0, 1, 2]
    content = block_file(copied, table).read_bytes()
    damaged = content[:30] + bytes([content[30] ^ 1]) + content[31:]
    block_file(copied, table).write_bytes(damaged)
    set_aside_damaged(copied)
    aside = block_file(copied, table).with_name("_damaged-block-00000001.parquet")
    assert aside.read_bytes() == damaged
    assert open_campaign(copied).finished("remote-store") == [0, 2]
    assert sorted(path.name for path in copied.rglob("_damaged*")) == [aside.name] * (1 if table == "cases" else 2)


def test_a_column_of_another_type(copied: Path) -> None:
    file = block_file(copied)
    table = pq.read_table(file)
    at = table.schema.get_field_index("digest")
    blocks.write(file, table.set_column(at, "digest", pa.array(["x"] * table.num_rows)))
    assert " is damaged (" in refused(copied, DamagedError)


def test_damaged_sessions(copied: Path) -> None:
    (copied / "runs" / "run-0000.parquet").write_bytes(b"nothing")
    assert "run-0000.parquet is damaged (" in refused(copied, DamagedError)


def test_sessions_with_unreadable_profiles(copied: Path) -> None:
    row = open_campaign(copied).runs().to_pylist()[0]
    row["profiles"] = ["{}", "{}"]
    blocks.write(copied / "runs" / "run-0000.parquet", pa.Table.from_pylist([row], RUNS))
    assert "the profiles of its last session cannot be read" in refused(copied, DamagedError)


@pytest.mark.parametrize("what", ["campaign.json", "block-00000001.parquet"])
def test_a_folder_that_may_not_be_read(copied: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    def forbidden(file: Any, *args: Any, **kwargs: Any) -> Any:
        if Path(str(file)).name == what:
            raise PermissionError(13, "Permission denied", str(file))
        return allowed(file, *args, **kwargs)

    where, name = (given_file, "opened") if what == FILE else (Path, "read_bytes")
    allowed = getattr(where, name)
    monkeypatch.setattr(where, name, forbidden)
    assert f"{what} cannot be read (Permission denied): name a campaign's folder" in refused(copied, DamagedError)


def test_a_place_of_blocks_that_is_no_folder(copied: Path) -> None:
    shutil.rmtree(copied / "cases" / "suite=remote-store")
    (copied / "cases" / "suite=remote-store").write_text("")
    assert open_campaign(copied).finished("remote-store") == []


def test_texts_are_read_as_they_were_written(copied: Path) -> None:
    file = block_file(copied, number=7)
    hostile = "\x1b[31m \"'\n\u2028 ü"
    row = open_campaign(copied).read("cases", suite="remote-store", block=0).to_pylist()[0]
    blocks.write(file, tabled("cases", [{**row, "reason": hostile, "unsupported": [hostile]}]))
    read = open_campaign(copied).read("cases", ["reason", "unsupported"], "remote-store", 7).to_pylist()
    assert read == [{"reason": hostile, "unsupported": [hostile]}]
