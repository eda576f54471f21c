"""What members of a group are set up with, beside what a plan and the topology say."""

from __future__ import annotations

#: The ConsumeTimestamp of stepped members, between two messages in every time zone, and as a start takes it.
MEMBER_TIMESTAMP = "20240301000000"
MEMBER_TIME = MEMBER_TIMESTAMP, "UTC"
#: The ConsumeTimestamp of whole consumers: 2024-07-01T00:00Z, the time of offset 6.
TIMESTAMP_TEXT = "20240701000000"
#: Virtual nodes of a client on the consistent hash.
VIRTUAL_NODES = 10
