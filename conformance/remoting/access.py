"""Access to servers that ask for it: requests signed with credentials, and TLS."""

from __future__ import annotations

import base64
import hmac
import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from socket import socket

#: Header fields of a signed request.
ACCESS_KEY, SECURITY_TOKEN, SIGNATURE = "AccessKey", "SecurityToken", "Signature"
#: Stands for a secret in texts.
HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Credentials:
    """An account. Its secrets are in no text that is made of it."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str = field(default="", repr=False)

    def signed(self, ext: Mapping[str, str], body: bytes) -> dict[str, str]:
        """The header fields of a request with those that sign it.

        The signature is the HMAC-SHA1 of all values in the order of their names, followed by the body
        (AclClientRPCHook#doBeforeRequest, AclUtils#combineRequestContent).
        """
        found = {**ext, ACCESS_KEY: self.access_key}
        if self.security_token:
            found[SECURITY_TOKEN] = self.security_token
        content = "".join(found[name] for name in sorted(found)).encode() + body
        digest = hmac.digest(self.secret_key.encode(), content, "sha1")
        found[SIGNATURE] = base64.b64encode(digest).decode()
        return found


@dataclass(frozen=True)
class Tls:
    """How connections are encrypted; ``context`` decides which certificates are taken."""

    context: ssl.SSLContext = field(repr=False)
    #: The name that the server's certificate must have; "" is the host of the address.
    server_name: str = ""

    def wrapped(self, plain: socket, host: str) -> ssl.SSLSocket:
        """The encrypted socket, after the handshake; ConnectionError with half a sentence when that fails."""
        try:
            return self.context.wrap_socket(plain, server_hostname=self.server_name or host)
        except TimeoutError:
            raise
        except ssl.SSLCertVerificationError as error:
            raise CertificateError(error.verify_message.rstrip(".")) from error
        except OSError as error:
            raise NoTlsError(_reason(error)) from error


class CertificateError(ConnectionError):
    """The server's certificate is not trusted; the text is the reason."""


class NoTlsError(ConnectionError):
    """The handshake of TLS failed; the text is the reason."""


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    return error.strerror or str(error)


@dataclass(frozen=True)
class Access:
    """What a server asks for before it answers; nothing unless given."""

    credentials: Credentials | None = None
    tls: Tls | None = None
    #: Further secrets, such as the password of a key.
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def redacted(self, text: str) -> str:
        """A text without secrets, as they are and as JSON writes them, and without the name of the account."""
        if not self._hidden or not text:
            return text
        return self._hidden.sub(HIDDEN, text)

    @cached_property
    def _hidden(self) -> re.Pattern[str] | None:
        secrets = set(self.secrets)
        names = []
        if self.credentials:
            secrets |= {self.credentials.secret_key, self.credentials.security_token}
            # a short one may be a part of other words, such as a package's
            names = [rf"(?<![\w.]){re.escape(self.credentials.access_key)}(?![\w.])"]
        # the broker's log has whole requests
        signatures = [rf"(?<={SIGNATURE}=)[\w+/=]+"] if self.credentials else []
        spelled = {one for secret in secrets if secret for one in (secret, json.dumps(secret)[1:-1])}
        patterns = [re.escape(one) for one in sorted(spelled, key=len, reverse=True)]
        patterns += names + signatures
        return re.compile("|".join(patterns)) if patterns else None


#: Access to a server that asks for nothing.
OPEN = Access()
