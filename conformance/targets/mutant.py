"""The declaration of a mutant: an implementation of the kit with one deliberate fault, after a real defect."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

M = TypeVar("M", bound="Mutant")
Changed = TypeVar("Changed", bound=type)
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


#: Makes a mutant of its name, defect, sentence, changed class and why it is equivalent.
Make = Callable[[str, str, str, type, str], M]


class Declares(Generic[M]):
    """Declares mutants of a module: a decorator of the class that has the fault, which names it."""

    def __init__(self, found: list[M], make: Make[M]) -> None:
        """They come into ``found``."""
        self._found, self._make = found, make

    def __call__(
        self, defect: str, sentence: str, *, name: str = "", equivalent: str = ""
    ) -> Callable[[Changed], Changed]:
        """A mutant of this defect; unless it has a name, ``LosesTheLast`` is ``loses-the-last``."""

        def declare(changed: Changed) -> Changed:
            self._found.append(self._make(name or _name(changed), defect, sentence, changed, equivalent))
            return changed

        return declare


def declared(
    found: list[Mutant], part: str, whole: Callable[[Any], type] = lambda changed: changed
) -> Declares[Mutant]:
    """The decorator of classes that have a fault in one part of the port.

    ``whole`` makes the part's class of the changed one, where that is something in it.
    """

    def make(name: str, defect: str, sentence: str, changed: type, equivalent: str) -> Mutant:
        return Mutant(name, defect, sentence, {part: whole(changed)}, equivalent)

    return Declares(found, make)


def _name(changed: type) -> str:
    return _WORD.sub("-", changed.__name__).lower()
