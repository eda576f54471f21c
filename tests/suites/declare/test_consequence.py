"""What a divergence does to messages: derived from what was expected and observed, and no more than these show."""

from __future__ import annotations

from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models.broker.lock import Lock
from rocketmq_conformance.models.client import rebalance_orderly, rebalance_pull
from rocketmq_conformance.models.client.group_state import with_member
from rocketmq_conformance.models.client.initial_broker import initial_broker, reshaped
from rocketmq_conformance.models.client.member import BROADCASTING
from rocketmq_conformance.models.client.process_queue import ProcessQueue
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.outcome import Err, Expected, Value, agrees
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.reports.event import HARMS
from rocketmq_conformance.suites.declare.consequence import consequence_of
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.harm_readers import Consequence, Harm
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY

WHY = Reason(("RULE",), "")
NOT_FOUND = Err("QUERY_NOT_FOUND")


def does(
    suite: str,
    operation: str,
    expected: Expected,
    observed: Expected,
    why: Reason = WHY,
    *,
    args: tuple[Value, ...] = (),
    before: object = None,
) -> Consequence:
    """The consequence of a step of a suite, of which the answers alone are made, or also arguments and a state."""
    made = SUITES[suite]
    return consequence_of(made, Step((made.index[operation], args), before, None, expected, observed, why))


def whole(**parts: tuple[Expected, Expected]) -> Consequence:
    """The consequence of a step of ``whole-push`` whose parts differ so."""
    same: dict[str, tuple[Expected, Expected]] = {"places": ((), ()), "brought": ((), ()), "stored": ((), ())}
    both = {**same, **parts}
    wanted, given = (cast(Expected, tuple(pair[at] for pair in both.values())) for at in (0, 1))
    return does("whole-push", "look", wanted, given)


#: What is expected, what is observed, how bad that is, and words of the sentence.
CASES: list[tuple[tuple[str, str, Expected, Expected], Harm, str]] = [
    (("start-push", "start", 0, 12), Harm.SKIPPED, "starts at 12 instead of 0: messages in between are never given"),
    (("start-push", "start", 12, 0), Harm.REPEATED, "messages in between come again"),
    (("start-push", "start", 12, -1), Harm.STALLED, "finds no start"),
    (("start-push", "start", Err("CLIENT"), 12), Harm.SKIPPED, "where nothing says where the group stands"),
    (("start-push", "start", -1, 0), Harm.REPEATED, "where nothing says where the group stands: messages come again"),
    (("remote-store", "read", -1, 0), Harm.REPEATED, "is read where there is none: messages come again"),
    (("remote-store", "read", -2, -1), Harm.SKIPPED, "A question that failed reads as none"),
    (("remote-store", "read", -1, -2), Harm.STALLED, "reads as a failure"),
    (("remote-store", "read", 5, -1), Harm.SKIPPED, "A stored offset, 5, reads as none"),
    (("remote-store", "persist_all", ((0, 5),), ()), Harm.REPEATED, "is not committed"),
    (("remote-store", "persist_all", ((0, 5),), ((0, 9),)), Harm.SKIPPED, "9 is stored instead of 5"),
    (("remote-store", "persist_all", (), ((0, -1),)), Harm.SKIPPED, "A negative offset is stored"),
    (("broker-offsets", "query", NOT_FOUND, 0), Harm.REPEATED, "ConsumeFromWhere counts for nothing"),
    (("broker-offsets", "query", NOT_FOUND, 7), Harm.SKIPPED, "is answered 7"),
    (("broker-offsets", "query", 7, NOT_FOUND), Harm.SKIPPED, "not answered that it stands at 7"),
    (("broker-offsets", "query", NOT_FOUND, Err("SYSTEM_ERROR")), Harm.STALLED, "a start waits"),
    (("broker-offsets", "max", 7, Err("SYSTEM_ERROR")), Harm.STALLED, "The broker does not answer"),
    (("broker-offsets", "commit", None, Err("SYSTEM_ERROR")), Harm.REPEATED, "A commit is refused"),
    (("allocation", "allocate_averagely", (1, 2), (1, 2, 3)), Harm.REPEATED, "takes queues of others"),
    (("allocation", "allocate_averagely", (1, 2), (1,)), Harm.STALLED, "leaves queues to others"),
    (("allocation", "allocate_averagely", Err("ILLEGAL_ARGUMENT"), ()), Harm.DIFFERENT, "does not show in this plan"),
    (("broker-locks", "lock", ((), 0, 1), ((0,), 0, 1)), Harm.DISORDER, "granted twice"),
    (
        ("broker-filters", "pull_filtered", ("SUCCESS", 3, 0, 3, (1, 2)), ("SUCCESS", 3, 0, 3, (1,))),
        Harm.SKIPPED,
        "left out",
    ),
    (("broker-admin", "pull", ("PULL_OFFSET_MOVED", 0, ()), ("PULL_NOT_FOUND", 0, ())), Harm.STALLED, "not sent on"),
    (("broker-admin", "reset_queue", (((0, 5),), None), (((0, 8),), None)), Harm.SKIPPED, "is reset, and goes on at 8"),
    (("broker-assignment", "ask", (("a", 0, "PULL"),), None), Harm.STALLED, "does not say which queues"),
    (("broker-assignment", "ask", (("a", 0, "PULL"),), (("a", 0, "POP"),)), Harm.DIFFERENT, "does not show"),
    (
        ("broker-cold", "query_pages", (3, False), ("QUERY_NOT_FOUND", False)),
        Harm.SKIPPED,
        "not answered that it stands",
    ),
    (("broker-restart", "send_timed", ((11, 1), (12, 1)), ((5, 1), (6, 1))), Harm.LOST, "from 5 on, not from 11"),
    (("broker-tables", "start", None, Err("NOT_STARTED")), Harm.STALLED, "does not start again"),
    (("identity", "save", "HOME/offsets.json", None), Harm.SKIPPED, "No offset is stored"),
    (("identity", "read_timestamp", -18000, 1800), Harm.SKIPPED, "begins later"),
    (("identity", "start", None, Err("CLIENT")), Harm.STALLED, "A consumer does not start"),
    (("rebalance", "pull", (0, -1, False), None), Harm.STALLED, "is not pulled"),
    (("rebalance", "pull", None, (0, -1, False)), Harm.REPEATED, "is not to be"),
    (("rebalance", "rebalance", ((1,), (), False, ()), ((1,), (), True, ())), Harm.LATE, "next round may come later"),
    (("rebalance", "rebalance", ((1,), (), True, ()), ((1,), ((1, 0),), True, ())), Harm.REPEATED, "begun too early"),
    (("rebalance-orderly", "renew", (0, 1), (0,)), Harm.STALLED, "does not count as locked"),
    (("rebalance-orderly", "renew", (0,), (0, 1)), Harm.DISORDER, "counts as locked"),
    (("rebalance-orderly", "take", None, 4), Harm.DISORDER, "not to be consumed"),
    (("rebalance-orderly", "finish", ((3,), 4), ((), 4)), Harm.SKIPPED, "1 message is not given"),
    (("rebalance-pull", "rebalance", ((0,), (0,), True, ()), ((0,), (), True, ())), Harm.STALLED, "not pulled"),
    (("rebalance-pull", "poll", ((0, 1), (0, 2)), ((0, 2), (0, 1))), Harm.DISORDER, "another order"),
    (
        ("rebalance-broker", "rebalance", ((), (("T", 0),), (), (("T", 0, 0),)), ((), (("T", 0),), (), (("T", 0, 1),))),
        Harm.SKIPPED,
        "last",
    ),
    (
        ("rebalance-broker", "rebalance", ((0,), (("T", 0),), (), (("T", 0, 1),)), ((0,), (), (), ())),
        Harm.DIFFERENT,
        "does not show",
    ),
    (("rebalance-broker", "rebalance", ((), (("T", 0),), ()), ((), (), ())), Harm.STALLED, "not pulled that are to be"),
    (
        ("rebalance-broker", "rebalance", ((), (), (), (("T", 0, 1),)), ((), (), (), ())),
        Harm.DIFFERENT,
        "does not show",
    ),
    (
        ("allocation", "sort_queues", (("A", "b", 0), ("B", "b", 0)), (("B", "b", 0), ("A", "b", 0))),
        Harm.DIFFERENT,
        "no share changes",
    ),
    (
        ("allocation", "sort_queues", (("A", "b", 0), ("A", "b", 1)), (("A", "b", 1), ("A", "b", 0))),
        Harm.STALLED,
        "divides otherwise",
    ),
    (("pull", "gain", (True, ((0, 6),)), (True, ())), Harm.REPEATED, "is not committed"),
    (
        ("pull", "fail", (0, "later", 1000, 5, (), -1, False), (0, "later", 3000, 5, (), -1, False)),
        Harm.LATE,
        "put off",
    ),
    (("pushed-reset", "elapse", (((5, ((1, 3),)),), ()), (((9, ((1, 3),)),), ())), Harm.LATE, "later than by a Java"),
    (("pushed-reset", "elapse", (((5, ((1, 3),)),), ()), ((), ())), Harm.STALLED, "not pulled by then"),
    (("consume", "put", (True, 1, 10, 0, True), (False, 1, 10, 0, True)), Harm.STALLED, "begin no run"),
    (
        ("broker-retry", "send_back", ("retry", 0, 0, 1, (), 81), ("retry", 0, 0, 1, "X")),
        Harm.STALLED,
        "cannot be pulled",
    ),
    (
        ("remote-store", "commit", Err("SYSTEM_BUSY", commits=((2, 2),)), Err("SYSTEM_BUSY", commits=((2, 13),))),
        Harm.SKIPPED,
        "13 is stored instead of 2",
    ),
]


def test_answers_say_what_a_divergence_does() -> None:
    offenders = []
    for answers, harm, words in CASES:
        found = does(*answers)
        if found.harm is not harm or words not in found.sentence:
            offenders.append((answers, found))
    assert offenders == []


def test_topics_are_divided_by_themselves_however_two_queues_compare() -> None:
    def compared(topic: str) -> Harm:
        return does("allocation", "compare_queues", 1, -1, args=((topic, "b", 1), ("T", "b", 0))).harm

    assert compared("U") is Harm.DIFFERENT
    assert compared("T") is Harm.STALLED


def test_the_log_says_whether_a_message_lies_between_two_starts() -> None:
    def start(shape: str, expected: int, observed: int) -> Harm:
        before = RemoteStore(broker=reshaped(initial_broker(ORDINARY), ORDINARY.places[0], shape))
        return does("start-push", "start", expected, observed, args=(0, "", "", ""), before=before).harm

    assert start("expired", 0, 4) is start("expired", 4, 0) is start("empty", -1, 0) is Harm.DIFFERENT
    assert start("expired", 0, 5) is Harm.SKIPPED
    assert start("expired", 5, 0) is start("expired", -1, 4) is Harm.REPEATED
    assert start("expired", 12, 20) is Harm.SKIPPED  # beyond max


def test_a_member_that_divides_with_no_other_leaves_no_queue_to_others() -> None:
    state = rebalance_pull.initial_state(ORDINARY)
    (who, *_), group = state.group.members, state.group
    assert who is not None
    broadcasts = state._replace(group=with_member(group, 0, who._replace(mode=BROADCASTING)))
    alone = state._replace(group=group._replace(listed=(who.client,)))

    def owns(before: object, expected: tuple[int, ...], observed: tuple[int, ...]) -> str:
        answers = cast("list[Expected]", [(owned, (), True, ()) for owned in (expected, observed)])
        return does("rebalance-pull", "rebalance", *answers, args=(0, "", "", ""), before=before).sentence

    assert "leaves queues to others" in owns(state, (0, 1), (0,))
    assert "takes none of the queues" in owns(broadcasts, (0,), ())
    assert "does not take queues" in owns(alone, (0, 1), (0,))
    assert "does not show" in owns(broadcasts, (), (0,))


def test_a_queue_that_is_kept_with_its_lock_is_not_consumed_twice() -> None:
    state = rebalance_orderly.initial_state(ORDINARY)
    (who, *_) = state.group.members
    assert who is not None
    group = with_member(state.group, 0, who._replace(table={0: ProcessQueue(1, 0, 0)}))

    def kept(client: str, *owned: int) -> Harm:
        before = state._replace(group=group, locks={(GROUP, ORDINARY.queues[0]): Lock(client, 0)})
        wanted, given = ((), (), True, False, ()), (owned, (), True, False, ())
        return does("rebalance-orderly", "rebalance", wanted, given, args=(0,), before=before).harm

    assert kept(who.client, 0) is Harm.STALLED
    assert kept("another", 0) is Harm.DIFFERENT
    assert kept(who.client, 0, 1) is Harm.REPEATED


def test_whole_consumers_show_the_worst_of_what_differs() -> None:
    mine, theirs, unpulled = (0, 12), (1, 12), (-1, -1)
    brought = ((0, 0, 0, 12),)
    assert whole(places=((mine,), (unpulled,))).harm is Harm.STALLED
    assert whole(places=((mine,), (theirs,))).harm is Harm.STALLED
    assert whole(places=((unpulled,), (mine,))).harm is Harm.REPEATED
    assert whole(places=((mine,), ((0, 20),))).harm is Harm.SKIPPED
    assert whole(brought=(brought, ())).sentence.startswith("12 messages are not given")
    assert whole(brought=(brought, (*brought, *brought))).harm is Harm.REPEATED
    assert whole(brought=(brought, (*brought, (0, "sent back", 0, 24)))).harm is Harm.LATE
    assert whole(stored=((12, -1), (12, "-1 was sent"))).sentence.startswith("A negative offset is stored")
    assert whole(stored=((12,), (7,)), places=((mine,), (unpulled,))).harm is Harm.REPEATED


def test_a_message_that_is_given_again_is_not_called_lost() -> None:
    def listener(retry: tuple[int, ...], brought: Expected) -> Harm:
        wanted, given = ((), (), (), (0, 0, 0, 4)), ((), brought, (), retry)
        return does("whole-listener", "look", wanted, cast(Expected, given)).harm

    assert listener((0, 0, 0, 0), ()) is Harm.LOST
    assert listener((0, 0, 0, 0), ((0, 0, 13, 1),)) is Harm.REPEATED


def test_what_a_rule_about_time_decides_is_late_and_an_accident_does_nothing() -> None:
    look = ((((0, 12),), (), ()), (((-1, -1),), (), ()))
    assert does("whole-push", "look", *look, Reason(("REB-SVC-WAKE",), "")).harm is Harm.LATE
    left = [((), (), (), connections, True, "one way", None) for connections in (1, 3)]
    beats = Reason(("TIMER-BEAT",), "")
    assert does("whole-push", "leave", *left, beats).harm is Harm.STALLED
    assert does("whole-push", "leave", *left[::-1], beats).harm is Harm.LATE
    lock, later = ((1000, "lock", ("G",)),), ((2000, "lock", ("G",)),)
    due = [(lock, later), (lock, ()), ((), lock), (later, lock), (lock, lock + later)]
    harms = [does("timers", "elapse", *answers, Reason(("TIMER-LOCK",), "")).harm for answers in due]
    assert harms == [Harm.LATE] * 2 + [Harm.DIFFERENT] * 3
    first, then = ("commit", ("G", 7)), ("unregister", ("G",))
    sent = [((first, then), (then, first)), ((first, then), (first, first, then))]
    harms = [does("timers", "shutdown", *answers, Reason(("TIMER-PERSIST",), "")).harm for answers in sent]
    assert harms == [Harm.LATE, Harm.DIFFERENT]
    assert does("remote-store", "read", 5, 0, Reason(("OFF-R-READ",), "", quirk=True)).sentence.startswith(
        "Java answers"
    )


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 20) | st.sampled_from(["retry", "dead", "SUCCESS"]),
    lambda inner: st.lists(inner, max_size=5).map(tuple),
    max_leaves=12,
)
ANSWERS = VALUES | st.sampled_from([NOT_FOUND, Err("SYSTEM_ERROR")])


@settings(max_examples=60)
@given(st.sampled_from(sorted(SUITES)), ANSWERS, ANSWERS, st.data())
def test_any_answer_has_a_sentence(suite: str, expected: Expected, observed: Expected, data: st.DataObject) -> None:
    operation = data.draw(st.sampled_from([one.spec.name for one in SUITES[suite].operations]))
    if not agrees(expected, observed):
        found = does(suite, operation, expected, observed)
        assert found.harm.value in HARMS
        assert found.sentence.endswith(".")


def test_reports_know_every_harm_in_its_order() -> None:
    assert tuple(harm.value for harm in Harm) == HARMS
