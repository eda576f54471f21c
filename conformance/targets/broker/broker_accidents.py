"""Plays the suite ``broker-accidents`` on a broker that the kit started: frozen, killed or cut off between requests."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.broker.broker_concurrent import (
    PART as CONCURRENT,
)
from rocketmq_conformance.conformance.targets.broker.broker_concurrent import (
    beside,
    exchange,
    may_have_expired,
    written,
)
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.process_control import ProcessControl
from rocketmq_conformance.conformance.targets.broker.requests_at_once import Exchanged, Fault
from rocketmq_conformance.models.broker.broker_process import RUNNING
from rocketmq_conformance.models.broker.lifecycle import KILL
from rocketmq_conformance.models.broker.overlapping import FREEZE, Request, cut_last
from rocketmq_conformance.models.outcome import Ok, Outcome
from rocketmq_conformance.suites.broker_accidents import FAULTS_OF, AtOnceBefallen, CutBeside
from rocketmq_conformance.suites.broker_concurrent import KINDS

#: For how long the broker is frozen (s): everything that is asked meanwhile comes at the same time.
FROZEN_FOR = 0.05


def cut(names: CaseNames, by: int) -> Requests:
    """Have a client's last request sent over a connection that is cut then."""
    names.beside = [*(cut_last(names.beside, by) or names.beside)]
    yield from ()
    return None


def at_once(control: ProcessControl) -> Outcome:
    """Send what was put beside each other, and let befall the broker what is between: the history."""
    played: list[tuple[list[Request], list[Exchanged]]] = []

    def play(names: CaseNames) -> Requests:
        played.append(exchange(names, _faults(control, names)))
        yield from ()
        return None

    outcome = control.connection.first_job(play)
    if not isinstance(outcome, Ok):
        return outcome
    [(asked, exchanged)] = played
    return control.connection.first_job(partial(written, asked=asked, exchanged=exchanged))


def _faults(control: ProcessControl, names: CaseNames) -> dict[str, Fault]:
    def resume() -> None:
        control.managed.resume()
        control.state = RUNNING

    def kill() -> None:
        late = may_have_expired(names)
        control.restart(KILL)
        if not late:  # it knows of no lock any more
            names.locking = names.clock.monotonic()

    return {
        FREEZE: Fault("is frozen", control.pause, resume, FROZEN_FOR),
        KILL: Fault("is killed, and started again", kill),
    }


PART = Part(
    jobs={
        **{made: CONCURRENT.jobs[made] for made in KINDS},
        **{made: beside(kind) for made, kind in FAULTS_OF.items()},
        CutBeside: cut,
    },
    controls={AtOnceBefallen: at_once},
    lanes=1,
    needs=CONCURRENT.needs | {Need.PROCESS},
)
