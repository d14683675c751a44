"""The pipeline of a process: loaded once, and identified, so that all processes parse with the same one."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from spacy.language import Language

from ..arc_scorer.products import make_product_setter, products_in_use
from ..pipeline.scoring import find_mind_root
from ..tools.gold import load_pipeline

__all__ = ["Identity", "Loaded", "loaded", "this_process", "undo_trimming"]

_MALLOC = ((-1, 64 << 20), (-3, 32 << 20))  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD: the most that glibc chooses itself
_PACKAGES = ("spacy-mindroot", "spacy", "thinc", "numpy")  # all of them may change a parse


@dataclass(frozen=True)
class Identity:
    """The facts that determine the parses of a pipeline."""

    model: str  # language and name, such as "en_core_news"
    version: str
    digest: str  # of all files of the pipeline
    packages: dict[str, str]
    products: str  # the matrix products in use, "numpy" or "blis", which round differently

    def difference(self, other: Identity) -> str:
        """Describe how another pipeline differs from this one; "" if it does not. The products are not compared."""
        for name, mine, others in (
            ("model", f"{self.model} {self.version}", f"{other.model} {other.version}"),
            ("files of the model", self.digest, other.digest),
            *((name, self.packages.get(name), other.packages.get(name)) for name in _PACKAGES),
        ):
            if mine != others:
                return f"{name}: {mine} and {others}"
        return ""


@dataclass
class Loaded:
    """A pipeline in this process, with the settings that it was loaded for."""

    nlp: Language
    identity: Identity
    lock: Any  # a pipeline parses in one thread at a time


_pipelines: dict[tuple[str, bool, int], Loaded] = {}
_lock = threading.Lock()


@contextmanager
def loaded(model: str, *, confidence: bool = False, kbest: int = 1, products: str | None = None) -> Iterator[Loaded]:
    """Yield a pipeline, which is loaded when this process needs it for the first time. No other thread uses it.

    confidence (bool), kbest (int): Set on `mind_root`, unless they are False and 1.
    products (Optional[str]): The matrix products to use; None for those of the pipeline's own choice.
    """
    key = (model, confidence, kbest)
    with _lock:
        found = _pipelines.get(key)
        if found is None:
            found = _pipelines[key] = _load(model, confidence, kbest)
    with found.lock:
        if products is not None and products != products_in_use(found.nlp):
            make_product_setter(products)(found.nlp)  # type: ignore[arg-type]
        yield found


def undo_trimming() -> bool:
    """Let this process keep memory for later, unlike Dask's workers by default. Return False if that fails.

    Dask sets MALLOC_TRIM_THRESHOLD_ for them, with which memory goes back to the system all the time. Parsing then
    takes up to 1.5 times as much CPU time. This restores the default thresholds of glibc.
    """
    if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        return True
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):  # not glibc
        return False
    return all(set_option(option, value) for option, value in _MALLOC)


def _load(model: str, confidence: bool, kbest: int) -> Loaded:
    undo_trimming()
    nlp = load_pipeline(model)
    if confidence or kbest > 1:
        _, component = find_mind_root(nlp)
        component.confidence = component.confidence or confidence
        component.kbest = max(component.kbest, kbest)
        component.check_settings()
    packages = {name: version(name) for name in _PACKAGES}
    meta = nlp.meta
    identity = Identity(
        f"{meta['lang']}_{meta['name']}", str(meta["version"]), _digest(model), packages, products_in_use(nlp)
    )
    return Loaded(nlp, identity, threading.RLock())


def _digest(model: str) -> str:
    """Return a digest of the files of a pipeline."""
    folder = Path(model)
    if not folder.exists():
        spec = importlib.util.find_spec(model)
        if spec is None or not spec.submodule_search_locations:
            return ""
        folder = Path(next(iter(spec.submodule_search_locations)))
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder).as_posix()}\n{path.stat().st_size}\n".encode())
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()[:32]


def this_process() -> str:
    """Return the name of this process in messages and temporary files."""
    return f"{socket.gethostname()}-{os.getpid()}"
