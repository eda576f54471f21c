"""An embedded broker as what is judged: in this process, over a real socket, with locks that do not live long."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.broker.assigning import readable
from rocketmq_conformance.conformance.broker.pipeline import Pipeline
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.embedded import EmbeddedBroker
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

#: How long its locks live (s): it answers within a ms or so.
LEASE = 0.3


class Embedded:
    """Where an embedded broker is; ``parts`` replaces classes of it (remoting/embedded.py)."""

    own = None
    lease = LEASE
    #: Its routes are those of ``broker-assignment``.
    routed = True

    def __init__(self, profile: Profile, parts: Mapping[str, type] | None = None) -> None:
        self._broker = EmbeddedBroker(profile, lease=int(LEASE * 1000), parts=parts, routes=readable)
        self._started = False

    def open(self) -> Connection:
        """Connect, starting the broker if need be."""
        if not self._started:
            self._broker.start()
            self._started = True
        host, _, port = self._broker.address.rpartition(":")
        try:
            return Pipeline(host, int(port))
        except OSError as error:
            raise AdapterError(f"The embedded broker cannot be reached any more: {error}.") from error

    def accept(self, description: str, release: Release | None) -> None:
        """It is what was asked for."""

    def shared_address(self) -> str:
        """Everybody has one of their own."""
        return ""

    def describe_end(self) -> str:
        return "the embedded broker closed the connection"

    def close(self) -> None:
        """Stop the broker."""
        self._broker.stop()
