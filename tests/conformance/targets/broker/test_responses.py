"""What the answers of a broker mean, malformed ones included."""

from __future__ import annotations

import pytest
from every import every

from rocketmq_conformance.conformance.remoting.client_requests import reset_body, reset_body_for_cpp
from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import responses
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err


@every("code", [Response.SUCCESS, Response.TOPIC_NOT_EXIST])
def test_a_bare_answer_is_a_code_and_whatever_else_it_has_is_part_of_it(code: Response) -> None:
    plain = None if code == Response.SUCCESS else Err("TOPIC_NOT_EXIST")
    assert responses.bare(Command(code, remark="Offset has been previously reset")) == plain
    assert responses.bare(Command(code, {"minOffset": "0"})) == (code.name, (("minOffset", "0"),), "")
    assert responses.bare(Command(code, body=b"{}")) == (code.name, (), "{}")


def test_a_table_whose_keys_are_objects_becomes_pairs() -> None:
    body = (
        b'{"offsetTable":{{"brokerName":"b","queueId":1,"topic":"T"}:10,{"brokerName":"b","queueId":0,"topic":"T"}:5}}'
    )
    assert responses.offset_pairs(body) == ((0, 5), (1, 10))
    assert responses.offset_pairs(b'{"offsetTable":{}}') == ()


@every("body", [b"", b"{}", b"[]", b'{"offsetTable":{"x":1}}', b'{"offsetTable":[1]}', b"\xff"])
def test_a_body_without_a_table_is_an_error_of_its_own(body: bytes) -> None:
    parsed = responses.offset_pairs(body)
    assert isinstance(parsed, Err)
    assert parsed.code == "NO_FIELD"
    assert "table of offsets" in parsed.detail


def test_members_get_offsets_as_a_table_or_as_a_list() -> None:
    queues = [(MessageQueue("T", "broker-a", queue), 7 + queue) for queue in (1, 0)]
    for body, form in ((reset_body(queues), "table"), (reset_body_for_cpp(queues), "list")):
        assert responses.written_pairs(body) == (((0, 7), (1, 8)), form)
    assert isinstance(responses.written_pairs(b"{}"), Err)


def test_correction_offsets_are_read_with_keys_of_either_kind_and_refusals_passed_on() -> None:
    for body in (b'{"correctionOffsets":{1:9,0:3}}', b'{"correctionOffsets":{"1":9,"0":3}}'):
        assert responses.corrected(Command(0, body=body)) == ((0, 3), (1, 9))
    assert responses.corrected(Command(int(Response.SYSTEM_ERROR))) == Err("SYSTEM_ERROR")
    for body in (b"", b"{}", b'{"correctionOffsets":[1]}', b"\xff"):
        broken = responses.corrected(Command(0, body=body))
        assert isinstance(broken, Err), body
        assert broken.code == "NO_FIELD", body


def test_granted_queues_are_read_and_refusals_passed_on() -> None:
    body = b'{"lockOKMQSet":[{"brokerName":"b","queueId":1,"topic":"T"}]}'
    assert responses.locked(Command(0, body=body)) == {("T", "b", 1)}
    assert responses.locked(Command(int(Response.SYSTEM_ERROR))) == Err("SYSTEM_ERROR")


@pytest.mark.parametrize("body", [b"", b"{}", b'{"lockOKMQSet":[{}]}', b'{"lockOKMQSet":5}'])
def test_a_body_without_granted_queues_is_an_error_of_its_own(body: bytes) -> None:
    parsed = responses.locked(Command(0, body=body))
    assert isinstance(parsed, Err)
    assert parsed.code == "NO_FIELD"


def test_a_pull_without_a_next_offset_is_an_error_of_its_own() -> None:
    assert responses.pulled(Command(0, {"nextBeginOffset": "-1"})) == ("SUCCESS", -1, ())
    for ext in ({}, {"nextBeginOffset": "soon"}):
        parsed = responses.pulled(Command(int(Response.PULL_NOT_FOUND), dict(ext)))
        assert isinstance(parsed, Err)
        assert parsed.code == "NO_FIELD"
    busy = responses.pulled(Command(int(Response.SYSTEM_BUSY)))
    assert isinstance(busy, Err)
    assert not busy.definite


@every("code", [Response.SYSTEM_BUSY, Response.SERVICE_NOT_AVAILABLE])
def test_a_broker_that_is_too_busy_or_full_proves_nothing(code: Response) -> None:
    assert responses.refused(Command(int(code))) == Err(code.name, definite=False)


@every("remark", ["[PC_SYNCHRONIZED]broker busy", "OS_PAGECACHE_BUSY", "FLUSH_DISK_TIMEOUT", "SERVICE_NOT_AVAILABLE"])
def test_nor_does_one_that_says_so_beside_system_error(remark: str) -> None:
    assert responses.refused(Command(int(Response.SYSTEM_ERROR), remark=remark)) == Err("SYSTEM_ERROR", definite=False)
    assert responses.refused(Command(int(Response.SYSTEM_ERROR), remark=f"not {remark}")) == Err("SYSTEM_ERROR")


@every("code", [Response.FLUSH_DISK_TIMEOUT, Response.FLUSH_SLAVE_TIMEOUT, Response.SLAVE_NOT_AVAILABLE])
def test_a_message_that_is_stored_and_not_yet_safe_is_sent(code: Response) -> None:
    assert responses.number(Command(int(code), {"queueOffset": "7"}), "queueOffset") == 7
