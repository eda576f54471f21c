"""What the brokers of a case ask of those who connect, TLS and an account, and who was refused for what.

Requests are refused as brokers of the release refuse them: with ACL 1.0 up to 5.2.0, and ACL 2.0 from 5.3.0 on. Name
servers ask for no account, and what they answer needs no signature.
"""

from __future__ import annotations

import hmac

from rocketmq_conformance.conformance.remoting.access import ACCESS_KEY, SIGNATURE, Credentials
from rocketmq_conformance.conformance.remoting.codes import Response, request_name
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.proxy import NAME_SERVER_REQUESTS
from rocketmq_conformance.conformance.remoting.server_tls import server_context
from rocketmq_conformance.models.release import NEWEST, Release

#: The first release with ACL 2.0.
_ACL_2 = Release(5, 3, 0)
_WHERE = "org.apache.rocketmq.acl.plain.PlainPermissionManager.validate"
#: What brokers remark, with ACL 1.0 and 2.0, on a request without an account, of another one, and of a wrong signature.
_UNSIGNED, _STRANGER, _WRONG = "without a signature", "in the name of another account", "with a wrong signature"
_REMARKS = {
    _UNSIGNED: ("No accessKey is configured", "username cannot be null."),
    _STRANGER: ("No acl config for {}", "User:{} is not found."),
    _WRONG: ("Check signature failed for accessKey={}", "check signature failed."),
}


class Guard:
    """The guard of the brokers of one case. It asks for TLS and an account, or for neither."""

    def __init__(self, account: Credentials | None = None, tls: bool = False, release: Release = NEWEST) -> None:
        self.account = account
        self._newer = release >= _ACL_2
        #: Why handshakes of TLS failed.
        self.handshakes: list[str] = []
        self.context = server_context(self.handshakes) if tls else None
        #: How requests came that were refused, by the name of their kind; each as it came first.
        self.refused: dict[str, str] = {}
        #: Was any request signed as it should be?
        self.signed = False

    def refusal(self, request: Command) -> Command | None:
        """The answer to a request that is refused, None to any other."""
        if self.account is None:
            return None
        how = self._fault(request, self.account)
        self.signed = self.signed or not how
        if not how or request.code in NAME_SERVER_REQUESTS:
            return None
        self.refused.setdefault(request_name(request.code), how)
        older, newer = (text.format(request.ext.get(ACCESS_KEY)) for text in _REMARKS[how])
        if self._newer:
            return Command(int(Response.NO_PERMISSION), remark=newer)
        return Command(
            int(Response.SYSTEM_ERROR), remark=f"org.apache.rocketmq.acl.common.AclException: {older}, {_WHERE}"
        )

    @property
    def sentence(self) -> str:
        """Which requests were refused, and why; "" when none was."""
        return ", ".join(f"{name} came {how}" for name, how in self.refused.items())

    @property
    def handshake(self) -> str:
        """What is to be done about handshakes that failed, in a sentence; "" when none did."""
        if not self.handshakes:
            return ""
        reason = self.handshakes[-1].replace("_", " ").lower()
        if "alert" in reason:
            return f"It refused the TLS handshake ({reason}): let it trust the certificate in ROCKETMQ_TLS_CA."
        return f"What it sent is no TLS ({reason}): let it encrypt its connections, as ROCKETMQ_TLS says."

    @staticmethod
    def _fault(request: Command, account: Credentials) -> str:
        """How a request came that is not signed by the account, "" for one that is."""
        name = request.ext.get(ACCESS_KEY)
        if name is None:
            return _UNSIGNED
        if name != account.access_key:
            return _STRANGER
        fields = {key: value for key, value in request.ext.items() if key != SIGNATURE}
        expected = account.signed(fields, request.body)[SIGNATURE]
        return "" if hmac.compare_digest(expected, request.ext.get(SIGNATURE, "")) else _WRONG


#: A guard that asks for nothing.
OPEN = Guard()
