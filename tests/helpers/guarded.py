"""A guard in front of a server, as ACL 1.0, ACL 2.0 and TLS are in front of a broker, and certificates for it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rocketmq_conformance.conformance.remoting.frame import RESPONSE, Command, decode, encode

#: How the two kinds of ACL answer a request without an account, and one whose signature is wrong: code and remark.
ACL_1 = {
    "no account": (1, "org.apache.rocketmq.acl.common.AclException: No accessKey is configured, org.apache.rocketmq"),
    "wrong": (1, "org.apache.rocketmq.acl.common.AclException: Check signature failed for accessKey={name}, org"),
}
ACL_2 = {"no account": (16, "username cannot be null."), "wrong": (16, "check signature failed.")}


@dataclass(frozen=True)
class Certificates:
    """An authority's certificate, and a certificate of 127.0.0.1 and one of a client with their keys, as PEM files."""

    authority: Path
    server: Path
    server_key: Path
    client: Path
    client_key: Path


def certificates(folder: Path) -> Certificates:
    """Made by an authority that exists for this test alone; the keys are PKCS #8, which Java reads."""
    import trustme
    from cryptography.hazmat.primitives import serialization

    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    for name, identity in (("server", "127.0.0.1"), ("client", "client.test")):
        issued = authority.issue_cert(identity)
        (folder / f"{name}.pem").write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), None)
        text = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (folder / f"{name}.key").write_bytes(text)
    paths = (folder / name for name in ("authority.pem", "server.pem", "server.key", "client.pem", "client.key"))
    return Certificates(*paths)


@dataclass(frozen=True, kw_only=True)
class Guard:
    """What is asked for: an account and its secret key, or nothing; TLS, and a certificate of the client's."""

    refusals: dict[str, tuple[int, str]] | None = None
    account: tuple[str, str] = ("", "")
    #: Request codes that the account may not use.
    forbidden: frozenset[int] = frozenset()
    tls: Certificates | None = None
    wants_client: bool = False

    def refusal(self, request: Command) -> Command | None:
        """The answer to a request that is not let through."""
        if self.refusals is None:
            return None
        name, key = self.account
        if "AccessKey" not in request.ext:
            code, remark = self.refusals["no account"]
        elif request.ext["AccessKey"] != name or request.ext.get("Signature") != _signature(request, key):
            code, remark = self.refusals["wrong"]
        elif request.code in self.forbidden:
            code, remark = 16, "User:somebody has no permission to access Topic:a from 127.0.0.1, decision: deny"
        else:
            return None
        remark = remark.format(name=request.ext.get("AccessKey"))
        return Command(code, opaque=request.opaque, flag=RESPONSE, remark=remark)


def _signature(request: Command, key: str) -> str:
    values = [value for name, value in sorted(request.ext.items()) if name != "Signature"]
    content = "".join(values).encode() + request.body
    return base64.b64encode(hmac.new(key.encode(), content, hashlib.sha1).digest()).decode()


@contextmanager
def guarded(address: str, guard: Guard) -> Iterator[str]:
    """The address of the guard in front of the server at an address."""
    host, _, port = address.rpartition(":")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    accepted = listening.accept()[0]
                    threading.Thread(target=serve, args=(accepted,), daemon=True).start()

        def serve(line: socket.socket) -> None:
            with suppress(OSError), line:
                begins_as_tls = line.recv(1, socket.MSG_PEEK) == b"\x16"
                if begins_as_tls != (guard.tls is not None):
                    return
                client = _context(guard).wrap_socket(line, server_side=True) if guard.tls else line
                with client, socket.create_connection((host, int(port))) as server:
                    lock = threading.Lock()
                    threading.Thread(target=_pass_on, args=(server, client, lock), daemon=True).start()
                    while (frame := _frame(client)) is not None:
                        refused = guard.refusal(decode(frame[4:]))
                        if refused is None:
                            server.sendall(frame)
                        else:
                            with lock:
                                client.sendall(encode(refused))

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)


def _context(guard: Guard) -> ssl.SSLContext:
    assert guard.tls is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(guard.tls.server, guard.tls.server_key)
    if guard.wants_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(guard.tls.authority)
    return context


def _pass_on(source: socket.socket, target: socket.socket, lock: threading.Lock) -> None:
    with suppress(OSError):
        while frame := _frame(source):
            with lock:
                target.sendall(frame)


def _frame(line: socket.socket) -> bytes | None:
    """The next whole frame; None at the end."""
    found = b""
    wanted = 4
    while len(found) < wanted:
        chunk = line.recv(wanted - len(found))
        if not chunk:
            return None
        found += chunk
        if len(found) == 4 and wanted == 4:
            wanted += int.from_bytes(found, "big")
    return found
