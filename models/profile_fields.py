"""Frozen dataclasses whose fields are read from a profile: what a release and a configuration mean to the models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, field, fields
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeVar, cast

from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Switch

_T = TypeVar("_T")
_READ = "read"


def read(value: Callable[[Profile], _T]) -> _T:
    """A field with this value of the profile."""
    return cast(_T, field(metadata={_READ: value}))


def in_client(switch: Switch, *, mends: bool = False) -> bool:
    """A field that is true where the change has arrived in the profile's client. One that ``mends`` an accident of Java
    is in every client without these, too."""
    return read(lambda profile: switch.on(profile.client) or (mends and not profile.accidents))


def in_broker(switch: Switch, *, until: Switch | None = None) -> bool:
    """A field that is true where the change has arrived in the profile's broker, and ``until`` has not."""
    return read(lambda profile: switch.on(profile.broker) and not (until and until.on(profile.broker)))


class ProfileFields:
    """Base of dataclasses all of whose fields are made by ``read``, ``in_client`` and ``in_broker``."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @classmethod
    def of(cls, profile: Profile) -> Self:
        """Every field, as the profile has it."""
        return cls(**_values(cls, profile))  # type: ignore[arg-type]  # classes can be hashed


@lru_cache(maxsize=256)
def _values(made: type[ProfileFields], profile: Profile) -> dict[str, Any]:
    """The values of the fields, by name: a profile is read once, however many models are made of it."""
    return {each.name: each.metadata[_READ](profile) for each in fields(made)}
