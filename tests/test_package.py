"""What a user installs: the wheel made from the source distribution, in a bare environment."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from configparser import ConfigParser
from email import message_from_bytes
from importlib.metadata import version
from pathlib import Path

import numpy
import pytest

import sigtext as package
from tools.notebooks import module, notebooks, read, root

pytestmark = pytest.mark.slow
SETTINGS = ConfigParser(delimiters=["="])
SETTINGS.read(root / "settings.ini", encoding="utf-8")
SETTINGS = SETTINGS["DEFAULT"]
DEV_ONLY = "nbdev", "fastcore", "execnb", "pytest", "hypothesis", "statsmodels"


@pytest.fixture(scope="module")
def built(twin):
    """The folder with the source distribution and the wheel that was built from it."""
    pytest.importorskip("build")
    here = int(version("setuptools").split(".")[0]) >= 77
    run = [sys.executable, "-m", "build", *["--no-isolation"][:here]]
    done = subprocess.run(run, cwd=twin, env=plain(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return twin / "dist"


def plain():
    """The environment without the path to this tree."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "IN_TEST")}


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        yield {name: archive.read(name) for name in archive.namelist()}


def metadata(wheel):
    return message_from_bytes(
        next(v for k, v in wheel.items() if k.endswith("/METADATA"))
    )


def test_wheel_holds_the_package_and_nothing_else(wheel):
    kept = {name for name in wheel if ".dist-info/" not in name}
    files = [p for p in (root / "sigtext").rglob("*") if p.is_file()]
    names = {
        p.relative_to(root).as_posix() for p in files if "__pycache__" not in p.parts
    }
    assert kept == names
    exported = {module(read(path)) for path in notebooks()} - {None}
    assert {f"sigtext/{name.replace('.', '/')}.py" for name in exported} <= kept


def test_source_distribution_can_be_built(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {"/".join(name.split("/")[1:]) for name in archive.getnames()}
    assert {
        "settings.ini",
        "setup.py",
        "pyproject.toml",
        "README.md",
        "LICENSE",
    } <= names


def test_metadata_is_that_of_settings(wheel):
    about = metadata(wheel)
    assert about["Name"] == "sigtext" and about["License-Expression"] == "MIT"
    assert about["Version"] == SETTINGS["version"] == package.__version__
    assert about["Requires-Python"] == f">={SETTINGS['min_python']}"
    assert about["Summary"] == SETTINGS["description"]
    assert about.get_payload().startswith("<!-- Made from nbs/index.ipynb")


def requirement(text):
    """Name and bounds, in one order, of a requirement without its marker."""
    text = text.split(";")[0].replace(" ", "")
    name = text[: min([text.find(c) for c in "<>=!~" if c in text], default=None)]
    return name.lower(), frozenset(filter(None, text[len(name) :].split(",")))


@pytest.mark.parametrize(
    "extra, key", [("", "requirements"), ("dev", "dev_requirements")]
)
def test_requirements_are_those_of_settings(wheel, extra, key):
    listed = metadata(wheel).get_all("Requires-Dist")
    mine = [s for s in listed if ("extra ==" in s) == bool(extra)]
    assert all(f'extra == "{extra}"' in s for s in mine if extra)
    assert set(map(requirement, mine)) == set(map(requirement, SETTINGS[key].split()))


@pytest.fixture(scope="module")
def bare(built, tmp_path_factory):
    """An environment with the wheel; what it depends on is lent by the running one."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--no-deps",
        "-q",
    ]
    done = subprocess.run(
        [*pip, next(built.glob("*.whl"))], env=plain(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    own = next(folder.rglob("site-packages/sigtext")).parent
    (own / "lent.pth").write_text(str(Path(numpy.__file__).parent.parent))
    return python


def run(*command, here=None):
    here = here or command[0].parent  # not this tree, where Python would look first
    return subprocess.run(
        command, cwd=here, env=plain(), capture_output=True, text=True
    )


def test_every_module_imports_without_the_tools_of_development(bare):
    names = sorted(f"sigtext.{m}" for p in notebooks() if (m := module(read(p))))
    code = f"import sys\nsys.modules.update(dict.fromkeys({DEV_ONLY}))\n"
    code += "".join(f"import {name}\n" for name in names) + "print(sigtext.__file__)"
    done = run(bare, "-c", code)
    assert done.returncode == 0, done.stderr
    assert bare.parent.parent in Path(done.stdout.strip()).parents


def test_command_is_installed(bare):
    pytest.importorskip("sigtext.cli")
    done = run(bare.parent / "sigtext", "--version")
    assert done.returncode == 0, done.stderr
    assert SETTINGS["version"] in done.stdout


def test_demo_of_the_readme(bare, tmp_path):
    pytest.importorskip("sigtext.comparison")
    done = run(bare.parent / "sigtext", "demo", here=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "p = " in done.stdout and list(tmp_path.glob("*.svg"))
