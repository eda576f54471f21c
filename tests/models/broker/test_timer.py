"""Messages with a time of their own: until when they wait, by hand."""

from __future__ import annotations

from dataclasses import replace

from every import every

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.timer import DELAY_MS, DELAY_SECONDS, DELIVER_MS, OUT, timed, without_timers
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

NOW = 1_700_000_000_400
ILLEGAL, SYSTEM_ERROR = Err("MESSAGE_ILLEGAL"), Err("SYSTEM_ERROR")
LAST = 2**63 - 1
DAYS = 3 * 86_400


def rules(release: str) -> BrokerRules:
    return BrokerRules.of(Profile.of(broker=release))


NEW = rules("5.5.0")


@every(
    ("properties", "due"),
    [
        ({}, None),
        ({DELAY_SECONDS: "2"}, NOW + 2_000 - 400),
        ({DELAY_MS: "2500"}, NOW + 2_500 - 900),
        ({DELAY_MS: "600"}, NOW - 400),
        ({DELIVER_MS: str(NOW + 1)}, NOW - 400),
        ({DELIVER_MS: str(NOW + 3_000)}, NOW + 3_000 - 400),
        ({DELIVER_MS: str(NOW)}, None),
        ({DELIVER_MS: "1"}, None),
        ({DELAY_SECONDS: "0"}, None),
        ({DELAY_SECONDS: "-5"}, None),
        ({DELAY_SECONDS: ""}, None),
        ({DELAY_SECONDS: "1", OUT: "1"}, None),
        ({DELAY_SECONDS: "1", DELAY_MS: "x", DELIVER_MS: "1"}, NOW + 600),
        ({DELAY_SECONDS: "", DELAY_MS: "1600"}, NOW + 600),
        ({DELAY_MS: "1600", DELIVER_MS: "x"}, NOW + 600),
        ({DELAY_SECONDS: "x", DELAY_MS: "1"}, ILLEGAL),
        ({DELAY_MS: str(LAST + 1)}, ILLEGAL),
        ({DELAY_MS: str(LAST)}, None),
        ({DELAY_SECONDS: str(LAST)}, None),
        ({DELAY_SECONDS: str(DAYS)}, NOW + DAYS * 1_000 - 400),
        ({DELAY_MS: str(DAYS * 1_000 + 1)}, ILLEGAL),
        ({DELIVER_MS: str(LAST)}, ILLEGAL),
    ],
)
def test_a_message_waits_until_its_time(properties: dict[str, str], due: int | Err | None) -> None:
    assert timed(NEW, properties, 0, NOW).due == due


def test_a_whole_second_is_one_before() -> None:
    assert timed(NEW, {DELIVER_MS: "1700000003000"}, 0, NOW).due == 1_700_000_002_000
    assert timed(NEW, {DELIVER_MS: "1700000003001"}, 0, NOW).due == 1_700_000_003_000


def test_a_second_may_last_less() -> None:
    assert timed(NEW, {DELAY_SECONDS: "2"}, 0, 1_010, second=50).due == 1_100
    assert timed(NEW, {DELAY_SECONDS: str(DAYS + 1)}, 0, 1_010, second=50).due == ILLEGAL


def test_a_level_goes_first_and_the_time_is_lost() -> None:
    due, why = timed(NEW, {DELAY_SECONDS: "x"}, 1, NOW)
    assert due is None
    assert why is not None
    assert why.rules == ("BQ-TIMER-LEVEL",)
    assert timed(NEW, {DELAY_SECONDS: "2", OUT: "1"}, -1, NOW).due is None
    assert without_timers({DELAY_SECONDS: "2", DELAY_MS: "1", DELIVER_MS: "x", OUT: "1", "TAGS": "A"}) == {
        OUT: "1",
        "TAGS": "A",
    }


def test_without_a_wheel_nothing_waits() -> None:
    off = replace(NEW, timer_wheel=False)
    for text in ("2", "0", "x"):
        due, why = timed(off, {DELAY_SECONDS: text}, 0, NOW)
        assert due == SYSTEM_ERROR
        assert why is not None
        assert why.rules == ("BQ-TIMER-OFF",)
    assert timed(off, {DELAY_SECONDS: "2"}, 3, NOW).due is None
    assert timed(off, {}, 0, NOW) == (None, None)
    older = replace(rules("5.1.0"), timer_wheel=False)
    assert timed(older, {DELAY_SECONDS: "2"}, 0, NOW).due == Err("SERVICE_NOT_AVAILABLE")


def test_releases_before_5_know_no_times() -> None:
    for release in ("4.9.7", "5.0.0-PREVIEW"):
        assert timed(rules(release), {DELAY_SECONDS: "x"}, 0, NOW) == (None, None)
    assert timed(rules("5.0.0"), {DELAY_SECONDS: "x"}, 0, NOW).due == ILLEGAL


@every(
    ("properties", "kind"),
    [
        ({DELAY_SECONDS: "-1"}, "a time that is over"),
        ({DELAY_MS: str(LAST)}, "a time that overflows"),
        ({DELAY_MS: "2000", OUT: "1"}, "a message that has waited"),
        ({DELAY_MS: "y"}, "no number"),
        ({DELIVER_MS: str(LAST)}, "too far"),
        ({DELAY_MS: "2000"}, DELAY_MS),
    ],
)
def test_reasons(properties: dict[str, str], kind: str) -> None:
    why = timed(NEW, properties, 0, NOW).why
    assert why is not None
    assert why.kind == kind
