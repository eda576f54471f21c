"""What a release needs to start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.broker import launch_config as needs
from rocketmq_conformance.models.release import Release


def properties(release: str, **more: str) -> dict[str, str]:
    return needs.broker_configuration(Release.parse(release), Path("/home/b"), 10911, **more)


@pytest.mark.parametrize(
    ("release", "version"), [("4.0.0", "4.0.0-incubating"), ("4.1.0", "4.1.0-incubating"), ("4.2.0", "4.2.0")]
)
def test_the_first_releases_of_apache_have_a_suffix_in_maven(release: str, version: str) -> None:
    assert needs.maven_version(Release.parse(release)) == version


@pytest.mark.parametrize(
    ("release", "java", "opened"),
    [("4.0.0", 17, True), ("5.1.4", 17, True), ("5.1.4", 8, False), ("5.2.0", 17, False), ("5.5.0", 25, False)],
)
def test_old_brokers_need_java_opened(release: str, java: int, opened: bool) -> None:
    flags = needs.broker_flags(Release.parse(release), java)
    assert ("--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED" in flags) == opened
    assert any(flag.startswith("-Xmx") for flag in flags)


@pytest.mark.parametrize(("release", "spelled"), [("4.5.1", "maped"), ("4.5.2", "mapped"), ("5.5.0", "mapped")])
def test_the_size_of_files_is_spelled_as_the_release_spells_it(release: str, spelled: str) -> None:
    found = properties(release)
    assert found[f"{spelled}FileSizeCommitLog"] == str(needs.COMMIT_LOG_FILE)
    assert sum("FileSize" in name for name in found) == 2


def test_everything_is_on_loopback_and_in_the_home() -> None:
    found = properties("5.5.0")
    assert {found[name] for name in ("brokerIP1", "brokerIP2", "bindAddress")} == {"127.0.0.1"}
    assert found["storePathRootDir"] == "/home/b/store"
    assert found["listenPort"] == "10911"
    assert "namesrvAddr" not in found
    assert properties("5.5.0", name_server="127.0.0.1:9876")["namesrvAddr"] == "127.0.0.1:9876"
    assert needs.name_server_configuration(Path("/home/n"), 9876)["bindAddress"] == "127.0.0.1"


@pytest.mark.parametrize(("release", "own"), [("5.0.0", False), ("5.1.0", True)])
def test_logging_is_where_the_release_looks(tmp_path: Path, release: str, own: bool) -> None:
    log = needs.write_logging(Release.parse(release), tmp_path, "broker")
    named = needs.logging_file(tmp_path).read_text()
    assert ("org.apache.rocketmq.logging.ch.qos.logback" in named) == own
    for name in ("broker", "namesrv"):
        assert str(log) in (tmp_path / "conf" / f"logback_{name}.xml").read_text()


def test_properties_are_written_one_a_line(tmp_path: Path) -> None:
    needs.write_properties(tmp_path / "p", {"a": "1", "b": "x=y"})
    assert (tmp_path / "p").read_text() == "a=1\nb=x=y\n"


def launcher(folder: Path, printed: str) -> str:
    script = folder / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"#!/bin/sh\necho '{printed}' >&2\n")
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize(
    ("printed", "feature"),
    [('openjdk version "17.0.15" 2025-04-15', 17), ('java version "1.8.0_402"', 8), ('openjdk version "25" x', 25)],
)
def test_the_feature_release_of_a_java(tmp_path: Path, printed: str, feature: int) -> None:
    assert needs.java_feature(launcher(tmp_path, printed)) == feature


def test_a_java_that_says_nothing_useful(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match="does not say which Java it is"):
        needs.java_feature(launcher(tmp_path, "Segmentation fault"))
    with pytest.raises(CannotRunError, match="does not start"):
        needs.java_feature(str(tmp_path / "missing"))


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = launcher(tmp_path, "")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert needs.java() == made
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert needs.java() == made


def test_no_java_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotRunError, match="install a Java runtime"):
        needs.java()


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a Java, where launchers may be put; the usual folders are below it."""
    for name in [name for name in os.environ if name.startswith(("JAVA", "JDK", "JRE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(needs, "_JAVA_FOLDERS", (f"{tmp_path}/jvm/*", "~/.jdks/*", f"{tmp_path}/mac/*/Contents/Home"))
    return tmp_path


@pytest.mark.parametrize(
    "variable", ["JAVA_HOME_11", "JAVA_HOME_11_X64", "JAVA_11_HOME", "JAVA11_HOME", "JDK_11", "JRE11_HOME", "JAVA_HOME"]
)
def test_a_java_of_a_release_is_named_by_a_variable(bare: Path, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = launcher(bare / "some", 'openjdk version "11.0.24"')
    monkeypatch.setenv(variable, str(bare / "some"))
    assert needs.java(11) == made
    with pytest.raises(CannotRunError, match="There is no Java 8 here: install one, and set JAVA_HOME_8 to its folder"):
        needs.java(8)
    assert needs.java_showing_pages() == 11


@pytest.mark.parametrize("folder", ["jvm/temurin-11", ".jdks/any", "mac/eleven/Contents/Home"])
def test_a_java_of_a_release_is_found_in_a_usual_folder(bare: Path, folder: str) -> None:
    launcher(bare / "jvm/another", "Segmentation fault")
    launcher(bare / "jvm/newer", 'openjdk version "17.0.1"')
    made = launcher(bare / folder, 'openjdk version "11.0.24"')
    assert needs.java(11) == made


def test_a_java_of_a_release_may_be_the_usual_one(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = launcher(bare, 'java version "1.8.0_402"')
    monkeypatch.setenv("PATH", f"{bare / 'bin'}:/usr/bin:/bin")
    assert needs.java(8) == made
    assert needs.java_showing_pages() == 8


def test_a_variable_of_another_release_is_not_looked_at(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher(bare / "some", 'openjdk version "11.0.24"')
    for variable in ("JAVA_HOME_17", "HOME_11", "JAVA_HOME_1_11"):
        monkeypatch.setenv(variable, str(bare / "some"))
    assert needs.java_showing_pages() == 0
