"""ruff is content with notebooks, tests and tools."""

import subprocess
import sys

import pytest

from tools.fix import LINTED
from tools.notebooks import root


@pytest.mark.parametrize(
    "rule", [("check", "--output-format=concise"), ("format", "--check")], ids=" ".join
)
def test_ruff(rule):
    run = [sys.executable, "-m", "ruff", *rule, "--no-cache", *LINTED]
    done = subprocess.run(run, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, f"python -m tools.fix\n{done.stdout}{done.stderr}"
