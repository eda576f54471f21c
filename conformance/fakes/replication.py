"""What the fake broker takes from its master when it is a slave (SLV-*)."""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.models.broker.group_stats import GoneOn
from rocketmq_conformance.models.broker.slave import granted, synchronised, taken_back, takes_both, unread
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.message_queue import Queue


class Replication:
    """Messages as they come, and everything else when the slave asks for it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def message(self, message: Message) -> None:
        """The master has stored a message (SLV-MESSAGES)."""
        self._storage.put(message)

    def take(self, master: BrokerState, gone_on: GoneOn) -> None:
        """The master has answered what it holds, and where its pulls go on."""
        unreadable = self.unread(gone_on)
        before = self._storage.state
        self._storage.state = self.taken(before, master._replace(stored=before.stored) if unreadable else master)

    def unread(self, gone_on: GoneOn) -> bool:
        """SLV-SYNC-PULLED: is there anything in the offsets of the master that cannot be read?"""
        return unread(self._storage.rules, gone_on)

    def take_back(self, slave: BrokerState, gone_on: GoneOn) -> bool:
        """SLV-ACT-BACK: the broker is started again, and its slave has answered what it holds; does it come online?"""
        if self.unread(gone_on):
            return False
        self._storage.state = self.taken_back(self._storage.state, slave)
        return True

    def taken_back(self, master: BrokerState, slave: BrokerState) -> BrokerState:
        """SLV-ACT-BACK: the master's state from then on."""
        return taken_back(master, slave)[0]

    def granted(self, own: tuple[Queue, ...], other: Callable[[], tuple[Queue, ...]] | None) -> tuple[Queue, ...]:
        """SLV-LOCK: the queues of which the lock is granted, by those that the ``other`` one grants, unless it is
        gone."""
        both = takes_both(self._storage.rules)
        return granted(self._storage.rules, own, other() if both and other else None)

    def alone(self) -> None:
        """The master did not answer (SLV-GONE)."""

    def taken(self, slave: BrokerState, master: BrokerState) -> BrokerState:
        """SLV-SYNC-*: the slave's state from then on."""
        return synchronised(slave, master)[0]
