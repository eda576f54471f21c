"""Broker mutants that the suite ``broker-assignment`` kills: each assigns wrong queues to some member of a group."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.assignments import Assignments
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.assignment import (
    ANY_QUEUE,
    BROADCASTING,
    NO_MODES,
    POP,
    PULL,
    RETRY_PREFIX,
    AssignmentRequest,
)
from rocketmq_conformance.models.outcome import Err, Result

Members = tuple[str, ...] | None

MUTANTS: list[BrokerMutant] = []
_assignments = declared(MUTANTS, "assignments", "broker-assignment")
_tables = declared(MUTANTS, "assignments", "broker-assignment", configManagerVersion="v2")


@_assignments("D26", "A member without an assignment is answered an empty one.")
class AssignNothingForNone(Assignments):
    """An empty assignment is sent instead of none, which takes every queue away."""

    def assign(self, asked: AssignmentRequest, members: Members) -> Result:
        found = super().assign(asked, members)
        return () if found is None else found


@_assignments("D88", "A client that is no member is answered to keep its queues.")
class AssignNoneForNothing(Assignments):
    """A member that is not registered gets no assignment instead of an empty one."""

    def assign(self, asked: AssignmentRequest, members: Members) -> Result:
        found = super().assign(asked, members)
        return None if found == () else found


@_assignments("D88", "An unknown strategy is taken for AVG.")
class AssignAnyStrategy(Assignments):
    def assign(self, asked: AssignmentRequest, members: Members) -> Result:
        known = asked.strategy in {"AVG", "AVG_BY_CIRCLE"}
        return super().assign(asked if known else asked._replace(strategy="AVG"), members)


@_assignments("D87", "Members count in the order in which they registered.")
class AssignUnsorted(Assignments):
    """Strategies get the members in the order of their registration, unsorted."""

    def assign(self, asked: AssignmentRequest, members: Members) -> Result:
        if members is None or len({*members}) < len(members):
            return super().assign(asked, members)
        places = {member: f"{place:09}" for place, member in enumerate(members)}
        client = places.get(asked.client or "", asked.client)
        return super().assign(asked._replace(client=client), tuple(places.values()))


@_assignments("D88", "Only queues of the broker that is asked are given.")
class AssignOwnQueues(Assignments):
    """Queues of other brokers are given to no member."""

    def assign(self, asked: AssignmentRequest, members: Members) -> Result:
        found = super().assign(asked, members)
        if not isinstance(found, tuple):
            return found
        return tuple(each for each in found if isinstance(each, tuple) and each[0] == self._name)


@_assignments("D88", "Only groups with members broadcast.")
class AssignMembersBroadcast(Assignments):
    def assign(self, asked: AssignmentRequest, members: Members) -> Result:
        if asked.model == BROADCASTING and members is None:
            return None
        return super().assign(asked, members)


@_assignments("D88", "Queues are pulled, even if the mode is set to pop.")
class ModeAlwaysPull(Assignments):
    def set_mode(self, topic: str, group: str, mode: str | None, share: int | None) -> Err | None:
        return super().set_mode(topic, group, PULL if mode == POP else mode, share)


@_assignments("D88", "A mode that is set cannot be changed.")
class ModeFirstStays(Assignments):
    def set_mode(self, topic: str, group: str, mode: str | None, share: int | None) -> Err | None:
        before = self.modes
        failed = super().set_mode(topic, group, mode, share)
        self.modes = {**self.modes, **before}
        return failed


@_assignments("D88", "A mode holds for all topics of a group.")
class ModeEveryTopic(Assignments):
    """The mode that was set last holds for all topics of the group."""

    def assign(self, asked: AssignmentRequest, members: Members) -> Result:
        before = self.modes
        found = [mode for (_, group), mode in before.items() if group == asked.group]
        self.modes = {**NO_MODES, (asked.topic, asked.group): found[-1]} if found else before
        result = super().assign(asked, members)
        self.modes = before
        return result


@_assignments("D88", "The mode of a retry topic may be set.")
class ModeOfRetries(Assignments):
    """The mode of a retry topic may be set."""

    def set_mode(self, topic: str, group: str, mode: str | None, share: int | None) -> Err | None:
        if topic.startswith(RETRY_PREFIX):
            return None
        return super().set_mode(topic, group, mode, share)


@_assignments("D88", "A member pops from its own queues only.")
class PopNeverShares(Assignments):
    """A member that pops gets its own queues only, as one that pulls."""

    def assign(self, asked: AssignmentRequest, members: Members) -> Result:
        before = self.modes
        mode = before.get((asked.topic, asked.group))
        if mode is None or mode.mode != POP or mode.share <= 0 or asked.model == BROADCASTING:
            return super().assign(asked, members)
        self.modes = {**before, (asked.topic, asked.group): mode._replace(mode=PULL)}
        found = super().assign(asked, members)
        self.modes = before
        if not isinstance(found, tuple):
            return found
        return tuple((*each[:2], POP) for each in found if isinstance(each, tuple))


@_assignments("D88", "A broker is named once for every queue.")
class PopBrokerTwice(Assignments):
    """Queue -1 is listed once for every queue, not once for every broker."""

    def assign(self, asked: AssignmentRequest, members: Members) -> Result:
        found = super().assign(asked, members)
        if not isinstance(found, tuple):
            return found
        queues = self._routes(asked.topic) or ()
        whole = [each for each in found if isinstance(each, tuple) and each[1] == ANY_QUEUE]
        again = [each for each in whole for _ in range(sum(queue[1] == each[0] for queue in queues))]
        return (*again, *(each for each in found if each not in whole))


@_tables("D88", "A light message queue must have been created.")
class ModeNoLightQueue(Assignments):
    def set_mode(self, topic: str, group: str, mode: str | None, share: int | None) -> Err | None:
        known = topic in self._storage.state.topics
        return super().set_mode(topic, group, mode, share) if known else Err("TOPIC_NOT_EXIST")
