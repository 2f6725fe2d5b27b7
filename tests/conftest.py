"""What all tests share: this tree, a copy of it, a browser, the place of the real data."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

root = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root))  # the tests look at this tree, installed or not
paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # and so do kernels and commands


LEFT_OUT = ".git", "_proc", "_docs", "*.egg-info", "__pycache__", "build", "dist"


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    """A copy of the project that the tests of one file may write to."""
    folder = tmp_path_factory.mktemp("twin") / "sigtext"
    left_out = shutil.ignore_patterns(*LEFT_OUT, ".*_cache", ".venv", ".hypothesis")
    shutil.copytree(root, folder, ignore=left_out)
    return folder


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium; pages that it opens get nothing from the network."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not here")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not here")
    quiet = "gpu dev-shm-usage background-networking component-update sync".split()
    flags = ["--no-sandbox", *(f"--disable-{name}" for name in quiet)]
    with api.sync_playwright() as p:
        window = p.chromium.launch(executable_path=chromium, args=flags)
        yield window
        window.close()


@pytest.fixture(scope="session")
def data():
    """The folder of real system outputs; set SIGTEXT_DATA to name another."""
    folder = Path(os.environ.get("SIGTEXT_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the real data is not here: set SIGTEXT_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def sigtext():
    """Runs the command of this tree: sigtext("compare", a, b).stdout and so on."""

    def run(*arguments, **how):
        code = "import sys; from sigtext.cli import main; sys.exit(main())"
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, **how)

    return run


def pytest_ignore_collect(collection_path, config):
    """The benchmarks run only when they are asked for: pytest tests/bench."""
    if collection_path == root / "tests" / "bench":
        asked = (Path(a.split("::")[0]).resolve() for a in config.args)
        return not any(collection_path in (p, *p.parents) for p in asked) or None
