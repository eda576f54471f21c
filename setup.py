"""Compiles what a step goes through, when asked to: ``ROCKETMQ_CONFORMANCE_COMPILE=1 pip install .``

Everything else about the package is told by pyproject.toml, and without that variable it is plain Python. With it,
mypyc makes C of the modules below, for which a C compiler and Python's header files must be there. A group's steps are
played about one and a half times as fast then, and mean the same (tests/test_compiled.py).
"""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

from setuptools import setup

ASKED = os.environ.get("ROCKETMQ_CONFORMANCE_COMPILE", "") not in ("", "0")
HERE = Path(__file__).parent
#: mypyc takes the names of modules from where they lie, so they are laid out here as they are installed.
LAID_OUT = Path("build", "laid-out")

#: The hot modules, by package. All of them are compiled together, so that they call one another without Python.
HOT = {
    "models": ["tuples"],
    "models.broker": ["commit", "lock", "query", "search"],
    "models.client": [
        *("assigned_group", "assigned_round", "changed_group", "changed_round", "group", "lite", "lite_round"),
        *("member", "memory", "orderly", "orderly_round", "plain", "process_queue", "rebalance", "remote_store"),
        "start",
    ],
    "conformance": ["world"],
    "conformance.port": [
        *("assigned", "changed", "lite", "offset_table", "orderly", "plain", "rebalance", "remote_store", "start"),
        "transport",
    ],
}


def modules() -> list[Any]:
    """The extension modules; none when nobody asked."""
    if not ASKED:
        return []
    if "editable_wheel" in sys.argv:
        sys.exit(
            "An editable install stays plain Python, or edits would change nothing: unset ROCKETMQ_CONFORMANCE_COMPILE."
        )
    try:
        from mypyc.build import mypycify
    except ImportError:
        if any("info" in argument for argument in sys.argv):
            return []  # only what it takes to build is asked for, and that is mypy (setup_requires)
        sys.exit("ROCKETMQ_CONFORMANCE_COMPILE needs mypy to build with: pip install mypy, or build in isolation.")
    shutil.rmtree(LAID_OUT, ignore_errors=True)
    told = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-dir"]
    for package, folder in sorted(told.items()):
        shutil.copytree(HERE / folder, LAID_OUT.joinpath(*package.split(".")), dirs_exist_ok=True)
    hot = [
        str(LAID_OUT.joinpath("rocketmq_conformance", *package.split("."), f"{name}.py"))
        for package, names in HOT.items()
        for name in names
    ]
    # No configuration: what is compiled was checked strictly before, and the libraries are not all there.
    return list(
        mypycify(
            ["--config-file=", "--ignore-missing-imports", *hot],
            opt_level="2",
            debug_level="0",
            group_name="rocketmq_conformance",
        )
    )


setup(ext_modules=modules(), setup_requires=["mypy>=1.13"] if ASKED else [])
