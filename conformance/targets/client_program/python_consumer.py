"""The command that runs a consumer in Python, whose factory takes the settings, as a program of its own."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Mapping, Sequence

from rocketmq_conformance.conformance.targets.client_program.host import required_parameters

#: Has the same modules as this process, wherever those come from, and runs the host.
_BOOT = (
    r"import sys; sys.path[:] = sys.argv.pop(1).split('\n'); "
    "from rocketmq_conformance.conformance.targets.client_program.host import main; main()"
)


def makes_consumer(factory: Callable[..., object], options: Mapping[str, str]) -> bool:
    """Does a factory make a whole consumer? It needs the settings; that of a stepped implementation needs nothing."""
    return required_parameters(factory, options) > 0


def named_parameters(factory: Callable[..., object]) -> tuple[str, ...] | None:
    """The options that a factory takes by name, behind what it needs; None when it takes any, or does not say."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # it is written in C
        return None
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return None
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(one.name for one in parameters if one.kind in named)


def command(
    name: str, factory: Callable[..., object], options: Mapping[str, str], kits: Collection[str] = ()
) -> list[str]:
    """The command for ``module:factory``. Options are given to the factory, those of the kit if it asks for them."""
    asked = inspect.signature(factory).parameters
    own = [f"{key}={value}" for key, value in options.items() if key not in kits or key in asked]
    return [sys.executable, "-c", _BOOT, "\n".join(sys.path), name, *own]


def python_name(words: Sequence[str]) -> str:
    """The address of the consumer that a command runs, or "" when it is another command."""
    return f"python:{words[4]}" if list(words[1:3]) == ["-c", _BOOT] else ""
