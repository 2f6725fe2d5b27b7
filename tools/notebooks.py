"""The notebooks, their cells and their modules, for the tools and the tests."""

import json
import re
from pathlib import Path

root = Path(__file__).resolve().parent.parent


def notebooks():
    """All notebooks in reading order: by number, the front page last."""
    found = (root / "nbs").rglob("*.ipynb")
    return sorted(
        (p for p in found if not p.parts[-2].startswith(".")), key=lambda p: p.name
    )


def read(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def write(path, nb):
    text = json.dumps(nb, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
    Path(path).write_text(text, encoding="utf-8")


def source(cell):
    return "".join(cell["source"])


def module(nb):
    """The module that a notebook exports to, such as `testbeds.summaries`; None if none."""
    found = [
        re.search(r"^#\|\s*default_exp\s+(\S+)", source(c), re.M) for c in nb["cells"]
    ]
    return next((m[1] for m in found if m), None)


def exported(nb):
    """The cells whose code is exported."""
    cells = (c for c in nb["cells"] if c["cell_type"] == "code")
    return [c for c in cells if re.search(r"^#\|\s*export", source(c), re.M)]
