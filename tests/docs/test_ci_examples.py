"""The files for CI servers are read as the servers read them, and what they run is run, with the kit of this checkout.

Only two things are replaced: what pip would install, and the implementation that is judged.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from places import ROOT

EXAMPLES = ROOT / "examples" / "ci"
#: Stands for python3: a virtual environment gets the kit of this checkout, and pip writes down what it is asked for.
PYTHON3 = """#!/bin/bash
case "$1 $2" in
"-m venv")
    mkdir -p "$3/bin"
    printf '#!/bin/bash\\necho "$@" >> "$PIP_LOG"\\n' > "$3/bin/pip"
    cp "$KIT_COMMAND" "$3/bin/rocketmq-conformance"
    chmod +x "$3/bin/pip" ;;
"-m pip") echo "${@:3}" >> "$PIP_LOG" ;;
*) exit 64 ;;
esac
"""
#: Stands for the kit's command: that of this checkout, for a few cases of one suite of what the test judges; it
#: downloads nothing.
KIT = f"""#!/bin/bash
echo "$@" >> "$KIT_LOG"
[ "$1" = fetch ] && exit 0
[ "$1" = run ] || exit 64
address=$2
exec {sys.executable} -m rocketmq_conformance run "$JUDGED" "${{@:3}}" -k "$SUITE" --tier seeded --cases 20 --seed 1
"""


class Server:
    """Runs the lines of a CI file in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        tools = folder / "tools"
        tools.mkdir()
        for name, text in (("python3", PYTHON3), ("rocketmq-conformance", KIT), ("make", "#!/bin/bash\n")):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        self.work = folder / "work"
        self.work.mkdir()
        self.env = {
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "KIT_COMMAND": str(tools / "rocketmq-conformance"),
            "PIP_LOG": str(folder / "pip.log"),
            "KIT_LOG": str(folder / "kit.log"),
            "RUNNER_TEMP": str(folder),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_OUTPUT": str(folder / "output"),
            "JUDGED": "port",
            "SUITE": "remote-store",
        }

    def run(self, script: str, **env: str) -> int:
        """Run lines as the servers do: bash, which ends at the first that fails; its exit code."""
        command = ["bash", "-e", "-o", "pipefail", "-c", script]
        return subprocess.run(command, cwd=self.work, env={**self.env, **env}, timeout=120, check=False).returncode

    def written(self, name: str) -> str:
        """What was written to a file beside the working folder, or ""."""
        path = self.folder / name
        return path.read_text() if path.exists() else ""


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def filled(text: str, values: dict[str, str]) -> str:
    """A text with GitHub's expressions ``${{ … }}`` replaced; of ``a || b`` the first that is not empty."""

    def value(found: re.Match[str]) -> str:
        names = [name.strip() for name in found[1].split("||")]
        return next((values[name] for name in names if values[name]), "")

    return re.sub(r"\$\{\{(.*?)\}\}", value, text)


def steps_of_the_action(**inputs: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The scripts of the action, with their environments."""
    action = read(ROOT / "action.yml")
    values = {f"inputs.{name}": str(of.get("default", "")) for name, of in action["inputs"].items()}
    unknown = {f"inputs.{name}" for name in inputs} - values.keys()
    assert not unknown
    values |= {f"inputs.{name}": text for name, text in inputs.items()} | {"github.action_path": str(ROOT)}
    for step in action["runs"]["steps"]:
        if "run" in step:
            yield step["run"], {name: filled(text, values) for name, text in step.get("env", {}).items()}


def play_action(server: Server, **inputs: str) -> int:
    code = 0
    for script, env in steps_of_the_action(**inputs):
        code = code or server.run(script, **env)
    return code


def test_the_action_installs_judges_and_says_so(server: Server) -> None:
    arguments = "--like 5.5.0 --max-time '60'"
    assert play_action(server, address="client:./a b", arguments=arguments, extras="java") == 0
    assert server.written("pip.log").split() == ["install", "--quiet", f"{ROOT}[java]"]
    assert server.written("kit.log") == "run client:./a b --like 5.5.0 --max-time 60 --out conformance\n"
    assert server.written("output") == "verdict=conforms\n"
    assert server.written("summary.md").startswith("## RocketMQ conformance: conforms")
    kept = {path.name for path in (server.work / "conformance").iterdir()}
    assert {"report.html", "junit.xml", "summary.md", "badge.json", "events.jsonl"} <= kept


def test_the_action_fails_with_the_kit_and_keeps_the_summary(server: Server) -> None:
    server.env["JUDGED"] = "mutant:zero-is-none"
    assert play_action(server) == 1
    assert server.written("output") == "verdict=diverges\n"
    assert server.written("summary.md").startswith("## RocketMQ conformance: diverges")
    badge = json.loads((server.work / "conformance" / "badge.json").read_text())
    assert badge["color"] == "red"


def test_the_action_fails_when_nothing_could_run(server: Server) -> None:
    server.env["JUDGED"] = "python:no_such_module:make"
    assert play_action(server) == 4
    assert server.written("output") == "verdict=could not run\n"


def test_the_workflow_of_a_client_uses_the_action_as_it_is() -> None:
    [job] = read(EXAMPLES / "github-client.yml")["jobs"].values()
    used = [step for step in job["steps"] if "rocketmq-conformance" in step.get("uses", "")]
    assert len(used) == 1
    assert used[0]["with"].keys() <= read(ROOT / "action.yml")["inputs"].keys()
    list(steps_of_the_action(**used[0]["with"]))


def test_the_workflow_of_brokers_runs_a_release(server: Server) -> None:
    [job] = read(EXAMPLES / "github-brokers.yml")["jobs"].values()
    releases = job["strategy"]["matrix"]["release"]
    assert len(releases) == len(set(releases)) > 1
    server.env |= {"JUDGED": "broker", "SUITE": "broker-offsets"}
    for step in job["steps"]:
        if "run" in step:
            env = {name: filled(text, {"matrix.release": releases[0]}) for name, text in step.get("env", {}).items()}
            assert server.run(step["run"], **env) == 0
    assert server.written("pip.log").startswith("install rocketmq-conformance[broker] @ git+https://github.com/OWNER/")
    address = f"broker:{releases[0]}"
    assert server.written("kit.log") == f"fetch {address}\nrun {address} --cases 300 --out conformance\n"
    assert server.written("summary.md").startswith("## RocketMQ conformance: conforms")


def test_the_job_of_gitlab(server: Server) -> None:
    [job] = read(EXAMPLES / "gitlab-ci.yml").values()
    assert server.run("\n".join(job["script"]), ADDRESS=job["variables"]["ADDRESS"]) == 0
    assert (server.work / job["artifacts"]["reports"]["junit"]).exists()
    assert (server.work / job["artifacts"]["paths"][0] / "report.html").exists()


def test_the_stage_of_jenkins(server: Server) -> None:
    text = (EXAMPLES / "Jenkinsfile").read_text("utf-8")
    found = re.search(r"ADDRESS = '(.*)'", text)
    assert found is not None
    scripts = re.findall(r"sh '(.*)'", text)
    assert len(scripts) == 3
    # each line is a shell of its own
    assert [server.run(script, ADDRESS=found[1]) for script in scripts] == [0, 0, 0]
    [junit] = re.findall(r"junit '(.*)'", text)
    assert (server.work / junit).exists()
