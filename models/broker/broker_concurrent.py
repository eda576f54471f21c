"""The broker of suite broker-concurrent: requests of several clients at the same time, judged by their history.

A plan names requests one after the other, and then has all of them played at once: each client sends its own in their
order, and waits for each answer. What is observed is the history: when each request was sent and answered, and what the
answer was. It is right if it is linearizable by the model of single requests (``overlapping``). Requests that touch
nothing in common are judged apart, so that a queue is judged by its own requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.overlapping import (
    COMMIT,
    FAULTS,
    JOIN,
    KILL,
    LEAVE,
    LIST,
    LOCK,
    MAX,
    PULL,
    QUERY,
    RESET,
    SEND,
    UNLOCK,
    UNSEEN,
    Answers,
    Overlapped,
    Request,
    cut_last,
    key,
    killed,
    touched,
)
from rocketmq_conformance.models.linearizability import Call, Effect, TooManyConfigurations, apart, linearize
from rocketmq_conformance.models.outcome import Expected, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

#: Requests that are played at once, at most, and those of a case.
MOST_AT_ONCE, MOST = 9, 40

_ASKED = Reason((), "to be sent with others")
#: The rules of what befalls requests.
_OF_FAULTS = frozenset({"BQ-ONCE-CUT", "BQ-ONCE-FREEZE", "BQ-ONCE-KILL"})
_NOTHING_CUT = Reason((), "no request whose connection could be cut")
#: The rule of each kind of request.
_RULE = {
    **dict.fromkeys((COMMIT, QUERY), "BQ-ONCE-OFFSET"),
    RESET: "BQ-ONCE-RESET",
    SEND: "BQ-ONCE-SEND",
    **dict.fromkeys((PULL, MAX), "BQ-ONCE-SHOWN"),
    **dict.fromkeys((LOCK, UNLOCK), "BQ-ONCE-LOCK"),
    **dict.fromkeys((JOIN, LEAVE, LIST), "BQ-ONCE-MEMBERS"),
}
#: Pairs of requests that overlap, those first that say most about a history.
_PAIRS = (
    *((RESET, other) for other in (COMMIT, QUERY, PULL, RESET)),
    *((COMMIT, other) for other in (COMMIT, QUERY)),
    *((JOIN, other) for other in (LEAVE, LIST, JOIN)),
    *((LEAVE, other) for other in (LIST, LEAVE)),
    *((LOCK, other) for other in (LOCK, UNLOCK)),
    *((SEND, other) for other in (SEND, PULL, MAX, QUERY)),
    *((PULL, other) for other in (QUERY, COMMIT, PULL)),
)
_UNPROMISED = {
    "BQ-ONCE-FIRST": "first commits of a topic at once",
    "BQ-ONCE-TORN": "a commit or query beside a reset",
    "BQ-ONCE-LEAVE": "a member that registers while the last one leaves",
}


class Played(NamedTuple):
    """A request that was played: the moments of its sending and its answer, None for no answer, and the answer."""

    request: Request
    sent: int
    answered: int | None
    said: Expected


class ConcurrentState(NamedTuple):
    """Requests to be played at once, and those that were played; ``lost`` once the model cannot go on from these."""

    asked: tuple[Request, ...] = ()
    played: tuple[Played, ...] = ()
    lost: bool = False


class BrokerConcurrentModel:
    """The rules of suite broker-concurrent; every method is pure. Clients are numbers, queues those of one topic."""

    __slots__ = ("_answers", "_rules")

    def __init__(self, profile: Profile) -> None:
        self._rules = BrokerRules.of(profile)
        self._answers = Answers(self._rules)

    def ask(self, state: ConcurrentState, request: Request) -> Answer[ConcurrentState]:
        """None: the request is played with others."""
        return state._replace(asked=(*state.asked, request)), None, _ASKED

    def at_once(self, state: ConcurrentState, observed: Result) -> Answer[ConcurrentState]:
        """BQ-ONCE-*: (client, request, when it was sent, when it was answered, answer) of each, as asked.

        Moments are counted from 0. A request whose answer fits no order is expected with those that do.
        """
        seen = _read(state, observed)
        history = seen or self._example(state)
        after = ConcurrentState((), (*state.played, *history))
        rules, kind = self._met(state.played, after.played, len(history))
        lost = after._replace(lost=True)
        try:
            wrong = self._wrong(after.played) if seen else None
            if wrong is None:
                return after, _written(state, history), _reason(rules, kind)
            unpromised = self._unpromised(after.played, wrong)
            if unpromised:
                why = _reason((unpromised,), _UNPROMISED[unpromised], unpromised=True)
                return lost, _written(state, history), why
            number, allowed = self._allowed(after.played, wrong, len(state.played))
        except TooManyConfigurations:
            return lost, _written(state, history), _reason(rules, "more orders than can be tried", unpromised=True)
        said = " or ".join(sorted(map(_text, allowed))) if allowed else "an answer that fits the others"
        at = number - len(state.played)
        corrected = [*history[:at], history[at]._replace(said=said), *history[at + 1 :]]
        befallen = tuple([rule for rule in rules if rule in _OF_FAULTS])
        return lost, _written(state, corrected), _reason((*befallen, _RULE[history[at].request.kind]), kind)

    def cut(self, state: ConcurrentState, by: int) -> Answer[ConcurrentState]:
        """BQ-ONCE-CUT: the last request of a client that is not about members is not waited for; there may be none."""
        asked = cut_last(state.asked, by)
        return (state, None, _NOTHING_CUT) if asked is None else (state._replace(asked=asked), None, _ASKED)

    # --- the search -----------------------------------------------------------------------------------------------

    def _wrong(self, played: Sequence[Played]) -> list[int] | None:
        """The numbers of the first part of a history that is not linearizable."""
        kills = [number for number, one in enumerate(played) if one.request.kind == KILL]
        asked = [number for number, one in enumerate(played) if one.request.kind not in FAULTS]
        parts = apart([touched(self._rules, played[number].request) for number in asked])
        numbered = ([asked[place] for place in part] + kills for part in parts)
        return next((part for part in numbered if not self._is_right([played[number] for number in part])), None)

    def _is_right(self, played: Sequence[Played]) -> bool:
        calls = [self._call(played, one, self._answers.at_once(one.request, _heard(one))) for one in played]
        return linearize(Overlapped(), calls, key).stuck is None

    @staticmethod
    def _call(played: Sequence[Played], one: Played, effects: tuple[Effect, ...]) -> Call:
        """A request among others as a call; one that is no request is a kill."""
        if one.request.kind == KILL:
            effects = (killed(_stored_before(played, one)),)
        return Call(one.sent, one.answered, effects)

    def _unpromised(self, played: Sequence[Played], wrong: Sequence[int]) -> str:
        """The rule that leaves open what a part of a history shows, or "": it has an order if requests have gaps."""
        kinds = {played[number].request.kind for number in wrong} - FAULTS
        together = [
            one
            for one in played
            if one.request.kind == KILL
            or (
                (one.request.kind in (JOIN, LEAVE, LIST)) == (kinds <= {JOIN, LEAVE, LIST})
                and one.request.kind not in (LOCK, UNLOCK, *FAULTS)
            )
        ]
        if kinds <= {LOCK, UNLOCK}:
            return ""
        calls = [self._call(together, one, self._answers.in_steps(one.request, _heard(one))) for one in together]
        if linearize(Overlapped(), calls, key).stuck is not None:
            return ""
        if kinds <= {JOIN, LEAVE, LIST}:
            return "BQ-ONCE-LEAVE"
        return "BQ-ONCE-TORN" if any(one.request.kind == RESET for one in together) else "BQ-ONCE-FIRST"

    def _allowed(self, played: Sequence[Played], wrong: Sequence[int], first: int) -> tuple[int, set[Any]]:
        """The number of the request whose answer is to blame, none before ``first``, and what it could have answered.

        That is the one without whose answer the others have an order; of several the last one.
        """
        candidates = [
            number
            for number in sorted(wrong, reverse=True)
            if number >= first and played[number].answered is not None and played[number].request.kind not in FAULTS
        ]
        for number in candidates:
            said = self._without(played, wrong, number)
            if said:
                return number, said
        return candidates[0], set()

    def _without(self, played: Sequence[Played], part: Sequence[int], number: int) -> set[Any]:
        """What a request could answer for all others to have an order."""
        calls = []
        for one in part:
            heard = UNSEEN if one == number else _heard(played[one])
            effects = self._answers.at_once(played[one].request, heard)
            calls.append(self._call([played[each] for each in part], played[one], effects))
        found = linearize(Overlapped(), calls, key, [part.index(number)])
        return set() if found.stuck is not None else {said for one in found.configurations for _, said in one.noted}

    # --- what a history shows -------------------------------------------------------------------------------------

    def _example(self, state: ConcurrentState) -> list[Played]:
        """A history of the requests, each client's first ones overlapping, then its next ones, and so on."""
        broker = self._after(state.played)
        turns: dict[int, int] = {}
        numbered = []
        for request in state.asked:
            numbered.append((turns.get(request.by, 0), request))
            turns[request.by] = turns.get(request.by, 0) + 1
        since = _end(state.played)
        found = {}
        for place, (turn, request) in sorted(enumerate(numbered), key=lambda one: (one[1][0], one[0])):
            broker, said = self._answers.alone(broker, request)
            sent = since + 2 * MOST_AT_ONCE * turn + place
            answered, said = (sent + MOST_AT_ONCE, said) if request.heard else (None, None)
            found[place] = Played(request, sent, answered, said)
        return [found[place] for place in range(len(numbered))]

    def _after(self, played: Iterable[Played]) -> Overlapped:
        """A broker after requests that were done in the order of their sending."""
        broker = Overlapped()
        for one in sorted(played, key=lambda one: one.sent):
            broker, _ = self._answers.alone(broker, one.request)
        return broker

    def _met(self, before: Sequence[Played], played: Sequence[Played], size: int) -> tuple[tuple[str, ...], str]:
        """What overlapped in the last requests of a history that says most, and the rules of that."""
        whole = played[len(played) - size :]
        last = [one for one in whole if one.request.kind not in FAULTS]
        faults = [one for one in whole if one.request.kind in FAULTS]
        if faults:
            return _befallen(faults[0], last)
        if any(one.request.cut for one in last):
            kinds = {one.request.kind for one in last if one.request.cut}
            return ("BQ-ONCE-CUT",), f"cut {next(kind for kind in _RULE if kind in kinds)}"
        pairs = {
            frozenset((one.request.kind, other.request.kind))
            for place, one in enumerate(last)
            for other in last[place + 1 :]
            if _overlap(one, other) and touched(self._rules, one.request) & touched(self._rules, other.request)
        }
        unheard = ", one unanswered" if any(one.answered is None for one in last) else ""
        if self._has_first_commits(before, last):
            return ("BQ-ONCE-FIRST", "BQ-ONCE-OFFSET"), f"first commits of two queues{unheard}"
        pair = next((pair for pair in _PAIRS if frozenset(pair) in pairs), None)
        if pair is None:
            return (_RULE[last[-1].request.kind],), f"one after the other{unheard}"
        rules = {_RULE[kind] for kind in pair}
        if set(pair) in ({COMMIT, RESET}, {QUERY, RESET}):
            rules.add("BQ-ONCE-TORN")
        if set(pair) == {JOIN, LEAVE}:
            rules.add("BQ-ONCE-LEAVE")
        return tuple(sorted(rules)), f"{pair[0]} beside {pair[1]}{unheard}"

    def _has_first_commits(self, before: Sequence[Played], last: Sequence[Played]) -> bool:
        commits = [one for one in last if one.request.kind == COMMIT]
        known = any(one.request.kind in (COMMIT, RESET) for one in before)
        return not known and any(
            _overlap(one, other) and one.request.args[0] != other.request.args[0]
            for place, one in enumerate(commits)
            for other in commits[place + 1 :]
        )


def _befallen(fault: Played, last: Sequence[Played]) -> tuple[tuple[str, ...], str]:
    """The rule of a fault, and what it befell."""
    kinds = {one.request.kind for one in last if _overlap(fault, one)}
    beside = next((kind for kind in _RULE if kind in kinds), "nothing")
    return (f"BQ-ONCE-{fault.request.kind.upper()}",), f"{fault.request.kind} beside {beside}"


def _stored_before(played: Sequence[Played], kill: Played) -> dict[int, set[int]]:
    """The offsets of each queue that commits and resets asked for before a kill was over."""
    found: dict[int, set[int]] = {}
    for one in played:
        if one.request.kind in (COMMIT, RESET) and one.sent < (kill.answered or 0):
            found.setdefault(one.request.args[0], set()).add(one.request.args[1])
    return found


def _overlap(one: Played, other: Played) -> bool:
    first, second = sorted((one, other), key=lambda each: each.sent)
    return first.answered is None or second.sent < first.answered


def _heard(one: Played) -> Any:
    return UNSEEN if one.answered is None else one.said


def _end(played: Sequence[Played]) -> int:
    """The first moment after everything that was played."""
    return max((max(one.sent, one.answered or 0) for one in played), default=-1) + 1


def _read(state: ConcurrentState, observed: Result) -> list[Played]:
    """The history that was observed; none when it is not one of the requests that were asked."""
    if not isinstance(observed, tuple) or len(observed) != len(state.asked):
        return []
    since, found = _end(state.played), []
    for request, one in zip(state.asked, observed, strict=True):
        if not isinstance(one, tuple) or len(one) != 5:
            return []
        by, what, sent, answered, said = one
        if (by, what) != (request.by, str(request)) or type(sent) is not int or type(answered) not in (int, type(None)):
            return []
        if answered is not None and answered < sent:  # type: ignore[operator]
            return []
        found.append(Played(request, since + sent, None if answered is None else since + answered, said))  # type: ignore[operator]
    return found


def _written(state: ConcurrentState, history: Sequence[Played]) -> Expected:
    """A history as it is observed."""
    since = _end(state.played)
    return tuple(
        (
            one.request.by,
            str(one.request),
            one.sent - since,
            None if one.answered is None else one.answered - since,
            one.said,  # type: ignore[misc]
        )
        for one in history
    )


def _text(said: Any) -> str:
    return "done" if said is None else "none" if said == () else str(said)


@cache
def _reason(rules: tuple[str, ...], kind: str, *, unpromised: bool = False) -> Reason:
    return Reason(rules, kind, unpromised=unpromised)
