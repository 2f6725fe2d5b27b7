"""Each change of one operator or constant of a tested page is noticed by the page itself.

What survives stands in mutants_allowed.toml with the reason; an entry that is noticed
after all is stale and fails too. One page by hand: python tests/mutants.py NOTEBOOK
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

tomllib = pytest.importorskip("tomllib", reason="tomllib comes with Python 3.11")
here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))
PAGES = [
    "foundations/00_harness",
    "foundations/03_metrics",
    "theorems/10_randomization",
]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def allowed():
    text = (here / "mutants_allowed.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text).get("allowed", [])
    for entry in entries:
        assert set(entry) - {"nth"} == {
            "page",
            "function",
            "line",
            "mutation",
            "reason",
        }
        assert entry["reason"].strip(), f"without a reason: {entry}"
    return entries


def name(entry):
    return (entry["function"], entry["line"], entry["mutation"], entry.get("nth", 1))


def entry(page, mutant):
    """The text that would allow a survivor."""
    keys = ("function", "line", "mutation", "nth")
    pairs = [("page", page), *zip(keys, mutant, strict=True), ("reason", "")]
    return "\n".join(["[[allowed]]", *(f"{k} = {json.dumps(v)}" for k, v in pairs), ""])


@needs_fork
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_page_notices_every_change(page):
    notebook = here.parent / "nbs" / f"{page}.ipynb"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(here / "mutants.py"), str(notebook)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["mutants"] > 20, answer
    survivors = {tuple(m) for m in answer["survivors"]}
    listed = {name(e) for e in allowed() if e["page"] == page}
    new = [entry(page, m) for m in answer["survivors"] if tuple(m) not in listed]
    stale = sorted(listed - survivors)
    assert not new, f"{len(new)} changes go unnoticed:\n\n" + "\n".join(new)
    assert not stale, f"listed in mutants_allowed.toml, but noticed or gone: {stale}"


def test_allowed_changes_are_of_tested_pages():
    assert {e["page"] for e in allowed()} <= set(PAGES)


# --- the tool itself

SOURCE = '''
def f(x: int = 3, *, deep=True):
    """Two < three."""
    if x < 2 or x < 1:
        raise ValueError(f"x is {x + 1}, not {7}")
    return max(x, -x) // 2


@check("X1.a", "a claim")
def g():
    return 1 + 1
'''


def test_the_tool_changes_code_and_nothing_else():
    from mutants import mutants_of

    found = sorted((m.mutation, m.nth) for m in mutants_of(SOURCE))
    assert found == [
        ("1 -> 2", 1),
        ("2 -> 3", 1),
        ("2 -> 3", 1),
        ("3 -> 4", 1),
        ("FloorDiv -> Div", 1),
        ("Lt -> LtE", 1),
        ("Lt -> LtE", 2),
        ("Or -> And", 1),
        ("True -> False", 1),
        ("USub left out", 1),
        ("max -> min", 1),
    ]


def test_each_mutant_is_another_program():
    import ast

    from mutants import mutants_of, mutated

    texts = [ast.unparse(mutated(SOURCE, m)) for m in mutants_of(SOURCE)]
    assert len({*texts, ast.unparse(ast.parse(SOURCE))}) == len(texts) + 1


@needs_fork
def test_a_crash_and_an_endless_loop_count_as_noticed():
    from mutants import forked

    def endless():
        while True:
            pass

    tasks = [("kept", lambda: False), ("seen", lambda: True), ("loop", endless)]
    tasks += [("crash", lambda: os._exit(3))]
    found = dict(forked(tasks, 2, 0.1))
    assert found == {"kept": "", "seen": "noticed", "loop": "timeout", "crash": "crash"}
