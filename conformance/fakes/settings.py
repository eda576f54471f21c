"""The configuration of the fake broker: answered (GET_BROKER_CONFIG), and changed as it runs (UPDATE_BROKER_CONFIG)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.responses import PlainHandler
from rocketmq_conformance.conformance.properties.defaults import HERE, defaults_of
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.broker.configuration import SETTINGS
from rocketmq_conformance.models.profile import Profile


class Settings:
    """The defaults of the profile's release, the profile's configuration, and ``properties`` that change nothing.

    ``changed`` is called with the profile when a property of it was set; ``actions`` are called with the value of
    theirs. Other properties are accepted and change nothing.
    """

    def __init__(
        self,
        profile: Profile,
        properties: Mapping[str, str],
        changed: Callable[[Profile], object],
        actions: Mapping[str, Callable[[str], object]],
    ) -> None:
        self._profile = self._ordinary = profile
        self._changed = changed
        self._actions = actions
        defaults = {name: "" if value == HERE else value for name, value in defaults_of(profile.broker).items()}
        self._started = {**defaults, **properties, **dict(profile.configuration)}
        self._properties = dict(self._started)

    def restore(self) -> None:
        """The broker starts with what it was configured with at first, as the kit starts brokers."""
        self._profile, self._properties = self._ordinary, dict(self._started)
        self._changed(self._profile)

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        return {Request.GET_BROKER_CONFIG: self._get, Request.UPDATE_BROKER_CONFIG: self._update}

    def _get(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        return 0, "", {}, "".join(f"{name}={value}\n" for name, value in self._properties.items()).encode()

    def _update(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        for line in body.decode().splitlines():
            name, value = (part.strip() for part in line.partition("=")[::2])
            setting, action = SETTINGS.get(name), self._actions.get(name)
            if name in self._properties:
                self._properties[name] = value
            if setting and setting.has(self._profile.broker) and setting.allows(value):
                self._profile = self._profile.configured({**dict(self._profile.configuration), name: value})
                self._changed(self._profile)
            if action is not None:
                action(value)
        return 0, "", {}, b""
