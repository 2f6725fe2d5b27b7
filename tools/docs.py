"""Render the site to _docs/ with Quarto: python -m tools.docs"""

import os
import shutil
import subprocess
import sys

from tools.notebooks import root

if __name__ == "__main__":
    quarto = shutil.which("quarto")
    if quarto is None:
        sys.exit("quarto is not installed; see https://quarto.org/docs/get-started/")
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path}
    sys.exit(subprocess.run([quarto, "render"], cwd=root, env=env).returncode)
