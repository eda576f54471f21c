"""Stored messages: golden bytes, there and back, and bytes that are none."""

from __future__ import annotations

import struct

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.conformance.remoting.message import (
    Message,
    decode_all,
    encode,
    format_properties,
    join_batch,
    message_id,
    parse_properties,
    split_batch,
)

PLAIN = Message(
    topic="T",
    queue=3,
    offset=7,
    physical=4096,
    body=b"hello",
    properties="TAGS\x01A\x02",
    flag=5,
    born_time=1_700_000_000_000,
    born_host="10.0.0.1:4321",
    store_time=1_700_000_000_123,
    store_host="127.0.0.1:10911",
    reconsume_times=2,
)


def test_a_stored_message_has_the_documented_bytes() -> None:
    expected = bytes.fromhex(
        "00000068"  # total size
        "daa320a7"  # magic number, version 1
        "3610a686"  # checksum of the body
        "00000003 00000005"  # queue id, flag
        "0000000000000007 0000000000001000"  # queue offset, physical offset
        "00000000"  # system flag
        "0000018bcfe56800 0a000001 000010e1"  # born: time, host, port
        "0000018bcfe5687b 7f000001 00002a9f"  # stored: time, host, port
        "00000002 0000000000000000"  # consumed again, prepared transaction
        "00000005 68656c6c6f"  # body
        "01 54"  # topic
        "0007 54414753014102"  # properties
    )
    assert encode(PLAIN) == expected
    (store_time,) = struct.unpack_from(">q", expected, 56)
    assert store_time == PLAIN.store_time


def test_long_names_take_the_second_version() -> None:
    message = Message(topic="T" * 128, queue=0, offset=0, physical=0, body=b"")
    raw = encode(message)
    assert raw[4:8].hex() == "daa320ab"
    assert decode_all(raw) == [message]


def test_hosts_may_be_longer() -> None:
    message = Message(
        topic="T", queue=0, offset=0, physical=0, body=b"x", born_host="[::1]:5", store_host="[fe80::1]:6", sys_flag=48
    )
    assert decode_all(encode(message)) == [message]
    assert (
        decode_all(encode(Message(topic="T", queue=0, offset=0, physical=0, body=b"x", born_host="::1:5")))[0].born_host
        == "[::1]:5"
    )


_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
_PORT = st.integers(0, 65535)


@given(
    st.lists(
        st.builds(
            Message,
            topic=st.text("Tü%_-", min_size=1, max_size=100),
            queue=st.integers(0, 100),
            offset=st.integers(0, 2**60),
            physical=st.integers(0, 2**60),
            body=st.binary(max_size=50),
            properties=_TEXT,
            flag=st.integers(-(2**31), 2**31 - 1),
            sys_flag=st.sampled_from([0, 1, 8]),
            born_time=st.integers(0, 2**50),
            born_host=_PORT.map("1.2.3.4:{}".format),
            store_time=st.integers(0, 2**50),
            store_host=_PORT.map("127.0.0.1:{}".format),
            reconsume_times=st.integers(0, 100),
            prepared=st.integers(0, 2**40),
        ),
        max_size=4,
    )
)
def test_what_is_stored_is_read(messages: list[Message]) -> None:
    assert decode_all(b"".join(encode(message) for message in messages)) == messages


@given(st.data())
def test_a_damaged_message_is_refused(data: st.DataObject) -> None:
    raw = encode(PLAIN)
    with pytest.raises(ValueError, match=r"."):
        decode_all(raw[: data.draw(st.integers(1, len(raw) - 1))])


@every(
    ("at", "bytes_", "sentence"),
    [
        (0, b"\x00\x00\x00\x05", "claims 5 bytes"),
        (0, b"\xff\xff\xff\xff", "claims -1 bytes"),
        (0, b"\x00\x00\x00\x69", "claims 105 bytes"),
        (4, b"\x00\x00\x00\x01", "magic number"),
        (8, b"\x00\x00\x00\x01", "checksum"),
        (84, b"\x7f\xff\xff\xff", "claims 2147483647 bytes"),
        (93, b"\xff", "claims 255 bytes"),
        (94, b"\xff", "cannot be read"),
        (95, b"\xff\xff", "claims -1 bytes"),
    ],
)
def test_what_is_no_message_is_refused_with_a_sentence(at: int, bytes_: bytes, sentence: str) -> None:
    raw = bytearray(encode(PLAIN))
    raw[at : at + len(bytes_)] = bytes_
    with pytest.raises(ValueError, match=sentence):
        decode_all(bytes(raw))


def test_properties_that_are_too_long_are_not_stored() -> None:
    with pytest.raises(ValueError, match="32767"):
        encode(Message(topic="T", queue=0, offset=0, physical=0, body=b"", properties="x" * 32768))


def test_properties_are_read_with_and_without_a_separator_at_the_end() -> None:
    assert parse_properties("A\x011\x02B\x01\x02") == {"A": "1", "B": ""}
    assert parse_properties("A\x011\x02B\x012") == {"A": "1", "B": "2"}
    assert parse_properties("") == {}
    assert parse_properties(format_properties({"TAGS": "x", "k": "v"})) == {"TAGS": "x", "k": "v"}
    assert PLAIN.tag == "A"
    assert Message(topic="T", queue=0, offset=0, physical=0, body=b"").tag is None


def test_an_id_is_address_and_physical_offset() -> None:
    assert message_id("127.0.0.1:10911", 4096) == "7F00000100002A9F0000000000001000"


def test_a_batch_is_split_into_its_messages() -> None:
    parts = [(0, b"one", "TAGS\x01A\x02"), (7, b"", ""), (0, b"three", "")]
    assert split_batch(join_batch(parts)) == parts
    assert split_batch(b"") == []


@pytest.mark.parametrize("cut", [1, 4, 10, 20, 30])
def test_a_damaged_batch_is_refused(cut: int) -> None:
    whole = join_batch([(0, b"one", "TAGS\x01A\x02")])
    with pytest.raises(ValueError, match=r"."):
        split_batch(whole[:cut])
