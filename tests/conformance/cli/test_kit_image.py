"""The kit in a container: built by the recipe of ``examples/container``, on this machine's Python."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT
from python_image import import_python_image
from waiting import wait_until

pytestmark = pytest.mark.container
TAG, BASE = "rocketmq-conformance-kit-test", "rocketmq-conformance-python-test"


def docker(*args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *args], capture_output=True, text=True, timeout=240, check=check)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The image of a wheel of this checkout."""
    wheels, context = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("context")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", str(wheels), str(ROOT)]
    subprocess.run(command, timeout=240, check=True)
    for wheel in wheels.glob("rocketmq_conformance-*.whl"):
        shutil.move(wheel, context)
    import_python_image(BASE, wheels)
    shutil.copy(ROOT / "examples" / "container" / "Dockerfile", context)
    docker("build", "--network", "none", "--build-arg", f"PYTHON={BASE}", "-t", TAG, str(context))
    yield TAG
    docker("rmi", "-f", TAG, BASE)


def test_any_command_runs_and_its_report_is_the_users(image: str, tmp_path: Path) -> None:
    user = f"{os.getuid() or 1234}:{os.getgid() or 1234}"
    tmp_path.chmod(0o777)
    done = docker(
        *("run", "--rm", "--network", "none", "--user", user, "-v", f"{tmp_path}:/work", image),
        *("run", "port", "-k", "remote-store", "--cases", "50"),
    )
    assert "Verdict: conforms" in done.stdout
    pages = list(tmp_path.rglob("report.html"))
    assert [f"{page.stat().st_uid}:{page.stat().st_gid}" for page in pages] == [user]


def test_a_client_that_is_mounted_is_judged(image: str, tmp_path: Path) -> None:
    for file in (ROOT / "examples" / "python").glob("*.py"):
        shutil.copy(file, tmp_path)
    done = docker(
        *("run", "--rm", "--network", "none", "-v", f"{tmp_path}:/work", image),
        *("run", "exec:python3 adapter.py", "-k", "remote-store", "--cases", "20"),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Verdict: conforms" in done.stdout


def test_it_serves_a_broker_until_it_is_stopped(image: str) -> None:
    name = f"{TAG}-{os.getpid()}"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    docker("run", "-d", "--name", name, "-p", f"127.0.0.1:{port}:9876", image)
    try:
        wait_until(lambda: "serving name server and broker" in docker("logs", name).stdout)
        smoke = [sys.executable, "-m", "rocketmq_conformance", "smoke", f"broker:127.0.0.1:{port}"]
        done = subprocess.run(smoke, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        docker("stop", "--time", "30", name)
        assert docker("inspect", "-f", "{{.State.ExitCode}}", name).stdout.strip() == "0"
    finally:
        docker("rm", "-f", name)
