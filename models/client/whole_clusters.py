"""Two whole push consumers in one process, as their traffic at two clusters shows them.

The second one has a name server, an instance name and so a client of its own (CID-SHARE); group and topic are called
alike in both clusters. A second consumer of the first one's group and instance does not start, and the first one goes
on (CID-TAKEN). To the model the second cluster is the second broker of ``whole_topologies``, which is not there at
first, and which the only member knows once its second consumer runs.
"""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.models.client.whole_brokers import WholeBrokersState
from rocketmq_conformance.models.client.whole_topologies import WholeTopologiesModel
from rocketmq_conformance.models.rule import Answer

_TAKEN = "the group is taken"


class WholeClustersModel(WholeTopologiesModel):
    """The observations of a process with up to two consumers; every method is pure."""

    __slots__ = ()

    def leave(self, state: WholeBrokersState, member: int) -> Answer[WholeBrokersState]:
        """The process ends, if it runs, and both consumers with it."""
        return super().leave(state._replace(away=True), member)

    def also(self, state: WholeBrokersState) -> Answer[WholeBrokersState]:
        """A consumer of the other cluster starts in the process, if that runs and has none."""
        if not state.away or not state.group.members:
            return self.look(state)
        state, seen, why = self.come_back(state)
        rules = ("CID-SHARE", *(rule for rule in why.rules if rule != "REB-ROUTE-1"))
        return state, seen, replace(why, rules=rules, kind="a consumer of another cluster")

    def twin(self, state: WholeBrokersState) -> Answer[WholeBrokersState]:
        """Another consumer of the group is to start in the process, if that runs: it does not, and nothing is new."""
        state, seen, why = self.look(state)
        if not state.group.members:
            return state, seen, why
        kind = _TAKEN if state.away else f"{_TAKEN}, beside another cluster"
        return state, seen, replace(why, rules=("CID-TAKEN", *why.rules), kind=kind)
