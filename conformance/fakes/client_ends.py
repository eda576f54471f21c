"""What the traffic of a client shows once it has ended: its connections, its flags, and whether it unregistered."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.client.whole_end import AWAITED, ONE_WAY, Ended
from rocketmq_conformance.models.outcome import Value


@dataclass(slots=True)
class _Sent:
    """What one client has sent since its first heartbeat."""

    #: Is it to end? Over how many connections did it send heartbeats then?
    ends: bool = False
    connections: int = 0
    unregistered: bool = False
    #: How its commits were sent, and its requests to unlock since it was to end.
    commits: set[str] = field(default_factory=set)
    unlocks: set[str] = field(default_factory=set)


class ClientEnds:
    """What clients have sent, by client id; one that comes back is another one."""

    def __init__(self) -> None:
        self._sent: dict[str, _Sent] = {}

    def request(self, client: str, command: Command) -> None:
        """A request of a client arrived."""
        sent = self._sent.setdefault(client, _Sent())
        how = ONE_WAY if command.is_one_way else AWAITED
        match command.code:
            case Request.UPDATE_CONSUMER_OFFSET:
                sent.commits.add(how)
            case Request.UNLOCK_BATCH_MQ if sent.ends:
                sent.unlocks.add(how)
            case Request.UNREGISTER_CLIENT if "consumerGroup" in command.ext:
                sent.unregistered = True

    def begin(self, client: str) -> None:
        """A client is new, or comes back."""
        self._sent.pop(client, None)

    def to_end(self, client: str, connections: int) -> None:
        """A client is to end that sends heartbeats over so many connections."""
        sent = self._sent.setdefault(client, _Sent())
        sent.ends, sent.connections = True, connections

    def shown(self, client: str) -> Ended:
        """What is seen of a client that has ended."""
        sent = self._sent[client]
        return sent.connections or None, sent.unregistered, _how(sent.commits), _how(sent.unlocks)


def _how(found: set[str]) -> Value:
    return " and ".join(sorted(found)) or None
