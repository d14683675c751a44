"""The algorithms on arc scores, compiled. They know nothing of spaCy or of the rest of this package."""

from importlib import import_module
from pathlib import Path

__all__: list[str] = []

try:
    for name in ("._core", "._inference"):
        import_module(name, __name__)  # the error of `from . import` would blame a circular import
except ImportError as error:
    raise ImportError(
        f"The compiled core of spacy-mindroot can't be imported from {Path(__file__).parent} ({error}). If this is a "
        "checkout, build it with `pip install -e .`, which needs a C++17 compiler, or leave the folder to use an "
        "installed package. There is no slower fallback."
    ) from error
