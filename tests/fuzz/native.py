"""Fuzzes the C++ core on its own, without Python: libFuzzer with the address and undefined-behaviour sanitizers.

Targets: `core` (decoders, k best trees) and `inference` (partition functions, marginals, samples). Results are compared
with slow, independent answers: see oracles.hh.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["TARGETS", "run"]

TARGETS = ("core", "inference")
HERE = Path(__file__).resolve().parent
HEADERS = HERE.parent.parent / "spacy_mindroot" / "core"
MISSING = (
    "Fuzzing the C++ core needs clang++ with libFuzzer and the sanitizers: `apt-get install clang libclang-rt-dev` on "
    "Debian and Ubuntu (there also named clang-14, libclang-rt-14-dev), `dnf install clang compiler-rt` on Fedora, "
    "`brew install llvm` on macOS. CXX names another compiler than clang++."
)
FLAGS = (
    "-std=c++17",
    "-O1",
    "-g",
    "-pthread",
    "-fsanitize=fuzzer,address,undefined",
    "-fno-sanitize-recover=undefined",
)
NARROW = "-DMINDROOT_DISPATCH=0"  # compiles in a third of the time, and short rows fill vectors, too


def build(target: str, binary: Path, flags: tuple[str, ...] = (NARROW,)) -> None:
    """Compile a target. Raises SystemExit if that fails; the message says what to install."""
    compiler = os.environ.get("CXX", "clang++")
    if shutil.which(compiler) is None:
        raise SystemExit(f"There is no {compiler}. {MISSING}")
    command = [compiler, *FLAGS, *flags, f"-I{HEADERS}", str(HERE / f"{target}.cc"), "-o", str(binary)]
    compiled = subprocess.run(command, capture_output=True, text=True)
    if compiled.returncode != 0:
        raise SystemExit(f"{compiled.stderr}\n{' '.join(command)} failed. {MISSING}")


def run(target: str, seconds: float) -> int:
    """Fuzz a target for some time, the build left out.

    Returns 0 if nothing was found. Otherwise prints the report of the sanitizer or the check that failed, keeps the
    input in the current folder as `crash-...`, and returns 1.
    """
    if target not in TARGETS:
        raise SystemExit(f"no target {target!r}: there are {', '.join(TARGETS)}.")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as temporary:
        binary, corpus = Path(temporary) / target, Path(temporary) / "corpus"
        corpus.mkdir()
        build(target, binary)
        kept = HERE / "corpus" / target
        folders = [str(corpus), *([str(kept)] if kept.is_dir() else [])]
        limits = [f"-max_total_time={max(1, round(seconds))}", "-max_len=256", "-len_control=0", "-timeout=30"]
        fuzzed = subprocess.run([str(binary), *limits, *folders], capture_output=True, text=True, errors="replace")
    done = re.search(r"^Done (\d+) runs in (\d+) second", fuzzed.stderr, re.MULTILINE)
    if fuzzed.returncode == 0 and done:
        print(f"{target}: {int(done[1]):,} inputs in {done[2]} s, nothing found")
        return 0
    print(fuzzed.stderr, file=sys.stderr)
    print(f"{target}: found something. The input is in the file that is named above.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    sys.exit(run(arguments.target, arguments.seconds))
