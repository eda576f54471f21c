"""What the suites of gRPC consumers share: what a proxy sees after each of their moves."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from rocketmq_conformance.models.client.grpc_push import ANY_QUEUE
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.suites.declare.operation import Guard, Side, operation
from rocketmq_conformance.suites.declare.wording import Worded, Wording, bare, each, listed, plain

O = TypeVar("O")  # noqa: E741 - the type of an operation class

_SEEN = (
    "Answers with what the proxy sees once the members have had time for it: for each member the queues for which a "
    "receive is open (-1: any queue); what receives asked for so far (messages, renewal by the proxy, seconds of "
    "polling, expression); the messages that were given since the step before (queue, offset, times), and what became "
    "of them (queue, offset, what); for each member what its settings and its heartbeats say; and what came of a call "
    "that is refused."
)
_END = "Behind these it says how the member said that it ends, and how many of its receives were open then."
_TRIES = " Behind these stands for each message that was forwarded to the dead-letter queue at which attempt it was."
#: The parts of an answer, each with the rules that decide it.
PARTS: Mapping[str, tuple[str, ...]] = {
    "receives": ("GP-ASG-3", "GP-ASG-2", "GP-ASG-1"),
    "asked": ("GP-TEL-2",),
    "given": ("GP-ASG-3", "GP-ASG-2", "GP-RCV-2", "GP-RCV-1", "GP-ASG-1"),
    "ended": (
        *("GP-FIFO-4", "GP-FIFO-3", "GP-FIFO-2", "GP-FIFO-1"),
        *("GP-ACK-4", "GP-ACK-3", "GP-BODY-2", "GP-BODY-1", "GP-ACK-2", "GP-ACK-1"),
    ),
    "settings": ("GP-TEL-1",),
    "heartbeats": ("GP-HB-1",),
    "refused": ("GP-RCV-2", "GP-FIFO-4", "GP-ACK-3"),
}
#: Those that FIFO groups have behind them, and those of a member that is shut down, which are the last.
_FIFO_PARTS = {"tries": ("GP-FIFO-5",)}
_END_PARTS = {"end": ("GP-END-1",), "left": ("GP-END-2",)}
#: Those that may be left open, and those that no message depends on.
_UNSAID, _SHOULD = ("heartbeats", "refused", "end", "left"), ("asked", "left", "tries")
#: Parts that nothing later depends on.
_IDLE = ("asked", "settings", "heartbeats", "refused", "end", "left", "tries")


def queues(value: Any) -> str:
    """Queues of an assignment."""
    return ", ".join("any queue" if one == ANY_QUEUE else f"queue {one}" for one in value) or "none"


def _asked(value: Any) -> str:
    batch, renews, polling, expression = value
    return f"{batch} messages {'renewed by the proxy' if renews else 'not renewed'}, for {polling}, of {expression}"


def given(value: Any) -> Worded:
    """Messages that were given."""
    return {f"queue {queue}, message {offset}": f"time {times}" for queue, offset, times in value}


def ended(value: Any) -> Worded:
    """What became of messages."""
    found: dict[str, list[str]] = {}
    for queue, offset, how in value:
        found.setdefault(f"queue {queue}, message {offset}", []).append(how)
    return {name: ", then ".join(how) for name, how in found.items()}


def _ended_in_order(value: Any) -> Worded:
    places = Counter[int]()
    found = {}
    for queue, offset, how in value:
        places[queue] += 1
        found[f"queue {queue}, end {places[queue]}"] = f"message {offset}: {how}"
    return found


def _tries(value: Any) -> Worded:
    return {f"queue {queue}, message {offset}": f"forwarded at attempt {attempt}" for queue, offset, attempt in value}


_WORDS: Mapping[str, Wording] = {
    "receives": each("member", queues),
    "asked": listed(_asked),
    "given": given,
    "ended": ended,
    "settings": each("member", bare),
    "heartbeats": each("member", bare),
    "refused": bare,
    "tries": _tries,
    "end": bare,
    "left": plain,
}
#: The words of arguments.
said: Mapping[str, Wording] = {"queue": lambda queue: "every queue" if queue == EVERY else str(queue)}


def beginning(sentence: str, *, weight: int = 1, guard: Guard | None = None) -> Callable[[type[O]], type[O]]:
    """Declare the operation that says how a case begins: nothing is seen after it."""
    return operation(sentence, side=Side.GRPC, weight=weight, guard=guard)


@dataclass(frozen=True)
class Moves:
    """Declares the moves of one suite, which has these rules; ``fifo``: of a FIFO group."""

    rules: Collection[str]
    fifo: bool = False

    def move(self, sentence: str, *, weight: int = 1, guard: Guard | None = None) -> Callable[[type[O]], type[O]]:
        """Declare a move: an operation of gRPC consumers."""
        return self._declared(sentence, {}, "", weight, guard)

    def end(self, sentence: str, *, weight: int = 1, guard: Guard | None = None) -> Callable[[type[O]], type[O]]:
        """Declare the move that shuts a member down: its end is seen, too."""
        return self._declared(sentence, _END_PARTS, f" {_END}", weight, guard)

    def _declared(
        self, sentence: str, more: Mapping[str, tuple[str, ...]], seen: str, weight: int, guard: Guard | None
    ) -> Callable[[type[O]], type[O]]:
        parts = {**PARTS, **(_FIFO_PARTS if self.fifo else {}), **more}
        return operation(
            f"{sentence} {_SEEN}{_TRIES if self.fifo else ''}{seen}",
            side=Side.GRPC,
            weight=weight,
            guard=guard,
            answer={name: tuple(rule for rule in rules if rule in self.rules) for name, rules in parts.items()},
            unsaid=tuple(name for name in parts if name in _UNSAID),
            idle=tuple(name for name in parts if name in _IDLE),
            should=tuple(name for name in parts if name in _SHOULD),
            words={**{name: _WORDS[name] for name in parts}, **({"ended": _ended_in_order} if self.fifo else {})},
            said=said,
        )
