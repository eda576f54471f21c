"""The block player: plays blocks of cases on every address of a campaign, inside the player's process."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rocketmq_conformance.conformance.adapter import Hello, Shared
from rocketmq_conformance.conformance.campaign.player.implementation import Implementation
from rocketmq_conformance.conformance.campaign.player.report_divergence import report_divergence
from rocketmq_conformance.conformance.campaign.player.taken_servers import TakenServers
from rocketmq_conformance.conformance.campaign.player.voices import Spoken, are_alike, case_voices, decided
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.campaign.tables.packing import Packer
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.control import control
from rocketmq_conformance.conformance.engine.divergence import format_result
from rocketmq_conformance.conformance.engine.first_difference import conforming_steps
from rocketmq_conformance.conformance.engine.handshake import (
    hello_of,
    newer_releases,
    offering,
    profile_of,
    release_choice,
)
from rocketmq_conformance.conformance.engine.judge import Judged, fingerprint_of
from rocketmq_conformance.conformance.engine.player import Numbered, Played, Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.startup import Listener, starting, unseen
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.outcome import agrees, outcome_class
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, MODEL, UNSUPPORTED
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.measured_time import depends_on_time
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Suite

#: Seconds between two parts of a block, and the cases of one at most.
_OFTEN = 0.25
_MANY = 2048
#: Seconds that cases may take together before fewer of them are played at once.
_LONG = 0.02
#: Cases of an address in a row that cannot be run before the rest of their block is given up.
GIVE_UP = 20
#: Divergences of a kind whose steps are stored, per block; those of the others are rebuilt from the seed.
_KEPT = 16


#: Suites whose answers depend on time: on a real clock they cannot be compared between implementations.
_BY_TIME = {
    suite.name: "answers of different times on a real clock cannot be compared: give it a campaign of its own"
    for suite in SUITES.values()
    if depends_on_time(suite)
}


class BlockPlayer:
    """Every address of a campaign, ready to play.

    ``at`` is called with the (case, address) that starts, ``beat`` whenever an adapter is asked something. ``start``
    holds the addresses whose servers another process has started: their own address and the releases that judge them
    (``shared`` and ``profile`` of its introduction); ``on_start`` gets to know what starts are doing.
    """

    def __init__(
        self,
        spec: CampaignSpec,
        at: Callable[[int, int], None],
        beat: Callable[[], None],
        start: Mapping[str, Mapping[str, Any]],
        on_start: Listener = unseen,
    ) -> None:
        self.spec = spec
        self._at = at
        self._all: list[Implementation] = []
        self._servers = TakenServers()
        try:
            for position, address in enumerate(spec.addresses):
                shared = start.get(address)
                with starting(spec.start_timeout, on_start):
                    place = self._servers.take(shared["shared"], Path(shared["locks"])) if shared else address
                    stage = Stage(open_address(place), Profile(), spec.patience)
                    stage.beat = beat
                    hello = hello_of(stage)
                    if stage.times and len(spec.addresses) > 1:
                        hello = replace(hello, unsupported={**_BY_TIME, **hello.unsupported})
                    profile = plan.profile_of(shared["profile"]) if shared else profile_of(hello, spec.releases)
                    stage.use(profile)
                    hello = offering(stage, hello, spec.chosen())
                self._all.append(Implementation(address, position, stage, hello, profile))
        except BaseException:
            self.close()
            raise

    @property
    def _planned(self) -> Profile:
        return plan.profile_of({**plan.profile_json(self._all[0].profile), **self.spec.plans})

    def introduce(self) -> list[dict[str, Any]]:
        """Who each address is: a JSON object each."""
        return [self._introduced(one) for one in self._all]

    def _introduced(self, one: Implementation) -> dict[str, Any]:
        # the addresses by which other processes reach the same servers, where this process started some
        adapter = one.stage.adapter
        shared = adapter.shared_addresses() if isinstance(adapter, Shared) else ()
        hello = _seen_by_others(shared[0]) if shared else one.hello
        return {
            "name": one.hello.name,
            "version": one.hello.version,
            "profile": plan.profile_json(one.profile),
            "refuses": {suite.name: why for suite in SUITES.values() if (why := hello.refuses(suite))},
            "notes": newer_releases(one.profile),
            "release_choice": release_choice(one.hello, self.spec.releases, one.profile),
            "shared": shared,
            # where its players say which of them they use; it goes with this player's other temporary files
            "locks": tempfile.mkdtemp() if shared else "",
        }

    def close(self) -> None:
        """Release everything."""
        for one in self._all:
            one.stage.close()
        self._servers.close()

    # --- playing ----------------------------------------------------------------------------------------------

    def play(
        self, suite: str, first: int, count: int, lost: Mapping[str, Mapping[int, str]], singly: bool
    ) -> Iterator[dict[str, Any]]:
        """Play the cases ``[first, first + count)``; answers them in parts, in order.

        ``lost`` names cases that end the player's process, by address: they are not played again. ``singly``: cases are
        played one at a time, so that it is known which of them ends the process.
        """
        return _Block(self, SUITES[suite], lost, singly).play(range(first, first + count))

    def plans(self, suite: Suite, numbers: Sequence[int]) -> list[Numbered]:
        """The plans of cases: the same for every address."""
        draw = sampler(suite, self._planned)
        steps = self.spec.steps_of(suite)
        return [(number, draw.case(self.spec.seed, number, steps)) for number in numbers]

    @property
    def first(self) -> Implementation:
        """The one whose releases decide which plans there are."""
        return self._all[0]

    def everyone(self) -> list[tuple[str, Implementation]]:
        """Every address with its implementation."""
        return [(one.address, one) for one in self._all]

    def of(self, address: str) -> Implementation:
        """The implementation of an address."""
        return self._all[self.spec.addresses.index(address)]

    def begin(self, case: int, address: int) -> None:
        """Say what begins."""
        self._at(case, address)

    # --- after the last block ----------------------------------------------------------------------------------

    def control(self, suite: str, address: str, case: int) -> Iterator[bool | None]:
        """Play a case that conformed once more, with a wrong answer planted: was it noticed?"""
        one, chosen = self.of(address), SUITES[suite]
        ((_, rows),) = self.plans(chosen, [case])
        yield control(one.stage, one.judge(chosen), rows)

    def report(self, suite: str, address: str, against: str, case: int, folder: str) -> Iterator[str]:
        """Shrink a divergence and write its minimal plan into a folder; yields its event as JSON.

        "" when the case does not diverge this time.
        """
        ((_, rows),) = self.plans(SUITES[suite], [case])
        one, other = self.of(address), None if against == MODEL else self.of(against)
        named = one is not self.first or other is not None
        yield report_divergence(one, other, self.spec, SUITES[suite], case, rows, Path(folder), named)


def _seen_by_others(address: str) -> Hello:
    """The introduction of a server to a process that did not start it, and may do less with it."""
    stage = Stage(open_address(address), Profile())
    try:
        return hello_of(stage)
    finally:
        stage.close()


class _Block:
    """A block that is being played."""

    def __init__(self, players: BlockPlayer, suite: Suite, lost: Mapping[str, Mapping[int, str]], singly: bool) -> None:
        self.players = players
        self.suite = suite
        self.lost = lost
        self.singly = singly
        self.everyone = players.everyone()
        self.packers = {address: Packer() for address, _ in self.everyone}
        self.steps: list[tuple[Any, ...]] = []
        self.divergences: list[tuple[Any, ...]] = []
        self.kept: dict[tuple[str, str], int] = {}
        #: Cases in a row that could not be run, by address.
        self.failed = dict.fromkeys(self.packers, 0)
        #: Players and what was answered, by address; None where the suite is refused.
        self.playing = {
            address: None if one.hello.refuses(suite) else one.player(suite) for address, one in self.everyone
        }
        self.answers = {address: one.answers[suite.name] for address, one in self.everyone if self.playing[address]}
        self.lanes = 1
        if not singly:
            self.lanes = max(player.lanes if player else 1 for player in self.playing.values())

    def play(self, numbers: range) -> Iterator[dict[str, Any]]:
        """Play the cases; answers parts. The first ones go ``lanes`` at a time, more of them when they are short."""
        for answers in self.answers.values():
            answers.forget()
        yielded_at = now = time.monotonic()
        waiting, begin, together = 0, numbers.start, self.lanes
        while begin < numbers.stop:
            began = now
            plans = self.players.plans(self.suite, range(begin, min(begin + together, numbers.stop)))
            ended = [self._on(position, plans) for position in range(len(self.everyone))]
            if len(ended) > 1:
                self._compare(ended, waiting)
            waiting += len(plans)
            begin += len(plans)
            now = time.monotonic()
            if now - yielded_at >= _OFTEN or waiting >= _MANY:
                yield self._part(waiting)
                yielded_at, waiting = now, 0
            if now - began > _LONG:
                together = max(self.lanes, together // 2)
            elif now - began < _LONG / 4:
                together = min(together * 2, max(self.lanes, _MANY))
        if waiting:
            yield self._part(waiting)

    def _part(self, count: int) -> dict[str, Any]:
        part = {
            "count": count,
            "cases": {address: packer.take() for address, packer in self.packers.items()},
            "answers": {address: answers.take() for address, answers in self.answers.items()},
            "steps": self.steps,
            "divergences": self.divergences,
        }
        self.steps, self.divergences = [], []
        return part

    def _on(self, position: int, plans: list[Numbered]) -> list[Played]:
        """Play cases on one address, and note what is to be kept of them."""
        address, one = self.everyone[position]
        lost = self.lost.get(address, {})
        packer = self.packers[address]
        player = self.playing[address]
        if player is None:
            refused = one.hello.refuses(self.suite)
            ended = [Played(number, rows, UNSUPPORTED, 0, 0.0, "", refused) for number, rows in plans]
            for played in ended:
                packer.add(played, comparable=False)
            return ended
        comparable = not player.judge.observes
        ended = []
        for played in self._play_on(player, position, plans, lost):
            packer.add(played, comparable and not played.reordered)
            self.failed[address] = self.failed[address] + 1 if played.verdict == COULD_NOT_RUN else 0
            if played.verdict == DIVERGES and played.judged:
                self._diverged(address, played.number, played.judged)
            if self.players.spec.sample and self.players.spec.sampled(played.number) and played.verdict == CONFORMS:
                steps = played.judged.steps if played.judged else conforming_steps(player.judge, played.rows)
                self._keep(address, played.number, steps)
            ended.append(played)
        return ended

    def _play_on(
        self, player: Player, position: int, plans: list[Numbered], lost: Mapping[int, str]
    ) -> Iterator[Played]:
        if not self.singly and player.lanes > 1 and not self._given_up(position):
            self.players.begin(plans[0][0], position)
            yield from player.play(plans)
            return
        for number, rows in plans:
            self.players.begin(number, position)
            why = lost.get(number) or self._given_up(position)
            yield Played(number, rows, COULD_NOT_RUN, 0, 0.0, "", why) if why else player.one(number, rows)

    def _given_up(self, position: int) -> str:
        failed = self.failed[self.everyone[position][0]]
        return f"given up after {GIVE_UP} cases in a row that could not be run" if failed >= GIVE_UP else ""

    def _diverged(self, address: str, number: int, judged: Judged) -> None:
        step = judged.steps[-1]
        fingerprint = fingerprint_of(self.suite, step)
        self._difference(address, MODEL, number, len(judged.steps), fingerprint, step)
        kept = self.kept.get((address, fingerprint), 0)
        if kept < _KEPT:
            self.kept[address, fingerprint] = kept + 1
            self._keep(address, number, judged.steps)

    def _difference(self, address: str, against: str, number: int, at: int, fingerprint: str, step: Step) -> None:
        self.divergences.append(
            (
                number,
                address,
                against,
                at,
                fingerprint,
                self.suite.operations[step.row[0]].spec.name,
                list(step.why.rules),
                step.why.kind,
                format_result(step.expected),
                format_result(step.observed),
                outcome_class(step.expected),
                outcome_class(step.observed),
            )
        )

    def _keep(self, address: str, number: int, steps: Sequence[Step]) -> None:
        for at, step in enumerate(steps, start=1):
            spec = self.suite.operations[step.row[0]].spec
            arguments = dict(zip((name for name, _ in spec.domains), step.row[1], strict=True))
            self.steps.append(
                (
                    number,
                    address,
                    at,
                    spec.name,
                    json.dumps(arguments),
                    format_result(step.expected),
                    format_result(step.observed),
                    list(step.why.rules),
                    step.why.kind,
                    outcome_class(step.expected),
                    outcome_class(step.observed),
                    not agrees(step.expected, step.observed),
                )
            )

    def _compare(self, ended: list[list[Played]], begin: int) -> None:
        """Find the voices of cases, the first of which is number ``begin`` of the part, and where addresses part."""
        playing = [
            (position, player, self.everyone[position][1].profile)
            for position, player in enumerate(self.playing.values())
            if player and not player.judge.observes
        ]
        if len(playing) < 2:
            return
        for at in range(len(ended[0])):
            spoken = [
                Spoken(position, player, profile, played)
                for position, player, profile in playing
                if decided(played := ended[position][at])
            ]
            if are_alike(spoken):
                continue
            found = case_voices(spoken)
            for position, voice, rules in found.numbers:
                self.packers[self.everyone[position][0]].voices.append((begin + at, voice, rules))
            for position, against, step_at, step in found.parted:
                fingerprint = fingerprint_of(self.suite, step)
                names = self.everyone[position][0], self.everyone[against][0]
                self._difference(*names, ended[position][at].number, step_at, fingerprint, step)
