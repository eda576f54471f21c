"""Programs whose brokers ask for TLS and credentials: what they are given, and what is said of those that ignore it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from places import ROOT
from waiting import wait_until

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.address import AddressError, through_address
from rocketmq_conformance.conformance.targets.broker.access_settings import PREFIX
from rocketmq_conformance.conformance.targets.broker.ports import free_port
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.program import Program
from rocketmq_conformance.conformance.targets.client_program.real_broker import real_broker
from rocketmq_conformance.conformance.targets.client_program.smoke import look_at
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.outcome import Err, Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_brokers, whole_push
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite

PROGRAM = ROOT / "tests" / "helpers" / "program.py"
BRIEF = Timing(connect=30.0, margin=0.5, end=0.3, look=0.2, quiet=0.05, round=0.1, write=0.1, routes=0.1)
#: For a program that commits in its own time.
PATIENT = Timing(connect=30.0, end=0.3, look=30.0, quiet=0.05, round=30.0, write=0.1, routes=0.1)
SIGN = "sign every request to a broker with ROCKETMQ_ACCESS_KEY and ROCKETMQ_SECRET_KEY"


@contextmanager
def group_of(
    behaviour: str, suite: Suite = whole_push.SUITE, timing: Timing = BRIEF, through: str = ""
) -> Iterator[PlayedGroup]:
    """A case with a program whose brokers ask for TLS and credentials."""
    program = ClientProgram(
        f"{sys.executable} {PROGRAM} {behaviour}",
        timing=timing,
        through=real_broker(through_address(through)) if through else None,
        access=GivenAccess(credentials=True, tls=True),
    )
    program.hello()
    group = program.case(suite)
    try:
        yield group
    finally:
        group.close()
        program.close()


@pytest.mark.parametrize(
    ("suite", "join"), [(whole_push.SUITE, whole_push.Join(0)), (whole_brokers.SUITE, whole_brokers.Join(0))]
)
def test_one_that_uses_what_it_is_given_joins(suite: Suite, join: Operation) -> None:
    with group_of("sits", suite) as group:
        assert isinstance(group.do(join), Ok)
        assert group.case.guard.signed


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        ("plain", r"What it sent is no TLS \(.*\): let it encrypt its connections, as ROCKETMQ_TLS says\."),
        ("mistrusts", r"It refused the TLS handshake \(.*\): let it trust the certificate in ROCKETMQ_TLS_CA\."),
        ("unsigned", rf"has signed nothing as it should \(HEART_BEAT came without a signature\): {SIGN}"),
    ],
)
def test_one_that_does_not_cannot_run(behaviour: str, sentence: str) -> None:
    with group_of(behaviour) as group, pytest.raises(CannotRunError, match=sentence):
        group.do(whole_push.Join(0))


def test_a_request_that_is_not_signed_is_named() -> None:
    with group_of("commits-unsigned", timing=PATIENT) as group:
        outcome = group.do(whole_push.Join(0))
    assert isinstance(outcome, Err)
    assert outcome.definite
    assert (outcome.code, outcome.detail) == (
        "NOT_SIGNED",
        f"UPDATE_CONSUMER_OFFSET came without a signature: {SIGN}.",
    )


def test_the_proxy_asks_in_the_place_of_a_real_broker() -> None:
    port = free_port()
    properties = {"namesrvAddr": f"127.0.0.1:{port}"}
    with FakeBroker(Profile.of("5.5.0", "5.3.3"), port=port, properties=properties) as behind:
        through = f"broker:{behind.address}"
        with group_of("commits-unsigned", timing=PATIENT, through=through) as group:
            outcome = group.do(whole_push.Join(0))
            assert isinstance(outcome, Err)
            assert outcome.code == "NOT_SIGNED"
            assert group.case.guard.refused == {"UPDATE_CONSUMER_OFFSET": "without a signature"}
        assert behind.arrived(Request.HEART_BEAT)
        # that with which the case begins
        assert behind.arrived(Request.UPDATE_CONSUMER_OFFSET) == 1


def test_smoke_says_whether_every_request_was_signed() -> None:
    for behaviour, missed in (("sits", False), ("commits-unsigned", True)):
        access = GivenAccess(credentials=True)
        program = ClientProgram(f"{sys.executable} {PROGRAM} {behaviour}", timing=BRIEF, access=access)
        seen = look_at(program, limit=30.0 if missed else 0.2).seen
        assert ("signed every request" in [one.what for one in seen if not one.seen]) is missed


def test_the_address_asks_for_it() -> None:
    program = open_address("client?tls=on&credentials=on:sh")
    assert isinstance(program, ClientProgram)
    given = program.case(whole_push.SUITE)
    variables = given.variables("member-0")
    given.close()
    authority = Path(variables["ROCKETMQ_TLS_CA"])
    assert authority.read_text().startswith("-----BEGIN CERTIFICATE-----")
    assert (variables["ROCKETMQ_TLS"], variables["ROCKETMQ_ACCESS_KEY"]) == ("on", "conformance-member")
    assert len(variables["ROCKETMQ_SECRET_KEY"]) == 32
    program.close()
    assert not authority.exists()
    plain = open_address("client?tls=off:sh")
    assert isinstance(plain, ClientProgram)
    group = plain.case(whole_push.SUITE)
    assert not {"ROCKETMQ_TLS", "ROCKETMQ_ACCESS_KEY"} & group.variables("member-0").keys()
    group.close()
    with pytest.raises(AddressError, match="write credentials=on"):
        open_address("client?credentials=secret:sh")


def test_programs_are_not_given_the_credentials_of_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACCESS_KEY", "SECRET_KEY", "ACCESS_FILE"):
        monkeypatch.setenv(PREFIX + name, "a-secret")
    program = Program(["sh", "-c", "env | grep -c a-secret >&2"], {"OTHER": "a-secret"})
    try:
        wait_until(lambda: program.last_words)
        assert program.last_words == "1"
    finally:
        program.kill()
