"""What a proxy sees after each move of the suite of simple gRPC consumers."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rocketmq_conformance.suites.declare.operation import Guard, Side, operation
from rocketmq_conformance.suites.declare.wording import Worded, Wording, bare, listed
from rocketmq_conformance.suites.values.grpc import ended, given, said

O = TypeVar("O")  # noqa: E741 - the type of an operation class

_SEEN = (
    "Answers with what the proxy sees once the member has had time for it: what receives asked for (messages, renewal "
    "by the proxy, seconds of polling, expression, invisible time); the messages that were given (queue, offset, "
    "times), and what became of messages (queue, offset, what); how often each call was made; whether the receives so "
    "far went round the queues; and what the settings and heartbeats of the member say."
)
#: The parts of an answer, each with the rules that decide it.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "asked": ("GP-SIM-2",),
    "given": ("GP-SIM-2",),
    "ended": ("GP-SIM-4",),
    "calls": ("GP-SIM-3",),
    "turn": ("GP-SIM-1",),
    "settings": ("GP-TEL-1",),
    "heartbeats": ("GP-HB-1",),
}
_END_PARTS = {**_PARTS, "end": ("GP-END-1",)}
#: Those that may be left open, those that no message depends on, and those that nothing later depends on.
_UNSAID, _SHOULD = ("heartbeats", "end"), ("turn",)
_IDLE = ("asked", "turn", "settings", "heartbeats", "end")


def _asked(value: Any) -> str:
    most, renews, polling, expression, seconds = value
    return f"{most} messages {'renewed by the proxy' if renews else f'for {seconds}'}, waits {polling}, of {expression}"


def _calls(value: Any) -> Worded:
    return {str(call): f"{times} times" for call, times in value}


_WORDS: Mapping[str, Wording] = {
    "asked": listed(_asked),
    "given": given,
    "ended": ended,
    "calls": _calls,
    "turn": bare,
    "settings": bare,
    "heartbeats": bare,
    "end": bare,
}


def move(sentence: str, *, weight: int = 1, guard: Guard | None = None) -> Callable[[type[O]], type[O]]:
    """Declare a move: an operation of a simple consumer."""
    return _declared(f"{sentence} {_SEEN}", _PARTS, weight, guard)


def end(sentence: str) -> Callable[[type[O]], type[O]]:
    """Declare the move that shuts the member down: how it says so is seen, too."""
    return _declared(f"{sentence} {_SEEN} Behind these it says how the member said that it ends.", _END_PARTS, 1, None)


def _declared(
    sentence: str, parts: Mapping[str, tuple[str, ...]], weight: int, guard: Guard | None
) -> Callable[[type[O]], type[O]]:
    return operation(
        sentence,
        side=Side.GRPC,
        weight=weight,
        guard=guard,
        answer=parts,
        unsaid=tuple(name for name in parts if name in _UNSAID),
        idle=tuple(name for name in parts if name in _IDLE),
        should=tuple(name for name in parts if name in _SHOULD),
        words={name: _WORDS[name] for name in parts},
        said=said,
    )
