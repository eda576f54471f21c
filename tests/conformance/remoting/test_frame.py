"""Frames: golden bytes, the way there and back, and bytes that are no frame."""

from __future__ import annotations

import json
import struct

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.codes import LANGUAGES, Request, Response, response_name
from rocketmq_conformance.conformance.remoting.frame import (
    MAX_FRAME,
    Command,
    MalformedFrame,
    decode,
    encode,
    fields,
    frame_length,
)


def framed(header: bytes, body: bytes = b"", kind: int = 0) -> bytes:
    """A payload (no length in front) with a given header."""
    return struct.pack(">I", kind << 24 | len(header)) + header + body


# --- golden bytes ---------------------------------------------------------------------------------------------


def test_json_request_has_the_documented_bytes() -> None:
    command = Command(14, {"topic": "T", "queueId": "0"}, b"xy", opaque=7)
    header = (
        b'{"code":14,"flag":0,"language":"PYTHON","version":409,"serializeTypeCurrentRPC":"JSON","opaque":7,'
        b'"extFields":{"topic":"T","queueId":"0"}}'
    )
    assert encode(command) == struct.pack(">ii", 4 + len(header) + 2, len(header)) + header + b"xy"


def test_binary_request_has_the_documented_bytes() -> None:
    command = Command(14, {"topic": "T"}, b"xy", opaque=7, flag=2, version=401, remark="r", binary=True)
    header = bytes.fromhex(
        "000e 03 0191 00000007 00000002 00000001 72 0000000c 0005 746f706963 00000001 54".replace(" ", "")
    )
    assert encode(command) == struct.pack(">ii", 4 + len(header) + 2, 1 << 24 | len(header)) + header + b"xy"


def test_answer_of_a_real_broker_is_read() -> None:
    header = (
        b'{"code":0,"extFields":{"queueId":"0","TRACE_ON":"true"},"flag":1,"language":"JAVA","opaque":29,'
        b'"serializeTypeCurrentRPC":"JSON","version":479}'
    )
    answer = decode(framed(header, b"body"))
    assert answer == Command(0, {"queueId": "0", "TRACE_ON": "true"}, b"body", 29, 1, "JAVA", 479)
    assert answer.is_response
    assert not answer.is_one_way


@pytest.mark.parametrize(
    ("header", "ext"),
    [
        (b'{"code":14,"opaque":1,"flag":0}', {}),
        (b'{"code":14,"opaque":1,"extFields":null}', {}),
        (
            b'{"code":"14","opaque":"1","extFields":{"a":5,"b":true,"c":null,"d":false}}',
            {"a": "5", "b": "true", "d": "false"},
        ),
        (b"{'code':14,'opaque':1,'extFields':{'a':'x'}}", {"a": "x"}),
        (b'{"code":14,"opaque":1,"extFields":{7:"x"}}', {"7": "x"}),
    ],
)
def test_dialects_that_brokers_accept_are_read(header: bytes, ext: dict[str, str]) -> None:
    command = decode(framed(header))
    assert (command.code, command.opaque, command.flag, command.ext) == (14, 1, 0, ext)


def test_a_language_that_nobody_knows_is_other() -> None:
    assert decode(encode(Command(1, language="COBOL", binary=True))[4:]).language == "OTHER"
    raw = bytearray(encode(Command(1, binary=True))[4:])
    raw[6] = 200
    assert decode(bytes(raw)).language == "OTHER"


def test_fields_are_text_and_none_is_left_out() -> None:
    assert fields(topic="T", queueId=3, committed=True, order=False, boundaryType=None) == {
        "topic": "T",
        "queueId": "3",
        "committed": "true",
        "order": "false",
    }


# --- there and back -------------------------------------------------------------------------------------------

_INT = st.integers(-(2**31), 2**31 - 1)
_TEXT = st.text(st.characters(codec="utf-8"), max_size=40)


@given(
    code=st.integers(-(2**15), 2**15 - 1),
    ext=st.dictionaries(_TEXT, _TEXT, max_size=6),
    body=st.binary(max_size=200),
    opaque=_INT,
    flag=st.integers(0, 3),
    language=st.sampled_from(LANGUAGES),
    version=st.integers(0, 2**15 - 1),
    remark=_TEXT,
    binary=st.booleans(),
)
def test_what_is_encoded_is_decoded(
    code: int,
    ext: dict[str, str],
    body: bytes,
    opaque: int,
    flag: int,
    language: str,
    version: int,
    remark: str,
    binary: bool,
) -> None:
    command = Command(code, ext, body, opaque, flag, language, version, remark, binary)
    frame = encode(command)
    assert frame_length(frame) == len(frame) - 4
    assert decode(frame[4:]) == command


@given(st.binary(max_size=120))
def test_any_bytes_are_a_command_or_malformed(payload: bytes) -> None:
    try:
        command = decode(payload)
    except MalformedFrame:
        return
    again = decode(encode(command)[4:])
    assert again == command


@given(st.data())
def test_a_frame_cut_short_is_never_taken_for_another(data: st.DataObject) -> None:
    binary = data.draw(st.booleans())
    payload = encode(Command(14, {"topic": "T", "queueId": "0"}, opaque=9, remark="r", binary=binary))[4:]
    with pytest.raises(MalformedFrame):
        decode(payload[: data.draw(st.integers(0, len(payload) - 1))])


# --- malformed ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("total", [-1, 0, 3, MAX_FRAME + 1, 2**31 - 1])
def test_impossible_lengths_are_refused(total: int) -> None:
    with pytest.raises(MalformedFrame, match="cannot be"):
        frame_length(struct.pack(">i", total))


@pytest.mark.parametrize("total", [4, MAX_FRAME])
def test_the_longest_and_shortest_lengths_are_taken(total: int) -> None:
    assert frame_length(struct.pack(">i", total)) == total


_FIXED = struct.pack(">hBhii", 14, 3, 401, 1, 0)


@every(
    ("payload", "sentence"),
    [
        (b"\0\0", "too few"),
        (struct.pack(">I", 50) + b"{}", "claims 50 bytes"),
        (framed(b"{}", kind=2), "kind 2"),
        (framed(b""), "no JSON"),
        (framed(b"{"), "no JSON"),
        (framed(b"\xff\xfe"), "no JSON"),
        (framed(b'{"code":14,"opaque":1} x'), "no JSON"),
        (framed(b"[" * 5000), "nested too deeply"),
        (framed(b'{"a":' * 5000), "nested too deeply"),
        (framed(b"[1]"), "no object"),
        (framed(b'{"opaque":1}'), "'code'"),
        (framed(b'{"code":14}'), "'opaque'"),
        (framed(b'{"code":true,"opaque":1}'), "'code'"),
        (framed(b'{"code":1.5,"opaque":1}'), "'code'"),
        (framed(b'{"code":"x","opaque":1}'), "'code'"),
        (framed(b'{"code":14,"opaque":4294967296}'), "'opaque'"),
        (framed(b'{"code":14,"opaque":1,"flag":null}'), "'flag'"),
        (framed(b'{"code":14,"opaque":1,"extFields":[]}'), "extFields"),
        (framed(_FIXED, kind=1), "too early"),
        (framed(_FIXED + struct.pack(">i", 9), kind=1), "claims 9 bytes"),
        (framed(_FIXED + struct.pack(">i", -1), kind=1), "claims -1 bytes"),
        (framed(_FIXED + struct.pack(">i", 0), kind=1), "too early"),
        (framed(_FIXED + struct.pack(">ii", 0, 3) + b"\0\0\0", kind=1), "too early"),
        (framed(_FIXED + struct.pack(">iih", 0, 2, 5), kind=1), "claims 5 bytes"),
        (framed(_FIXED + struct.pack(">iih", 0, 2, -5), kind=1), "claims -5 bytes"),
        (framed(_FIXED + struct.pack(">ii", 0, 0) + b"!", kind=1), "follow"),
        (framed(_FIXED + struct.pack(">i", 1) + b"\xff" + struct.pack(">i", 0), kind=1), "UTF-8"),
        (framed(_FIXED + struct.pack(">iihBi", 0, 7, 1, 255, 0), kind=1), "UTF-8"),
    ],
)
def test_malformed_frames_are_refused_with_a_sentence(payload: bytes, sentence: str) -> None:
    with pytest.raises(MalformedFrame, match=sentence):
        decode(payload)


def test_a_body_beyond_the_limit_is_not_sent() -> None:
    with pytest.raises(MalformedFrame, match="longer than"):
        encode(Command(10, body=bytes(MAX_FRAME)))


@pytest.mark.parametrize(
    "command",
    [
        Command(200050, binary=True),
        Command(1, opaque=2**31, binary=True),
        Command(1, {"k" * 40_000: "v"}, binary=True),
    ],
)
def test_what_a_binary_header_cannot_hold_is_not_sent(command: Command) -> None:
    with pytest.raises(MalformedFrame):
        encode(command)


def test_codes_beyond_16_bits_travel_in_json() -> None:
    assert decode(encode(Command(200050))[4:]).code == 200050


# --- Java's JSON ----------------------------------------------------------------------------------------------


def test_numbers_and_objects_may_be_keys() -> None:
    text = '{"brokerAddrs":{0:"a:1", 1 :"b:2"},"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:10},\'x\':[]}'
    assert java_json.loads(text) == {
        "brokerAddrs": {"0": "a:1", "1": "b:2"},
        "offsetTable": {(("brokerName", "b"), ("queueId", 0), ("topic", "T")): 10},
        "x": [],
    }


@every("value", ['"\\u0041\\"\\n"', "-12", "1.5e3", "true", "false", "null", '[1, "a", {}]', "{}"])
def test_ordinary_values_mean_the_same_beside_a_number_as_key(value: str) -> None:
    assert java_json.loads(f"{{1:{value}}}") == {"1": json.loads(value)}


def test_single_quotes_may_hold_double_ones() -> None:
    assert java_json.loads("{1:'say \"it\\'s\"'}") == {"1": 'say "it\'s"'}


@every(
    "text",
    ["", "{1:", "{1", "{1:2", "{1:2,", "[1", "[{1:2}", "{1:2}x", "{[1]:2}", "{null:1}", "{true:1}", "{a:1}", "{1:'x"],
)
def test_what_is_no_json_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        java_json.loads(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | _TEXT,
        lambda inner: st.lists(inner) | st.dictionaries(_TEXT, inner),
        max_leaves=8,
    )
)
def test_the_lenient_reader_agrees_with_the_standard_one(value: object) -> None:
    # The key 1 makes the text non-standard, so that the lenient reader has to read all of it.
    text = f'{{1:0,"value":{json.dumps(value)}}}'
    assert java_json.loads(text) == {"1": 0, "value": value}


# --- codes ----------------------------------------------------------------------------------------------------


def test_codes_have_the_names_of_rocketmq() -> None:
    assert Request.SEND_MESSAGE_V2 == 310
    assert response_name(Response.QUERY_NOT_FOUND) == "QUERY_NOT_FOUND"
    assert response_name(4711) == "CODE_4711"
