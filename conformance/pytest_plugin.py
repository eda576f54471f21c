"""The pytest plugin: ``--implementation ADDRESS`` and the fixture that the generated machines ask for.

It is loaded by every pytest run where the kit is installed, so it imports nothing of the kit before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.adapter import Hello
    from rocketmq_conformance.conformance.stage import Stage
    from rocketmq_conformance.suites.suite import Suite


@dataclass
class Implementation:
    """What is judged."""

    stage: Stage
    hello: Hello
    examples: int

    def refuses(self, suite: Suite) -> str:
        """Why a suite cannot be played, or ""."""
        return self.hello.refuses(suite)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("rocketmq-conformance")
    group.addoption("--implementation", metavar="ADDRESS", help="What the RocketMQ conformance machines judge.")
    group.addoption("--examples", type=int, default=50, metavar="N", help="Cases per machine (50).")


@pytest.fixture(scope="session")
def implementation(request: pytest.FixtureRequest) -> Iterator[Implementation]:
    """The implementation that ``--implementation`` names (the bundled port when absent)."""
    from rocketmq_conformance.conformance.adapter import CannotRunError
    from rocketmq_conformance.conformance.address import AddressError, open_address
    from rocketmq_conformance.conformance.hello import hello_of, profile_of
    from rocketmq_conformance.conformance.stage import Stage
    from rocketmq_conformance.models.profile import Profile

    address = request.config.getoption("--implementation") or "port"
    try:
        stage = Stage(open_address(address), Profile())
        hello = hello_of(stage)
    except (AddressError, CannotRunError) as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
    stage.use(profile_of(hello, {}))
    yield Implementation(stage, hello, request.config.getoption("--examples"))
    stage.close()
