"""What the configuration of a broker has in it that is off its release's default, sorted into three lists."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from rocketmq_conformance.conformance.properties.defaults import HERE, defaults_of, new_with
from rocketmq_conformance.conformance.properties.harmless import reason_in, why_harmless
from rocketmq_conformance.conformance.properties.listed import LISTED
from rocketmq_conformance.conformance.properties.unmodelled import UNMODELLED
from rocketmq_conformance.models.broker.configuration import SETTINGS
from rocketmq_conformance.models.release import KNOWN, Release

#: The lists: the models have the value; the rules that it touches are known, and unsupported; nothing is known of it.
#: Properties that cannot matter are on none of them.
MODELLED, LISTED_ONLY, UNCLASSIFIED = "modelled", "listed", "unclassified"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundProperty:
    """A property that is off its default."""

    name: str
    value: str
    #: The release's default; None when the release has no such property.
    default: str | None
    #: MODELLED, LISTED_ONLY or UNCLASSIFIED.
    kind: str
    #: What it changes, or is about; "" when that is not known.
    effect: str = ""
    #: The rules that are unsupported with it.
    rules: tuple[str, ...] = ()
    #: The release that has this default, where the broker's own release is not known.
    of: str = ""

    def __str__(self) -> str:
        return f"{self.name}={self.value}"

    def json(self) -> dict[str, str]:
        """The property as events write it."""
        return {"name": self.name, "value": self.value, "kind": self.kind, "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """What it means for the run."""
        of = f" in {self.of}" if self.of else ""
        default = "its release has no such property" if self.default is None else f"its default{of} is {self.default!r}"
        if self.kind == MODELLED:
            return f"{self} ({default}) is judged: {self.effect}"
        if self.kind == LISTED_ONLY:
            rules = ", ".join(self.rules)
            return f"{self} ({default}) makes differences in {rules} unsupported: {self.effect}"
        about = f" ({self.effect})" if self.effect else ""
        return f"{self} ({default}) is unclassified{about}: a difference decides nothing beside it"


def off_default(
    release: Release | None,
    read: Mapping[str, str],
    given: Collection[str] | None = None,
    known: Release = KNOWN,
) -> Iterator[FoundProperty]:
    """What is off the default of a release (None: of no known one) and may matter, by name.

    ``given`` are the properties that the kit set when it started the broker, None for a broker that it did not start.
    Of the former each other one is at its default, whatever that is. Of a broker of a release after the newest
    ``known`` one the properties that came with it say nothing about how it is configured.
    """
    defaults = {} if release is None else defaults_of(release, known)
    new = new_with(release, read, known) if release else ()
    for name, value in sorted(read.items()):
        default = defaults.get(name)
        if value == default or default == HERE or why_harmless(name, value):
            continue
        one = _classified(release, name, value, default)
        if one.kind != UNCLASSIFIED or (name not in new if given is None else name in given):
            yield replace(one, of=str(known)) if release and release > known else one


def _classified(release: Release | None, name: str, value: str, default: str | None) -> FoundProperty:
    setting, listed = SETTINGS.get(name), LISTED.get(name)
    if setting and release and setting.has(release) and setting.allows(value):
        return FoundProperty(name=name, value=value, default=default, kind=MODELLED, effect=setting.effect)
    if listed and default is not None:
        return FoundProperty(
            name=name, value=value, default=default, kind=LISTED_ONLY, effect=listed.effect, rules=listed.rules
        )
    about = reason_in(UNMODELLED, name) or why_harmless(name)
    return FoundProperty(name=name, value=value, default=default, kind=UNCLASSIFIED, effect=about)
