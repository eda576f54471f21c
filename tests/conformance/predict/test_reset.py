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


def test_a_cluster_of_two_releases_that_half_refuses() -> None:
    old, new = facts("4.9.7", None, 0, 3), facts("5.5.0", 1, 0, 3)
    new = replace(
        new, brokers=(replace(new.brokers[0], name="b"),), queues=(replace(new.queues[0], broker="b", queue=0),)
    )
    mixed = replace(old, brokers=(*old.brokers, *new.brokers), queues=(*old.queues, *new.queues))
    found = predict_reset(mixed, "t", END, others=False)
    answer = reset_page(found, Consumer()).answer.text
    assert not found.made
    assert answer == (
        'On a it is refused: SYSTEM_ERROR, a queue has no stored offset (mqadmin: "THe consumer group <g> not exist"); '
        "On b it is made by the broker. mqadmin stops at the first broker that refuses."
    )


def test_lite_pull_consumers_that_ignore_a_reset_are_not_moved() -> None:
    made = replace(facts("4.9.7", 1, 0, 3), kind="lite", members=(MemberFacts(client="c"),))
    found = predict_reset(made, "t", END, others=False)
    assert (found.made, found.queues[0].after, found.repeats, found.skips, found.lag) == (False, 1, 0, 0, 2)
    assert "ignored by its lite pull consumers" in reset_page(found, Consumer(kind="lite")).answer.text


def test_a_group_without_a_stored_offset_is_said_to_begin() -> None:
    page = reset_page(predict_reset(facts("5.5.0", None, 0, 3), "t", BEGINNING), Consumer())
    assert [cell.text for cell in page.sections[0].rows[0]] == ["a:0", "–", "3", "0", "3", "begins there"]
