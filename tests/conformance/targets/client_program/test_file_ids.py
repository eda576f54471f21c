"""Which offset file a broadcasting member has that is started again under another client id."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketmq_conformance.conformance.targets.client_program.file_ids import FileIds


@pytest.mark.parametrize(
    ("path", "known"),
    [
        # by the instance name, or the address and that
        ("member-0.json", "17-10.0.0.1@member-0"),
        (".rocketmq_offsets/10.0.0.1@member-0/G/offsets.Json", "17-10.0.0.1@member-0"),
        # by the client id, also where that is written in another way
        ("17-10.0.0.1@member-0/G/offsets.json", "23-10.0.0.1@member-0"),
        ("17_10_0_0_1_member-0.json", "23-10.0.0.1@member-0"),
        # a file of whom, is not said
        ("G/offsets.json", "23-10.0.0.1@member-0"),
        ("member-1.json", "23-10.0.0.1@member-0"),
    ],
)
def test_a_file_goes_by_the_first_client_id_where_it_has_nothing_of_that_but_the_instance_name(
    path: str, known: str, tmp_path: Path
) -> None:
    ids = FileIds(tmp_path)
    assert ids.of(["", ""]) == ("", "")
    assert ids.of(["17-10.0.0.1@member-0", ""]) == ("17-10.0.0.1@member-0", "")
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    ids.of(["17-10.0.0.1@member-0", ""])
    # what was written is remembered when it is gone
    file.unlink()
    assert ids.of(["23-10.0.0.1@member-0", ""]) == (known, "")
    # and so it is later
    later = known if known.startswith("17") else "29-10.0.0.1@member-0"
    assert ids.of(["29-10.0.0.1@member-0", ""]) == (later, "")


def test_a_file_that_is_seen_later_goes_by_the_id_that_was_known_last(tmp_path: Path) -> None:
    ids = FileIds(tmp_path)
    assert [ids.of([f"{pid}@member-0"]) for pid in (17, 23)] == [("17@member-0",), ("23@member-0",)]
    (tmp_path / "member-0.json").touch()
    assert ids.of(["29@member-0"]) == ("23@member-0",)
