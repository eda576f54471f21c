"""The declaration of a mutant: an implementation of the kit with one deliberate fault, after a real defect."""

from __future__ import annotations

from dataclasses import dataclass, field


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

    @classmethod
    def of(cls, part: str, name: str, defect: str, sentence: str, changed: type, equivalent: str = "") -> Mutant:
        """A mutant with a fault in one part."""
        return cls(name, defect, sentence, {part: changed}, equivalent)
