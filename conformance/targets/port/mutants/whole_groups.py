"""Mutants of the port's programs with whole push consumers of two groups, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.whole_groups import WholeGroupsPrograms
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import GROUP

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-groups")


@_mutant("D107", "All offsets of a program are committed for its first group.")
class GroupsCommitForFirst(WholeGroupsPrograms):
    def group_for(self, group: str, code: int) -> str:
        return GROUP if code == Request.UPDATE_CONSUMER_OFFSET else group


@_mutant("D107", "All consumers of a program begin where its first group has got to.")
class GroupsBeginAsFirst(WholeGroupsPrograms):
    def group_for(self, group: str, code: int) -> str:
        return GROUP if code == Request.QUERY_CONSUMER_OFFSET else group


@_mutant("D107", "The queues of every group of a program are divided among the members of the first one.")
class GroupsListedAsFirst(WholeGroupsPrograms):
    def group_for(self, group: str, code: int) -> str:
        return GROUP if code == Request.GET_CONSUMER_LIST_BY_GROUP else group


@_mutant("D107", "The heartbeat of a program names its first group alone.")
class GroupsBeatForFirst(WholeGroupsPrograms):
    def beats_for(self, member: int) -> tuple[str, ...]:
        return super().beats_for(member)[:1]


@_mutant("D107", "The end of one consumer ends all others of its program.")
class GroupsEndTogether(WholeGroupsPrograms):
    def end_one(self, member: int, group: int) -> Result:
        return self.leave_group(member) if len(self.of(member)) > 1 else self.look()


@_mutant("D107", "The end of one consumer closes the connection of all others of its program.")
class GroupsEndCloses(WholeGroupsPrograms):
    def end_one(self, member: int, group: int) -> Result:
        if len(self.of(member)) > 1:
            self.groups[group].end(member)
            for other in self.of(member):
                other.hang_up(member)
        return self.look()


@_mutant("D107", "The end of one consumer unregisters its program from the other group.")
class GroupsEndUnregistersOther(WholeGroupsPrograms):
    def group_for(self, group: str, code: int) -> str:
        other = next(one.group for one in self.groups if one.group != group)
        return other if code == Request.UNREGISTER_CLIENT else group


@_mutant("D107", "One consumer does not unregister at its end, while the connection of its program stays.")
class GroupsEndStaysListed(WholeGroupsPrograms):
    def group_for(self, group: str, code: int) -> str:
        return "" if code == Request.UNREGISTER_CLIENT else group


@_mutant("D107", "A program has rounds for its first group alone, but for the one that a consumer starts with.")
class GroupsRoundsOfFirst(WholeGroupsPrograms):
    def rebalances(self, group: str, consumer: Consumer) -> bool:
        return group == GROUP or not consumer.table
