"""The suite ``pull``: the pull loop of one push consumer; the plan decides which pull, response or timer is next."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from rocketmq_conformance.models.client import pull_settings
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.pull import PullModel
from rocketmq_conformance.models.client.pull_state import INITIALLY_OWNED, LARGE, PullState, initial_state
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, TOPIC
from rocketmq_conformance.suites.declare.wording import OFFSET_OR_NONE, OFFSETS, Worded, bare, fields, plain
from rocketmq_conformance.suites.values import environment
from rocketmq_conformance.suites.values.words import CONSUMED, TAGGED

QUEUE = Values(*INITIALLY_OWNED, weights=(3, 2, 1))
#: Which of the requests in one place, from the oldest on; past the latest it begins again.
PLACE = Values(0, 1, 2, 3)
OFFSET = Values(5, 0, 1, 8, 12)
_TURN: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    ("queue", "then", "delay", "next offset", "given", "offset in memory", "dropped"), ()
)
NODE = Values(0, 1, 2, weights=(3, 2, 1))
#: Messages (offset, tag): none, one, some; with tags and without; out of order; far apart; a large one.
MESSAGES = Values(
    (),
    ((5, "A"),),
    ((6, "B"),),
    ((5, "A"), (6, "B")),
    ((5, ""), (6, "A"), (7, "A")),
    ((8, "A"), (9, "")),
    ((7, "B"), (8, "C"), (9, "B")),
    ((10, "A"), (11, "AB"), (12, "A")),
    ((3, "A"), (4, "B")),
    ((7, "A"), (5, "A")),
    ((5, "A"), (6, "A"), (7, "A"), (8, "B")),
    ((1, "A"), (9, "A")),
    ((2, "A"), (11, "A")),
    ((LARGE, "A"),),
    weights=(1, 3, 2, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1),
    words=TAGGED,
)
FAILURES = Values(
    *("SYSTEM_ERROR", "SYSTEM_BUSY", "FLOW_CONTROL", "SUBSCRIPTION_NOT_LATEST", "QUERY_NOT_FOUND"),
    *("no-field", "silent", "cut"),
    weights=(1, 1, 3, 1, 1, 1, 1, 1),
)
SUBSCRIBED = Values(TOPIC, OTHER_TOPIC, weights=(3, 1))


def _has_types(profile: Profile) -> bool:
    return ClientRules.of(profile).selects


def _unsent(value: Any) -> Worded:
    """What a pull that is not sent answers: that it is put off, and for how long, or dropped."""
    delay = {"delay": plain} if len(value) > len(("queue", "dropped", "counts as a pull")) else {}
    return fields({"queue": plain, "then": bare, **delay, "counts as a pull": plain})(value)


@operation(
    "The pull service comes to one of the requests that are ready; `reachable` says whether the node that it asks can "
    "be connected to. Answers the queue, and asked, the node, the offset, the offset to commit, the flag, the "
    "expression and its type (null: not sent); or later and the ms until it is tried again; or dropped; and last "
    "whether that counts as a pull. null: no request is ready.",
    weight=28,
    answer={
        "queue": (),
        "asked": (),
        "node": ("PULL-NODE-1", "PULL-NODE-2"),
        "offset": (),
        "offset to commit": ("PULL-COM-1",),
        "flag": ("PULL-COM-1",),
        "expression": ("PULL-SUB-3",),
        "type": ("PULL-SUB-3",),
        "counts as a pull": (),
    },
    unsaid=("counts as a pull",),
    idle=("node", "offset to commit", "flag", "expression", "type", "counts as a pull"),
    words={"": _unsent, "offset to commit": OFFSET_OR_NONE},
)
class Pull(Operation):
    place: Annotated[int, PLACE]
    reachable: Annotated[bool, Values(True, False, weights=(12, 1))]


@operation(
    "Messages are found, (offset, tag) each, by one of the pulls that are under way. Answers the queue, pull (at once) "
    "or later, in how many ms, the next offset, the offsets that the listener is given, the offset in memory, and "
    "whether the process queue is dropped. null: no pull is under way.",
    weight=14,
    answer=_TURN,
    idle=("delay",),
    words=CONSUMED,
)
class Found(Operation):
    place: Annotated[int, PLACE]
    next_offset: Annotated[int, Values(8, 10, 13, 15, 3, weights=(2, 2, 2, 2, 1))]
    messages: Annotated[tuple[tuple[int, str], ...], MESSAGES]
    suggested: Annotated[int, NODE]


@operation(
    "Nothing is found: `code` is the response code. Answers as found does.",
    weight=8,
    answer=_TURN,
    idle=("delay",),
    words=CONSUMED,
)
class Nothing(Operation):
    place: Annotated[int, PLACE]
    code: Annotated[str, Values("PULL_NOT_FOUND", "PULL_RETRY_IMMEDIATELY")]
    next_offset: Annotated[int, Values(8, 5, 12, 3, 0)]
    suggested: Annotated[int, NODE]


@operation(
    "The broker says that the offset is illegal (PULL_OFFSET_MOVED), and the queue's bounds: `low` and `high`. Answers "
    "as found does: correct, and in how many ms.",
    weight=3,
    answer=_TURN,
    idle=("delay",),
    words=CONSUMED,
)
class Illegal(Operation):
    place: Annotated[int, PLACE]
    next_offset: Annotated[int, Values(4, 7, 12, 0)]
    low: Annotated[int, Values(2, 6)]
    high: Annotated[int, Values(11, 14)]
    suggested: Annotated[int, NODE]


@operation(
    "The pull fails: by a response code, without an answer, or by one without fields. Answers as found does.",
    weight=5,
    answer=_TURN,
    idle=("delay",),
    words=CONSUMED,
)
class Fail(Operation):
    place: Annotated[int, PLACE]
    failure: Annotated[str, FAILURES]


@operation(
    "One of the timers runs: one that puts a pull off, or the correction of an offset. Answers the queue, pull or "
    "correct, whether the queue is owned, the offset in memory, whether a rebalance is asked for, and "
    "the commits that reached the broker. null: there is no timer.",
    weight=14,
    commits=True,
    answer=dict.fromkeys(("queue", "then", "owned", "offset in memory", "another round", "commits"), ()),
    unsaid=("another round",),
    idle=("another round",),
    words=CONSUMED,
)
class Fire(Operation):
    place: Annotated[int, PLACE]


@operation(
    "The listener is done with the first message that is cached of an owned queue, or with all: answers the offset in "
    "memory, -1 for none.",
    weight=6,
)
class Consume(Operation):
    queue: Annotated[int, QUEUE]
    everything: Annotated[bool, Values(True, False, weights=(2, 1))]


@operation(
    "A rebalance gains a queue and begins it at an offset; one that is owned already only with `anew`. Answers "
    "whether it begins, and the commits that reached the broker.",
    weight=4,
    commits=True,
    words=fields({"begins": plain, "commits": OFFSETS}),
)
class Gain(Operation):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]
    anew: Annotated[bool, Values(False, True)]


@operation(
    "A rebalance loses a queue: answers whether it was owned, and the commits that reached the broker.",
    weight=2,
    commits=True,
    words=fields({"owned": plain, "commits": OFFSETS}),
)
class Lose(Operation):
    queue: Annotated[int, QUEUE]


@operation("The application sets the offset of a queue in memory: answers what memory then holds.", weight=2)
class Update(Operation):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]


@operation("Subscribe to a topic by a tag expression.", weight=3)
class Subscribe(Operation):
    topic: Annotated[str, SUBSCRIBED]
    expression: Annotated[str, Values("*", "A", "A || B", "", "|| B", " || ", "||", weights=(3, 4, 3, 1, 1, 1, 1))]


@operation("Subscribe to a topic by an SQL92 expression.", weight=1, offered=_has_types)
class Select(Operation):
    topic: Annotated[str, SUBSCRIBED]
    expression: Annotated[str, Values("a > 1", "A", "", weights=(2, 1, 1))]


@operation("Unsubscribe from a topic.", weight=1)
class Unsubscribe(Operation):
    topic: Annotated[str, SUBSCRIBED]


@operation("The consumer runs; false: it does not run yet.", weight=1)
class Run(Operation):
    running: Annotated[bool, Values(True, False, weights=(6, 1))]


@operation("The consumer is paused; false: it goes on.", weight=1)
class Pause(Operation):
    paused: Annotated[bool, Values(False, True, weights=(6, 1))]


@operation("The ms between a pull that found messages and the next.", weight=1)
class Space(Operation):
    interval: Annotated[int, Values(0, 250, weights=(3, 1))]


@operation("Whether the expression goes with a pull.", weight=1)
class Post(Operation):
    posts: Annotated[bool, Values(True, False)]


@operation("The client learns which nodes the broker has, and whether they are older than 4.1.0.", weight=2)
class Learn(Operation):
    nodes: Annotated[tuple[int, ...], Values((0, 1), (0,), (0, 2), (0, 1, 3), (), weights=(2, 1, 2, 2, 2))]
    old: Annotated[bool, Values(False, True, weights=(3, 1))]


@operation("The name server has a route of a topic; -1: it has none.", side=Side.WORLD, weight=1)
class Route(environment.Route):
    topic: Annotated[str, SUBSCRIBED]
    queues: Annotated[int, Values(5, -1)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = PullModel(profile, topology)
    return BoundModel(
        initial_state(topology),
        {
            Pull: model.pull,
            Found: model.found,
            Nothing: model.nothing,
            Illegal: model.illegal,
            Fail: model.fail,
            Fire: model.fire,
            Consume: model.consume,
            Gain: model.gain,
            Lose: model.lose,
            Update: model.update,
            Subscribe: pull_settings.subscribe,
            Select: pull_settings.select,
            Unsubscribe: pull_settings.unsubscribe,
            Run: pull_settings.run,
            Pause: pull_settings.pause,
            Space: pull_settings.space,
            Post: pull_settings.post,
            Learn: pull_settings.learn,
            Route: pull_settings.route,
        },
    )


def _show(state: PullState) -> str:
    def each(numbers: list[int]) -> str:
        return ", ".join(f"#{number} of {state.requests[number].queue}" for number in numbers) or "none"

    owned = [f"{queue}: #{number} {state.requests[number]}" for queue, number in state.table.items()]
    wanted = {topic: chosen.text for topic, chosen in state.subscriptions.items()}
    return (
        f"owned {'; '.join(owned) or 'none'}; ready {each([*state.ready])}, in flight "
        f"{each([number for number, _ in state.in_flight])}, put off "
        f"{each([number for number, corrects in state.timers if not corrects])}, to correct "
        f"{each([number for number, corrects in state.timers if corrects])}; memory {dict(state.store.memory)}, frozen "
        f"{sorted(state.store.frozen)}; subscribed {wanted}; {state.broker}; {state.settings}"
    )


SUITE = Suite(
    name="pull",
    sentence="The pull loop of a push consumer: what it asks, whom and when, and where it goes on after an answer.",
    beginning=(
        "When a case begins, the consumer subscribes to the topics T and U by *, owns the queues 0, 1 and 2 from "
        "offset 5 on, and knows the broker's master; of each queue it may cache 3 messages, 0 MiB, and offsets that "
        "are 8 apart. The message at offset 14 has 1 MiB, all others have one byte."
    ),
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=60,
    show=_show,
    rules=(
        "PULL-PRE-1",
        "PULL-PRE-DROP",
        "PULL-RES-1",
        "PULL-FND-1",
        "PULL-NEXT-1",
        "PULL-NON-1",
        "PULL-LATE-1",
        "PULL-ILL-1",
        "PULL-ILL-2",
        "REB-RPQ-1",
        "PULL-OWN-1",
        "PULL-COM-1",
        "PULL-NODE-1",
        "PULL-NODE-2",
        "PULL-SUB-3",
        "PULL-SUB-4",
        "PULL-SUB-1",
        "PULL-SUB-2",
        "CONS-DROP",
        "OFF-UPD-1",
        "OFF-FRZ-1",
    ),
)
