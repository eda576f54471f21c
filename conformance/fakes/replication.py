"""What the fake broker takes from its master when it is a slave (SLV-*)."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.models.broker.slave import synchronised
from rocketmq_conformance.models.broker.state import BrokerState


class Replication:
    """Messages as they come, and everything else when the slave asks for it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def message(self, message: Message) -> None:
        """The master has stored a message (SLV-MESSAGES)."""
        self._storage.put(message)

    def take(self, master: BrokerState) -> None:
        """The master has answered what it holds."""
        self._storage.state = self.taken(self._storage.state, master)

    def alone(self) -> None:
        """The master did not answer (SLV-GONE)."""

    def taken(self, slave: BrokerState, master: BrokerState) -> BrokerState:
        """SLV-SYNC-*: the slave's state from then on."""
        return synchronised(slave, master)[0]
