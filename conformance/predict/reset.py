"""What a reset does, queue by queue: to a group that is stopped and to members that run, by release of the broker.

The request is that of `mqadmin resetOffsetByTime`, `mqadmin skipAccumulatedMessage` and the dashboard: the whole topic,
with force. They ask one broker after the other, in the order of the route, and end at the first that refuses. A broker
that only resets by way of members refuses when there are none (CONSUMER_NOT_ONLINE); the tools then commit for each
queue of every broker themselves. Every answer is the models'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rocketmq_conformance.conformance.predict.facts import GRPC, LITE, POP, BrokerFacts, GroupFacts, QueueFacts
from rocketmq_conformance.conformance.predict.model_state import ModelQueue, broker_profile, model_queue
from rocketmq_conformance.conformance.predict.releases import RELEASES, grouped
from rocketmq_conformance.conformance.predict.start import PredictError
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.reset import OFFLINE, ResetRequest, reset
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.release import Release

#: Where a reset leads: max, min, or where a search for a time leads.
END, BEGINNING, AT_TIME = "end", "beginning", "time"
#: Who moves the group: the broker, its members, or the tool that asked, by commits. Or the broker refuses it.
BY_BROKER, BY_MEMBERS, BY_TOOL, REFUSED = "the broker", "the members", "the tool", "refused"
#: The error of a slave, which is asked when its master is gone (AdminBrokerProcessor#resetOffsetInner).
OF_SLAVE = "SYSTEM_ERROR of a slave"
#: The tool has ended before it came to this broker.
NOT_ASKED = "not asked"
#: Some consumers are asked to reset, and ignore it: lite pull consumers (WHOLE-RESET-LITE), and those that pop, whose
#: table of queues has none to reset (MQClientInstance#resetOffset @ 5.5.0).
IGNORED = "ignored"
IGNORING = {LITE: "lite pull consumers", POP: "consumers that pop", GRPC: "clients behind the proxy"}
#: No message is older, and to a broker a negative time means max.
_TIMES = {END: -1, BEGINNING: 0}
PLACES = {END: "max", BEGINNING: "min", AT_TIME: "that time"}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueReset:
    """What a reset does to one queue. Offsets in messages."""

    facts: QueueFacts
    #: Who moves it: BY_BROKER, BY_MEMBERS, BY_TOOL; or REFUSED, NOT_ASKED or IGNORED.
    way: str
    #: Why it is refused; "" when it is not.
    error: str = ""
    #: The kind of the group's consumers, if that is known.
    kind: str = ""
    #: Where the group stands afterwards; None when it stays where it is, or that is not known.
    after: int | None
    rules: tuple[str, ...]

    @property
    def repeats(self) -> int:
        """Messages that are consumed again; 0 for a group without a stored offset."""
        before = self.facts.stored
        return 0 if before is None or self.after is None else self.facts.kept(self.after, before)

    @property
    def skips(self) -> int:
        """Messages that are there and are skipped; 0 for a group without a stored offset."""
        before = self.facts.stored
        return 0 if before is None or self.after is None else self.facts.kept(before, self.after)

    @property
    def lag(self) -> int | None:
        """Messages that are there to be consumed afterwards; None where it is not known."""
        return None if self.after is None else self.facts.kept(self.after, self.facts.max)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetPrediction:
    """A reset of one topic, and what brokers of other releases would make of it."""

    facts: GroupFacts
    topic: str
    #: END, BEGINNING or AT_TIME.
    target: str
    #: Is any member of the group connected?
    online: bool
    queues: tuple[QueueReset, ...]
    #: (range of broker releases, what they do).
    others: tuple[tuple[str, str], ...]

    @property
    def ways(self) -> tuple[str, ...]:
        """Who moves the group, by every broker."""
        return tuple(dict.fromkeys(queue.way for queue in self.queues))

    @property
    def made(self) -> bool:
        """Is it made in every queue?"""
        return not {REFUSED, NOT_ASKED, IGNORED} & set(self.ways)

    @property
    def repeats(self) -> int:
        """Messages that are consumed again, in all queues."""
        return sum(queue.repeats for queue in self.queues)

    @property
    def skips(self) -> int:
        """Messages that are there and are skipped, in all queues."""
        return sum(queue.skips for queue in self.queues)

    @property
    def lag(self) -> int:
        """Messages that are there to be consumed afterwards, in all queues where that is known."""
        return sum(queue.lag or 0 for queue in self.queues)


def predict_reset(
    facts: GroupFacts, topic: str, target: str, online: bool | None = None, others: bool = True
) -> ResetPrediction:
    """The prediction, with members as they are unless ``online`` says otherwise, and for ``others``: brokers of other
    releases. PredictError when the topic is not there, or a reset to a time is asked for and no search was made."""
    here = facts.only(topic)
    if not here.queues:
        raise PredictError(f"There is no topic {topic!r} in what is known of the group {facts.group}.")
    if target == AT_TIME and any(queue.found is None for queue in here.queues):
        raise PredictError("No search for that time was made: ask a cluster, or name the time that the file is about.")
    if online is None and facts.members_unread:
        raise PredictError(
            f"Brokers do not show the group's members ({facts.members_unread}): say --online or --offline."
        )
    hiding = {broker.name for broker in here.brokers if broker.hides_offsets}
    if unsure := next((queue for queue in here.queues if queue.broker in hiding and queue.stored == 0), None):
        raise PredictError(
            f"Broker {unsure.broker} does not show stored offsets, and answers 0: whether the group has one decides "
            "whether a reset is refused, so use an account that may read them."
        )
    running = bool(facts.members) if online is None else online
    every = [release for release in RELEASES if not release.stage] if others else []
    return ResetPrediction(
        facts=here,
        topic=topic,
        target=target,
        online=running,
        queues=reset_queues(here, target, running),
        others=grouped(
            every, lambda release: summary_of_reset(reset_queues(_on(here, release), target, running), target)
        ),
    )


def reset_queues(facts: GroupFacts, target: str, online: bool) -> tuple[QueueReset, ...]:
    """What a reset does to the queues of one topic, in the order in which their brokers are asked."""
    found: list[QueueReset] = []
    commits = False
    for broker in facts.brokers:
        queues = [model_queue(queue) for queue in facts.queues if queue.broker == broker.name]
        if REFUSED in (each.way for each in found):
            found += [QueueReset(facts=each.facts, way=NOT_ASKED, after=None, rules=()) for each in queues]
        elif queues:
            made = _reset(facts, broker, queues, target, online, commits)
            found += made
            # what brokers before have moved is committed again, to the same place
            commits = commits or made[0].way == BY_TOOL
    return tuple(found)


def _on(facts: GroupFacts, release: Release) -> GroupFacts:
    """The same on brokers of another release with its default configuration."""
    brokers = (replace(broker, release=str(release), configuration={}) for broker in facts.brokers)
    return replace(facts, brokers=tuple(brokers))


def summary_of_reset(resets: tuple[QueueReset, ...], target: str) -> str:
    """Who moves the group and where to, in a few words."""
    found = []
    for each in resets:
        if each.way == REFUSED:
            found.append(f"refused ({each.error})")
        elif each.way == IGNORED:
            found.append(f"ignored by its {IGNORING[each.kind]}")
        elif each.way == NOT_ASKED:
            found.append("not asked")
        else:
            found.append(f"by {each.way}{'' if each.after is None else f' to {PLACES[target]}'}")
    return ", ".join(dict.fromkeys(found))


def _reset(
    facts: GroupFacts, broker: BrokerFacts, queues: list[ModelQueue], target: str, online: bool, commits: bool
) -> list[QueueReset]:
    """What a broker makes of it, or of commits alone where the tool ``commits``."""
    rules = BrokerRules.of(broker_profile(broker))
    if broker.slave and rules.server_reset and not commits:
        return [QueueReset(facts=each.facts, way=REFUSED, error=OF_SLAVE, after=None, rules=()) for each in queues]
    topic, group = queues[0].facts.topic, facts.group
    if target == BEGINNING:
        queues = [replace(queue, facts=replace(queue.facts, found=queue.facts.min)) for queue in queues]
    time = _TIMES.get(target, facts.time or 0)
    state = _state(group, topic, queues, time, broker.knows_group is not False)
    if commits:
        return [_committed(rules, state, group, queue, target, ()) for queue in queues]
    after, answer, why = reset(rules, state, ResetRequest(group, topic, time), online)
    if isinstance(answer, Err) and answer != OFFLINE:
        return [
            QueueReset(facts=queue.facts, way=REFUSED, error=answer.code, after=None, rules=why.rules)
            for queue in queues
        ]
    if isinstance(answer, Err):
        return [_committed(rules, state, group, queue, target, why.rules) for queue in queues]
    assert isinstance(answer, tuple)
    pairs, pushed = answer
    assert isinstance(pairs, tuple)
    offsets = {pair[0]: pair[1] for pair in pairs if isinstance(pair, tuple)}
    way = BY_BROKER if pushed is None else IGNORED if facts.kind in IGNORING else BY_MEMBERS
    found = []
    for queue in queues:
        if way == IGNORED:
            also = ("WHOLE-RESET-LITE",) if facts.kind == LITE else ()
            found.append(
                QueueReset(
                    facts=queue.facts, way=way, kind=facts.kind, after=queue.facts.stored, rules=(*why.rules, *also)
                )
            )
            continue
        number = offsets.get(queue.facts.queue)
        if way == BY_BROKER:
            asked = query_offset(rules, after, group, topic, queue.facts.queue)[1]
            number = asked if isinstance(asked, int) else None
        place = queue.offset(number) if isinstance(number, int) else None
        sent_there = ("LP-ILLEGAL",) if way == BY_BROKER and online and facts.kind == LITE else ()
        found.append(QueueReset(facts=queue.facts, way=way, after=place, rules=(*why.rules, *sent_there)))
    return found


def _committed(
    rules: BrokerRules, state: BrokerState, group: str, queue: ModelQueue, target: str, because: tuple[str, ...]
) -> QueueReset:
    """The tool commits the offset that the time leads to, once the broker has answered that no member is online."""
    facts = queue.facts
    to = {END: facts.max, BEGINNING: facts.min}.get(target, facts.found)
    assert to is not None  # a search was made
    after, refused, why = commit_offset(rules, state, group, facts.topic, facts.queue, queue.number(to))
    if isinstance(refused, Err):
        return QueueReset(facts=facts, way=REFUSED, error=refused.code, after=None, rules=(*because, *why.rules))
    asked = query_offset(rules, after, group, facts.topic, facts.queue)[1]
    assert isinstance(asked, int)  # it was just stored
    return QueueReset(facts=facts, way=BY_TOOL, after=queue.offset(asked), rules=(*because, *why.rules))


def _state(group: str, topic: str, queues: list[ModelQueue], time: int, known: bool) -> BrokerState:
    """A broker with the queues of one topic."""
    count = 1 + max(queue.facts.queue for queue in queues)
    stored = [queue for queue in queues if queue.facts.stored is not None]
    return BrokerState(
        topics={topic: Topic.of(count)},
        groups=frozenset({group} if known else ()),
        logs={(topic, queue.facts.queue): queue.log(time, True) for queue in queues},
        stored={(group, topic, queue.facts.queue): queue.number(queue.facts.stored or 0) for queue in stored},
    )
