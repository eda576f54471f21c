"""Broker mutants that the suite ``broker-polling`` kills by pulls of groups that broadcast."""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.fakes.resets import Resets
from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.broadcast import SUFFIX
from rocketmq_conformance.models.broker.configuration import BROADCAST
from rocketmq_conformance.models.broker.members import PASSIVELY, RegisteredGroup
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[BrokerMutant] = []
_consumers = declared(MUTANTS, "consumers", "broker-polling")
_pulls = declared(MUTANTS, "pulls", "broker-polling")
_resets = declared(MUTANTS, "resets", "broker-polling")
_off = declared(MUTANTS, "consumers", "broker-polling", **{BROADCAST: "false"})


@_consumers("D220", "Nothing is kept of groups that broadcast.")
class BroadcastNone(Consumers):
    """Nothing is kept of what members pull."""

    def pulled_from(self, number: int, group: str, topic: str, queue: int, offset: int) -> None:
        pass


@_off("D220", "enableBroadcastOffsetStore is not looked at.")
class BroadcastAnyway(Consumers):
    """Offsets are kept where they are not to be."""

    def pulled_from(self, number: int, group: str, topic: str, queue: int, offset: int) -> None:
        rules = self._storage.rules
        self._storage.rules = replace(rules, keeps_broadcast=True)
        super().pulled_from(number, group, topic, queue, offset)
        self._storage.rules = rules


class _SeesAnother(Consumers):
    """What a group is decides otherwise."""

    def seen(self, group: RegisteredGroup, number: int) -> RegisteredGroup:
        """The group that it takes it for."""
        raise AssertionError("every kind sees another")

    def pulled_from(self, number: int, group: str, topic: str, queue: int, offset: int) -> None:
        known = self.groups
        if group in known:
            self.groups = {**known, group: self.seen(known[group], number)}
        super().pulled_from(number, group, topic, queue, offset)
        self.groups = known


@_consumers("D220", "What groups in a cluster pull is kept, too.")
class BroadcastClusters(_SeesAnother):
    def seen(self, group: RegisteredGroup, number: int) -> RegisteredGroup:
        return group._replace(broadcasting=True)


@_consumers("D220", "What groups pull by themselves is kept, too.")
class BroadcastActive(_SeesAnother):
    def seen(self, group: RegisteredGroup, number: int) -> RegisteredGroup:
        return group._replace(consume_type=PASSIVELY)


@_consumers("D220", "Pulls over any connection count.")
class BroadcastStrangers(_SeesAnother):
    """A connection that is no member's counts as one."""

    def seen(self, group: RegisteredGroup, number: int) -> RegisteredGroup:
        return group._replace(members={number: "stranger", **group.members})


@_consumers("D220", "Two connections of a client count as two.")
class BroadcastByConnection(_SeesAnother):
    """Connections of one client count by themselves."""

    def seen(self, group: RegisteredGroup, number: int) -> RegisteredGroup:
        return group._replace(members={member: str(member) for member in group.members})


class _Stores(Consumers):
    """Another offset is stored than the smallest."""

    def stored(self, offsets: tuple[int, ...]) -> int:
        """The offset for those of the clients."""
        raise AssertionError("every kind stores")

    def store(self, group: str, topic: str, queue: int) -> None:
        """Store the offset of a queue."""
        clients = self.broadcast.get((group, topic, queue))
        if clients:
            state = self._storage.state
            stored = {**state.stored, (group + SUFFIX, topic, queue): self.stored(tuple(clients.values()))}
            self._storage.state = state._replace(stored=stored)

    def pulled_from(self, number: int, group: str, topic: str, queue: int, offset: int) -> None:
        super().pulled_from(number, group, topic, queue, offset)
        self.store(group, topic, queue)


@_consumers("D220", "The largest offset of the clients is stored.")
class BroadcastLargest(_Stores):
    def stored(self, offsets: tuple[int, ...]) -> int:
        return max(offsets)


@_consumers("D220", "A client that leaves counts no more.")
class BroadcastForgetsLeavers(_Stores):
    """A client that leaves does not count any more."""

    def stored(self, offsets: tuple[int, ...]) -> int:
        return min(offsets)

    def unregister(self, number: int, group: str) -> tuple[int, ...]:
        client = self.groups[group].members.get(number) if group in self.groups else None
        for key, clients in self.broadcast.items():
            if key[0] == group:
                left = {other: offset for other, offset in clients.items() if other != client}
                self.broadcast = {**self.broadcast, key: left}
                self.store(*key)
        return super().unregister(number, group)


@_consumers("D220", "A client that goes back counts where it is.")
class BroadcastLast(Consumers):
    """The last offset of a client counts, even if it is smaller."""

    def pulled_from(self, number: int, group: str, topic: str, queue: int, offset: int) -> None:
        key = group, topic, queue
        client = self.groups[group].members.get(number) if group in self.groups else None
        clients = {other: kept for other, kept in self.broadcast.get(key, {}).items() if other != client}
        self.broadcast = {**self.broadcast, key: clients}
        super().pulled_from(number, group, topic, queue, offset)


@_pulls("D220", "The offset to go on at is kept.")
class BroadcastNext(Pulls):
    """What a pull goes on at counts, not what it asked for."""

    def _pulled_from(self, peer: Peer, request: Command, response: Command) -> None:
        following = response.ext.get("nextBeginOffset")
        ext = request.ext if following is None else {**request.ext, "queueOffset": following}
        super()._pulled_from(peer, Command(request.code, ext), response)


@_pulls("D220", "The offset that was asked for is kept, though the pull was moved.")
class BroadcastAsked(Pulls):
    """What a pull asked for counts, even if it was sent elsewhere."""

    def _pulled_from(self, peer: Peer, request: Command, response: Command) -> None:
        super()._pulled_from(peer, request, Command(Response.SUCCESS, response.ext))


@_pulls("D220", "Pulls that are refused count.")
class BroadcastRefused(Pulls):
    """Pulls that are refused count, too."""

    def _pulled_from(self, peer: Peer, request: Command, response: Command) -> None:
        super()._pulled_from(peer, request, Command(response.code, {"nextBeginOffset": "0", **response.ext}))


@_pulls("D220", "Pulls count when they are answered.")
class BroadcastWhenAnswered(Pulls):
    """A pull counts when it is answered, not while it is held."""

    def _pulled_from(self, peer: Peer, request: Command, response: Command) -> None:
        if not self.holds(Response(response.code).name, int(request.ext["sysFlag"])):
            super()._pulled_from(peer, request, response)


@_resets("D220", "Correction offsets leave out groups that broadcast.")
class BroadcastLeftOut(Resets):
    """Correction offsets do not count what is stored for groups that broadcast."""

    def correction(self, topic: str, left_out: frozenset[str], compared: str) -> Result:
        storage, known = self._storage, self._storage.state
        kept = {key: offset for key, offset in known.stored.items() if not key[0].endswith(SUFFIX)}
        storage.state = known._replace(stored=kept)
        result = super().correction(topic, left_out, compared)
        storage.state = known
        return result
