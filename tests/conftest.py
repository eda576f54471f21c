"""Tests that need Java or real brokers are skipped, with the reason, unless they are asked for."""

from __future__ import annotations

import pytest

NEEDS = {
    "java": "needs Java and Maven: tox run -e java",
    "broker": "starts real brokers: tox run -e broker",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--real", action="append", default=[], choices=list(NEEDS), help="Run tests with real parts.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = set(config.getoption("--real"))
    for item in items:
        for mark, reason in NEEDS.items():
            if mark not in asked and item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))
                break
