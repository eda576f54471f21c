"""The suite ``broker-members``: connections of groups, the subscriptions that groups hold, and pulls that rely on them.

Every member has a connection of its own, and each connection is asked for the notifications that it got.
"""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_members import (
    CLIENTS,
    CONNECTIONS,
    KINDS,
    SUBSCRIPTIONS,
    TAGS,
    BrokerMembersModel,
    BrokerMembersState,
    show,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.broker_offsets import CreateTopic, DeleteGroup, DeleteTopic
from rocketmq_conformance.suites.declare.domain import Values, Whole
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import bare, fields, keyed, listed, numbers, plain
from rocketmq_conformance.suites.values import broker as values
from rocketmq_conformance.suites.values import words

_GROUP = Values(0, 1, weights=(6, 1))
_TOPIC = Values(0, 1, weights=(4, 1))
_CONNECTION = Whole(0, CONNECTIONS - 1)
_ON = Values(True, False, weights=(4, 1))
#: Topics and what is subscribed there: one topic, another one, both, none. Where expressions in SQL92 are not answered,
#: what can be compiled of them shows all the same.
_SUBSCRIPTIONS = Values(
    *(((0, name),) for name in SUBSCRIPTIONS),
    ((1, "*"),),
    ((0, "A"), (1, "*")),
    ((0, "*"), (1, "A")),
    (),
    weights=(6, 8, 4, 2, 1, 1, 4, 3, 3, 1, 1, 1, 2, 4, 4, 1),
    words=keyed(lambda topic: f"topic {topic}", repr),
)


_SUBSCRIPTION = fields({"expression": bare, "version": plain, "language": bare, "tags": listed()})
_CONNECTED = fields(
    {
        "clients": listed(),
        "consumes": bare,
        "model": bare,
        "where": bare,
        "subscriptions": keyed(bare, lambda *of: _SUBSCRIPTION(of), size=5),
    }
)


@operation(
    "Create a consumer group, or change it: may it pull, may it broadcast, is it notified of changes?",
    side=Side.BROKER,
    weight=3,
)
class SetRights(Operation):
    group: Annotated[int, _GROUP]
    enabled: Annotated[bool, Values(True, False, weights=(12, 1))]
    broadcasts: Annotated[bool, _ON]
    notifies: Annotated[bool, _ON]


@operation(
    "Send a message with a tag, or with none, to queue 0: answers its offset.",
    side=Side.BROKER,
    weight=6,
    words=numbers,
)
class SendTagged(Operation):
    topic: Annotated[int, _TOPIC]
    tag: Annotated[str, Values(*TAGS, weights=(4, 2, 2, 1))]


@operation(
    "Send a heartbeat over a connection: a client id, the consumers of some groups, what they subscribe to, the "
    "version of that, whether they broadcast, and how they consume.",
    side=Side.BROKER,
    weight=16,
)
class Beat(Operation):
    connection: Annotated[int, _CONNECTION]
    client: Annotated[int, Whole(0, len(CLIENTS) - 1)]
    groups: Annotated[tuple[int, ...], Values((0,), (1,), (0, 1), weights=(8, 1, 1))]
    subscriptions: Annotated[tuple[tuple[int, str], ...], _SUBSCRIPTIONS]
    version: Annotated[int, Values(0, 1, 2, 3, -1, weights=(3, 3, 2, 1, 1))]
    broadcasting: Annotated[bool, Values(False, True, weights=(6, 1))]
    kind: Annotated[int, Values(*range(len(KINDS)), weights=(6, 1, 1))]


@operation("Unregister the client of a connection from a group.", side=Side.BROKER, weight=3)
class LeaveGroup(Operation):
    connection: Annotated[int, _CONNECTION]
    group: Annotated[int, _GROUP]


@operation("Close a connection.", side=Side.BROKER, weight=2)
class CloseConnection(Operation):
    connection: Annotated[int, _CONNECTION]


@operation(
    "Ask how often a connection was notified of changes since it was asked last: answers (group, times) pairs.",
    side=Side.BROKER,
    weight=8,
    words=keyed(lambda group: f"group {group}", lambda times: f"{times} times"),
)
class TakeNotices(Operation):
    connection: Annotated[int, _CONNECTION]


@operation("Ask for the client ids of a group: answers them sorted.", side=Side.BROKER, weight=6, words=listed())
class ListMembers(Operation):
    group: Annotated[int, _GROUP]


@operation(
    "Ask for the connections of a group: answers their sorted client ids, how the group consumes, and (topic, "
    "expression, version, language, tags) of each subscription that it holds.",
    side=Side.BROKER,
    weight=8,
    words=_CONNECTED,
)
class ListConnections(Operation):
    group: Annotated[int, _GROUP]


@operation(
    "Pull from queue 0 without a subscription, by the registered one, of which a version is known: answers the "
    "response code, the next offset and the offsets of the messages.",
    side=Side.BROKER,
    weight=14,
    words=words.PULLED,
)
class PullRegistered(Operation):
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    offset: Annotated[int, Values(0, 1, 2, 4, weights=(6, 3, 1, 1))]
    version: Annotated[int, Values(0, 1, 2, 3, -1, weights=(6, 3, 2, 1, 1))]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerMembersModel(profile)
    return BoundModel(
        BrokerMembersState(),
        {
            CreateTopic: model.create_topic,
            DeleteTopic: model.delete_topic,
            DeleteGroup: model.delete_group,
            SetRights: model.set_group,
            SendTagged: model.send,
            Beat: model.beat,
            LeaveGroup: model.leave,
            CloseConnection: model.close,
            TakeNotices: model.notices,
            ListMembers: model.listed,
            ListConnections: model.connections,
            PullRegistered: model.pull,
        },
    )


SUITE = Suite(
    name="broker-members",
    sentence="Connections that join and leave groups, the subscriptions that groups hold, and pulls that rely on them.",
    side=Side.BROKER,
    bind=_bind,
    steps=50,
    cases=256,
    show=show,
    rules=(
        "BQ-HB-1",
        "BQ-HB-3",
        "BQ-HB-FILTER",
        "BQ-HB-QUIET",
        "BQ-HB-4",
        "BQ-HB-5",
        "BQ-HB-6",
        "BQ-LIST-1",
        "BQ-CONNECTIONS",
        "BQ-GROUP-1",
        "BQ-GROUP-2",
        "BQ-GROUP-3",
        "BQ-GROUP-ENABLE",
        "BQ-GROUP-LOOKUP",
        "BQ-PULL-1",
        "BQ-PULL-3",
        "BQ-PULL-7",
        "BQ-PULL-BROADCAST",
        "BQ-PULL-BROKER",
        "BQ-PULL-ENABLE",
        "BQ-PULL-FILTER",
        "BQ-PULL-HASHES",
        "BQ-PULL-STATUS",
        "BQ-PULL-SUB",
        "BQ-PULL-TAGS",
        "BQ-SEND-1",
        "BQ-SQL-PASS",
        "BQ-STORE-MAX",
        "BQ-TOPIC-1",
        "BQ-TOPIC-2",
        "BQ-TOPIC-3",
        "BQ-TOPIC-TIMER",
    ),
    limits=(
        values.NOT_READABLE,
        values.NO_TIMER,
        values.NO_SQL,
    ),
)
