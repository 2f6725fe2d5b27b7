"""One way to execute notebooks and to compare their outputs, for the tools and the tests."""

import asyncio
import copy
import json
import re
from pathlib import Path

from tools.notebooks import root


def execute(path):
    """Run a notebook in a new kernel, in its own folder; returns it, cleaned."""
    import nbformat
    from nbclient import NotebookClient

    nb = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(Path(path).parent)}}
    client = NotebookClient(nb, timeout=600, kernel_name="python3", resources=where)
    asyncio.run(client.async_execute())
    return cleaned(json.loads(nbformat.writes(nb)))


def cleaned(nb):
    """The notebook as `nbdev_clean` leaves it, with the keys that settings.ini allows."""
    from nbdev.clean import clean_nb
    from nbdev.config import get_config

    new, settings = copy.deepcopy(nb), get_config(path=root)
    keys = ("allowed_metadata_keys", "allowed_cell_metadata_keys")
    clean_nb(new, False, *(settings.get(k).split() for k in keys))
    return new


def outputs(nb):
    """Per code cell (id, outputs): texts in full, pictures by the words in them.

    Versions of sacreBLEU are left out, and a cell tagged `volatile` counts by kinds only.
    """
    return [(c["id"], _cell(c)) for c in nb["cells"] if c["cell_type"] == "code"]


def _cell(cell):
    seen = {}
    # a stream may arrive in one piece or in several, so its pieces share one key
    outs = sorted(cell["outputs"], key=lambda out: out["output_type"] == "stream")
    for i, out in enumerate(outs):
        for kind, value in out.get("data", {"text": out.get("text", "")}).items():
            text = "".join(value) if not isinstance(value, dict) else json.dumps(value)
            if kind == "image/svg+xml":
                text = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", text))
            elif kind.startswith("image/"):
                text = ""
            text = re.sub(r"base64,[\w+/=]+|(?<=version:)\d[\w.]*", "*", text)
            text = re.sub(r"\bnp\.\w+\(([^()]*)\)", r"\1", text)  # NumPy 2 writes this
            key = (out.get("name", i), out["output_type"], kind)
            seen[key] = seen.get(key, "") + text
    volatile = "volatile" in cell["metadata"].get("tags", [])
    return dict.fromkeys(seen, "") if volatile else seen
