"""`import sigtext` is light: what is heavy is loaded where it is used."""

import subprocess
import sys

import pytest

from tools.notebooks import module, notebooks, read

HEAVY = (
    "matplotlib ipywidgets IPython sacrebleu nbdev fastcore execnb scipy.stats "
    "scipy.optimize tqdm statsmodels pandas"
).split()
MODULES = [m for m in map(module, map(read, notebooks())) if m]


def loaded(code):
    code = f"import sys\n{code}\nprint(*(m for m in {HEAVY} if m in sys.modules))"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("name", ["", *(f".{m}" for m in MODULES)])
def test_light(name):
    assert loaded(f"import sigtext{name}") == []


def test_public_module_and_name_are_lazy():
    before = "import sigtext; assert not [m for m in sys.modules if 'sigtext.' in m]"
    assert loaded(before) == [] and loaded(f"{before}; import numpy") == []


def test_loaded_sees_what_is_loaded():
    assert loaded("import tqdm") == ["tqdm"]
