"""Opening what is judged: from its address to who it is, which suites it offers, and which releases judge it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rocketmq_conformance.conformance.adapter import Adapter, Hello, KeepsLog, ShowLine, ShowsLines
from rocketmq_conformance.conformance.engine.handshake import introduce, offering
from rocketmq_conformance.conformance.engine.limits import LONGEST_WAIT, PATIENCE, START_TIMEOUT
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.startup import Listener, starting, unseen
from rocketmq_conformance.conformance.targets.address_kinds import Address
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.suite import Suite


@dataclass(frozen=True, slots=True)
class Opening:
    """How an implementation is opened, and by which releases it is judged."""

    target: str | Address | Adapter
    releases: Mapping[str, str] = field(default_factory=dict)
    patience: float = PATIENCE
    max_wait: float = LONGEST_WAIT
    start_timeout: float = START_TIMEOUT


@contextmanager
def opened(
    opening: Opening,
    suites: Sequence[Suite],
    *,
    log: Path | None = None,
    on_start: Listener = unseen,
    on_line: ShowLine | None = None,
) -> Iterator[tuple[Stage, Hello, Profile]]:
    """Open an implementation, and ask it who it is and which of the suites it offers.

    ``log`` is a folder for what it writes by itself; ``on_line`` is called with every line to and from it.
    """
    stage: Stage | None = None
    target = opening.target
    try:
        with starting(opening.start_timeout, on_start):
            adapter = open_address(target) if isinstance(target, str | Address) else target
            stage = Stage(adapter, Profile(), opening.patience, opening.max_wait)
            if log and isinstance(adapter, KeepsLog):
                adapter.keep_log(log)
            if on_line and isinstance(adapter, ShowsLines):
                adapter.show_lines(on_line)
            hello, profile = introduce(stage, opening.releases)
            hello = offering(stage, hello, suites)
        yield stage, hello, profile
    finally:
        if stage:
            stage.close()
