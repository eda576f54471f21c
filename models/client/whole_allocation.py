"""A group of whole push consumers among members that do not exist, as their traffic shows how they divide the queues.

The broker lists more members than there are: consumers leave the queues of the others alone. So one program is enough
to see how a strategy divides queues, and among how many.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_moves import Crowd
from rocketmq_conformance.models.client.whole_push import Setting, WholePushModel, WholePushState, shown
from rocketmq_conformance.models.message_queue import sort_ids
from rocketmq_conformance.models.rule import Answer, Reason

#: No client id begins with anything that sorts before this, as a rule: "!" does.
_ORDINARY = '"'
#: The offset that the group has stored in each queue.
STORED = 7
#: The rule of each strategy.
RULE_OF = {"AVG": "ALLOC-AVG-1", "AVG_BY_CIRCLE": "ALLOC-CIRC-1"}


class Crowded(NamedTuple):
    """The members that do not exist: so many before those that do, and so many after them."""

    before: int = 0
    after: int = 0

    def clients(self, members: Iterable[str]) -> tuple[str, ...]:
        """Their client ids, around those of members that were seen."""
        seen = sort_ids([*members])
        first, last = (seen[0], seen[-1]) if seen else (_ORDINARY, "")
        lower = chr(max(0, min(ord(first[0]), ord(_ORDINARY)) - 1))
        early = (f"{lower}{number}" for number in range(self.before))
        # what begins with another text comes after it
        late = (f"{last}~{number}" for number in range(self.after))
        return *early, *late


class WholeAllocationModel(WholePushModel):
    """The observations of a group of consumers of one profile; every method is pure."""

    __slots__ = ()

    def initial(self) -> WholePushState:
        """Before anything happened: every queue has been consumed up to an offset."""
        return self._begun(Setting(stored=STORED))

    def divide(self, state: WholePushState, queues: int, strategy: str) -> Answer[WholePushState]:
        """Choose how many queues there are, and how they are divided; nothing happens once a member has joined."""
        if not state.begun:
            state = self._begun(Setting(queues, "young", STORED, LAST))
            state = state._replace(group=state.group._replace(strategy=strategy))
        return state, None, Reason((RULE_OF[strategy],), "before anyone joins")

    def crowd(self, state: WholePushState, before: int, after: int) -> Answer[WholePushState]:
        """The broker lists so many other members from now on."""
        group = state.group
        seen = (client for name, client in group.clients.items() if name in group.members)
        group = self._group.move(group, Crowd(Crowded(before, after).clients(seen)))
        return self._look(state._replace(group=group))

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        state, seen, _ = self._seen(state)
        group = state.group
        if not group.members:
            return shown(state, seen, Reason(("REB-CLU-4",), "nobody is there"))
        queues, members = group.broker.topics[self._topology.topic].read_queues, len(group.members) + len(group.others)
        why = Reason((RULE_OF[group.strategy], "REB-CLU-2", "REB-CLU-4"), _kind(queues, members))
        return shown(state, seen, why)


def _kind(queues: int, members: int) -> str:
    if members == 1:
        return "alone"
    if members > queues:
        return "more members than queues"
    return "uneven shares" if queues % members else "even shares"
