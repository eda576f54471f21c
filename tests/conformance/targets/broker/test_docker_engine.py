"""Containers that cannot be had, as a user meets it: one sentence, the right exit code, nothing left running."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from every import every

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.broker import base_image, docker_engine, images
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.release import Release

KIT = [sys.executable, "-m", "rocketmq_conformance"]
ADDRESS = "broker:5.5.0?via=container"


def kit(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the kit as a child."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "400", **env}
    return subprocess.run(
        [*KIT, *args, "--patience", "200"],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def one_sentence(done: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert done.returncode == 4, done.stdout + done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("Error: ") == 1
    assert done.stderr.strip().splitlines()[-1].startswith("Error: ")  # behind the progress of the start


# --- addresses --------------------------------------------------------------------------------------------------


@every(
    ("address", "sentence"),
    [
        (f"{ADDRESS}&java=new", "'new' is no Java release; write a number, such as java=17"),
        (f"{ADDRESS}&java=0", "is no Java release"),
        (f"{ADDRESS}&image=", "'' is no name of an image; write one such as image=apache/rocketmq:5.5.0"),
        (f"{ADDRESS}&image=-x", "is no name of an image"),
        (f"{ADDRESS}&image=a&java=17", "write image=NAME or java=N"),
        (f"{ADDRESS}&lease=5", "write it with broker:HOST:PORT"),
        ("broker:5.5.0?image=a", "write broker:5.5.0?via=container&image="),
        ("broker:5.5.0?java=eight", "'eight' is no Java release; write a number"),
        ("broker:newest?via=container", "neither a release nor HOST:PORT"),
        ("broker:127.0.0.1:10911?via=container", "already running"),
    ],
)
def test_an_address_that_is_none(address: str, sentence: str) -> None:
    with pytest.raises(AddressError) as caught:
        open_address(address)
    assert sentence in str(caught.value)


# --- no engine --------------------------------------------------------------------------------------------------


def test_an_engine_on_another_machine(tmp_path: Path) -> None:
    done = kit("run", ADDRESS, cwd=tmp_path, DOCKER_HOST="tcp://192.0.2.1:2375")
    one_sentence(done, "The Docker engine at 192.0.2.1 is another machine")


def test_no_testcontainers(tmp_path: Path) -> None:
    (tmp_path / "own" / "testcontainers").mkdir(parents=True)
    (tmp_path / "own" / "testcontainers" / "__init__.py").write_text("raise ImportError('not here')")
    done = kit("run", ADDRESS, cwd=tmp_path, PYTHONPATH=str(tmp_path / "own"))
    one_sentence(done, "install it with `pip install rocketmq-conformance[broker]`")


@pytest.mark.container
def test_docker_is_not_there(tmp_path: Path) -> None:
    done = kit("run", ADDRESS, cwd=tmp_path, DOCKER_HOST=f"unix://{tmp_path}/none.sock", PATH="")
    one_sentence(done, f"There is no Docker engine at unix://{tmp_path}/none.sock: install Docker and start it")


@pytest.mark.container
def test_the_daemon_does_not_run(tmp_path: Path) -> None:
    place = tmp_path / "dead.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(place))
    done = kit("run", ADDRESS, cwd=tmp_path, DOCKER_HOST=f"unix://{place}")
    one_sentence(done, f"No Docker engine answers at unix://{place}: start it (dockerd)")


@pytest.mark.container
def test_what_answers_is_no_engine(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        where = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        child = subprocess.Popen(
            [*KIT, "run", ADDRESS],
            cwd=tmp_path,
            env={**os.environ, "DOCKER_HOST": where, "NO_COLOR": "1", "COLUMNS": "400"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line, _ = server.accept()
        line.close()
        output, errors_shown = child.communicate(timeout=60)
    one_sentence(subprocess.CompletedProcess([], child.returncode, output, errors_shown), "see whether it runs")


@pytest.mark.container
def test_no_right_to_use_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from docker.errors import DockerException
    from testcontainers.core import docker_client

    def refuse(**options: object) -> None:
        raise DockerException("('Connection aborted.', PermissionError(13, 'Permission denied'))")

    monkeypatch.setattr(docker_client.docker, "from_env", refuse)
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/docker.sock")
    with pytest.raises(
        CannotRunError, match=r"no right to use the Docker engine at unix:///run/docker\.sock: join the"
    ):
        docker_engine.connect()


def test_a_machine_that_cannot_make_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_image.platform, "system", lambda: "Darwin")
    with pytest.raises(CannotRunError, match="reach a registry"):
        base_image.make(None, "x:y", "java")  # type: ignore[arg-type]


# --- no image, on a real engine ---------------------------------------------------------------------------------


@contextmanager
def made_image(folder: Path, recipe: str) -> Iterator[str]:
    """An image of a recipe on top of the base of a broker's image."""
    tag = f"conformance-test:{folder.name.lower()}"
    (folder / "Dockerfile").write_text(recipe)
    docker("build", "-q", "-t", tag, str(folder))
    try:
        yield tag
    finally:
        docker("rmi", "-f", tag)


def docker(*args: str) -> str:
    """What the engine's own client says."""
    done = subprocess.run(["docker", *args], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def ours() -> str:
    """The image of a broker."""
    return images.find(docker_engine.connect(), Release(5, 5, 0)).name


@pytest.fixture
def nothing_left() -> Iterator[None]:
    before = docker("ps", "-aq")
    yield
    assert docker("ps", "-aq") == before


@pytest.mark.container
def test_an_image_that_there_is_none_of(tmp_path: Path, nothing_left: None) -> None:
    done = kit("run", f"{ADDRESS}&image=127.0.0.1:1/nobody/nothing:0", cwd=tmp_path)
    one_sentence(done, "There is no image 127.0.0.1:1/nobody/nothing:0 here, and it cannot be pulled (")


@pytest.mark.container
def test_an_image_without_java(tmp_path: Path, nothing_left: None) -> None:
    with made_image(tmp_path, "FROM scratch\nENV ROCKETMQ_HOME=/x\nCOPY Dockerfile /\n") as tag:
        done = kit("run", f"{ADDRESS}&image={tag}", cwd=tmp_path)
    one_sentence(done, f"The image {tag} does not say which Java it has (")


@pytest.mark.container
def test_an_image_that_is_laid_out_otherwise(tmp_path: Path, ours: str, nothing_left: None) -> None:
    base = json.loads(docker("image", "inspect", ours))[0]
    assert any(value.startswith("ROCKETMQ_HOME=") for value in base["Config"]["Env"])
    made = docker("images", "-q", "rocketmq-conformance-base").split()
    with made_image(tmp_path, f"FROM {made[0] if made else 'eclipse-temurin:17-jre'}\nLABEL x=y\n") as tag:
        done = kit("run", f"{ADDRESS}&image={tag}", cwd=tmp_path)
    one_sentence(done, f"The image {tag} has no ROCKETMQ_HOME: name one that is laid out as apache/rocketmq is")


@pytest.mark.container
def test_an_image_whose_broker_ends_at_once(tmp_path: Path, ours: str, nothing_left: None) -> None:
    with made_image(tmp_path, f"FROM {ours}\nENV ROCKETMQ_HOME=/nowhere\n") as tag:
        done = kit("run", f"{ADDRESS}&image={tag}", cwd=tmp_path)
    one_sentence(done, f"Broker 5.5.0 in {tag} ended while it started: java.lang.ClassNotFoundException")


@pytest.mark.container
def test_an_image_of_another_release(tmp_path: Path, ours: str, nothing_left: None) -> None:
    done = kit("run", f"broker:5.4.0?via=container&image={ours}", cwd=tmp_path)
    one_sentence(done, f"The broker in the image {ours} says that it is V5_5_0: write broker:5.5.0.")


@pytest.mark.container
def test_a_release_without_jars(tmp_path: Path, nothing_left: None) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mvn").write_text(
        "#!/bin/sh\necho '[ERROR] Could not find artifact remoting:jar:5.9.9'; exit 1\n"
    )
    (tmp_path / "bin" / "mvn").chmod(0o755)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    done = kit("run", "broker:5.9.9?via=container", cwd=tmp_path, PATH=path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    one_sentence(done, "Maven cannot get rocketmq-broker 5.9.9: Could not find artifact remoting:jar:5.9.9")


@pytest.mark.container
def test_a_java_that_there_is_none_of(tmp_path: Path, nothing_left: None) -> None:
    done = kit("run", f"{ADDRESS}&java=7", cwd=tmp_path)
    one_sentence(done, "There is no image eclipse-temurin:7-jre here, it cannot be pulled, and this machine has Java")
