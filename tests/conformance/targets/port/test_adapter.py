"""The bundled port against the model: by calls, by operations, and over sockets; and that it has its own mind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, cast

import pytest
from every import every
from predicted_broker import TOPIC, cluster

from rocketmq_conformance.conformance.adapter import AdapterError, Case
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets import port as package
from rocketmq_conformance.conformance.targets.discovery import not_played, part_of
from rocketmq_conformance.conformance.targets.port import transport
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Ok, Result, Unsupported, agrees, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.broker_offsets import SUITE as BROKER_OFFSETS
from rocketmq_conformance.suites.declare.answer_parts import filled
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

PROFILE = Profile()
SEED = 23
PORTED = sorted(name for name, suite in SUITES.items() if part_of(package.__name__, suite.family))
#: Suites whose part asks the broker, and so can be played over sockets.
ASKING = sorted(name for name in PORTED if any(op.spec.faults for op in SUITES[name].operations))
MODULES = sorted(Path(package.__file__).parent.glob("*.py"))

#: What the port may know of the kit's models: words, numbers and types, never a rule.
ALLOWED = {
    "models.outcome": {"Err", "Ok", "Outcome", "Result", "Unsupported", "Value", "outcome_of"},
    "models.message_queue": {"MessageQueue"},
    "models.broker.state": {"RETRY"},
    "models.client.member_settings": {"MEMBER_TIMESTAMP", "TIMESTAMP_TEXT", "VIRTUAL_NODES"},
    "models.client.plan_words": {"EVERY", "FAILS", "HOLDS", "NOTHING", "NO_QUEUE", "SUCCEEDS"},
    "models.client.topology": {"Topology"},
    # the names of what arrives
    "models.message_forms": {"BATCH", "LONG_HOSTS", "LONG_NAME"},
    # how an answer numbers the queues of another topic, and how many messages a load has
    "models.client.whole_moves": {"FILLED", "LOADED", "OTHER_QUEUES", "SPANNED", "STRETCHED"},
    "models.profile": {"Profile"},
    # by which release a case is judged
    "models.release": {"Release"},
}

Play = Callable[[Row], Result]


@pytest.fixture
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A stage with a port that talks as the test's parameter says, by calls when it says nothing."""
    made = Stage(Port(via=getattr(request, "param", "call")), PROFILE)
    yield made
    made.close()


class SettledConnection(Connection):
    """A connection to a fake broker of this process, which waits until that is idle instead of for seconds."""

    settle: ClassVar[Callable[[], None]]

    def call(
        self, code: int, ext: dict[str, str] | None = None, body: bytes = b"", timeout: float | None = None
    ) -> Command:
        self.post(code, ext, body)
        type(self).settle()
        try:
            return self.collect(timeout=0)
        except TimeoutError:
            self.forget()
            raise


@pytest.fixture
def settled(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A response that is not there when the broker is idle does not come: no second of a busy machine counts."""
    monkeypatch.setattr(SettledConnection, "settle", stage.settle, raising=False)
    monkeypatch.setattr(transport, "Connection", SettledConnection)


def first_difference(stage: Stage, suite: Suite, cases: int, play: Play) -> str | None:
    """The first row that is answered otherwise than the model says, within so many cases."""
    bound, drawn = suite.bind(PROFILE), sampler(suite, PROFILE)
    for case in range(cases):
        state = bound.initial
        stage.begin(suite, case)
        for row in drawn.case(SEED, case, suite.steps):
            spec = suite.operations[row[0]].spec
            if spec.guard is not None and not spec.guard(state):
                continue
            state, expected, why = bound.by_position[row[0]](state, *row[1])
            observed, _ = filled(spec, expected, play(row))
            if not agrees(expected, observed):
                return f"case {case}: {suite.operation(row)} answers {observed!r}, not {expected!r} ({why})"
    return None


def done(stage: Stage, suite: Suite) -> Play:
    """Plays rows as operations."""

    def play(row: Row) -> Result:
        outcome = stage.do(suite, row)
        assert not isinstance(outcome, Unsupported), outcome.reason
        return result_of(outcome)

    return play


@every("name", PORTED)
def test_the_port_is_the_model_by_operations_and_by_calls(name: str, stage: Stage) -> None:
    """In a few cases: the main job, ``tox run -e conformance``, judges it by hundreds of each suite."""
    suite = SUITES[name]
    calls = stage.calls(suite)
    assert calls is not None
    assert first_difference(stage, suite, 20, done(stage, suite)) is None
    assert first_difference(stage, suite, 20, lambda row: calls[row[0]](*row[1])) is None


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("stage", ["tcp"], indirect=True)
@pytest.mark.parametrize("name", ASKING)
def test_the_port_is_the_model_over_sockets(name: str, stage: Stage) -> None:
    suite = SUITES[name]
    assert stage.calls(suite) is None
    assert first_difference(stage, suite, 15, done(stage, suite)) is None


def test_a_connection_that_broke_is_not_used_again_for_routes_either() -> None:
    with cluster() as broker, closing(transport.Sockets()) as sockets:
        sockets.begin(cast(Case, SimpleNamespace(name_server=lambda: broker.address)))
        broker.faults.arm(Request.GET_ROUTEINFO_BY_TOPIC, "cut*1")
        with pytest.raises(ConnectionError):
            sockets.route(TOPIC)
        assert transport.masters(sockets.route(TOPIC))


def test_every_client_suite_has_a_part() -> None:
    sides = {Side(side) for side in Port().hello().sides}
    assert sides == {Side.PURE, Side.CLIENT, Side.WHOLE, Side.GRPC}
    assert set(PORTED) == {name for name, suite in SUITES.items() if suite.side in sides}


def test_a_suite_without_a_module_is_unsupported_by_itself() -> None:
    assert Port().hello().unsupported == {}
    assert part_of(package.__name__, "no-such-suite") is None
    assert part_of(package.__name__, "transport") is None
    of_another = not_played("rocketmq_conformance.conformance.fakes", "it", ["client"])
    assert of_another["rebalance-orderly"] == "it does not play it: there is no module rebalance_orderly.py"
    assert "broker-locks" not in of_another


def test_suites_of_the_broker_are_unsupported(stage: Stage) -> None:
    stage.begin(BROKER_OFFSETS, 0)
    outcome = stage.adapter.apply(BROKER_OFFSETS.operations[0](*BROKER_OFFSETS.operations[0].spec.rows()[0]))
    assert isinstance(outcome, Unsupported)
    assert stage.calls(BROKER_OFFSETS) is None


def test_a_new_case_begins_with_an_empty_memory(stage: Stage) -> None:
    suite = SUITES["remote-store"]
    update, read = suite.index["update"], suite.index["read"]
    stage.begin(suite, 0)
    stage.do(suite, (update, (0, 7, False)))
    assert stage.do(suite, (read, (0, "memory", "answer"))) == Ok(7)
    stage.begin(suite, 1)
    assert stage.do(suite, (read, (0, "memory", "answer"))) == Ok(-1)


def test_an_unknown_way_to_talk_is_an_error_with_a_sentence() -> None:
    made = Stage(Port(via="pigeon"), PROFILE)
    with pytest.raises(AdapterError, match="'pigeon': use call or tcp"):
        made.begin(SUITES["remote-store"], 0)


@every("module", MODULES)
def test_the_port_takes_no_behaviour_from_the_models(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            assert not any(".models" in alias.name for alias in node.names)
        if not isinstance(node, ast.ImportFrom) or ".models" not in (node.module or ""):
            continue
        source = str(node.module).removeprefix("rocketmq_conformance.")
        assert source in ALLOWED, f"{module.name} imports {source}"
        assert {alias.name for alias in node.names} <= ALLOWED[source]


@every("module", MODULES)
def test_the_port_asks_no_suite_for_an_answer(module: Path) -> None:
    names = {"BROKER", "GROUP", "ORDINARY", "OTHER_GROUP", "OTHER_TOPIC", "RETRY_TOPIC", "TOPIC"}
    allowed = {"operation": {"Operation"}, "suite": {"Suite"}, "topologies": names}
    tree = ast.parse(module.read_text())
    suites = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith((".suites", ".suites.values")):
            suites |= {alias.asname for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and ".suites" in (node.module or ""):
            source = str(node.module).removeprefix("rocketmq_conformance.suites.declare.")
            assert {alias.name for alias in node.names} <= allowed.get(source, set())
    # of a suite's module it takes operations, to say which method does which
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in suites:
            assert node.attr[0].isupper()
            assert not node.attr.isupper()
