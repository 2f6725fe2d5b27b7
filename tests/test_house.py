"""House rules that a machine can see."""

import ast
import importlib
import inspect
import re
from collections import defaultdict

import pytest

import sigtext
from tools.notebooks import exported, module, notebooks, read, root, source

PAGES = {path: read(path) for path in notebooks()}
MODULES = {module(nb): path for path, nb in PAGES.items() if module(nb)}
each_page = pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
each_module = pytest.mark.parametrize("name", MODULES)
# a home folder, a work folder: the path of somebody's machine
MACHINE = re.compile(
    r"/(?:" + "|".join(["work", "farm", "root", "home", "Users", "tmp"]) + r")/[\w.]"
)
TEXTS = ".py .md .toml .ini .yml .lua .css .ipynb".split()
LEFT_OUT = {"_proc", "_docs", "build", "dist", "node_modules"}


def cells(path, kind):
    return [c for c in PAGES[path]["cells"] if c["cell_type"] == kind]


def code(cell):
    """The source without shell lines and magics, so that it parses."""
    return re.sub(r"^\s*[%!].*$", "", source(cell), flags=re.M)


def load(name):
    return importlib.import_module(f"sigtext.{name}")


# --- notebooks


@each_page
def test_opens_with_its_address(path):
    first = PAGES[path]["cells"][0]
    assert first["cell_type"] == "raw"
    name = re.sub(r"^\d+[a-z]?_", "", path.stem)
    assert f"output-file: {name}.html" in source(first).split("\n")
    assert source(first).startswith("---\n") and source(first).rstrip().endswith(
        "\n---"
    )


def test_addresses_differ():
    names = [re.sub(r"^\d+[a-z]?_", "", path.stem) for path in PAGES]
    assert len(set(names)) == len(names)


@each_module
def test_module_has_the_word_of_its_page(name):
    assert name.split(".")[-1] == re.sub(r"^\d+[a-z]?_", "", MODULES[name].stem)


@each_page
def test_markdown_reads_the_same_everywhere(path):
    for cell in cells(path, "markdown"):
        text = source(cell)
        assert ":::" not in text, f"a fenced block is raw in JupyterLab: {text[:60]}"
        assert not text.startswith("#|"), f"a directive shows as text: {text[:60]}"
        assert "> [!" not in text, f"an alert is raw in JupyterLab: {text[:60]}"
        if re.search(r"^#{2,} ", text, re.M):
            assert re.fullmatch(r"## [^\n]+", text.strip()), (
                f"a heading stands alone: {text[:60]}"
            )


@each_page
def test_imports_stand_alone(path):
    for cell in cells(path, "code"):
        body = ast.parse(code(cell)).body
        imports = [s for s in body if isinstance(s, ast.Import | ast.ImportFrom)]
        where = f"cell {cell['id']}: {source(cell)[:60]}"
        assert len(imports) in (0, len(body)), (
            f"imports in a cell of their own, {where}"
        )
        for node in ast.walk(ast.parse(code(cell))):
            names = node.names if isinstance(node, ast.ImportFrom) else []
            assert "*" not in [a.name for a in names], f"no star imports, {where}"


@each_page
def test_exported_cells_are_short(path):
    for cell in exported(PAGES[path]):
        lines = [s for s in source(cell).split("\n") if not s.startswith("#|")]
        assert len(lines) <= 40, f"{len(lines)} lines in cell {cell['id']}: {lines[0]}"


@each_page
def test_importing_a_module_runs_nothing(path):
    """A check is called in a cell of its own, or else every import would run it."""
    for cell in exported(PAGES[path]):
        calls = [
            ast.unparse(node)
            for node in ast.parse(code(cell)).body
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
        ]
        assert not calls, f"move out of the exported cell {cell['id']}: {calls}"


@each_page
def test_no_error_is_stored(path):
    for cell in cells(path, "code"):
        assert "error" not in [out["output_type"] for out in cell["outputs"]], cell[
            "id"
        ]


def test_no_path_of_a_machine():
    found = [p for p in root.rglob("*") if p.suffix in TEXTS and p.is_file()]
    parts = [(p, p.relative_to(root).parts) for p in found]
    kept = [
        p
        for p, names in parts
        if not any(n in LEFT_OUT or n[0] == "." for n in names[:-1])
    ]
    hits = [
        f"{p.relative_to(root)}: {m[0]}"
        for p in kept
        if p.name != "test_house.py"
        for m in MACHINE.finditer(p.read_text(encoding="utf-8"))
    ]
    assert not hits, "\n".join(hits)


def test_sidebar_lists_every_page_once():
    lines = (root / "_quarto.yml").read_text(encoding="utf-8").split("sidebar:")[1]
    listed = re.findall(r"^\s*- (nbs/\S+\.ipynb)$", lines, re.M)
    pages = [str(p.relative_to(root)) for p in PAGES]
    assert listed == ["nbs/index.ipynb", *(p for p in pages if "index" not in p)]


# --- modules


def public(name):
    """The functions and classes that a module says are its own."""
    home = load(name)
    names = (n for n in home.__all__ if not n.startswith("_"))
    found = {n: getattr(home, n) for n in names}
    kinds = (inspect.isfunction, inspect.isclass)
    return {n: f for n, f in found.items() if any(kind(f) for kind in kinds)}


@each_module
def test_public_names_have_a_docstring(name):
    bare = [n for n, f in public(name).items() if not own_docstring(f)]
    assert not bare


def own_docstring(thing):
    """A docstring that somebody wrote: a dataclass makes one from its signature."""
    text = thing.__doc__ or ""
    return text and not text.startswith(f"{thing.__name__}(")


def test_every_page_of_checks_has_a_control():
    harness = load("harness")
    for name in MODULES:
        load(name)
    kinds = defaultdict(set)
    for check in harness.REGISTRY.values():
        kinds[check.__module__].add(check.kind)
    alone = [
        m for m, seen in kinds.items() if seen - {"reported"} and "control" not in seen
    ]
    assert kinds and not alone, f"nothing shows that these checks can fail: {alone}"


def test_package_lists_what_exists():
    for name in sigtext._home:
        value = getattr(sigtext, name)
        assert callable(value), f"{name} is {value!r}"
    for name in sigtext._modules:
        assert getattr(sigtext, name).__name__ == f"sigtext.{name}"
    assert set(sigtext.__all__) <= set(dir(sigtext))


def test_public_names_stay_public_once_every_module_is_loaded():
    for name in MODULES:
        load(name)
    assert all(callable(getattr(sigtext, name)) for name in sigtext._home)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = sigtext.no_such_name


def test_package_speaks_like_the_front_page():
    text = source(cells(root / "nbs/index.ipynb", "markdown")[0])
    assert " ".join(sigtext.__doc__.split()) in " ".join(text.split())
