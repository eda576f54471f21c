"""Steps that are calls of Java: done one by one, or many in one call where Java has a compiler (``Steps.java``)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import jpype

from rocketmq_conformance.conformance.targets.java_client.java_source import BETWEEN
from rocketmq_conformance.models.outcome import Result

#: The calls of a step, whose result is that of the last one: an object, the name of a method, and its arguments. None
#: is the offset store of the case, and a class stands for its static methods.
Calls = Sequence[tuple[Any, ...]]

#: The character of the first step, and how many are kept: not all numbers that follow are characters.
_FIRST, _KEPT = " ", 1 << 15


class Steps:
    """The steps of a consumer in Java, each of which is made when it is wanted first."""

    def __init__(
        self,
        java: Any,
        consumer: Any,
        factory: Any,
        store: Any,
        failures: Sequence[Any],
        failed: Callable[[int, int, str], Result],
    ) -> None:
        """Of the inside of a consumer, its client and its class of offset stores; ``java`` is the compiled class. What
        is raised is one of ``failures``, the first of which has a response code, or any other: ``failed`` takes the
        position of its class, the code and a text."""
        kinds = [failure.class_ for failure in failures]
        self._java = java(consumer, factory, store.class_, kinds, kinds[0])
        self._play = self._java.play
        #: A number of 32 bits that Java writes.
        self._position = memoryview(self._java.position).cast("B").cast("i")
        self._characters: dict[Hashable, str] = {}

        @lru_cache(maxsize=4096)
        def result(text: str) -> Result:
            if text.startswith("!"):
                kind, code, detail = text[1:].split(" ", 2)
                return failed(int(kind), int(code), detail)
            return int(text) if text else None

        self._result = result

    def open(self, group: str) -> Any:
        """Give the consumer an empty offset store of a group: the store."""
        return self._java.open(group)

    def one(self, step: Hashable, make: Callable[[], Calls]) -> Result:
        """The result of a step; ``make`` makes its calls."""
        self._keep_few()
        character = self._characters.get(step) or self._add(step, make())
        return self._result(str(self._play(character)))

    def all(self, steps: Iterable[Hashable], make: Callable[[Any], Calls]) -> list[Result]:
        """The results of steps, one after the other; ``make`` makes the calls of one."""
        self._keep_few()
        known = self._characters
        characters = "".join([known.get(step) or self._add(step, make(step)) for step in steps])
        return list(map(self._result, str(self._play(characters)).split(BETWEEN)))

    @property
    def position(self) -> int:
        """The position of the step that is being done."""
        return self._position[0]

    def _add(self, step: Hashable, calls: Calls) -> str:
        self._java.add([jpype.JArray(jpype.JObject)(call) for call in calls])
        return self._characters.setdefault(step, chr(ord(_FIRST) + len(self._characters)))

    def _keep_few(self) -> None:
        """Begin anew when there are many: a case has fewer steps than there are characters left."""
        if len(self._characters) > _KEPT:
            self._java.clear()
            self._characters.clear()
