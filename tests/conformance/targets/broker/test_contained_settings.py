"""Real brokers in real containers, with properties of their address, accounts and TLS."""

from __future__ import annotations

from pathlib import Path

import pytest
from guarded import certificates

from rocketmq_conformance.conformance import api
from rocketmq_conformance.conformance.targets.broker.access_settings import PREFIX
from rocketmq_conformance.reports.event import CONFORMS, RunEnded, RunStarted

pytestmark = pytest.mark.container


def test_a_property_of_the_address_is_judged() -> None:
    address = "broker:5.5.0?via=container&set=useServerSideResetOffset=false&set=lockInStrictMode=true"
    ended = list(api.run(address, suites=["broker-admin", "broker-locks"], cases=8, seed=1))
    assert isinstance(ended[0], RunStarted)
    assert [one["name"] for one in ended[0].properties] == ["lockInStrictMode", "useServerSideResetOffset"]
    assert isinstance(ended[-1], RunEnded)
    assert (ended[-1].verdict, ended[-1].divergences) == (CONFORMS, 0)
    assert {"BQ-LOCK-STRICT", "BQ-RESET-1"} <= {str(row[0]) for one in ended for row in getattr(one, "coverage", ())}


def test_it_asks_for_an_account_and_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = certificates(tmp_path)
    settings = {
        "ACCESS_KEY": "conformance-account",
        "SECRET_KEY": "a-secret-key",
        "TLS": "on",
        "TLS_CA": str(made.authority),
        "TLS_BROKER_CERTIFICATE": str(made.server),
        "TLS_BROKER_KEY": str(made.server_key),
    }
    for name, value in settings.items():
        monkeypatch.setenv(PREFIX + name, value)
    address = "broker:4.9.7?via=container&set=aclEnable=true"
    ended = list(api.run(address, suites=["broker-offsets"], cases=8, seed=1))[-1]
    assert isinstance(ended, RunEnded)
    assert (ended.verdict, ended.divergences) == (CONFORMS, 0)
