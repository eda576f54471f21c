"""A group of whole push consumers of a topic on two brokers, as their traffic at both shows them.

The name server's route names both brokers and how many queues of the topic each has. Members divide the queues of all
of them, in the order of broker names and queue ids (REB-CLU-2), and ask, pull and commit each queue at the broker that
has it. The route changes when queues are added to a broker and taken from another one, and when a broker goes away:
its queues are let go, and the others divided anew (REB-ROUTE-1). Its messages and the group's offsets are there again
when it comes back. One kind of request may fail at one broker alone (WHOLE-ANS-ALONE).

Queues have numbers of their own here: those of the first broker come first, at most ``MOST`` of each. In the state of
the model one broker has them all.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.client.initial_broker import TIMES
from rocketmq_conformance.models.client.lone_answers import beside, way_of
from rocketmq_conformance.models.client.member import division_of
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_group import WholeGroupModel
from rocketmq_conformance.models.client.whole_group_state import (
    WholeGroup,
    client_of,
    failing,
    listed_clients,
    with_beneath,
    with_clients,
)
from rocketmq_conformance.models.client.whole_locks import crashed
from rocketmq_conformance.models.client.whole_moves import PULL, Fail, Join, Leave, Mend, Move
from rocketmq_conformance.models.client.whole_push import NO_OWNER, Setting, initial_group
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

#: How many queues each broker has at most.
MOST = 3, 2
_FIRST = (0, MOST[0])
#: The number that stands for a broker in operations.
SECOND = 1

_CHOSEN = Reason(("WHOLE-SHARE",), "before anyone joins")
_AWAY = Reason(("REB-ROUTE-1",), "goes away")
_BACK = Reason(("REB-ROUTE-1",), "comes back")
_ROUTED = Reason(("REB-ROUTE-1",), "the route changes")
#: What is given, by the number of brokers.
_GIVEN = {1: "messages of one broker", 2: "messages of both brokers"}
_LEFT_BEHIND = Reason(("WHOLE-COMMIT",), "without its owner")
#: The rules of requests that fail at one broker.
_FAILING = "WHOLE-ANS-", "WHOLE-PULL", "WHOLE-UNREAD", "WHOLE-MISTAKEN", "WHOLE-LOST", "WHOLE-REPEAT"


class WholeBrokersState(NamedTuple):
    """The group, how many queues each broker has, whether the second one is away, and whether any member has joined."""

    group: WholeGroup
    queues: tuple[int, int]
    setting: Setting
    away: bool = False
    begun: bool = False


def may_fail(state: object) -> bool:
    """Can a request fail at one broker, so that members are sent elsewhere in no queue?"""
    is_calm = isinstance(state, WholeBrokersState) and state.setting.shape == "young" and not state.away
    return is_calm and has_members(state)


def is_mended(state: object) -> bool:
    """Does no request fail?"""
    return not isinstance(state, WholeBrokersState) or not state.group.fails


def has_members(state: object) -> bool:
    """Does a member run?"""
    return isinstance(state, WholeBrokersState) and bool(state.group.members)


def numbers(queues: tuple[int, int], away: bool) -> tuple[int, ...]:
    """The numbers of the queues that a route names."""
    counts = queues[0], 0 if away else queues[1]
    return tuple(first + at for first, count in zip(_FIRST, counts, strict=True) for at in range(count))


def place_of(number: int) -> tuple[int, int]:
    """The broker of a queue, 0 or 1, and its id there."""
    broker = int(number >= _FIRST[SECOND])
    return broker, number - _FIRST[broker]


def number_of(broker: int, queue: int) -> int:
    """The number of a broker's queue."""
    return _FIRST[broker] + queue


class BrokersGroup(WholeGroupModel):
    """The behaviour of consumers whose route names some of the topic's queues, by their numbers."""

    __slots__ = ("_numbers",)

    def __init__(self, start: StartModel, named: tuple[int, ...]) -> None:
        super().__init__(start)
        self._numbers = named

    def _shares(self, group: WholeGroup) -> dict[str, frozenset[int]]:
        topic, listed = self.topology.topic, listed_clients(group, group.members)
        queues = self.topology.topic_queues[topic]
        share_of, count = division_of(self.start.client, self.topology), len(self._numbers)
        return {
            name: frozenset(
                queues[self._numbers[queues.index(queue)]]
                for queue in share_of(group.strategy, client_of(group, name), topic, count, listed) or ()
            )
            for name in group.members
        }


class WholeBrokersModel:
    """The observations of a group of consumers of one profile; every method is pure."""

    __slots__ = ("_start", "_topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self._topology = topology
        self._start = StartModel(profile, topology)

    def initial(self) -> WholeBrokersState:
        """Before anything happened."""
        return self._begun((2, 2), Setting(sum(MOST)))

    def prepare(
        self, state: WholeBrokersState, first: int, second: int, shape: str, stored: int, where: str
    ) -> Answer[WholeBrokersState]:
        """Choose how the case begins; nothing happens once a member has joined."""
        if not state.begun:
            state = self._begun((first, second), Setting(sum(MOST), shape, stored, where))
        return state, None, _CHOSEN

    def learn(self, state: WholeBrokersState, clients: tuple[str, ...]) -> WholeBrokersState:
        """The state once these client ids of members were seen."""
        return state._replace(group=with_clients(state.group, clients))

    def join(self, state: WholeBrokersState, member: int) -> Answer[WholeBrokersState]:
        """A member starts, unless it runs."""
        name = self._topology.members[member]
        if name in state.group.members:
            return self._look(state)
        joined = self._moved(state.group, Join(name))
        in_order = joined._replace(members=dict(sorted(joined.members.items())))
        return self._look(state._replace(group=in_order, begun=True))

    def leave(self, state: WholeBrokersState, member: int) -> Answer[WholeBrokersState]:
        """A member is shut down, if it runs."""
        name = self._topology.members[member]
        if name not in state.group.members:
            return self._look(state)
        return self._look(state._replace(group=self._moved(state.group, Leave(name))))

    def crash(self, state: WholeBrokersState, member: int) -> Answer[WholeBrokersState]:
        """A member's process is killed, if it runs."""
        return self._look(state._replace(group=crashed(state.group, self._topology.members[member])))

    def send(self, state: WholeBrokersState, queue: int) -> Answer[WholeBrokersState]:
        """A message arrives in a queue that the route names, or in every one."""
        broker = state.group.broker
        for number in numbers(state.queues, state.away):
            if queue in (number, EVERY):
                broker = send(self._start.store.broker, broker, self._topology.topic, number, TIMES[-1:])[0]
        return self._look(state._replace(group=state.group._replace(broker=broker)))

    def route(self, state: WholeBrokersState, first: int, second: int) -> Answer[WholeBrokersState]:
        """The brokers have so many queues from now on, unless one is away."""
        if state.away:
            return self._look(state)
        changes = state.queues != (first, second) and bool(state.group.members)
        state = state._replace(queues=(first, second))
        return self._look(_because(state, _ROUTED) if changes else state)

    def go_away(self, state: WholeBrokersState) -> Answer[WholeBrokersState]:
        """The second broker goes away, if a member runs: what is there has been consumed."""
        if state.away or not state.group.members:
            return self._look(state)
        return self._look(_because(state._replace(away=True), _AWAY))

    def come_back(self, state: WholeBrokersState) -> Answer[WholeBrokersState]:
        """The second broker is there again."""
        if not state.away:
            return self._look(state)
        return self._look(_because(state._replace(away=False), _BACK))

    def fail_at(self, state: WholeBrokersState, broker: int, request: str) -> Answer[WholeBrokersState]:
        """From now on a request is refused by one broker, and no other one by any."""
        group = self._moved(state.group, Mend(request))
        first = _FIRST[broker]
        move = Fail(request, among=tuple(range(first, first + MOST[broker])))
        return self._look(state._replace(group=self._moved(group, move)))

    def mend(self, state: WholeBrokersState) -> Answer[WholeBrokersState]:
        """Every request is answered again."""
        failed = tuple(state.group.fails.values()) if state.group.members else ()
        state = state._replace(group=self._moved(state.group, Mend()))
        for move in failed:
            state = _because(state, way_of(move))
        return self._look(state)

    def look(self, state: WholeBrokersState) -> Answer[WholeBrokersState]:
        """Time passes, a round of rebalance at least."""
        return self._look(state)

    def _begun(self, queues: tuple[int, int], setting: Setting) -> WholeBrokersState:
        return WholeBrokersState(initial_group(self._start.store.broker, self._topology, setting), queues, setting)

    def _moved(self, group: WholeGroup, move: Move) -> WholeGroup:
        return WholeGroupModel(self._start).move(group, move)

    def _look(self, state: WholeBrokersState) -> Answer[WholeBrokersState]:
        """What is seen: the owner of each queue, the messages that pulls brought, and what is stored, by number."""
        named = numbers(state.queues, state.away)
        group, (shown, stored) = BrokersGroup(self._start, named).look(state.group)
        places: list[Value] = [(NO_OWNER, NOTHING)] * sum(MOST)
        names, queues = self._topology.members, self._topology.topic_queues[self._topology.topic]
        for name, owned, _ in shown:
            for number in owned:
                # who has a queue is known by a pull that waits
                if not failing(group, PULL, queues[number]):
                    places[number] = names.index(name), group.members[name].pulls[queues[number]]
        given = tuple(
            (names.index(name), number, first, count) for name, _, found in shown for number, first, count in found
        )
        fired = frozenset(rule for why in group.reasons for rule in why.rules)
        state = state._replace(group=group._replace(reasons=(), starts={}))
        brought = frozenset(number for _, number, _, _ in given)
        why = _reason(group.reasons, fired, brought, len(group.members), next(iter(group.fails), "answered again"))
        return state, (tuple(places), given, stored), with_beneath(why, group)


def _because(state: WholeBrokersState, why: Reason) -> WholeBrokersState:
    return state._replace(group=state.group._replace(reasons=(*state.group.reasons, why)))


def _reason(
    reasons: tuple[Reason, ...], fired: frozenset[str], numbers: frozenset[int], members: int, fails: str
) -> Reason:
    """The reason of an answer, from what happened, the queues that messages came from, the number of members, and what
    fails."""
    first = next((why for why in reasons if why in (_AWAY, _BACK, _ROUTED)), None)
    brokers = {place_of(number)[0] for number in numbers}
    given = f", {_GIVEN[len(brokers)]}" if brokers else ""
    among = " among several" if members > 1 else ""
    if "WHOLE-MOVED" in fired:
        return Reason(("REB-CLU-2", "WHOLE-MOVED"), "sent elsewhere")
    lone = dict.fromkeys(rule for why in reasons for rule in why.rules if rule.startswith(_FAILING))
    if lone:
        return Reason((*lone, "REB-CLU-2"), f"{fails} at one broker{beside(reasons)}{given}")
    if first is not None:
        return Reason((*first.rules, "REB-CLU-2"), first.kind + among + given)
    if "WHOLE-SHARE" in fired:
        return Reason(("REB-CLU-2", "WHOLE-SHARE"), f"queues change hands{given}", beneath=("MQ-ORD-1",))
    if given:
        return Reason(("REB-CLU-2", "WHOLE-FIRST", "WHOLE-COMMIT"), given[2:] + among)
    return Reason(("REB-CLU-2",), f"nothing is new{among}") if fired else _LEFT_BEHIND
