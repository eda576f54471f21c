"""TLS of the kit's own servers on loopback: their certificate, and why handshakes failed.

The certificate is of 127.0.0.1, ::1 and localhost and is valid until 2120. It is part of the kit, its key too: it
secures nothing, and is there so that clients can encrypt and verify. The key of the authority that vouches for it was
not kept, so that a client which trusts the authority trusts this one certificate.
"""

from __future__ import annotations

import ssl
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

AUTHORITY, BROKER = "authority.pem", "broker.pem"
_FOLDER = resources.files("rocketmq_conformance.conformance.remoting") / "certificates"


def write_authority(folder: Path) -> Path:
    """Write the certificate of the authority (PEM) into a folder: the file that clients are to trust."""
    path = folder / AUTHORITY
    path.write_bytes(_FOLDER.joinpath(AUTHORITY).read_bytes())
    return path


def server_context(failures: list[str]) -> ssl.SSLContext:
    """How servers encrypt. The reason of every handshake that fails is added to ``failures``, in OpenSSL's words: one
    with "ALERT" in it is the client's, any other means that what came is no TLS that the server speaks."""

    class Noted(ssl.SSLObject):
        """Notes why its handshake failed, which asyncio keeps to itself."""

        def do_handshake(self) -> None:
            """Do a step of the handshake."""
            try:
                super().do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                raise
            except ssl.SSLError as error:
                failures.append(error.reason or str(error))
                raise

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory(prefix="rocketmq-certificate-") as folder:
        path = Path(folder) / BROKER
        path.write_bytes(_FOLDER.joinpath(BROKER).read_bytes())
        context.load_cert_chain(path)
    context.sslobject_class = Noted
    return context
