"""Broker mutants that the suite ``broker-filters`` kills: other messages pass, or a pull goes on at another offset."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.pull import (
    FOUND,
    NO_MATCHED_MESSAGE,
    OFFSET_OVERFLOW_ONE,
    SUBSCRIPTION,
    PullMessageRequest,
    PullResult,
)
from rocketmq_conformance.models.broker.subscription import NO_FILTER, UNREADABLE, TagCodes, tag_codes
from rocketmq_conformance.models.java_text import string_hash
from rocketmq_conformance.models.outcome import Err, Result

MUTANTS: list[BrokerMutant] = []
_pulls = declared(MUTANTS, "pulls", "broker-filters")
_consumers = declared(MUTANTS, "consumers", "broker-filters")


class _Carried(Pulls):
    """Reads the subscription of a pull in another way."""

    def subscribed(self, ext: Mapping[str, str], flags: int) -> TagCodes | Err:
        honest = super().subscribed(ext, flags)
        if not flags & SUBSCRIPTION:
            return honest
        return self.read(ext.get("subscription"), ext.get("expressionType"), honest)

    def read(self, text: str | None, kind: str | None, honest: TagCodes | Err) -> TagCodes | Err:
        """The subscription of an expression and its language."""
        return honest


def _reading_by(read: Callable[[str], TagCodes | Err]) -> type:
    """Reads tag expressions by a function."""

    class Reading(_Carried):
        def read(self, text: str | None, kind: str | None, honest: TagCodes | Err) -> TagCodes | Err:
            return honest if text is None or kind not in {None, "TAG"} else read(text)

    return Reading


_tags = _pulls.of(_reading_by)


def _hashes(parts: list[str]) -> TagCodes:
    return frozenset(string_hash(part) for part in parts if part)


@_tags("D132", "Spaces around a tag belong to it.")
def _tags_untrimmed(text: str) -> TagCodes | Err:
    found = tag_codes(text)
    return found if found is None or isinstance(found, Err) else _hashes(text.split("||"))


@_tags("D132", "Spaces of other scripts around a tag are left out.")
def _tags_stripped(text: str) -> TagCodes | Err:
    found = tag_codes(text)
    return found if found is None or isinstance(found, Err) else _hashes([part.strip() for part in text.split("||")])


@_tags("D132", "The first tag of several counts.")
def _tags_first(text: str) -> TagCodes | Err:
    found = tag_codes(text)
    return found if found is None or isinstance(found, Err) else tag_codes(text.split("||")[0] or "none")


@_tags("D132", "Everything is subscribed if a * is among the tags.")
def _tags_any_star(text: str) -> TagCodes | Err:
    return None if "*" in text else tag_codes(text)


@_tags("D132", "Everything is subscribed by a * with spaces.")
def _tags_star_trimmed(text: str) -> TagCodes | Err:
    return tag_codes(text.strip() if text.strip() == "*" else text)


@_tags("D132", "An empty expression subscribes to nothing.")
def _tags_empty_none(text: str) -> TagCodes | Err:
    return frozenset() if text == "" else tag_codes(text)


@_tags("D132", "A blank expression subscribes to everything.")
def _tags_blank_all(text: str) -> TagCodes | Err:
    return tag_codes(text if text.strip() else "*")


@_tags("D132", "An expression without tags subscribes to everything.")
def _tags_bars_all(text: str) -> TagCodes | Err:
    found = tag_codes(text)
    return None if found == UNREADABLE else found


@_tags("D132", "An expression without tags subscribes to nothing.")
def _tags_bars_none(text: str) -> TagCodes | Err:
    found = tag_codes(text)
    return frozenset() if found == UNREADABLE else found


@_tags("D132", "Tags in lower case pass, too.")
def _tags_lower(text: str) -> TagCodes | Err:
    found = tag_codes(text)
    return found if not isinstance(found, frozenset) else found | cast("frozenset[int]", tag_codes(text.lower() + "||"))


@_tags("D131", "Hashes are positive.")
def _tags_absolute(text: str) -> TagCodes | Err:
    found = tag_codes(text)
    return found if not isinstance(found, frozenset) else frozenset(abs(code) for code in found)


@_tags("D131", "Large hashes of tags match no message.")
def _tags_wider(text: str) -> TagCodes | Err:
    """A hash of Go before 2.0: more than 32 bits."""
    found = tag_codes(text)
    return found if not isinstance(found, frozenset) else frozenset(code for code in found if abs(code) < 1 << 30)


@_tags("D131", "A message without a tag never passes, even with an equal hash.")
def _tags_tagged_only(text: str) -> TagCodes | Err:
    found = tag_codes(text)
    return found if not isinstance(found, frozenset) else found - {0}


@_tags("D131", "A message without a tag always passes.")
def _tags_untagged_pass(text: str) -> TagCodes | Err:
    found = tag_codes(text)
    return found if not isinstance(found, frozenset) else found | {0}


@_pulls("D132", "An empty language is that of tags.")
class LanguageBlank(_Carried):
    """An empty language is that of tags."""

    def read(self, text: str | None, kind: str | None, honest: TagCodes | Err) -> TagCodes | Err:
        return tag_codes(text) if kind == "" else honest


@_pulls("D132", "An expression without a language is refused.")
class LanguageMissing(_Carried):
    """An expression without a language is refused."""

    def read(self, text: str | None, kind: str | None, honest: TagCodes | Err) -> TagCodes | Err:
        return NO_FILTER if kind is None and text else honest


@_pulls("D132", "Every expression is taken for tags.")
class LanguageAny(_Carried):
    """Expressions other than tags are taken for tags, as in 4.0.0."""

    def read(self, text: str | None, kind: str | None, honest: TagCodes | Err) -> TagCodes | Err:
        return tag_codes(text)


@_pulls("D132", "An expression other than tags cannot be read.")
class LanguageUnreadable(_Carried):
    """An expression other than tags cannot be read."""

    def read(self, text: str | None, kind: str | None, honest: TagCodes | Err) -> TagCodes | Err:
        return UNREADABLE if honest == NO_FILTER else honest


@_pulls("D132", "A language is refused before its expression is read.")
class LanguageFirst(_Carried):
    """Another language than tags is refused before its expression is looked at."""

    def read(self, text: str | None, kind: str | None, honest: TagCodes | Err) -> TagCodes | Err:
        return NO_FILTER if kind not in {None, "", "TAG"} else honest


@_pulls("D131", "The flag of class filters lets everything pass.")
class FilterClassFlag(Pulls):
    """The flag of class filters lets everything pass."""

    def subscribed(self, ext: Mapping[str, str], flags: int) -> TagCodes | Err:
        found = super().subscribed(ext, flags)
        return None if flags & 8 and not isinstance(found, Err) else found


class _Finding(Pulls):
    """Answers something else than it found."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        found = super().find(asked, codes)
        return found if isinstance(found, Err) else self.found(cast(PullResult, found), asked, codes)

    def found(self, result: PullResult, asked: PullMessageRequest, codes: TagCodes | Err) -> PullResult:
        """What is answered."""
        return result


@_pulls("D131", "A pull goes on after the last message that passed.")
class FilterNextFound(_Finding):
    """The next offset is the one after the last message that passed."""

    def found(self, result: PullResult, asked: PullMessageRequest, codes: TagCodes | Err) -> PullResult:
        status, following, low, high, offsets = result
        return status, offsets[-1] + 1 if offsets else following, low, high, offsets


@_pulls("D131", "A pull that nothing passed does not go on.")
class FilterStays(_Finding):
    """A pull that finds nothing that passes does not go on."""

    def found(self, result: PullResult, asked: PullMessageRequest, codes: TagCodes | Err) -> PullResult:
        status, following, low, high, offsets = result
        return status, asked.offset if status == NO_MATCHED_MESSAGE else following, low, high, offsets


@_pulls("D131", "A pull that nothing passed is at the end of the queue.")
class FilterEmpty(_Finding):
    """A pull that finds nothing that passes is answered as at the end of the queue."""

    def found(self, result: PullResult, asked: PullMessageRequest, codes: TagCodes | Err) -> PullResult:
        return OFFSET_OVERFLOW_ONE if result[0] == NO_MATCHED_MESSAGE else result[0], *result[1:]


@_pulls("D131", "Messages that do not pass are counted.")
class FilterCountsAll(Pulls):
    """Messages that do not pass count for the number that is asked for."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        found = super().find(asked, codes)
        everything = super().find(asked, None)
        if isinstance(found, Err) or isinstance(everything, Err):
            return found
        status, _, low, high, offsets = cast(PullResult, found)
        looked_at = cast(PullResult, everything)
        kept = tuple(offset for offset in offsets if offset in looked_at[4])
        if status != FOUND:
            return found
        return FOUND if kept else NO_MATCHED_MESSAGE, looked_at[1], low, high, kept


@_pulls("D131", "Min is the first message of a pull.")
class FilterMinFirst(_Finding):
    """Min is the offset of the first message that is answered."""

    def found(self, result: PullResult, asked: PullMessageRequest, codes: TagCodes | Err) -> PullResult:
        status, following, low, high, offsets = result
        return status, following, offsets[0] if offsets else low, high, offsets


@_pulls("D131", "Max is the next offset.")
class FilterMaxNext(_Finding):
    """Max is the next offset."""

    def found(self, result: PullResult, asked: PullMessageRequest, codes: TagCodes | Err) -> PullResult:
        status, following, low, _, offsets = result
        return status, following, low, following, offsets


@_consumers("D132", "Every client may subscribe.")
class CheckNothing(Consumers):
    """Every client may subscribe."""

    def check(self, expression: str | None, kind: str | None) -> Err | None:
        return None


@_consumers("D132", "Tags that cannot be read are refused.")
class CheckTags(Consumers):
    """An expression of tags that cannot be read is refused when a client asks."""

    def check(self, expression: str | None, kind: str | None) -> Err | None:
        found = super().check(expression, kind)
        return UNREADABLE if found is None and isinstance(tag_codes(expression), Err) else found


@_consumers("D132", "An empty language is refused.")
class CheckBlank(Consumers):
    """An empty language is unknown to a client that asks."""

    def check(self, expression: str | None, kind: str | None) -> Err | None:
        return NO_FILTER if kind == "" else super().check(expression, kind)
