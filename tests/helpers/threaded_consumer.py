"""The consumer of paced_consumer.py as one that the kit hosts: it is started and shut down, and works in a thread."""

from __future__ import annotations

import sys
import threading
from typing import Any


class ThreadedConsumer:
    """It works in a thread of its own until it is shut down."""

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._thread = threading.Thread(target=consumer.run)

    def start(self) -> None:
        self._thread.start()

    def shutdown(self) -> None:
        self._consumer.end()
        self._thread.join()


def make(settings: Any, pace: str = "1", begins: str = "") -> ThreadedConsumer:
    """A right consumer, or one that begins every queue at an offset of its own."""
    sys.argv[1:] = [pace]
    import paced_consumer  # it reads its variables when it is imported

    consumer = paced_consumer.Consumer()
    if begins:
        consumer.start_of = lambda one: int(begins)  # type: ignore[method-assign]
    return ThreadedConsumer(consumer)
