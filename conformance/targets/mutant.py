"""The declaration of a mutant: an implementation of the kit with one deliberate fault, after a real defect."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

M = TypeVar("M", bound="Mutant")
Changed = TypeVar("Changed", bound=Callable[..., object])
#: Where a word of a class's name begins, but for the first.
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)")


@dataclass(frozen=True)
class Mutant:
    """One deliberate fault.

    ``parts`` replaces classes: of the port by the name of the suite that they play, of a broker by part name.
    """

    name: str
    #: Id of the real defect it repeats, such as "D19".
    defect: str
    #: What is wrong, in one sentence.
    sentence: str
    parts: dict[str, type] = field(default_factory=dict)
    #: Why the mutant is equivalent, that is, no test can kill it; "" for a mutant that must be killed.
    equivalent: str = ""


#: Makes a mutant of its name, defect, sentence, what is changed and why it is equivalent.
Make = Callable[[str, str, str, type, str], M]


class Declares(Generic[M]):
    """Declares mutants of a module: a decorator of the class or function that has the fault, which names it."""

    def __init__(self, found: list[M], make: Make[M]) -> None:
        """They come into ``found``."""
        self._found, self._make = found, make

    def __call__(
        self, defect: str, sentence: str, *, name: str = "", equivalent: str = ""
    ) -> Callable[[Changed], Changed]:
        """A mutant of this defect; unless it has a name, ``LosesTheLast`` and ``_loses_the_last`` are
        ``loses-the-last``."""

        def declare(changed: Changed) -> Changed:
            made = self._make(name or name_of(changed), defect, sentence, cast(type, changed), equivalent)
            self._found.append(made)
            return changed

        return declare

    def of(self, whole: Callable[[Any], type]) -> Declares[M]:
        """The same of something else, such as a function: ``whole`` makes the part's class of it."""

        def make(name: str, defect: str, sentence: str, changed: Any, equivalent: str) -> M:
            return self._make(name, defect, sentence, whole(changed), equivalent)

        return Declares(self._found, make)


def declared(found: list[Mutant], part: str) -> Declares[Mutant]:
    """The decorator of classes that have a fault in one part of the port."""

    def make(name: str, defect: str, sentence: str, changed: type, equivalent: str) -> Mutant:
        return Mutant(name, defect, sentence, {part: changed}, equivalent)

    return Declares(found, make)


def name_of(changed: Callable[..., object]) -> str:
    """The name of a mutant, by that of what is changed."""
    return _WORD.sub("-", changed.__name__.strip("_")).replace("_", "-").lower()
