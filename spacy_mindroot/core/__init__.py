"""The algorithm: arc scores in, heads out. Knows nothing of spaCy or of the rest of this package."""

try:
    from . import _core  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"The compiled core of spacy-mindroot can't be imported ({error}). Build it from the checkout with "
        "`pip install -e .`, which needs a C++17 compiler, or install a wheel. There is no slower substitute."
    ) from error
