"""Named tuples that are made by the million.

The class of a named tuple makes them by a function of Python that Python's own machinery calls: that takes twice as
long as the tuple itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T", bound=tuple[Any, ...])


def maker(kind: type[T]) -> Callable[[tuple[Any, ...]], T]:
    """What makes named tuples of a kind out of bare ones, which must have all of its fields."""
    return partial(tuple.__new__, kind)
