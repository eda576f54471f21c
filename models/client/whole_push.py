"""A group of whole push consumers, as an observer sees it from the traffic at their broker alone (WHOLE-*).

Members join, leave and crash, messages arrive, and the topic gains and loses queues; one kind of request may fail until
it is mended. After each of these the group has time to finish its work, so that an observation depends on no race. What
is seen: who pulls each queue, from which offset that owner waits for the next message, which messages pulls brought to
whom, and the stored offset of each queue. Who lets go of a queue that nobody can take over is still seen there, until a
message ends the pull.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.broker.lifecycle import reopened
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, Topic
from rocketmq_conformance.models.broker.switches import BrokerRules
from rocketmq_conformance.models.client.fixtures import EVERY, GROUP, MEMBERS, NOTHING, QUEUES, TIMESTAMP_TEXT, TOPIC
from rocketmq_conformance.models.client.initial_broker import TIMES, log_of_shape
from rocketmq_conformance.models.client.start import LAST, StartModel
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.client.whole_end import NOT_ENDED, end_reason, ended, with_end
from rocketmq_conformance.models.client.whole_group import WholeGroup, WholeGroupModel, with_starts
from rocketmq_conformance.models.client.whole_locks import crashed
from rocketmq_conformance.models.client.whole_moves import PULL, Fail, Join, Leave, Mend, ResetTo
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

#: "No owner".
NO_OWNER = -1
#: Owner and offset of each queue; messages that pulls brought (member, queue, first offset, messages); the stored
#: offset of each queue.
Seen = tuple[tuple[Value, ...], tuple[tuple[int, int, int, int], ...], tuple[int, ...]]

#: The rules of requests that fail.
_FAILING = frozenset({"WHOLE-LIST", "WHOLE-LOST", "WHOLE-MISTAKEN", "WHOLE-PULL", "WHOLE-UNREAD"})
#: The rules of whole consumers, and of what else their traffic shows.
_SHOWN = ("WHOLE-", "REB-ROUTE-1")
_ROUTED = Reason(("REB-ROUTE-1",), "the route changes")
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


def initial_broker(rules: BrokerRules, setting: Setting) -> BrokerState:
    """The broker of a case before anyone joins."""
    ids = range(setting.queues)
    log = reopened(rules, log_of_shape(setting.shape))
    stored = {} if setting.stored == NOTHING else {(GROUP, TOPIC, number): setting.stored for number in ids}
    topics = {TOPIC: Topic.of(setting.queues)}
    return BrokerState(topics, frozenset({GROUP}), {(TOPIC, number): log for number in ids}, stored)


def initial_group(rules: BrokerRules, setting: Setting, kind: str = PUSH) -> WholeGroup:
    """The group of a case before anyone joins."""
    return WholeGroup(kind, setting.where, initial_broker(rules, setting), TIMESTAMP_TEXT)


class WholePushModel:
    """The observations of a group of consumers of one kind and profile; every method is pure."""

    __slots__ = ("_group", "_kind", "_rules")

    def __init__(self, profile: Profile, kind: str = PUSH) -> None:
        self._kind = kind
        self._group = WholeGroupModel(StartModel(profile))
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

    def join(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member starts, unless it runs."""
        name = MEMBERS[member]
        if name in state.group.members:
            return self._look(state)
        joined = self._group.move(state.group, Join(name))
        return self._look(state._replace(group=_in_order(joined), begun=True))

    def leave(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member is shut down, if it runs."""
        name = MEMBERS[member]
        if name not in state.group.members:
            return self._without_end(state)
        state, seen, why = self._look(state._replace(group=self._group.move(state.group, Leave(name))))
        return state, with_end(seen, ended(self._kind)), end_reason(why, self._kind)

    def crash(self, state: WholePushState, member: int) -> Answer[WholePushState]:
        """A member's process is killed, if it runs: it commits nothing more."""
        return self._look(state._replace(group=crashed(state.group, MEMBERS[member])))

    def send(self, state: WholePushState, queue: int) -> Answer[WholePushState]:
        """A message arrives in a queue, if there is one, or in every queue."""
        broker = state.group.broker
        for number in range(broker.topics[TOPIC].read_queues):
            if queue in (number, EVERY):
                broker = send(self._rules, broker, TOPIC, number, TIMES[-1:])[0]
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
        broker = state.group.broker
        reasons = state.group.reasons
        if broker.topics[TOPIC].read_queues != queues and state.group.members:
            reasons = (*reasons, _ROUTED)
        broker = broker._replace(topics={**broker.topics, TOPIC: Topic.of(queues)})
        return self._look(state._replace(group=state.group._replace(broker=broker, reasons=reasons)))

    def fail(self, state: WholePushState, request: str, code: str) -> Answer[WholePushState]:
        """From now on a request fails, and no other one."""
        group = self._group.move(self._group.move(state.group, Mend()), Fail(request, code))
        return self._look(state._replace(group=group))

    def mend(self, state: WholePushState) -> Answer[WholePushState]:
        """Every request is answered again."""
        return self._look(state._replace(group=self._group.move(state.group, Mend())))

    def look(self, state: WholePushState) -> Answer[WholePushState]:
        """Time passes, a round of rebalance at least."""
        return self._look(state)

    def _without_end(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen where nobody is shut down."""
        state, seen, why = self._look(state)
        return state, with_end(seen, NOT_ENDED), why

    def _begun(self, setting: Setting) -> WholePushState:
        return WholePushState(initial_group(self._rules, setting, self._kind), setting)

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen, and why."""
        state, seen, fired = self._seen(state)
        return shown(state, seen, _reason(tuple(rule for rule in fired if rule.startswith(_SHOWN)), bool(seen[1])))

    def _seen(self, state: WholePushState) -> tuple[WholePushState, Seen, tuple[str, ...]]:
        """What is seen once the members have finished their work, and the rules that fired."""
        group = state.group
        # who ends takes its pulls along
        left = {queue: pull for queue, pull in group.left.items() if pull[0] in group.members}
        group, (shown, stored) = self._group.look(group._replace(left=left))
        owners = {queue: name for name, owned, _ in shown for queue in owned}
        if PULL in group.fails:
            # who has a queue is known by a pull that waits
            owners = {}
        count = group.broker.topics[TOPIC].read_queues
        places = tuple(_place(group, owners.get(number), number) for number in range(count))
        given = tuple(
            (MEMBERS.index(name), queue, first, count) for name, _, found in shown for queue, first, count in found
        )
        fired = dict.fromkeys(rule for why in group.reasons for rule in why.rules)
        return state._replace(group=group._replace(reasons=())), (places, given, stored), tuple(fired)


def shown(state: WholePushState, seen: Value, why: Reason) -> Answer[WholePushState]:
    """An answer, whose reason has the rules beneath it by which queues began since the last one."""
    return state._replace(group=state.group._replace(starts={})), seen, with_starts(why, state.group.starts)


def _reason(fired: tuple[str, ...], given: bool) -> Reason:
    if "WHOLE-MOVED" in fired:
        return Reason(fired, "sent elsewhere")
    if "WHOLE-RESET" in fired:
        return Reason(fired, "told an offset")
    if _FAILING.intersection(fired):
        return Reason(fired, "requests fail")
    if "REB-ROUTE-1" in fired:
        return Reason(fired, "the route changes")
    if "WHOLE-SHARE" in fired:
        return Reason(fired, "queues change hands")
    if given:
        return Reason(("WHOLE-FIRST", "WHOLE-COMMIT"), "messages are given")
    if fired:
        return Reason(fired, "nothing is new")
    return _LEFT_BEHIND


def _place(group: WholeGroup, name: str | None, number: int) -> Value:
    at = next(at for at, queue in enumerate(QUEUES) if queue.topic == TOPIC and queue.id == number)
    if name is not None and at not in group.members[name].unlocked:
        return MEMBERS.index(name), group.members[name].pulls[at]
    holder, offset = group.left.get(at, ("", NOTHING))
    # a message that arrives ends the wait, and is not consumed
    if holder and offset == group.broker.logs.get((TOPIC, number), ABSENT).max:
        return MEMBERS.index(holder), offset
    return NO_OWNER, NOTHING


def _in_order(group: WholeGroup) -> WholeGroup:
    return group._replace(members=dict(sorted(group.members.items())))
