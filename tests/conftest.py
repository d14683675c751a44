from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:  # one of several processes: threads would only take cores from the others
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
import spacy
from thinc.api import get_current_ops, set_current_ops

with warnings.catch_warnings(action="ignore"):  # of other plug-ins
    spacy.registry.cli.get_all()  # the commands of plug-ins, as `spacy` loads them when it starts

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell; processes that tests start, too
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT))  # for benchmarks and scripts; last, so that an installed package is the one that is tested
DATA = Path(os.environ.get("MINDROOT_DATA", ROOT / "../shared/data")).resolve()


@pytest.fixture(autouse=True)
def keep_ops():
    """Benchmarks and some scripts choose the matrix products of the process: other tests must not see it."""
    ops = get_current_ops()
    yield
    set_current_ops(ops)


@pytest.fixture
def rng():
    return np.random.default_rng(20201116)


@pytest.fixture(scope="session")
def checkout():
    return ROOT


@pytest.fixture(scope="session")
def data():
    """The folder of treebanks and score files; tests that need it are skipped where there is none."""
    if not DATA.is_dir():
        pytest.skip(f"no data at {DATA}; set MINDROOT_DATA")
    return DATA


# The files that take longest go first, so that with `--dist loadfile` no process is left alone with one at the end.
SLOWEST = (
    "cli/test_bad_input.py",
    "corpora/test_engine.py",
    "tests/test_project.py",
    "web/test_page.py",
    "tests/test_saving.py",
    "docs/test_tutorials.py",
    "scripts/test_treebanks.py",
    "cli/test_audit.py",
    "tools/building/test_training.py",
    "cli/test_build.py",
    "tools/building/test_build.py",
    "tools/building/test_wheel.py",
    "cli/test_init_config.py",
    "cli/test_paths.py",
    "cli/test_written_conllu.py",
    "cli/test_code.py",
)


def pytest_configure(config):
    if hasattr(config.option, "loadscopereorder"):  # of pytest-xdist: files with most tests first
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items):
    def place(item):
        path = item.path.as_posix()
        return next((k for k, name in enumerate(SLOWEST) if path.endswith(name)), len(SLOWEST))

    items.sort(key=place)


def pytest_generate_tests(metafunc):
    """`score_file` runs over each score file, `case` over each case of the kind that the marker `cases` names.

    Where the data is absent there is one test, skipped, with the reason.
    """
    if "score_file" in metafunc.fixturenames:
        files = sorted((DATA / "scores").glob("*.npz"))
        metafunc.parametrize(
            "score_file", files or [absent(DATA / "scores")], ids=[file.stem for file in files] or ["absent"]
        )
    if "case" in metafunc.fixturenames:
        (kind,) = metafunc.definition.get_closest_marker("cases").args
        path = DATA.parent / "cases" / "cases.jsonl"
        cases = [json.loads(line) for line in path.read_text("utf8").splitlines()] if path.exists() else []
        cases = [case for case in cases if case["kind"] == kind]
        metafunc.parametrize("case", cases or [absent(path)], ids=[case["id"] for case in cases] or ["absent"])


def absent(path):
    return pytest.param(None, marks=pytest.mark.skip(reason=f"nothing at {path}; set MINDROOT_DATA"))
