"""Ports of servers: free, with free neighbours, and none that the system gives to connections."""

from __future__ import annotations

import socket

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.broker import ports as module
from rocketmq_conformance.conformance.targets.broker.ports import BrokerPorts, free_port, ports_of


def test_the_ports_of_a_broker_are_kept_from_others_while_it_is_down() -> None:
    ports = BrokerPorts()
    for port in ports_of(ports.main):
        with socket.create_server(("127.0.0.1", port)):  # as servers do it
            pass
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
    ports.close()
    for port in ports_of(ports.main):
        with socket.socket() as other:
            other.bind(("127.0.0.1", port))


def test_a_port_is_none_that_the_system_gives_to_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.create_connection(listening.getsockname()) as one:
        assert all(10_000 <= free_port() < 32_768 for _ in range(20))
        assert one.getsockname()[1] >= 32_768


def test_a_port_is_found_where_all_are_given_to_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(module, "_LOWEST_PORT", taken.getsockname()[1])
        monkeypatch.setattr(module, "_first_of_connections", lambda: 0)
        assert free_port() != taken.getsockname()[1]


def test_no_free_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(module, "free_port", lambda: port - 1)
        with pytest.raises(CannotRunError, match="No three neighbouring ports"):
            BrokerPorts()
