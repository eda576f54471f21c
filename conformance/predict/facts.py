"""What is known about a group and its cluster: read from it, or from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from rocketmq_conformance.conformance.engine.documents import json_of, what_is_wrong
from rocketmq_conformance.models.client.start import DEPRECATED, FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.given_file import text_of

#: The form of a file of facts.
FORMAT = 1
PUSH, ORDERLY, LITE, PULL, POP, GRPC = KINDS = ("push", "orderly", "lite", "pull", "pop", "grpc")
#: Consumers whose broker decides where they start: push consumers in POP mode, and clients behind the gRPC proxy.
POPPING = frozenset({POP, GRPC})
CLUSTERING, BROADCASTING = MODELS = ("clustering", "broadcasting")

WHERES = (LAST, FIRST, TIMESTAMP, *DEPRECATED)
#: A broker has no more queues of a topic: what says so is damaged, or means harm.
MOST_QUEUES = 10_000
#: Topics of a group that are predicted at once: more are nothing that a person reads.
MOST_TOPICS = 10_000

Facts = TypeVar("Facts", bound="GroupFacts | QueueFacts | BrokerFacts | MemberFacts")


class FactsError(ValueError):
    """A file of facts cannot be read; one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFacts:
    """One queue as its broker shows it. Offsets in messages, times in ms since the epoch."""

    topic: str
    broker: str
    queue: int
    min: int
    max: int
    #: Store time of the message at min; -1 for none.
    earliest: int = -1
    #: What the broker answers to the group's query; None is QUERY_NOT_FOUND.
    answer: int | None
    #: The group's stored offset; None for none.
    stored: int | None
    #: What a search for ``GroupFacts.time`` finds; None when none was made.
    found: int | None = None

    @property
    def oldest(self) -> int:
        """Offset of the oldest message that is there; max when none is: min may stay behind then."""
        return self.max if self.earliest < 0 else self.min

    def kept(self, begin: int, end: int) -> int:
        """How many messages are there from one offset up to another one."""
        return max(min(end, self.max) - max(begin, self.oldest), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerFacts:
    """One broker."""

    name: str
    release: str
    #: Its properties that switch rules and are off their default.
    configuration: Mapping[str, str] = field(default_factory=dict)
    #: Why its properties are not known; "" when they are.
    unread: str = ""
    #: Properties off their default that change answers in ways that the model does not have.
    doubts: tuple[str, ...] = ()
    #: Does it hide stored offsets? Then a stored 0 and an answer of 0 look the same.
    hides_offsets: bool = False
    #: Does it know the group? None when it does not show its groups.
    knows_group: bool | None = None
    #: The cluster that it belongs to; "" when not known.
    cluster: str = ""
    #: Is its master gone, so that a slave was read?
    slave: bool = False
    #: The property by which it keeps pops in memory or in RocksDB; "" where it does not.
    keeps_pops: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberFacts:
    """One member of the group that is connected: its client id, and its release ("" when not known)."""

    client: str
    release: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFacts:
    """A group, the brokers of its topics, and their queues."""

    group: str
    #: In the order of the topics' routes, in which tools ask them.
    brokers: tuple[BrokerFacts, ...]
    queues: tuple[QueueFacts, ...]
    members: tuple[MemberFacts, ...] = ()
    #: Why the members are not known; "" when they are.
    members_unread: str = ""
    #: How its members consume, as their heartbeats say: "" without members.
    kind: str = ""
    model: str = ""
    where: str = ""
    #: The time (ms since the epoch) that ``QueueFacts.found`` is about.
    time: int | None = None
    #: When it was read (ISO 8601).
    read: str = ""
    #: The name servers that it was read by, as a command names them; "" when not known.
    name_servers: str = ""
    #: Topics that brokers give to the group in POP mode, to consumers that leave the allocation to them.
    pops: tuple[str, ...] = ()

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, in the order of their queues."""
        return tuple(dict.fromkeys(queue.topic for queue in self.queues))

    @property
    def came_back(self) -> tuple[str, ...]:
        """The topics of messages that were popped, not acknowledged in time, and came back."""
        known = {name for topic in self.topics for name in pop_retry_topics(self.group, topic)}
        return tuple(topic for topic in self.topics if topic in known)

    def broker(self, name: str) -> BrokerFacts:
        """The broker of a name."""
        return next(broker for broker in self.brokers if broker.name == name)

    def only(self, topic: str) -> GroupFacts:
        """The same with the queues of one topic."""
        return replace(self, queues=tuple(queue for queue in self.queues if queue.topic == topic))


def retry_topic(group: str) -> str:
    """The topic of a group's messages that are to be retried."""
    return f"%RETRY%{group}"


def pop_retry_topics(group: str, topic: str) -> tuple[str, ...]:
    """The topics in which messages of a topic come back to a group that pops: that of the default, and that of
    enableRetryTopicV2."""
    return f"{retry_topic(group)}_{topic}", f"{retry_topic(group)}+{topic}"


def masked(facts: GroupFacts) -> GroupFacts:
    """The same with other names: of the group, its topics, brokers and members; and without name servers."""
    names = {facts.group: "group", retry_topic(facts.group): retry_topic("group")}
    own = [topic for topic in facts.topics if topic not in facts.came_back]
    for kind, every in (
        ("topic", own),
        ("broker", [broker.name for broker in facts.brokers]),
        # equal client ids stay equal
        ("member", [member.client for member in facts.members]),
    ):
        fresh = [name for name in dict.fromkeys(every) if name not in names]
        names |= {name: f"{kind}-{number}" for number, name in enumerate(sorted(fresh))}
    for topic in own:
        shown = pop_retry_topics("group", names[topic])
        names |= dict(zip(pop_retry_topics(facts.group, topic), shown, strict=True))
    return replace(
        facts,
        group="group",
        name_servers="",
        pops=tuple(names[topic] for topic in facts.pops),
        brokers=tuple(replace(broker, name=names[broker.name], cluster="") for broker in facts.brokers),
        queues=tuple(replace(queue, topic=names[queue.topic], broker=names[queue.broker]) for queue in facts.queues),
        members=tuple(replace(member, client=names[member.client]) for member in facts.members),
    )


def to_json(facts: GroupFacts) -> str:
    """The text of a file of facts."""
    return json.dumps({"format": FORMAT, **asdict(facts)}, indent=1) + "\n"


def read_file(path: Path) -> GroupFacts:
    """The facts in a file; FactsError with a sentence when they cannot be read."""
    try:
        data = json_of(text_of(path))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise FactsError(f"{path} cannot be read ({why}): name a file that `predict state` wrote.") from error
    except ValueError as error:
        raise FactsError(f"{path} is no JSON ({error}): name a file that `predict state` wrote.") from error
    try:
        return _parsed(data)
    except (KeyError, TypeError, ValueError) as error:
        raise FactsError(f"{path} is no file of `predict state` ({what_is_wrong(error)}): write it again.") from error


def _parsed(data: Any) -> GroupFacts:
    if not isinstance(data, dict):
        raise TypeError("it holds no object")
    if data.pop("format") != FORMAT:
        raise ValueError(f"it is not of format {FORMAT}")
    made = _fact(
        GroupFacts,
        {
            **data,
            "brokers": tuple(
                _fact(BrokerFacts, {**each, "doubts": tuple(each.get("doubts", ()))}) for each in data["brokers"]
            ),
            "queues": tuple(_fact(QueueFacts, each) for each in data["queues"]),
            "members": tuple(_fact(MemberFacts, each) for each in data.get("members", ())),
            "pops": tuple(data.get("pops", ())),
        },
    )
    for name, known in (("kind", KINDS), ("model", MODELS), ("where", WHERES)):
        if getattr(made, name) not in {"", *known}:
            raise ValueError(f"its {name} is {getattr(made, name)!r}, and none of {', '.join(known)}")
    for release in (*(one.release for one in made.brokers), *(one.release for one in made.members if one.release)):
        Release.parse(release)
    names = {broker.name for broker in made.brokers}
    for queue in made.queues:
        if queue.broker not in names:
            raise ValueError(f"the broker {queue.broker!r} of a queue is missing")
        if not 0 <= queue.queue < MOST_QUEUES:
            raise ValueError(f"{queue.topic!r} has a queue {queue.queue}")
        if not 0 <= queue.min <= queue.max:
            raise ValueError(f"queue {queue.queue} of {queue.topic!r} has min {queue.min} and max {queue.max}")
    return made


def _fact(kind: type[Facts], data: Any) -> Facts:
    if not isinstance(data, dict):
        raise TypeError(f"{data!r:.60} is no object")
    unknown = set(data) - {each.name for each in fields(kind)}
    if unknown:
        raise TypeError(f"{sorted(unknown)[0]!r} is no field of it")
    hints = get_type_hints(kind)
    wrong = [name for name, value in data.items() if not _fits(hints[name], value)]
    if wrong:
        raise TypeError(f"{wrong[0]!r} of it cannot be {data[wrong[0]]!r:.60}")
    return kind(**data)


def _fits(hint: Any, value: object) -> bool:
    """Is a value of the type of a field? ``True`` is no number."""
    match get_origin(hint), get_args(hint):
        case None, _:
            return type(value) is hint
        case kind, (part, *_) if kind is tuple:
            return isinstance(value, tuple) and all(_fits(part, one) for one in value)
        case kind, (_, part) if kind is Mapping:
            return isinstance(value, dict) and all(_fits(part, one) for one in value.values())
        case _, parts:
            return any(_fits(part, value) for part in parts)
