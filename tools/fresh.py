"""Execute notebooks in new kernels, store their outputs, show which changed.

python -m tools.fresh [NAME ...]    a NAME is part of a notebook's name; none means all
"""

import os
import sys
import time

from tools.notebooks import notebooks, read, root, write
from tools.outputs import changes
from tools.running import execute


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
