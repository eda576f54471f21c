"""What a reset does: the numbers of messages, and who makes it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from rocketmq_conformance.conformance.predict.facts import BrokerFacts, GroupFacts, MemberFacts, QueueFacts
from rocketmq_conformance.conformance.predict.reset import BEGINNING, END, predict_reset
from rocketmq_conformance.conformance.predict.reset_page import reset_page
from rocketmq_conformance.conformance.predict.start import Consumer


def facts(release: str, stored: int | None, least: int, most: int, earliest: int = 1) -> GroupFacts:
    """A group in a topic of one queue."""
    queue = QueueFacts(
        topic="t", broker="a", queue=0, min=least, max=most, earliest=earliest, answer=stored, stored=stored
    )
    return GroupFacts(group="g", brokers=(BrokerFacts(name="a", release=release, knows_group=True),), queues=(queue,))


def test_messages_that_come_again_or_are_skipped_are_there() -> None:
    offenders = []
    tried = product(("4.9.7", "5.1.4", "5.5.0"), (0, 1, 2, 3, 900), ((0, 3), (2, 3), (3, 3)), (1, -1), (END, BEGINNING))
    for release, stored, (least, most), earliest, target in tried:
        there = set(range(least, most)) if earliest > 0 else set()
        found = predict_reset(facts(release, stored, least, most, earliest), "t", target, False, False)
        after = found.queues[0].after
        assert after is not None
        again = {offset for offset in there if after <= offset < stored}
        skipped = {offset for offset in there if stored <= offset < after}
        if (found.repeats, found.skips) != (len(again), len(skipped)):
            offenders.append((release, stored, least, most, earliest, target, found.repeats, found.skips))
    assert offenders == []


def test_a_reset_of_a_stored_offset_beyond_max_repeats_nothing() -> None:
    page = reset_page(predict_reset(facts("5.5.0", 900, 0, 3), "t", END), Consumer())
    assert page.sections[0].rows[0][-1].text == "is moved; nothing comes again, nothing is skipped"
    assert page.sections[0].lines[0].text == "1 queue: 0 again, 0 skipped, lag 0."


def cluster(*each: tuple[str, int | None, bool]) -> GroupFacts:
    """A group in a topic of one queue on each broker: its release, what is stored, and whether it knows the group."""
    made = [facts(release, stored, 0, 3) for release, stored, _ in each]
    return replace(
        made[0],
        brokers=tuple(
            replace(one.brokers[0], name=f"b{at}", knows_group=known)
            for at, (one, (_, _, known)) in enumerate(zip(made, each, strict=True))
        ),
        queues=tuple(replace(one.queues[0], broker=f"b{at}") for at, one in enumerate(made)),
    )


def test_mqadmin_ends_at_the_first_broker_that_refuses() -> None:
    none, new, unknown = ("4.9.7", None, True), ("5.5.0", 1, True), ("5.5.0", 1, False)
    old = ("4.9.7", 1, True)
    found = [
        [
            (queue.way, queue.error, queue.after)
            for queue in predict_reset(cluster(*each), "t", END, False, False).queues
        ]
        for each in ((none, new), (new, none), (unknown, old), (old, unknown), (old, new), (new, old, new))
    ]
    refused, missing = ("refused", "SYSTEM_ERROR", None), ("refused", "SUBSCRIPTION_GROUP_NOT_EXIST", None)
    not_asked, by_broker, by_tool = ("not asked", "", None), ("the broker", "", 3), ("the tool", "", 3)
    assert found == [
        [refused, not_asked],
        [by_broker, refused],
        [missing, not_asked],
        # without members the tool commits at every broker, also at one that would have reset the group itself
        [by_tool, missing],
        [by_tool, by_tool],
        [by_broker, by_tool, by_tool],
    ]


def test_slaves_that_reset_by_themselves_refuse_while_their_master_is_gone() -> None:
    found = []
    for release in ("4.9.7", "5.1.4", "5.5.0"):
        made = facts(release, 1, 0, 3)
        slave = replace(made, brokers=(replace(made.brokers[0], slave=True, knows_group=False),))
        found.append(predict_reset(slave, "t", END, others=False))
    assert [one.ways for one in found] == [("the tool",), ("the tool",), ("refused",)]
    page = reset_page(found[2], Consumer())
    assert page.answer.text == (
        'It is refused: SYSTEM_ERROR of a slave, its master is gone (mqadmin: "Can not reset offset in slave broker").'
    )
    assert page.sections[-1].lines[0].text.startswith("The master of a is gone")


def test_who_moves_the_group_is_said_by_broker() -> None:
    found = predict_reset(cluster(("5.5.0", 1, True), ("4.9.7", None, True), ("5.5.0", 1, True)), "t", END)
    page = reset_page(found, Consumer())
    assert not found.made
    assert page.answer.text == (
        "On b0 it is made by the broker. On b1 it is refused: SYSTEM_ERROR, a queue has no stored offset (mqadmin: "
        '"THe consumer group <g> not exist"). On b2 it is not asked for, as mqadmin ends at the first broker that '
        "refuses."
    )
    assert page.sections[1].lines[0].text.startswith("In queues of b0: the next pull of running members is sent there")
    assert page.sections[1].lines[0].text.endswith("; in queues of b1, b2: nothing.")
    others = reset_page(predict_reset(cluster(("5.5.0", None, True), ("5.5.0", 1, True)), "t", END), Consumer())
    assert others.sections[2].lines[0].text == (
        "4.0.0–5.1.4: refused (SYSTEM_ERROR), not asked · 5.2.0–5.5.0: by the broker to max"
    )


def test_lite_pull_consumers_that_ignore_a_reset_are_not_moved() -> None:
    made = replace(facts("4.9.7", 1, 0, 3), kind="lite", members=(MemberFacts(client="c"),))
    found = predict_reset(made, "t", END, others=False)
    assert (found.made, found.queues[0].after, found.repeats, found.skips, found.lag) == (False, 1, 0, 0, 2)
    assert "ignored by its lite pull consumers" in reset_page(found, Consumer(kind="lite")).answer.text


def test_lite_pull_consumers_go_where_a_broker_that_resets_by_itself_sends_them() -> None:
    made = replace(facts("5.2.0", 3, 0, 3), kind="lite", members=(MemberFacts(client="c"),))
    found = predict_reset(made, "t", BEGINNING)
    assert (found.made, found.repeats, found.others) == (
        True,
        3,
        (("4.0.0–5.1.4", "ignored by its lite pull consumers"), ("5.2.0–5.5.0", "by the broker to min")),
    )
    assert found.queues[0].rules[-1] == "LP-ILLEGAL"
    assert predict_reset(made, "t", BEGINNING, online=False, others=False).queues[0].rules[-1] != "LP-ILLEGAL"
    said = reset_page(found, Consumer(kind="lite")).sections[1].lines[0].text
    assert "what they have cached is polled all the same" in said


def test_a_group_without_a_stored_offset_is_said_to_begin() -> None:
    page = reset_page(predict_reset(facts("5.5.0", None, 0, 3), "t", BEGINNING), Consumer())
    assert [cell.text for cell in page.sections[0].rows[0]] == ["a:0", "–", "3", "0", "3", "begins there"]
