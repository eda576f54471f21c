"""The sampler: a case is a function of seed, suite and number; what is drawn follows the weights."""

from __future__ import annotations

from collections import Counter

from every import every

from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import Sampler, sampler
from rocketmq_conformance.suites.declare.suite import Suite

PROFILE = Profile()
EVERY = every("suite", SUITES.values())


@EVERY
def test_a_case_does_not_depend_on_earlier_draws(suite: Suite) -> None:
    one, other = Sampler(suite, PROFILE), Sampler(suite, PROFILE)
    forwards = [one.case(5, number, 20) for number in range(20)]
    backwards = [other.case(5, number, 20) for number in reversed(range(20))]
    assert forwards == backwards[::-1]


@EVERY
def test_every_case_of_every_seed_is_another_one(suite: Suite) -> None:
    draw = sampler(suite, PROFILE)
    plans = [repr(draw.case(seed, number, 30)) for seed in (0, 1, -1, 2**32, 2**127 - 1) for number in range(20)]
    assert len(set(plans)) == len(plans)


def test_suites_that_share_operations_do_not_share_cases() -> None:
    names = {"start-push", "start-lite-pull"}
    plans = [
        [str(SUITES[name].operation(row)) for row in sampler(SUITES[name], PROFILE).case(5, 0, 40)] for name in names
    ]
    same = sum(a == b for a, b in zip(*plans, strict=True))
    assert same < 20


@EVERY
def test_operations_are_drawn_in_proportion_to_their_weights(suite: Suite) -> None:
    draw, offered = sampler(suite, PROFILE), suite.offered(PROFILE)
    total = sum(suite.operations[at].spec.weight for at in offered)
    steps = 20_000
    times = Counter(at for number in range(100) for at, _ in draw.case(5, number, steps // 100))
    assert set(times) == set(offered)
    for at in offered:
        expected = steps * suite.operations[at].spec.weight / total
        # four standard deviations of a binomial count
        assert abs(times[at] - expected) < 4 * expected**0.5, suite.operations[at].spec.name


def test_values_are_drawn_in_proportion_to_their_weights() -> None:
    suite = SUITES["remote-store"]
    draw, read = sampler(suite, PROFILE), suite.index["read"]
    faults = Counter(args[2] for number in range(300) for at, args in draw.case(5, number, 100) if at == read)
    total = sum(faults.values())
    assert len(faults) == 8
    for fault, times in faults.items():
        expected = total * (12 if fault == "answer" else 1) / 19
        assert abs(times - expected) < 4 * expected**0.5, fault


@EVERY
def test_operations_that_a_release_lacks_are_never_drawn(suite: Suite) -> None:
    for release in ("4.0.0", "4.6.1", "4.9.8", "5.5.0"):
        profile = Profile.of(release, release)
        if not suite.has(profile):
            continue
        positions = {at for number in range(50) for at, _ in sampler(suite, profile).case(5, number, 60)}
        assert positions <= set(suite.offered(profile)), release


@EVERY
def test_a_case_is_as_long_as_it_was_asked_for(suite: Suite) -> None:
    draw = sampler(suite, PROFILE)
    assert [len(draw.case(5, 0, steps)) for steps in (1, 33, 1000)] == [1, 33, 1000]
