"""The pytest plugin: ``--implementation ADDRESS``, ``--plan FILE``, the fixtures of the generated machines, and the
fixture ``rocketmq_broker`` for tests of other projects.

It is loaded by every pytest run where the kit is installed, so it imports nothing of the kit before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.adapter import Hello
    from rocketmq_conformance.conformance.engine.doubt import NotedDoubts
    from rocketmq_conformance.conformance.engine.stage import Stage
    from rocketmq_conformance.conformance.fakes.broker import FakeBroker
    from rocketmq_conformance.suites.declare.suite import Row, Suite


@dataclass
class Implementation:
    """What is judged."""

    stage: Stage
    hello: Hello
    examples: int
    #: May its configuration explain a step that differs?
    doubted: NotedDoubts = field(init=False)

    def __post_init__(self) -> None:
        from rocketmq_conformance.conformance.engine.doubt import NotedDoubts

        self.doubted = NotedDoubts(self.hello)

    def refuses(self, suite: Suite) -> str:
        """Why a suite cannot be played, or ""."""
        return self.hello.refuses(suite)


@dataclass
class Planned:
    """A case of a plan, to be played by the machine of its suite."""

    suite: str
    #: Its file, and its number where the file has several cases.
    name: str
    rows: list[Row]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("rocketmq-conformance")
    group.addoption("--implementation", metavar="ADDRESS", help="What the RocketMQ conformance machines judge.")
    group.addoption("--examples", type=int, default=50, metavar="N", help="Cases per machine (50).")
    group.addoption(
        "--plan",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="Play this plan by the RocketMQ conformance machines, instead of the corpus and the search.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark of tests that search."""
    config.addinivalue_line("markers", "conformance_search: searches for a difference; left out with --plan")
    config.addinivalue_line(
        "markers",
        "rocketmq_broker(version=None, topics={}, auto_create=True): the release, topics (queues by name) and habit of "
        "the broker that the fixture rocketmq_broker starts",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give ``conformance_plan`` every case of the files of ``--plan``, else of the corpus."""
    if "conformance_plan" in metafunc.fixturenames:
        planned = _planned(metafunc.config.getoption("--plan"))
        metafunc.parametrize("conformance_plan", planned, ids=[one.name for one in planned])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--plan``, leave out the search."""
    if config.getoption("--plan"):
        left_out = [item for item in items if item.get_closest_marker("conformance_search")]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def implementation(request: pytest.FixtureRequest) -> Iterator[Implementation]:
    """The implementation that ``--implementation`` names (the bundled port when absent)."""
    from rocketmq_conformance.conformance.adapter import CannotRunError
    from rocketmq_conformance.conformance.engine.handshake import introduce
    from rocketmq_conformance.conformance.engine.stage import Stage
    from rocketmq_conformance.conformance.targets.address import AddressError
    from rocketmq_conformance.conformance.targets.opener import open_address
    from rocketmq_conformance.models.profile import Profile
    from rocketmq_conformance.reports.text import clean

    address = request.config.getoption("--implementation") or "port"
    try:
        stage = Stage(open_address(address), Profile())
        hello, _ = introduce(stage, {})
    except (AddressError, CannotRunError) as error:
        pytest.exit(clean(str(error)), returncode=pytest.ExitCode.USAGE_ERROR)
    yield Implementation(stage, hello, request.config.getoption("--examples"))
    stage.close()


@pytest.fixture
def rocketmq_broker(request: pytest.FixtureRequest) -> Iterator[FakeBroker]:
    """A fake broker and name server of the test's own, on a free port of loopback; its ``address`` is for clients.

    The mark ``rocketmq_broker`` chooses its release (``version``), its topics (``topics``, queues by name), and whether
    topics and groups are created when they are first used (``auto_create``).
    """
    from rocketmq_conformance.conformance.fakes.broker import FakeBroker
    from rocketmq_conformance.models.profile import Profile

    mark = request.node.get_closest_marker("rocketmq_broker")
    wanted = dict(mark.kwargs) if mark else {}
    version, topics, auto_create = wanted.pop("version", ""), wanted.pop("topics", {}), wanted.pop("auto_create", True)
    if wanted or (mark and mark.args):
        pytest.fail("the mark rocketmq_broker takes version=, topics= and auto_create=, by name", pytrace=False)
    try:
        profile = Profile.of(broker=version) if version else Profile()
    except ValueError as error:
        pytest.fail(f"the mark rocketmq_broker: {error}", pytrace=False)
    with FakeBroker(profile, auto_create=auto_create) as broker:
        for topic, queues in topics.items():
            broker.create_topic(topic, queues)
        yield broker


def _planned(files: list[Path]) -> list[Planned]:
    """The cases of the files, or of the corpus without any; a damaged plan ends the collection with a sentence."""
    from rocketmq_conformance.conformance.engine import corpus, plan
    from rocketmq_conformance.reports.text import clean

    try:
        paths = files or [path for folder in corpus.folders() for path in corpus.files(folder)]
        read = [(path, plan.read(path) if files else corpus.read(path)) for path in paths]
    except plan.PlanError as error:
        raise pytest.Collector.CollectError(clean(str(error))) from error
    return [Planned(one.suite.name, name, rows) for path, one in read for name, rows in one.named(path.name)]
