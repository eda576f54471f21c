"""Properties of the fake broker that can be changed while it runs (UPDATE_BROKER_CONFIG)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.fakes.responses import Answered, PlainHandler
from rocketmq_conformance.conformance.remoting.codes import Request

MEMORY_RATIO = "accessMessageInMemoryMaxRatio"
STRICT_LOCKS = "lockInStrictMode"


class Settings:
    """``actions`` are called when their property is set; other properties are accepted and change nothing."""

    def __init__(self, actions: Mapping[str, Callable[[str], object]]) -> None:
        self._actions = actions

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        return {Request.UPDATE_BROKER_CONFIG: self._update}

    def _update(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        for line in body.decode().splitlines():
            name, _, value = line.partition("=")
            action = self._actions.get(name.strip())
            if action is not None:
                action(value.strip())
        return 0, "", {}, b""
