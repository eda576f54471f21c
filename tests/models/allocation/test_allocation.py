"""Strategies: vectors that real clients gave, laws, and naive restatements."""

from __future__ import annotations

from hashlib import md5
from typing import Any

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.allocation import consistent_hash
from rocketmq_conformance.models.allocation.allocate import AllocationModel
from rocketmq_conformance.models.message_queue import Queue, sort_ids, sort_queues
from rocketmq_conformance.models.outcome import UNDEFINED, Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.allocation import SUITE
from rocketmq_conformance.suites.declare.sampler import sampler

ILLEGAL = Err("ILLEGAL_ARGUMENT")
MODEL = AllocationModel(Profile())
Queues = tuple[Queue, ...]


def queues(*ids: int, broker: str = "b0", topic: str = "T") -> Queues:
    return tuple((topic, broker, number) for number in ids)


def ids_of(answer: Any) -> list[int]:
    return [queue[2] for queue in answer[1]]


def model(client: str) -> AllocationModel:
    return AllocationModel(Profile.of(client=client))


# --- ALLOC-CHK-1 ---------------------------------------------------------------------------------------------

CHECKED = {
    "AVG": MODEL.averagely,
    "AVG_BY_CIRCLE": MODEL.by_circle,
    "MACHINE_ROOM": lambda *args: MODEL.by_machine_room(*args, ("r",)),
    "MACHINE_ROOM_NEARBY": lambda *args: MODEL.nearby(*args, "AVG"),
    "CONSISTENT_HASH": lambda *args: MODEL.by_consistent_hash(*args, 10),
}


@pytest.mark.parametrize("strategy", CHECKED)
def test_checks_run_in_order(strategy: str) -> None:
    allocate = CHECKED[strategy]
    given_queues = queues(0, broker="r@b0")
    assert allocate(None, "", given_queues, ("r@a",))[1:2] == (ILLEGAL,)
    assert allocate(None, "", (), ())[2].kind == "own id empty"
    assert allocate(None, "r@a", (), ())[2].kind == "no queues"
    assert allocate(None, "r@a", (), ("r@a",))[1] == ILLEGAL
    assert allocate(None, "r@a", given_queues, ())[2].kind == "no members"
    assert allocate(None, "r@a", given_queues, ())[1] == ILLEGAL
    assert allocate(None, "r@b", given_queues, ("r@a",))[1:] == ((), allocate(None, "x", given_queues, ("y",))[2])
    assert allocate(None, "r@a", given_queues, ("r@a",))[1] == given_queues


def test_a_blank_id_is_an_id() -> None:
    assert ids_of(MODEL.averagely(None, " ", queues(0, 1), (" ", "a"))) == [0]


# --- AVG and AVG_BY_CIRCLE -----------------------------------------------------------------------------------


@every(
    ("count", "members", "shares"),
    [
        (8, "abc", {"a": [0, 1, 2], "b": [3, 4, 5], "c": [6, 7]}),
        (8, "abcde", {"a": [0, 1], "b": [2, 3], "c": [4, 5], "d": [6], "e": [7]}),
        (2, "abc", {"a": [0], "b": [1], "c": []}),
        (3, "aab", {"a": [0], "b": [2]}),
        (8, "aab", {"a": [0, 1, 2], "b": [6, 7]}),
        (4, "aa", {"a": [0, 1]}),
    ],
)
def test_averagely_gives_the_known_shares(count: int, members: str, shares: dict[str, list[int]]) -> None:
    for me, share in shares.items():
        assert ids_of(MODEL.averagely(None, me, queues(*range(count)), tuple(members))) == share


def test_circle_gives_the_known_shares() -> None:
    assert ids_of(MODEL.by_circle(None, "a", queues(*range(8)), ("a", "a", "b"))) == [0, 3, 6]
    assert ids_of(MODEL.by_circle(None, "b", queues(*range(8)), ("a", "a", "b"))) == [2, 5]
    assert ids_of(MODEL.by_circle(None, "c", queues(0, 1), ("a", "b", "c"))) == []


def test_averagely_deals_block_by_block() -> None:
    # Naive restatement: hand every place its number of queues, one queue at a time.
    for members in range(1, 8):
        for count in range(1, 25):
            blocks: list[list[int]] = [[] for _ in range(members)]
            sizes = [sum(at % members == place for at in range(count)) for place in range(members)]
            for number in range(count):
                next(block for block, size in zip(blocks, sizes, strict=True) if len(block) < size).append(number)
            names = tuple(f"c{k}" for k in range(members))
            for place, name in enumerate(names):
                assert ids_of(MODEL.averagely(None, name, queues(*range(count)), names)) == blocks[place]


def test_circle_deals_like_cards() -> None:
    for members in range(1, 8):
        names = tuple(f"c{k}" for k in range(members))
        for count in range(1, 25):
            hands: dict[str, list[int]] = {name: [] for name in names}
            for number in range(count):
                hands[names[number % members]].append(number)
            for name in names:
                assert ids_of(MODEL.by_circle(None, name, queues(*range(count)), names)) == hands[name]


# --- CONFIG --------------------------------------------------------------------------------------------------


def test_config_ignores_everything_but_the_configuration() -> None:
    configured = queues(1, 0, topic="OTHER")
    assert MODEL.by_config(None, "", (), (), configured)[1] == configured
    assert MODEL.by_config(None, "x", queues(0), ("a",), configured)[1] == configured


def test_no_configuration_is_no_queues() -> None:
    assert MODEL.by_config(None, "a", queues(0), ("a",), None)[1] == ()


# --- MACHINE_ROOM --------------------------------------------------------------------------------------------

FOREIGN_FIRST = queues(0, 1, broker="r1@a") + queues(0, 1, broker="r2@b")


def test_machine_room_takes_the_rest_from_the_tail() -> None:
    five = queues(0, 1, 2, 3, 4, broker="r@b")
    shares = [ids_of(MODEL.by_machine_room(None, me, five, ("a", "b", "c"), ("r",))) for me in "abc"]
    assert shares == [[0, 3], [1, 4], [2]]


@pytest.mark.parametrize("client", ["4.8.0", "4.9.8", "5.0.0-PREVIEW", "5.5.0"])
def test_machine_room_stays_in_its_rooms(client: str) -> None:
    assert model(client).by_machine_room(None, "a", FOREIGN_FIRST, ("a", "b"), ("r2",))[1] == (("T", "r2@b", 0),)


@pytest.mark.parametrize("client", ["4.0.0", "4.7.1"])
def test_machine_room_gave_foreign_queues(client: str) -> None:
    answer = model(client).by_machine_room(None, "b", FOREIGN_FIRST, ("a", "b"), ("r2",))
    assert answer[1] == (("T", "r1@a", 1),)
    assert answer[2].rules == ("ALLOC-ROOM-1-FAULT",)
    three = queues(0, broker="r1@a") + queues(0, 1, 2, broker="r2@b")
    assert model(client).by_machine_room(None, "a", three, ("a", "b"), ("r2",))[1] == (three[0], three[3])


def test_the_fault_is_silent_when_foreign_queues_come_last() -> None:
    given_queues = queues(0, 1, broker="r2@b") + queues(0, broker="z@a")
    answer = model("4.7.1").by_machine_room(None, "b", given_queues, ("a", "b"), ("r2",))
    assert answer[1] == (("T", "r2@b", 1),)
    assert answer[2].rules == ("ALLOC-ROOM-1",)


@every(
    ("broker", "room", "housed"),
    [
        ("a@b", "a", True),
        ("a@b@", "a", True),
        ("@b", "", True),
        ("a@", "a", False),
        ("a@b@c", "a", False),
        ("@", "", False),
        ("@@b", "", False),
        ("", "", False),
        ("a", "a", False),
    ],
)
def test_a_broker_has_a_room_when_its_name_has_two_parts(broker: str, room: str, housed: bool) -> None:
    one = queues(0, broker=broker)
    assert MODEL.by_machine_room(None, "me", one, ("me",), (room,))[1] == (one if housed else ())


def test_without_rooms_nothing_is_promised_once_a_broker_has_one() -> None:
    assert MODEL.by_machine_room(None, "a", queues(0, broker="r@b"), ("a",), None)[1] is UNDEFINED
    assert MODEL.by_machine_room(None, "a", queues(0, broker="b"), ("a",), None)[1] == ()


@pytest.mark.parametrize("client", ["4.0.0", "4.9.2", "5.0.0-PREVIEW"])
def test_old_machine_rooms_check_nothing(client: str) -> None:
    allocate = model(client).by_machine_room
    for me, given_queues, members in (("", queues(0), ("a",)), ("a", (), ("a",)), ("a", queues(0), ())):
        assert allocate(None, me, given_queues, members, ("r",))[1] == ()
    assert allocate(None, " ", queues(0, broker="r@b"), (" ",), ("r",))[1] == queues(0, broker="r@b")
    assert allocate(None, "", queues(0, broker="r@b"), ("",), ("r",))[1] == queues(0, broker="r@b")


@pytest.mark.parametrize("client", ["4.9.3", "5.0.0-ALPHA"])
def test_some_machine_rooms_refuse_a_blank_id(client: str) -> None:
    allocate = model(client).by_machine_room
    assert allocate(None, " \t", queues(0, broker="r@b"), (" \t",), ("r",))[1] == ILLEGAL
    assert allocate(None, "\u00a0", queues(0, broker="r@b"), ("\u00a0",), ("r",))[1] == queues(0, broker="r@b")
    assert allocate(None, "", queues(0), ("a",), ("r",))[1] == ILLEGAL
    assert allocate(None, "x", queues(0), ("a",), ("r",))[1] == ()


@pytest.mark.parametrize("client", ["4.9.4", "4.9.8", "5.0.0", "5.5.0"])
def test_later_machine_rooms_check_as_all_do(client: str) -> None:
    allocate = model(client).by_machine_room
    assert allocate(None, " ", queues(0, broker="r@b"), (" ",), ("r",))[1] == queues(0, broker="r@b")
    assert allocate(None, "a", (), ("a",), ("r",))[1] == ILLEGAL


# --- MACHINE_ROOM_NEARBY -------------------------------------------------------------------------------------

ROOMS = queues(*range(4), broker="R1@b") + queues(*range(3), broker="R2@b") + queues(*range(5), broker="R3@b")
MEMBERS = ("R1@c0", "R1@c1", "R2@c0")


def test_nearby_gives_the_known_shares() -> None:
    shares = {me: MODEL.nearby(None, me, ROOMS, MEMBERS, "AVG")[1] for me in MEMBERS}
    assert shares == {
        "R1@c0": queues(0, 1, broker="R1@b") + queues(0, 1, broker="R3@b"),
        "R1@c1": queues(2, 3, broker="R1@b") + queues(2, 3, broker="R3@b"),
        "R2@c0": queues(0, 1, 2, broker="R2@b") + queues(4, broker="R3@b"),
    }


def test_nearby_puts_the_own_room_first_and_vacant_rooms_in_code_unit_order() -> None:
    names = ("\uff5e@b", "\U0001f600@b", "M@b", "A@b")
    given_queues = tuple(queue for name in names for queue in queues(0, broker=name))
    found = MODEL.nearby(None, "M@c", given_queues, ("M@c",), "AVG_BY_CIRCLE")[1]
    assert [queue[1] for queue in found] == ["M@b", "A@b", "\U0001f600@b", "\uff5e@b"]


def test_nearby_uses_its_inner_strategy() -> None:
    four = queues(*range(4), broker="R1@b")
    members = ("R1@c0", "R1@c1")
    by_name = {name: ids_of(MODEL.nearby(None, "R1@c1", four, members, name)) for name in ("AVG", "AVG_BY_CIRCLE")}
    assert by_name == {"AVG": [2, 3], "AVG_BY_CIRCLE": [1, 3]}
    assert (
        MODEL.nearby(None, "R1@c1", four, members, "CONSISTENT_HASH")[1]
        == MODEL.by_consistent_hash(None, "R1@c1", four, members, 10)[1]
    )


@pytest.mark.parametrize(("broker", "member"), [("b", "R1@c"), ("R1@b", "c"), ("@b", "R1@c"), ("R1@b", "@c")])
def test_nearby_refuses_names_without_a_room(broker: str, member: str) -> None:
    members = ("R1@me", member)
    assert MODEL.nearby(None, "R1@me", queues(0, broker=broker), members, "AVG")[1] == ILLEGAL


def test_nearby_gives_nothing_when_all_rooms_have_other_members() -> None:
    answer = MODEL.nearby(None, "R1@c", queues(0, broker="R2@b"), ("R1@c", "R2@c"), "AVG")
    assert (answer[1], answer[2].kind) == ((), "no queue in reach")


# --- CONSISTENT_HASH -----------------------------------------------------------------------------------------


@every(
    ("text", "place"),
    [
        ("", 3558706393),
        ("a", 214005177),
        ("c0-0", 2316876094),
        ("c0-9", 4293005705),
        ("\u4e2d\u6587-0", 3818105464),
        ("MessageQueue [topic=T, brokerName=b0, queueId=0]", 3520181902),
        ("MessageQueue [topic=topic, brokerName=broker-a, queueId=15]", 2006660767),
    ],
)
def test_places_are_javas(text: str, place: int) -> None:
    assert MODEL.place_text(None, text)[1] == place


def test_half_a_surrogate_pair_is_a_question_mark() -> None:
    assert MODEL.place_text(None, "a\ud800")[1] == MODEL.place_text(None, "a?")[1]


@pytest.mark.parametrize(
    ("given_queues", "members", "shares"),
    [
        (queues(*range(8)), ("c0", "c1", "c2"), ([3, 4, 6, 7], [0, 1, 2], [5])),
        (queues(*range(8)), ("a", "a", "b"), ([1, 3, 4, 6, 7], [1, 3, 4, 6, 7], [0, 2, 5])),
        (
            queues(*range(16), topic="topic", broker="broker-a"),
            ("192.168.0.1@1#1", "192.168.0.2@1#1", "192.168.0.3@1#1"),
            ([5, 11, 12, 14], [0, 1, 4, 7, 8, 9, 15], [2, 3, 6, 10, 13]),
        ),
    ],
)
def test_consistent_hash_gives_the_known_shares(given_queues: Queues, members: Any, shares: Any) -> None:
    for me, share in zip(members, shares, strict=True):
        assert ids_of(MODEL.by_consistent_hash(None, me, given_queues, members, 10)) == share


def test_the_number_of_virtual_nodes_may_be_zero_but_not_negative() -> None:
    assert MODEL.by_consistent_hash(None, "a", queues(0), ("a",), 0)[1] == ()
    assert MODEL.by_consistent_hash(None, "a", queues(0), ("a",), -1)[1] == ILLEGAL
    assert MODEL.by_consistent_hash(None, "", (), (), -1)[2].kind == "negative number of virtual nodes"


def test_a_duplicate_id_continues_its_numbering() -> None:
    once, twice = consistent_hash.ring_of(("a",), 20), consistent_hash.ring_of(("a", "a"), 10)
    assert once == twice


def test_the_later_node_wins_a_collision() -> None:
    place = consistent_hash.place_of("c601-6")
    assert place == consistent_hash.place_of("c1081-3")
    for members in (("c601", "c1081"), ("c1081", "c601")):
        ring = consistent_hash.ring_of(members, 10)
        assert ring.collided
        assert ring.owners[ring.places.index(place)] == members[-1]


def test_what_a_collision_took_is_numbered_again() -> None:
    # c1081-3 takes the place of c601-6, so the second c601 begins at its node 9, not 10.
    ring = consistent_hash.ring_of(("c601", "c1081", "c601"), 10)
    assert consistent_hash.place_of("c601-18") in ring.places
    assert consistent_hash.place_of("c601-19") not in ring.places


@pytest.mark.parametrize(("queue", "node", "owner"), [(87840, "c3929-0", "c3929"), (5470, "c7659-9", "c7659")])
def test_a_queue_exactly_at_a_node_belongs_to_it(queue: int, node: str, owner: str) -> None:
    assert MODEL.place_text(None, f"MessageQueue [topic=T, brokerName=b0, queueId={queue}]")[
        1
    ] == consistent_hash.place_of(node)
    assert ids_of(MODEL.by_consistent_hash(None, owner, queues(queue), ("c3929", "a", "c7659"), 10)) == [queue]


@given(
    st.lists(st.sampled_from(["a", "b", "c0", "c601", "c1081"]), min_size=1, max_size=6),
    st.integers(1, 12),
    st.integers(0, 300),
)
def test_the_ring_walked_step_by_step_gives_the_same_owner(members: list[str], nodes: int, number: int) -> None:
    # Naive restatement: a list of (place, id) pairs, and the nearest one clockwise.
    def place(text: str) -> int:
        return int(md5(text.encode(), usedforsecurity=False).hexdigest()[:8], 16)

    on_ring: list[tuple[int, str]] = []
    for member in members:
        first = len([owner for _, owner in on_ring if owner == member])
        for k in range(first, first + nodes):
            at = place(f"{member}-{k}")
            on_ring = [(p, owner) for p, owner in on_ring if p != at] + [(at, member)]
    start = place(f"MessageQueue [topic=T, brokerName=b0, queueId={number}]")
    owner = min(on_ring, key=lambda pair: (pair[0] - start) % 2**32)[1]
    for me in members:
        mine = MODEL.by_consistent_hash(None, me, queues(number), tuple(members), nodes)[1]
        assert mine == (queues(number) if me == owner else ())


# --- laws ----------------------------------------------------------------------------------------------------

NAMES = st.lists(st.sampled_from([f"r{k % 3}@c{k}" for k in range(9)]), min_size=1, max_size=7, unique=True)
LISTS = st.lists(
    st.tuples(st.sampled_from("TU"), st.sampled_from(["r0@a", "r1@a", "r9@a"]), st.integers(0, 20)),
    min_size=1,
    max_size=14,
    unique=True,
)
WHOLE = {
    "AVG": MODEL.averagely,
    "AVG_BY_CIRCLE": MODEL.by_circle,
    "CONSISTENT_HASH": lambda *args: MODEL.by_consistent_hash(*args, 10),
}


@pytest.mark.parametrize("strategy", WHOLE)
@given(members=NAMES, given_queues=LISTS)
def test_unique_members_own_every_queue_once(strategy: str, members: list[str], given_queues: list[Queue]) -> None:
    lists = [WHOLE[strategy](None, me, tuple(given_queues), tuple(members))[1] for me in members]
    assert sorted(queue for owned in lists for queue in owned) == sorted(given_queues)
    for owned in lists:
        assert [queue for queue in given_queues if queue in owned] == list(owned)


@given(members=NAMES, given_queues=LISTS, inner=st.sampled_from(sorted(WHOLE)))
def test_nearby_owns_every_queue_once_and_keeps_inhabited_rooms(
    members: list[str], given_queues: list[Queue], inner: str
) -> None:
    lists = {me: MODEL.nearby(None, me, tuple(given_queues), tuple(members), inner)[1] for me in members}
    assert sorted(queue for owned in lists.values() for queue in owned) == sorted(given_queues)
    inhabited = {me[:2] for me in members}
    for me, owned in lists.items():
        assert all(queue[1][:2] == me[:2] or queue[1][:2] not in inhabited for queue in owned)


@given(members=NAMES, given_queues=LISTS, rooms=st.sets(st.sampled_from(["r0", "r1", "r9"])))
def test_machine_room_owns_every_allowed_queue_once(
    members: list[str], given_queues: list[Queue], rooms: set[str]
) -> None:
    lists = [MODEL.by_machine_room(None, me, tuple(given_queues), tuple(members), tuple(rooms))[1] for me in members]
    assert sorted(q for owned in lists for q in owned) == sorted(q for q in given_queues if q[1][:2] in rooms)
    sizes = [len(owned) for owned in lists]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE"])
@given(members=NAMES, given_queues=LISTS)
def test_shares_differ_by_one_at_most(strategy: str, members: list[str], given_queues: list[Queue]) -> None:
    sizes = [len(WHOLE[strategy](None, me, tuple(given_queues), tuple(members))[1]) for me in members]
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("strategy", WHOLE)
@given(members=NAMES, given_queues=LISTS, shuffle=st.randoms(use_true_random=False))
def test_after_sorting_the_input_order_does_not_matter(
    strategy: str, members: list[str], given_queues: list[Queue], shuffle: Any
) -> None:
    def share(me: str) -> Any:
        ordered = sort_queues(given_queues)
        assert ordered is not None
        return WHOLE[strategy](None, me, ordered, sort_ids(members))[1]

    before = [share(me) for me in sorted(members)]
    shuffle.shuffle(members)
    shuffle.shuffle(given_queues)
    assert [share(me) for me in sorted(members)] == before


@given(members=NAMES.filter(lambda members: len(members) > 1), given_queues=LISTS)
def test_a_leaving_member_moves_only_its_own_queues(members: list[str], given_queues: list[Queue]) -> None:
    *staying, leaving = members
    for me in staying:
        before = MODEL.by_consistent_hash(None, me, tuple(given_queues), tuple(members), 10)[1]
        after = MODEL.by_consistent_hash(None, me, tuple(given_queues), tuple(staying), 10)[1]
        assert isinstance(before, tuple)
        assert isinstance(after, tuple)
        assert set(before) <= set(after), leaving


# --- the suite -----------------------------------------------------------------------------------------------


def test_an_order_that_a_difference_beyond_an_int_decides_is_an_accident() -> None:
    for unsorted, ordered, accidental in (
        (queues(10, 2), queues(2, 10), False),
        (queues(-(2**31), 1), queues(1, -(2**31)), True),
        ((("T", "a", 2**31 - 1), ("T", "b", -2)), (("T", "a", 2**31 - 1), ("T", "b", -2)), False),
    ):
        _, result, why = MODEL.sort_queues(None, unsorted)
        assert (result, why.quirk) == (ordered, accidental)
        assert why.rules == (("MQ-ORD-1",) if accidental else ("REB-CLU-2", "MQ-ORD-1"))


def test_order_and_identity_are_answered() -> None:
    assert MODEL.sort_queues(None, queues(0, -(2**31)))[1] is UNDEFINED
    assert MODEL.sort_members(None, ("b", "a"))[1] == ("a", "b")
    assert MODEL.compare_queues(None, ("T", "b", 2), ("T", "b", 10))[1] == -1
    assert MODEL.compare_queues(None, ("T", "b", -(2**31)), ("T", "b", 1))[2].kind == "two queues, difference wraps"


def test_from_5_5_1_queue_ids_compare_as_numbers() -> None:
    newer = AllocationModel(Profile.of("5.5.1"))
    left, right, middle = ("T", "b", -(2**31)), ("T", "b", 1), ("T", "b", 0)
    assert MODEL.compare_queues(None, left, right)[1] == 1
    assert newer.compare_queues(None, left, right)[1:] == (-1, MODEL.compare_queues(None, middle, right)[2])
    assert MODEL.sort_queues(None, (right, left, middle))[1] is UNDEFINED
    assert newer.sort_queues(None, (right, left, middle))[1] == (left, middle, right)
    assert MODEL.identify_queue(None, ("T", "b0", 0))[1] == (
        "MessageQueue [topic=T, brokerName=b0, queueId=0]",
        2995521,
    )


@pytest.mark.parametrize(
    ("client", "absent"),
    [
        ("4.0.0", {"allocate_nearby", "allocate_by_consistent_hash", "place_text"}),
        ("4.1.0", {"allocate_nearby"}),
        ("4.2.0", {"allocate_nearby"}),
        ("4.3.0", set()),
        ("5.0.0-PREVIEW", set()),
    ],
)
def test_strategies_are_offered_from_their_first_release(client: str, absent: set[str]) -> None:
    offered = {SUITE.operations[at].spec.name for at in SUITE.offered(Profile.of(client=client))}
    assert set(SUITE.index) - offered == absent


def test_every_simplification_is_simpler_and_well_formed() -> None:
    drawn, bound = sampler(SUITE, Profile()), SUITE.bind(Profile())
    compared = 0
    for case in range(4):
        for at, args in drawn.case(2, case, 20):
            spec = SUITE.operations[at].spec
            for simple in spec.simpler(args):
                assert len(simple) == len(args)
                if spec.name in ("allocate_nearby", "allocate_by_consistent_hash") and simple[:3] == args[:3]:
                    assert simple[3] in spec.domains[3][1].simpler(args[3])
                else:
                    assert size(simple) < size(args), (spec.name, args, simple)
                bound.by_position[at](None, *simple)
                compared += 1
    assert compared > 1000


def size(args: tuple[Any, ...]) -> tuple[int, int, int, int]:
    """Texts, characters, sum of the numbers, and the place of ``me``: what shrinking makes smaller."""
    texts: list[str] = []
    numbers: list[int] = []

    def walk(value: Any) -> None:
        if isinstance(value, tuple):
            for item in value:
                walk(item)
        elif isinstance(value, str):
            texts.append(value)
        elif value is not None:
            numbers.append(abs(value))

    if len(args) > 2:
        # the own id counts as a member's, or by itself when it is none
        walk(args[1:] if args[0] in args[2] else args)
    else:
        walk(args)
    place = args[2].index(args[0]) if len(args) > 2 and args[0] in args[2] else 0
    return len(texts), len("".join(texts)), sum(numbers), place


def test_shrinking_reaches_the_smallest_story() -> None:
    # A strategy that gives surplus members the last queue: one queue and two members show it.
    def wrong(args: tuple[Any, ...]) -> bool:
        me, given_queues, members = args
        return me in members and bool(given_queues) and members.index(me) >= len(given_queues)

    args: tuple[Any, ...] = ("c4", queues(7, 8, 9, broker="east@b0"), ("c0", "c1", "c2", "c3", "c4"))
    spec = SUITE.operations[SUITE.index["allocate_averagely"]].spec
    tried = 0
    while True:
        for simple in spec.simpler(args):
            tried += 1
            if wrong(simple):
                args = simple
                break
        else:
            break
    assert args == ("c4", queues(0), ("c3", "c4"))
    assert tried <= 30
