"""Who a consumer is: client ids by release, shared clients, first timestamps and offset files, worked out by hand."""

from __future__ import annotations

from typing import Any

from every import every

from rocketmq_conformance.models.client.identity import REFUSED, IdentityState
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.identity import (
    SUITE,
    BeginProcess,
    Later,
    ListClients,
    MakeLitePull,
    MakePull,
    MakePush,
    MoveFolder,
    NameClients,
    ReadOffset,
    ReadTimestamp,
    Save,
    SetAddress,
    SetInstance,
    SetStream,
    SetTimestamp,
    SetUnit,
    SetZone,
    Shutdown,
    Start,
    TellId,
)

CLUSTERING, BROADCASTING = "CLUSTERING", "BROADCASTING"
HOME = "HOME/.rocketmq_offsets"


class Played:
    """A case of one release; ``do`` answers what the model expects, and ``why`` is the reason."""

    def __init__(self, release: str = "5.5.0") -> None:
        bound = SUITE.bind(Profile.of(client=release))
        self.state: IdentityState = bound.initial
        self._handlers = bound.handlers
        self.why = ""

    def do(self, operation: type, *args: Any) -> Expected:
        self.state, result, why = self._handlers[operation](self.state, *args)
        self.why = why.kind
        return result


# --- client ids ----------------------------------------------------------------------------------------------


@every(
    ("release", "push", "pull"),
    [
        ("4.0.0", "ADDRESS@PID", "ADDRESS@PID"),
        ("4.8.0", "ADDRESS@PID", "ADDRESS@PID"),
        ("4.9.0", "ADDRESS@PID#N", "ADDRESS@PID#N"),
        ("4.9.3", "ADDRESS@PID#N", "ADDRESS@PID#N"),
        ("4.9.4", "ADDRESS@PID#N", "ADDRESS@PID#N@STREAM"),
        ("5.0.0-PREVIEW", "ADDRESS@PID#N", "ADDRESS@PID#N"),
        ("5.0.0-ALPHA", "ADDRESS@PID#N", "ADDRESS@PID#N"),
        ("5.0.0", "ADDRESS@PID#N", "ADDRESS@PID#N@STREAM"),
        ("5.5.0", "ADDRESS@PID#N", "ADDRESS@PID#N@STREAM"),
    ],
)
def test_a_clustering_consumer_is_named_by_its_process_when_it_starts(release: str, push: str, pull: str) -> None:
    for make, name in ((MakePush, push), (MakePull, pull), (MakeLitePull, pull)):
        case = Played(release)
        case.do(make, 0, "G", CLUSTERING)
        assert case.do(TellId, 0) == name.replace("PID#N", "PID").replace("PID", "DEFAULT")
        assert case.do(Start, 0) is None
        assert case.why == ("process and time" if "#" in push else "process")
        assert case.do(TellId, 0) == name


def test_a_broadcasting_consumer_and_one_with_a_name_keep_theirs() -> None:
    case = Played()
    case.do(Start, 0)
    case.do(MakePush, 1, "G", CLUSTERING)
    case.do(SetInstance, 1, "blue")
    case.do(Start, 1)
    assert (case.do(TellId, 0), case.do(TellId, 1)) == ("ADDRESS@DEFAULT", "ADDRESS@blue")


def test_the_parts_of_an_id_have_an_order_and_a_blank_unit_is_none() -> None:
    case = Played()
    case.do(SetAddress, 0, "10.0.0.7")
    for unit in (None, "", " "):
        case.do(SetUnit, 0, unit)
        assert case.do(TellId, 0) == "10.0.0.7@DEFAULT"
    case.do(SetUnit, 0, "east")
    case.do(SetStream, 0, True)
    assert case.do(TellId, 0) == "10.0.0.7@DEFAULT@east@STREAM"


def test_the_property_names_consumers_that_are_made_later() -> None:
    case = Played()
    case.do(NameClients, "blue")
    assert case.do(TellId, 0) == "ADDRESS@DEFAULT"
    case.do(MakePush, 0, "G", CLUSTERING)
    case.do(NameClients, "")
    case.do(MakePush, 1, "G", CLUSTERING)
    case.do(NameClients, None)
    assert (case.do(TellId, 0), case.do(TellId, 1)) == ("ADDRESS@blue", "ADDRESS@")
    case.do(Start, 1)
    assert case.do(TellId, 1) == "ADDRESS@"  # an empty name is a name


# --- shared clients ------------------------------------------------------------------------------------------


def test_a_client_takes_a_group_once_and_lets_it_go() -> None:
    case = Played()
    case.do(Start, 0)
    assert case.do(Start, 1) == REFUSED
    assert case.why == "not renamed"
    assert case.do(ListClients) == (("ADDRESS@DEFAULT", ("G",)),)
    assert case.do(Shutdown, 0) is None
    assert case.why == "the client ends"
    assert case.do(ListClients) == ()
    assert case.do(Start, 1) is None


@every("release", ["4.8.0", "4.9.0"])
def test_two_consumers_of_a_group_in_one_process_start_since_they_have_numbers(release: str) -> None:
    case = Played(release)
    for consumer in (0, 1):
        case.do(MakePush, consumer, "G", CLUSTERING)
    assert case.do(Start, 0) is None
    if release == "4.8.0":
        assert case.do(Start, 1) == REFUSED
        assert case.why == "renamed"
        assert case.do(TellId, 1) == "ADDRESS@PID"
    else:
        assert case.do(Start, 1) is None
        assert case.do(ListClients) == (("ADDRESS@PID#N", ("G",)),) * 2


def test_consumers_of_one_id_share_a_client_until_the_last_is_gone() -> None:
    case = Played()
    case.do(MakePush, 1, "G-pull", BROADCASTING)
    case.do(Start, 0)
    case.do(Start, 1)
    assert case.why == "broadcasting, shared"
    assert case.do(ListClients) == (("ADDRESS@DEFAULT", ("G", "G-pull")),)
    case.do(SetUnit, 0, "east")  # the client keeps its id
    assert case.do(TellId, 0) == "ADDRESS@DEFAULT@east"
    case.do(Shutdown, 1)
    assert case.why == "the client stays"
    assert case.do(ListClients) == (("ADDRESS@DEFAULT", ("G",)),)


def test_a_consumer_starts_once() -> None:
    case = Played()
    assert case.do(Shutdown, 0) is None
    assert case.do(Start, 0) is None
    assert case.do(Start, 0) == REFUSED
    case.do(Shutdown, 0)
    assert case.do(Start, 0) == REFUSED


def test_another_process_has_other_consumers() -> None:
    case = Played()
    case.do(NameClients, "blue")
    case.do(Start, 0)
    case.do(BeginProcess, "SET")
    assert case.do(ListClients) == ()
    case.do(MakePush, 0, "G", CLUSTERING)
    assert case.do(TellId, 0) == "ADDRESS@DEFAULT"


# --- timestamps ----------------------------------------------------------------------------------------------


def test_the_default_timestamp_is_of_the_making_in_the_zone_of_the_making() -> None:
    case = Played()
    assert case.do(ReadTimestamp, 0) == 1800
    case.do(Later)
    case.do(Start, 0)
    assert case.do(ReadTimestamp, 0) == 2400
    case.do(SetZone, "Asia/Shanghai")
    case.do(MakePush, 1, "G", CLUSTERING)
    assert case.do(ReadTimestamp, 1) == 1800
    assert case.do(ReadTimestamp, 0) == 2400 + 8 * 3600  # read eight hours ahead, it is eight hours older
    case.do(SetZone, "Asia/Kolkata")
    assert case.do(ReadTimestamp, 1) == 1800 - 9000


@every(("release", "lite"), [("4.6.0", None), ("4.6.1", 1800), ("5.5.0", 1800)])
def test_pull_consumers_and_the_first_lite_ones_have_no_timestamp(release: str, lite: int | None) -> None:
    case = Played(release)
    case.do(MakePull, 0, "G", CLUSTERING)
    case.do(MakeLitePull, 1, "G", CLUSTERING)
    assert case.do(SetTimestamp, 0, "20240101001500") is None
    assert (case.do(ReadTimestamp, 0), case.do(ReadTimestamp, 1)) == (None, lite)


@every(("text", "expected"), [("20240101001500", None), ("yesterday", REFUSED), (None, Err("RUNTIME"))])
def test_a_push_consumer_with_a_timestamp_that_is_no_time_fails_for_good(text: str | None, expected: Expected) -> None:
    case = Played()
    case.do(MakePush, 0, "G", CLUSTERING)
    case.do(SetTimestamp, 0, text)
    assert case.do(ReadTimestamp, 0) == text
    assert case.do(Start, 0) == expected
    assert case.do(TellId, 0) == ("ADDRESS@DEFAULT" if expected else "ADDRESS@PID#N")
    case.do(SetTimestamp, 0, "20240101001500")
    assert case.do(Start, 0) == REFUSED
    case.do(MakeLitePull, 1, "G", CLUSTERING)
    case.do(SetTimestamp, 1, text)
    assert case.do(Start, 1) is None


# --- offset files --------------------------------------------------------------------------------------------


def test_a_broadcasting_consumer_finds_its_file_again() -> None:
    case = Played()
    assert (case.do(Save, 0, 7), case.do(ReadOffset, 0)) == (None, None)
    case.do(Start, 0)
    assert case.do(ReadOffset, 0) == -1
    assert case.do(Save, 0, 7) == f"{HOME}/ADDRESS@DEFAULT/G/offsets.json"
    case.do(BeginProcess, "")
    case.do(Start, 0)
    assert (case.do(ReadOffset, 0), case.why) == (7, "broadcasting")
    case.do(BeginProcess, "SET")
    case.do(Start, 0)
    assert case.do(ReadOffset, 0) == -1
    assert case.do(Save, 0, 8) == "SET/ADDRESS@DEFAULT/G/offsets.json"


def test_a_clustering_consumer_has_no_file() -> None:
    case = Played()
    case.do(MakePush, 0, "G", CLUSTERING)
    case.do(Start, 0)
    assert (case.do(Save, 0, 7), case.do(ReadOffset, 0)) == (None, 7)


def test_the_folder_is_read_once() -> None:
    case = Played()
    case.do(MoveFolder, "MOVED")
    assert case.why == "not read yet"
    case.do(Start, 0)
    case.do(MoveFolder, "MOVED")
    assert case.why == "read before"
    assert case.do(Save, 0, 7) == f"{HOME}/ADDRESS@DEFAULT/G/offsets.json"


@every(
    ("release", "make", "client"),
    [
        ("4.1.0", MakePush, "ADDRESS@blue"),
        ("4.2.0", MakePush, "ADDRESS@DEFAULT"),
        ("5.5.0", MakePull, "ADDRESS@DEFAULT@STREAM"),
        ("5.5.0", MakeLitePull, "ADDRESS@blue@STREAM"),
    ],
)
def test_a_refused_consumer_keeps_the_store_that_it_made(release: str, make: type, client: str) -> None:
    case = Played(release)
    for consumer in (0, 1):
        case.do(make, consumer, "G", BROADCASTING)
    case.do(Start, 0)
    case.do(Save, 0, 9)
    assert case.do(Start, 1) == REFUSED
    case.do(SetInstance, 1, "blue")
    assert case.do(Start, 1) is None
    kept = "blue" not in client
    assert (case.why == "with the store of another id") == kept
    assert case.do(ReadOffset, 1) == (9 if kept else -1)
    assert case.do(Save, 1, 8) == f"{HOME}/{client}/G/offsets.json"


def test_the_state_is_shown() -> None:
    case = Played()
    case.do(Start, 0)
    case.do(Save, 0, 7)
    shown = SUITE.show(case.state)
    assert "push BROADCASTING G DEFAULT runs" in shown
    assert f"{{'{HOME}/ADDRESS@DEFAULT/G/offsets.json': 7}}" in shown
