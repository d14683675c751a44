"""The command line of the fuzzers. `core` and `inference` run the C++ core alone, under libFuzzer."""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import traceback
from pathlib import Path

from .running import fuzz, replay
from .targets import TARGETS

NATIVE = ("core", "inference")
MOST_MEMORY = 4 << 30  # bytes of address space beyond those in use at the start


def limit_memory() -> None:
    """Limit the memory of this process, where the system can, so that an input that asks for too much fails at once."""
    try:
        import resource
    except ImportError:  # Windows
        return
    status = Path("/proc/self/statm")
    if status.exists():
        in_use = int(status.read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + MOST_MEMORY, resource.RLIM_INFINITY))


def main() -> int:
    """Fuzz one target, and return the exit status: 0 if nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=[*NATIVE, *TARGETS])
    parser.add_argument("--seconds", type=float, default=60, help="how long to try random inputs; 0 replays the corpus")
    parser.add_argument("--seed", type=int, default=None, help="of the random numbers (default: another each time)")
    parser.add_argument("--input", type=Path, default=None, help="check this file alone, as written for a failure")
    options = parser.parse_args()
    if options.target in NATIVE:
        from .native import run

        return run(options.target, options.seconds)
    limit_memory()
    if options.input is not None:
        from .running import check

        found = check(TARGETS[options.target](), options.input.read_bytes())
        return _report(options.target, None if found is None else (found.data, found.error))
    failed = {name: found for name, found in replay(TARGETS[options.target]()).items() if found is not None}
    for name, found in failed.items():
        traceback.print_exception(found.error)
        print(f"{options.target}: the corpus file {name} breaks a property.")
    if failed:
        return 1
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    tried, found = fuzz(options.target, options.seconds, seed)
    print(f"{options.target}: {tried:,} random inputs in {options.seconds:g} s, seed {seed}", flush=True)
    return _report(options.target, None if found is None else (found.data, found.error))


def _report(target: str, found: tuple[bytes, BaseException] | None) -> int:
    if found is None:
        print(f"{target}: nothing found")
        return 0
    data, error = found
    path = Path(f"found-{target}-{hashlib.sha256(data).hexdigest()[:12]}")
    path.write_bytes(data)
    traceback.print_exception(error)
    print(f"{target}: an input breaks a property. It is in {path}; `--input {path}` checks it again.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
