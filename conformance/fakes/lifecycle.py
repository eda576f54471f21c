"""The life cycle of the fake broker: its state after it was stopped, killed, frozen and started (BQ-COM-11).

Topics, groups and messages are on disk at once, stored offsets when the broker is stopped and when ``save`` is called.
No clock writes them, so that a test knows what a killed broker has lost (BQ-COM-12).
"""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.models.broker import lifecycle
from rocketmq_conformance.models.broker.state import Stored


class Lifecycle:
    """Called for every event of the broker's process, in the order in which they happen."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        #: Stored offsets as they are on disk.
        self._written: Stored = storage.state.stored

    def save(self) -> None:
        """Stored offsets are written to disk."""
        self._written = self._storage.state.stored

    def stopped(self, frozen: bool) -> None:
        """The broker was asked to end; one that was ``frozen`` went on before that."""
        self.save()

    def killed(self) -> None:
        """The broker was ended at once."""

    def started(self) -> None:
        """The broker starts with what is on disk."""
        storage = self._storage
        state = storage.state._replace(stored=self._written)
        state = lifecycle.restart(storage.rules, state)
        storage.state = lifecycle.with_memory(storage.rules, state, hot=True)
        storage.hot = storage.rules.hot or storage.rules.empty_is_unknown

    def paused(self) -> None:
        """The broker is about to be frozen."""

    def resumed(self) -> None:
        """The broker went on, and has taken up the requests that arrived meanwhile."""
