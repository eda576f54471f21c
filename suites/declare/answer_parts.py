"""The parts of an answer: which of them differs first, and which rule decides it.

An operation whose answer is a list of different things names them (``OperationSpec.answer``), so that a difference has
a name, and a responsible rule: the one that decides that part.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from rocketmq_conformance.models.client.whole_group_state import seen_queues
from rocketmq_conformance.models.client.whole_moves import OTHER_QUEUES
from rocketmq_conformance.models.client.whole_push import NO_OWNER, WholePushState
from rocketmq_conformance.models.outcome import Expected, agrees
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.operation import OperationSpec, Side
from rocketmq_conformance.suites.declare.wording import OFFSETS, Worded, bare, plain, worded

if TYPE_CHECKING:
    from rocketmq_conformance.suites.declare.step import Step
    from rocketmq_conformance.suites.declare.suite import Suite

#: Rules that say when a round begins, and those that say what a client then does while requests fail: where one of
#: these is at work, it decides what is seen.
_ROUNDS = ("REB-SVC-WAKE", "REB-SVC-1")
#: What members do once others have come or gone: when, and how queues are divided.
_CHANGES = frozenset(("REB-SVC-WAKE", "WHOLE-SHARE"))
_FAILING = frozenset(
    f"WHOLE-{name}" for name in ("UNHEARD", "LIST", "UNREAD", "MISTAKEN", "PULL", "LOST", "SILENT", "LATE")
)
#: Where no rule of a step decides what is stored, it is the first of these that the step has, else the last: what a
#: consumer stores is its own, whatever else happened.
_STORES = ("WHOLE-SHARE", "WHOLE-LOCK", "WHOLE-COMMIT")


def named_parts(spec: OperationSpec, answer: Expected) -> dict[str, Expected] | None:
    """An answer by the names of its parts; None when it has none. Some whole consumers do not show the last ones."""
    if type(answer) is not tuple or not answer:
        return None
    missing = len(spec.answer) - len(answer)
    if missing and (missing < 0 or spec.side is not Side.WHOLE):
        return None
    return dict(zip(spec.answer, answer, strict=False))


def in_words(spec: OperationSpec, answer: Expected) -> Worded:
    """An answer by the names of its parts and of what these are made of, where they have names."""
    parts = named_parts(spec, answer)
    if parts is None:
        return worded(spec.words.get("", OFFSETS if spec.effect else plain), answer)
    by_default = {"commits": OFFSETS} if spec.commits else {}
    return {name: worded(spec.words.get(name, by_default.get(name, bare)), value) for name, value in parts.items()}


def differing_parts(spec: OperationSpec, expected: Expected, observed: Expected) -> list[str]:
    """The names of the parts in which two answers differ, those last on which nothing depends; none when one of them
    has no named parts."""
    wanted, given = named_parts(spec, expected), named_parts(spec, observed)
    if wanted is None or given is None:
        return []
    if wanted.keys() != given.keys():
        return []
    return sorted(
        (name for name in wanted if not agrees(wanted[name], given[name])), key=lambda name: name in spec.idle
    )


def is_accident(why: Reason, differing: Sequence[str]) -> bool:
    """Is an answer that differs in these parts, or as a whole, an accident of Java in all that differs?"""
    return why.quirk is True or bool(why.quirk and differing and set(differing) <= set(why.quirk))


def first_difference(suite: Suite, step: Step) -> tuple[str, Expected, Expected]:
    """The name of the first part in which a step differs, what was expected of it, and what was observed.

    Without named parts the name is "", and the answers are whole.
    """
    spec = suite.operations[step.row[0]].spec
    parts = differing_parts(spec, step.expected, step.observed)
    wanted, given = named_parts(spec, step.expected), named_parts(spec, step.observed)
    if not parts or wanted is None or given is None:
        return "", step.expected, step.observed
    return parts[0], wanted[parts[0]], given[parts[0]]


def responsible(suite: Suite, step: Step) -> str:
    """The id of the rule that decides what differs: of the part that differs first, or of the next one on which
    something depends, else the first of the reason."""
    spec, rules = suite.operations[step.row[0]].spec, step.why.rules
    name, *others = differing_parts(spec, step.expected, step.observed) or [""]
    deciding = spec.answer.get(name, ())
    by_part = (deciding, *(spec.answer[other] for other in others if other not in spec.idle))
    found = next((rule for part in by_part for rule in rules if rule in part), "")
    if found in _ROUNDS or found not in deciding:
        found = next((rule for rule in rules if rule in _FAILING), found)
    if not found and _STORES[-1] in deciding:
        return next((rule for rule in _STORES if rule in rules), _STORES[-1])
    if found in _CHANGES and name == "places" and _CHANGES.issubset(rules) and (missed := _missed(step)) is not None:
        return "REB-SVC-WAKE" if missed else "WHOLE-SHARE"
    if found == "WHOLE-SUBSCRIBE" and name == "places" and _is_of_first_topic(step.expected, step.observed):
        return next((rule for rule in _ROUNDS if rule in rules), found)
    return found or next(iter(rules), "")


def _missed(step: Step) -> bool | None:
    """Do queues have other owners than expected because members do not know that others have come or gone: are they
    where they were before? None when the owners are those that are expected."""
    if not isinstance(step.before, WholePushState):
        return None
    group, stayed = step.before.group, step.after.group.members.keys()
    pulled = {
        queue: index
        for index, name in enumerate(group.topology.members)
        if name in group.members.keys() & stayed
        for queue in group.members[name].pulls
    }
    before = (pulled.get(queue, NO_OWNER) for queue in seen_queues(group.topology, group.broker))
    owners = zip(before, _owners(step.expected), _owners(step.observed), strict=False)
    differ = [(was, now) for was, wanted, now in owners if now != wanted]
    return all(was == now for was, now in differ) if differ else None


def _owners(answer: Expected) -> list[Expected]:
    """Who has each queue by an answer."""
    places = answer[0] if isinstance(answer, tuple) else ()
    return [place[0] for place in places if isinstance(place, tuple)] if isinstance(places, tuple) else []


def _is_of_first_topic(expected: Expected, observed: Expected) -> bool:
    """Do places differ of a queue that is not of the other topic?"""
    assert isinstance(expected, tuple)
    assert isinstance(observed, tuple)
    wanted, given = expected[0], observed[0]
    return isinstance(wanted, tuple) and isinstance(given, tuple) and wanted[:OTHER_QUEUES] != given[:OTHER_QUEUES]


def filled(spec: OperationSpec, expected: Expected, observed: Expected) -> tuple[Expected, tuple[str, ...]]:
    """An answer with the parts that it leaves open (``OperationSpec.unsaid``) as they are expected, and their names."""
    wanted, given = named_parts(spec, expected), named_parts(spec, observed)
    if wanted is None or given is None:
        return observed, ()
    left = tuple(name for name in spec.unsaid if given.get(name, 0) is None and wanted.get(name) is not None)
    return (_as_expected(wanted, given, left), left) if left else (observed, ())


def showing(suite: Suite, step: Step, parts: Collection[str]) -> Step:
    """A step that differs, with all but these parts of its answer left open."""
    spec = suite.operations[step.row[0]].spec
    wanted, given = named_parts(spec, step.expected), named_parts(spec, step.observed)
    left = tuple(name for name in differing_parts(spec, step.expected, step.observed) if name not in parts)
    if wanted is None or given is None or not left:
        return step
    return step._replace(observed=_as_expected(wanted, given, left), left=(*step.left, *left))


def showing_as(suite: Suite, step: Step, other: Step) -> Step:
    """A step that differs, with the parts of its answer left open in which the other one does not differ."""
    spec = suite.operations[other.row[0]].spec
    return showing(suite, step, differing_parts(spec, other.expected, other.observed))


def _as_expected(wanted: Mapping[str, Expected], given: Mapping[str, Expected], left: Collection[str]) -> Expected:
    """An answer whose parts of these names are as they are expected."""
    return tuple(wanted[name] if name in left else value for name, value in given.items())  # type: ignore[misc]


@lru_cache(maxsize=1024)
def weaker(why: Reason, spec: OperationSpec, left: tuple[str, ...]) -> Reason:
    """A reason without the rules whose deciding parts were all left open: these did not fire."""

    def decided(rule: str) -> bool:
        parts = [name for name, rules in spec.answer.items() if rule in rules]
        return not parts or any(name not in left for name in parts)

    return replace(why, rules=tuple(rule for rule in why.rules if decided(rule)))
