"""Operations and values that the start suites share."""

from __future__ import annotations

from typing import Annotated

from rocketmq_conformance.models.client.layout import LOST
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.world import SHAPES
from rocketmq_conformance.suites.client_values import ROUTED
from rocketmq_conformance.suites.domain import Values
from rocketmq_conformance.suites.operation import Operation, Side, operation

#: An ordinary queue, another one, a retry queue, and the one without a route.
QUEUE = Values(0, 1, 3, LOST, weights=(3, 1, 2, 1))
QUEUE_AT_TIME = Values(0, 3)
CHECKED = Values(False, True)
FAULT = Values("answer", "QUERY_NOT_FOUND", "SYSTEM_BUSY", "PULL_NOT_FOUND", "silent", weights=(3, 2, 1, 1, 1))
FAULT_AT_TIME = Values("answer", "QUERY_NOT_FOUND", "silent")
BOUND_FAULT = Values("answer", "SYSTEM_ERROR", "silent", "no-field", "negative", weights=(3, 1, 1, 1, 1))
BOUND_FAULT_AT_TIME = Values("answer", "SYSTEM_ERROR", "negative")
ZONE = Values("UTC", "Asia/Shanghai", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe")
TIMESTAMP = Values(
    # near the messages of a young queue, in one zone or another
    "20240101023000",
    "20240101080000",
    "20240101133001",
    "20231231213000",
    # before and after all messages
    "20230101000000",
    "20250101000000",
    # skipped and repeated by the clocks of New York, then of Lord Howe Island
    "20240310023000",
    "20241103013000",
    "20241006021500",
    "20240407014500",
    # month 13, day 32, an hour's worth of seconds in six digits, one digit short, text after it, a blank inside
    "20231301024500",
    "20231232081500",
    "20240101013600123",
    "2024010102300",
    "20240101100000 CST",
    "20240101 3 000",
    # an exponent; no time at all
    "2024010101006E3",
    "2024-01-01 02:30:00",
    "",
    None,
)


@operation("Put a queue into a shape: what its broker retains of it.", side=Side.WORLD, weight=3)
class Shape(Operation):
    queue: Annotated[int, ROUTED]
    shape: Annotated[str, Values(*SHAPES)]


def show(state: RemoteStore) -> str:
    """Memory and what the broker stores, with the offsets [min, max] of each queue."""
    stored = {f"{topic}/{queue}": offset for (_, topic, queue), offset in state.broker.stored.items()}
    logs = {f"{topic}/{queue}": [log.min, log.max] for (topic, queue), log in state.broker.logs.items()}
    return f"memory {dict(state.memory)}, broker {stored}, queues {logs}"
