"""Cases in which requests about one thing alone fail: what must be seen of these before a step counts."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.case_broker import CaseBroker
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Limits

#: The rules of steps in which a request about one thing alone fails, and those of a commit.
_FAILING = frozenset({"WHOLE-ANS-ALONE", "WHOLE-ANS-CODE", "WHOLE-ANS-FIELD", "WHOLE-ANS-LIST"})
_COMMITS = frozenset({"WHOLE-LOST", "WHOLE-ANS-ALONE", "WHOLE-ANS-CODE"})


class PlayedFaults(PlayedGroup):
    """The members of one case, and what is done to them and their broker."""

    def _faulty(self) -> Sequence[CaseBroker]:
        """The brokers at which requests may fail."""
        return (self.case,)

    @property
    def _met(self) -> bool:
        """Has a request come that fails?"""
        return any(case.met for case in self._faulty())

    @property
    def _loses_commits(self) -> bool:
        """Do commits fail?"""
        return any(case.fails(Request.UPDATE_CONSUMER_OFFSET) for case in self._faulty())

    def _unseen(self) -> str:
        """Also that nothing has come of what fails; commits need not come, and pulls that are not answered do late."""
        unseen = super()._unseen()
        if unseen or not _FAILING & self._points.rules or self._loses_commits or self.case.silent:
            return unseen
        return "no member was seen to send the request that fails" if self._state.group.fails and not self._met else ""

    def _unshown(self, limits: Limits) -> frozenset[str]:
        """Also the rules about a commit that fails, where none came."""
        silent = _COMMITS if self._loses_commits and not self._met else frozenset[str]()
        return super()._unshown(limits) | (silent & self._points.rules)
