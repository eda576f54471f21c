"""Where tests find what lies beside them: golden output, data, helpers, and the project itself."""

from __future__ import annotations

from pathlib import Path

HELPERS = Path(__file__).parent
TESTS = HELPERS.parent
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"
DATA = TESTS / "data"
