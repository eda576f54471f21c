"""The ratio of the machine's memory beyond which a message counts as being on disk."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.broker.memory_ratio import is_hot, is_on_disk

GIB = 1 << 30


def test_the_share_of_the_memory_itself_is_still_in_memory() -> None:
    share = 40 * 24 * GIB // 100
    assert [is_on_disk(share + beside, 24 * GIB, 40) for beside in (-1, 0, 1)] == [False, False, True]


def test_fractions_of_a_byte_are_cut_off() -> None:
    assert [is_on_disk(written, 199, 1) for written in (1, 2)] == [False, True]


@given(st.integers(1, 1 << 44), st.integers(1, 1 << 42), st.integers(-10, 0))
def test_nothing_is_in_memory_at_a_ratio_of_0_and_less(written: int, memory: int, ratio: int) -> None:
    assert is_on_disk(written, memory, ratio)


@given(st.integers(1, 1 << 44), st.integers(1, 1 << 42), st.integers(0, 200))
def test_more_memory_and_a_larger_ratio_never_put_a_message_on_disk(written: int, memory: int, ratio: int) -> None:
    if not is_on_disk(written, memory, ratio):
        assert not is_on_disk(written, memory + GIB, ratio)
        assert not is_on_disk(written, memory, ratio + 1)


def test_what_cases_write_is_hot_unless_nothing_is() -> None:
    assert [ratio for ratio in range(-2, 101) if not is_hot(ratio)] == [-2, -1, 0]
