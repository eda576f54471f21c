"""A group of whole push consumers whose topic gets to another broker, or is not read and written alike, by its route.

It is that of ``whole_brokers``, of which the second broker is not there at first, and no route has ever named it. A
route says of each broker how many queues are read, how many are written, and whether it may be read at all: members
divide those that may be read, however many are written (REB-ROUTE-1).
"""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.models.client.whole_brokers import WholeBrokersModel, WholeBrokersState
from rocketmq_conformance.models.rule import Answer

#: How the numbers of queues that are written differ from those that are read, and the kind of state of such a route.
WRITTEN = {0: "", 1: "more are written than read", -1: "fewer are written than read"}
_HIDDEN = "a topic that may not be read at a broker"


class WholeTopologiesModel(WholeBrokersModel):
    """The observations of a group of consumers of one profile; every method is pure."""

    __slots__ = ()

    def initial(self) -> WholeBrokersState:
        """Before anything happened."""
        return super().initial()._replace(away=True)

    def choose(
        self, state: WholeBrokersState, first: int, second: int, stored: int, where: str
    ) -> Answer[WholeBrokersState]:
        """Choose how the case begins; nothing happens once a member has joined."""
        after, seen, why = super().prepare(state, first, second, "young", stored, where)
        return (after if state.begun else after._replace(away=True)), seen, why

    def route_as(self, state: WholeBrokersState, first: int, second: int, written: int) -> Answer[WholeBrokersState]:
        """The brokers have so many queues that are read from now on, the second one perhaps none, and as many that are
        written, or one more or fewer; nothing happens while that is away."""
        before = state.queues
        state, seen, why = super().route(state, first, second)
        if before == state.queues or not state.group.members:
            return state, seen, why
        return state, seen, replace(why, kind=WRITTEN[written] or (why.kind if second else _HIDDEN))

    def appear(self, state: WholeBrokersState) -> Answer[WholeBrokersState]:
        """The second broker is there, for the first time or again."""
        return super().come_back(state)
