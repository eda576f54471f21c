"""A group of whole push consumers, as an observer sees it from the traffic at their broker alone (WHOLE-*).

Members join, leave and crash, messages arrive, and the topic gains and loses queues; one kind of request may fail until
it is mended. After each of these the group has time to finish its work, and pulls that find nothing are answered, so
that an observation depends on no race. What is seen: who pulls each queue, from which offset that owner waits for the
next message, which messages pulls brought to whom, and the stored offset of each queue.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.lifecycle import reopened
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.client.initial_broker import TIMES, log_of_shape
from rocketmq_conformance.models.client.member_settings import TIMESTAMP_TEXT
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST, StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.client.whole_deadlines import ROUND, due
from rocketmq_conformance.models.client.whole_end import NOT_ENDED, Ended, end_reason, ended, with_end
from rocketmq_conformance.models.client.whole_faults import loses_connections, loses_members
from rocketmq_conformance.models.client.whole_group import WholeGroupModel
from rocketmq_conformance.models.client.whole_group_state import (
    WholeGroup,
    failing,
    number_of,
    seen_queues,
    with_beneath,
    with_clients,
)
from rocketmq_conformance.models.client.whole_locks import crashed
from rocketmq_conformance.models.client.whole_moves import (
    HEARTBEAT,
    LATE,
    PULL,
    SILENT,
    Fail,
    Join,
    Leave,
    Mend,
    ResetTo,
)
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

#: "No owner".
NO_OWNER = -1
#: Owner and offset of each queue; messages that pulls brought (member, queue, first offset, messages); the stored
#: offset of each queue.
Seen = tuple[tuple[Value, ...], tuple[tuple[int, int, int, int], ...], tuple[int, ...]]

#: The rules of requests that fail.
_FAILING = frozenset(
    {
        *("WHOLE-CUT", "WHOLE-LIST", "WHOLE-LOST", "WHOLE-MISTAKEN", "WHOLE-PULL", "WHOLE-SILENT", "WHOLE-UNHEARD"),
        *("WHOLE-REPEAT", "WHOLE-UNREAD"),
    }
)
#: The rules of whole consumers, and of what else their traffic shows.
_SHOWN = ("WHOLE-", "REB-ROUTE-1", "REB-SVC-", "TIMER-")
_ROUTED = Reason(("REB-ROUTE-1", "TIMER-ROUTE"), "the route changes")
_WOKEN = Reason(("REB-SVC-WAKE",), "told of a change")
_ROUND = Reason(("REB-SVC-1",), "the next round")
_PERSISTED = Reason(("TIMER-PERSIST",), "the next timer")
#: Once pulls are answered that failed.
_PULLED_AGAIN = Reason((), "pulled again", beneath=("PULL-RES-1",))
_TIMES = frozenset({*_WOKEN.rules, *_ROUND.rules, *_PERSISTED.rules})
_CHOSEN = Reason(("WHOLE-SHARE",), "before anyone joins")
_LEFT_BEHIND = Reason(("WHOLE-COMMIT",), "without its owner")


class Setting(NamedTuple):
    """How a case begins: readable queues of the topic, their shape, the group's stored offset, ConsumeFromWhere."""

    queues: int = 4
    shape: str = "young"
    stored: int = NOTHING
    where: str = LAST


class WholePushState(NamedTuple):
    """The group at its broker; ``begun``: has any member joined?"""

    group: WholeGroup
    setting: Setting
    begun: bool = False


def has_no_members(state: WholePushState) -> bool:
    """Does no member run?"""
    return not state.group.members


def keeps_members(state: WholePushState) -> bool:
    """Does no request fail so that the broker may not know every member? Only a mend ends that."""
    return not loses_members(state.group.fails)


def keeps_subscriptions(state: object) -> bool:
    """Does the broker take the heartbeats of members whose queues may change when another one goes?

    When its queues change, a push consumer raises the version of its subscription, and says so by a heartbeat. Until
    that is taken, its pulls are refused as SUBSCRIPTION_NOT_LATEST, each as soon as the one before it has ended, which
    depends on timing.
    """
    return _missed(state) < 2


def takes_resets(state: object) -> bool:
    """The same where the queues of any member change that runs."""
    return not _missed(state)


def _missed(state: object) -> int:
    """How many members the broker knows whose heartbeats fail now; none in suites of other states."""
    if not isinstance(state, WholePushState) or HEARTBEAT not in state.group.fails:
        return 0
    return sum(member.registered for member in state.group.members.values())


def known_end(group: WholeGroup, name: str, end: Ended) -> Ended:
    """What is certain to be seen of how a member of a group ends that is shut down.

    Nothing while the broker may not know it by its connection, or while its listener hangs, for which it may wait; and
    once that was closed, clients may for a while have another one, over which they sent a heartbeat, too (WHOLE-CUT).
    """
    member = group.members[name]
    if not member.registered or member.hung or member.discards or loses_connections(group.fails):
        return NOT_ENDED
    return (None, *end[1:]) if member.cut else end


def initial_broker(rules: BrokerRules, topology: Topology, setting: Setting) -> BrokerState:
    """The broker of a case before anyone joins."""
    ids, group, topic = range(setting.queues), topology.group, topology.topic
    log = reopened(rules, log_of_shape(setting.shape))
    stored = {} if setting.stored == NOTHING else {(group, topic, number): setting.stored for number in ids}
    topics = {topic: Topic.of(setting.queues)}
    return BrokerState(topics, frozenset({group}), {(topic, number): log for number in ids}, stored)


def initial_group(rules: BrokerRules, topology: Topology, setting: Setting, kind: str = PUSH) -> WholeGroup:
    """The group of a case before anyone joins."""
    broker = initial_broker(rules, topology, setting)
    return WholeGroup(kind, setting.where, broker, topology, TIMESTAMP_TEXT, pulls_end=True)


class WholePushModel:
    """The observations of a group of consumers of one kind, profile and topology; every method is pure."""

    __slots__ = ("_group", "_kind", "_rules", "_topology")

    def __init__(self, profile: Profile, topology: Topology, kind: str = PUSH) -> None:
        self._kind, self._topology = kind, topology
        self._group = WholeGroupModel(StartModel(profile, topology))
        self._rules = self._group.start.store.broker

    def initial(self) -> WholePushState:
        """Before anything happened."""
        return self._begun(Setting())

    def prepare(
        self, state: WholePushState, queues: int, shape: str, stored: int, where: str
    ) -> Answer[WholePushState]:
        """Choose how the case begins; nothing happens once a member has joined."""
        if not state.begun:
            state = self._begun(Setting(queues, shape, stored, where))
        return state, None, _CHOSEN

    def learn(self, state: WholePushState, clients: tuple[str, ...]) -> WholePushState:
        """The state once these client ids of members were seen."""
        return state._replace(group=with_clients(state.group, clients))

    def join(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member starts, unless it runs."""
        name = self._topology.members[member]
        if name in state.group.members:
            return self._look(state)
        joined = self._group.move(_woken(state.group), Join(name))
        return self._look(state._replace(group=_in_order(joined), begun=True))

    def leave(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member is shut down, if it runs."""
        name = self._topology.members[member]
        if name not in state.group.members:
            return self._without_end(state)
        end = known_end(state.group, name, ended(self._kind))
        left = _woken(self._group.move(state.group, Leave(name)))
        state, seen, why = self._look(state._replace(group=left))
        return state, with_end(seen, end), end_reason(why, end)

    def crash(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member's process is killed, if it runs: it commits nothing more."""
        left = crashed(state.group, self._topology.members[member])
        return self._look(state._replace(group=left if left == state.group else _woken(left)))

    def send(self, state: WholePushState, queue: int) -> Answer[WholePushState]:
        """A message arrives in a queue, if there is one, or in every queue."""
        broker, topic = state.group.broker, self._topology.topic
        for number in range(broker.topics[topic].read_queues):
            if queue in (number, EVERY):
                broker = send(self._rules, broker, topic, number, TIMES[-1:])[0]
        return self._look(state._replace(group=state.group._replace(broker=broker)))

    def reset(self, state: WholePushState, offset: int) -> Answer[WholePushState]:
        """The broker tells the members, if there are any, to reset queue 0 to an offset."""
        if not state.group.members:
            return self._look(state)
        return self._look(state._replace(group=self._group.move(state.group, ResetTo(offset))))

    def freeze(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A message arrives in every queue while a member is frozen: it is late, and loses nothing."""
        return self.send(state, EVERY)

    def resize(self, state: WholePushState, queues: int) -> Answer[WholePushState]:
        """The topic has so many queues from now on, and its route names them; those that it loses keep their messages
        and offsets."""
        broker, topic = state.group.broker, self._topology.topic
        reasons = state.group.reasons
        if broker.topics[topic].read_queues != queues and state.group.members:
            reasons = (*reasons, _ROUTED)
        broker = broker._replace(topics={**broker.topics, topic: Topic.of(queues)})
        return self._look(state._replace(group=state.group._replace(broker=broker, reasons=reasons)))

    def fail(self, state: WholePushState, request: str, fault: str) -> Answer[WholePushState]:
        """From now on a request fails, and no other one."""
        group = self._mended(state.group, but=request)
        return self._look(state._replace(group=self._group.move(group, Fail(request, fault))))

    def silence(self, state: WholePushState, request: str) -> Answer[WholePushState]:
        """From now on a request is not answered, and others again."""
        return self.fail(state, request, SILENT)

    def delay(self, state: WholePushState, request: str) -> Answer[WholePushState]:
        """From now on every request is answered, and one of them late."""
        return self.fail(state, request, LATE)

    def mend(self, state: WholePushState) -> Answer[WholePushState]:
        """Every request is answered again."""
        return self._look(state._replace(group=self._mended(state.group)))

    def _mended(self, group: WholeGroup, but: str = "") -> WholeGroup:
        """The group whose requests are answered again, ``but`` one that fails anew."""
        if not group.members:
            return self._group.move(group, Mend())
        waits = any(due({name: move}, {}, "", ()).owners == ROUND for name, move in group.fails.items())
        again = (_PULLED_AGAIN,) if PULL in group.fails and but != PULL else ()
        group = self._group.move(group, Mend(but))
        return group._replace(reasons=(*group.reasons, *((_ROUND,) if waits else ()), *again))

    def look(self, state: WholePushState) -> Answer[WholePushState]:
        """Time passes, a round of rebalance at least."""
        return self._look(state)

    def _without_end(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen where no member is shut down."""
        state, seen, why = self._look(state)
        return state, with_end(seen, NOT_ENDED), why

    def _begun(self, setting: Setting) -> WholePushState:
        return WholePushState(initial_group(self._rules, self._topology, setting, self._kind), setting)

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen, and why."""
        before = state.group.broker.stored
        state, seen, fired = self._seen(state)
        if state.group.broker.stored != before and seen[1]:
            fired = (*fired, *_PERSISTED.rules)
        return shown(state, seen, reason_of(fired, bool(seen[1])))

    def _seen(self, state: WholePushState) -> tuple[WholePushState, Seen, tuple[str, ...]]:
        """What is seen once the members have finished their work, and the rules that fired."""
        group, (shown, stored) = self._group.look(state.group)
        owners = {
            queue: name
            for name, owned, _ in shown
            for queue in owned
            if not group.members[name].suspended
            and queue not in {number_of(self._topology, paused) for paused in group.members[name].paused}
        }
        topology = self._topology
        # who has a queue is known by a pull that waits
        places = tuple(
            _place(group, None if failing(group, PULL, queue) else owners.get(number_of(topology, queue)), queue)
            for queue in seen_queues(topology, group.broker)
        )
        given = tuple(
            (topology.members.index(name), queue, first, count)
            for name, _, found in shown
            for queue, first, count in found
        )
        fired = dict.fromkeys(rule for why in group.reasons for rule in why.rules)
        return state._replace(group=group), (places, given, stored), tuple(fired)


def shown(state: WholePushState, seen: Value, why: Reason) -> Answer[WholePushState]:
    """An answer, whose reason has the rules beneath it of what happened in the group since the last one."""
    after = state._replace(group=state.group._replace(starts={}, reasons=()))
    return after, seen, with_beneath(why, state.group)


def reason_of(fired: tuple[str, ...], given: bool) -> Reason:
    """Why push consumers show what they show, by the rules that fired; ``given``: were messages given?"""
    fired = tuple(rule for rule in fired if rule.startswith(_SHOWN))
    # what is unusual about one thing alone decides what is seen
    fired = tuple(sorted(fired, key=lambda rule: not rule.startswith("WHOLE-ANS-")))
    if "WHOLE-MOVED-ANEW" in fired:
        first = dict.fromkeys(("WHOLE-MOVED-ANEW", *fired))
        return Reason(tuple(first), "sent elsewhere in vain", quirk=True, either=True)
    if "WHOLE-MOVED" in fired:
        return Reason(fired, "sent elsewhere")
    if "WHOLE-RESET" in fired:
        return Reason(fired, "told an offset")
    if _FAILING.intersection(fired):
        return Reason(fired, "requests fail")
    if "REB-ROUTE-1" in fired:
        return Reason(fired, "the route changes")
    if "WHOLE-LATE" in fired:
        return Reason(fired, "answers are late")
    if "WHOLE-SHARE" in fired:
        return Reason(fired, "queues change hands")
    if given:
        answers = tuple(rule for rule in fired if rule.startswith("WHOLE-ANS-"))
        times = (rule for rule in fired if rule in _TIMES)
        kind = answers[0] if answers else "messages are given"
        return Reason((*answers, "WHOLE-FIRST", "WHOLE-COMMIT", *times), kind)
    if fired:
        return Reason(fired, "nothing is new")
    return _LEFT_BEHIND


def _place(group: WholeGroup, name: str | None, queue: int) -> Value:
    if name is not None and queue not in group.members[name].unlocked:
        return group.topology.members.index(name), group.members[name].pulls[queue]
    return NO_OWNER, NOTHING


def _woken(group: WholeGroup) -> WholeGroup:
    """The group whose members are notified that others come or go."""
    registered = any(member.registered for member in group.members.values())
    return group._replace(reasons=(*group.reasons, _WOKEN)) if registered else group


def _in_order(group: WholeGroup) -> WholeGroup:
    return group._replace(members=dict(sorted(group.members.items())))
