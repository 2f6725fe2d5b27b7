"""The outputs of notebooks, as far as they have to stay the same, and how they differ."""

import difflib
import json
import re

from tools.notebooks import source


def outputs(nb):
    """Per code cell (id, outputs): texts in full, pictures by the words in them.

    Versions of sacreBLEU are left out, and a cell tagged `volatile` counts by kinds only.
    So is what the processor's own logarithm decides: digits after the tenth, and an
    error measured against a band like [0, 1e-10]; its verdict stays.
    """
    return [(c["id"], _cell(c)) for c in nb["cells"] if c["cell_type"] == "code"]


_ROUNDING = r"(?<=measured )\S+?(?=(,| \|) band \[0, \d(\.\d+)?e-([7-9]|\d\d)\])"


def _short(number):
    return f"{float(number[0]):.10g}"


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
            text = re.sub(_ROUNDING, "*", text)
            text = re.sub(r"\d\.\d{11,}(e[-+]\d+)?|0\.\d{11,}", _short, text)
            key = (out.get("name", i), out["output_type"], kind)
            seen[key] = seen.get(key, "") + text
    volatile = "volatile" in cell["metadata"].get("tags", [])
    return dict.fromkeys(seen, "") if volatile else seen


def changes(old, new):
    """Lines of a diff of the outputs, cell by cell."""
    before, code = dict(outputs(old)), {c["id"]: source(c) for c in new["cells"]}
    for name, now in outputs(new):
        was = before.get(name, {})
        if was == now:
            continue
        yield f"  cell {name}: {code[name].splitlines()[-1][:70]}"
        for key in dict.fromkeys([*was, *now]):
            a, b = was.get(key, "").splitlines(), now.get(key, "").splitlines()
            diff = difflib.unified_diff(a, b, lineterm="", n=0)
            yield from (f"    {line[:110]}" for line in list(diff)[3:23])
