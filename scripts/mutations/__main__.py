"""Mutation testing of the C++ core: breaks one line at a time, rebuilds, and reports the mutants that no test notices.

    python -m scripts.mutations [--only TEXT] [--jobs N] [--list]

Needs g++ and the packages of the `test` extra. Works in temporary copies of the checkout. The exit status is 1 if a
mutant survives, or if its line is not found exactly once in its file: move the mutation along with the code. A mutant
that can't make a difference is marked `equivalent`, with the reason; it is only built and tested with `--equivalent`.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from scripts.mutations.table import CORE, EXTENSIONS, MUTATIONS, ROOT, Mutation

QUICK = [  # kill most mutants at once, and import nothing that takes long
    ["-m", "tests.fuzz.core_against_twin", "--seconds", "200", "--count", "600"],
    ["-m", "pytest", "--noconftest", "-x", "-q", "-p", "no:cacheprovider", "tests/core/test_ties.py"]
    + ["tests/core/test_fault.py", "tests/core/test_large_scores.py", "tests/core/test_parallel.py"],
]
TESTS = {
    "rows": ["tests/core", "tests/test_decoding.py"],
    "arborescence": ["tests/core", "tests/test_decoding.py"],
    "root_constraint": ["tests/core", "tests/test_decoding.py"],
    "decode": ["tests/core", "tests/test_decoding.py"],
    "parallel": ["tests/core", "tests/test_decoding.py"],
    "kbest": ["tests/core", "tests/inference/test_next_best.py"],
    "projective": ["tests/core", "tests/test_decoding.py"],
    "numbers": ["tests/inference/test_matrix_tree.py", "tests/inference/test_arc_confidence.py", "tests/core"],
    "matrix_tree": ["tests/inference/test_matrix_tree.py", "tests/inference/test_sampling.py", "tests/core"],
    "sampling": ["tests/inference/test_sampling.py", "tests/core"],
    "confidence": ["tests/inference/test_calibration.py", "tests/inference/test_arc_confidence.py"],
    "inside_outside": ["tests/core/test_inside_outside.py"],
    **dict.fromkeys(
        ("rule_tables", "rule_scores", "rule_search", "crossing_arcs", "arcs_on_demand"),
        ["tests/core/test_rules.py", "tests/rules/test_labelled.py"],
    ),
}
NARROW = "-DMINDROOT_DISPATCH=0"  # compiles faster, and short rows fill vectors, too
SCALAR = "-DMINDROOT_VECTORS=0"  # for mutations of the scalar loops
SECONDS = 240  # a mutant may loop for ever
MEMORY = 16 << 30


class Workshop:
    """A copy of the checkout in which mutants are built and tested, one at a time."""

    def __init__(self, folder: Path, like: Workshop | None = None):
        self.folder = folder
        if like is not None:
            shutil.copytree(like.folder, folder, dirs_exist_ok=True)
            return
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)
        for built in (ROOT / "spacy_mindroot").rglob("*.abi3.so"):
            shutil.copy(built, folder / built.relative_to(ROOT))
        for extension in EXTENSIONS:
            cython = [sys.executable, "-m", "cython", "-3", "--cplus", f"{CORE / extension}.pyx"]
            subprocess.run(cython, cwd=folder, check=True, capture_output=True)
            if fault := self.build(extension, NARROW):
                raise SystemExit(f"{extension} does not compile:\n{fault}")

    def build(self, extension: str, vectors: str) -> str:
        """Compile an extension module. Returns what the compiler says if it fails."""
        command = ["g++", "-std=c++17", "-O0", "-fPIC", "-shared", "-pthread", "-w", "-DPy_LIMITED_API=0x030B0000"]
        command += [vectors]
        command += [f"-I{CORE}", f"-I{sysconfig.get_path('include')}", f"{CORE / extension}.cpp"]
        command += ["-o", f"{CORE / extension}.abi3.so"]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True).stderr

    def test(self, tests: list[str], quick: list[list[str]] = QUICK) -> str:
        """Run the tests until the first one fails. Returns its name, "" if all pass. `tests`: after the quick ones."""
        pytest = ["-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]
        environment = os.environ | {"MINDROOT_DATA": str(self.folder / "no data"), "PYTHONDONTWRITEBYTECODE": "1"}
        for command in [*quick, pytest] if tests else quick:
            try:
                run = subprocess.run(
                    [sys.executable, *command],
                    cwd=self.folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=SECONDS,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
                )
            except subprocess.TimeoutExpired:
                return f"(not done after {SECONDS} s)"
            if run.returncode != 0:
                failed = [line.split()[1] for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                said = [line.partition(":")[0] for line in run.stderr.splitlines() if line.startswith("seed ")]
                return (failed + said + [f"exit status {run.returncode}"])[0]
        return ""

    def try_out(self, mutation: Mutation, quick: bool) -> tuple[str, str]:
        """Return the verdict on a mutant, "killed" or "survived", and the test that killed it."""
        header = self.folder / CORE / f"{mutation.header}.hh"
        library = self.folder / CORE / f"{mutation.extension}.abi3.so"
        original, built = header.read_text("utf8"), library.read_bytes()
        try:
            header.write_text(mutation.mutated(), "utf8")
            if self.build(mutation.extension, SCALAR if mutation.note.startswith("scalar") else NARROW):
                return "not compiled", ""
            # The quick tests do without the search under rules.
            first = [] if mutation.header == "rules" and not quick else QUICK
            killer = self.test([] if quick else TESTS[mutation.header], first)
            return ("killed", killer) if killer else ("survived", "")
        finally:
            header.write_text(original, "utf8")
            library.unlink(missing_ok=True)
            library.write_bytes(built)  # a mutant of the other extension module must not be tested with this one


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only", default="", help="only mutations whose header or note has one of these in it, by commas"
    )
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time (default: 1)")
    parser.add_argument("--equivalent", action="store_true", help="also try those that are listed as equivalent")
    parser.add_argument("--quick", action="store_true", help="the quick tests only: what survives is for a second run")
    parser.add_argument("--unchecked", action="store_true", help="don't run the tests without a mutation first")
    parser.add_argument("--list", action="store_true", help="list the mutations, and say which lines have moved")
    arguments = parser.parse_args()

    verdicts: Counter[str] = Counter()
    chosen = []
    for mutation in MUTATIONS:
        if not any(part in f"{mutation.header}.hh: {mutation.note}" for part in arguments.only.split(",")):
            continue
        try:
            mutation.mutated()
        except ValueError as error:
            verdicts["moved"] += 1
            print(f"moved         {error}", flush=True)
            continue
        if mutation.equivalent and not arguments.equivalent:
            verdicts["equivalent"] += 1
            print(f"equivalent    {mutation.header}.hh: {mutation.note} ({mutation.equivalent})", flush=True)
        else:
            chosen.append(mutation)
    if arguments.list:
        for mutation in chosen:
            print(f"              {mutation.header}.hh: {mutation.note}")
        return 1 if verdicts["moved"] else 0

    with tempfile.TemporaryDirectory(prefix="mutations-") as temporary:
        shops: SimpleQueue[Workshop] = SimpleQueue()
        shop = None
        for job in range(arguments.jobs):
            folder = Path(temporary) / f"{job}"
            folder.mkdir()
            shops.put(shop := Workshop(folder, shop))
        shop = shops.get()
        if not arguments.unchecked and (
            failed := shop.test(sorted({name for names in TESTS.values() for name in names}))
        ):
            raise SystemExit(f"Without any mutation, {failed} fails.")
        shops.put(shop)

        def try_out(mutation: Mutation) -> str:
            shop = shops.get()
            start = time.monotonic()
            try:
                verdict, killer = shop.try_out(mutation, arguments.quick)
            finally:
                shops.put(shop)
            seconds = time.monotonic() - start
            print(f"{verdict:12}  {mutation.header}.hh: {mutation.note}  [{killer}; {seconds:.0f} s]", flush=True)
            return verdict

        with ThreadPoolExecutor(arguments.jobs) as threads:
            verdicts.update(threads.map(try_out, chosen))
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    return 1 if verdicts["survived"] or verdicts["moved"] or verdicts["not compiled"] else 0


if __name__ == "__main__":
    sys.exit(main())
