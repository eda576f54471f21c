"""Whole push consumers of two groups in each program, as the traffic at their broker shows them.

Programs have up to two consumers, one of each group, with one instance name: they share a client (CID-SHARE), which
has one id, and one heartbeat for both groups. All else a broker keeps for each group alone, and so do the consumers:
shares, places and stored offsets are those of two groups that know nothing of each other. When one consumer ends, the
other one goes on, and the client ends with the last of them.

Both groups consume the same topic. In answers the queues of the second one have numbers behind those of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, cast

from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_end import PLACE, RULES_OF_ENDS
from rocketmq_conformance.models.client.whole_group_state import WholeGroup
from rocketmq_conformance.models.client.whole_push import Seen, Setting, WholePushModel, WholePushState
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

#: How many queues the topic has.
QUEUES = 2
#: The numbers of the groups.
BOTH = FIRST, SECOND = 0, 1

_CHOSEN = Reason(("WHOLE-SHARE",), "before anyone joins")
_SHARE = "CID-SHARE"


class WholeGroupsState(NamedTuple):
    """What each of the groups is, and has stored."""

    first: WholePushState
    second: WholePushState

    @property
    def group(self) -> WholeGroup:
        """The first group; what fails in one does in the other."""
        return self.first.group

    def has(self, name: str) -> tuple[int, ...]:
        """The groups of which the program of a member has consumers that run."""
        return tuple(at for at, one in zip(BOTH, self, strict=True) if name in one.group.members)

    def lacks(self, name: str) -> int | None:
        """The group of which a program that runs has none, if there is one."""
        has = self.has(name)
        return 1 - has[0] if len(has) == 1 else None


class WholeGroupsModel:
    """The observations of programs with consumers of two groups; every method is pure."""

    __slots__ = ("_one", "_topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self._topology = topology
        self._one = WholePushModel(profile, topology)

    def initial(self) -> WholeGroupsState:
        """Before anything happened."""
        beginning = self._one.prepare(self._one.initial(), *Setting(QUEUES))[0]
        return WholeGroupsState(beginning, beginning)

    def prepare(self, state: WholeGroupsState, first: int, second: int, where: str) -> Answer[WholeGroupsState]:
        """Choose what each group has stored, and where consumers begin; nothing happens once a program has started."""
        groups = zip(state, (first, second), strict=True)
        if not state.first.begun:
            state = WholeGroupsState(
                *(self._one.prepare(one, QUEUES, "young", stored, where)[0] for one, stored in groups)
            )
        return state, None, _CHOSEN

    def learn(self, state: WholeGroupsState, clients: tuple[str, ...]) -> WholeGroupsState:
        """The state once these client ids of programs were seen."""
        return WholeGroupsState(*(self._one.learn(one, clients) for one in state))

    def join(self, state: WholeGroupsState, member: int) -> Answer[WholeGroupsState]:
        """A program starts with a consumer of the first group, unless it runs."""
        starts = () if state.has(self._topology.members[member]) else (FIRST,)
        return self._seen(state, starts, lambda one: self._one.join(one, member))

    def also(self, state: WholeGroupsState, member: int) -> Answer[WholeGroupsState]:
        """A consumer starts of the group of which a program that runs has none."""
        lacks = state.lacks(self._topology.members[member])
        if lacks is None:
            return self.look(state)
        state, seen, why = self._seen(state, (lacks,), lambda one: self._one.join(one, member))
        return state, seen, _shared(why, "another group")

    def end(self, state: WholeGroupsState, member: int, group: int) -> Answer[WholeGroupsState]:
        """The consumer of a group is shut down, if its program has both."""
        if len(state.has(self._topology.members[member])) < len(BOTH):
            return self.look(state)
        state, seen, why = self._seen(state, (group,), lambda one: self._one.leave(one, member))
        return state, seen, _shared(why, "one of two groups ends")

    def leave(self, state: WholeGroupsState, member: int) -> Answer[WholeGroupsState]:
        """A program is shut down, if it runs, with its consumers."""
        has = state.has(self._topology.members[member])
        state, seen, why = self._seen(state, has, lambda one: self._one.leave(one, member))
        return state, seen, _shared(why, "both groups end") if len(has) == len(BOTH) else why

    def send(self, state: WholeGroupsState, queue: int) -> Answer[WholeGroupsState]:
        """A message arrives in a queue, or in every one: both groups are given it."""
        state, seen, why = self._seen(state, BOTH, lambda one: self._one.send(one, queue))
        shares = any(len(state.has(name)) == len(BOTH) for name in self._topology.members)
        return state, seen, _shared(why, f"{why.kind}, of two groups") if shares else why

    def look(self, state: WholeGroupsState) -> Answer[WholeGroupsState]:
        """Time passes, a round of rebalance at least."""
        return self._seen(state, (), self._one.look)

    def _seen(
        self,
        state: WholeGroupsState,
        among: tuple[int, ...],
        move: Callable[[WholePushState], Answer[WholePushState]],
    ) -> Answer[WholeGroupsState]:
        """What is seen of both once something has happened in some of them, and why: by these, if there are any."""
        answers = [move(one) if at in among else self._one.look(one) for at, one in zip(BOTH, state, strict=True)]
        (first, second), (one, other) = [answer[0] for answer in answers], [_parts(answer[1]) for answer in answers]
        behind = ((member, queue + QUEUES, offset, count) for member, queue, offset, count in other[1])
        given = tuple(sorted((*one[1], *behind)))
        why = _joined([answers[at][2] for at in among or BOTH])
        return WholeGroupsState(first, second), ((*one[0], *other[0]), given, (*one[2], *other[2])), why


def _parts(seen: object) -> Seen:
    """What is seen of a group, without the end of a member: a program may go on."""
    return cast(Seen, cast(tuple[Value, ...], seen)[:PLACE])


def _joined(reasons: list[Reason]) -> Reason:
    """One reason of those of groups, without what shows as a client ends."""
    rules = dict.fromkeys(rule for why in reasons for rule in why.rules if rule not in RULES_OF_ENDS)
    beneath = dict.fromkeys(rule for why in reasons for rule in why.beneath if rule not in rules)
    return replace(reasons[0], rules=tuple(rules), beneath=tuple(beneath))


def _shared(why: Reason, kind: str) -> Reason:
    """The reason of what two groups show that share a client."""
    return replace(why, rules=(_SHARE, *why.rules), kind=kind)
