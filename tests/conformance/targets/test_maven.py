"""Jars through Maven: asked once, remembered, and one sentence when they cannot be had."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from waiting import wait_for_end, wait_until

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.startup import starting
from rocketmq_conformance.conformance.targets import maven


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a folder that is the whole PATH besides the shell's own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")
    monkeypatch.setattr(maven.shutil, "which", lambda name: str(folder / name) if (folder / name).exists() else None)
    return folder


def pretend(tools: Path, body: str) -> Path:
    """A mvn that notes its words in ``words`` and then does ``body`` for each module ($answer is the file to write)."""
    script = tools / "mvn"
    script.write_text(
        f"""#!/bin/sh
echo "$@" >> {tools}/words
for word in "$@"; do
  case $word in
    -Dmdep.outputFile=*) name=${{word#*=}} ;;
    */pom.xml) pom=$word ;;
  esac
done
cat ${{pom%/*}}/*/pom.xml > {tools}/pom.xml
for module in ${{pom%/*}}/*/; do
answer=$module$name
{body}
done
"""
    )
    script.chmod(0o755)
    return tools / "words"


def jar(tools: Path, name: str) -> Path:
    path = tools / name
    path.write_text("")
    return path


def test_the_jars_are_those_that_maven_names(tools: Path) -> None:
    one, two = jar(tools, "a.jar"), jar(tools, "b.jar")
    words = pretend(tools, f"printf '{one}:{two}' > $answer")
    assert maven.class_path(("rocketmq-client", "rocketmq-tools"), "5.5.0") == (one, two)
    pom = (tools / "pom.xml").read_text()
    assert pom.count("<version>5.5.0</version>") == 2
    assert "<artifactId>rocketmq-tools</artifactId>" in pom
    assert " -o " in words.read_text()


def test_only_one_maven_at_a_time_fetches(tools: Path) -> None:
    one = jar(tools, "a.jar")
    pretend(
        tools,
        f'case "$*" in *" -o "*) exit 1 ;; esac\n'
        f"echo begin >> {tools}/order; sleep 0.1; echo end >> {tools}/order; printf '{one}' > $answer",
    )
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(maven.class_path, ("rocketmq-client",), f"5.5.{patch}") for patch in range(3)]
    assert [each.result() for each in asked] == [(one,)] * 3
    assert (tools / "order").read_text().split() == ["begin", "end"] * 3


def test_many_are_fetched_at_once_and_what_is_missing_has_a_reason(tools: Path) -> None:
    one = jar(tools, "a.jar")
    words = pretend(
        tools,
        f"""case "$(cat $module/pom.xml)" in
*9.9.9*) n=${{module%/}}; echo "[ERROR] Failed on project ${{n##*/}}: Could not find artifact c:9.9.9 in m" ;;
*) printf '{one}' > $answer ;;
esac
case "$*" in *" -o "*) rm -f $answer ;; esac""",
    )
    first, missing, last = (maven.Wanted(("rocketmq-client",), version) for version in ("4.9.8", "9.9.9", "5.5.0"))
    assert maven.fetch([first, missing, last]) == {missing: "Could not find artifact c:9.9.9"}
    assert len(words.read_text().splitlines()) == 2
    assert "--fail-at-end" in words.read_text()
    for version in ("4.9.8", "5.5.0"):
        assert maven.class_path(["rocketmq-client"], version) == (one,)
    assert maven.fetch([first, last]) == {}
    assert len(words.read_text().splitlines()) == 2


def test_what_another_maven_has_got_meanwhile_is_not_downloaded_again(tools: Path) -> None:
    one = jar(tools, "a.jar")
    words = pretend(
        tools,
        f'case "$*" in *" -o "*) exit 1 ;; esac\n'
        f"touch {tools}/begun; while [ ! -e {tools}/go ]; do sleep 0.02; done; printf '{one}' > $answer",
    )
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(maven.class_path, ("rocketmq-client",), "5.5.0") for _ in range(2)]
        wait_until(lambda: (tools / "begun").exists() and words.read_text().count(" -o ") >= 2)
        (tools / "go").touch()
    assert [each.result() for each in asked] == [(one,)] * 2
    assert len(words.read_text().splitlines()) == 3


def test_maven_is_asked_once(tools: Path) -> None:
    one = jar(tools, "a.jar")
    words = pretend(tools, f"printf '{one}' > $answer")
    for _ in range(3):
        assert maven.class_path(["rocketmq-broker"], "5.5.0") == (one,)
    assert len(words.read_text().splitlines()) == 1
    one.unlink()
    other = jar(tools, "c.jar")
    pretend(tools, f"printf '{other}' > $answer")
    assert maven.class_path(["rocketmq-broker"], "5.5.0") == (other,)


def test_sources_are_asked_for_without_what_they_need(tools: Path) -> None:
    one, two = jar(tools, "a-sources.jar"), jar(tools, "a.jar")
    pretend(tools, f"printf '{one}' > $answer")
    wanted = maven.Wanted(("rocketmq-broker",), "5.5.0", sources=True)
    assert maven.published([wanted]) == {wanted: (one,)}
    pom = (tools / "pom.xml").read_text()
    assert "<classifier>sources</classifier>" in pom
    assert "<exclusion>" in pom
    pretend(tools, f"printf '{two}' > $answer")
    assert maven.class_path(["rocketmq-broker"], "5.5.0") == (two,)


def test_jars_alone_are_those_that_maven_has(tools: Path) -> None:
    one = jar(tools, "a.jar")
    pretend(
        tools,
        f"""case "$(cat $module/pom.xml)" in
*absent*) n=${{module%/}}; echo "[ERROR] Failed on project ${{n##*/}}: Could not find artifact absent in m" ;;
*) printf '{one}' > $answer ;;
esac""",
    )
    assert maven.jars_alone(("rocketmq-broker", "absent"), "5.5.0") == {"rocketmq-broker": one}
    assert "<exclusion>" in (tools / "pom.xml").read_text()
    pretend(tools, 'echo "[ERROR] Could not transfer artifact a in m"')
    with pytest.raises(CannotRunError, match=r"Maven cannot get rocketmq-broker .*: Could not transfer"):
        maven.jars_alone(("rocketmq-broker",), "5.5.1")


def test_what_maven_did_not_find_is_looked_for_the_next_day(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = maven.Wanted(("absent",), "5.5.1", alone=True)
    words = pretend(tools, 'n=${module%/}; echo "[ERROR] project ${n##*/}: Could not find artifact absent in m"')
    for _ in range(2):
        assert "Could not find artifact absent" in maven.fetch([wanted])[wanted]
    assert len(words.read_text().splitlines()) == 2
    one = jar(tools, "a.jar")
    pretend(tools, f"printf '{one}' > $answer")
    assert maven.published([wanted]) == {}
    later = maven.time.time() + 25 * 3600
    monkeypatch.setattr(maven.time, "time", lambda: later)
    assert maven.published([wanted]) == {wanted: (one,)}


@pytest.mark.parametrize("how", ["missing", "invalid, transitive dependencies (if any) will not be available"])
def test_a_jar_whose_needs_are_unknown_is_no_class_path(how: str, tools: Path) -> None:
    one = jar(tools, "a.jar")
    pretend(
        tools,
        f"printf '{one}' > $answer; echo '[WARNING] The POM for {maven.GROUP}:rocketmq-broker:jar:5.5.1 is {how}'",
    )
    with pytest.raises(CannotRunError, match=r"artifact that says what rocketmq-broker .* needs") as why:
        maven.class_path(("rocketmq-broker",), "5.5.1")
    assert maven.is_missing(str(why.value))


def test_maven_names_versions(tools: Path) -> None:
    folder = tools / "rocketmq-broker" / "5.5.1"
    folder.mkdir(parents=True)
    one = jar(folder, "a.jar")
    (folder.parent / "maven-metadata-central.xml").write_text(
        "<m><version>5.5.0</version>\n<version>5.5.1</version></m>"
    )
    pretend(tools, f"printf '{one}' > $answer")
    assert maven.versions_of(("rocketmq-broker",), "5.5.0") == {"rocketmq-broker": ("5.5.0", "5.5.1")}
    assert "<version>[5.5.0,)</version>" in (tools / "pom.xml").read_text()
    pretend(tools, f"printf '{one}' > $answer; echo '[WARNING] Could not transfer metadata a/maven-metadata.xml'")
    with pytest.raises(CannotRunError, match="cannot say which releases there are: Could not transfer metadata"):
        maven.versions_of(("rocketmq-broker",), "5.5.0")
    pretend(tools, "echo '[ERROR] No versions available'")
    with pytest.raises(CannotRunError, match="cannot say which releases there are: No versions available"):
        maven.versions_of(("rocketmq-broker",), "5.5.0")


def test_a_snapshot_is_asked_for_every_time(tools: Path) -> None:
    one, two = jar(tools, "a.jar"), jar(tools, "b.jar")
    for found in (one, two):
        pretend(tools, f"printf '{found}' > $answer")
        assert maven.class_path(["rocketmq-client"], "5.5.1-SNAPSHOT") == (found,)


def test_what_is_not_there_yet_is_downloaded(tools: Path) -> None:
    one = jar(tools, "a.jar")
    words = pretend(tools, f'case "$*" in *" -o "*) exit 1;; esac\nprintf \'{one}\' > $answer')
    assert maven.class_path(["rocketmq-broker"], "5.5.0") == (one,)
    assert len(words.read_text().splitlines()) == 2


def test_no_maven(tools: Path) -> None:
    with pytest.raises(CannotRunError, match="there is no mvn: install Maven"):
        maven.class_path(["rocketmq-broker"], "5.5.0")


def test_what_maven_cannot_get(tools: Path) -> None:
    pretend(tools, "echo '[INFO] x'; echo '[ERROR] Could not find artifact a:b:1'; echo '[ERROR] more'; exit 1")
    with pytest.raises(CannotRunError, match=r"cannot get rocketmq-broker 5\.3\.4: Could not find artifact a:b:1"):
        maven.class_path(["rocketmq-broker"], "5.3.4")


@pytest.mark.parametrize(
    ("printed", "sentence"),
    [
        (
            "[0m[ERROR] Failed to execute goal: Could not find artifact a:b:jar:1 in x -> [Help 1]",
            "Could not find artifact",
        ),
        (
            "[ERROR] \n[ERROR] goal on x: a:b:jar:1 was not found in http://m during a previous",
            "a:b:jar:1 was not found",
        ),
        (
            "[ERROR] Could not transfer artifact a:b from/to m (http://m): refused -> [Help 1]",
            r"from/to m \(http://m\): ref",
        ),
        ("[ERROR] \n[ERROR] Unknown lifecycle phase", "Unknown lifecycle phase"),
    ],
)
def test_what_maven_says_is_reported_in_short(tools: Path, printed: str, sentence: str) -> None:
    (tools / "said").write_text(printed)
    pretend(tools, f"cat {tools}/said; exit 1")
    with pytest.raises(CannotRunError, match=sentence):
        maven.class_path(["rocketmq-broker"], "5.5.0")


def test_a_maven_that_says_nothing(tools: Path) -> None:
    pretend(tools, "exit 7")
    with pytest.raises(CannotRunError, match="it ended with 7"):
        maven.class_path(["rocketmq-broker"], "5.5.0")


def test_a_maven_that_does_not_start(tools: Path) -> None:
    (tools / "mvn").write_text("")
    with pytest.raises(CannotRunError, match="it does not start"):
        maven.class_path(["rocketmq-broker"], "5.5.0")


def test_a_maven_that_takes_too_long(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tools, "sleep 600")
    monkeypatch.setattr(maven, "LIMIT", 0.0)
    with pytest.raises(CannotRunError, match=r"took longer than 0 s to get rocketmq-broker 5\.5\.0: see whether"):
        maven.class_path(["rocketmq-broker"], "5.5.0")


def test_what_a_maven_downloads_is_reported_as_it_arrives(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "Downloaded from central: https://repo/org/x/a.jar (%s at 3.4 MB/s)"
    lines = [line % "1.2 MB", line % "300 kB", "Downloaded from central: https://repo/x.pom (3.5 kB at 7 kB/s)"]
    sentence = "".join(f"echo '{text}'\n" for text in lines)
    pretend(tools, f'case "$*" in *" -o "*) exit 1 ;; esac\n{sentence}while [ ! -e {tools}/go ]; do sleep 0.02; done')
    shown: list[tuple[str, str]] = []

    def listen(text: str, detail: str) -> None:
        shown.append((text, detail))
        if detail:
            (tools / "go").touch()

    monkeypatch.setattr(maven, "_LOOK", 0.05)
    with starting(60, listen), pytest.raises(CannotRunError, match="it ended with 0"):
        maven.class_path(["rocketmq-broker"], "5.5.0")
    assert ("downloading the jars of rocketmq-broker 5.5.0 by Maven", "2 jars, 1.5 MB") in shown
    assert shown[-1] == ("", "")


def test_a_maven_that_hangs_ends_with_the_time_of_the_start(tools: Path) -> None:
    child = tools / "child"
    pretend(tools, f"sleep 600 & echo $! > {child}; wait")
    with starting(3.0), pytest.raises(CannotRunError) as caught:
        maven.class_path(["rocketmq-broker"], "5.5.0")
    assert "took longer than 3 s to get rocketmq-broker 5.5.0" in str(caught.value)
    assert "--start-timeout allows more" in str(caught.value)
    wait_for_end(int(child.read_text()))


def test_jars_that_maven_names_but_that_are_not_there(tools: Path) -> None:
    pretend(tools, "printf '/nowhere/a.jar' > $answer")
    with pytest.raises(CannotRunError, match="that are not there: delete"):
        maven.class_path(["rocketmq-broker"], "5.5.0")


@pytest.mark.parametrize(("artifacts", "version"), [((), "5.5.0"), (("a</x>",), "5.5.0"), (("a",), "../x y")])
def test_what_is_no_coordinate(artifacts: tuple[str, ...], version: str) -> None:
    with pytest.raises(CannotRunError, match="is no Maven artifact or version"):
        maven.class_path(artifacts, version)


def test_a_cache_that_cannot_be_written(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = jar(tools, "a.jar")
    pretend(tools, f"printf '{one}' > $answer")
    monkeypatch.setenv("XDG_CACHE_HOME", str(one))
    with pytest.raises(CannotRunError, match="set XDG_CACHE_HOME"):
        maven.class_path(["rocketmq-broker"], "5.5.0")


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("Linux", "x86_64", "linux-x86_64"),
        ("Darwin", "arm64", "osx-aarch_64"),
        ("Windows", "AMD64", "windows-x86_64"),
        ("Linux", "aarch64", "linux-aarch_64"),
    ],
)
def test_the_classifier_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, expected: str
) -> None:
    monkeypatch.setattr(maven.platform, "system", lambda: system)
    monkeypatch.setattr(maven.platform, "machine", lambda: machine)
    assert maven._classifier() == expected
