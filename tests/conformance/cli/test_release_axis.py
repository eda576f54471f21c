"""The commands ``diff``, ``matrix`` and ``bisect`` on fake brokers of several releases: results and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Ended, kit
from places import GOLDEN

SUITE = ("-k", "broker-offsets")
OLD, NEW = "broker?like=4.9.7", "broker?like=5.5.0"


def bisected(folder: Path, releases: str, *more: str) -> Ended:
    plan = min(folder.glob("plans/broker-offsets.*.plan.jsonl"))
    return kit("bisect", str(plan.relative_to(folder)), "--broker", releases, *more, cwd=folder)


def test_differences_are_shrunk_and_their_release_is_found(tmp_path: Path) -> None:
    done = kit("diff", OLD, NEW, "broker", *SUITE, "--out", "plans", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["classes"] == [[OLD], [NEW, "broker"]]
    assert all(len(one["steps"]) == 1 and not one["doubt"] for one in found["differences"])
    asked = {tuple(one["steps"]): set(one["rules"]) for one in found["differences"]}
    assert asked["query(group=0, topic=0, queue=0, set_zero=None)",] == {"BQ-QUERY-4", "BQ-QUERY-G3"}
    query = next(one for one in found["differences"] if "BQ-QUERY-G3" in one["rules"])
    plan = query["plan"]
    searched = kit("bisect", plan, "--broker", "broker?like=4.9.7..5.5.0", "--format", "json", cwd=tmp_path)
    assert searched.returncode == 1, searched.stderr
    document = json.loads(searched.stdout)
    (change,) = document["changes"]
    assert (change["before"], change["after"]) == ("broker?like=5.0.0", "broker?like=5.1.0")
    assert [switch["source"] for switch in change["switches"]] == ["ConsumerManageProcessor#queryConsumerOffset"]
    assert len(document["played"]) < len(document["addresses"])


def test_a_change_that_an_earlier_step_made_is_named(tmp_path: Path) -> None:
    words = ("diff", "broker?like=5.5.0", "broker?like=5.5.1", *SUITE)
    found = json.loads(kit(*words, "--format", "json", cwd=tmp_path).stdout)["differences"]
    assert {one["steps"][0].partition("(")[0] for one in found} == {"delete_group"}
    assert [[known["id"] for known in one["switches"]] for one in found] == [["BQ-GROUP-3"]] * len(found)


def test_the_same_release_twice_has_no_difference(tmp_path: Path) -> None:
    done = kit("diff", "broker", NEW, *SUITE, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No difference in" in done.stdout


def test_a_matrix_is_kept_and_read_again(tmp_path: Path) -> None:
    words = ("matrix", "--brokers", "broker?like=4.9.8..5.1.0", *SUITE, "--cases", "4")
    first = json.loads(kit(*words, "--format", "json", cwd=tmp_path).stdout)
    assert [one["suites"]["broker-offsets"]["read"] for one in first["cells"]] == [False] * 5
    again = json.loads(kit(*words, "--format", "json", cwd=tmp_path).stdout)
    assert [one["suites"]["broker-offsets"]["read"] for one in again["cells"]] == [True] * 5
    assert again["rules"] == first["rules"]
    row = next(row for row in again["rules"] if row["rule"] == "BQ-UPDATE-1")
    assert [len(group) for group in row["groups"]] == [3, 2]
    assert row["against"] == []


@pytest.mark.parametrize(("form", "begins"), [("text", "What"), ("markdown", "# What"), ("html", "<!doctype html>")])
def test_a_matrix_in_every_form(tmp_path: Path, form: str, begins: str) -> None:
    done = kit("matrix", "--brokers", f"{OLD},{NEW}", *SUITE, "--cases", "2", "--format", form, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(begins)
    assert "BQ-UPDATE-1" in done.stdout


def test_the_pages_of_a_difference_and_of_a_bisection(tmp_path: Path) -> None:
    words = ("diff", OLD, NEW, "-k", "broker-offsets", "--cases", "0", "--out", "plans", "--format", "markdown")
    pages = [kit(*words, cwd=tmp_path).stdout]
    pages.append(bisected(tmp_path, "broker?like=4.9.7..5.5.0", "--format", "markdown").stdout)
    assert "\n".join(pages) == (GOLDEN / "release_axis.md").read_text("utf-8")


def test_a_bug_is_against_the_rules_of_its_own_release(tmp_path: Path) -> None:
    clients = ("--clients", "port", "--clients", "python:broken_adapters:OffByOne")
    done = kit("matrix", *clients, "-k", "remote-store", "--cases", "5", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    rows = json.loads(done.stdout)["rules"]
    assert {name for row in rows for name in row["against"]} == {"python:broken_adapters:OffByOne"}


def test_what_could_not_run_is_said_and_the_rest_is_kept(tmp_path: Path) -> None:
    words = ("matrix", "--brokers", "broker", "--brokers", "broker:127.0.0.1:1", *SUITE, "--cases", "1")
    partly = kit(*words, cwd=tmp_path)
    assert partly.returncode == 3
    assert "broker:127.0.0.1:1 could not run" in partly.stdout
    assert kit("matrix", "--brokers", "broker:127.0.0.1:1", *SUITE, cwd=tmp_path).returncode == 4
    assert kit("diff", "broker", "broker:127.0.0.1:1", *SUITE, cwd=tmp_path).returncode == 3
    assert kit("diff", "port", "broker", *SUITE, "--cases", "1", cwd=tmp_path).returncode == 3


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    wrong = {
        ("diff", "broker"): "name 2",
        ("diff", "broker", "nothing:1", *SUITE): "is no address",
        ("diff", "broker:5.5.0..4.9.4", "broker"): "write the older one first",
        ("matrix",): "--brokers and --clients",
        ("matrix", "--brokers", "4.9.9"): "4.9.9 is none of the releases from 4.0.0 to 5.",
        ("matrix", "--brokers", "5.5.0", "-k", "nothing"): "No suite matches",
        ("bisect", "no.plan.jsonl", "--broker", "4.9.4..5.5.0"): "no.plan.jsonl",
        ("bisect", "no.plan.jsonl"): "either --broker or --client",
        ("bisect", "no.plan.jsonl", "--client", "5.5.0"): "name 2",
    }
    for words, sentence in wrong.items():
        done = kit(*words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert sentence in done.stderr, words
    assert list(tmp_path.iterdir()) == []  # nothing was played before all was read
    empty = kit("run", "java-client:5.5.0?classpath=", cwd=tmp_path)
    absent = kit("run", "java-client:5.5.0?classpath=target/classes", cwd=tmp_path)
    assert (empty.returncode, absent.returncode) == (4, 4)
    assert "The class path is empty" in empty.stderr
    assert "There is no target/classes" in absent.stderr
