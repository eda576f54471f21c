"""A conformance test kit for the consumer side of Apache RocketMQ.

The names of this module are the public interface; docs/reference/api.md says what each is for. Each is imported when
it is first used, so that importing the package costs nothing. The four rooms of the house are subpackages: ``models``
(what must be true), ``suites`` (what to try), ``conformance`` (how to try it) and ``reports`` (what was seen).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.adapter import (
        Adapter,
        AdapterError,
        CannotRunError,
        Case,
        Hello,
        VirtualClock,
    )
    from rocketmq_conformance.conformance.api import run
    from rocketmq_conformance.conformance.campaign.api import campaign
    from rocketmq_conformance.conformance.cli.main import main
    from rocketmq_conformance.conformance.fakes.broker import FakeBroker
    from rocketmq_conformance.conformance.predict.allocation import GroupMembers, predict_allocation
    from rocketmq_conformance.conformance.predict.api import consumer_of, read_group, read_pair
    from rocketmq_conformance.conformance.predict.facts import GroupFacts
    from rocketmq_conformance.conformance.predict.failover import predict_failover
    from rocketmq_conformance.conformance.predict.reset import predict_reset
    from rocketmq_conformance.conformance.predict.start import Consumer, PredictError, StartPrediction, predict_start
    from rocketmq_conformance.conformance.predict.upgrade import predict_upgrade
    from rocketmq_conformance.conformance.startup import report_progress
    from rocketmq_conformance.conformance.targets.address import AddressError
    from rocketmq_conformance.conformance.targets.offset_file_damage import damage_offset_file
    from rocketmq_conformance.conformance.targets.opener import open_address
    from rocketmq_conformance.conformance.targets.port.adapter import Port
    from rocketmq_conformance.models.message_queue import MessageQueue
    from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
    from rocketmq_conformance.models.profile import Profile
    from rocketmq_conformance.models.rule import Answer, Level, Origin, Reason, Rule
    from rocketmq_conformance.reports.event import (
        CaseEnded,
        DivergenceFound,
        Event,
        Progress,
        RulesJudged,
        RunEnded,
        RunStarted,
        SuiteEnded,
        SuiteStarted,
    )
    from rocketmq_conformance.suites.declare.discovery import SUITES
    from rocketmq_conformance.suites.declare.domain import (
        ANSWER,
        Drawn,
        Duration,
        Fault,
        Requests,
        Subset,
        Values,
        Whole,
    )
    from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
    from rocketmq_conformance.suites.declare.suite import BoundModel, Suite

__version__ = "0.2.0"

__all__ = [
    "ANSWER",
    "SUITES",
    "Adapter",
    "AdapterError",
    "AddressError",
    "Answer",
    "BoundModel",
    "CannotRunError",
    "Case",
    "CaseEnded",
    "Consumer",
    "DivergenceFound",
    "Drawn",
    "Duration",
    "Err",
    "Event",
    "FakeBroker",
    "Fault",
    "GroupFacts",
    "GroupMembers",
    "Hello",
    "Level",
    "MessageQueue",
    "Ok",
    "Operation",
    "Origin",
    "Outcome",
    "Port",
    "PredictError",
    "Profile",
    "Progress",
    "Reason",
    "Requests",
    "Rule",
    "RulesJudged",
    "RunEnded",
    "RunStarted",
    "Side",
    "StartPrediction",
    "Subset",
    "Suite",
    "SuiteEnded",
    "SuiteStarted",
    "Unsupported",
    "Values",
    "VirtualClock",
    "Whole",
    "campaign",
    "consumer_of",
    "damage_offset_file",
    "main",
    "open_address",
    "operation",
    "predict_allocation",
    "predict_failover",
    "predict_reset",
    "predict_start",
    "predict_upgrade",
    "read_group",
    "read_pair",
    "report_progress",
    "run",
]

#: The public names by the module that has them.
_MODULES = {
    "conformance.adapter": ("Adapter", "AdapterError", "CannotRunError", "Case", "Hello", "VirtualClock"),
    "conformance.api": ("run",),
    "conformance.campaign.api": ("campaign",),
    "conformance.cli.main": ("main",),
    "conformance.fakes.broker": ("FakeBroker",),
    "conformance.predict.allocation": ("GroupMembers", "predict_allocation"),
    "conformance.predict.api": ("consumer_of", "read_group", "read_pair"),
    "conformance.predict.facts": ("GroupFacts",),
    "conformance.predict.failover": ("predict_failover",),
    "conformance.predict.reset": ("predict_reset",),
    "conformance.predict.start": ("Consumer", "PredictError", "StartPrediction", "predict_start"),
    "conformance.predict.upgrade": ("predict_upgrade",),
    "conformance.startup": ("report_progress",),
    "conformance.targets.address": ("AddressError",),
    "conformance.targets.offset_file_damage": ("damage_offset_file",),
    "conformance.targets.opener": ("open_address",),
    "conformance.targets.port.adapter": ("Port",),
    "models.message_queue": ("MessageQueue",),
    "models.outcome": ("Err", "Ok", "Outcome", "Unsupported"),
    "models.profile": ("Profile",),
    "models.rule": ("Answer", "Level", "Origin", "Rule", "Reason"),
    "reports.event": (
        "CaseEnded",
        "DivergenceFound",
        "Event",
        "Progress",
        "RulesJudged",
        "RunEnded",
        "RunStarted",
        "SuiteEnded",
        "SuiteStarted",
    ),
    "suites.declare.discovery": ("SUITES",),
    "suites.declare.domain": ("ANSWER", "Drawn", "Duration", "Fault", "Requests", "Subset", "Values", "Whole"),
    "suites.declare.operation": ("Operation", "Side", "operation"),
    "suites.declare.suite": ("BoundModel", "Suite"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
