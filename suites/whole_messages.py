"""The suite ``whole-messages``: whole push consumers and messages as producers send them, compressed, batched, and with
long names and hosts, judged from the traffic and from what members say that they read."""

from collections.abc import Callable
from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.switches import COMPRESSION_TYPES, INNER_BATCHES, LONG_HOSTS, LONG_NAMES
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_messages import RULES, WholeMessagesModel, has_members, is_settled
from rocketmq_conformance.models.message_forms import BIG, BROKEN, LZ4, OLD_ZLIB, PROPERTIES, UNKNOWN, ZLIB, ZSTD
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Switch
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.declare.wording import keyed
from rocketmq_conformance.suites.values import whole

_READ = (
    "what listeners read of the messages that are not plain (member, queue, offset, bytes of the body, keys; null: no "
    "member says such things)"
)
_FORMS = tuple(rule.id for rule in RULES)


#: What was read, by the message.
_READ_WORDS = keyed(
    lambda member, queue, offset: f"{whole.member(member)}, {whole.queue_name(queue)}, message {offset}",
    lambda length, keys: f"{length} bytes" + (f", keys {keys}" if keys else ""),
    size=5,
    keys=3,
)


def _moves(offered: Callable[[Profile], bool] = lambda profile: True) -> whole.Moves:
    return whole.Moves(
        words={**whole.words(), "read": _READ_WORDS},
        seen=whole.seen(*whole.TRAFFIC, _READ),
        parts={
            "places": ("WHOLE-SHARE", *_FORMS, "REB-SVC-WAKE"),
            "brought": (*_FORMS, "WHOLE-FIRST", "WHOLE-SHARE"),
            "stored": ("WHOLE-COMMIT", *_FORMS),
            "read": _FORMS,
        },
        unsaid=("brought", "read"),
        idle=("read",),
        offered=offered,
    )


def _since(switch: Switch) -> whole.Moves:
    """The moves of clients that have a change."""
    return _moves(lambda profile: switch.on(profile.client))


MOVES = _moves()
_QUEUE = Values(0, 3, EVERY)
_ARRIVES = "in a queue, or in every queue (-1), between two plain messages, which come in the same answer to a pull."


@MOVES.move("A member is started, unless it runs.", weight=12, guard=is_settled)
class Join(group.Join):
    member: Annotated[int, whole.MEMBER]


@MOVES.end("A member is shut down, if it runs.", weight=1, guard=is_settled)
class Leave(group.Leave):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("Time passes, a round of rebalance at least.", weight=3)
class Look(group.Look):
    pass


@MOVES.move(
    f"While a member runs: a message of a form arrives {_ARRIVES} Its body is compressed, big, or is none that can be "
    "uncompressed, or it has keys and other properties.",
    weight=5,
    guard=has_members,
)
class SendAs(Operation):
    queue: Annotated[int, _QUEUE]
    form: Annotated[str, Values(OLD_ZLIB, PROPERTIES, BIG, BROKEN, UNKNOWN)]


@_since(COMPRESSION_TYPES).move(
    f"While a member runs: a message that says how its body is compressed arrives {_ARRIVES}",
    weight=3,
    guard=has_members,
)
class SendTyped(Operation):
    queue: Annotated[int, _QUEUE]
    form: Annotated[str, Values(LZ4, ZSTD, ZLIB)]


@_since(INNER_BATCHES).move(
    f"While a member runs: a message that is a batch of two arrives {_ARRIVES}", weight=2, guard=has_members
)
class SendBatch(Operation):
    queue: Annotated[int, _QUEUE]


@_since(LONG_HOSTS).move(
    f"While a member runs: a message that was born and is stored at hosts with IPv6 addresses arrives {_ARRIVES}",
    weight=2,
    guard=has_members,
)
class SendFromAfar(Operation):
    queue: Annotated[int, _QUEUE]


@_since(LONG_NAMES).move(
    f"While a member runs: a message that is stored as those of a topic with a long name are arrives {_ARRIVES}",
    weight=2,
    guard=has_members,
)
class SendNamed(Operation):
    queue: Annotated[int, _QUEUE]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeMessagesModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Join: model.join,
            Leave: model.leave,
            Look: model.look,
            SendAs: model.send_as,
            SendTyped: model.send_as,
            SendBatch: model.send_batch,
            SendFromAfar: model.send_from_afar,
            SendNamed: model.send_named,
        },
        model.learn,
    )


SUITE = Suite(
    name="whole-messages",
    sentence="Push consumers and messages as producers send them: which are given, what is read, what is committed.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=30,
    show=group.show,
    rules=(
        *_FORMS,
        *("WHOLE-FIRST", "WHOLE-COMMIT", "WHOLE-SHARE", "REB-SVC-WAKE", "TIMER-PERSIST"),
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=(
        *("START-PUSH-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("PULL-NON-1", "REB-ADD-1", "REB-DROP-1", "REB-REM-1"),
    ),
    beginning="A topic of four young queues, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=60,
)
