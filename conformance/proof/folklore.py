"""The folklore of new groups, played on a real broker and a whole consumer of each release, judged by the model."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Protocol

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.models import new_group_start, rulebook
from rocketmq_conformance.models.outcome import Value, agrees
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports import event, measurement_event
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, EXIT_CODES, UNDECIDED, Event

Emit = Callable[[Event], None]


class FolklorePlayer(Protocol):
    """Plays the steps on one release, in their order."""

    def play(self, step: str) -> Value:
        """Play a step, and return the observed value; CannotRunError or AdapterError when there is none."""
        ...


#: Starts the processes that a release needs.
Open = Callable[[Release], AbstractContextManager[FolklorePlayer]]
SENTENCE = (
    "Where does a new group with CONSUME_FROM_LAST_OFFSET start? Asked of a real broker and a whole Java consumer."
)
#: Where releases part, without others.
RELEASES = ("4.9.7", "5.0.0", "5.1.4", "5.5.0")


class _Judged:
    """The answers and verdicts of the releases, step by step."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        #: Releases by step and formatted answer, in the order of play.
        self.answers: dict[str, dict[str, list[Release]]] = {}
        self.rules: dict[Release, new_group_start.ProfileRules] = {}


def play_folklore(opens: Open, java: int, releases: Sequence[Release], emit: Emit) -> int:
    """Play it on releases, of broker and client alike; the exit code. ``java`` is the Java that brokers run on.

    A release that is not available, or that fails, is reported; the others are still played.
    """
    began = time.monotonic()
    steps = [
        [step.name, step.sentence, new_group_start.format_answer(step.claim) if step.claim else ""]
        for step in new_group_start.STEPS
    ]
    emit(
        measurement_event.FolkloreStarted(
            format=event.FORMAT,
            kit=__version__,
            rulebook=rulebook.digest(),
            sentence=SENTENCE,
            releases=[str(release) for release in releases],
            steps=steps,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    )
    judged = _Judged()
    stopped = ""
    try:
        for release in releases:
            _play(opens, java, release, judged, emit)
    except KeyboardInterrupt:
        stopped = event.INTERRUPTED
    for difference in _differences(judged):
        emit(difference)
    found = judged.verdicts
    verdict = DIVERGES if found[DIVERGES] else UNDECIDED if stopped or not found else CONFORMS
    if found[COULD_NOT_RUN] and verdict == CONFORMS:
        verdict = COULD_NOT_RUN
    code = EXIT_CODES[verdict]
    emit(
        measurement_event.FolkloreEnded(
            verdict=verdict, exit_code=code, steps=dict(found), seconds=time.monotonic() - began, stopped=stopped
        )
    )
    return code


def _play(opens: Open, java: int, release: Release, judged: _Judged, emit: Emit) -> None:
    rules = judged.rules[release] = new_group_start.ProfileRules.of(Profile(release, release, java).judged())
    at = time.monotonic()
    step = new_group_start.STEPS[0]
    try:
        with opens(release) as teller:
            for step in new_group_start.STEPS:
                observed = teller.play(step.name)
                _judge(release, rules, step.name, observed, judged, emit, time.monotonic() - at)
                at = time.monotonic()
    except (CannotRunError, AdapterError) as error:
        expected = new_group_start.predict(rules, step.name)
        judged.verdicts[COULD_NOT_RUN] += 1
        seconds = time.monotonic() - at
        emit(
            measurement_event.FolkloreStep(
                release=str(release),
                step=step.name,
                verdict=COULD_NOT_RUN,
                expected=new_group_start.format_answer(expected.expected),
                observed="",
                rules=list(expected.rules),
                seconds=seconds,
                reason=str(error),
            )
        )


def _judge(
    release: Release,
    rules: new_group_start.ProfileRules,
    step: str,
    observed: Value,
    judged: _Judged,
    emit: Emit,
    seconds: float,
) -> None:
    prediction = new_group_start.predict(rules, step)
    verdict = CONFORMS if agrees(prediction.expected, observed) else DIVERGES
    judged.verdicts[verdict] += 1
    answer = new_group_start.format_answer(observed)
    judged.answers.setdefault(step, {}).setdefault(answer, []).append(release)
    expected = new_group_start.format_answer(prediction.expected)
    reason = "" if verdict == CONFORMS else "the model expects otherwise"
    emit(
        measurement_event.FolkloreStep(
            release=str(release),
            step=step,
            verdict=verdict,
            expected=expected,
            observed=answer,
            rules=list(prediction.rules),
            seconds=seconds,
            reason=reason,
        )
    )


def _differences(judged: _Judged) -> list[measurement_event.FolkloreDifference]:
    """Each answer that differs from the first one."""
    found = []
    for step, answers in judged.answers.items():
        (usual, others), *rest = answers.items()
        base = judged.rules[others[0]]
        known = set(new_group_start.predict(base, step).rules)
        for answer, releases in rest:
            rules = judged.rules[releases[0]]
            new = [rule for rule in new_group_start.predict(rules, step).rules if rule not in known]
            switches = [
                f"{switch.id}: {switch.change}" for switch in new_group_start.deciding_switches(rules, base, step)
            ]
            found.append(
                measurement_event.FolkloreDifference(
                    step=step,
                    releases=list(map(str, releases)),
                    observed=answer,
                    others=list(map(str, others)),
                    others_observed=usual,
                    rules=new,
                    switches=switches,
                )
            )
    return found
