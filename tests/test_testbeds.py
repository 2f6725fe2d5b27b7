"""The five testbeds together: the same bytes for a seed everywhere, and fast enough."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

here = Path(__file__).resolve().parent
STORED = json.loads((here / "expected" / "testbeds.json").read_text(encoding="utf-8"))
LIMITS = {"summaries": 5, "trigram": 10, "tone": 15, "bursty": 10, "aspects": 3}


@pytest.fixture(scope="module")
def found():
    """All testbeds, generated in one process of their own."""
    command = [sys.executable, here / "testbeds.py"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("name", LIMITS)
def test_same_bytes_for_a_seed(found, name):
    """Stored from Python 3.11; 3.10 with NumPy 2.2 and 3.13 with 2.5 give the same."""
    assert found[name][0] == STORED[name]


@pytest.mark.parametrize("name", LIMITS)
def test_fast_enough_for_a_notebook(found, name):
    assert found[name][1] < LIMITS[name]


def test_all_of_them_in_a_minute(found):
    assert sum(seconds for _, seconds in found.values()) < 60
