"""Whole push consumers that are answered in an unusual way about one thing alone, while everything else is answered
(WHOLE-ANS-*).

What fails is one queue's pulls, commits or the questions where it begins, the list of the group's members, or the
topic's route. It is refused by any response code, one that no client knows among them, it lacks what belongs into the
answer, or it is not answered. An answer may come twice, too, or so late that its client has asked again.
"""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.models.client.lone_answers import way_of
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.whole_group_state import WholeGroup
from rocketmq_conformance.models.client.whole_moves import (
    COMMIT,
    MAX,
    MEMBERS,
    PULL,
    QUERY,
    ROUTE,
    SEARCH,
    ArriveAgain,
    Fail,
)
from rocketmq_conformance.models.client.whole_push import WholePushModel, WholePushState
from rocketmq_conformance.models.rule import Answer, Rule

RULES = (
    Rule(
        "WHOLE-ANS-ALONE",
        "Requests about one queue that fail, in whatever way, concern that queue alone: the others are taken, pulled, "
        "given and committed as if none had failed. So it is with all queues of one broker, or of one topic.",
        "DefaultMQPushConsumerImpl#pullMessage, RebalanceImpl#updateProcessQueueTableInRebalance, "
        "RemoteBrokerOffsetStore#persistAll @ 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-ANS-CODE",
        "A response code that is none of those which answer a request refuses it, whether or not the client knows the "
        "code, and refuses nothing else: a queue is not given up for it, nor skipped, and the same is asked again.",
        "MQClientAPIImpl#processPullResponse, #queryConsumerOffset, #getMaxOffset, "
        "MQClientInstance#updateTopicRouteInfoFromNameServer @ 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-ANS-FIELD",
        "An answer without what belongs into it is one that failed. To a pull: whichever status it has, where to go on "
        "is not taken from an answer that does not say it, and an answer that has found messages and has none skips "
        "none.",
        "MQClientAPIImpl#processPullResponse, PullAPIWrapper#processPullResult @ 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-ANS-LIST",
        "A list of members that is empty, or null, is no list: a consumer keeps the queues that it has, and takes no "
        "other ones.",
        "RebalanceImpl#rebalanceByTopic @ 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-ANS-TWICE",
        "An answer that comes twice counts once: its messages are given once.",
        "NettyRemotingAbstract#processResponseCommand @ 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-ANS-LATE",
        "The answer to a pull that comes once its client has given the pull up, and has sent it again, counts for "
        "nothing: messages are given once, by the answer to the other one.",
        "NettyRemotingAbstract#processResponseCommand, #scanResponseTable @ 4.9.8, 5.3.3",
    ),
)
#: The rules that say what becomes of what fails, and that a queue goes on.
_AS_EVER = frozenset({"WHOLE-PULL", "WHOLE-UNREAD", "WHOLE-LOST", "WHOLE-LIST", "WHOLE-UNHEARD", "WHOLE-FIRST"})
#: The requests without which a queue does not go on.
_OF_QUEUES = (PULL, QUERY, MAX, SEARCH)


def may_join(state: object) -> bool:
    """Is the route answered? Without it a member does not know the queues that the others leave to it."""
    return isinstance(state, WholePushState) and ROUTE not in state.group.fails


def has_members(state: object) -> bool:
    """Does a member run?"""
    return isinstance(state, WholePushState) and bool(state.group.members)


class WholeAnswersModel(WholePushModel):
    """The observations of a group of consumers of one profile; every method is pure."""

    __slots__ = ()

    def fail_pulls(self, state: WholePushState, queue: int, answer: str) -> Answer[WholePushState]:
        """From now on pulls of a queue are answered in this way, and everything else as ever."""
        return self._fail(state, Fail(PULL, answer, queue=queue))

    def fail_start(self, state: WholePushState, queue: int, request: str, answer: str) -> Answer[WholePushState]:
        """The same with a question where a queue begins."""
        return self._fail(state, Fail(request, answer, queue=queue))

    def fail_commits(self, state: WholePushState, queue: int, answer: str) -> Answer[WholePushState]:
        """The same with commits of a queue."""
        return self._fail(state, Fail(COMMIT, answer, queue=queue))

    def fail_list(self, state: WholePushState, answer: str) -> Answer[WholePushState]:
        """The same with the list of members."""
        return self._fail(state, Fail(MEMBERS, answer, queue=EVERY))

    def fail_route(self, state: WholePushState, answer: str) -> Answer[WholePushState]:
        """The same with the route of the topic."""
        return self._fail(state, Fail(ROUTE, answer, queue=EVERY))

    def join(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member starts, unless it runs."""
        joined = super().join(state, member)
        begins = {QUERY, MAX, SEARCH} & joined[0].group.fails.keys()
        return _by_way(joined, "WHOLE-COMMIT", "TIMER-PERSIST") if begins else joined

    def mend(self, state: WholePushState) -> Answer[WholePushState]:
        """Every request is answered again: a queue that waited for that goes on where it was, whatever the way."""
        mended, seen, why = super().mend(state)
        for move in state.group.fails.values():
            # who could not pull has the queue, and who could not begin it takes it now
            was, now = (self._place_in(group, move.queue) for group in (state.group, mended.group))
            waited = was is not None if move.request == PULL else was is None
            if move.request in _OF_QUEUES and waited and now is not None:
                rules = dict.fromkeys((*way_of(move).rules, *why.rules))
                # where it is at 0 it does not show that it was not sent there
                kind = f"answered again: {_way(move)}" if was != 0 else why.kind
                why = replace(why, rules=tuple(rules), kind=kind)
        return mended, seen, why

    def _place_in(self, group: WholeGroup, number: int | None) -> int | None:
        """The offset from which a member pulls a queue, if one has it."""
        return next(
            (
                at
                for member in group.members.values()
                for queue, at in member.pulls.items()
                if self._topology.places[queue] == (self._topology.topic, number)
            ),
            None,
        )

    def send_again(self, state: WholePushState, queue: int, how: str) -> Answer[WholePushState]:
        """A message arrives in a queue, and the answer that brings it comes twice, or when its client has asked
        again."""
        return self._look(state._replace(group=self._group.move(state.group, ArriveAgain(how, queue))))

    def _fail(self, state: WholePushState, move: Fail) -> Answer[WholePushState]:
        group = self._group.move(self._mended(state.group, but=move.request), move)
        return _by_way(self._look(state._replace(group=group)))


def _by_way(answered: Answer[WholePushState], *beside: str) -> Answer[WholePushState]:
    """An answer whose reason tells the ways apart in which a request fails, where nothing else has happened, or only
    what is ``beside``."""
    state, seen, why = answered
    as_ever = {rule for rule in why.rules if not rule.startswith("WHOLE-ANS-")}
    for move in state.group.fails.values():
        if len(as_ever) < len(why.rules) and as_ever <= {*_AS_EVER, *beside}:
            why = replace(why, kind=_way(move))
    return state, seen, why


def _way(move: Fail) -> str:
    """The way in which a request fails, as a kind of state."""
    return f"{move.request} fails" + ("" if move.request in (COMMIT, MAX, SEARCH) else f": {move.fault}")
