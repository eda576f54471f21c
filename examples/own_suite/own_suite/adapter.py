"""The adapter of a tiny implementation, which knows the delays of messages that come back and nothing else."""

from __future__ import annotations

from own_suite.retry_delay import Delay
from rocketmq_conformance import Case, Hello, Ok, Operation, Outcome, Unsupported

MINUTE, HOUR = 60, 3600


class RetryDelays:
    """The implementation and its adapter in one."""

    SECONDS = (10, 30, *(MINUTE * minutes for minutes in range(1, 11)), 20 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR)

    def hello(self) -> Hello:
        return Hello("retry-delays", "1.0", sides=("pure",), unsupported={"allocation": "it delivers messages only"})

    def reset(self, case: Case) -> None:
        """Nothing is remembered between operations."""

    def apply(self, operation: Operation) -> Outcome:
        match operation:
            case Delay(times):
                return Ok(self.SECONDS[min(times, len(self.SECONDS)) - 1])
        return Unsupported("it delivers messages only")

    def close(self) -> None:
        """Nothing to release."""


def make() -> RetryDelays:
    """What the address names."""
    return RetryDelays()
