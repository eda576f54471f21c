"""Broker mutants that the suite ``broker-fields`` kills: numbers that are read otherwise, defaults for what is missing,
and names that are checked otherwise.

Each repeats a real defect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.fakes.responses import PlainHandler
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker import admin
from rocketmq_conformance.models.broker.configuration import CREATES_GROUPS
from rocketmq_conformance.models.broker.names import LONGEST_NEW_GROUP, LONGEST_TOPIC
from rocketmq_conformance.models.broker.own_names import SCHEDULE_TOPIC, SYSTEM_TOPIC
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.java_text import int32, parse_number
from rocketmq_conformance.models.outcome import Err

Fields = dict[str, str]

#: Fields with numbers, and their bits.
_NUMBERS = {"queueId": 32, "maxMsgNums": 32, "commitOffset": 64, "queueOffset": 64, "timestamp": 64}
_REFUSED = Err("INVALID_PARAMETER")

MUTANTS: list[BrokerMutant] = []
_offsets = declared(MUTANTS, "offsets", "broker-fields")
_pulls = declared(MUTANTS, "pulls", "broker-fields")
_storage = declared(MUTANTS, "storage", "broker-fields")
_unmade = declared(MUTANTS, "storage", "broker-fields", **{CREATES_GROUPS: "false"})


class _Rewriting(Offsets):
    """Reads other fields than were sent."""

    def handlers(self) -> Mapping[int, PlainHandler]:
        def rewriting(honest: PlainHandler, code: int, ext: Fields, body: bytes) -> Answered:
            return honest(code, self.read(dict(ext)), body)

        return {code: partial(rewriting, honest) for code, honest in super().handlers().items()}

    def read(self, ext: Fields) -> Fields:
        """The fields that the handler gets."""
        return {name: self.number(text, _NUMBERS[name]) if name in _NUMBERS else text for name, text in ext.items()}

    def number(self, text: str, bits: int) -> str:
        """A number as the handler gets it."""
        return text


def _reading_by(read: Callable[[str, int], str]) -> type:
    """Reads numbers by a function of the text and its bits."""

    class Reading(_Rewriting):
        def number(self, text: str, bits: int) -> str:
            return read(text, bits)

    return Reading


_reading = _offsets.of(_reading_by)


# --- how numbers are read --------------------------------------------------------------------------------------


@_reading("D101", "A number beyond its bits is wrapped.")
def _numbers_wrapped(text: str, bits: int) -> str:
    number = parse_number(text, 128)
    return text if number is None else str((number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1))


@_reading("D101", "A number beyond its bits becomes the largest or smallest one.")
def _numbers_clamped(text: str, bits: int) -> str:
    number = parse_number(text, 128)
    return text if number is None else str(min(max(number, -(1 << bits - 1)), (1 << bits - 1) - 1))


@_reading("D101", "A negative number counts as not sent.")
def _numbers_unsigned(text: str, bits: int) -> str:
    return "" if text.startswith("-") else text


@_reading("D101", "Offsets are cut to 32 bits.")
def _numbers_narrow(text: str, bits: int) -> str:
    number = parse_number(text, bits)
    return text if number is None else str(int32(number))


@_reading("D101", "What follows the digits of a number is left out.")
def _numbers_leading(text: str, bits: int) -> str:
    found = re.match(r"\s*[+-]?\d+", text)
    return found[0].strip() if found else text


@_reading("D101", "Points and exponents are read as in floating point numbers.")
def _numbers_float(text: str, bits: int) -> str:
    return str(int(float(text))) if re.fullmatch(r"\d+(\.\d+)?(e\d+)?", text, re.ASCII) else text


@_reading("D101", "Digits of other scripts are not read.")
def _numbers_ascii(text: str, bits: int) -> str:
    return text if text.isascii() else ""


@_reading("D101", "A number with a plus sign is not read.")
def _numbers_without_plus(text: str, bits: int) -> str:
    return "" if text.startswith("+") else text


@_reading("D101", "A number with leading zeros is not read.")
def _numbers_canonical(text: str, bits: int) -> str:
    return "" if re.match(r"[+-]?0\d", text) else text


@_reading("D101", "Underscores between digits are left out, as in Python.")
def _numbers_with_underscores(text: str, bits: int) -> str:
    return text.replace("_", "")


@_reading("D101", "Spaces around a number are left out.")
def _numbers_trimmed(text: str, bits: int) -> str:
    return text.strip()


@_reading("D104", "A number that cannot be read is 0.")
def _numbers_zero(text: str, bits: int) -> str:
    return "0" if parse_number(text, bits) is None else text


class _Defaults(_Rewriting):
    defaults: ClassVar[Fields]

    def read(self, ext: Fields) -> Fields:
        return {**self.defaults, **ext}


@_offsets("D104", "A queue id that is not sent is 0.")
class MissingQueueIsZero(_Defaults):
    defaults: ClassVar[Fields] = {"queueId": "0"}


@_offsets("D104", "A commit offset that is not sent is 0.")
class MissingOffsetIsZero(_Defaults):
    defaults: ClassVar[Fields] = {"commitOffset": "0"}


@_offsets("D104", "A time that is not sent is 0.")
class MissingTimeIsZero(_Defaults):
    defaults: ClassVar[Fields] = {"timestamp": "0"}


@_offsets("D104", "setZeroIfNotFound=TRUE is false.")
class SetZeroCaseMatters(_Rewriting):
    def read(self, ext: Fields) -> Fields:
        wanted = ext.get("setZeroIfNotFound")
        return ext if wanted is None else {**ext, "setZeroIfNotFound": "true" if wanted == "true" else "false"}


@_offsets("D104", "setZeroIfNotFound is true for every text but false.")
class SetZeroByAnyText(_Rewriting):
    def read(self, ext: Fields) -> Fields:
        wanted = ext.get("setZeroIfNotFound")
        return ext if wanted in (None, "false") else {**ext, "setZeroIfNotFound": "true"}


@_offsets("D104", "setZeroIfNotFound is true for 1 and yes.")
class SetZeroByOne(_Rewriting):
    def read(self, ext: Fields) -> Fields:
        return {**ext, "setZeroIfNotFound": "true"} if ext.get("setZeroIfNotFound") in ("1", "yes") else ext


# --- pulls -------------------------------------------------------------------------------------------------------


class _RewritingPulls(Pulls):
    """Reads other fields than were sent."""

    def pull(self, peer: Peer, request: Command) -> Command | None:
        return super().pull(peer, replace(request, ext=self.read(dict(request.ext))))

    def read(self, ext: Fields) -> Fields:
        """The fields that the handler gets."""
        return ext


@_pulls("D104", "A pull without an offset is from 0.")
class PullFromZero(_RewritingPulls):
    def read(self, ext: Fields) -> Fields:
        return {"queueOffset": "0", **ext}


@_pulls("D104", "A pull without maxMsgNums is for 32 messages.")
class PullAnyNumber(_RewritingPulls):
    def read(self, ext: Fields) -> Fields:
        return {"maxMsgNums": "32", **ext}


@_pulls("D104", "A pull without a queue id is from queue 0.")
class PullFirstQueue(_RewritingPulls):
    """Without a queue id it pulls from queue 0."""

    def read(self, ext: Fields) -> Fields:
        return {"queueId": "0", **ext}


@_pulls("D104", "A number that cannot be read counts as not sent.")
class PullForgetsUnreadable(_RewritingPulls):
    """A number that cannot be read counts as not sent, as up to 4.9.3."""

    def read(self, ext: Fields) -> Fields:
        return {
            name: text
            for name, text in ext.items()
            if name not in _NUMBERS or parse_number(text, _NUMBERS[name]) is not None
        }


@_pulls("D104", "Missing fields of a pull are found before its group is made.")
class PullChecksFields(_RewritingPulls):
    """Looks for every field before the group is looked up."""

    def read(self, ext: Fields) -> Fields:
        for name in ("consumerGroup", "topic", "queueId", "queueOffset", "maxMsgNums"):
            if name not in ext:
                raise ValueError(f"no {name}")
        return ext


@_pulls("D101", "Spaces around the numbers of a pull are left out.")
class PullTrimmed(_RewritingPulls):
    def read(self, ext: Fields) -> Fields:
        return {name: text.strip() if name in _NUMBERS else text for name, text in ext.items()}


# --- names -------------------------------------------------------------------------------------------------------


@_storage("D102", "Topics of any name are created.")
class AnyTopicName(Storage):
    def create_topic(self, topic: str, settings: Topic) -> Err | None:
        self.state = admin.create_topic(self.rules, self.state, topic, settings)[0]
        return None


@_storage("D102", "Topics with names of any length are created.")
class LongTopicNames(AnyTopicName):
    """Takes names of 255 characters, as for groups."""

    def create_topic(self, topic: str, settings: Topic) -> Err | None:
        if len(topic) > LONGEST_TOPIC:
            return super().create_topic(topic, settings)
        return Storage.create_topic(self, topic, settings)


@_storage("D102", "Names of topics have at most 126 characters.")
class ShortTopicNames(Storage):
    """Takes names of fewer characters than 127."""

    def create_topic(self, topic: str, settings: Topic) -> Err | None:
        return _REFUSED if len(topic) >= LONGEST_TOPIC else super().create_topic(topic, settings)


@_storage("D102", "Names of topics cannot have a |.")
class PlainTopicNames(Storage):
    """Refuses | and %, which names of retry topics need."""

    def create_topic(self, topic: str, settings: Topic) -> Err | None:
        return _REFUSED if "|" in topic else super().create_topic(topic, settings)


@_storage("D102", "The name of a topic that is deleted is checked.")
class DeletedNamesChecked(Storage):
    """Checks names when topics are deleted, as up to 5.1.4."""

    def delete_topic(self, topic: str) -> Err | None:
        if "@" in topic or "." in topic or len(topic) > LONGEST_TOPIC:
            return Err("SYSTEM_ERROR")
        return super().delete_topic(topic)


@_storage("D102", "Groups of any name are created by a request.")
class AnyGroupName(Storage):
    def create_group(self, group: str, enabled: bool = True) -> Err | None:
        self.state = admin.create_group(self.rules, self.state, group, enabled)[0]
        return None


@_storage("D102", "Groups with names of 255 characters are created by a request.")
class LongGroupNames(AnyGroupName):
    """Takes names of up to 255 characters, as before 5.4.0."""

    def create_group(self, group: str, enabled: bool = True) -> Err | None:
        if LONGEST_NEW_GROUP < len(group) <= 255:
            return super().create_group(group, enabled)
        return Storage.create_group(self, group, enabled)


@_storage("D102", "Names of groups have at most 119 characters.")
class ShortGroupNames(Storage):
    def create_group(self, group: str, enabled: bool = True) -> Err | None:
        return _REFUSED if len(group) >= LONGEST_NEW_GROUP else super().create_group(group, enabled)


@_storage("D102", "Groups of any name are created by a look-up.")
class AnyGroupKnown(Storage):
    """A look-up creates every group, as up to 5.1.0."""

    def know_group(self, group: str) -> bool:
        if group not in self.state.groups:
            self.state = admin.create_group(self.rules, self.state, group)[0]
        return True


@_storage("D102", "No group with a | in its name is created by a look-up.")
class PlainGroupsKnown(Storage):
    """A look-up creates no group with | or % in its name."""

    def know_group(self, group: str) -> bool:
        return group in self.state.groups if "|" in group else super().know_group(group)


@_storage("D216", "A topic without a name can be deleted.")
class BlankTopicDeleted(Storage):
    """A topic without a name can be deleted."""

    def delete_topic(self, topic: str) -> Err | None:
        return super().delete_topic(topic) if topic.strip() else None


@_storage("D216", "A topic of RocketMQ's own can be created.")
class OwnTopicsCreated(Storage):
    """A topic of RocketMQ's own can be created."""

    def create_topic(self, topic: str, settings: Topic) -> Err | None:
        error = super().create_topic(topic, settings)
        if error is not None and topic.startswith(SYSTEM_TOPIC):
            self.state = admin.create_topic(self.rules, self.state, topic, settings)[0]
            return None
        return error


@_storage("D216", "A topic of RocketMQ's own can be deleted.")
class OwnTopicsDeleted(Storage):
    """A topic of RocketMQ's own can be deleted."""

    def delete_topic(self, topic: str) -> Err | None:
        return None if topic.startswith(SYSTEM_TOPIC) else super().delete_topic(topic)


@_storage("D102", "A retry topic has at most 127 characters.")
class RetryTopicsShort(Storage):
    """Retry topics have names as short as those of others."""

    def create_topic(self, topic: str, settings: Topic) -> Err | None:
        return super().create_topic(topic, settings) if len(topic) <= LONGEST_TOPIC else _REFUSED


@_storage("D216", "A topic's name is not looked at when a message comes.")
class SentToAnyName(Storage):
    """The name of a message's topic is not looked at."""

    def unwanted(self, topic: str) -> Err | None:
        return None


@_storage("D216", "The topic of delay levels takes messages.")
class SentToLevels(Storage):
    """The topic of delay levels takes messages, too."""

    def unwanted(self, topic: str) -> Err | None:
        return None if topic == SCHEDULE_TOPIC else super().unwanted(topic)


@_storage("D216", "The topics of transactions take messages.")
class SentToTransactions(Storage):
    """Only the topic of delay levels takes no messages."""

    def unwanted(self, topic: str) -> Err | None:
        return super().unwanted(topic) if topic == SCHEDULE_TOPIC or not topic.startswith("RMQ_SYS") else None


@_unmade("D216", "A group of RocketMQ's own is not made by a look-up.")
class OwnGroupsNotKnown(Storage):
    """A broker that creates no groups creates none of RocketMQ's own either."""

    def know_group(self, group: str) -> bool:
        return group in self.state.groups
