"""A module imports, when it is imported, only what stands below it."""

import ast
import re
import sys
from itertools import chain

import pytest

import sigtext
from tools.notebooks import exported, module, notebooks, read, root, source

LIGHT = {"numpy", "scipy.special", *sys.stdlib_module_names}
FLOOR = {
    module(read(path)): path.name.split("_")[0]
    for path in notebooks()
    if path.name != "index.ipynb" and module(read(path))
}


def at_import(tree):
    """The import statements that run when the module does: not those inside functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from at_import(node)


def targets(node):
    """The modules that one import statement loads."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    inside = [f"{node.module}.{alias.name}" for alias in node.names]
    known = [n for n in inside if n.removeprefix("sigtext.") in FLOOR or n in LIGHT]
    lazy = [
        f"sigtext.{sigtext._home[a.name]}"
        for a in node.names
        if a.name in sigtext._home
    ]
    return known or (lazy if node.module == "sigtext" else []) or [node.module]


def problems(text, floor):
    for node in at_import(ast.parse(re.sub(r"^[%!].*$", "", text, flags=re.M))):
        for name in targets(node):
            own = name.removeprefix("sigtext.")
            if own in FLOOR and FLOOR[own] >= floor:
                yield node, f"is on floor {FLOOR[own]}, not below {floor}"
            elif name.split(".")[0] == "sigtext" and own not in FLOOR:
                yield node, "is no page of this project"
            elif name.split(".")[0] != "sigtext":
                if name not in LIGHT and name.split(".")[0] not in LIGHT - {"scipy"}:
                    yield node, "is heavy: import it inside the function that uses it"


@pytest.mark.parametrize("path", notebooks(), ids=lambda p: p.stem)
def test_imports_go_down(path):
    nb = read(path)
    floor = FLOOR.get(module(nb), "index")
    wrong = [
        f"{path.relative_to(root)}, cell {cell['id']}, line {node.lineno}: "
        f"`{ast.unparse(node)}` {why}"
        for cell in exported(nb)
        for node, why in problems(source(cell), floor)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "text, why",
    [
        ("from sigtext.harness import check", "not below 0"),
        ("import matplotlib.pyplot as plt", "heavy"),
        ("from scipy import stats", "heavy"),
        ("import scipy", "heavy"),
        ("if True:\n    import sacrebleu", "heavy"),
        ("class A:\n    from tqdm import tqdm", "heavy"),
        ("from sigtext.nothing import x", "no page"),
        ("from sigtext import no_such_thing", "no page"),
    ],
)
def test_what_breaks_the_rule_is_seen(text, why):
    assert why in "".join(reason for _, reason in problems(text, "00"))


@pytest.mark.parametrize(
    "text",
    [
        "import json, numpy as np",
        "from scipy.special import betaincinv",
        "from scipy import special",
        "def f():\n    import matplotlib",
    ],
)
def test_what_keeps_the_rule_passes(text):
    assert not list(problems(text, "00"))


def test_numbers_are_taken_once():
    numbers = [p.name.split("_")[0] for p in notebooks()]
    assert len(numbers) == len(set(numbers))


def test_no_module_is_called_like_a_public_name():
    words = set(chain.from_iterable(name.split(".") for name in FLOOR))
    assert not words & set(sigtext._home)
