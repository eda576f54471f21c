"""Voices: which addresses of a campaign did the same in a case, and where neighbours among them part.

Addresses have one voice in a case when none of them did anything else than another one. The rules of a release speak,
too: where an address diverges, they say what it should have done, which may be what another address did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rocketmq_conformance.conformance.engine.first_difference import differing_step, first_difference, steps_of
from rocketmq_conformance.conformance.engine.player import Played, Player
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.step import Step


class Spoken(NamedTuple):
    """What an address did in a case that was decided there."""

    #: Which of the campaign's addresses it is.
    position: int
    player: Player
    profile: Profile
    played: Played


class Parted(NamedTuple):
    """An address and the nearest one before it that did something else."""

    position: int
    against: int
    #: The first step in which they part (1 is the first one judged), with what the other one did as expected.
    at: int
    step: Step


class CaseVoices(NamedTuple):
    """The voices of one case."""

    #: (position of an address, its voice, that of its rules); the first voice is 1.
    numbers: list[tuple[int, int, int]]
    parted: list[Parted]


@dataclass(slots=True)
class _Voice:
    """Those that did the same: their digests, and what they did, each trace once."""

    digests: set[str] = field(default_factory=set)
    traces: list[Sequence[Step]] = field(default_factory=list)


def decided(played: Played) -> bool:
    """Can a case be compared with what others did?"""
    return played.verdict in (CONFORMS, DIVERGES) and not played.reordered


def are_alike(spoken: Sequence[Spoken]) -> bool:
    """Is there no more than one voice, and are the rules of all addresses alike, too?"""
    if len(spoken) < 2:
        return True
    if len({(one.played.digest, one.played.verdict) for one in spoken}) > 1:
        return False
    return spoken[0].played.verdict == CONFORMS or len({one.profile for one in spoken}) == 1


def case_voices(spoken: Sequence[Spoken]) -> CaseVoices:
    """The voices of a case, and where addresses part that have another voice than the one before them.

    Each is compared with the nearest one before it that did something else. Where the same releases judge both, and one
    of them conforms, the other one's divergence from the model says it, and one further before is looked for.
    """
    voices: list[_Voice] = []
    traces = [steps_of(one.player, one.played) for one in spoken]
    own = [_joined(voices, one.played.digest, trace) for one, trace in zip(spoken, traces, strict=True)]
    numbers = []
    for one, voice, trace in zip(spoken, own, traces, strict=True):
        rules = voice
        if one.played.verdict == DIVERGES:
            last = trace[-1]
            rules = _joined(voices, "", [*trace[:-1], last._replace(observed=last.expected)])
        numbers.append((one.position, voice, rules))
    return CaseVoices(numbers, list(_parted(spoken, own, traces)))


def _joined(voices: list[_Voice], digest: str, trace: Sequence[Step]) -> int:
    """The number of the voice that has a trace now."""
    for number, voice in enumerate(voices, start=1):
        if digest in voice.digests:
            return number
        if all(first_difference(trace, other)[0] is None for other in voice.traces):
            break
    else:
        number, voice = len(voices) + 1, _Voice()
        voices.append(voice)
    voice.digests |= {digest} - {""}
    voice.traces.append(trace)
    return number


def _parted(spoken: Sequence[Spoken], own: Sequence[int], traces: Sequence[Sequence[Step]]) -> Iterator[Parted]:
    for at in range(1, len(spoken)):
        if own[at] == own[at - 1]:
            continue
        compared = {own[at]}
        for before in reversed(range(at)):
            one, other = spoken[at], spoken[before]
            if own[before] in compared:
                continue
            found = differing_step(traces[at], traces[before])
            if found and not (one.profile == other.profile and CONFORMS in (one.played.verdict, other.played.verdict)):
                yield Parted(one.position, other.position, *found)
                break
            compared |= {own[before]} if found else set()
