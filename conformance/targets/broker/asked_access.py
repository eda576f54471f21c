"""Access that a broker of the kit's own asks for: its accounts and its certificate, as its release keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocketmq_conformance.conformance.remoting.access import OPEN, Access, Credentials
from rocketmq_conformance.conformance.targets.broker.access_settings import (
    ACCESS_KEY,
    SECRET_KEY,
    TLS_BROKER_CERTIFICATE,
    TLS_BROKER_KEY,
    access_of,
)
from rocketmq_conformance.conformance.targets.broker.launch_config import NO_TLS
from rocketmq_conformance.models.release import Release

#: The properties that have a broker ask for credentials: ACL 1.0, and ACL 2.0.
ACL, AUTHENTICATION, AUTHORIZATION = "aclEnable", "authenticationEnabled", "authorizationEnabled"
#: First release with TLS, the first of which an account may use topics that its file does not name
#: (PlainPermissionLoader#checkPerm), and the first without ACL 1.0.
_TLS, _ACL, _NO_ACL = Release(4, 3, 0), Release(4, 5, 0), Release(5, 3, 3)
#: ACL 1.0 takes no shorter name of an account, and no shorter secret key.
_SHORTEST = 7
_PROVIDERS = {
    AUTHENTICATION: (
        "authenticationMetadataProvider",
        "org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider",
    ),
    AUTHORIZATION: (
        "authorizationMetadataProvider",
        "org.apache.rocketmq.auth.authorization.provider.LocalAuthorizationMetadataProvider",
    ),
}


@dataclass(frozen=True, slots=True)
class AskedAccess:
    """What a broker asks for, and how one that asks for it is set up."""

    access: Access = OPEN
    #: Properties beside those of its address.
    properties: Mapping[str, str] = field(default_factory=dict)
    #: Texts of files in its folder ``conf``, by name; HOME stands for the folder of the broker.
    files: Mapping[str, str] = field(default_factory=dict)

    def prepare(self, home: Path) -> tuple[str, ...]:
        """Write the files; the flags of the Java runtime that name them, or that spare a broker its TLS."""
        folder = home / "conf"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            path = folder / name
            path.touch(mode=0o600)
            path.write_text(text.replace(_HOME, str(home)))
        if self.access.tls is None:
            return NO_TLS
        # without TLS it asks name servers: the kit's has none
        return ("-Dtls.server.mode=enforcing", "-Dtls.enable=false", f"-Dtls.config.file={folder / _TLS_FILE}")


_HOME = "{home}"
_TLS_FILE, _CERTIFICATE_FILE, _KEY_FILE = "tls.properties", "broker.pem", "broker.key"
#: A broker that asks for nothing.
NOTHING = AskedAccess()


def asked_access(release: Release, properties: Mapping[str, str], settings: Mapping[str, str]) -> AskedAccess:
    """The access that a broker with these properties asks for; ValueError with a sentence when it cannot be given."""
    access = access_of(settings)
    files = _accounts(release, properties, access.credentials)
    if access.tls is not None:
        files |= _certificate(release, settings)
    return AskedAccess(access, _users(properties, access.credentials), files)


def _accounts(release: Release, properties: Mapping[str, str], credentials: Credentials | None) -> dict[str, str]:
    """The accounts of ACL 1.0, as YAML."""
    if properties.get(ACL) != "true":
        return {}
    if release >= _NO_ACL:
        raise ValueError(f"A broker {release} has no ACL 1.0; write set={AUTHENTICATION}=true, which is ACL 2.0.")
    if release < _ACL:
        raise ValueError(f"ACL of {release} lets no account use topics that its file does not name; judge {_ACL}.")
    given = _given(ACL, credentials)
    if min(len(given.access_key), len(given.secret_key)) < _SHORTEST:
        raise ValueError(f"ACL 1.0 takes an access key and a secret key of {_SHORTEST} characters or more; set others.")
    account = {"accessKey": given.access_key, "secretKey": given.secret_key, "admin": True}
    return {"plain_acl.yml": f"accounts:\n- {json.dumps(account)}\n"}  # JSON is YAML


def _users(properties: Mapping[str, str], credentials: Credentials | None) -> dict[str, str]:
    """The properties that make the account the first user of ACL 2.0."""
    enabled = [name for name in _PROVIDERS if properties.get(name) == "true"]
    if not enabled:
        return {}
    given = _given(enabled[0], credentials)
    user = json.dumps({"username": given.access_key, "password": given.secret_key})
    wanted = {
        # a backslash begins an escape in a file of properties
        "initAuthenticationUser": user.replace("\\", "\\\\"),
        **dict(_PROVIDERS.values()),
    }
    return {name: value for name, value in wanted.items() if name not in properties}


def _given(name: str, credentials: Credentials | None) -> Credentials:
    if credentials is None:
        raise ValueError(f"A broker with {name}=true asks for credentials; set {ACCESS_KEY} and {SECRET_KEY}.")
    return credentials


def _certificate(release: Release, settings: Mapping[str, str]) -> dict[str, str]:
    if release < _TLS:
        raise ValueError(f"A broker {release} has no TLS, which came with {_TLS}; leave its settings away.")
    if TLS_BROKER_CERTIFICATE not in settings:
        raise ValueError(
            f"A broker that the kit starts with TLS needs a certificate; set {TLS_BROKER_CERTIFICATE} and "
            f"{TLS_BROKER_KEY}."
        )
    lines = (
        "tls.test.mode.enable=false",
        "tls.server.need.client.auth=none",
        f"tls.server.certPath={_HOME}/conf/{_CERTIFICATE_FILE}",
        f"tls.server.keyPath={_HOME}/conf/{_KEY_FILE}",
    )
    return {
        _TLS_FILE: "".join(f"{line}\n" for line in lines),
        _CERTIFICATE_FILE: Path(settings[TLS_BROKER_CERTIFICATE]).read_text("utf-8"),
        _KEY_FILE: Path(settings[TLS_BROKER_KEY]).read_text("utf-8"),
    }
