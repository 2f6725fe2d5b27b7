"""README.md from nbs/index.ipynb, without Quarto.

`python -m tools.readme` writes it; with `--check` it fails if README.md is another text.
"""

import re
import sys

from tools.notebooks import read, root, source

HIDDEN = re.compile(r"^#\|\s*(hide|default_exp|export|include:\s*false)", re.M)
SILENT = re.compile(r"^#\|\s*echo:\s*false", re.M)
LINK = re.compile(r"(\]\()(?!https?:|#|/)([^)]+)\)")
KINDS = "text/markdown", "text/plain"


def shown(output):
    """The text of one output, indented as a block; Markdown stays Markdown."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    kind = next((k for k in KINDS if k in data), None)
    text = "".join(data.get(kind, "")).rstrip()
    return text if kind == "text/markdown" else f"```text\n{text}\n```" if text else ""


def build():
    parts = ["<!-- Made from nbs/index.ipynb by tools/readme.py; edit the notebook -->"]
    for cell in read(root / "nbs/index.ipynb")["cells"]:
        text = source(cell).strip()
        if cell["cell_type"] == "markdown":
            parts.append(LINK.sub(r"\1nbs/\2)", text))
        elif cell["cell_type"] == "code" and not HIDDEN.search(text):
            if not SILENT.search(text):
                lines = [s for s in text.split("\n") if not s.startswith("#|")]
                parts.append("```python\n" + "\n".join(lines).strip() + "\n```")
            parts += filter(None, map(shown, cell["outputs"]))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    readme, text = root / "README.md", build()
    if "--check" not in sys.argv:
        readme.write_text(text, encoding="utf-8")
    elif not readme.exists() or readme.read_text(encoding="utf-8") != text:
        sys.exit("README.md is not what nbs/index.ipynb gives: python -m tools.readme")
