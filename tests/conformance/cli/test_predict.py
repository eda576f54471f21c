"""The commands ``predict …``: what they print, their exit codes, and one sentence for what cannot be."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import kit
from predicted_broker import GROUP, TOPIC, cluster, join

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.cluster import ClusterReader

MEMBERS = ("predict", "allocation", "--members", "a@1,b@1", "--queues", "4")


def test_where_a_group_starts_as_text_json_and_markdown(tmp_path: Path) -> None:
    with cluster() as broker:
        words = ("predict", "start", broker.address, "--group", GROUP, "--topic", TOPIC)
        text = kit(*words, cwd=tmp_path)
        document = kit(*words, "--format", "json", cwd=tmp_path)
        page = kit(*words, "--format", "markdown", cwd=tmp_path)
    assert [ended.returncode for ended in (text, document, page)] == [0, 0, 0]
    assert (
        "It consumes 75 messages that CONSUME_FROM_LAST_OFFSET leaves out, the first of 2023-11-14 22:13:20 UTC."
        in text.stdout
    )
    command = f"mqadmin skipAccumulatedMessage -n {broker.address} -g app -t orders"
    assert command in text.stdout
    assert f"\n\n```\n{command}\n```\n\n" in page.stdout
    found = json.loads(document.stdout)
    assert [queue["source"] for queue in found["queues"]] == ["0", "max", "max", "max"]
    assert page.stdout.startswith("# Group app")


def test_limits_decide_the_exit_code(tmp_path: Path) -> None:
    with cluster() as broker:
        words = ("predict", "start", broker.address, "--group", GROUP, "--topic", TOPIC, "--format", "json")
        codes = [kit(*words, "--max-repeat", most, cwd=tmp_path).returncode for most in ("74", "75")]
        time = kit(*words, "--from", "20200101000000", cwd=tmp_path)
    assert codes == [1, 0]
    assert {queue["source"] for queue in json.loads(time.stdout)["queues"]} == {"0", "by time"}


def test_a_fail_over_by_hand(tmp_path: Path) -> None:
    words = ("predict", "failover", "--broker", "4.9.7", "--queue", "7/5/10", "--queue", "-/3/10")
    text = kit(*words, cwd=tmp_path)
    assert text.returncode == 0
    assert "While the master is gone 2 messages come again. Once it is back 13 messages come again" in " ".join(
        text.stdout.split()
    )
    codes = [kit(*words, "--max-repeat", most, "--format", "json", cwd=tmp_path).returncode for most in ("14", "15")]
    assert codes == [1, 0]


def test_a_file_stands_for_a_cluster(tmp_path: Path) -> None:
    with cluster(stored={0: 7}) as broker, join(broker):
        words = (broker.address, "--group", GROUP, "--topic", TOPIC)
        written = kit("predict", "state", *words, "--out", "facts.json", cwd=tmp_path)
        live = kit("predict", "start", *words, "--format", "json", cwd=tmp_path)
    assert written.returncode == 0
    kept = kit("predict", "start", "--state", "facts.json", "--format", "json", cwd=tmp_path)
    assert [queue["start"] for queue in json.loads(kept.stdout)["queues"]] == [
        queue["start"] for queue in json.loads(live.stdout)["queues"]
    ]
    assert GROUP not in kept.stdout.replace("mqadmin", "")


def test_resets_allocations_and_upgrades(tmp_path: Path) -> None:
    with cluster("4.9.7", {0: 7, 1: 60, 2: 0, 3: 0}) as broker, join(broker):
        words = (broker.address, "--group", GROUP, "--topic", TOPIC)
        end = kit("predict", "reset", *words, "--to", "end", "--format", "json", cwd=tmp_path)
        beginning = kit("predict", "reset", *words, "--to", "beginning", "--offline", cwd=tmp_path)
        time = kit("predict", "reset", *words, "--to", "1", "--format", "json", cwd=tmp_path)
        shares = kit("predict", "allocation", *words, "--join", "0", "--format", "json", cwd=tmp_path)
        upgrade = kit("predict", "upgrade", *words, "--broker", "4.9.7..5.5.0", "--format", "json", cwd=tmp_path)
        every = kit("predict", "upgrade", broker.address, "--all", "--broker", "5.5.0", cwd=tmp_path)
    assert [queue["after"] for queue in json.loads(end.stdout)["queues"]] == [75, 75, 0, 30]
    assert {queue["way"] for queue in json.loads(end.stdout)["queues"]} == {"the members"}
    assert "It is made by the tool." in beginning.stdout
    assert "consumes 7 again" in beginning.stdout
    assert [queue["after"] for queue in json.loads(time.stdout)["queues"]][:2] == [0, 50]
    assert [len(share["queues"]) for share in json.loads(shares.stdout)["shares"]] == [5]  # one of the retry topic
    assert len(json.loads(shares.stdout)["moves"][0]["moved"]) == 3
    assert not json.loads(upgrade.stdout)["topics"][0]["changed"]
    assert "No start changes." in every.stdout
    assert [end.returncode, beginning.returncode, shares.returncode, upgrade.returncode, every.returncode] == [0] * 5


def test_an_upgrade_is_about_messages_and_not_about_how_a_start_is_found(tmp_path: Path) -> None:
    with cluster("4.9.7") as broker:
        words = (broker.address, "--group", GROUP, "--topic", TOPIC)
        # an empty queue starts at max instead of 0, which is the same offset
        same = kit("predict", "upgrade", *words, "--broker", "4.9.7..5.5.0", cwd=tmp_path)
        # and client 5.0.0 takes no answer of 0
        found = kit("predict", "upgrade", *words, "--broker", "5.5.0", "--client", "4.9.8..5.0.0", cwd=tmp_path)
        within = [
            kit("predict", "upgrade", *words, "--broker", "5.5.0", "--client", "5.0.0", *limits, cwd=tmp_path)
            for limits in (("--max-skip", "75"), ("--max-skip", "74"), ("--max-repeat", "0"))
        ]
        refused = kit("predict", "reset", *words, "--to", "end", cwd=tmp_path)
    assert (same.returncode, found.returncode) == (0, 1)
    assert "group app, client 5.5.0 (push, clustering, CONSUME_FROM_LAST_OFFSET)" in same.stdout
    assert "No start changes." in same.stdout
    assert "Starts change for app (orders): 0 messages are consumed again and 75 skipped, at most." in found.stdout
    assert "client 4.9.8–5.0.0-PREVIEW on broker 5.5.0: as now" in found.stdout
    assert "client 5.0.0 on broker 5.5.0: 1 queue changed; 0 messages are consumed again, 75 skipped" in found.stdout
    assert "broker-a:0 starts at 75 (now starts at 0), 75 skipped" in found.stdout
    assert [each.returncode for each in within] == [0, 1, 0]
    assert refused.returncode == 1
    assert "It is refused: SYSTEM_ERROR, a queue has no stored offset" in refused.stdout


def test_an_upgrade_names_the_switches_between_the_present_release_and_the_next(tmp_path: Path) -> None:
    with cluster("4.9.3", {0: 100}) as broker:
        words = (broker.address, "--group", GROUP, "--topic", TOPIC, "--format", "json")
        found = kit("predict", "upgrade", *words, "--broker", "5.5.0", "--client", "4.9.3", cwd=tmp_path)
    topic = json.loads(found.stdout)["topics"][0]
    assert found.returncode == 1
    assert (topic["repeats"], topic["skips"]) == (0, 75)
    moved = {"broker": "broker-a", "queue": 0, "now": 0, "then": 75, "repeats": 0, "skips": 75}
    assert topic["starts"] == [{"clients": "4.9.3", "brokers": [{"releases": "5.5.0", "queues": [moved]}]}]
    assert "BQ-PULL-3" in {switch["id"] for change in topic["changes"] for switch in change["switches"]}


def test_groups_that_cannot_be_read_end_an_upgrade_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object) -> None:
        raise CannotRunError("The broker does not answer.")

    with cluster(stored={0: 7}) as broker:
        broker.create_group("idle")
        idle = kit("predict", "upgrade", broker.address, "--all", "--broker", "5.5.0", cwd=tmp_path)
    assert idle.returncode == 0
    assert "Upgrade of broker 5.5.0: 1 group, 1 more consume nothing" in idle.stdout
    monkeypatch.setattr(ClusterReader, "read", fails)
    with cluster(stored={0: 7}) as broker:
        every = kit("predict", "upgrade", broker.address, "--all", "--broker", "5.5.0", cwd=tmp_path)
    assert every.returncode == 4
    assert "app: The broker does not answer." in every.stdout
    assert "1 of the groups could not be read: app." in every.stderr


def test_equal_client_ids_leave_queues_without_an_owner(tmp_path: Path) -> None:
    found = kit("predict", "allocation", "--members", "a@1,b@1,a@1", "--queues", "x:4,y:4", cwd=tmp_path)
    assert found.returncode == 1
    assert "Members share a client id: a@1. 3 queues have no owner: x 3, y 0-1." in found.stdout
    for strategy in ("AVG_BY_CIRCLE", "CONSISTENT_HASH"):
        assert kit(*MEMBERS, "--strategy", strategy, cwd=tmp_path).returncode == 0
    rooms = ("--members", "r@a,r@b", "--queues", "r@x:4", "--strategy", "MACHINE_ROOM", "--rooms", "r")
    assert kit("predict", "allocation", *rooms, cwd=tmp_path).returncode == 0


BAD: list[tuple[tuple[str, ...], int, str]] = [
    (("predict", "start"), 2, "Name the name servers of a cluster"),
    (("predict", "start", "127.0.0.1:1"), 2, "--group"),
    (("predict", "start", "127.0.0.1:1", "--group", "g"), 4, "No name server at 127.0.0.1:1 answers"),
    (("predict", "start", "nowhere", "--group", "g"), 4, "write HOST:PORT"),
    (("predict", "start", "127.0.0.1:1", "--group", "g", "--client", "five"), 2, "is not a RocketMQ release"),
    (("predict", "start", "127.0.0.1:1", "--group", "g", "--from", "yesterday"), 2, "20260131120000"),
    (("predict", "start", "127.0.0.1:1", "--group", "g", "--from", "20260131120000", "--zone", "Mars"), 2, "time zone"),
    (("predict", "start", "--state", "missing.json"), 2, "cannot be read"),
    (("predict", "start", "--state", "broken.json"), 2, "is no JSON"),
    (("predict", "start", "--state", "other.json"), 2, "'format' is missing"),
    (("predict", "start", "--state", "typo.json"), 2, "'brokerz' is no field"),
    (("predict", "start", "--state", "queue.json"), 2, "min 5 and max 3"),
    (("predict", "start", "--state", "good.json", "--group", "h"), 2, "is about the group 'g'"),
    (("predict", "start", "--state", "good.json", "--topic", "u"), 2, "has no topic 'u'; it has t"),
    (("predict", "start", "--state", "good.json", "--kind", "lite", "--client", "4.5.2"), 2, "no lite pull consumer"),
    (("predict", "start", "127.0.0.1:1", "--state", "good.json"), 2, "and not both"),
    (("predict", "reset", "--state", "two.json", "--to", "end"), 2, "the group consumes t, u: name it with --topic"),
    (("predict", "reset", "--state", "two.json", "--topic", "t", "--topic", "u", "--to", "end"), 2, "of one topic"),
    (("predict", "reset", "--state", "good.json", "--topic", "t", "--to", "now"), 2, "write end, beginning or a time"),
    (("predict", "reset", "--state", "good.json", "--topic", "t", "--to", "20260131120000"), 2, "the year 2612 in ms"),
    (("predict", "reset", "--state", "good.json", "--topic", "t", "--to", "5"), 2, "is about the time None"),
    (("predict", "failover"), 2, "or give --broker and --queue"),
    (("predict", "failover", "127.0.0.1:1"), 2, "--group"),
    (("predict", "failover", "--broker", "5.5.0"), 2, "--broker and --queue go together"),
    (("predict", "failover", "--queue", "1/1/1"), 2, "--broker and --queue go together"),
    (("predict", "failover", "--broker", "5.5.0", "--queue", "1/1"), 2, "write MASTER/SLAVE/MAX"),
    (("predict", "failover", "--broker", "5.5.0", "--queue", "1/1/1", "--group", "g"), 2, "replace a cluster"),
    (("predict", "failover", "--broker", "4.9.7", "--queue", "1/1/1", "--acting"), 2, "is there from 5.0.0 on"),
    (("predict", "failover", "127.0.0.1:1", "--group", "g"), 4, "No name server at 127.0.0.1:1 answers"),
    (("predict", "upgrade", "--state", "good.json", "--broker", "5.5.0..4.9.4"), 2, "write the older one first"),
    (("predict", "upgrade", "--state", "good.json", "--broker", "4.9.9"), 2, "4.9.9 is none of the releases"),
    (("predict", "upgrade", "--state", "good.json", "--broker", "5.5.0", "--all"), 2, "--all is about the groups"),
    (("predict", "allocation", "--state", "good.json"), 2, "has no members"),
    (("predict", "allocation", "--members", "a"), 2, "--members and --queues go together"),
    (("predict", "allocation", "--members", ",", "--queues", "4"), 2, "write client ids"),
    (("predict", "allocation", "--members", "a", "--queues", "none"), 2, "names no queues"),
    (("predict", "allocation", "--members", "a", "--queues", "4", "--state", "good.json"), 2, "replace a cluster"),
    ((*MEMBERS, "--leave", "c"), 2, "c is no member"),
    ((*MEMBERS, "--strategy", "MACHINE_ROOM"), 2, "--rooms"),
    ((*MEMBERS, "--strategy", "CONSISTENT_HASH", "--client", "4.0.0"), 2, "no consistent hashing"),
    (("predict", "state", "127.0.0.1:1", "--group", "g", "--out", "no/such/folder"), 4, "No name server"),
    (("predict", "state", "127.0.0.1:1", "--group", "g", "--time", "20260131120000"), 2, "the year 2612 in ms"),
]


def test_what_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    queue = {"topic": "t", "broker": "b", "queue": 0, "min": 0, "max": 3, "answer": None, "stored": None}
    good = {"format": 1, "group": "g", "brokers": [{"name": "b", "release": "5.5.0"}], "queues": [queue]}
    files: dict[str, object] = {
        "good.json": good,
        "other.json": {},
        "typo.json": {**good, "brokers": [{"name": "b", "release": "5.5.0", "brokerz": 1}]},
        "two.json": {**good, "queues": [queue, {**queue, "topic": "u"}]},
        "queue.json": {**good, "queues": [{**queue, "min": 5}]},
    }
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "broken.json").write_text("{")
    offenders = []
    for words, code, sentence in BAD:
        ended = kit(*words, cwd=tmp_path)
        last = ended.stderr.strip().splitlines()[-1] if ended.stderr.strip() else ""
        if ended.returncode != code or sentence not in last or "Traceback" in ended.stderr:
            offenders.append((words, ended.returncode, last))
    assert offenders == []


@pytest.mark.parametrize("command", ["start", "reset", "allocation", "upgrade", "state"])
def test_help_says_what_each_command_does(command: str, tmp_path: Path) -> None:
    ended = kit("predict", command, "--help", cwd=tmp_path)
    assert ended.returncode == 0
    assert re.search(r"Predict|Write", ended.stdout)
