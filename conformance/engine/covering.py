"""Covering plans: few, short plans that show all that a suite's sampler can show, found in the model alone.

The search plays sampled cases by the model, and keeps of each what shows something new. Then it goes on from every
behaviour that it has found: it plays steps of more cases behind the steps that led there, until many in a row show no
new behaviour. What cases of other seeds then still show is kept, too, until those of one show no rule in a new kind of
state or with a new class of answer. Of all these plans it chooses those that show most until they show everything,
takes out of them every step that nothing depends on, and drops those that the others make needless. Last come plans for
rules that only older releases can reach. It is deterministic: the sampler is seeded, and ties go to the plan that was
found first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import count
from typing import NamedTuple

from rocketmq_conformance.conformance.engine.judge import Forecast
from rocketmq_conformance.conformance.engine.model_tour import Seen, Tours, counted, shown
from rocketmq_conformance.models.broker.configuration import SETTINGS, TOGETHER
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import PUBLISHED
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.reach import reachable
from rocketmq_conformance.suites.declare.sampler import Sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite


class Effort(NamedTuple):
    """Numbers of cases that are searched."""

    #: For behaviours, by the newest release.
    cases: int = 16_000
    #: For pairs, by the newest release.
    pairs: int = 200
    #: For behaviours, by every other release that answers differently.
    of_release: int = 400
    #: By which releases are told apart.
    probes: int = 40
    #: That may show no new behaviour one after another, when the search goes on from what it has found, by the newest
    #: release.
    fruitless: int = 4_000
    #: Of each other seed that is looked at last, for behaviours that no plan shows yet, by the newest release.
    others: int = 16_000


ORDINARY = Effort()
#: For whole clients, which take their time.
WHOLE = Effort(4000, 0, 200, 20)
#: For other suites whose cases have their price: brokers are restarted, or requests race, and a step of the model takes
#: time, too.
SLOW = Effort(200, 10, 20, 5, 400, 400)
#: For a search that only shows whether searches still find the same.
SMALL = Effort(cases=20, fruitless=20)
#: Seed of the cases that are searched, and the first of those that are looked at last.
SEED, OTHERS = 0, 1

Rows = tuple[Row, ...]


def searched(suite: Suite, effort: Effort | None = None) -> list[Rows]:
    """The covering plans of a suite for every release: those of the newest one first."""
    effort = effort or _effort(suite)
    plans: list[Rows] = []
    for profile in profiles(suite, effort.probes):
        newest = profile == Profile()
        if not newest:
            plans += _more(suite, profile, plans, effort.of_release)
            continue
        plans += _more(suite, profile, plans, effort.cases, fruitless=effort.fruitless, others=effort.others)
        # fewer pairs where an ordinary run has fewer than a thousand cases
        pairs = effort.pairs * min(suite.cases, 1000) // 1000 if suite.ordinary else effort.pairs
        if pairs:
            plans += _more(suite, profile, plans, pairs, pairs=True)
    return plans + rare(suite, plans, effort.others if effort.of_release else 0)


def found_from(suite: Suite, plans: Sequence[Rows]) -> str:
    """The digest of what decides which plans are found: what they show by the newest releases and each by one of the
    older ones in turn, the values of the operations, and a search in small.

    It takes a second or less. How rules and kinds of state are called makes no difference to it, nor how the models
    are written: only what is told apart.
    """
    judged = list(_judged(suite))
    newest, *older = [tours_of(suite, profile) for profile in judged]
    seen = [newest.play(plan) for plan in plans]
    seen += [older[number % len(older)].play(plan) for number, plan in enumerate(plans)]
    known: dict[Hashable, int] = {}
    numbers = [[known.setdefault(one, len(known)) for step in some for one in step.shown(pairs=True)] for some in seen]
    specs = [operation.spec for operation in suite.operations]
    values = [
        (spec.name, spec.weight, spec.columns(), [domain.schema() for _, domain in spec.domains]) for spec in specs
    ]
    offered = [suite.offered(profile) for profile in judged]
    small = _more(suite, Profile(), (), SMALL.cases, fruitless=SMALL.fruitless)
    return blake2b(repr((_effort(suite), numbers, values, offered, small)).encode(), digest_size=8).hexdigest()


def _effort(suite: Suite) -> Effort:
    return ORDINARY if not is_costly(suite) else WHOLE if suite.side.runs_by_itself else SLOW


def rare(suite: Suite, plans: Sequence[Rows], cases: int) -> list[Rows]:
    """Plans for rules that fire in none of ``plans`` by a release that can reach them; looked for in so many cases."""
    found: list[Rows] = []
    for profile in _judged(suite):
        # declarations do not say which rules a property leaves out
        wanted = set() if profile.configuration else set(reachable(suite, profile))
        if not wanted or not suite.offered(profile):
            continue
        tours, drawn = tours_of(suite, profile), Sampler(suite, profile)
        for plan in (*plans, *found):
            wanted.difference_update(*(step.behaviour[1] for step in tours.play(plan)))
        for case in range(cases if wanted else 0):
            seen = tours.play(drawn.case(OTHERS, case, suite.steps))
            at = next((at for at, step in enumerate(seen) if not wanted.isdisjoint(step.behaviour[1])), None)
            if at is not None:
                kept = _up_to(tours, seen, at)
                found.append(_shortest(tours, tuple(step.row for step in kept), set(seen[at].behaviours), pairs=False))
                wanted.difference_update(seen[at].behaviour[1])
            if not wanted:
                break
    return found


def is_costly(suite: Suite) -> bool:
    """Does every case of the suite have its price? Then its plans show behaviours, and no uses.

    Those of brokers that are restarted ask what became of each change. Those of whole clients, which take seconds for a
    step, show behaviours of one rule each, and no pairs. Where requests race, a plan is tried more than once.
    """
    return not suite.ordinary or suite.side.runs_by_itself or suite.tries > 1


def tours_of(suite: Suite, profile: Profile) -> Tours:
    """Tours that look at what covering plans of the suite are to show."""
    return Tours(
        suite,
        profile,
        uses=not is_costly(suite),
        each_rule=suite.side.runs_by_itself,
        questions=not suite.ordinary,
    )


def chosen(suite: Suite, profile: Profile, plans: Iterable[Sequence[Row]]) -> Iterator[list[Row]]:
    """Those of the plans that show something new by this profile, in their order, without what it does not have."""
    tours = tours_of(suite, profile)
    known: set[Hashable] = set()
    for plan in plans:
        seen = tours.play(plan)
        new = shown(seen, pairs=not suite.side.runs_by_itself) - known
        if new:
            known |= new
            yield [step.row for step in seen]


def profiles(suite: Suite, probes: int) -> Iterator[Profile]:
    """The newest releases, and then each release and configuration of the judged side that answers so many cases
    differently.
    """
    known: set[bytes] = set()
    for profile in _judged(suite):
        if not suite.offered(profile):
            continue
        tours, drawn = Tours(suite, profile), Sampler(suite, profile)
        answers = [step.behaviour for case in range(probes) for step in tours.play(drawn.case(SEED, case, suite.steps))]
        digest = blake2b(repr(answers).encode()).digest()
        if digest not in known:
            known.add(digest)
            yield profile


def _judged(suite: Suite) -> Iterator[Profile]:
    """The profiles that may judge: releases from the newest on; of brokers also every property, and their Java."""
    if suite.side is not Side.BROKER:
        yield from (Profile(client=release) for release in reversed(PUBLISHED))
        return
    yield from (Profile(broker=release) for release in reversed(PUBLISHED))
    for setting in SETTINGS.values():
        if (setting.of_slaves or setting.of_pops) and not set(setting.rules) & set(suite.rules):
            continue
        yield from (Profile().configured({setting.name: value}) for value in setting.values)
    if any(rule.startswith("SLV-") for rule in suite.rules):
        yield from (Profile().configured(properties) for properties in TOGETHER)
    yield Profile(java=8)


def _more(
    suite: Suite,
    profile: Profile,
    plans: Sequence[Rows],
    cases: int,
    *,
    fruitless: int = 0,
    others: int = 0,
    pairs: bool = False,
) -> list[Rows]:
    """Plans that show, by this profile, all that so many cases show and ``plans`` do not.

    A search goes on from there, for behaviours alone, and ends after so many ``fruitless`` plans; then it looks at so
    many ``others`` of a seed, and of the next one if they show anything new to coverage.
    """
    tours, drawn = tours_of(suite, profile), Sampler(suite, profile)
    played = [tours.play(plan) for plan in plans]
    before = {one for seen in played for one in shown(seen, pairs=pairs)}
    known, found = set(before), list[tuple[Rows, set[Hashable]]]()
    counts = counted(step.behaviour for seen in played for step in seen)
    prefixes = Prefixes()

    def keep(seen: Sequence[Seen], new: Sequence[int], *, alone: bool = False) -> None:
        kept = _up_to(tours, seen, new[-1])
        shows: set[Hashable] = {one for step in kept for one in step.behaviours} if alone else shown(kept, pairs=pairs)
        known.update(shows)
        counts.update(counted(step.behaviour for step in kept))
        found.append((tuple(step.row for step in kept), shows - before))

    for case in range(cases):
        seen = tours.play(drawn.case(SEED, case, suite.steps))
        prefixes.note(seen)
        new = [at for at, step in enumerate(seen) if not known.issuperset(step.shown(pairs=pairs))]
        if new:
            keep(seen, new)
    vain = 0
    for case, prefix in enumerate(prefixes.in_turn(suite.steps) if fruitless else (), start=cases):
        if vain == fruitless:
            break
        rows = drawn.case(SEED, case, suite.steps)[len(prefix) :]
        seen = [*prefix, *tours.play(rows, prefix[-1].after)]
        new = [at for at, step in enumerate(seen) if not known.issuperset(step.behaviours)]
        vain = 0 if new else vain + 1
        prefixes.note(seen)
        if new:
            keep(seen, new, alone=True)
    for seed in count(OTHERS) if others else ():
        before_this = len(counts)
        for case in range(others):
            seen = tours.play(drawn.case(seed, case, suite.steps))
            new = [at for at, step in enumerate(seen) if not known.issuperset(step.behaviours)]
            if new:
                keep(seen, new, alone=True)
        if len(counts) == before_this:
            break
    return _minimised(tours, _greedy(found), before, pairs=pairs)


def _up_to(tours: Tours, seen: Sequence[Seen], at: int) -> Sequence[Seen]:
    """The steps up to one of them, or all where these decide nothing."""
    head = seen[: at + 1]
    return head if tours.decides(head) else seen


class Prefixes:
    """Two ways to every behaviour that was found: the shortest, and the last one."""

    def __init__(self) -> None:
        self._shortest: dict[Forecast, list[Seen]] = {}
        self._last: dict[Forecast, list[Seen]] = {}

    def note(self, seen: list[Seen]) -> None:
        """Steps from the beginning of a tour, and what they showed."""
        for at, step in enumerate(seen, start=1):
            known = self._shortest.get(step.behaviour)
            if known is None or at < len(known):
                self._shortest[step.behaviour] = seen[:at]
            self._last[step.behaviour] = seen[:at]

    def in_turn(self, steps: int) -> Iterator[list[Seen]]:
        """All of them in turn, without end, those that are shorter than so many steps."""
        while any(len(prefix) < steps for prefix in self._shortest.values()):
            for ways in (self._shortest, self._last):
                for prefix in [*ways.values()]:
                    if len(prefix) < steps:
                        yield prefix


def _greedy(found: Sequence[tuple[Rows, set[Hashable]]]) -> list[tuple[Rows, set[Hashable]]]:
    """Those that together show all that is shown, each the one that adds most to those before."""
    left = [(shows, rows) for rows, shows in found]
    taken: list[tuple[Rows, set[Hashable]]] = []
    known: set[Hashable] = set()
    while left:
        left = [(new, rows) for shows, rows in left if (new := shows - known)]
        if left:
            shows, rows = max(left, key=lambda one: len(one[0]))
            known |= shows
            taken.append((rows, shows))
    return taken


def _minimised(
    tours: Tours, taken: Sequence[tuple[Rows, set[Hashable]]], before: Container[Hashable], *, pairs: bool
) -> list[Rows]:
    """The plans without needless steps, and without those that the others make needless; the last ones first."""
    shows = [shown(tours.play(rows), pairs=pairs) for rows, _ in taken]
    times = Counter(one for some in shows for one in some if one not in before)
    left: list[Rows] = []
    for (rows, _), of in reversed(list(zip(taken, shows, strict=True))):
        needed = {one for one in of if times[one] == 1}
        times.subtract(one for one in of if one not in before)
        if needed:
            rows = _shortest(tours, rows, needed, pairs=pairs)
            times.update(one for one in shown(tours.play(rows), pairs=pairs) if one not in before)
            left.append(rows)
    return left[::-1]


def _shortest(tours: Tours, rows: Rows, needed: set[Hashable], *, pairs: bool) -> Rows:
    """The plan without runs of steps, long ones and late ones first, that what is needed does not depend on."""
    seen = tours.play(rows)
    size = max(1, len(seen) // 2)
    while size:
        end = len(seen)
        while end > 0:
            begin = max(0, end - size)
            head = seen[:begin]
            tail = tours.play([step.row for step in seen[end:]], head[-1].after if head else None)
            if tours.decides([*head, *tail]) and needed <= shown(head, pairs=pairs) | shown(tail, pairs=pairs):
                seen = [*head, *tail]
            end = begin
        size //= 2
    return tuple(step.row for step in seen)
