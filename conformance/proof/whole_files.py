"""Proof of what becomes of a broadcasting consumer whose offset file is damaged (WHOLE-FILE*): real consumers, started
twice, on the fake broker."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, cast
from uuid import uuid4

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.offset_file_damage import become, offset_files
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.client.initial_broker import TIMES
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.client.whole_broadcast import Seen
from rocketmq_conformance.models.client.whole_files import FOUND, WholeFilesModel
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

REFUSED = "does not start"
#: How long (s) messages may take, and how long no other may come after them.
_LIMIT, _QUIET = 30.0, 1.0


def expected(profile: Profile, found: str) -> tuple[Value, Reason]:
    """The offsets that a consumer is given which finds its files so, or that it does not start; and why."""
    model = WholeFilesModel(profile, ORDINARY)
    state, _, _ = model.prepare(model.initial(), 1, "young", -1, LAST)
    state, _, _ = model.join(state, 0)
    state, _, _ = model.send(state, EVERY)
    state, seen, why = model.come_back(state, 0, found)
    _, runs, *_ = cast(Seen, seen)
    given = tuple(at for _, _, first, count in runs for at in range(first, first + count))
    rules = tuple(rule for rule in why.rules if rule.startswith("WHOLE-FILE"))
    return given if state.life.members else REFUSED, Reason(rules, found)


def _observed(classes: JavaRelease, profile: Profile, found: str, wanted: Value) -> Value:
    from rocketmq_conformance.conformance.targets.java_client.offset_folder import offset_folder
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

    name = uuid4().hex

    def consumer() -> WholeConsumer:
        address, group = broker.address, f"{GROUP}-{name}"
        return WholeConsumer(classes, PUSH, address, group, TOPIC, LAST, client=name, broadcasting=True)

    with FakeBroker(profile) as broker:
        broker.create_topic(TOPIC, 1)
        for _ in TIMES:
            broker.send(TOPIC, b"x", 0)
        with consumer() as before:
            before.await_start(1)
            folder = offset_folder(classes) / before.client_id
            older = {}
            for _ in range(2):
                older = {file: file.read_bytes() for file in offset_files(folder)}
                before.await_consumed({(0, broker.send(TOPIC, b"x", 0))})
                # the second time copies the same to the backup
                before.commit()
                before.commit()
        broker.send(TOPIC, b"x", 0)
        become(older, found)
        try:
            with consumer() as after:
                awaited = wanted if isinstance(wanted, tuple) else ()
                wait_until(lambda: len(after.given) >= max(len(awaited), 1), _LIMIT if awaited else 0.0, 0.05)
                time.sleep(_QUIET)
                return tuple(offset for _, offset in after.given)
        except CannotRunError:
            return REFUSED


def prove_files(tally: Tally, classes: JavaRelease, rule: str = "") -> None:
    """Play every damage, or those that show a rule, on one release, and compare; one that differs is played again."""
    profile = Profile(classes.release, classes.release)
    wanted = {found: expected(profile, found) for found in FOUND}
    every = [found for found, (_, why) in wanted.items() if not rule or rule in why.rules]

    def played(some: Sequence[str]) -> dict[str, Value]:
        with ThreadPoolExecutor(max(1, len(some))) as pool:
            return dict(
                zip(some, pool.map(lambda one: _observed(classes, profile, one, wanted[one][0]), some), strict=True)
            )

    seen = played(every)
    seen.update(played([found for found in every if seen[found] != wanted[found][0]]))
    for found in every:
        tally.add(*wanted[found], seen[found], found.__str__)
