"""Bodies that LZ4 and zstd have compressed, as the Java client's compressors make them."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.targets.port.decompression import lz4, zstd

#: By the Java client 5.5.0.
LZ4 = bytes.fromhex("04224d186070730e0000004f6c7a342004002450206c7a342000000000")
SHORT_LZ4 = bytes.fromhex("04224d18607073010000807800000000")
ZSTD = bytes.fromhex("28b52ffd00588800006120636f6d7072657373656420626f6479010000")
COMPRESSED_ZSTD = bytes.fromhex("28b52ffd0058640000287a73746420010008b46801010000")
#: One byte, 300 times, with the size of what is in the frame.
REPEATED_ZSTD = bytes.fromhex("28b52ffd602c006309007a")


def test_what_was_compressed_is_read() -> None:
    assert [lz4(LZ4), lz4(SHORT_LZ4)] == [b"lz4 " * 16, b"x"]
    assert [zstd(ZSTD), zstd(REPEATED_ZSTD)] == [b"a compressed body", b"z" * 300]


@pytest.mark.parametrize("read", [lz4, zstd])
def test_what_is_no_frame_or_ends_too_early_is_refused(read: object) -> None:
    assert callable(read)
    whole = LZ4 if read is lz4 else ZSTD
    for broken in (b"", b"this is no frame", *(whole[:size] for size in range(len(whole)))):
        with pytest.raises(ValueError, match=r"frame|early"):
            read(broken)


def test_what_repeats_nothing_and_what_zstd_has_compressed_is_refused() -> None:
    with pytest.raises(ValueError, match="repeats what is not there"):
        lz4(LZ4[:17] + b"\xff\x00" + LZ4[19:])
    with pytest.raises(ValueError, match="compressed"):
        zstd(COMPRESSED_ZSTD)
