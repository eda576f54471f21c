"""Fast constructors of named tuples: states are made of them, and every step makes new ones.

The class of a named tuple makes them by a Python function: that takes twice as long as making the tuple itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T", bound=tuple[Any, ...])
Item = TypeVar("Item")


def maker(kind: type[T]) -> Callable[[tuple[Any, ...]], T]:
    """A constructor of named tuples of a kind from bare ones, which must have all of its fields."""
    return partial(tuple.__new__, kind)


def replaced(items: tuple[Item, ...], place: int, item: Item) -> tuple[Item, ...]:
    """The items with another one in a place. Slices would make two tuples more."""
    changed = [*items]
    changed[place] = item
    return (*changed,)
