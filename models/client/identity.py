"""Who a consumer is: its client id, the client that it shares, its first timestamp, and its offset file (CID-*).

A consumer gets three things without asking for them, and all three are read off the process that it lives in:

- A *client id*, ``address@instance[@unit][@STREAM]``. The instance is the system property ``rocketmq.client.name`` of
  the moment at which the consumer was made, or DEFAULT. When a clustering consumer that is called DEFAULT starts, it
  becomes the number of the process: unique in the machine, and since 4.9.0 together with a time in ns, so that it is
  unique in the process, too. A broadcasting consumer stays DEFAULT, because its offset file bears its id.
- A *consume timestamp*, half an hour before it was made, as text in the time zone of the process at that moment. It is
  read in the zone in which the consumer starts.
- The *folder of offset files*, which a process reads once.

Consumers of one id in a process share one client: its connections, timers and heartbeats. A client takes each group
once, so the second consumer of a group must not start. It is free to start again when the group is.

Ids are written here, and answered by implementations, with what a machine chooses replaced by words: ADDRESS, PID, and
N for the number of ns, which no two starts share.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.timestamp import parse_timestamp
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "CID-PARTS",
        "A client id is address@instance, then @unit unless the unit's name is blank, then @STREAM when the consumer "
        "asks for the request type STREAM.",
        "ClientConfig#buildMQClientId @ 4.0.0, 4.9.3, 5.0.0-ALPHA, 5.5.0",
    ),
    Rule(
        "CID-STREAM",
        "Pull and lite pull consumers ask for STREAM from their constructor on, push consumers do not.",
        "ClientConfig#buildMQClientId, DefaultMQPullConsumer#<init>, DefaultLitePullConsumer#<init> @ 4.9.4, 5.0.0",
        releases="4.9.4+, 5.0.0+",
    ),
    Rule(
        "CID-NAME",
        "The instance is named by the system property rocketmq.client.name as it is when the consumer is made, and "
        "DEFAULT without one; a name that is set later counts, and an empty one is a name.",
        "ClientConfig#instanceName, #setInstanceName @ 4.0.0, 5.5.0",
    ),
    Rule(
        "CID-PID",
        "When a clustering consumer whose instance is called DEFAULT starts, the instance takes the number of the "
        "process as its name, from 4.9.0 on with # and a time in ns behind it; that of a broadcasting consumer, and "
        "any other name, stays.",
        "ClientConfig#changeInstanceNameToPID, DefaultMQPushConsumerImpl#start, DefaultMQPullConsumerImpl#start, "
        "DefaultLitePullConsumerImpl#start @ 4.8.0, 4.9.0, 5.5.0",
    ),
    Rule(
        "CID-SHARE",
        "Consumers that start with equal ids in one process share one client, with one heartbeat for all their groups; "
        "it keeps the id of its start, and ends with its last consumer.",
        "MQClientManager#getAndCreateMQClientInstance @ 4.0.0; #getOrCreateMQClientInstance @ 5.5.0; "
        "MQClientInstance#shutdown, #prepareHeartbeatData @ 4.0.0, 5.5.0",
    ),
    Rule(
        "CID-TAKEN",
        "A client takes a group once: the second consumer of the group does not start (MQClientException), and may "
        "start again, with the instance's new name; it does once the first one is shut down.",
        "MQClientInstance#registerConsumer, DefaultMQPushConsumerImpl#start @ 4.0.0, 5.5.0",
    ),
    Rule(
        "CID-ONCE",
        "A consumer that runs, was shut down, or failed by its configuration does not start (MQClientException); to "
        "shut down one that does not run does nothing.",
        "DefaultMQPushConsumerImpl#start, #shutdown @ 4.0.0, 5.5.0",
    ),
    Rule(
        "START-TS-DEFAULT",
        "The default consumeTimestamp of push and lite pull consumers (from 4.6.1) is the time half an hour before "
        "they were made, as yyyyMMddHHmmss in the time zone of that moment; it does not change when time passes, or "
        "when they start.",
        "DefaultMQPushConsumer#consumeTimestamp, UtilAll#timeMillisToHumanString3 @ 4.0.0, 4.6.1, 5.5.0; "
        "DefaultLitePullConsumer#consumeTimestamp @ 4.6.1, 5.5.0",
    ),
    Rule(
        "START-TS-CHECK",
        "A push consumer whose consumeTimestamp is no time does not start, wherever it would start from: "
        "MQClientException, without a text a NullPointerException; its instance keeps its name. A lite pull consumer "
        "does not look.",
        "DefaultMQPushConsumerImpl#checkConfig @ 4.0.0, 5.5.0",
    ),
    Rule(
        "OFF-L-DIR",
        "Only broadcasting consumers have an offset file. Its folder is the system property "
        "rocketmq.client.localOffsetStoreDir, and .rocketmq_offsets in the user's home without one; a process reads it "
        "once, with its first broadcasting consumer.",
        "LocalFileOffsetStore#LOCAL_OFFSET_STORE_DIR, DefaultMQPushConsumerImpl#start @ 4.0.0, 5.5.0",
    ),
    Rule(
        "OFF-L-KEPT",
        "A broadcasting push or pull consumer that was refused because its group is taken has made its offset store "
        "before: started again with another id it uses the file of the id that it was refused with.",
        "DefaultMQPushConsumerImpl#start, DefaultMQPullConsumerImpl#start @ 4.1.0, 4.2.0, 5.5.0",
        releases="4.2.0+",
    ),
)

PUSH, PULL, LITE = "push", "pull", "lite pull"
CLUSTERING, BROADCASTING = "CLUSTERING", "BROADCASTING"
DEFAULT = "DEFAULT"
#: What the machine chooses, as ids are written here.
ADDRESS, PID, NUMBER = "ADDRESS", "PID", "N"
#: The folder without a property, and the name of the file.
HOME_FOLDER = "HOME/.rocketmq_offsets"
FILE_NAME = "offsets.json"
#: The message models of a process's first consumers.
MODES = (BROADCASTING, BROADCASTING)
#: How long before it was made a consumer would start (s), and how long an operation lets pass (s).
BEFORE, LATER = 1800, 600
#: Zones without summer time, and how far they are ahead of UTC (s).
ZONES = {"UTC": 0, "Asia/Shanghai": 28_800, "Asia/Kolkata": 19_800}

REFUSED = Err("CLIENT")
#: The timestamp is no text: a NullPointerException.
NO_TEXT = Err("RUNTIME")
NEW, RUNS, FAILED, ENDED = "new", "runs", "failed", "ended"


class ClientId(NamedTuple):
    """A client id as text, and the start that its number is from; 0 for an id without one."""

    text: str
    start: int


class Moment(NamedTuple):
    """When a consumer was made: seconds since the case began, and the zone."""

    seconds: int
    zone: str


class Consumer(NamedTuple):
    """A consumer and its configuration."""

    kind: str
    mode: str
    group: str
    made: Moment
    instance: str = DEFAULT
    #: The start that the instance's number is from; 0 without one.
    start: int = 0
    address: str = ADDRESS
    unit: str | None = None
    stream: bool = False
    #: A timestamp that was set stands for the default, even when it is none.
    timed: bool = False
    timestamp: str | None = None
    status: str = NEW
    #: The id of its client since it started.
    client: ClientId = ClientId("", 0)
    #: Its offset file since it made its store; "" before, and of a clustering consumer.
    store: str = ""
    #: The offset of the queue in its store's memory.
    offset: int = -1


_NO_FILES: Mapping[str, int] = MappingProxyType({})


class IdentityState(NamedTuple):
    """A process, its consumers, and the offset files of the machine."""

    consumers: tuple[Consumer, ...]
    #: Seconds since the case began.
    now: int = 0
    zone: str = "UTC"
    #: The property rocketmq.client.name; None when it is not set.
    name: str | None = None
    #: The folder of offset files, and whether the process has read it.
    folder: str = HOME_FOLDER
    read: bool = False
    #: Starts that took a number.
    starts: int = 0
    #: The offset in each file, by path.
    files: Mapping[str, int] = _NO_FILES


_MADE = {
    kind: reasons_by_kind(("CID-NAME", "CID-PARTS"), *(f"a {kind} consumer {how}" for how in ("anew", "after one")))
    for kind in (PUSH, PULL, LITE)
}
_PROCESS = Reason(("OFF-L-DIR",), "another process")
_NAMED = reasons_by_kind(("CID-NAME",), "property", "no property")
_FOLDER = reasons_by_kind(("OFF-L-DIR",), "not read yet", "read before")
_CONFIGURED = {status: Reason(("CID-PARTS",), f"configured: {status}") for status in (NEW, RUNS, FAILED, ENDED)}
_TIMED = reasons_by_kind(("START-TS-DEFAULT",), "set", "it has none")
_CLOCK = reasons_by_kind(("START-TS-DEFAULT",), "time passes", "another zone")
_STAYS = reasons_by_kind(("CID-PID", "CID-PARTS", "CID-NAME"), "broadcasting", "named")
_NUMBERED = reasons_by_kind(("CID-PID", "CID-PARTS"), "process", "process and time")
_FOUND = {
    "a file": Reason((*_STAYS["broadcasting"].rules, "OFF-L-DIR", "OFF-L-PATH"), "with a file"),
    "the file of another id": Reason(("OFF-L-KEPT",), "with the store of another id"),
}
_SHARES = {
    why: Reason((*why.rules, "CID-SHARE"), f"{why.kind}, shared")
    for why in (*_STAYS.values(), *_NUMBERED.values(), *_FOUND.values())
}
_TAKEN = reasons_by_kind(("CID-TAKEN", "CID-PID"), "renamed", "not renamed")
_CHECKED = reasons_by_kind(("START-TS-CHECK",), "no time", "no text")
_ONCE = {status: Reason(("CID-ONCE",), status) for status in (RUNS, FAILED, ENDED)}
_SHUT = {status: Reason(("CID-ONCE",), f"shut down: {status}") for status in (NEW, FAILED, ENDED)}
_LEFT = reasons_by_kind(("CID-SHARE",), "the client ends", "the client stays")
_ID = {status: Reason(("CID-PARTS", "CID-PID"), status) for status in (NEW, RUNS, FAILED, ENDED)}
_STREAM = {status: Reason((*why.rules, "CID-STREAM"), f"{status}, STREAM") for status, why in _ID.items()}
_CLIENTS = reasons_by_kind(("CID-SHARE",), "none", "one", "several", "of several groups")
_READ = reasons_by_kind(
    ("START-TS-DEFAULT",), "set", "default", "default, later", "default, in another zone", "it has none"
)
_SAVED = reasons_by_kind(("OFF-L-DIR",), "broadcasting", "clustering", "does not run")
_SAVED["broadcasting"] = Reason(("OFF-L-DIR", "OFF-L-PATH"), "broadcasting")
_OFFSET = reasons_by_kind(
    ("OFF-L-DIR", "OFF-L-PATH"), "broadcasting, none", "broadcasting", "clustering", "does not run"
)


class IdentityModel:
    """The rules of one profile; every method is pure. Consumers are given by their place."""

    __slots__ = ("client", "topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.client = ClientRules.of(profile)
        self.topology = topology

    def initial(self) -> IdentityState:
        """A process with push consumers of one group, not started."""
        return IdentityState(_first_consumers(self.topology.group, Moment(0, "UTC")))

    # --- the process ----------------------------------------------------------------------------------------

    def begin_process(self, state: IdentityState, folder: str) -> Answer[IdentityState]:
        """OFF-L-DIR: all consumers are gone; ``folder`` is the property, or "" for none."""
        made = _first_consumers(self.topology.group, Moment(state.now, state.zone))
        after = IdentityState(made, state.now, state.zone, folder=folder or HOME_FOLDER, files=state.files)
        return after, None, _PROCESS

    def name_clients(self, state: IdentityState, name: str | None) -> Answer[IdentityState]:
        """CID-NAME: the property, for consumers that are made from now on."""
        return state._replace(name=name), None, _NAMED["no property" if name is None else "property"]

    def move_folder(self, state: IdentityState, folder: str) -> Answer[IdentityState]:
        """OFF-L-DIR: the property changes when the process has read it."""
        return state, None, _FOLDER["read before" if state.read else "not read yet"]

    def set_zone(self, state: IdentityState, zone: str) -> Answer[IdentityState]:
        """The process is in another time zone."""
        return state._replace(zone=zone), None, _CLOCK["another zone"]

    def later(self, state: IdentityState) -> Answer[IdentityState]:
        """Ten minutes pass."""
        return state._replace(now=state.now + LATER), None, _CLOCK["time passes"]

    # --- making and configuring -----------------------------------------------------------------------------

    def make(self, kind: str, state: IdentityState, consumer: int, group: str, mode: str) -> Answer[IdentityState]:
        """CID-NAME: a new consumer in this place; one that runs there is shut down."""
        made = Consumer(
            kind,
            mode,
            group,
            Moment(state.now, state.zone),
            instance=DEFAULT if state.name is None else state.name,
            stream=self.client.streams and kind != PUSH,
        )
        before = state.consumers[consumer].status
        return (
            _with(state, consumer, made),
            None,
            _MADE[kind][f"a {kind} consumer {'after one' if before == RUNS else 'anew'}"],
        )

    def set_address(self, state: IdentityState, consumer: int, address: str) -> Answer[IdentityState]:
        """The address is one that was given."""
        return self._configured(state, consumer, state.consumers[consumer]._replace(address=address))

    def set_instance(self, state: IdentityState, consumer: int, name: str) -> Answer[IdentityState]:
        """CID-NAME."""
        return self._configured(state, consumer, state.consumers[consumer]._replace(instance=name, start=0))

    def set_unit(self, state: IdentityState, consumer: int, unit: str | None) -> Answer[IdentityState]:
        """CID-PARTS."""
        return self._configured(state, consumer, state.consumers[consumer]._replace(unit=unit))

    def set_stream(self, state: IdentityState, consumer: int, stream: bool) -> Answer[IdentityState]:
        """CID-STREAM."""
        return self._configured(state, consumer, state.consumers[consumer]._replace(stream=stream))

    def set_timestamp(self, state: IdentityState, consumer: int, timestamp: str | None) -> Answer[IdentityState]:
        """A text in place of the default one; a pull consumer has none."""
        held = state.consumers[consumer]
        if not self._has_timestamp(held):
            return state, None, _TIMED["it has none"]
        return _with(state, consumer, held._replace(timed=True, timestamp=timestamp)), None, _TIMED["set"]

    def _configured(self, state: IdentityState, consumer: int, changed: Consumer) -> Answer[IdentityState]:
        return _with(state, consumer, changed), None, _CONFIGURED[changed.status]

    def _has_timestamp(self, consumer: Consumer) -> bool:
        return consumer.kind == PUSH or (consumer.kind == LITE and self.client.lite_starts)

    # --- starting and ending --------------------------------------------------------------------------------

    def start(self, state: IdentityState, consumer: int) -> Answer[IdentityState]:
        """START-TS-CHECK, CID-PID, CID-SHARE, CID-TAKEN, in this order."""
        held = state.consumers[consumer]
        if held.status != NEW:
            return state, REFUSED, _ONCE[held.status]
        if (
            held.kind == PUSH
            and held.timed
            and (held.timestamp is None or parse_timestamp(held.timestamp, "UTC") is None)
        ):
            after = _with(state, consumer, held._replace(status=FAILED))
            return (
                (after, NO_TEXT, _CHECKED["no text"])
                if held.timestamp is None
                else (after, REFUSED, _CHECKED["no time"])
            )
        why = _STAYS["broadcasting" if held.mode == BROADCASTING else "named"]
        renamed = held.mode == CLUSTERING and held.instance == DEFAULT
        if renamed:
            held, state, why = self._renamed(held, state)
        client = client_id(held)
        others = [one for one in state.consumers if one.status == RUNS and one.client == client]
        taken = any(one.group == held.group for one in others)
        if held.mode == BROADCASTING and not (taken and held.kind == LITE):
            state, held, found = self._with_store(state, held, client)
            why = _FOUND[found] if found else why
        if taken:
            return _with(state, consumer, held), REFUSED, _TAKEN["renamed" if renamed else "not renamed"]
        if others:
            why = _SHARES[why]
        return _with(state, consumer, held._replace(status=RUNS, client=client)), None, why

    def _with_store(
        self, state: IdentityState, consumer: Consumer, client: ClientId
    ) -> tuple[IdentityState, Consumer, str]:
        """OFF-L-DIR, OFF-L-KEPT: the consumer with its store, and what is special about it."""
        path = offset_file(state.folder, client, consumer.group)
        found = "a file" if path in state.files else ""
        if self.client.keeps_store and consumer.store:
            found = found if path == consumer.store else "the file of another id"
            path = consumer.store
        else:
            consumer = consumer._replace(offset=-1)
        offset = state.files.get(path, consumer.offset)
        return state._replace(read=True), consumer._replace(store=path, offset=offset), found

    def _renamed(self, consumer: Consumer, state: IdentityState) -> tuple[Consumer, IdentityState, Reason]:
        """CID-PID."""
        if not self.client.numbers_starts:
            return consumer._replace(instance=PID), state, _NUMBERED["process"]
        state = state._replace(starts=state.starts + 1)
        renamed = consumer._replace(instance=f"{PID}#{NUMBER}", start=state.starts)
        return renamed, state, _NUMBERED["process and time"]

    def shutdown(self, state: IdentityState, consumer: int) -> Answer[IdentityState]:
        """CID-SHARE, CID-ONCE."""
        held = state.consumers[consumer]
        if held.status != RUNS:
            return state, None, _SHUT[held.status]
        after = _with(state, consumer, held._replace(status=ENDED))
        stays = any(one.status == RUNS and one.client == held.client for one in after.consumers)
        return after, None, _LEFT["the client stays" if stays else "the client ends"]

    # --- looking --------------------------------------------------------------------------------------------

    def tell_id(self, state: IdentityState, consumer: int) -> Answer[IdentityState]:
        """CID-PARTS: the id by the configuration of this moment."""
        held = state.consumers[consumer]
        return state, client_id(held).text, (_STREAM if held.stream else _ID)[held.status]

    def list_clients(self, state: IdentityState) -> Answer[IdentityState]:
        """CID-SHARE: sorted (client id, sorted groups), a pair for the heartbeat of each client."""
        groups: dict[ClientId, list[str]] = {}
        for held in state.consumers:
            if held.status == RUNS:
                groups.setdefault(held.client, []).append(held.group)
        listed = sorted((client.text, tuple(sorted(found))) for client, found in groups.items())
        kind = "none" if not listed else "several" if len(listed) > 1 else "one"
        shared = any(len(found) > 1 for _, found in listed)
        return state, tuple(listed), _CLIENTS["of several groups" if shared else kind]

    def read_timestamp(self, state: IdentityState, consumer: int) -> Answer[IdentityState]:
        """START-TS-DEFAULT: how many seconds ago a start by it would be, were it read now; a text that was set."""
        held = state.consumers[consumer]
        if not self._has_timestamp(held):
            return state, None, _READ["it has none"]
        if held.timed:
            return state, held.timestamp, _READ["set"]
        ago = state.now - held.made.seconds + BEFORE + ZONES[state.zone] - ZONES[held.made.zone]
        if state.zone != held.made.zone:
            return state, ago, _READ["default, in another zone"]
        return state, ago, _READ["default, later" if state.now > held.made.seconds else "default"]

    # --- offset files ---------------------------------------------------------------------------------------

    def save(self, state: IdentityState, consumer: int, offset: int) -> Answer[IdentityState]:
        """OFF-L-DIR: an offset is kept and persisted; answers the file that was written, if any."""
        held = state.consumers[consumer]
        if held.status != RUNS:
            return state, None, _SAVED["does not run"]
        after = _with(state, consumer, held._replace(offset=offset))
        if held.mode == CLUSTERING:
            return after, None, _SAVED["clustering"]
        return after._replace(files={**state.files, held.store: offset}), held.store, _SAVED["broadcasting"]

    def read_offset(self, state: IdentityState, consumer: int) -> Answer[IdentityState]:
        """The offset in the store's memory, or -1."""
        held = state.consumers[consumer]
        if held.status != RUNS:
            return state, None, _OFFSET["does not run"]
        if held.mode == CLUSTERING:
            return state, held.offset, _OFFSET["clustering"]
        return state, held.offset, _OFFSET["broadcasting, none" if held.offset < 0 else "broadcasting"]


def _first_consumers(group: str, made: Moment) -> tuple[Consumer, ...]:
    return tuple(Consumer(PUSH, mode, group, made) for mode in MODES)


def client_id(consumer: Consumer) -> ClientId:
    """CID-PARTS: the id that a consumer's configuration makes."""
    parts = [consumer.address, consumer.instance]
    if consumer.unit is not None and consumer.unit.strip():
        parts.append(consumer.unit)
    if consumer.stream:
        parts.append("STREAM")
    return ClientId("@".join(parts), consumer.start)


def offset_file(folder: str, client: ClientId, group: str) -> str:
    """OFF-L-PATH: the file of a group."""
    return f"{folder}/{client.text}/{group}/{FILE_NAME}"


def _with(state: IdentityState, consumer: int, changed: Consumer) -> IdentityState:
    held = state.consumers
    return state._replace(consumers=(*held[:consumer], changed, *held[consumer + 1 :]))
