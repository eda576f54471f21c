"""The adapter of a broker, by its place and its options."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlencode

from rocketmq_conformance.conformance.targets.address import parse_address
from rocketmq_conformance.conformance.targets.address_kinds import BrokerAddress
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.address import open_broker


def broker_at(place: str | None, options: Mapping[str, str] = MappingProxyType({})) -> BrokerAdapter:
    """The adapter of ``broker:place``, or of the fake broker; nothing is started yet."""
    address = parse_address(f"{'broker' if place is None else f'broker:{place}'}?{urlencode(options)}")
    assert isinstance(address, BrokerAddress)
    return open_broker(address)
