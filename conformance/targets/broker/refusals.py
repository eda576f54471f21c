"""Sentences on brokers that cannot be talked to for lack of credentials or of TLS: what was seen, and what to do."""

from __future__ import annotations

import ssl

from rocketmq_conformance.conformance.remoting.access import Access, CertificateError, NoTlsError, Tls
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Response, response_name
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.host_port import host_port
from rocketmq_conformance.conformance.targets.broker.access_settings import (
    ACCESS_KEY,
    SECRET_KEY,
    TLS,
    TLS_CA,
    TLS_CERTIFICATE,
    TLS_KEY,
    TLS_SERVER_NAME,
)

#: How ACL 1.0 refuses (with SYSTEM_ERROR and the name of a class), and ACL 2.0 (with NO_PERMISSION).
_ACL = "org.apache.rocketmq.acl."
_AUTHENTICATION = ("username cannot be null", "check signature failed", "User:")
_AUTHORIZATION = "has no permission to access"
#: Timeout of the question whether a server speaks TLS (s).
_PATIENCE = 5.0


def refuses_account(answer: Command) -> bool:
    """Is the response about who asks, not about what is asked for?"""
    if answer.code == Response.SYSTEM_ERROR:
        return _ACL in answer.remark
    return answer.code == Response.NO_PERMISSION and (
        answer.remark.startswith(_AUTHENTICATION) or _AUTHORIZATION in answer.remark
    )


def refused_account(place: str, answer: Command, access: Access) -> str:
    """A broker does not answer this account."""
    seen = f"{response_name(answer.code)} {answer.remark}".strip().rstrip(".")
    if access.credentials is None:
        return f"The broker at {place} asks for credentials ({seen}): set {ACCESS_KEY} and {SECRET_KEY}."
    return (
        f"The broker at {place} refuses the credentials ({seen}): set {ACCESS_KEY} and {SECRET_KEY} to those of an "
        "account that may do everything, as an administrator or super user may."
    )


def not_encrypted(place: str, error: OSError) -> str:
    """The handshake of TLS failed; "" when that is not the reason."""
    if isinstance(error, CertificateError):
        return (
            f"The certificate of the broker at {place} is not trusted ({error}): name the certificate of its CA in "
            f"{TLS_CA}, or its name in {TLS_SERVER_NAME}, or set {TLS}=insecure."
        )
    if isinstance(error, NoTlsError):
        if "alert" in str(error):
            return f"The broker at {place} refuses the TLS handshake ({error}): {_OWN_CERTIFICATE}."
        return f"The broker at {place} has no TLS ({error}): unset {TLS}, or enable TLS there."
    return ""


def broken(connection: Connection) -> str:
    """Why a server may have closed a connection at the first request; "" when access is not the reason."""
    place = connection.address
    if connection.access.tls is not None:
        return f"The broker at {place} closed the encrypted connection: {_OWN_CERTIFICATE}."
    return f"The broker at {place} asks for TLS: set {TLS}=on." if _speaks_tls(place) else ""


_OWN_CERTIFICATE = f"set {TLS_CERTIFICATE} and {TLS_KEY} if it asks for a certificate of ours"


def _speaks_tls(place: str) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        Connection(*host_port(place), _PATIENCE, access=Access(tls=Tls(context))).close()
    except OSError:
        return False
    return True
