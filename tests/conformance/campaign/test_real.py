"""Campaigns of real things: two releases of the Java client beside one another, and one real broker for all workers."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from rocketmq_conformance.conformance.campaign.api import campaign
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.event import CONFORMS, MODEL, DivergenceFound, RunEnded, SuiteEnded

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


def verdicts(out: Path) -> list[object]:
    recording = jsonl.read(out / jsonl.NAME)
    assert recording.complete
    return list(recording.events)


@pytest.mark.java
def test_two_releases_of_the_client_conform_to_their_own_rules_and_their_differences_are_reported(
    tmp_path: Path,
) -> None:
    out = tmp_path / "clients"
    addresses = ("java-client:4.9.8", "java-client:5.5.0")
    assert campaign(out, addresses=addresses, suites=("remote-store",), cases=200, seed=1, master="local[2]") == 0
    events = verdicts(out)
    ended = {event.address: event for event in events if isinstance(event, SuiteEnded)}
    assert {address: ended[address].cases[CONFORMS] for address in addresses} == dict.fromkeys(addresses, 200)
    assert all(event.control for event in ended.values())
    differences = [event for event in events if isinstance(event, DivergenceFound)]
    assert {(event.address, event.against) for event in differences} == {(addresses[1], addresses[0])}
    # reading the offset of no queue: -1 up to 4.9.8, -3 since
    found = {event.rules[0]["id"]: (event.expected, event.observed, len(event.steps)) for event in differences}
    assert found["OFF-VAL-1"] == ("-1", "-3", 1)
    assert MODEL not in {event.against for event in differences}


@pytest.mark.broker
def test_one_broker_serves_all_workers_and_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "broker"
    monkeypatch.setenv("STARTED_BY_THIS_TEST", str(out))  # other tests start brokers, too
    code = campaign(
        out,
        addresses=("broker:5.5.0",),
        suites=("broker-offsets", "broker-search"),
        cases=96,
        seed=1,
        master="local[2]",
    )
    assert code == 0
    (end,) = (event for event in verdicts(out) if isinstance(event, RunEnded))
    assert (end.cases[CONFORMS], end.left, end.workers, end.controls_noticed) == (96, 0, 2, 2)
    mine = [
        process
        for process in psutil.process_iter(["environ", "cmdline"])
        if (process.info["environ"] or {}).get("STARTED_BY_THIS_TEST") == str(out)
    ]
    assert not [process for process in mine if "BrokerStartup" in " ".join(process.info["cmdline"] or ())]
