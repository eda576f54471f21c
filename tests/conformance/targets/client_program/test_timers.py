"""Timers of programs as settings: what is waited for each, and what is no timer."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from places import ROOT

from rocketmq_conformance.conformance.fakes.group_case import DELAY, GroupCase
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.timers import STANDARD, overall_pace, timers_of, timing_of
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.conformance.targets.opener import open_address


@pytest.mark.parametrize("pace", [0.5, 1.0, 3.0, 20.0, 1000.0])
def test_a_pace_stands_for_all_timers(pace: float) -> None:
    timers = timers_of({}, pace)
    assert vars_of(timing_of(timers, pace)) == pytest.approx(vars_of(Timing.of(pace)))
    assert overall_pace(timers, pace) == pace


def vars_of(timing: Timing) -> dict[str, float]:
    return {name: getattr(timing, name) for name in timing.__slots__}


def test_each_timer_shortens_what_waits_for_it() -> None:
    standard = vars_of(Timing())
    shorter = {
        "rebalance": {"look", "round"},
        "first_persist": {"look", "write"},
        "correction": {"look"},
    }
    for name, changed in shorter.items():
        timing = vars_of(timing_of(timers_of({name: 5.0}, 1.0), 1.0))
        assert {field for field in timing if timing[field] < standard[field]} == changed
        assert {field for field in timing if timing[field] > standard[field]} == set()
    assert timing_of(timers_of({"routes": 1.0, "heartbeat": 2.0}, 1.0), 1.0).routes == 3.0
    # commits come every 60 s, and none comes before
    assert timing_of(timers_of({"persist": 60.0}, 1.0), 1.0).write == 61.0


def test_a_timer_alone_goes_beside_a_pace() -> None:
    assert timers_of({"rebalance": 0.5, "persist": 3.0}, 10.0) == {
        "rebalance": 0.5,
        "persist": 3.0,
        "first_persist": 1.0,
        "correction": 1.0,
        "heartbeat": 3.0,
        "routes": 3.0,
    }


@pytest.mark.parametrize("value", ["0", "-1", "x", "", "nan", "inf", "601"])
def test_what_is_no_time_is_said_in_a_sentence(value: str) -> None:
    for address in (f"client?rebalance={value}:sh", f"python:hosted_consumers:plain?rebalance={value}"):
        with pytest.raises(AddressError, match=re.escape(f"rebalance={value} is no time: write seconds from 0.01")):
            open_address(address)


def test_settings_of_an_address_decide_how_long_is_waited() -> None:
    program = open_address("client?rebalance=1&first_persist=2&persist=1&lanes=2:sh -c 'exit 1'")
    assert isinstance(program, ClientProgram)
    assert (program._timing.look, program._timing.round) == (23.0, 2.0)
    assert program.hello().pace == 2.5  # a look takes 18 s and 5 s more, where it takes 45 s and 5 s more
    with closing(program._broker(broadcasting=False)) as broker:
        assert isinstance(broker, GroupCase)
        assert broker._delay == DELAY  # how long it waits for an answer is none of these timers
    assert overall_pace(dict.fromkeys(STANDARD, 0.01), 1000.0) == 1000
    with pytest.raises(AddressError, match="the timers rebalance, persist"):
        open_address("client?rebalanced=1:sh")


def test_the_page_has_every_timer_with_its_standard() -> None:
    page = (ROOT / "docs" / "reference" / "client.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", page.split("## Timers")[1], re.MULTILINE)
    assert {name: float(seconds) for name, seconds in rows} == STANDARD
