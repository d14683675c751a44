"""The algorithm: arc scores in, heads out. Knows nothing of spaCy or of the rest of this package."""

from importlib import import_module
from pathlib import Path

try:
    for name in ("._core", "._inference"):
        import_module(name, __name__)  # `from . import` would tell of a circular import where there is none
except ImportError as error:
    raise ImportError(
        f"The compiled core of spacy-mindroot can't be imported from {Path(__file__).parent} ({error}). If this is a checkout, build it "
        "there with `pip install -e .`, which needs a C++17 compiler, or leave the folder to use an installed package. There is no "
        "slower substitute."
    ) from error
