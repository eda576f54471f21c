"""Credentials and TLS of brokers: how they are given, how they are used, what is said without them, and where they are
not to be found."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from every import every
from guarded import ACL_1, ACL_2, Certificates, Guard, certificates, guarded
from waiting import wait_until

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.access import HIDDEN, Access, Credentials
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.access_settings import (
    FILE,
    MEANINGS,
    PREFIX,
    access_of,
    settings_of,
)
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.asked_access import asked_access
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import broker_offsets
from rocketmq_conformance.suites.broker_offsets import Commit, Query

Refusals = dict[str, tuple[int, str]]
NAME, KEY, TOKEN = "conformance-account", 'a\\secret"ké y', "a-token-of-it"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with FakeBroker(Profile(), auto_create=False) as broker:
        yield broker.address


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)


def give(monkeypatch: pytest.MonkeyPatch, **values: object) -> None:
    for name, value in values.items():
        monkeypatch.setenv(PREFIX + name, str(value))


def opened(address: str) -> BrokerAdapter:
    adapter = open_address(f"broker:{address}")
    assert isinstance(adapter, BrokerAdapter)
    return adapter


def sentence(address: str) -> str:
    """What is said about a broker that cannot be talked to."""
    adapter = opened(address)
    try:
        with pytest.raises(CannotRunError) as caught:
            adapter.hello()
    finally:
        adapter.close()
    return str(caught.value)


# --- use ------------------------------------------------------------------------------------------------------------


def test_a_signature_is_that_of_the_java_client() -> None:
    signed = Credentials("rocketmq2", "12345678", "token").signed({"topic": "T", "queueId": "3"}, b"body")
    # HMAC-SHA1 of "rocketmq2" "token" "3" "T" and the body, by openssl dgst -sha1 -hmac 12345678 -binary | base64
    assert signed == {
        "topic": "T",
        "queueId": "3",
        "AccessKey": "rocketmq2",
        "SecurityToken": "token",
        "Signature": "RupCsEFTL2EhmTq5V81S+ZbLUAU=",
    }


@pytest.mark.parametrize("refusals", [ACL_1, ACL_2])
def test_every_request_is_signed(server: str, monkeypatch: pytest.MonkeyPatch, refusals: Refusals) -> None:
    give(monkeypatch, ACCESS_KEY=NAME, SECRET_KEY=KEY, SECURITY_TOKEN=TOKEN)
    with guarded(server, Guard(refusals=refusals, account=(NAME, KEY))) as address:
        _plays(address)


def test_connections_are_encrypted_both_ends_known(
    server: str, monkeypatch: pytest.MonkeyPatch, made: Certificates
) -> None:
    give(monkeypatch, TLS="on", TLS_CA=made.authority, TLS_CERTIFICATE=made.client, TLS_KEY=made.client_key)
    with guarded(server, Guard(tls=made, wants_client=True)) as address:
        _plays(address)


@pytest.mark.parametrize("settings", [{"TLS": "insecure"}, {"TLS": "on", "TLS_SERVER_NAME": "127.0.0.1"}])
def test_a_certificate_that_is_taken(
    server: str, monkeypatch: pytest.MonkeyPatch, made: Certificates, settings: dict[str, str]
) -> None:
    give(monkeypatch, **settings)
    if settings["TLS"] == "on":
        give(monkeypatch, TLS_CA=made.authority)
    with guarded(server, Guard(tls=made)) as address:
        place = address if settings["TLS"] == "insecure" else address.replace("127.0.0.1", "localhost")
        _plays(place)


def _plays(address: str) -> None:
    adapter = opened(address)
    try:
        assert adapter.hello().broker == str(Profile().broker)
        adapter.reset_many([(0, broker_offsets.SUITE)])
        assert adapter.apply(Commit(0, 0, 0, 5)) == Ok()
        adapter._members.send_and_cut(_commit(adapter, 6), "sent")
        wait_until(lambda: adapter.apply(Query(0, 0, 0, None)) == Ok(6))
    finally:
        adapter.close()


def _commit(adapter: BrokerAdapter, offset: int) -> requests.Ask:
    names = adapter._lanes[0]
    return requests.commit(names.used_group(0), names.topic(0), 0, offset)


# --- sentences ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refusals", [ACL_1, ACL_2])
def test_credentials_that_are_missing_or_wrong(
    server: str, monkeypatch: pytest.MonkeyPatch, refusals: Refusals
) -> None:
    with guarded(server, Guard(refusals=refusals, account=(NAME, KEY))) as address:
        message = sentence(address)
        assert message.startswith(f"The broker at {address} asks for credentials (")
        assert message.endswith("set ROCKETMQ_CONFORMANCE_ACCESS_KEY and ROCKETMQ_CONFORMANCE_SECRET_KEY.")
        give(monkeypatch, ACCESS_KEY=NAME, SECRET_KEY="another key")
        message = sentence(address)
    assert message.startswith(f"The broker at {address} refuses the credentials (")
    assert NAME not in message
    assert "another key" not in message


def test_an_account_that_may_not_do_everything_ends_the_run(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, ACCESS_KEY=NAME, SECRET_KEY=KEY)
    forbidden = frozenset({int(Request.UPDATE_CONSUMER_OFFSET)})
    with guarded(server, Guard(refusals=ACL_2, account=(NAME, KEY), forbidden=forbidden)) as address:
        adapter = opened(address)
        adapter.reset_many([(0, broker_offsets.SUITE)])
        with pytest.raises(AdapterError, match=r"refuses a request to this account .* may do everything"):
            adapter.apply(Commit(0, 0, 0, 5))
        adapter.close()


def test_tls_that_is_asked_for_and_not_there(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, TLS="on")
    with guarded(server, Guard()) as address:
        assert sentence(address).startswith(f"The broker at {address} has no TLS (")


def test_tls_that_is_there_and_not_asked_for(server: str, made: Certificates) -> None:
    with guarded(server, Guard(tls=made)) as address:
        assert sentence(address) == f"The broker at {address} asks for TLS: set ROCKETMQ_CONFORMANCE_TLS=on."


def test_a_certificate_that_is_not_taken(server: str, monkeypatch: pytest.MonkeyPatch, made: Certificates) -> None:
    give(monkeypatch, TLS="on")
    with guarded(server, Guard(tls=made)) as address:
        message = sentence(address)
        assert f"The certificate of the broker at {address} is not trusted (" in message
        assert "ROCKETMQ_CONFORMANCE_TLS_CA" in message
        give(monkeypatch, TLS_CA=made.authority, TLS_SERVER_NAME="another.test")
        assert "another.test" in sentence(address)


def test_a_certificate_of_ours_that_is_missing(
    server: str, monkeypatch: pytest.MonkeyPatch, made: Certificates
) -> None:
    give(monkeypatch, TLS="on", TLS_CA=made.authority)
    with guarded(server, Guard(tls=made, wants_client=True)) as address:
        message = sentence(address)
    assert f"set {PREFIX}TLS_CERTIFICATE and {PREFIX}TLS_KEY if it asks for a certificate of ours." in message


# --- settings -------------------------------------------------------------------------------------------------------


def test_a_file_holds_what_the_environment_does_not(tmp_path: Path) -> None:
    path = tmp_path / "access"
    path.write_text(f"# of the test cluster\nACCESS_KEY = of-the-file\n\n{PREFIX}SECRET_KEY={KEY}\nSECURITY_TOKEN=\n")
    settings = settings_of({FILE: str(path), f"{PREFIX}ACCESS_KEY": NAME})
    assert access_of(settings).credentials == Credentials(NAME, KEY)


def test_the_page_has_every_setting() -> None:
    page = (Path(__file__).parents[4] / "docs" / "guides" / "access.md").read_text()
    assert [line for name, meaning in MEANINGS.items() if (line := f"| `{name}` | {meaning} |") not in page] == []
    assert f"| `{FILE}` |" in page


def test_nothing_is_asked_for_unless_given() -> None:
    assert access_of(settings_of({})) == Access(secrets=("",))


@every(
    ("settings", "message"),
    [
        ({"ACCESS_KEY": NAME}, "ACCESS_KEY is set without ROCKETMQ_CONFORMANCE_SECRET_KEY; set both"),
        ({"SECRET_KEY": KEY}, "SECRET_KEY is set without ROCKETMQ_CONFORMANCE_ACCESS_KEY; set both"),
        ({"SECURITY_TOKEN": TOKEN}, "SECURITY_TOKEN is set without"),
        ({"TLS": "maybe"}, "TLS is 'maybe'; write one of on, off, insecure"),
        ({"TLS_CA": "x"}, "TLS_CA is set, and ROCKETMQ_CONFORMANCE_TLS is off; set ROCKETMQ_CONFORMANCE_TLS=on too"),
        ({"TLS": "on", "TLS_CA": "/no/such"}, "TLS_CA names no file: '/no/such'"),
        ({"TLS": "on", "TLS_CA": __file__}, "TLS_CA holds no certificates"),
        ({"TLS": "on", "TLS_KEY": __file__}, "TLS_KEY is set without ROCKETMQ_CONFORMANCE_TLS_CERTIFICATE"),
        ({"TLS": "on", "TLS_CERTIFICATE": __file__, "TLS_KEY": __file__}, "do not go together"),
        ({"ACCESS_FILE": "/no/such"}, "ACCESS_FILE names no file that can be read as text: '/no/such'"),
        ({"ACCESS_FILE": __file__}, "is no setting; write NAME=VALUE, such as ACCESS_KEY=…"),
    ],
)
def test_a_wrong_setting_says_what_to_write(settings: dict[str, str], message: str) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        give(monkeypatch, **settings)
        with pytest.raises(AddressError) as caught:
            open_address("broker:127.0.0.1:10911")
    assert message in str(caught.value)
    assert KEY not in str(caught.value)


# --- brokers that the kit starts ------------------------------------------------------------------------------------


def test_a_started_broker_gets_the_account_and_the_certificate(tmp_path: Path, made: Certificates) -> None:
    account = {f"{PREFIX}ACCESS_KEY": NAME, f"{PREFIX}SECRET_KEY": KEY}
    tls = {
        f"{PREFIX}TLS": "on",
        f"{PREFIX}TLS_BROKER_CERTIFICATE": str(made.server),
        f"{PREFIX}TLS_BROKER_KEY": str(made.server_key),
    }
    first = asked_access(Release(4, 9, 7), {"aclEnable": "true"}, account | tls)
    flags = first.prepare(tmp_path)
    assert KEY not in "".join(flags)
    assert "-Dtls.server.mode=enforcing" in flags
    accounts = tmp_path / "conf" / "plain_acl.yml"
    assert '"secretKey": "a\\\\secret\\"k\\u00e9 y"' in accounts.read_text()
    assert accounts.stat().st_mode & 0o077 == 0
    assert f"tls.server.keyPath={tmp_path}/conf/broker.key" in (tmp_path / "conf" / "tls.properties").read_text()
    second = asked_access(Release(5, 5, 0), {"authenticationEnabled": "true"}, account)
    assert second.properties["initAuthenticationUser"].endswith('"password": "a\\\\\\\\secret\\\\"k\\\\u00e9 y"}')
    assert second.files == {}
    assert asked_access(Release(5, 5, 0), {}, {}).prepare(tmp_path) == ("-Dtls.server.mode=disabled",)


@every(
    ("version", "properties", "settings", "message"),
    [
        ("4.9.7", {"aclEnable": "true"}, {}, "A broker with aclEnable=true asks for credentials; set"),
        ("5.5.0", {"authorizationEnabled": "true"}, {}, "A broker with authorizationEnabled=true asks for"),
        ("5.5.0", {"aclEnable": "true"}, {}, "A broker 5.5.0 has no ACL 1.0; write set=authenticationEnabled=true"),
        ("4.4.0", {"aclEnable": "true"}, {}, "lets no account use topics that its file does not name"),
        ("4.9.7", {"aclEnable": "true"}, {"ACCESS_KEY": "short", "SECRET_KEY": KEY}, "of 7 characters or more"),
        ("4.2.0", {}, {"TLS": "insecure"}, "A broker 4.2.0 has no TLS, which came with 4.3.0"),
        ("5.5.0", {}, {"TLS": "insecure"}, "needs a certificate; set ROCKETMQ_CONFORMANCE_TLS_BROKER_CERTIFICATE"),
        ("4.9.7", {"authenticationEnabled": "true"}, {}, "A broker 4.9.7 has no property 'authenticationEnabled'"),
        ("5.5.0", {"initAuthenticationUser": "{}"}, {}, "initAuthenticationUser has a password in it"),
        ("5.5.0", {"authenticationEnabled": "1"}, {}, "authenticationEnabled cannot be '1'; write true or false"),
    ],
)
def test_what_a_started_broker_cannot_ask_for(
    version: str, properties: dict[str, str], settings: dict[str, str], message: str
) -> None:
    query = "&".join(f"set={name}={value}" for name, value in properties.items())
    with pytest.MonkeyPatch.context() as monkeypatch:
        give(monkeypatch, **settings)
        with pytest.raises(AddressError) as caught:
            open_address(f"broker:{version}?{query}")
    assert message in str(caught.value)


# --- secrecy --------------------------------------------------------------------------------------------------------


def test_texts_are_without_secrets() -> None:
    access = Access(Credentials(NAME, KEY, TOKEN), secrets=("of-the-key",))
    json = r'{"password":"a\\secret\"k\u00e9 y"}'
    text = f"accessKey={NAME}, {KEY} {TOKEN} of-the-key {json} Signature=aB+/=}}"
    assert access.redacted(text).count(HIDDEN) == 6
    assert not any(secret in access.redacted(text) for secret in (KEY, TOKEN, "of-the-key", "aB+/"))
    assert Access(Credentials("rocketmq", "x" * 9)).redacted("org.apache.rocketmq.acl") == "org.apache.rocketmq.acl"
    assert KEY not in repr(access)


def test_a_run_shows_its_secrets_to_nobody(tmp_path: Path, made: Certificates) -> None:
    mutant = MUTANTS["reset-not-stored"]
    settings = tmp_path / "settings"
    settings.write_text(
        f"ACCESS_KEY={NAME}\nSECRET_KEY={KEY}\nSECURITY_TOKEN={TOKEN}\nTLS=on\nTLS_CA={made.authority}\n"
    )
    out = tmp_path / "out"
    with (
        FakeBroker(Profile(), auto_create=False, parts=mutant.parts) as broker,
        guarded(broker.address, Guard(refusals=ACL_1, account=(NAME, KEY), tls=made)) as address,
    ):
        command = [sys.executable, "-m", "rocketmq_conformance", "run", f"broker:{address}", "-k", "broker-admin"]
        code, shown, seen = watched(
            [*command, "--tier", "seeded", "--cases", "3", "--seed", "2", "--out", str(out), "-v"],
            {FILE: str(settings)},
        )
        assert code == 1, shown
        plans = sorted(out.glob("*.plan.jsonl"))
        assert plans
        replay = [sys.executable, "-m", "rocketmq_conformance", "replay", str(plans[0]), f"broker:{address}"]
        _, more, again = watched(replay, {FILE: str(settings)})
    written = {str(path): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert {"report.html", "events.jsonl"} <= {Path(path).name for path in written}
    texts = written | {"output": (shown + more).encode(), "processes": seen + again}
    assert str(settings).encode() not in seen + again
    for secret in (KEY, KEY[:8], TOKEN, NAME):
        assert [where for where, text in texts.items() if secret.encode() in text] == []


def watched(command: list[str], settings: dict[str, str]) -> tuple[int, str, bytes]:
    """Run a command: its exit code, its output, and the command lines of all processes while it ran."""
    seen: set[bytes] = set()
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(path.read_bytes())
                except OSError:  # it has ended
                    continue

    looker = threading.Thread(target=look)
    looker.start()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **settings}, timeout=300, check=False
        )
    finally:
        ended.set()
        looker.join()
    return done.returncode, done.stdout + done.stderr, b"\n".join(sorted(seen))
