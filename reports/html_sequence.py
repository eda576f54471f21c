"""The sequence diagram of a minimal plan: its operations and messages, as shapes that a template draws as SVG.

Across, places are percentages, so that the same diagram fits a phone and a desk; down, they are pixels. Text is
broken into lines for the narrowest screen (docs/decisions/0005-diagrams-of-our-own.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rocketmq_conformance.reports.event import DivergenceStep
from rocketmq_conformance.reports.html_text import wrap

#: The participants that a step calls, and the order of the lifelines.
MEMBER = "member"
ORDER = ("another member", MEMBER, "broker", "name server")
#: Steps and messages that are drawn; the table of steps has more of them.
STEPS, MESSAGES, LIFELINES = 12, 24, 4

#: Pixels that a phone has for the diagram (its least width in style.j2), and that a character needs; lines of a text.
_PHONE, _CHARACTER, _LINES = 286, 6.65, 6
#: Where the first and the last lifeline stand (percent).
_LEFT, _RIGHT = 18.0, 82.0
#: Pixels.
_LINE, _PAD, _GAP, _INDENT = 16, 8, 14, 34
#: With so many lifelines their heads get two lines and less width.
_CROWD = 4


@dataclass(frozen=True)
class Lifeline:
    """A vertical line and who it stands for."""

    lines: list[str]
    x: float


@dataclass(frozen=True)
class Band:
    """A step: its number and operation, from ``y`` on."""

    number: int
    lines: list[str]
    y: float
    height: float
    diverges: bool


@dataclass(frozen=True)
class Label:
    """Lines of text, the first one's base at ``y``; ``kind`` is "message", "answer", "expected" or "observed"."""

    x: float
    y: float
    lines: list[str]
    kind: str


@dataclass(frozen=True)
class Arrow:
    """From ``x1`` to ``x2`` at ``y``; ``kind`` is "call", "return", "request", "response"."""

    x1: float
    x2: float
    y: float
    kind: str
    diverges: bool = False


@dataclass(frozen=True)
class Bar:
    """The member is at work."""

    x: float
    y: float
    height: float
    diverges: bool


@dataclass
class Diagram:
    """Everything that is drawn."""

    lifelines: list[Lifeline]
    #: Of the boxes that name the lifelines.
    head_width: int
    head_height: int
    height: float = 0
    bands: list[Band] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    #: Places of the dots: events at one lifeline, without a message.
    dots: list[tuple[float, float]] = field(default_factory=list)
    #: Steps before the first one that is drawn, and messages that are not.
    left_out: int = 0
    messages_left_out: int = 0


def diagram(steps: Sequence[DivergenceStep], words: tuple[str, str]) -> Diagram:
    """The diagram of the last ``STEPS`` steps of a plan; ``words`` name the two answers of the one that diverges."""
    drawn = steps[-STEPS:]
    speakers = list(
        dict.fromkeys([MEMBER, *(who for step in drawn for message in step.messages for who in message[:2])])
    )
    known = [who for who in ORDER if who in speakers]
    names = [*known, *(who for who in speakers if who not in ORDER)][:LIFELINES]
    places = _places(len(names))
    crowd = len(names) >= _CROWD
    heads = [wrap(name, 8, 2) if crowd else wrap(name, 14, 1) for name in names]
    lifelines = [Lifeline(lines, x) for lines, x in zip(heads, places, strict=True)]
    made = _Drawing(Diagram(lifelines, *((58, 38) if crowd else (90, 24))))
    made.diagram.left_out = len(steps) - len(drawn)
    made.words = words
    made.x = dict(zip(names, places, strict=True))
    for step in drawn:
        made.step(step)
    made.diagram.height = made.y + _GAP
    return made.diagram


def _places(number: int) -> list[float]:
    """Where so many lifelines stand."""
    if number == 1:
        return [_LEFT]
    apart = (_RIGHT - _LEFT) / (number - 1)
    return [round(_LEFT + at * apart, 2) for at in range(number)]


class _Drawing:
    """A diagram that grows downwards."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        #: Place of each speaker.
        self.x: dict[str, float] = {}
        self.words = ("", "")
        self.y: float = diagram.head_height + _PAD

    def step(self, step: DivergenceStep) -> None:
        """The operation, the messages, the answer."""
        self._band(step)
        # A step without a message of the member is done by its environment.
        speakers = [who for message in step.messages for who in message[:2]]
        called = not speakers or MEMBER in speakers
        x = self.x.get(MEMBER, _LEFT)
        top = self.y
        if called:
            self.y += _GAP
            self._arrow(0, x, "call", step.diverges)
            top = self.y
        messages, more = step.messages[:MESSAGES], len(step.messages) - MESSAGES
        for message in messages:
            self._message(message)
        self.diagram.messages_left_out += max(0, more)
        if called:
            self._answer(step, x)
            self.diagram.bars.append(Bar(x, top, self.y - top, step.diverges))
        self.y += _GAP

    def _band(self, step: DivergenceStep) -> None:
        lines = wrap(step.operation, int((_PHONE - _INDENT - _PAD) / _CHARACTER), _LINES)
        height = len(lines) * _LINE + _PAD
        self.y += _PAD
        self.diagram.bands.append(Band(step.number, lines, self.y, height, step.diverges))
        self.y += height

    def _arrow(self, start: float, end: float, kind: str, diverges: bool = False) -> None:
        self.diagram.arrows.append(Arrow(start, end, self.y, kind, diverges))

    def _label(self, x: float, text: str, kind: str) -> None:
        room = _PHONE * (1 - x / 100) - 2 * _PAD
        lines = wrap(text, int(room / _CHARACTER), _LINES)
        self.y += _GAP
        self.diagram.labels.append(Label(x, self.y, lines, kind))
        self.y += (len(lines) - 1) * _LINE

    def _message(self, message: list[str]) -> None:
        sender, receiver, text = [*message[:3], "", "", ""][:3]
        start, end = self.x.get(sender), self.x.get(receiver)
        if start is None or end is None:
            # A participant without a lifeline: the message is written as text.
            self._label(_LEFT, f"{sender} → {receiver}: {text}", "message")
            return
        if start == end:
            self._label(start if start < 50 else _LEFT, f"{sender}: {text}", "message")
            self.diagram.dots.append((start, self.y + _PAD))
            self.y += _PAD
            return
        self._label(min(start, end), text, "message")
        self.y += _PAD
        # Only members send requests, so what goes to a member is a response.
        kind = "response" if receiver in ORDER[:2] else "request"
        self._arrow(start, end, kind)

    def _answer(self, step: DivergenceStep, x: float) -> None:
        if step.diverges:
            self._label(x, f"{self.words[0]} {step.expected}", "expected")
            self._label(x, f"{self.words[1]} {step.observed}", "observed")
        else:
            self._label(x, f"answers {step.observed}", "answer")
        self.y += _PAD
        self._arrow(x, 0, "return", step.diverges)
