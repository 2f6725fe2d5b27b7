"""Execute notebooks in new kernels, store their outputs, show which changed.

python -m tools.fresh [NAME ...]    a NAME is part of a notebook's name; none means all
"""

import difflib
import os
import sys
import time

from tools.notebooks import notebooks, read, root, source, write
from tools.running import execute, outputs


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


def main():
    os.environ["PYTHONPATH"] = str(root)
    names = sys.argv[1:] or [""]
    chosen = [p for p in notebooks() if any(name in p.stem for name in names)]
    if not chosen:
        sys.exit(f"no notebook is called {' or '.join(names)}")
    for path in chosen:
        start, old = time.perf_counter(), read(path)
        new = execute(path)
        changed = list(changes(old, new))
        seconds = f"{time.perf_counter() - start:5.1f} s"
        same = "same outputs" if new == old else "pictures or metadata changed"
        print(seconds, path.relative_to(root), "" if changed else same, sep="  ")
        print(*changed, sep="\n", end="\n" if changed else "")
        write(path, new)


if __name__ == "__main__":
    main()
