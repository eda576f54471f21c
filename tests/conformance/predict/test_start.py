"""Where a group starts: read from a broker that the model answers, and from facts made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from predicted_broker import GROUP, TIME, TOPIC, cluster

from rocketmq_conformance.conformance.predict.api import consumer_of, read_group
from rocketmq_conformance.conformance.predict.documents import start_document
from rocketmq_conformance.conformance.predict.facts import BrokerFacts, GroupFacts, MemberFacts, QueueFacts
from rocketmq_conformance.conformance.predict.pages import others_text, start_page
from rocketmq_conformance.conformance.predict.remedies import effect_on_members, every_remedy, remedies
from rocketmq_conformance.conformance.predict.start import (
    Consumer,
    PredictError,
    QueueStart,
    StartPrediction,
    predict_start,
)
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.release import NEWEST, Release
from rocketmq_conformance.reports.prediction import markdown


def facts(
    release: str = "5.5.0",
    stored: int | None = None,
    answer: int | None = 0,
    least: int = 0,
    most: int = 75,
    topic: str = TOPIC,
    found: int | None = None,
    time: int | None = None,
) -> GroupFacts:
    """One queue."""
    queue = QueueFacts(
        topic=topic,
        broker="a",
        queue=0,
        min=least,
        max=most,
        earliest=TIME if least < most else -1,
        answer=answer,
        stored=stored,
        found=found,
    )
    return GroupFacts(group=GROUP, brokers=(BrokerFacts(name="a", release=release),), queues=(queue,), time=time)


def start(made: GroupFacts, **consumer: object) -> QueueStart:
    """The start of the one queue."""
    return predict_start(made, Consumer(**consumer)).queues[0]  # type: ignore[arg-type]


def read(release: str, stored: dict[int, int] | None = None, **consumer: object) -> StartPrediction:
    """The prediction for the group of a fake broker."""
    with cluster(release, stored) as broker:
        known = read_group(broker.address, GROUP, [TOPIC])
    return predict_start(known, consumer_of(known, **consumer))  # type: ignore[arg-type]


def test_a_new_group_from_last_takes_everything_where_message_0_is_in_memory() -> None:
    found = read("5.5.0")
    assert [(queue.start, queue.first, queue.source, queue.repeats) for queue in found.queues] == [
        (0, 0, "0", 75),
        (75, 75, "max", 0),
        (0, 0, "max", 0),
        (30, 30, "max", 0),
    ]
    assert found.queues[0].rule == "BQ-QUERY-G3"
    assert found.queues[0].since == TIME
    assert found.queues[1].rule == "START-PUSH-1"


def test_stored_offsets_win_and_invalid_ones_are_corrected() -> None:
    new = read("5.5.0", {0: 100, 1: 7, 3: 5})
    assert [(queue.start, queue.first, queue.repeats, queue.expired) for queue in new.queues] == [
        (100, 75, 0, 0),
        (7, 50, 0, 43),
        (0, 0, 0, 0),
        (5, 30, 0, 25),
    ]
    old = read("4.9.3", {0: 100})
    assert (old.queues[0].start, old.queues[0].first, old.queues[0].repeats) == (100, 0, 75)
    assert [(queue.beyond, queue.moved_by) for queue in (new.queues[0], old.queues[0])] == [(25, "BQ-PULL-3")] * 2
    assert (new.queues[1].moved_by, new.queues[2].moved_by) == ("BQ-PULL-STATUS", "")
    assert (new.lag, old.lag) == (25, 75)
    for found, said in ((new, "stands 25 beyond max, and is sent elsewhere (BQ-PULL-3)"), (old, "existing messages")):
        assert said in markdown(start_page(found))
        assert "Beyond max: 1 stored offset." in start_page(found).answer.text


def test_numbers_of_messages_count_what_is_there() -> None:
    # a broker of 4.x whose messages have all expired still shows min 0
    made = replace(facts(release="4.9.7", stored=1, answer=1, most=3).queues[0], earliest=-1)
    gone = replace(facts(release="4.9.7"), queues=(made,))
    assert (start(gone).first, start(gone).skips, start(gone).expired, start(gone).lag) == (3, 0, 2, 0)
    assert start(replace(gone, queues=(replace(made, stored=None),)), where=FIRST).expired == 0


def test_queues_that_behave_alike_are_one_row_where_they_are_many() -> None:
    one = facts(stored=70, answer=70).queues[0]
    made = [replace(one, queue=queue) for queue in range(1000)]
    made[5] = replace(made[5], stored=None, answer=0)
    found = start_page(predict_start(replace(facts(), queues=tuple(made)), Consumer()))
    rows = [[cell.text for cell in row] for row in found.sections[0].rows]
    assert [row[0] for row in rows] == ["0–4, 6–999", "5"]
    assert rows[0][1:] == ["70", "0", "75", "70", "70", "4,995", "goes on where it was"]
    assert found.sections[0].lines[0].text == "1,000 queues, lag 5,070."


def test_client_releases_that_start_alike_are_one_range() -> None:
    made = facts()
    assert others_text(predict_start(made, Consumer()), TOPIC) == "4.0.0–5.0.0-ALPHA: 0 · 5.0.0: max · 5.1.0–5.5.0: 0"
    lite = predict_start(facts(answer=None, least=4), Consumer(kind="lite"))
    assert others_text(lite, TOPIC).startswith("4.6.0: 0 · 4.6.1–")


@pytest.mark.parametrize(
    ("consumer", "expected"),
    [
        ({"where": FIRST}, (0, "0")),
        ({"where": LAST, "model": "broadcasting"}, (75, "max")),
        ({"where": LAST, "model": "broadcasting", "kind": "lite"}, (75, "max")),
        ({"kind": "pull"}, (0, "0")),
        ({"client": Release.parse("5.0.0")}, (75, "max")),
        ({"client": Release.parse("5.0.0-ALPHA")}, (None, "none")),
        ({"where": TIMESTAMP, "timestamp": "20240101000000"}, (60, "by time")),
        ({"where": TIMESTAMP, "timestamp": "no time"}, (None, "none")),
    ],
)
def test_a_group_without_an_offset_that_the_broker_gives_none(
    consumer: dict[str, object], expected: tuple[int | None, str]
) -> None:
    # a broker of 5.x on a Java that sees pages: message 0 is out of memory
    found = start(facts(answer=None, found=60, time=1_704_067_200_000), **consumer)
    assert (found.start, found.source) == expected


def test_a_time_that_no_search_was_made_for_is_not_known() -> None:
    found = start(facts(answer=None, found=60, time=5), where=TIMESTAMP, timestamp="20240101000000")
    assert (found.start, found.source) == (None, "unknown")
    assert "no search" in found.unknown


def test_a_retry_topic_starts_at_its_first_message() -> None:
    made = facts(answer=None, topic=f"%RETRY%{GROUP}")
    assert start(made).start == 0
    assert start(made, where=TIMESTAMP, timestamp="20240101000000").start == 75


def test_billions_of_messages_are_no_more_work() -> None:
    found = start(facts(stored=5_000_000_000, answer=5_000_000_000, least=4_000_000_000, most=9_000_000_000))
    assert (found.start, found.repeats, found.skips) == (5_000_000_000, 0, 0)


def test_an_answer_that_the_model_does_not_expect_is_not_guessed() -> None:
    made = facts(release="5.5.0", answer=3)
    found = predict_start(replace(made, brokers=(replace(made.brokers[0], doubts=("someProperty=1",)),)), Consumer())
    assert found.queues[0].source == "unknown"
    assert "someProperty=1" in found.queues[0].unknown
    assert any("someProperty=1" in note for note in found.notes)
    assert start_page(found).answer.text.startswith("Not known")


def test_what_cannot_be_predicted_is_one_sentence() -> None:
    asked = [
        (replace(facts(), queues=()), Consumer()),
        (facts(), Consumer(kind="lite", client=Release.parse("4.5.2"))),
        (facts(), Consumer(kind="pull", model="broadcasting")),
    ]
    for made, consumer in asked:
        with pytest.raises(PredictError, match=r"^[A-Z][^.]*(\.\d[^.]*)*: [^.]+(\.\d[^.]*)*\.$"):
            predict_start(made, consumer)


def test_limits_of_a_prediction_are_notes() -> None:
    newer = predict_start(facts(release="5.9.0"), Consumer(client=Release.parse("5.9.0"), model="broadcasting"))
    said = "5.9.0 is newer than 5.5.1, the newest the rules know: predicted as 5.5.1."
    assert {f"Client {said}", f"Broker a {said}"} <= set(newer.notes)
    assert any("offset file" in note for note in newer.notes)
    made = facts(release="4.9.7", stored=0)
    hidden = replace(made, brokers=(replace(made.brokers[0], hides_offsets=True, unread="NO_PERMISSION"),))
    assert len(predict_start(hidden, Consumer()).notes) == 2


def test_remedies_follow_from_what_the_broker_does_with_a_reset() -> None:
    def commands(release: str) -> list[str]:
        made = facts(release=release)
        end = remedies(replace(made, brokers=(replace(made.brokers[0], knows_group=False),)), TOPIC, Consumer())[0]
        return [command.split()[1] for command, _ in end.commands]

    assert commands("5.1.4") == ["updateSubGroup", "cloneGroupOffset", "skipAccumulatedMessage"]
    clones = [dict(remedies(facts(release=one), TOPIC, Consumer())[0].commands) for one in ("4.9.7", "5.1.4")]
    effects = [effect for each in clones for command, effect in each.items() if "cloneGroupOffset" in command]
    assert all("of all topics that it consumed, whatever -t says, and 0 of queues" in effect for effect in effects)
    # mqadmin 5.x asks for what brokers of 4.x do not know
    assert ["mqadmin before 5.0.0" in effect for effect in effects] == [True, False]
    assert commands("5.2.0") == ["updateSubGroup", "skipAccumulatedMessage"]


def test_commands_are_ready_to_paste() -> None:
    made = facts(release="5.2.0")
    broker = replace(made.brokers[0], knows_group=False, cluster="Default Cluster")
    known = replace(made, group="it's", name_servers="a:1;b:2", brokers=(broker,))
    commands = [command for command, _ in remedies(known, TOPIC, Consumer())[0].commands]
    assert commands == [
        "mqadmin updateSubGroup -n 'a:1;b:2' -c 'Default Cluster' -g 'it'\"'\"'s'",
        "mqadmin skipAccumulatedMessage -n 'a:1;b:2' -g 'it'\"'\"'s' -t orders",
    ]


def test_what_a_reset_does_to_members_depends_on_who_makes_it_and_on_their_kind() -> None:
    effects = [
        effect_on_members(way, Consumer(kind=kind, client=Release.parse(client)))
        for way, kind, client in (
            ("the members", "push", "5.5.0"),
            ("the members", "orderly", "5.5.0"),
            ("the members", "orderly", "5.4.0"),
            ("ignored", "lite", "5.5.0"),
            ("the broker", "lite", "5.5.0"),
            ("the broker", "push", "5.5.0"),
            ("the tool", "push", "5.5.0"),
            ("refused", "push", "5.5.0"),
        )
    ]
    assert effects[0] == effects[2] != effects[1]
    assert "ignore" in effects[3]
    assert len(set(effects)) == 7


def test_commands_say_that_lite_pull_consumers_ignore_them_whoever_says_that_they_are_lite() -> None:
    made = replace(facts(release="5.1.4", stored=70, answer=70), members=(MemberFacts(client="c"),), kind="push")
    remedy = remedies(made, TOPIC, Consumer(kind="lite"))[0]
    assert remedy.commands[-1][1].startswith("is ignored by its lite pull consumers: stop them first")
    assert "ignore the request" in remedy.running


def test_a_group_that_the_client_refuses_does_not_start() -> None:
    found = {}
    for name in ("g" * 120, "g" * 121, "g" * 255, "g" * 256, "a.b"):
        made = predict_start(replace(facts(), group=name), Consumer(client=Release.parse("5.5.0")))
        found[name] = (made.queues[0].source, dict(made.others)[TOPIC])
    none = ("none", "4.0.0–5.5.0: none")
    starts = "4.0.0–5.0.0-ALPHA: 0 · 5.0.0: max · 5.1.0–5.3.3: 0"
    assert [(source, " · ".join(f"{one}: {what}" for one, what in others)) for source, others in found.values()] == [
        ("0", f"{starts.removesuffix('5.3.3: 0')}5.5.0: 0"),
        *[("none", f"{starts} · 5.4.0–5.5.0: none")] * 2,
        *[none] * 2,
    ]
    assert every_remedy(facts(), Consumer())
    assert not every_remedy(replace(facts(), group="a.b"), Consumer())
    answer = start_page(predict_start(replace(facts(), group="a.b"), Consumer())).answer.text
    assert answer == "Client 5.5.0 does not start with this group: a name has up to 120 letters, digits and % | - _."


def test_slaves_from_5_0_0_give_nothing_while_their_master_is_gone() -> None:
    def read_of(release: str, **configuration: str) -> StartPrediction:
        made = facts(release=release, stored=70, answer=70)
        slave = replace(made.brokers[0], slave=True, configuration=configuration)
        return predict_start(replace(made, brokers=(slave,)), Consumer())

    found = [*map(read_of, ("4.9.7", "5.0.0", "5.5.0")), read_of("5.5.0", slaveReadEnable="true")]
    assert [(one.queues[0].first, one.queues[0].lag) for one in found] == [(70, 5), (None, 5), (None, 5), (70, 5)]
    assert all("The master of a is gone: these are offsets of a slave" in one.notes[0] for one in found)
    page = start_page(found[2])
    assert page.answer.text.startswith("It gets nothing where a slave whose master is gone rejects its pulls")
    assert page.sections[0].rows[0][-1].text.startswith("gets nothing: a slave")
    assert len(found[2].notes) == 1


def test_a_lag_is_not_known_where_no_start_is() -> None:
    unserved = facts(release="4.9.7", stored=70, answer=70)
    assert [start(made, kind="lite", client=NEWEST).lag for made in (unserved, facts(answer=5))] == [5, None]
    several = replace(unserved, queues=(*unserved.queues, *facts(answer=5).queues))
    found = [start_page(predict_start(made, Consumer())).sections[0] for made in (several, facts(answer=5))]
    assert found[0].lines[0].text == "2 queues, lag 5 where it is known."
    assert [row[6].text for section in found for row in section.rows] == ["5", "–", "–"]


def test_a_stored_offset_counts_where_the_group_clusters() -> None:
    assert start(facts(stored=7, answer=7)).from_stored
    assert not start(facts(stored=7, answer=7), model="broadcasting").from_stored
    assert not start(facts()).from_stored


def test_the_page_and_the_document_say_the_same() -> None:
    found = read("5.5.0")
    document = start_document(found)
    text = markdown(start_page(found))
    assert document["repeats"] == 75
    assert "It consumes 75 messages that " in text
    assert [queue["start"] for queue in document["queues"]] == [0, 75, 0, 30]
    assert "5.0.0: max" in text
    assert document["why"][0]["rule"] == "BQ-QUERY-G3"


def test_slaves_do_not_correct_an_offset_while_their_master_is_gone() -> None:
    found = []
    for stored, least, configuration in (
        (100, 0, {}),
        (2, 4, {}),
        (75, 0, {}),
        (100, 0, {"offsetCheckInSlave": "true"}),
    ):
        made = facts(release="4.9.7", stored=stored, answer=stored, least=least)
        slave = replace(made.brokers[0], slave=True, configuration=configuration)
        (queue,) = predict_start(replace(made, brokers=(slave,)), Consumer()).queues
        found.append((queue.start, queue.first, queue.rule if queue.unserved else ""))
    assert found == [(100, None, "SLV-PULL-MOVED"), (2, None, "SLV-PULL-MOVED"), (75, 75, ""), (100, 75, "")]
