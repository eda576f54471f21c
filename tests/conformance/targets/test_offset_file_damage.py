"""Damage is done to a client's own offset files, and to nothing beside them."""

from __future__ import annotations

from pathlib import Path

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.targets.offset_file_damage import become, offset_files
from rocketmq_conformance.conformance.targets.port.transport import Calls
from rocketmq_conformance.conformance.targets.port.whole_files import WholeFiles
from rocketmq_conformance.models.client.whole_files import FOUND
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.whole_files import SUITE


def test_what_a_link_leads_to_is_left_alone(tmp_path: Path) -> None:
    own, others = tmp_path / "own", tmp_path / "others"
    own.mkdir()
    others.mkdir()
    for name in ("linked", "linked.bak"):
        (others / name).write_text("of others")
    (own / "offsets").write_text("{}")
    (own / "offsets.bak").symlink_to(others / "linked.bak")
    (own / "latest").symlink_to(others / "linked")
    (own / "folder").symlink_to(others)
    for found in FOUND:
        (own / "offsets").write_text("{}")
        files = offset_files(own)
        assert files == [own / "offsets"]
        become(dict.fromkeys(files, b"older"), found)
    assert [path.read_text() for path in sorted(others.iterdir())] == ["of others"] * 2


def test_the_port_damages_its_store_alone(tmp_path: Path) -> None:
    beside = [tmp_path / name for name in ("README.md", "folder/module.py", "offsets.json")]
    for path in beside:
        path.parent.mkdir(exist_ok=True)
        path.write_text("of others")
    played = WholeFiles(Calls())
    for found in FOUND:
        played.begin_case(Case(SUITE, 0, Profile(), lambda: "", lambda request: Ok(), lambda: tmp_path))  # type: ignore[arg-type, return-value]
        played.join_group(0)
        played.come_back_to(0, found)
    assert [path.read_text() for path in beside] == ["of others"] * len(beside)
