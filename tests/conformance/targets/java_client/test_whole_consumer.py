"""Whole Java consumers: what is prepared before they begin; a start whose first requests fail is tried once more."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.client.whole import LITE, ORDERLY, PUSH

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


class FailingStart:
    """A Java consumer that starts with its server closed, as far as it gets, and fails.

    By itself it fails mostly: on a busy machine it may give up waiting for a lock first, and carry on.
    """

    def __init__(self, consumer: Any) -> None:
        self.shutdown = consumer.shutdown
        self._consumer = consumer

    def start(self) -> None:
        import jpype

        with suppress(jpype.JException):
            self._consumer.start()
        raise jpype.JClass("java.lang.IllegalStateException")("no answer")


def made(version: str, kind: str, closing: str, broker: str | None) -> Any:
    """A consumer whose first start fails, and whose second one finds the ``broker``; without it that fails, too."""
    from rocketmq_conformance.conformance.targets.java_client.whole import PullCounter, WholeConsumer, quick_release

    release = quick_release(version)
    consumer = WholeConsumer(release, kind, closing, GROUP, "T", "CONSUME_FROM_LAST_OFFSET", pulls=PullCounter(release))
    consumer._consumer = FailingStart(consumer._consumer)
    make = consumer._make

    def again() -> Any:
        java_consumer = make()
        if broker is None:
            return FailingStart(java_consumer)
        java_consumer.setNamesrvAddr(broker)
        return java_consumer

    consumer._make = again
    return consumer


@pytest.mark.parametrize("version", ["4.0.0-incubating", "4.6.0", *RELEASES])
def test_classes_are_made_before_consumers_begin_in_threads(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import jpype

    from rocketmq_conformance.conformance.targets.java_client.whole import (
        PullCounter,
        WholeConsumer,
        quick_release,
    )

    # classes of its own, of which no other test has made one
    release = quick_release.__wrapped__(version)
    pulls = PullCounter(release)
    made: list[Any] = []
    hints_of = jpype._jcustomizer.getClassHints
    monkeypatch.setattr(jpype._jcustomizer, "getClassHints", lambda name: made.append(name) or hints_of(name))
    release.load("client.producer.DefaultMQProducer")
    assert made  # this is where it shows
    made.clear()
    for kind in (PUSH, ORDERLY, LITE):
        for where in (FIRST, LAST, TIMESTAMP):
            for more in ({}, {"pulls": pulls}, {"on_demand": True}):
                with suppress(jpype.JException, AttributeError):  # what early releases lack
                    one = WholeConsumer(release, kind, "127.0.0.1:1", GROUP, "T", where, "20240701000000", **more)
                    if kind == LITE:
                        one.seek(0, 1)
    assert not made


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("kind", [PUSH, LITE])
def test_a_consumer_whose_first_requests_fail_is_started_once_more(version: str, kind: str) -> None:
    with FakeBroker() as broker, closing_server() as closing:
        broker.create_topic("T", 1)
        broker.create_group(GROUP)
        with made(version, kind, closing, broker.address) as consumer:
            consumer.await_start(1)


def test_a_consumer_that_never_starts_is_named() -> None:
    with (
        closing_server() as closing,
        pytest.raises(CannotRunError, match=r"Consumer 5\.5\.0 of group G did not start"),
    ):
        made("5.5.0", PUSH, closing, None).__enter__()
