"""The commands that make a group start at the end, at the beginning, or at a time, and what they do where it runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rocketmq_conformance.conformance.predict.facts import (
    BROADCASTING,
    GRPC,
    LITE,
    ORDERLY,
    PULL,
    GroupFacts,
    retry_topic,
)
from rocketmq_conformance.conformance.predict.reset import (
    AT_TIME,
    BEGINNING,
    BY_BROKER,
    BY_MEMBERS,
    BY_TOOL,
    END,
    IGNORED,
    IGNORING,
    OF_SLAVE,
    PLACES,
    REFUSED,
    QueueReset,
    reset_queues,
)
from rocketmq_conformance.conformance.predict.start import Consumer, refuses_name
from rocketmq_conformance.models.client.switches import RESETS_AT_ONCE
from rocketmq_conformance.models.release import Release

#: The first release whose mqadmin has skipAccumulatedMessage; it also works on older brokers.
SKIPPING = "4.9.3"
#: The first release whose mqadmin asks brokers for the settings of topics (GET_TOPIC_CONFIG) when it copies offsets.
ASKS_FOR_TOPICS = Release(5, 0, 0)
#: How long a broker holds a pull of a lite pull consumer that finds nothing (s; brokerSuspendMaxTimeMillis).
LITE_HELD = 20
_STOP = "stop them first, as the broker asks members that are connected to reset instead"
#: A group that never committed, as the name of one that did.
DONOR = "OTHER_GROUP"
_CLONES = (
    "copies the offsets of a group, of all topics that it consumed, whatever -t says, and 0 of queues where it stored "
    "none: name one that consumes this topic alone and has consumed every queue; without any offsets this release "
    "refuses a reset"
)
_CLONED_BY = f" (mqadmin before {ASKS_FOR_TOPICS}: a later one asks for what these brokers do not know)"
#: Why a broker refuses a reset, and the words that mqadmin prints, by its error.
REFUSALS = {
    "SYSTEM_ERROR": 'a queue has no stored offset (mqadmin: "THe consumer group <{group}> not exist")',
    "SUBSCRIPTION_GROUP_NOT_EXIST": 'the broker does not know the group (mqadmin: "Group {group} does not exist")',
    OF_SLAVE: 'its master is gone (mqadmin: "Can not reset offset in slave broker")',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """How a group is brought to another place of a topic."""

    topic: str
    #: END, BEGINNING or AT_TIME.
    target: str
    #: The commands, in their order, each with what it does.
    commands: tuple[tuple[str, str], ...]
    #: What happens to consumers that run.
    running: str


def every_remedy(facts: GroupFacts, consumer: Consumer) -> tuple[Remedy, ...]:
    """For every topic whose starts a reset moves: not for retry topics, for offset files, or for pull consumers, or for
    groups whose name the client refuses."""
    if consumer.model == BROADCASTING or consumer.kind == PULL or refuses_name(consumer.client, facts.group):
        return ()
    again = {retry_topic(facts.group), *facts.came_back}
    topics = (topic for topic in facts.topics if topic not in again)
    return tuple(remedy for topic in topics for remedy in remedies(facts, topic, consumer))


def remedies(facts: GroupFacts, topic: str, consumer: Consumer) -> tuple[Remedy, ...]:
    """For every target, by the model's answers to the resets that the commands ask for."""
    here = replace(facts.only(topic), kind=consumer.kind)
    targets = (END, BEGINNING, AT_TIME) if facts.time is not None else (END, BEGINNING)
    return tuple(_remedy(here, topic, target, consumer) for target in targets)


def command_of(facts: GroupFacts, topic: str, target: str) -> str:
    """The command of mqadmin that asks for a reset."""
    names = f"{_at(facts)} -g {shlex.quote(facts.group)} -t {shlex.quote(topic)}"
    if target == END:
        return f"mqadmin skipAccumulatedMessage {names}"
    return f"mqadmin resetOffsetByTime {names} -s {0 if target == BEGINNING else facts.time}"


def _at(facts: GroupFacts) -> str:
    """The option that names the cluster's name servers."""
    return f"-n {shlex.quote(facts.name_servers) if facts.name_servers else 'NAMESRV'}"


def refusal(error: str, group: str) -> str:
    """Why a broker refuses a reset of a group."""
    return f"{error}, {REFUSALS[error].format(group=group)}" if error in REFUSALS else error


def effects_on_members(resets: Sequence[QueueReset], consumer: Consumer) -> str:
    """What a reset does to consumers that run: by broker, where that differs."""
    said: dict[str, dict[str, None]] = {}
    for each in resets:
        said.setdefault(effect_on_members(each.way, consumer), {})[each.facts.broker] = None
    if len(said) == 1:
        return next(iter(said))
    return "; ".join(f"in queues of {', '.join(brokers)}: {effect}" for effect, brokers in said.items())


def effect_on_members(way: str, consumer: Consumer) -> str:
    """What a reset does to consumers that run, by who makes it."""
    if way == IGNORED:
        by = " (WHOLE-RESET-LITE)" if consumer.kind == LITE else ""
        return f"running {IGNORING[consumer.kind]} ignore the request, and nothing is moved{by}"
    if consumer.pops and way in {BY_BROKER, BY_TOOL}:
        first = "" if way == BY_BROKER or consumer.kind == GRPC else f"{_STOP}; "
        return f"{first}the next pop begins there, and what is in flight still comes back"
    if way == BY_MEMBERS:
        # W01 is about orderly consumers
        at_once = consumer.kind == ORDERLY and RESETS_AT_ONCE.on(consumer.client)
        wait = "once its listener has returned" if at_once else "about 10 s later"
        return f"running members drop the queues and begin there {wait}"
    if way == BY_BROKER and consumer.kind == LITE:
        return (
            f"running lite pull consumers go there once their pull under way has ended, within {LITE_HELD} s, and "
            "commit the offset that they had before until they have polled from there (LP-ILLEGAL); what they have "
            "cached is polled all the same, and where that comes again it is not committed until another message "
            "arrives"
        )
    if way == BY_BROKER:
        return "the next pull of running members is sent there, and what they commit before it is discarded"
    if way == BY_TOOL:
        return _STOP
    return "nothing"


def _remedy(facts: GroupFacts, topic: str, target: str, consumer: Consumer) -> Remedy:
    commands: list[tuple[str, str]] = []
    if any(broker.knows_group is False for broker in facts.brokers):
        lacking = (broker.cluster for broker in facts.brokers if broker.knows_group is False)
        for cluster in sorted(set(lacking)):
            where = f"{_at(facts)} -c {shlex.quote(cluster) if cluster else 'CLUSTER'}"
            commands.append(
                (
                    f"mqadmin updateSubGroup {where} -g {shlex.quote(facts.group)}",
                    "creates the group, which must be there first",
                )
            )
        facts = replace(facts, brokers=tuple(replace(broker, knows_group=True) for broker in facts.brokers))
    online = bool(facts.members)
    found = reset_queues(facts, target, online)
    errors = {each.error for each in found if each.way == REFUSED}
    if "SYSTEM_ERROR" in errors:
        commands.append(
            (
                f"mqadmin cloneGroupOffset {_at(facts)} -s {DONOR} -d {shlex.quote(facts.group)} "
                f"-t {shlex.quote(topic)} -o true",
                _CLONES
                + (_CLONED_BY if any(Release.parse(one.release) < ASKS_FOR_TOPICS for one in facts.brokers) else ""),
            )
        )
        facts = replace(
            facts,
            queues=tuple(replace(queue, stored=queue.max) if queue.stored is None else queue for queue in facts.queues),
        )
        found = reset_queues(facts, target, online)
        errors = {each.error for each in found if each.way == REFUSED}
    ways = tuple(dict.fromkeys(each.way for each in found))
    if errors:
        effect = "; ".join(f"is refused: {refusal(error, facts.group)}" for error in sorted(errors))
    elif IGNORED in ways:
        effect = f"is ignored by its {IGNORING[consumer.kind]}: stop them first"
    else:
        by = " and ".join(ways)
        effect = f"{by} {'moves' if len(ways) == 1 else 'move'} every queue to {PLACES[target]}"
        if BY_TOOL in ways:
            effect += " by commits, because no member is online"
    note = f" (mqadmin {SKIPPING} or later)" if target == END else ""
    commands.append((command_of(facts, topic, target), effect + note))
    return Remedy(topic=topic, target=target, commands=tuple(commands), running=effects_on_members(found, consumer))
