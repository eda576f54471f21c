"""Keeps the garbage collector out of the hot loop."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Containers that are made, less those that are gone, between two collections.
_RARELY = 200_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cyclic garbage rarely: playing cases makes millions of tuples and mappings, and no cycles to speak of.

    Objects that exist already (tables, classes) are not looked at until the exit, after which everything is as before;
    nesting does no harm.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_RARELY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
