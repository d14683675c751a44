"""Speed and memory of whole pipelines as installed, each in a fresh process, ours and spaCy's, in the same run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONTESTANTS = {
    "cpu-accurate": str(ROOT / "configs" / "whole-doc-accurate.cfg"),
    "cpu-small": str(ROOT / "configs" / "whole-doc-small.cfg"),
    "spaCy's tok2vec and parser": "spacy",
}
_PRESET = ("OPENBLAS_", "OMP_", "MKL_", "BLIS_")  # variables that change products and their threads


def measure_installed(
    treebank: Path, repeats: int, other: Path | None, other_configs: Path | None
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the name of each pipeline and its figures.

    other (Optional[Path]): The interpreter of another installation, whose pipelines are measured as well.
    other_configs (Optional[Path]): Folder of the configs of that installation.
    """
    for name, config in CONTESTANTS.items():
        yield name, _run(sys.executable, config, treebank, repeats)
        if other is not None and other_configs is not None and config != "spacy":
            yield (
                f"{name}, other installation",
                _run(str(other), str(other_configs / Path(config).name), treebank, repeats),
            )


def _run(python: str, config: str, treebank: Path, repeats: int) -> dict[str, float]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_PRESET)}
    script = str(Path(__file__).with_name("installed_worker.py"))
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for task in (
            ["train", config, str(treebank), folder],
            ["measure", folder, str(treebank), str(repeats)],
            ["memory", folder, str(treebank)],
        ):
            done = subprocess.run(
                [python, script, *task], env=environment, stdout=subprocess.PIPE, text=True, check=True, cwd=folder
            )
            figures |= json.loads(done.stdout.splitlines()[-1])
    return figures
