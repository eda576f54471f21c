"""The page of environments lists those of tox.ini, and says which of them ``tox run`` and ``.ci/run`` run."""

from __future__ import annotations

import re
from configparser import ConfigParser

from places import ROOT

TABLE = (ROOT / "docs" / "reference" / "environments.md").read_text("utf-8")
CI = (ROOT / ".ci" / "run").read_text("utf-8")
#: Of an environment: in ``tox run``, in ``.ci/run``, seconds.
ROWS = {
    row[0]: row[1:] for row in re.findall(r"^\| `([\w{,}-]+)` \| (yes|no) \| (yes|no) \| (.+?) \|", TABLE, re.MULTILINE)
}


def tox() -> ConfigParser:
    read = ConfigParser(interpolation=None)
    read.read_string((ROOT / "tox.ini").read_text("utf-8"))
    return read


def environments() -> list[str]:
    """Those that can be run; one that only builds a wheel begins with a dot."""
    names = [section.partition(":")[2] for section in tox().sections() if section.startswith("testenv:")]
    return [name for name in names if not name.startswith(".")]


def of_an_ordinary_run() -> set[str]:
    return set(re.split(r",\s*", tox()["tox"]["env_list"]))


def test_the_table_has_every_environment() -> None:
    assert sorted(ROWS) == sorted(environments())


def test_the_table_says_what_an_ordinary_run_runs() -> None:
    assert {name for name, (ordinary, _, _) in ROWS.items() if ordinary == "yes"} == of_an_ordinary_run()


def test_the_table_says_what_the_whole_check_runs() -> None:
    text = CI.replace("\\\n", " ")
    run = re.findall(r'^ *"\$tox" (?:run|\$two_at_a_time) -e ([\w,-]+)$', text, re.MULTILINE)
    played = re.findall(
        r'^play \S+ "?([\w -]+?)"?(?: --.*)?$|heavy\+?="([\w -]+)"|"\$heavy ([\w -]+)"', text, re.MULTILINE
    )
    planned = re.search(r'units plan "\$venv/units" ([\w -]+)', text)
    assert planned is not None
    assert sorted(planned[1].split()) == sorted(" ".join(map(" ".join, played)).split())
    assert re.search(r'^ *TOX_SKIP_ENV=\S+ "\$tox" run$', text, re.MULTILINE), "it runs `tox run` as the README has it"
    named = {*planned[1].split(), *(name for names in run for name in names.split(","))}
    assert {name for name, (_, whole, _) in ROWS.items() if whole == "yes"} == named | of_an_ordinary_run()


def test_seconds_are_numbers() -> None:
    assert [name for name, (_, _, seconds) in ROWS.items() if not re.fullmatch(r"[1-9]\d*( CPU)?|–", seconds)] == []
