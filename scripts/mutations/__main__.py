"""Mutation testing: breaks one line at a time, of the C++ core or of Python, and reports mutants that no test notices.

    python -m scripts.mutations [--only TEXT] [--jobs N] [--list]

The mutations are in `mutations.txt`. Needs the packages of the `test` extra, and g++ for mutations of the core. Works
in temporary copies of the checkout. The exit status is 1 if a mutant survives, or if its line is not found exactly once
in its file: move the mutation along with the code. A mutant that can't make a difference is marked with the reason; it
is only built and tested with `--equivalent`.
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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from scripts.mutations.table import MUTATIONS, ROOT, Mutation

CORE = Path("spacy_mindroot/core")
EXTENSIONS = dict.fromkeys(
    ("rule_tables.hh", "rule_scores.hh", "rule_search.hh", "crossing_arcs.hh", "arcs_on_demand.hh"), "_rules"
) | dict.fromkeys(
    ("numbers.hh", "matrix_tree.hh", "masks.hh", "sampling.hh", "inside_outside.hh"), "_inference"
)  # of the other headers, _core
QUICK = [  # kill most mutants of the core at once, and import nothing that takes long
    ["-m", "tests.fuzz.core_against_twin", "--seconds", "200", "--count", "600"],
    ["-m", "pytest", "--noconftest", "-x", "-q", "-p", "no:cacheprovider", "tests/core/test_ties.py"]
    + ["tests/core/test_fault.py", "tests/core/test_large_scores.py", "tests/core/test_parallel.py"],
]
NARROW = "-DMINDROOT_DISPATCH=0"  # compiles faster, and short rows fill vectors, too
SCALAR = "-DMINDROOT_VECTORS=0"  # for mutations of the scalar loops
SECONDS = 240  # a mutant may loop for ever
MEMORY = 16 << 30


class Workshop:
    """A copy of the checkout in which mutants are built and tested, one at a time."""

    def __init__(self, folder: Path, core: bool, like: Workshop | None = None):
        """`core`: whether the core is to be mutated, which is then built for that."""
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
        for extension in ("_core", "_inference", "_rules") if core else ():
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

    def test(self, tests: Sequence[str], quick: list[list[str]]) -> str:
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
        file = self.folder / mutation.path
        original = file.read_text("utf8")
        try:
            file.write_text(mutation.mutated(), "utf8")
            if file.suffix != ".hh":
                killer = self.test(mutation.tests, [])
            else:
                extension = EXTENSIONS.get(file.name, "_core")
                library = self.folder / CORE / f"{extension}.abi3.so"
                built = library.read_bytes()
                try:
                    if self.build(extension, SCALAR if mutation.note.startswith("scalar") else NARROW):
                        return "not compiled", ""
                    first = [] if extension == "_rules" else QUICK  # the quick tests do without the search under rules
                    killer = self.test([] if quick else mutation.tests, first)
                finally:
                    library.unlink(missing_ok=True)
                    library.write_bytes(built)  # a mutant of the other extension module must not be tested with this
            return ("killed", killer) if killer else ("survived", "")
        finally:
            file.write_text(original, "utf8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only", default="", help="only mutations whose file or note has one of these in it, by commas"
    )
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time (default: 1)")
    parser.add_argument("--equivalent", action="store_true", help="also try those that are listed as equivalent")
    parser.add_argument(
        "--quick", action="store_true", help="of the core, the quick tests only: what survives is for a second run"
    )
    parser.add_argument("--unchecked", action="store_true", help="don't run the tests without a mutation first")
    parser.add_argument("--list", action="store_true", help="list the mutations, and say which lines have moved")
    arguments = parser.parse_args()

    verdicts: Counter[str] = Counter()
    chosen = []
    for mutation in MUTATIONS:
        if not any(part in mutation.name for part in arguments.only.split(",")):
            continue
        try:
            mutation.mutated()
        except ValueError as error:
            verdicts["moved"] += 1
            print(f"moved         {error}", flush=True)
            continue
        if mutation.equivalent and not arguments.equivalent:
            verdicts["equivalent"] += 1
            print(f"equivalent    {mutation.name} ({mutation.equivalent})", flush=True)
        else:
            chosen.append(mutation)
    if arguments.list:
        for mutation in chosen:
            print(f"              {mutation.name}")
        return 1 if verdicts["moved"] else 0

    core = any(mutation.path.endswith(".hh") for mutation in chosen)
    with tempfile.TemporaryDirectory(prefix="mutations-") as temporary:
        shops: SimpleQueue[Workshop] = SimpleQueue()
        shop = None
        for job in range(arguments.jobs):
            folder = Path(temporary) / f"{job}"
            folder.mkdir()
            shops.put(shop := Workshop(folder, core, shop))
        shop = shops.get()
        tests = sorted({name for mutation in chosen for name in mutation.tests})
        if not arguments.unchecked and (failed := shop.test(tests, QUICK if core else [])):
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
            print(f"{verdict:12}  {mutation.name}  [{killer}; {seconds:.0f} s]", flush=True)
            return verdict

        with ThreadPoolExecutor(arguments.jobs) as threads:
            verdicts.update(threads.map(try_out, chosen))
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    return 1 if verdicts["survived"] or verdicts["moved"] or verdicts["not compiled"] else 0


if __name__ == "__main__":
    sys.exit(main())
