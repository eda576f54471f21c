"""One test for one statement about many values, which fails with all values that it does not hold for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any

import pytest


def every(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like ``pytest.mark.parametrize``, but as one test. It may stand on itself, for all pairs.

    Every value is tried, whatever became of those before; the failures are raised together, each with a note that
    says for which values. Fixtures are set up once, for all values.
    """
    parameters = names if isinstance(names, tuple) else (names,)
    rows = [value if isinstance(names, tuple) else (value,) for value in values]
    assert rows, "a statement about nothing"

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def tried(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for row in rows:
                try:
                    function(**dict(zip(parameters, row, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    shown = ", ".join(f"{name}={value!r}" for name, value in zip(parameters, row, strict=True))
                    error.add_note(f"with {shown}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{function.__name__}: {len(failed)} of {len(rows)} fail", failed)

        known = signature(function)
        fixtures = [parameter for name, parameter in known.parameters.items() if name not in parameters]
        tried.__signature__ = known.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return tried

    return decorated
