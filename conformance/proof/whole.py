"""Proof of whole consumers: real push, orderly and lite pull consumers, with threads and sockets, on a real broker.

With ``--fake`` the broker is the fake one, which starts in milliseconds: only the client is real then.
With ``--scripted`` it is the fake one, too, with the faults of a table (``whole_cases``).

Each case is a group of its own that starts in a topic of one queue: which message it receives first, how many, and
what it has committed after its shutdown. All consumers of a release run at the same time. When all have started, one
more message is sent to every topic. Then members of other groups come and go (``whole_cases.handovers``).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.proof import whole_cases, whole_real, whole_scripted
from rocketmq_conformance.conformance.proof.evidence import ProofResult, Tally
from rocketmq_conformance.conformance.proof.selection import Part
from rocketmq_conformance.conformance.proof.unit import SCRIPTED, WHOLE, Unit
from rocketmq_conformance.conformance.proof.whole_broadcasting import prove_broadcasting
from rocketmq_conformance.conformance.proof.whole_files import prove_files
from rocketmq_conformance.conformance.proof.whole_real import prove_handovers
from rocketmq_conformance.conformance.proof.whole_scripted import prove_cases
from rocketmq_conformance.conformance.proof.whole_slaves import prove_slaves
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.host_port import host_port
from rocketmq_conformance.conformance.targets.broker import launch_config as needs
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.targets.scoped import Scoped
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.broker.lifecycle import reopened
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.client import switches as client_switches
from rocketmq_conformance.models.client.initial_broker import TIMES, log_of_shape
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP, StartModel
from rocketmq_conformance.models.client.whole import LITE, ORDERLY, PUSH, consume
from rocketmq_conformance.models.client.whole_group import WholeGroupModel
from rocketmq_conformance.models.outcome import Err, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import NEWEST, Release
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

RELEASES = ("4.7.1", "4.9.4", "4.9.7", "5.0.0", "5.1.1", "5.1.4", "5.2.0", "5.3.3", "5.4.0", "5.5.0")
#: Topics by the shape of their queue.
_SHAPES = ("young", "expired", "gone")
_WHERES = (LAST, FIRST, TIMESTAMP)
#: Stored offsets of the group: nothing, one that may have expired, one inside, one beyond max.
_STORED = (None, 2, 7, 99)
#: 2024-07-01T00:00Z, the time of offset 6 where it is retained.
_TIME = "20240701000000"
#: Timeout until the last commits have arrived (s).
_COMMIT_LIMIT = 5.0
#: The lease of a broker's locks (s): the timer of an orderly consumer that was just shut down may take one again.
_LEASE = 10.0


class StartCase(NamedTuple):
    """One consumer: what it is and where it begins."""

    kind: str
    shape: str
    where: str
    stored: int | None

    @property
    def group(self) -> str:
        """A name of its own."""
        return f"G-{self.kind.split()[0]}-{self.shape}-{self.where.split('_')[2]}-{self.stored}"

    def __str__(self) -> str:
        return f"{self.kind}, {self.where}, {self.shape} queue, stored {self.stored}"


def cases() -> Iterator[StartCase]:
    """Every case; ConsumeFromWhere is of no interest once something is stored, which one of its values shows."""
    for kind, shape, where, stored in product((PUSH, ORDERLY, LITE), _SHAPES, _WHERES, _STORED):
        if stored is None or where == LAST:
            yield StartCase(kind, shape, where, stored)


def expected(model: StartModel, case: StartCase) -> tuple[Value, Reason]:
    """(first, messages, committed) of a case, and the rules of whole consumers that make it."""
    log = reopened(model.store.broker, log_of_shape(case.shape))
    stored = {} if case.stored is None else {(GROUP, TOPIC, 0): case.stored}
    broker = BrokerState({TOPIC: Topic.of(1)}, frozenset({GROUP}), {(TOPIC, 0): log}, stored)
    done = consume(model, RemoteStore(broker=broker), case.kind, 0, case.where, 1, _TIME)
    rules = dict.fromkeys(rule for why in done.reasons for rule in why.rules if rule.startswith("WHOLE-"))
    return (done.first, done.messages, done.committed), Reason(tuple(rules), str(case))


class Site(Protocol):
    """A broker with topics named by the shape of their one queue, and the offsets that the cases stored."""

    #: host:port.
    name_server: str

    def send(self, topic: str, queue: int) -> int:
        """Send a message; its offset."""
        ...

    def ask(self, request: requests.Ask) -> Command:
        """Send a request; the broker's response."""
        ...


class EmbeddedSite(Scoped):
    """The fake broker of a release."""

    def __init__(self, release: Release, every: Sequence[StartCase]) -> None:
        self._every = every
        self._now = TIMES[0]
        self._broker = FakeBroker(Profile(release, release), clock=lambda: self._now)
        self._open = ExitStack()

    def start(self) -> None:
        """Start it, with what the cases find there."""
        self.name_server = self._open.enter_context(self._broker).address
        self._connection = self._open.enter_context(Connection(*host_port(self.name_server)))
        for shape in _SHAPES:
            self._broker.create_topic(shape, 1)
            for self._now in TIMES:
                self.send(shape, 0)
            self._broker.expire(shape, 0, log_of_shape(shape).first)
        for case in self._every:
            self._broker.create_group(case.group)
            if case.stored is not None:
                self.ask(requests.commit(case.group, case.shape, 0, case.stored))

    def close(self) -> None:
        """Stop it."""
        self._open.close()

    def send(self, topic: str, queue: int) -> int:
        """Send a message; its offset."""
        return self._broker.send(topic, b"x", queue)

    def ask(self, request: requests.Ask) -> Command:
        """Send a request; the broker's response."""
        return self._connection.call(request.code, request.ext, request.body)


@contextmanager
def _real(release: Release, every: Sequence[StartCase], moving: Sequence[whole_cases.TableCase]) -> Iterator[Cluster]:
    """A real broker that starts on a store of these topics and offsets, and of those of members that come and go."""
    topics = {shape: (log_of_shape(shape),) for shape in _SHAPES} | whole_real.topics(moving)
    stored: dict[tuple[str, str], Mapping[int, int]]
    stored = {(case.group, case.shape): {0: case.stored} for case in every if case.stored is not None}
    stored |= whole_real.stored(moving)
    with Cluster(release, lambda home: write_store(home, topics, stored), NEWEST, _LEASE) as cluster:
        for topic in topics:
            cluster.await_route(topic)
        yield cluster


def prove_release(text: str, fake: bool = False, rule: str = "") -> Tally:
    """Prove every case, or those of a rule, on one release of broker and client; CannotRunError when it is not
    available."""
    from rocketmq_conformance.conformance.targets.java_client.whole import quick_release

    release, classes = Release.parse(text), quick_release(text)
    model = StartModel(Profile(release, release, needs.java_feature(needs.java())), ORDINARY)
    tally = Tally(WHOLE, text)
    every = [case for case in cases() if _is_about(rule, expected(model, case)[1])]
    life = WholeGroupModel(model)
    moving = [case for case in whole_cases.handovers() if _is_about(rule, whole_real.expected(life, case)[1])]
    if fake:
        with EmbeddedSite(release, every) as site:
            _prove_starts(tally, model, classes, site, every)
        prove_cases(tally, classes, moving)
    else:
        with _real(release, every, moving) as cluster:
            _prove_starts(tally, model, classes, cluster, every)
            prove_handovers(tally, life, classes, cluster, moving)
    return tally


def _prove_starts(
    tally: Tally, model: StartModel, classes: JavaRelease, site: Site, every: Sequence[StartCase]
) -> None:
    from rocketmq_conformance.conformance.targets.java_client.whole import PullCounter, WholeConsumer

    pulls = PullCounter(classes)
    with ExitStack() as running:
        started: list[tuple[StartCase, WholeConsumer]] = []
        for case in every:
            consumer = WholeConsumer(
                classes,
                case.kind,
                site.name_server,
                case.group,
                case.shape,
                case.where,
                _TIME,
                client="whole",
                pulls=pulls,
            )
            started.append((case, running.enter_context(consumer)))
        for _, consumer in started:
            consumer.await_start(1)
        arrived = {shape: site.send(shape, 0) for shape in _SHAPES}
        for case, consumer in started:
            consumer.await_consumed({(0, arrived[case.shape])})
            consumer.commit()
        stored = [_committed(site, case, arrived[case.shape] + 1) for case, _ in started]
        running.close()
        for (case, consumer), committed in zip(started, stored, strict=True):
            offsets = [offset for _, offset in consumer.given]
            answer, why = expected(model, case)
            observed: Value = (min(offsets, default=-1), len(offsets), committed)
            tally.add(answer, why, observed, case.__str__)


def prove_scripted(text: str, only: str = "", rule: str = "") -> Tally:
    """Prove the scripted cases whose name contains ``only``, or those of a rule, on one release of client."""
    from rocketmq_conformance.conformance.targets.java_client.whole import quick_release

    classes = quick_release(text)
    tally = Tally(SCRIPTED, text)
    life = WholeGroupModel(StartModel(Profile(classes.release, classes.release), ORDINARY))
    kinds = {PUSH, ORDERLY} | ({LITE} if client_switches.LITE_STARTS.on(classes.release) else set())
    demands = client_switches.LITE_KEEPS_OTHERS.on(classes.release)
    every = [
        case
        for case in whole_cases.cases()
        if case.kind in kinds
        and only in str(case)
        and (demands or not case.on_demand)
        and (case.since is None or case.since.on(classes.release))
    ]
    prove_cases(tally, classes, [case for case in every if _is_about(rule, whole_scripted.expected(life, case)[1])])
    if not only:
        prove_files(tally, classes, rule)
        prove_broadcasting(tally, classes, rule)
        prove_slaves(tally, classes, rule)
    return tally


def _is_about(rule: str, why: Reason) -> bool:
    return not rule or rule in why.rules


def _committed(site: Site, case: StartCase, wanted: int) -> int | str:
    """The group's stored offset; commits are one way, so it is polled for a while."""

    def stored() -> int | Err:
        return responses.number(site.ask(requests.query(case.group, case.shape, 0, None)))

    wait_until(lambda: stored() == wanted, _COMMIT_LIMIT, 0.05)
    found = stored()
    return found.code if isinstance(found, Err) else found


def parts() -> list[Part]:
    """The parts of a release's proof: one, of which the cases of one rule can be played alone."""
    return [Part.of(rules=(rule for rule in rulebook.RULES if rule.startswith("WHOLE-")))]


def prove(unit: Unit, *, fake: bool = False, only: str = "", rule: str = "") -> ProofResult:
    """Prove the model against one release: on real brokers or the fake one, or on brokers that fail by a script, as
    the unit's kind says.

    ``only`` picks the scripted cases that have it in their name, and ``rule`` the cases of a rule. CannotRunError
    when it cannot be judged.
    """
    began = time.monotonic()
    if unit.kind == SCRIPTED:
        tally = prove_scripted(unit.release, only, rule)
    else:
        tally = prove_release(unit.release, fake, rule)
    counted = f"{unit}: {tally.cases} cases, {tally.differences} differences"
    lines = [f"{counted}, {time.monotonic() - began:.0f} s", *(f"  {example}" for example in tally.examples)]
    return ProofResult(unit=unit, lines=lines, rows=tally.rows(), differences=tally.differences)
