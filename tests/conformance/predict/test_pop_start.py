"""Groups that pop: where they start by release of the broker, what upgrades and resets change, and what is said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from predicted_broker import GROUP, TIME, TOPIC, cluster

from rocketmq_conformance.conformance.predict.api import consumer_of, read_group
from rocketmq_conformance.conformance.predict.facts import BrokerFacts, GroupFacts, MemberFacts, QueueFacts
from rocketmq_conformance.conformance.predict.pages import start_page
from rocketmq_conformance.conformance.predict.remedies import effect_on_members, every_remedy
from rocketmq_conformance.conformance.predict.reset import BEGINNING, BY_TOOL, predict_reset
from rocketmq_conformance.conformance.predict.reset_page import reset_page
from rocketmq_conformance.conformance.predict.start import (
    Consumer,
    PredictError,
    QueueStart,
    StartPrediction,
    predict_start,
)
from rocketmq_conformance.conformance.predict.upgrade import predict_upgrade
from rocketmq_conformance.conformance.predict.upgrade_page import upgrade_page
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.prediction import markdown

POP, GRPC = Consumer(kind="pop"), Consumer(kind="grpc")
AGAIN = f"%RETRY%{GROUP}_{TOPIC}"


def facts(release: str = "5.5.0", hot: bool = True, stored: int | None = None, topic: str = TOPIC) -> GroupFacts:
    """One queue of ten messages, of which the first is in memory or not."""
    queue = QueueFacts(
        topic=topic,
        broker="a",
        queue=0,
        min=0,
        max=10,
        earliest=TIME,
        answer=(0 if hot else None) if stored is None else stored,
        stored=stored,
    )
    return GroupFacts(group=GROUP, brokers=(BrokerFacts(name="a", release=release),), queues=(queue,))


def start(made: GroupFacts, consumer: Consumer = GRPC) -> QueueStart:
    """The start of the one queue."""
    return predict_start(made, consumer).queues[0]


def read(release: str, stored: dict[int, int] | None = None, kind: str = "grpc", where: str = LAST) -> StartPrediction:
    """The prediction for the group of a fake broker."""
    with cluster(release, stored) as broker:
        known = read_group(broker.address, GROUP, [TOPIC])
    return predict_start(known, consumer_of(known, kind=kind, where=where))


@pytest.mark.parametrize(
    ("release", "kind", "where", "starts"),
    [
        ("5.1.3", "grpc", LAST, [(74, "last message"), (74, "last message"), (0, "max"), (30, "max")]),
        ("5.1.4", "grpc", LAST, [(0, "0"), (74, "last message"), (0, "max"), (30, "max")]),
        ("5.5.0", "pop", LAST, [(0, "0"), (74, "last message"), (0, "max"), (30, "max")]),
        ("5.5.0", "pop", FIRST, [(0, "min"), (50, "min"), (0, "min"), (30, "min")]),
        ("4.9.8", "pop", FIRST, [(None, "none")] * 4),
    ],
)
def test_a_new_group_starts_as_its_broker_decides(
    release: str, kind: str, where: str, starts: list[tuple[int | None, str]]
) -> None:
    found = read(release, kind=kind, where=where)
    assert [(queue.first, queue.source) for queue in found.queues] == starts


def test_a_stored_offset_wins_and_is_corrected() -> None:
    found = read("5.5.0", {0: 100, 1: 7, 3: 5})
    assert [(queue.start, queue.first, queue.moved_by) for queue in found.queues] == [
        (100, 75, "POP-START-8"),
        (7, 50, "POP-START-8"),
        (0, 0, ""),
        (5, 30, "POP-START-8"),
    ]
    assert "stands 25 beyond max, and is sent elsewhere (POP-START-8)" in markdown(start_page(found))


def test_a_message_that_is_not_in_memory_is_left_out_on_every_release() -> None:
    cold = predict_start(facts(hot=False), GRPC)
    assert (cold.queues[0].first, cold.queues[0].rule) == (9, "POP-START-4")
    # other releases are taken to run on a Java that does not see what is in memory
    others = (("5.0.0–5.1.3", "last message"), ("5.1.4–5.4.0", "0"), ("5.5.0", "last message"))
    assert dict(cold.others)[TOPIC] == others
    page = start_page(cold)
    assert page.title == f"Group {GROUP}: a client behind the gRPC proxy, broker 5.5.0"
    assert page.answer.text == "It consumes 1 existing messages."
    assert "Other releases of the broker" in [section.title for section in page.sections]
    # with an offset, or on a release that does not look, an answer that the model does not expect does not matter
    odd = replace(facts(), queues=(replace(facts().queues[0], answer=5),))
    assert start(odd).unknown.startswith("a (5.5.0) answers 5")
    older = replace(odd, brokers=(BrokerFacts(name="a", release="5.1.3"),))
    assert (start(older).first, start(odd, Consumer(kind="pop", where=FIRST)).first) == (9, 0)


def test_what_came_back_is_taken_from_its_first_message_from_5_3_1_on() -> None:
    found = []
    for release in ("5.3.0", "5.3.1"):
        made = facts(release, hot=False)
        made = replace(made, queues=(*made.queues, *facts(hot=False, topic=AGAIN).queues))
        every = predict_start(made, GRPC).queues
        found.append([(queue.facts.topic, queue.first, queue.rule, queue.repeats) for queue in every])
        assert [queue.facts.topic for queue in predict_start(made, Consumer()).queues] == [TOPIC]
        assert any("stays in %RETRY%" in note for note in predict_start(made, Consumer()).notes)
        assert {remedy.topic for remedy in every_remedy(made, GRPC)} == {TOPIC}
    assert [each[1] for each in found] == [(AGAIN, 9, "POP-START-4", 0), (AGAIN, 0, "POP-START-7", 0)]


def test_the_retry_topic_of_a_group_is_pulled_by_remoting_clients_alone() -> None:
    made = replace(facts(), queues=(*facts().queues, *facts(topic=f"%RETRY%{GROUP}").queues))
    kinds = {consumer.kind: predict_start(made, consumer).queues for consumer in (POP, GRPC)}
    assert {kind: len(queues) for kind, queues in kinds.items()} == {"pop": 2, "grpc": 1}
    assert not kinds["pop"][1].rule.startswith("POP")


@pytest.mark.parametrize(
    ("broker", "said"),
    [
        (BrokerFacts(name="a", release="5.5.0", keeps_pops="enablePopBufferMerge=true"), "enablePopBufferMerge=true"),
        (BrokerFacts(name="a", release="5.5.0", slave=True), "the master of a is gone"),
        (BrokerFacts(name="a", release="5.5.0", configuration={"timerWheelEnable": "false"}), "timerWheelEnable=false"),
        (BrokerFacts(name="a", release="4.9.8"), "does not know pops"),
    ],
)
def test_where_pops_are_refused_or_not_known_it_is_said(broker: BrokerFacts, said: str) -> None:
    page = start_page(predict_start(replace(facts(), brokers=(broker,)), GRPC))
    assert said in page.sections[0].rows[0][-1].text


def test_consumers_that_cannot_pop_are_refused() -> None:
    for consumer, said in (
        (Consumer(kind="pop", client=Release.parse("4.9.8")), "Client 4.9.8 does not pop"),
        (Consumer(kind="grpc", model="broadcasting"), "A broadcasting consumer pulls"),
    ):
        with pytest.raises(PredictError, match=said):
            predict_start(facts(), consumer)
    timed = Consumer(kind="pop", where=TIMESTAMP, timestamp="20240101000000")
    assert any("no start by time" in note for note in predict_start(facts(), timed).notes)


def test_an_upgrade_to_5_1_4_takes_a_new_group_from_the_last_message_to_the_first() -> None:
    releases = tuple(map(Release.parse, ("5.1.3", "5.1.4")))
    found = predict_upgrade(facts("5.1.3"), GRPC, releases, (GRPC.client,))
    (topic,) = found.topics
    assert (topic.repeats, topic.skips) == (9, 0)
    assert [(release, [switch.id for switch in each]) for release, each in topic.changes] == [
        ("5.1.4", ["POP-START-5"])
    ]
    text = markdown(upgrade_page([found]))
    assert "gRPC clients on broker 5.1.4: " in text
    # a push consumer of 4.x pulls, whatever mode its group has
    assert predict_upgrade(facts("5.1.3"), POP, releases, (Release.parse("4.9.8"),)).topics[0].repeats == 9


def test_members_that_pop_ignore_a_reset_where_the_broker_asks_them() -> None:
    made = replace(facts("5.1.4", stored=7), kind="pop", members=(MemberFacts(client="c"),))
    found = predict_reset(made, TOPIC, BEGINNING)
    assert (found.made, found.queues[0].after) == (False, 7)
    assert found.others == (
        ("4.0.0–5.1.4", "ignored by its consumers that pop"),
        ("5.2.0–5.5.0", "by the broker to min"),
    )
    assert "ignored by its consumers that pop" in reset_page(found, POP).answer.text
    stopped = predict_reset(replace(made, members=(), kind="grpc"), TOPIC, BEGINNING, others=False)
    assert (stopped.ways, stopped.queues[0].after) == ((BY_TOOL,), 0)
    for way, consumer in ((BY_TOOL, GRPC), ("the broker", POP), (BY_TOOL, POP)):
        effect = effect_on_members(way, consumer)
        assert effect.endswith("what is in flight still comes back")
        assert effect.startswith("stop them first") == (way == BY_TOOL and consumer is POP)
