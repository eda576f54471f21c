"""A host and a port are read in one way, with addresses of IPv6, too."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.remoting.host_port import HostPort, host_port, is_host_port


@pytest.mark.parametrize(
    ("text", "host", "port", "written"),
    [
        ("127.0.0.1:9876", "127.0.0.1", 9876, ""),
        ("broker-a.test:1", "broker-a.test", 1, ""),
        ("[fe80::1]:10911", "fe80::1", 10911, ""),
        ("::1:9876", "::1", 9876, "[::1]:9876"),
        ("host:99999", "host", 99999, ""),
    ],
)
def test_a_host_and_a_port(text: str, host: str, port: int, written: str) -> None:
    assert host_port(text) == HostPort(host, port)
    assert str(host_port(text)) == (written or text)


@pytest.mark.parametrize(
    "text", ["", "host", ":1", "host:", "host:x", "a b:1", "a:b:1", "[::1]", "[::1:1", "h/p:1", "h:123456"]
)
def test_what_is_none(text: str) -> None:
    assert not is_host_port(text)
    with pytest.raises(ValueError, match="is no HOST:PORT"):
        host_port(text)
