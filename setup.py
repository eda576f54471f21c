"""Compiles what a step goes through, when asked to: ``ROCKETMQ_CONFORMANCE_COMPILE=1 pip install .``

Everything else about the package is told by pyproject.toml, and without that variable it is plain Python. With it,
mypyc makes C of the modules below, for which a C compiler and Python's header files must be there. A group's steps are
played about one and a half times as fast then, and mean the same (tests/conformance/targets/test_compiled.py).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from setuptools import setup

ASKED = os.environ.get("ROCKETMQ_CONFORMANCE_COMPILE", "") not in ("", "0")
#: Where the import package is: mypyc takes the names of modules from where they lie.
PACKAGE = Path("src", "rocketmq_conformance")

#: The hot modules, by package. All of them are compiled together, so that they call one another without Python.
HOT = {
    "models": ["fast_tuples"],
    "models.broker": ["commit", "lock", "query", "search"],
    "models.client": [
        *("group_state", "member", "offset_table", "process_queue"),
        *("rebalance", "rebalance_broker", "rebalance_broker_round"),
        *("rebalance_changed", "rebalance_changed_round", "rebalance_orderly", "rebalance_orderly_round"),
        *("rebalance_plain", "rebalance_pull", "rebalance_pull_round", "rebalance_round", "remote_store", "start"),
    ],
    "conformance.fakes": [
        *("assignments", "client_case", "consumers", "dispatch", "fault_script", "offsets", "record", "responses"),
        *("send_backs", "storage"),
    ],
    "conformance.targets.port": [
        *("group_member", "offset_table", "rebalance", "rebalance_broker", "rebalance_changed", "rebalance_orderly"),
        *("rebalance_plain", "rebalance_pull", "remote_store", "routes", "start", "transport"),
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
    hot = [str(PACKAGE.joinpath(*package.split("."), f"{name}.py")) for package, names in HOT.items() for name in names]
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
