"""What a guarded broker refuses, and what is said of it."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.fakes.guard import OPEN, Guard
from rocketmq_conformance.conformance.remoting.access import Credentials
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.release import Release

ACCOUNT = Credentials("conformance-member", "secret-of-it")
BEAT, BODY = int(Request.HEART_BEAT), b"{}"


def signed(account: Credentials, code: int = BEAT, ext: dict[str, str] | None = None) -> Command:
    return Command(code, account.signed(ext or {}, BODY), BODY)


@pytest.mark.parametrize(
    ("release", "code", "unsigned", "stranger", "wrong"),
    [
        (
            "5.2.0",
            1,
            "org.apache.rocketmq.acl.common.AclException: No accessKey is configured, ",
            "org.apache.rocketmq.acl.common.AclException: No acl config for somebody-else, ",
            "org.apache.rocketmq.acl.common.AclException: Check signature failed for accessKey=conformance-member, ",
        ),
        ("5.3.0", 16, "username cannot be null.", "User:somebody-else is not found.", "check signature failed."),
    ],
)
def test_requests_are_refused_as_the_release_refuses_them(
    release: str, code: int, unsigned: str, stranger: str, wrong: str
) -> None:
    guard = Guard(ACCOUNT, release=Release.parse(release))
    changed = signed(ACCOUNT, ext={"queueId": "1"})
    changed.ext["queueId"] = "2"
    for request, remark in (
        (Command(BEAT, {}, BODY), unsigned),
        (signed(Credentials("somebody-else", "secret-of-it")), stranger),
        (signed(Credentials("conformance-member", "another")), wrong),
        (Command(BEAT, signed(ACCOUNT).ext, b"{ }"), wrong),
        (changed, wrong),
    ):
        answer = guard.refusal(request)
        assert answer is not None
        assert answer.code == code
        assert answer.remark.startswith(remark)
    assert not guard.signed
    assert guard.refusal(signed(ACCOUNT, ext={"topic": "T", "queueId": "1"})) is None
    assert guard.signed


def test_what_a_name_server_answers_needs_no_signature() -> None:
    guard = Guard(ACCOUNT)
    assert guard.refusal(Command(int(Request.GET_ROUTEINFO_BY_TOPIC), {"topic": "T"})) is None
    assert not guard.signed
    assert guard.sentence == ""


def test_each_kind_of_request_is_named_as_it_came_first() -> None:
    guard = Guard(ACCOUNT)
    for request in (
        Command(BEAT, {}, BODY),
        signed(Credentials("conformance-member", "another")),
        signed(Credentials("conformance-member", "another"), 999),
    ):
        guard.refusal(request)
    assert guard.sentence == "HEART_BEAT came without a signature, request 999 came with a wrong signature"


def test_without_an_account_nothing_is_refused() -> None:
    assert OPEN.refusal(Command(BEAT, {}, BODY)) is None
    assert (OPEN.sentence, OPEN.handshake, OPEN.context) == ("", "", None)
