"""The pages as a reader meets them: links, formulas, and the site in a browser."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sigtext import _nbfilter
from tools.notebooks import notebooks, read, root, source

PAGES = notebooks()
each_page = pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
TEX = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$(?!\s)([^$]+?)(?<![\s\\])\$(?!\d)", re.S)


def prose(path):
    """The text of a page, a notebook or Markdown, without its code."""
    if path.suffix != ".ipynb":
        return CODE.sub("", path.read_text(encoding="utf-8"))
    kept = (c for c in read(path)["cells"] if c["cell_type"] == "markdown")
    return CODE.sub("", "\n\n".join(map(source, kept)))


# --- links


@pytest.mark.parametrize("path", [*PAGES, *root.glob("*.md")], ids=lambda p: p.name)
def test_links_lead_somewhere(path):
    links = re.findall(r"\]\(([^)\s]*)[^)]*\)", TEX.sub("", prose(path)))
    inside = [link for link in links if not re.match(r"https?:|mailto:", link)]
    dead = [link for link in inside if not link or not (path.parent / link).is_file()]
    assert not dead, f"links to pages, by file name and without anchors: {dead}"


# --- formulas


@pytest.fixture(scope="module")
def katex():
    """Returns the complaints of KaTeX about (formula, whether displayed) pairs."""
    node, script = shutil.which("node"), "require.resolve('katex')"
    if (
        node is None
        or subprocess.run([node, "-e", script], capture_output=True).returncode
    ):
        pytest.skip("node with KaTeX is not here: npm install katex, and set NODE_PATH")
    script = """
        const katex = require('katex'), rows = JSON.parse(require('fs').readFileSync(0));
        const bad = [];
        for (const [tex, displayMode] of rows) {
          try { katex.renderToString(tex, {displayMode, strict: 'error'}); }
          catch (e) { bad.push(tex + '  ' + e.message); }
        }
        console.log(JSON.stringify(bad));"""

    def complaints(rows):
        run, text = [node, "-e", script], json.dumps(rows)
        done = subprocess.run(
            run, input=text, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    return complaints


def formulas(path):
    return [(m[1] or m[2], bool(m[1])) for m in TEX.finditer(prose(path))]


def test_formulas_parse(katex):
    bad = {path.name: katex(formulas(path)) for path in PAGES}
    assert not any(bad.values()), bad


def test_a_broken_formula_is_seen(katex):
    assert (
        len(katex([(r"\frac{1}{", False), (r"\nonsense", True), ("x^2", False)])) == 2
    )


@each_page
def test_formulas_need_no_macros(path):
    assert not re.search(r"\\(newcommand|def|label|eqref|ref)\b", prose(path))


# --- the site


def test_quarto_settings_name_files_that_exist():
    yaml = pytest.importorskip("yaml")
    site = yaml.safe_load((root / "_quarto.yml").read_text(encoding="utf-8"))
    html = site["format"]["html"]
    assert all((root / name).is_file() for name in [html["css"], *html["filters"]])
    assert not site["execute"]["enabled"]


def directives(nb):
    code = (source(c) for c in nb["cells"] if c["cell_type"] == "code")
    return [t for t in code if re.search(r"^#\| ?(export|hide|default_exp)", t, re.M)]


@each_page
def test_filter_takes_directives_out(path):
    text, nb = path.read_text(encoding="utf-8"), read(path)
    assert not directives(json.loads(_nbfilter.run(text)))
    assert not directives(_nbfilter.plain(nb)), "where nbdev is not installed"
    assert "IN_TEST" not in os.environ


@pytest.fixture(scope="module")
def processed(twin):
    """The notebooks as nbdev prepares them for the site, from a copy of the project."""
    pytest.importorskip("nbdev")
    skip = r"^[_.]|^(shared|node_modules|build|dist)$"
    code = f"from nbdev.serve import proc_nbs\nproc_nbs(force=True, skip_folder_re={skip!r})"
    run, env = (
        [sys.executable, "-W", "ignore", "-c", code],
        {**os.environ, "PYTHONPATH": str(twin)},
    )
    done = subprocess.run(run, cwd=twin, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {path: twin / "_proc" / path.relative_to(root) for path in PAGES}


@pytest.mark.slow
@each_page
def test_processed_page_passes_the_filter_unchanged(path, processed):
    text = processed[path].read_text(encoding="utf-8")
    assert _nbfilter.run(text) == text


def as_html(path):
    """The page as Quarto shows it, as far as cell options go."""
    nbformat, nbconvert = (
        pytest.importorskip("nbformat"),
        pytest.importorskip("nbconvert"),
    )
    nb = read(path)
    nb["cells"] = [
        c for c in nb["cells"] if not re.search(r"^#\| include: false", source(c), re.M)
    ]
    for cell in nb["cells"]:
        cell.pop("has_sd", None)  # nbdev's own mark
        silent = re.search(r"^#\| ?echo: false", source(cell), re.M)
        cell["source"] = (
            "" if silent else re.sub(r"^#\|.*\n?", "", source(cell), flags=re.M)
        )
    exporter = nbconvert.HTMLExporter()
    return exporter.from_notebook_node(nbformat.reads(json.dumps(nb), as_version=4))[0]


@pytest.mark.slow
@each_page
def test_page_in_a_browser(path, processed, browser):
    """Shown without a kernel and without a network: no script fails, pictures appear."""
    file = processed[path].with_suffix(".html")
    file.write_text(as_html(processed[path]), encoding="utf-8")
    page, errors = browser.new_page(viewport={"width": 1280, "height": 900}), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route(re.compile("^https?:"), lambda route: route.abort())
    page.goto(file.as_uri(), wait_until="load")
    text = page.inner_text("body")
    sizes = page.eval_on_selector_all("img", "all => all.map(i => i.naturalWidth)")
    page.close()
    assert not errors
    assert ":::" not in text and "#| " not in text
    assert all(sizes)


@pytest.mark.slow
def test_site_with_quarto(twin):
    if shutil.which("quarto") is None:
        pytest.skip("Quarto is not here")
    run, env = (
        [sys.executable, "-m", "tools.docs"],
        {**os.environ, "PYTHONPATH": str(twin)},
    )
    done = subprocess.run(run, cwd=twin, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    for path in PAGES:
        name = re.search(r"output-file: (\S+)", source(read(path)["cells"][0]))[1]
        file = twin / "_docs" / path.relative_to(root).with_name(name)
        links = re.findall(
            r'href="(?!\w+:|#|//)([^"#?]+)', file.read_text(encoding="utf-8")
        )
        dead = [link for link in links if not Path(file.parent, link).exists()]
        assert not dead, (file.name, dead)
