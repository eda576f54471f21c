"""Compilation to C: on when the kit was installed with ``ROCKETMQ_CONFORMANCE_COMPILE=1`` (setup.py).

mypyc compiles what a step of a group or of an offset store goes through: their models, and the port and the world that
answer it. Nothing else changes, results least of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rocketmq_conformance.models import fast_tuples

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:
    T = TypeVar("T")

    def mypyc_attr(**settings: Any) -> Callable[[T], T]:
        """Tells the compiler something about a class, such as that Python may inherit from it; nothing to Python."""
        return lambda kind: kind


__all__ = ["is_compiled", "mypyc_attr"]


def is_compiled() -> bool:
    """Was this installation compiled?"""
    return not str(fast_tuples.__file__).endswith(".py")
