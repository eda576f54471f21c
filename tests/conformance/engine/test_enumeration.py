"""Enumeration: every transition that plans up to the bound can show is played, and none twice by the same way."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from command_line import kit

from rocketmq_conformance.conformance.engine.enumeration import NotListedError, enumerated, key_of, listed_rows
from rocketmq_conformance.conformance.engine.plan import read
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Row, Suite

MANY = 1_000_000


def transitions(suite: Suite, plans: list[tuple[Row, ...]]) -> set[object]:
    """The pairs of state and operation in plans."""
    bound = suite.bind(Profile())
    found: set[object] = set()
    for rows in plans:
        state = bound.initial
        for row in rows:
            found.add((key_of(state), row))
            state = bound.by_position[row[0]](state, *row[1])[0]
    return found


@pytest.mark.parametrize("name", ["rebalance-service", "broker-expired", "local-store"])
def test_the_plans_play_every_transition_of_all_plans_of_that_length(name: str) -> None:
    suite, steps = SUITES[name], 2
    rows = listed_rows(suite, Profile(), 2)
    every = transitions(suite, list(product(rows, repeat=steps)))
    found = enumerated(suite, Profile(), steps=steps, values=2, most=MANY)
    assert transitions(suite, list(found.plans)) == every
    assert found.transitions == len(every)
    assert sum(map(len, found.plans)) < steps * len(rows) ** steps
    assert found.levels[-1].plans == len(rows) ** steps


def test_it_is_said_when_no_further_step_reaches_anything_new() -> None:
    suite = SUITES["broker-expired"]
    short, long = (enumerated(suite, Profile(), steps=steps, values=2, most=MANY) for steps in (2, 9))
    assert (short.closed, long.closed) == (False, True)
    assert len(long.levels) < 9
    assert long == enumerated(suite, Profile(), steps=8, values=2, most=MANY)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("allocation", "allocation cannot be listed: the arguments of allocate_averagely are drawn together."),
        ("broker-locks", "broker-locks cannot be listed: the answer to lock depends on what was observed."),
    ],
)
def test_a_suite_that_cannot_be_listed(name: str, sentence: str) -> None:
    with pytest.raises(NotListedError) as caught:
        enumerated(SUITES[name], Profile(), steps=1, values=1, most=MANY)
    assert str(caught.value) == sentence


# --- the command --------------------------------------------------------------------------------------------------


def test_numbers_and_plans_without_an_address(tmp_path: Path) -> None:
    done = kit("enumerate", "rebalance-service", "--steps", "2", "--plan", "all.jsonl", cwd=tmp_path)
    assert done.returncode == 0
    found = enumerated(SUITES["rebalance-service"], Profile(), steps=2, values=2, most=MANY)
    assert "plans that these stand for" in done.stdout.splitlines()[0]
    assert f"played by {len(found.plans)} plans" in done.stdout
    assert [tuple(rows) for rows in read(tmp_path / "all.jsonl").cases.values()] == list(found.plans)


def test_an_address_is_judged_by_all_of_them(tmp_path: Path) -> None:
    bound = ("--steps", "2", "--values", "3")
    assert kit("enumerate", "remote-store", "port", *bound, cwd=tmp_path).returncode == 0
    diverging = kit("enumerate", "remote-store", "mutant:zero-is-none", *bound, cwd=tmp_path)
    assert diverging.returncode == 1
    (again,) = {line.split(" ", 1)[1].strip() for line in diverging.stdout.splitlines() if line.startswith("replay ")}
    assert again.startswith("rocketmq-conformance enumerate remote-store mutant:zero-is-none --steps 2 --values 3 ")
    assert kit(*again.split()[1:], cwd=tmp_path).returncode == 1
    old = kit("enumerate", "broker-offsets", "broker?like=4.9.7", "--steps", "1", cwd=tmp_path)
    assert old.returncode == 0, old.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing",), "No suite is called 'nothing': `list suites` names them all."),
        (("remote-store", "--most", "9"), "more than 9 transitions (48 of 1 steps): lower --steps or --values"),
        (("broker-locks",), "broker-locks cannot be listed"),
    ],
)
def test_bad_input_gets_one_sentence(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    done = kit("enumerate", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.split())
