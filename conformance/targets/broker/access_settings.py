"""How brokers are reached: credentials and TLS, from environment variables or one file, and from nothing else.

An address, a plan or an option would show them to others; ``list properties`` says how they are given.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from pathlib import Path

from rocketmq_conformance.conformance.remoting.access import Access, Credentials, Tls
from rocketmq_conformance.reports.given_file import text_of

PREFIX = "ROCKETMQ_CONFORMANCE_"
#: The file that may hold the settings instead, as lines NAME=VALUE.
FILE = f"{PREFIX}ACCESS_FILE"
ACCESS_KEY, SECRET_KEY = f"{PREFIX}ACCESS_KEY", f"{PREFIX}SECRET_KEY"
SECURITY_TOKEN = f"{PREFIX}SECURITY_TOKEN"
TLS, TLS_CA = f"{PREFIX}TLS", f"{PREFIX}TLS_CA"
TLS_CERTIFICATE, TLS_KEY, TLS_KEY_PASSWORD = f"{PREFIX}TLS_CERTIFICATE", f"{PREFIX}TLS_KEY", f"{PREFIX}TLS_KEY_PASSWORD"
TLS_SERVER_NAME = f"{PREFIX}TLS_SERVER_NAME"
TLS_BROKER_CERTIFICATE, TLS_BROKER_KEY = f"{PREFIX}TLS_BROKER_CERTIFICATE", f"{PREFIX}TLS_BROKER_KEY"

#: The settings, and what each of them is.
MEANINGS: Mapping[str, str] = {
    ACCESS_KEY: "the name of the account: the access key of ACL 1.0, the user of ACL 2.0",
    SECRET_KEY: "its secret key, or password",
    SECURITY_TOKEN: "its security token, if it has one",
    TLS: "`on`, `off` (the default), or `insecure`: encrypted, whatever the broker's certificate is",
    TLS_CA: "the file of certificates (PEM) that vouch for the broker's; the system's unless given",
    TLS_CERTIFICATE: "the file of our own certificate (PEM), for a broker that asks for one",
    TLS_KEY: "the file of its private key (PEM)",
    TLS_KEY_PASSWORD: "the password of that key",
    TLS_SERVER_NAME: "the name in the broker's certificate, when it is not the host of the address",
    TLS_BROKER_CERTIFICATE: "for `broker:VERSION`: the file of the certificate (PEM) that the kit gives to its broker",
    TLS_BROKER_KEY: "for `broker:VERSION`: the file of its private key (PEM, PKCS #8, without a password)",
}
_MODES = ("on", "off", "insecure")
_FILES = (TLS_CA, TLS_CERTIFICATE, TLS_KEY, TLS_BROKER_CERTIFICATE, TLS_BROKER_KEY)


def settings_of(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The settings by name, those of the environment before those of the file; ValueError with a sentence."""
    found = {name: value for name in MEANINGS if (value := environment.get(name))}
    path = environment.get(FILE)
    return {**_read(Path(path)), **found} if path else found


def without_settings(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """An environment without the settings: that of programs which the kit starts."""
    return {name: value for name, value in environment.items() if name not in MEANINGS and name != FILE}


def access_of(settings: Mapping[str, str]) -> Access:
    """The access that these settings describe; ValueError with a sentence, without any value that is secret."""
    mode = settings.get(TLS, "off")
    if mode not in _MODES:
        raise ValueError(f"{TLS} is {mode!r}; write one of {', '.join(_MODES)}.")
    beside = [name for name in settings if name.startswith(f"{TLS}_")]
    if mode == "off" and beside:
        raise ValueError(f"{beside[0]} is set, and {TLS} is off; set {TLS}=on too.")
    for name in _FILES:
        if name in settings and not Path(settings[name]).is_file():
            raise ValueError(f"{name} names no file: {settings[name]!r}.")
    for one, other in ((TLS_CERTIFICATE, TLS_KEY), (TLS_BROKER_CERTIFICATE, TLS_BROKER_KEY)):
        _both(settings, one, other)
    password = settings.get(TLS_KEY_PASSWORD, "")
    tls = None if mode == "off" else Tls(_context(settings, mode), settings.get(TLS_SERVER_NAME, ""))
    return Access(_credentials(settings), tls, (password,))


def _credentials(settings: Mapping[str, str]) -> Credentials | None:
    _both(settings, ACCESS_KEY, SECRET_KEY)
    if ACCESS_KEY in settings:
        return Credentials(settings[ACCESS_KEY], settings[SECRET_KEY], settings.get(SECURITY_TOKEN, ""))
    if SECURITY_TOKEN in settings:
        raise ValueError(f"{SECURITY_TOKEN} is set without {ACCESS_KEY} and {SECRET_KEY}; set them too.")
    return None


def _both(settings: Mapping[str, str], one: str, other: str) -> None:
    for name, missing in ((one, other), (other, one)):
        if name in settings and missing not in settings:
            raise ValueError(f"{name} is set without {missing}; set both.")


def _context(settings: Mapping[str, str], mode: str) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=settings.get(TLS_CA))
    except (OSError, ValueError):  # an SSLError is an OSError
        raise ValueError(f"{TLS_CA} holds no certificates: write PEM into {settings[TLS_CA]!r}.") from None
    if mode == "insecure":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if TLS_CERTIFICATE in settings:
        try:
            # an empty password: without one, Python would ask on the terminal
            context.load_cert_chain(
                settings[TLS_CERTIFICATE], settings[TLS_KEY], lambda: settings.get(TLS_KEY_PASSWORD, "")
            )
        except (OSError, ValueError):
            raise ValueError(
                f"{TLS_CERTIFICATE} and {TLS_KEY} do not go together: write a certificate and its key, as PEM, and "
                f"set {TLS_KEY_PASSWORD} when the key has a password."
            ) from None
    return context


def _read(path: Path) -> dict[str, str]:
    """The settings in a file, whose names may lack the prefix; the sentences name no line's text."""
    try:
        lines = text_of(path).splitlines()
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"{FILE} names no file that can be read as text: {str(path)!r}.") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name = PREFIX + name.strip().removeprefix(PREFIX)
        if not equals or name not in MEANINGS:
            raise ValueError(
                f"Line {number} of {str(path)!r} is no setting; write NAME=VALUE, such as ACCESS_KEY=… ("
                f"{', '.join(name.removeprefix(PREFIX) for name in MEANINGS)})."
            )
        if value.strip():
            found[name] = value.strip()
    return found
