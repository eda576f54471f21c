"""Unpacked distributions: which version they are, and which published release judges them."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.distribution import distribution
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.release import Release

MANIFEST, POM = "META-INF/MANIFEST.MF", "META-INF/maven/org.apache.rocketmq/rocketmq-broker/pom.properties"


def unpacked(folder: Path, name: str = "rocketmq-broker-5.4.1-SNAPSHOT.jar", **inside: str) -> Path:
    (folder / "lib").mkdir(exist_ok=True)
    with ZipFile(folder / "lib" / name, "w") as jar:
        for file, text in inside.items():
            jar.writestr(file, text)
    (folder / "lib" / "netty.jar").touch()
    return folder


def test_the_name_of_the_jar_says_the_version(tmp_path: Path) -> None:
    found = distribution(str(unpacked(tmp_path)))
    assert (found.version, found.judged) == ("5.4.1-SNAPSHOT", Release(5, 4, 0))
    assert [jar.name for jar in found.class_path((), "")] == ["netty.jar", "rocketmq-broker-5.4.1-SNAPSHOT.jar"]
    assert str(found) == f"5.4.1-SNAPSHOT in {tmp_path}, by the nearest published release 5.4.0"


@pytest.mark.parametrize(
    ("file", "text"), [(MANIFEST, "A: b\r\nImplementation-Version: 5.1.5\r\n"), (POM, "version=5.1.5")]
)
def test_else_the_jar_says_it_inside(tmp_path: Path, file: str, text: str) -> None:
    found = distribution(str(unpacked(tmp_path, "rocketmq-broker.jar", **{file: text})))
    assert (found.version, str(found.judged)) == ("5.1.5", "5.1.4")


def test_the_release_that_judges_may_be_chosen(tmp_path: Path) -> None:
    unpacked(tmp_path, "rocketmq-broker.jar", **{MANIFEST: "A: b"})
    adapter = open_address(f"broker:dir={tmp_path}?like=5.3.3&set=lockInStrictMode=true")
    assert isinstance(adapter, BrokerAdapter)
    assert isinstance(adapter.source, StartedBroker)
    assert (str(adapter.source.release), adapter.source.properties) == ("5.3.3", {"lockInStrictMode": "true"})
    assert str(adapter.source.unpacked).endswith("by the rules of 5.3.3, as asked")


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match="There is no folder"):
        open_address(f"broker:dir={tmp_path}/nowhere")
    with pytest.raises(CannotRunError, match=r"no lib/rocketmq-broker-VERSION\.jar"):
        open_address(f"broker:dir={tmp_path}")
    unpacked(tmp_path, "rocketmq-broker.jar")
    with pytest.raises(CannotRunError, match="does not say which release it is: add like=VERSION"):
        open_address(f"broker:dir={tmp_path}")
    unpacked(tmp_path)
    with pytest.raises(CannotRunError, match="two brokers in lib"):
        open_address(f"broker:dir={tmp_path}")


def test_a_jar_that_is_damaged(tmp_path: Path) -> None:
    unpacked(tmp_path, "rocketmq-broker.jar")
    (tmp_path / "lib" / "rocketmq-broker.jar").write_text("no jar")
    with pytest.raises(CannotRunError, match="cannot be read"):
        open_address(f"broker:dir={tmp_path}")


@pytest.mark.parametrize(
    ("rest", "sentence"),
    [
        ("?like=new", "'new' is no release"),
        ("?via=container", "no option 'via'"),
        ("?java=x", "'x' is no Java release"),
        ("?set=nothing=1", "A broker 5.4.0 has no property 'nothing'"),
    ],
)
def test_options_that_it_does_not_have(tmp_path: Path, rest: str, sentence: str) -> None:
    with pytest.raises(AddressError, match=sentence):
        open_address(f"broker:dir={unpacked(tmp_path)}{rest}")


def test_no_folder_at_all() -> None:
    with pytest.raises(AddressError, match="names no folder"):
        open_address("broker:dir=")
