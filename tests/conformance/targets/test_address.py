"""An address is a value of its kind, with options of their types, whose text is an address of the same value."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.remoting.host_port import HostPort
from rocketmq_conformance.conformance.targets import address_kinds as kinds
from rocketmq_conformance.conformance.targets.address import AddressError, parse_address
from rocketmq_conformance.models.release import Release

OLD, NEW = Release(4, 9, 7), Release(5, 5, 0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("port", kinds.PortAddress()),
        ("port?via=tcp&clock=real", kinds.PortAddress("tcp", 1.0)),
        ("port?clock=real&pace=2.5", kinds.PortAddress("call", 2.5)),
        ("mutant:whole-hours?set=a=b&set=c=d", kinds.MutantAddress("whole-hours", properties=("a=b", "c=d"))),
        ("python:a.b:make?set=1&x=", kinds.PythonAddress("a.b:make", (("set", "1"), ("x", "")))),
        ("exec:run a:b?c={0}", kinds.ExecAddress("run a:b?c={0}")),
        ("java-client:5.5.0?classpath=a%20b", kinds.JavaClientAddress("5.5.0", classpath="a b")),
        ("java-client:5.5.1-SNAPSHOT?clock=real", kinds.JavaClientAddress("5.5.1-SNAPSHOT", pace=1.0)),
        ("client:./c?x:y", kinds.ClientAddress("./c?x:y")),
        (
            "client?pace=2&persist=0.5&lanes=3&through=broker:[::1]:1&tls=on&credentials=on:./c\nd",
            kinds.ClientAddress(
                "./c\nd",
                kinds.ProgramSettings(
                    2.0, (("persist", 0.5),), 3, kinds.RunningBrokerAddress(HostPort("::1", 1)), True, True
                ),
            ),
        ),
        (
            "client?through=broker:5.5.0:c",
            kinds.ClientAddress("c", kinds.ProgramSettings(through=kinds.ReleasedBrokerAddress(NEW))),
        ),
        (
            "client?lanes=3&through=broker:5.5.0?via=container:c:d",
            kinds.ClientAddress(
                "c:d", kinds.ProgramSettings(lanes=3, through=kinds.ReleasedBrokerAddress(NEW, "container"))
            ),
        ),
        (
            "broker:5.5.0?java=17&upgraded-from=4.9.7&count=2&set=a=b%20c",
            kinds.ReleasedBrokerAddress(NEW, java=17, upgraded_from=OLD, count=2, properties=("a=b c",)),
        ),
        ("broker:5.5.0?via=container&image=a/b:c", kinds.ReleasedBrokerAddress(NEW, "container", "a/b:c")),
        ("broker:[::1]:10911?lease=5&routes=kit", kinds.RunningBrokerAddress(HostPort("::1", 10911), 5, True)),
        ("broker:dir=a/b?like=5.5.0&java=8", kinds.UnpackedBrokerAddress("a/b", NEW, 8)),
        ("broker", kinds.FakeBrokerAddress()),
        ("broker?like=4.9.7&java=8", kinds.FakeBrokerAddress(OLD, 8)),
    ],
)
def test_an_address_is_a_value_of_its_kind(text: str, value: kinds.Address) -> None:
    assert parse_address(text) == value
    assert str(value) == text


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("port?via=call&clock=virtual", "port"),
        ("port?pace=1.0&clock=real", "port?clock=real"),
        ("client?lanes=12&pace=1&tls=off:c", "client:c"),
        ("client?rebalance=2.0&pace=20.0:c", "client?pace=20&rebalance=2:c"),
        ("broker:5.5.0?count=1&via=jars", "broker:5.5.0"),
        ("broker:5.5.0?set=a=b%20c&java=8", "broker:5.5.0?java=8&set=a=b%20c"),
        ("java-client:5.5.0?classpath=/a+b", "java-client:5.5.0?classpath=/a%2Bb"),
    ],
)
def test_what_is_written_otherwise_may_be_the_same_value(text: str, other: str) -> None:
    assert parse_address(text) == parse_address(other)
    assert str(parse_address(text)) == other


@pytest.mark.parametrize(
    ("text", "release", "lasting"),
    [
        ("port", None, True),
        ("broker", None, True),
        ("broker?like=4.9.7", OLD, True),
        ("broker:5.5.0?java=8", NEW, True),
        ("broker:5.5.0?via=container&image=a", NEW, False),
        ("broker:127.0.0.1:1", None, False),
        ("java-client:5.5.0", NEW, True),
        ("java-client:5.5.0?classpath=a", NEW, False),
        ("java-client:5.5.0-SNAPSHOT", None, False),
        ("exec:a", None, False),
    ],
)
def test_what_is_there_tomorrow(text: str, release: Release | None, lasting: bool) -> None:
    assert (parse_address(text).published, parse_address(text).lasting) == (release, lasting)


@pytest.mark.parametrize("text", ["port?via=tcp&via=call", "client?lanes=2&lanes=3:c", "python:m:f?a=1&a=2"])
def test_an_option_stands_once(text: str) -> None:
    with pytest.raises(AddressError, match="stands 2 times; write it once"):
        parse_address(text)


@pytest.mark.parametrize("text", ["", "client", "exec", "brokerx", "clients:./c", "5.5.0", "ports?via=tcp"])
def test_what_begins_like_an_address_is_none(text: str) -> None:
    with pytest.raises(AddressError, match="is no address"):
        parse_address(text)
