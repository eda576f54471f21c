"""Real brokers that ask for credentials and for TLS."""

from __future__ import annotations

from pathlib import Path

import pytest
from guarded import certificates

from rocketmq_conformance.conformance import api
from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.guard import Guard
from rocketmq_conformance.conformance.remoting.access import Access, Credentials
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker.access_settings import PREFIX, access_of, settings_of
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.conformance.targets.broker.process import JavaProcess
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.event import CONFORMS, RunEnded

pytestmark = pytest.mark.broker
NAME, KEY = "conformance-account", 'a\\secret"ké y'
ASKING = {"4.9.7": "aclEnable", "5.5.0": "authenticationEnabled"}


@pytest.mark.parametrize("version", ASKING)
def test_a_broker_with_accounts_and_tls(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One broker of a release: it conforms, restarts included, and what it is not given is named."""
    made = certificates(tmp_path)
    settings = {
        "ACCESS_KEY": NAME,
        "SECRET_KEY": KEY,
        "TLS": "on",
        "TLS_CA": str(made.authority),
        "TLS_BROKER_CERTIFICATE": str(made.server),
        "TLS_BROKER_KEY": str(made.server_key),
    }
    for name, value in settings.items():
        monkeypatch.setenv(PREFIX + name, value)
    started = open_address(f"broker:{version}?set={ASKING[version]}=true")
    assert isinstance(started, BrokerAdapter)
    try:
        assert started.hello().broker == version
        running = started.shared_addresses()[0]
        refuses_as_the_fake_one(version, running)
        suites = ["broker-admin", "broker-offsets", "broker-assignment"]
        assert verdict_of(running, suites) == CONFORMS
        source = started.source
        assert isinstance(source, StartedBroker)
        process = source.broker.process
        assert isinstance(process, JavaProcess)
        lines = [Path(f"/proc/{process.pid}/{name}").read_bytes() for name in ("cmdline", "environ")]
        assert not any(text.encode() in line for line in lines for text in (NAME, KEY))
        for changed, sentence in (
            ({"SECRET_KEY": "another"}, "refuses the credentials"),
            ({"ACCESS_KEY": None, "SECRET_KEY": None}, "asks for credentials"),
            ({"TLS_CA": None}, "certificate of the broker at .* is not trusted"),
            ({name: None for name in settings if name.startswith("TLS")}, "asks for TLS"),
        ):
            with monkeypatch.context() as patch:
                for name, value in changed.items():
                    patch.setenv(PREFIX + name, value or "")
                other = open_address(running)
                with pytest.raises(CannotRunError, match=sentence):
                    other.hello()
                other.close()
    finally:
        started.close()


def refuses_as_the_fake_one(version: str, running: str) -> None:
    """Requests that the account has not signed are refused with code and remark of the fake broker's guard."""
    host, port = running.removeprefix("broker:").partition("?")[0].split(":")
    guard = Guard(Credentials(NAME, KEY), release=Release.parse(version))
    tls = access_of(settings_of()).tls
    for account in (None, Credentials(NAME, "another"), Credentials("another-account", KEY)):
        access = Access(account, tls)
        with Connection(host, int(port), access=access) as connection:
            for request, ext in (
                (Request.HEART_BEAT, {}),
                (Request.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "G"}),
                (Request.QUERY_CONSUMER_OFFSET, {"consumerGroup": "G", "topic": "T", "queueId": "0"}),
            ):
                seen = connection.call(int(request), ext, b"{}")
                signed = account.signed(ext, b"{}") if account else ext
                expected = guard.refusal(Command(int(request), signed, b"{}"))
                assert expected is not None
                assert seen.code == expected.code
                assert seen.remark.startswith(access.redacted(expected.remark))


def verdict_of(address: str, suites: list[str]) -> str:
    ended = list(api.run(address, suites=suites, cases=16, seed=1, tiers=["seeded"]))[-1]
    assert isinstance(ended, RunEnded)
    return ended.verdict
