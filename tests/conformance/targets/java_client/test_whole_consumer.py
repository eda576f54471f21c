"""Whole Java consumers: a start whose first requests fail is tried once more."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.models.client.whole import LITE, PUSH

pytestmark = pytest.mark.java

RELEASES = ("4.9.8", "5.5.0")
GROUP = "G"


@contextmanager
def closing_server() -> Iterator[str]:
    """The address of a server that closes every connection as soon as something comes."""

    class Closing(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Closing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def made(version: str, kind: str, name_server: Callable[[], str]) -> Any:
    """A consumer that asks for the address of its name server each time it is made."""
    from rocketmq_conformance.conformance.targets.java_client.whole import PullCounter, WholeConsumer, quick_release

    release = quick_release(version)
    asked = name_server()
    consumer = WholeConsumer(release, kind, asked, GROUP, "T", "CONSUME_FROM_LAST_OFFSET", pulls=PullCounter(release))
    make = consumer._make

    def again() -> Any:
        java_consumer = make()
        java_consumer.setNamesrvAddr(name_server())
        return java_consumer

    consumer._make = again
    return consumer


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("kind", [PUSH, LITE])
def test_a_consumer_whose_first_requests_fail_is_started_once_more(version: str, kind: str) -> None:
    with FakeBroker() as broker, closing_server() as closing:
        broker.create_topic("T", 1)
        broker.create_group(GROUP)
        addresses = iter([closing, broker.address])
        with made(version, kind, lambda: next(addresses)) as consumer:
            consumer.await_start(1)
        assert next(addresses, None) is None


def test_a_consumer_that_never_starts_is_named() -> None:
    with (
        closing_server() as closing,
        pytest.raises(CannotRunError, match=r"Consumer 5\.5\.0 of group G did not start"),
    ):
        made("5.5.0", PUSH, lambda: closing).__enter__()
