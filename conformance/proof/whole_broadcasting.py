"""Proof of broadcasting consumers whose listeners fail or hold (WHOLE-BC-*): real consumers on the fake broker, with
offset files of their own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, NamedTuple, cast
from uuid import uuid4

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.proof.whole_played import LOOK_LIMIT, POLL_INTERVAL, runs
from rocketmq_conformance.conformance.proof.whole_script import BRIEF_HOLD, Script
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.offset_file_damage import FILE_NAME, store_folder
from rocketmq_conformance.conformance.targets.scoped import Scoped
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.client.initial_broker import TIMES
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, HOLDS, SUCCEEDS
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.client.whole_broadcast import Seen
from rocketmq_conformance.models.client.whole_broadcast_listener import WholeBroadcastListenerModel
from rocketmq_conformance.models.client.whole_moves import Arrive, GivenMessages, Join, Leave, Listen
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

MEMBERS = ("a", "b")
QUEUES = 2
#: Threads of a listener: no fewer than a case has messages that are held.
_THREADS = 4
#: How long (s) nothing else may happen after what is expected; and after a failure, which a client that does not drop
#: the message, and cannot send it back, repeats after five seconds.
_QUIET, _QUIET_AFTER_FAILURE = 0.7, 6.0

#: Of every move: the messages that each member was given, the offsets in each member's file, and how many messages were
#: sent back.
Observation = tuple[tuple[tuple[str, GivenMessages], ...], tuple[tuple[str, tuple[int, ...]], ...], int]


class BroadcastCase(NamedTuple):
    """Broadcasting members of a group, and what happens to them."""

    name: str
    moves: tuple[Join | Leave | Listen | Arrive, ...]


_BACK = (Leave(), Arrive(), Join())
CASES = (
    BroadcastCase(
        "a listener fails",
        (Join(), Listen(listener=FAILS), Arrive(), Arrive(0), Listen(), Arrive(), *_BACK),
    ),
    BroadcastCase(
        "a listener holds, and returns",
        (Join(), Listen(listener=HOLDS), Arrive(), Arrive(0), Listen(), Arrive(), *_BACK),
    ),
    BroadcastCase(
        "a member ends while its listener holds",
        (Join(), Listen(listener=HOLDS), Arrive(), Arrive(0), *_BACK, Arrive()),
    ),
    BroadcastCase(
        "one fails while another one holds",
        (Join("a"), Join("b"), Listen("a", FAILS), Listen("b", HOLDS), Arrive(), Leave("b"), Arrive(), Join("b")),
    ),
)


def expected(profile: Profile, case: BroadcastCase) -> tuple[tuple[Observation, ...], Reason]:
    """What each move shows, and the rules behind it."""
    model = WholeBroadcastListenerModel(profile, ORDINARY)
    state, _, _ = model.prepare(model.initial(), QUEUES, "young", -1, LAST)
    shown: list[Observation] = []
    rules: dict[str, None] = {}
    for move in case.moves:
        match move:
            case Join(name):
                state, seen, why = model.join(state, MEMBERS.index(name))
            case Leave(name):
                state, seen, why = model.leave(state, MEMBERS.index(name))
            case Listen(name, listener):
                state, seen, why = model.listen(state, MEMBERS.index(name), listener)
            case Arrive(queue):
                state, seen, why = model.send(state, EVERY if queue is None else queue)
        _, brought, *_ = cast(Seen, seen)
        members = dict(zip(MEMBERS, ORDINARY.members, strict=False))
        given = tuple(
            (name, tuple(tuple(run) for member, *run in brought if MEMBERS[member] == name))
            for name, member in members.items()
            if member in state.members
        )
        held = ((name, state.files.get(state.client_of(member))) for name, member in members.items())
        files = tuple((name, tuple(offsets[queue] for queue in range(QUEUES))) for name, offsets in held if offsets)
        shown.append((cast("tuple[tuple[str, GivenMessages], ...]", given), files, 0))
        rules.update(dict.fromkeys(rule for rule in why.rules if rule.startswith("WHOLE-BC-")))
    return tuple(shown), Reason(tuple(rules), case.name)


class _Member:
    """A member that is started and ended; what its listener does is set from outside."""

    def __init__(self, classes: JavaRelease, address: str, group: str, client: str) -> None:
        from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

        self.fails = False
        self._returns = Event()
        self._returns.set()
        self.known = 0
        self.consumer: WholeConsumer = WholeConsumer(
            *(classes, PUSH, address, group, TOPIC, LAST),
            client=client,
            broadcasting=True,
            threads=_THREADS,
            hang=self._hang,
            fails=lambda: self.fails,
        )

    def _hang(self, queue: int, offset: int) -> None:
        self._returns.wait()

    def listen(self, listener: str) -> None:
        """Its listener succeeds, fails or holds from now on; so ends what it holds."""
        if listener == HOLDS:
            self._returns.clear()
        else:
            self.fails = listener == FAILS
            self._returns.set()


class _Play(Scoped):
    """One case that is played on a broker of its own."""

    def __init__(self, classes: JavaRelease, profile: Profile, case: BroadcastCase) -> None:
        self._classes, self._case = classes, case
        self._broker = FakeBroker(profile, parts=Script(BRIEF_HOLD).parts)
        self._name = uuid4().hex
        self._members: dict[str, _Member] = {}
        #: The offset file of each member that was started, and members that ended while their listeners held.
        self._files: dict[str, Path] = {}
        self._ended: list[_Member] = []
        self._open = ExitStack()

    def start(self) -> None:
        """Start its broker, with messages in the queues."""
        self._address = self._open.enter_context(self._broker).address
        self._broker.create_topic(TOPIC, QUEUES)
        for _ in TIMES:
            self._send(None)

    def close(self) -> None:
        """End the members that run, let listeners return, and end the broker."""
        with self._open:
            for name in list(self._members):
                self._leave(name)
            for member in self._ended:
                member.listen(SUCCEEDS)

    def played(self, wanted: Sequence[Observation]) -> tuple[Observation, ...]:
        """What each move shows, up to the first that differs."""
        observed: list[Observation] = []
        for move, want in zip(self._case.moves, wanted, strict=True):
            self._move(move)
            wait_until(lambda want=want: self._seen() == want, LOOK_LIMIT, POLL_INTERVAL)  # type: ignore[misc]
            time.sleep(_QUIET_AFTER_FAILURE if any(one.fails for one in self._members.values()) else _QUIET)
            observed.append(self._seen())
            if observed[-1] != want:
                break
            for member in self._members.values():
                member.known = len(member.consumer.given)
        return tuple(observed)

    def _move(self, move: Join | Leave | Listen | Arrive) -> None:
        match move:
            case Join(name):
                self._join(name)
            case Leave(name):
                self._leave(name)
            case Listen(name, listener):
                self._members[name].listen(listener)
            case Arrive(queue):
                self._send(queue)

    def _send(self, queue: int | None) -> None:
        for number in range(QUEUES) if queue is None else (queue,):
            self._broker.send(TOPIC, b"x", number)

    def _join(self, name: str) -> None:
        from rocketmq_conformance.conformance.targets.java_client.offset_folder import offset_folder

        group = f"{GROUP}-{self._name}"
        member = _Member(self._classes, self._address, group, f"{self._name}-{name}")
        member.consumer.__enter__()
        self._members[name] = member
        self._files[name] = store_folder(offset_folder(self._classes), group, member.consumer.client_id) / FILE_NAME

    def _leave(self, name: str) -> None:
        member = self._members.pop(name)
        member.consumer.__exit__(None, None, None)
        self._ended.append(member)

    def _seen(self) -> Observation:
        from rocketmq_conformance.conformance.targets.java_client.offset_folder import offsets_in

        for member in self._members.values():
            member.consumer.commit()
        given = tuple(
            (name, runs(sorted(member.consumer.given[member.known :]))) for name, member in self._members.items()
        )
        files = []
        for name, file in sorted(self._files.items()):
            offsets = offsets_in(file)
            files.append((name, tuple(offsets.get((TOPIC, queue), -1) for queue in range(QUEUES))))
        return given, tuple(files), self._broker.arrived(Request.CONSUMER_SEND_MSG_BACK)


def prove_broadcasting(tally: Tally, classes: JavaRelease, rule: str = "") -> None:
    """Play every case, or those that show a rule, on one release, and compare; one that differs is played again."""
    profile = Profile(classes.release, classes.release)
    wanted = {case: expected(profile, case) for case in CASES}
    every = [case for case, (_, why) in wanted.items() if not rule or rule in why.rules]

    def play(case: BroadcastCase) -> tuple[Observation, ...]:
        with _Play(classes, profile, case) as play:
            return play.played(wanted[case][0])

    def played(some: Sequence[BroadcastCase]) -> dict[BroadcastCase, tuple[Observation, ...]]:
        with ThreadPoolExecutor(max(1, len(some))) as pool:
            return dict(zip(some, pool.map(play, some), strict=True))

    seen = played(every)
    seen.update(played([case for case in every if seen[case] != wanted[case][0]]))
    for case in every:
        tally.add(*wanted[case], seen[case], lambda case=case: case.name)  # type: ignore[misc]
