"""POP: what the fake broker hands out and brings back, and where the stored offsets of groups go (POP-*)."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, cast

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.responses import PlainHandler, place, refused, required
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.message import (
    Message,
    decode_all,
    encode,
    format_properties,
    parse_properties,
)
from rocketmq_conformance.models.broker import pop as model
from rocketmq_conformance.models.broker.admin import pop_retry_topic
from rocketmq_conformance.models.broker.pop import NO_GROUP, NOTHING, PopRequest, Taken
from rocketmq_conformance.models.broker.pop_flight import Flight, acknowledge, change, due
from rocketmq_conformance.models.broker.send_back import with_topic
from rocketmq_conformance.models.broker.state import ABSENT, RETRY, Topic
from rocketmq_conformance.models.broker.subscription import TagCodes, carried_codes
from rocketmq_conformance.models.outcome import Err

#: What a pop hands out, or its error.
Found = tuple[Taken, ...] | Err
#: Queues of the topic of check points.
_REVIVE_QUEUES = 8
#: Parts of a handle up to the broker's name.
_PARTS = 6


class Check(NamedTuple):
    """What identifies a message in flight: an acknowledgement must name all of it."""

    topic: str
    group: str
    queue: int
    offset: int
    pop_time: int
    broker: str


class Pops:
    """Answers pops from a storage. ``clock`` gives ms since the epoch; ``read`` is called with the messages that are
    read (topic, queue, first offset), ``stored`` with each message that comes back; ``name`` is the broker's."""

    def __init__(
        self,
        storage: Storage,
        clock: Callable[[], int],
        read: Callable[[str, int, int], object],
        stored: Callable[[Message], object],
        name: str,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._read = read
        self._stored = stored
        self._name = name
        self._popped = 0
        self.flights: Mapping[Check, Flight] = {}

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        rules = self._storage.rules
        if not rules.pops:
            return {}
        batches = {int(Request.BATCH_ACK_MESSAGE): self._ack_batch} if rules.pop_batches else {}
        return {
            int(Request.POP_MESSAGE): self._pop,
            int(Request.ACK_MESSAGE): self._ack,
            int(Request.CHANGE_MESSAGE_INVISIBLETIME): self._change,
            **batches,
        }

    def revive(self) -> None:
        """POP-BACK: bring back what is due."""
        if self.flights:
            for check in due(self.flights, self._clock()):
                times = self.flights[check].times
                self.flights = acknowledge(self.flights, check)
                self.bring_back(check, times)

    def bring_back(self, check: Check, times: int) -> None:
        """Store the copy of a message that had come back so many times, in the retry topic of its group."""
        topic = check.topic if check.topic.startswith(RETRY) else pop_retry_topic(check.group, check.topic)
        for message in self._found(check):
            self._storage.state = with_topic(self._storage.state, topic, Topic.of(1))
            copy = self._storage.put(replace(message, topic=topic, queue=0, reconsume_times=times + 1))
            self._stored(copy)

    # --- what is decided --------------------------------------------------------------------------------------

    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        """POP-*: a tuple of ``Taken``, or the error."""
        storage = self._storage
        refusal = model.refused_pop(storage.rules, storage.state, asked)
        if refusal is not None and refusal[0] is NO_GROUP:
            storage.know_group(asked.group)
        storage.state, result, _ = model.pop(storage.rules, storage.state, asked, codes, storage.entries)
        return cast(Found, result)

    def acknowledge(self, check: Check) -> None:
        """POP-ACK-0, POP-ACK-1."""
        if not self._storage.rules.pop_acks_by_broker:
            check = check._replace(broker=self._name)
        self.flights = acknowledge(self.flights, check)

    def change(self, check: Check, now: int, invisible: int) -> Check:
        """POP-ACK-8: the new check point."""
        new = check._replace(pop_time=now)
        self.flights = change(self.flights, check, new, now + invisible, self.times(check))
        return new

    def times(self, check: Check) -> int:
        """How often a message had come back when it was stored where it is."""
        return sum(message.reconsume_times for message in self._found(check))

    def _found(self, check: Check) -> list[Message]:
        """The message that is meant, if it is still there."""
        log = self._storage.state.logs.get((check.topic, check.queue), ABSENT)
        kept = self._storage.retained(check.topic, check.queue)
        return kept[check.offset - log.first :][:1] if check.offset >= log.first else []

    def given(self, message: Message, asked: PopRequest, handle: str) -> Message:
        """POP-ACK-5: a message that came back, as a pop hands it out."""
        if self._storage.rules.pop_shows_retries:
            return message
        properties = {**parse_properties(message.properties), "POP_CK": handle}
        return replace(message, topic=asked.topic, properties=format_properties(properties))

    # --- how it is asked --------------------------------------------------------------------------------------

    def _pop(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        queue, most, mode = (required(ext, name, 32) for name in ("queueId", "maxMsgNums", "initMode"))
        codes = carried_codes(self._storage.rules, ext.get("exp"), ext.get("expType"))
        asked = PopRequest(ext["consumerGroup"], ext["topic"], queue, most, mode)
        result = codes if isinstance(codes, Err) else self.pop(asked, codes)
        if isinstance(result, Err) and result != NOTHING:
            return refused(result)
        taken = () if isinstance(result, Err) else result
        self._popped += 1
        now, invisible = self._clock(), required(ext, "invisibleTime")
        answer = {
            "popTime": str(now),
            "invisibleTime": str(invisible),
            "reviveQid": str(self._popped % _REVIVE_QUEUES),
            "restNum": str(self._rest(asked, taken)),
            "startOffsetInfo": ";".join(f"{_kind(each.topic)} {each.queue} {each.start}" for each in taken),
            "msgOffsetInfo": ";".join(
                f"{_kind(each.topic)} {each.queue} {','.join(map(str, each.offsets))}" for each in taken
            ),
        }
        if isinstance(result, Err):
            return (*refused(result, "NO_MESSAGE_IN_QUEUE")[:2], answer, b"")
        return 0, "FOUND", answer, b"".join(self._bodies(asked, each, now, invisible, answer) for each in taken)

    def _bodies(self, asked: PopRequest, taken: Taken, now: int, invisible: int, answer: dict[str, str]) -> bytes:
        """The messages of one queue, which are in flight from now on."""
        self._read(taken.topic, taken.queue, taken.offsets[0])
        again = taken.topic != asked.topic
        bodies = []
        for message in decode_all(self._storage.stored(taken.topic, taken.queue, taken.offsets)):
            check = Check(taken.topic, asked.group, taken.queue, message.offset, now, self._name)
            flight = Flight(now + invisible, message.reconsume_times)
            self.flights = {**self.flights, check: flight}
            times = f"{now} {invisible} {answer['reviveQid']}"
            handle = f"{taken.start} {times} {_kind(taken.topic)} {self._name} {taken.queue} {message.offset}"
            bodies.append(encode(self.given(message, asked, handle) if again else message))
        return b"".join(bodies)

    def _ack(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        refusal = self._refused(ext, changes=False)
        if refusal is not None:
            return refusal
        self.acknowledge(self._check(ext))
        return 0, "", {}, b""

    def _change(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        refusal = self._refused(ext, changes=True)
        if refusal is not None:
            return refusal
        now, invisible = self._clock(), required(ext, "invisibleTime")
        revive = ext["extraInfo"].split(" ")[3]
        self.change(self._check(ext), now, invisible)
        return 0, "", {"popTime": str(now), "invisibleTime": str(invisible), "reviveQid": revive}, b""

    def _ack_batch(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        given = java_json.loads(body.decode()) if body else {}
        if not given.get("acks"):
            return refused(Err("NO_MESSAGE"))
        for one in given["acks"]:
            topic = one["t"] if one["r"] == "0" else pop_retry_topic(one["c"], one["t"])
            bits = int.from_bytes(b64decode(one["b"]), "little")
            for offset in (one["so"] + at for at in range(bits.bit_length()) if bits >> at & 1):
                self.acknowledge(Check(topic, one["c"], one["q"], offset, one["pt"], given["brokerName"]))
        return 0, "", {}, b""

    def _refused(self, ext: dict[str, str], changes: bool) -> Answered | None:
        """POP-ACK-BAD: the refusal of an acknowledgement, or of a change."""
        (topic, queue), offset, storage = place(ext), required(ext, "offset"), self._storage
        settings = storage.state.topics.get(topic)
        if settings is None:
            return refused(Err("TOPIC_NOT_EXIST"))
        if not 0 <= queue < settings.read_queues:
            return refused(Err("MESSAGE_ILLEGAL"))
        log = storage.state.logs.get((topic, queue), ABSENT)
        if not log.min <= offset < log.max + (not changes or not storage.rules.invalid_parameter):
            return refused(Err("NO_MESSAGE"))
        if len(ext["extraInfo"].split(" ")) < _PARTS:
            return refused(Err("SYSTEM_ERROR"), "getBrokerName fail")
        return None

    def _check(self, ext: dict[str, str]) -> Check:
        """The message that a request means."""
        _, popped, _, _, _, broker, *_ = ext["extraInfo"].split(" ")
        topic, queue = place(ext)
        return Check(topic, ext["consumerGroup"], queue, required(ext, "offset"), int(popped), broker)

    def _rest(self, asked: PopRequest, taken: tuple[Taken, ...]) -> int:
        """How many messages are left behind the end of a pop."""
        state = self._storage.state
        queues = range(state.topics[asked.topic].read_queues) if asked.queue < 0 else (asked.queue,)
        rest = 0
        for queue in queues:
            log = state.logs.get((asked.topic, queue))
            offset = state.stored.get((asked.group, asked.topic, queue))
            rest += 0 if log is None or offset is None else max(log.max - offset, 0)
        return rest


def _kind(topic: str) -> str:
    """The kind of a topic in the offsets of an answer."""
    return "1" if topic.startswith(RETRY) else "0"
