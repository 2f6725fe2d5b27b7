"""One way to execute notebooks, for the tools and the tests."""

import asyncio
import copy
import json
from pathlib import Path

from tools.notebooks import root

WIDGET = "application/vnd.jupyter.widget-view+json"


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
    """The notebook as `nbdev_clean` leaves it, and without widgets.

    Their ids change, and whether a progress bar appears depends on the machine.
    """
    from nbdev.clean import clean_nb
    from nbdev.config import get_config

    new, settings = copy.deepcopy(nb), get_config(path=root)
    keys = ("allowed_metadata_keys", "allowed_cell_metadata_keys")
    clean_nb(new, False, *(settings.get(k).split() for k in keys))
    new["metadata"].pop("widgets", None)
    for cell in new["cells"]:
        if cell["cell_type"] == "code":
            kept = [out for out in cell["outputs"] if WIDGET not in out.get("data", {})]
            cell["outputs"] = kept
    return new
