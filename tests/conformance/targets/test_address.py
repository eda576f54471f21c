"""An address is a value, which gives its text back."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.targets import address as addresses
from rocketmq_conformance.conformance.targets.address import AddressError, parse_address


def test_an_address_is_a_value_of_its_kind() -> None:
    values = {
        "port?via=tcp": (addresses.PortAddress, "", {"via": "tcp"}, ()),
        "mutant:whole-hours?set=a=b&set=c=d": (addresses.MutantAddress, "whole-hours", {}, ("a=b", "c=d")),
        "python:a.b:make?set=1&x=": (addresses.PythonAddress, "a.b:make", {"set": "1", "x": ""}, ()),
        "exec:run a:b?c=d": (addresses.ExecAddress, "run a:b?c=d", {}, ()),
        "java-client:5.5.0?classpath=a%20b": (addresses.JavaClientAddress, "5.5.0", {"classpath": "a b"}, ()),
        "client:./c?x:y": (addresses.ClientAddress, "./c?x:y", {}, ()),
        "client?through=broker:[::1]:1&pace=2:./c\nd": (
            addresses.ClientAddress,
            "./c\nd",
            {"through": "broker:[::1]:1", "pace": "2"},
            (),
        ),
        "broker:": (addresses.ReleasedBrokerAddress, "", {}, ()),
        "broker:5.5.0?java=17&set=a=b%20c": (addresses.ReleasedBrokerAddress, "5.5.0", {"java": "17"}, ("a=b c",)),
        "broker:[::1]:10911?lease=5": (addresses.RunningBrokerAddress, "[::1]:10911", {"lease": "5"}, ()),
        "broker:dir=a/b?like=5.5.0": (addresses.UnpackedBrokerAddress, "a/b", {"like": "5.5.0"}, ()),
        "broker?like=4.9.8": (addresses.FakeBrokerAddress, "", {"like": "4.9.8"}, ()),
    }
    for text, value in values.items():
        one = parse_address(text)
        assert (type(one), one.name, one.options, one.properties) == value
        assert (str(one), one, hash(one)) == (text, parse_address(text), hash(parse_address(text)))
    assert parse_address("port") != parse_address("port?via=call")


@pytest.mark.parametrize("text", ["", "client", "exec", "brokerx", "clients:./c", "5.5.0", "ports?via=tcp"])
def test_what_begins_like_an_address_is_none(text: str) -> None:
    with pytest.raises(AddressError, match="is no address"):
        parse_address(text)
