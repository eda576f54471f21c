"""One case of the suite of two groups, played with programs that have a consumer of each."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from rocketmq_conformance.conformance.fakes.whole_groups import WholeGroups
from rocketmq_conformance.conformance.targets.client_program.case_broker import Watched
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.required_consumers import ALSO, END
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.client.whole_groups import BOTH, QUEUES, WholeGroupsState
from rocketmq_conformance.models.client.whole_push import Setting
from rocketmq_conformance.models.outcome import Ok, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_groups as operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, OTHER_GROUP


class PlayedGroups(PlayedGroup):
    """The programs of one case."""

    _shows_ends = False

    def __init__(
        self,
        suite: Suite,
        profile: Profile,
        command: Sequence[str],
        timing: Timing,
        interrupted: threading.Event,
        access: GivenAccess,
    ) -> None:
        self.groups = WholeGroups(profile)
        super().__init__(suite, profile, command, timing, interrupted, lambda _: self.groups, access)

    def _do(self, operation: Operation) -> Outcome:
        state = self._state
        assert isinstance(state, WholeGroupsState)
        match operation:
            case operations.Prepare(first, second, where):
                self._expect(operation)
                if not self._begun:
                    self._begin(first, second, where)
                return Ok()
            case operations.Also(member):
                lacks = state.lacks(ORDINARY.members[member])
                return self._played(operation, lambda: self._also(member, lacks))
            case operations.End(member, group):
                has = state.has(ORDINARY.members[member])
                return self._played(operation, lambda: self._end(member, group) if len(has) == len(BOTH) else None)
            case _:
                return super()._do(operation)

    def _also(self, member: int, group: int | None) -> None:
        """Ask a program for a consumer of a group, if there is one that it lacks."""
        if group is not None and member in self.members.programs:
            name = (GROUP, OTHER_GROUP)[group]
            values = [self.address, name, self.case.topic, ORDINARY.members[member]]
            self.members.programs[member].send({ALSO: values})
            self.members.known_since[member] = self._clock.monotonic()

    def _end(self, member: int, group: int) -> None:
        """Ask a program to shut the consumer of a group down."""
        if member in self.members.programs:
            self.members.programs[member].send({END: (GROUP, OTHER_GROUP)[group]})

    def _begin(self, first: int, second: int, where: str) -> None:
        self._setting = Setting(QUEUES, "young", first, where)
        self.groups.prepare_groups(first, second, where)

    def _prepare(self, setting: Setting) -> None:
        self._begin(NOTHING, NOTHING, setting.where)

    def _brokers(self) -> Sequence[tuple[Watched, Mapping[int, int]]]:
        places = range(QUEUES)
        return [(self.case, {at: at for at in places}), (self.groups.other, {at: at + QUEUES for at in places})]

    def _places(self) -> Sequence[int]:
        return range(QUEUES * len(BOTH))
