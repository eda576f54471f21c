"""The proof of the memory ratio: it asks on both sides of every edge, and notices one that is a byte off."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from rocketmq_conformance.conformance.proof import broker_memory as proof
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.broker.memory_ratio import is_on_disk
from rocketmq_conformance.models.release import Release

MEMORY, START = 1_000_003, 5_000_000
OnDisk = Callable[[int, int, int], bool]


class Pretended:
    """A broker of 4.9.7 whose commit log has grown by ``moved`` bytes since its store was written."""

    def __init__(self, on_disk: OnDisk, moved: int = 0) -> None:
        self.on_disk, self.moved, self.ratio = on_disk, moved, 40
        self.written = proof.edges(MEMORY)

    def call(self, code: int, ext: dict[str, str], body: bytes = b"") -> Command:
        if code == Request.UPDATE_BROKER_CONFIG:
            self.ratio = int(body.decode().strip().partition("=")[2])
            return Command(0, {})
        if code == Request.GET_BROKER_RUNTIME_INFO:
            return Command(0, {}, json.dumps({"table": {"commitLogMaxOffset": str(START + self.moved)}}).encode())
        size = self.written[int(ext["queueId"])] + self.moved
        if self.on_disk(size, MEMORY, self.ratio):
            return Command(Response.QUERY_NOT_FOUND, {})
        return Command(0, {"offset": "0"})

    def prove(self) -> Tally:
        tally = Tally("broker", "4.9.7")
        proof.prove_ratios(cast(Connection, self), tally, MEMORY, self.written, START)
        return tally


@pytest.mark.parametrize("moved", [0, 7])
def test_a_broker_that_follows_the_rule_agrees_however_much_it_writes_itself(moved: int) -> None:
    tally = Pretended(is_on_disk, moved).prove()
    assert (tally.differences, tally.cases > 5 * len(proof.RATIOS)) == (0, True)
    assert {row.rule for row in tally.rows()} == {"BQ-QUERY-4", "BQ-DISK-1"}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda written, memory, ratio: written >= proof.allowed(memory, ratio),
        lambda written, memory, ratio: written > proof.allowed(memory, ratio) + 1,
        lambda written, memory, ratio: ratio <= 0,
        lambda written, memory, ratio: is_on_disk(written, memory, max(ratio, 1)),
    ],
)
def test_an_edge_that_is_a_byte_off_differs(wrong: Any) -> None:
    assert Pretended(wrong).prove().differences > 0


def test_releases_that_move_min_or_do_not_look_at_the_ratio_are_left_out() -> None:
    shown = [text for text in ("4.0.0", "4.9.7", "5.0.0", "5.1.0", "5.5.0") if proof.shows(Release.parse(text))]
    assert shown == ["4.0.0", "4.9.7"]


def test_the_memory_of_a_control_group_counts(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(proof, "_LIMITS", (limit, tmp_path / "missing"))
    whole = proof.machine_memory()
    limit.write_text("max\n")
    assert proof.machine_memory() == whole
    limit.write_text("1048576\n")
    assert proof.machine_memory() == 1_048_576
