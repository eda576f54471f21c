"""A group of whole push consumers that subscribe to another topic while they run, as their traffic shows it.

All members subscribe together, and unsubscribe together (WHOLE-SUBSCRIBE); who starts while they are subscribed is
subscribed from its start. Groups whose members subscribe to different topics are left out: a broker knows the
subscriptions of the heartbeat that came last, and queues are divided among all members, whatever they subscribe to. Who
is refused a pull, and for how long, depends there on whose timer was last.

One kind of request may fail for one topic alone, while both are subscribed to (WHOLE-ANS-ALONE).

Both topics begin alike. Queues have numbers of their own: those of the other topic come after those of the first one.
"""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.client.initial_broker import TIMES
from rocketmq_conformance.models.client.lone_answers import beside, way_of
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_group_state import WholeGroup, number_of, seen_queues
from rocketmq_conformance.models.client.whole_moves import OTHER_QUEUES, ROUTE, Fail, Subscribe, Unsubscribe
from rocketmq_conformance.models.client.whole_push import Setting, WholePushModel, WholePushState, reason_of, shown
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.rule import Answer, Reason

_BEGUN = ("WHOLE-SUBSCRIBE", "REB-SUB-1", "REB-SUB-BEAT")
_ENDED = ("WHOLE-SUBSCRIBE", "REB-SUB-1", "REB-TRUNC-1", "TIMER-BEAT")


def is_subscribed(group: WholeGroup) -> bool:
    """Do members subscribe to the other topic?"""
    return group.topology.other_topic not in group.unsubscribed


def may_fail(state: object) -> bool:
    """Are both topics subscribed to by a member that runs?"""
    return isinstance(state, WholePushState) and bool(state.group.members) and is_subscribed(state.group)


def may_join(state: object) -> bool:
    """Are all routes answered? Without one a member does not know the queues that the others leave to it."""
    return isinstance(state, WholePushState) and ROUTE not in state.group.fails


def is_mended(state: object) -> bool:
    """Does no request fail?"""
    return isinstance(state, WholePushState) and not state.group.fails


def with_other_topic(topology: Topology, broker: BrokerState) -> BrokerState:
    """A broker with a topic that has another one, too, whose queues and stored offsets are like those of the first."""
    group, topic, other = topology.group, topology.topic, topology.other_topic
    ids = range(len(topology.topic_queues[other]))
    log, stored = broker.logs[topic, 0], broker.stored.get((group, topic, 0))
    return broker._replace(
        topics={**broker.topics, other: Topic.of(len(ids))},
        logs={**broker.logs, **{(other, number): log for number in ids}},
        stored={**broker.stored, **({(group, other, number): stored for number in ids} if stored else {})},
    )


def subscribing(group: WholeGroup) -> WholeGroup:
    """A group that has another topic at its broker, to which no member subscribes yet."""
    broker = with_other_topic(group.topology, group.broker)
    return group._replace(broker=broker, unsubscribed=frozenset({group.topology.other_topic}))


class WholeSubscriptionsModel(WholePushModel):
    """The observations of a group of consumers of one profile; every method is pure."""

    __slots__ = ()

    def choose(self, state: WholePushState, shape: str, stored: int, where: str) -> Answer[WholePushState]:
        """Choose how the case begins; nothing happens once a member has joined."""
        after, result, why = self.prepare(state, OTHER_QUEUES, shape, stored, where)
        if not state.begun and is_subscribed(state.group):
            # that was said before
            after = after._replace(group=after.group._replace(unsubscribed=frozenset()))
        return after, result, why

    def send(self, state: WholePushState, queue: int) -> Answer[WholePushState]:
        """A message arrives in a queue, or in every queue."""
        broker = state.group.broker
        for at in seen_queues(self._topology, broker):
            if queue in (number_of(self._topology, at), EVERY):
                broker = send(self._rules, broker, *self._topology.places[at], TIMES[-1:])[0]
        return self._look(state._replace(group=state.group._replace(broker=broker)))

    def subscribe(self, state: WholePushState) -> Answer[WholePushState]:
        """Members subscribe to the other topic from now on, unless they do."""
        if is_subscribed(state.group):
            return self._look(state)
        state = state._replace(group=self._group.move(state.group, Subscribe()))
        return self._because(_BEGUN, "subscribed", state)

    def unsubscribe(self, state: WholePushState) -> Answer[WholePushState]:
        """Members do not subscribe to the other topic any more, if they did."""
        if not is_subscribed(state.group):
            return self._look(state)
        state = state._replace(group=self._group.move(state.group, Unsubscribe()))
        return self._because(_ENDED, "unsubscribed", state)

    def fail_of(self, state: WholePushState, topic: int, request: str) -> Answer[WholePushState]:
        """From now on a request about one topic is refused, and no other one."""
        move = Fail(request, among=tuple(self._queues_of(topic)))
        group = self._mended(state.group, but=request)
        return self._look(state._replace(group=self._group.move(group, move)))

    def mend(self, state: WholePushState) -> Answer[WholePushState]:
        """Every request is answered again."""
        mended, seen, why = super().mend(state)
        for move in state.group.fails.values() if state.group.members else ():
            rules = dict.fromkeys((*way_of(move).rules, *why.rules))
            why = replace(why, rules=tuple(rules), kind=f"answered again: {move.request}")
        return mended, seen, why

    def _queues_of(self, topic: int) -> range:
        """The numbers of the queues of a topic, by its number."""
        others = len(self._topology.topic_queues[self._topology.other_topic])
        return range(OTHER_QUEUES, OTHER_QUEUES + others) if topic else range(OTHER_QUEUES)

    def _because(self, rules: tuple[str, ...], kind: str, state: WholePushState) -> Answer[WholePushState]:
        """What is seen after members were given a command, if there are any."""
        state, seen, why = self._look(state)
        if not state.group.members:
            return state, seen, why
        assert isinstance(seen, tuple)
        kind += " among several" if len(state.group.members) > 1 else ""
        if seen[1]:
            rules, kind = (*rules, "WHOLE-FIRST", "WHOLE-COMMIT"), f"{kind}, and given messages"
        return state, seen, replace(why, rules=tuple(dict.fromkeys((*rules, *why.rules))), kind=kind)

    def _begun(self, setting: Setting) -> WholePushState:
        state = super()._begun(setting)
        return state._replace(group=subscribing(state.group))

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen of push consumers, then the numbers of the topics that each member's heartbeats name."""
        state, seen, fired = self._seen(state)
        group = state.group
        topics: tuple[Value, ...] = (0, 1) if is_subscribed(group) else (0,)
        said = tuple(topics if name in group.members else () for name in self._topology.members)
        why = reason_of(fired, bool(seen[1]))
        if group.members and is_subscribed(group):
            why = _also(why, "of both topics")
        elif group.members and self._waits(state):
            why = _also(why, "and messages of the other topic wait")
        lone = [rule for rule in why.rules if rule.startswith("WHOLE-ANS-")]
        for request in group.fails if lone else ():
            kind = f"{request} fails for one topic{beside(group.reasons)}"
            why = replace(why, rules=tuple(dict.fromkeys((*lone, *why.rules))), kind=kind)
        return shown(state, (*seen, said), why)

    def _waits(self, state: WholePushState) -> bool:
        """Do messages wait in a queue of the other topic that members have consumed?"""
        broker, first = state.group.broker, state.setting.stored
        topology = self._topology
        queues = topology.topic_queues[topology.other_topic]
        consumed = {queue: broker.stored.get(topology.stored_keys[queue], NOTHING) for queue in queues}
        return any(first != offset < broker.logs[topology.places[queue]].max for queue, offset in consumed.items())


def _also(why: Reason, kind: str) -> Reason:
    """A reason that is also one of subscriptions."""
    rules = (rule for rule in why.rules if rule != "WHOLE-SUBSCRIBE")
    return replace(why, rules=("WHOLE-SUBSCRIBE", *rules), kind=f"{why.kind}, {kind}")
