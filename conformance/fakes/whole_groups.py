"""The fake broker of a case with two groups, whose traffic is watched for each of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import Any

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.traffic import RETURNED, Brought, Traffic
from rocketmq_conformance.conformance.fakes.watched_case import WatchedCase
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.client.whole_groups import QUEUES
from rocketmq_conformance.models.client.whole_moves import RETRIES
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP, OTHER_GROUP, TOPIC


class GroupTraffic(Traffic):
    """What clients send for one group alone."""

    def watches(self, command: Command) -> bool:
        """Is a pull one of the group?"""
        return command.ext.get("consumerGroup") == self._group and super().watches(command)


class OtherGroup(WatchedCase):
    """The second group at the broker of a case, by its traffic and by what it has stored."""

    group = OTHER_GROUP

    def __init__(self, case: GroupCase) -> None:
        super().__init__()
        self._case = case

    def _end_held(self, queues: Collection[int], ends: Callable[[Command], bool]) -> None:
        self._case.broker.end_held_pulls(ends)

    @property
    def queues(self) -> int:
        """How many queues the topic has."""
        return self._case.queues

    def stored(self) -> tuple[int, ...]:
        """The stored offset of each queue, -1 for none."""
        stored = self._case.broker.state.stored
        return tuple(stored.get((OTHER_GROUP, TOPIC, queue), NOTHING) for queue in self.seen)


class WholeGroups(GroupCase):
    """A broker with one topic and two groups, without members at first; ``later`` replaces its timers. Answers have the
    queues of the second group by numbers behind those of the first."""

    def __init__(self, profile: Profile, later: Callable[[float, Callable[[], object]], Any] | None = None) -> None:
        super().__init__(profile, later)
        self.other = OtherGroup(self)

    def prepare_groups(self, first: int, second: int, where: str) -> None:
        """Have a topic of young queues, in each of which the groups have stored these offsets (-1: none)."""
        self.prepare(QUEUES, "young", first, where)
        if second != NOTHING:
            state = self.broker.state
            kept = {(OTHER_GROUP, TOPIC, queue): second for queue in range(QUEUES)}
            self.broker.storage.begin(state._replace(stored={**state.stored, **kept}))

    def begin(self, state: BrokerState) -> None:
        """Have this state and both groups, and forget all clients; before any client is connected."""
        super().begin(state._replace(groups=state.groups | {OTHER_GROUP}))
        self.traffic = self._watched(GROUP)
        self.other.traffic = self._watched(OTHER_GROUP)

    def _watched(self, group: str) -> Traffic:
        return GroupTraffic(group=group, owner=self.owner, again=self._again)

    def traffic_of(self, pull: Command) -> Traffic:
        """The traffic that a pull is part of."""
        return self.other.traffic if pull.ext.get("consumerGroup") == OTHER_GROUP else self.traffic

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Answer a request of a client."""
        if request.code != Request.GET_ROUTEINFO_BY_TOPIC:
            self.other.traffic.request(peer, request)
        return super().handle(peer, request)

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        self.other.traffic.closed(peer)
        super().closed(peer)

    def end_idle_pulls(self) -> None:
        """Answer the pulls that are held of all queues where nothing was brought to their group."""
        super().end_idle_pulls()
        brought = {queue for _, queue, _, _ in self.other.traffic.brought}
        self.other.end_pulls({*self.other.seen, RETRIES} - brought)

    def take_brought(self) -> list[Brought]:
        """The messages that clients were given since the last call, by the numbers of queues."""
        second = [
            (client, queue if queue == RETURNED else queue + QUEUES, first, count)
            for client, queue, first, count in self.other.take_brought()
        ]
        return [*super().take_brought(), *second]

    def given(
        self, brought: Sequence[Brought], said: SaidMessages | None, open_: Container[str | tuple[str, int]] = ()
    ) -> Sequence[Brought]:
        """What clients were given: a line does not say of which group, so that both may have one of each message."""
        if said is None:
            return brought
        return said.among(brought, self.traffic.carried + self.other.traffic.carried, _said_queue, open_)

    def observed(self, members: Mapping[str, int], brought: Sequence[Brought]) -> tuple[Value, ...]:
        """What a step of the suite answers, of both groups."""
        places, given, stored = super().observed(members, brought)
        others, _, kept = self.other.observed(members, ())
        assert isinstance(places, tuple)
        assert isinstance(stored, tuple)
        assert isinstance(others, tuple)
        assert isinstance(kept, tuple)
        return (*places, *others), given, (*stored, *kept)


def _said_queue(number: int) -> int:
    """How a message names a queue: by its id, whichever group pulled it."""
    return number % QUEUES
