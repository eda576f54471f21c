"""What the members of a run are given so that they can connect: an account, and TLS, where the run asks for these."""

from __future__ import annotations

import secrets
from pathlib import Path
from tempfile import TemporaryDirectory

from rocketmq_conformance.conformance.fakes.guard import OPEN, Guard
from rocketmq_conformance.conformance.remoting.access import Credentials
from rocketmq_conformance.conformance.remoting.server_tls import write_authority
from rocketmq_conformance.models.release import Release

#: The name of the account; its secret key is another one in each run.
ACCOUNT = "conformance-member"


class GivenAccess:
    """The access of the members of one run; its files are there until it is closed."""

    def __init__(self, credentials: bool = False, tls: bool = False) -> None:
        self._account = Credentials(ACCOUNT, secrets.token_hex(16)) if credentials else None
        self._folder = TemporaryDirectory(prefix="rocketmq-authority-") if tls else None
        self._variables: dict[str, str] = {}
        if self._account is not None:
            self._variables["ROCKETMQ_ACCESS_KEY"] = self._account.access_key
            self._variables["ROCKETMQ_SECRET_KEY"] = self._account.secret_key
        if self._folder is not None:
            self._variables["ROCKETMQ_TLS"] = "on"
            self._variables["ROCKETMQ_TLS_CA"] = str(write_authority(Path(self._folder.name)))

    def guard(self, release: Release) -> Guard:
        """What the brokers of a case, of this release, ask for."""
        if self._account is None and self._folder is None:
            return OPEN
        return Guard(self._account, self._folder is not None, release)

    @property
    def variables(self) -> dict[str, str]:
        """The environment that members get beside that of their case."""
        return self._variables

    def close(self) -> None:
        """Remove the files; twice does no harm."""
        if self._folder is not None:
            self._folder.cleanup()
