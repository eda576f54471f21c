"""The command ``serve`` on a terminal, and its log."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import kit
from rich.console import Console

from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.cli.serve import open_log
from rocketmq_conformance.conformance.cli.serving import snapshot, watch
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.wire_log import WireLog
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import fields
from rocketmq_conformance.models.release import KNOWN
from rocketmq_conformance.reports.serve_view import QueueRow

PATIENCE = 30.0
HEARTBEAT = json.dumps({"clientID": "c1", "consumerDataSet": [{"groupName": "G", "subscriptionDataSet": []}]}).encode()
QUEUE = {"topic": "T", "brokerName": "broker-a", "queueId": 1}
LOCK = json.dumps({"consumerGroup": "G", "clientId": "c1", "mqSet": [QUEUE]}).encode()
COMMIT = fields(consumerGroup="G", topic="T", queueId=0, commitOffset=1)


def test_it_shows_what_the_broker_holds() -> None:
    log, ended = WireLog(), threading.Event()
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    with FakeBroker() as broker:
        broker.create_topic("T", 2)
        broker.send("T", b"one")
        broker.observe(log)
        host, port = broker.address.split(":")
        with Connection(host, int(port), PATIENCE) as line:
            line.call(Request.HEART_BEAT, None, HEARTBEAT)
            line.call(Request.UPDATE_CONSUMER_OFFSET, COMMIT)
            line.call(Request.LOCK_BATCH_MQ, None, LOCK)
            now = snapshot(broker)
            shows = threading.Thread(target=watch, args=(broker, log, ended, console))
            shows.start()
            output = console.file
            assert isinstance(output, io.StringIO)
            while "LOCK_BATCH_MQ" not in output.getvalue():
                assert shows.is_alive()
            ended.set()
            shows.join(PATIENCE)
    assert (now.connections, now.requests, now.members) == (1, 3, {"G": ["c1"]})
    assert now.queues == [
        QueueRow(group="G", topic="T", queue=0, stored=1, max=1, locked_by=""),
        QueueRow(group="G", topic="T", queue=1, stored=None, max=0, locked_by="c1"),
    ]


def test_a_release_that_the_rules_do_not_know_is_none_to_answer_as(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketmq_conformance.conformance.fakes.serve.serve", lambda *args, **options: None)
    known, newer = (CliRunner().invoke(cli, ["serve", "--with", f"broker={one}"]) for one in (KNOWN, "9.9.9"))
    assert (known.exit_code, known.output) == (0, "")
    assert newer.exit_code == 2
    assert f"broker 9.9.9 is newer than {KNOWN}, the newest the rules know: serve it as {KNOWN}" in newer.output


def test_the_log_is_appended_to(tmp_path: Path) -> None:
    for text in ("one\n", "two\n"):
        with open_log(tmp_path / "log") as file:
            assert file is not None
            file.write(text)
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
    with open_log(None) as file:
        assert file is None


def test_a_log_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    ended = kit("serve", "--log", "nowhere/log", cwd=tmp_path)
    assert ended.returncode == 4
    assert ended.stderr == "Error: cannot write nowhere/log (No such file or directory); name another file with --log\n"
