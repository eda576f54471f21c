"""The longest properties that brokers take, measured on 12 real ones in a cluster called conformance."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.fakes.stored_properties import LONGEST, StoredProperties
from rocketmq_conformance.conformance.remoting.message import format_properties
from rocketmq_conformance.models.release import Release

ID = {"UNIQ_KEY": "A" * 32}
WAITS = {"REAL_TOPIC": "T", "REAL_QID": "0"}


def longest(release: str, sent: dict[str, str], added: dict[str, str], letter: str = "x") -> int:
    """The length of the longest text with one more property that is taken (bytes)."""
    kept, low, high = StoredProperties(Release.parse(release), "conformance"), 0, 2 * LONGEST
    while high - low > 1:
        middle = (low + high) // 2
        text = format_properties({**sent, "K": letter * middle})
        low, high = (middle, high) if kept.text(text, added) is not None else (low, middle)
    return len(format_properties({**sent, "K": letter * low}).encode())


@pytest.mark.parametrize(
    ("release", "with_id", "with_wait", "delayed", "other_cluster"),
    [
        ("4.0.0", 32767, 32767, 32743, 32767),
        ("4.5.2", 32767, 32767, 32743, 32767),
        ("4.6.1", 32747, 32747, 32723, 32796),
        ("4.7.0", 32767, 32767, 32743, 32767),
        ("4.7.1", 32747, 32747, 32723, 32796),
        ("4.9.0", 32747, 32747, 32723, 32796),
        ("4.9.7", 32748, 32758, 32724, 32797),
        ("5.0.0", 32709, 32709, 32685, 32758),
        ("5.1.4", 32709, 32709, 32685, 32758),
        ("5.2.0", 32708, 32708, 32684, 32757),
        ("5.5.1", 32708, 32708, 32684, 32757),
    ],
)
def test_what_a_broker_adds_counts(
    release: str, with_id: int, with_wait: int, delayed: int, other_cluster: int
) -> None:
    assert longest(release, ID, {}) == with_id
    assert longest(release, {**ID, "WAIT": "true"}, {}) == with_wait
    assert longest(release, ID, WAITS) == delayed
    assert longest(release, {**ID, "CLUSTER": "z" * 40}, {}) == other_cluster


def test_an_id_that_a_broker_gives_counts_too_and_bytes_do_not_characters() -> None:
    assert longest("5.5.0", ID, {}) - longest("5.5.0", {}, {}) == len(format_properties(ID))
    assert longest("4.9.7", ID, {}, "\u00e4") == 32747


def test_what_was_sent_is_kept_unless_it_is_too_long_itself() -> None:
    kept = StoredProperties(Release.parse("5.5.0"), "conformance")
    assert kept.text("TAGS\x01A\x02", {}) == "TAGS\x01A\x02"
    assert "CLUSTER\x01conformance\x02" in (kept.text("p" * 40_000, {}) or "")
