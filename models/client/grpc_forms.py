"""Forms of messages as proxies hand them out: checksum and encoding of a body, and whether the checksum is right."""

from __future__ import annotations

from typing import NamedTuple


class GrpcForm(NamedTuple):
    """How a message is written."""

    #: "MD5", as of real proxies, "CRC32" or "SHA1".
    digest: str = "MD5"
    #: Is the body compressed by gzip?
    compressed: bool = False
    #: Is the checksum that of another body?
    corrupted: bool = False


#: A message as a real proxy hands it out.
ORDINARY_FORM = GrpcForm()
#: The forms by their names in plans.
FORMS = {
    "ordinary": ORDINARY_FORM,
    "crc32": GrpcForm("CRC32"),
    "sha1": GrpcForm("SHA1"),
    "gzip": GrpcForm(compressed=True),
    "corrupted": GrpcForm(corrupted=True),
}
