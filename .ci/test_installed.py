"""Run the tests of an unpacked sdist against the package that is installed.

Usage: `python test_installed.py FOLDER [PYTEST ARGUMENTS]`.

The extension modules of the installed package are copied into the folder, for the tests that start commands there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "spacy_mindroot"


def main() -> int:
    """Return pytest's exit status."""
    folder = Path(sys.argv[1]).resolve()
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        sys.exit(f"{PACKAGE} is not installed.")
    installed = Path(spec.origin).parent.resolve()
    if installed.is_relative_to(folder):
        sys.exit(f"{PACKAGE} is imported from {installed}, the folder with the tests. Run this in another folder.")
    modules = [path for path in installed.rglob("_*") if path.suffix in (".so", ".pyd")]
    if not modules:
        sys.exit(f"{installed} has no extension modules.")
    for module in modules:
        shutil.copy(module, folder / PACKAGE / module.relative_to(installed))
    return subprocess.run([sys.executable, "-m", "pytest", "-q", *sys.argv[2:]], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
