"""A lexicon as a table of `nlp.vocab.lookups`: the ambiguity class and the lemmas of each word form.

The ambiguity class is the set of the tags (part of speech and features) that a form may have. Class and lemmas are
32-bit hashes, 0 for words that are not in the lexicon. They do not depend on other entries, so that the lexicon of a
trained pipeline may grow.
"""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.attrs import LOWER, ORTH
from spacy.language import Language
from spacy.lookups import Table
from spacy.strings import get_string_id
from spacy.vocab import Vocab

from ..errors import CorpusError, MindRootError
from .lexicon_files import LexiconFile

__all__ = [
    "FORM_ATTRS",
    "TABLE",
    "describe_lexicon",
    "known_share",
    "make_lexicon",
    "make_lexicon_setter",
    "word_classes",
]

#: The name of the table.
TABLE = "mindroot_lexicon"

#: The attributes by which a word is looked up, in this order.
FORM_ATTRS = (ORTH, LOWER)

_COLUMNS = {"forms": "<u8", "classes": "<u4", "lemmas": "<u4"}  # of the table, sorted by form


def make_lexicon_setter(files: list[Path]) -> Callable[[Language], Language]:
    """Return a callback for `before_init` under `[initialize]`, which gives a pipeline its lexicon.

    The other tables of `nlp.vocab.lookups`, such as spaCy's norms of words, stay. `[initialize.lookups]` would replace
    them.

    files (list[Path]): The lexicon, in one file or several. See `arc_scorer.lexicon_files`.
    """

    def set_lexicon(nlp: Language) -> Language:
        if nlp.config["initialize"]["lookups"] is not None:
            raise MindRootError(
                "The config has [initialize.lookups], whose tables would replace the lexicon of "
                "[initialize.before_init]. Remove [initialize.lookups]."
            )
        nlp.vocab.lookups.set_table(TABLE, make_lexicon(files))
        return nlp

    return set_lexicon


def make_lexicon(files: str | Path | Iterable[str | Path], base: Table | None = None) -> Table:
    """Return the table of a lexicon.

    files: The files, or a single one.
    base (Optional[Table]): A lexicon to extend. Words that it has stay as they are.
    RAISES (CorpusError): If a file is no lexicon, or there is none.
    """
    columns = (array("Q"), array("Q"), array("Q"))  # form, tag, lemma
    add_form, add_tag, add_lemma = (column.append for column in columns)
    about = []
    for path in [files] if isinstance(files, (str, Path)) else files:
        file = LexiconFile(path)
        before, tagged = len(columns[0]), False
        for form, lemma, tag in file:
            add_form(get_string_id(form))
            add_tag(get_string_id(f"{tag}\n"))  # not the name of an attribute of spaCy's, such as NOUN, whose hash is
            add_lemma(get_string_id(f"{lemma}\n"))  # a small number, so that sums of two are alike
            tagged |= tag != ""
        if len(columns[0]) == before:
            raise CorpusError(f"The lexicon {path} has no readings of words ({file.format} format).")
        if not tagged:
            raise CorpusError(
                f"The lexicon {path} has no parts of speech ({file.format} format). A dictionary of hunspell needs the "
                "fields `po:`; others are lists of words, which are of no use here."
            )
        about.append(
            {"name": file.path.name, "readings": len(columns[0]) - before, "format": file.format, **file.about}
        )
    if not about:
        raise CorpusError("A lexicon needs at least one file.")
    forms, tags, lemmas = (np.frombuffer(column, dtype=np.uint64) for column in columns)
    known, classes = _hashes_of_sets(forms, tags)
    _, lemma_sets = _hashes_of_sets(forms, lemmas)
    table = Table(TABLE)
    for (name, dtype), values in zip(_COLUMNS.items(), (known, classes, lemma_sets), strict=True):
        table[name] = values.astype(dtype).tobytes()
    table["about"] = about
    return table if base is None else _joined(base, table)


def _joined(first: Table, second: Table) -> Table:
    """Return the words of two lexicons. Those that are in both are as in the first."""
    columns = {
        name: np.concatenate([np.frombuffer(table[name], dtype=dtype) for table in (first, second)])
        for name, dtype in _COLUMNS.items()
    }
    _, places = np.unique(columns["forms"], return_index=True)
    table = Table(TABLE)
    for name, values in columns.items():
        table[name] = values[places].tobytes()
    table["about"] = [*first["about"], *(each for each in second["about"] if each not in first["about"])]
    return table


def _hashes_of_sets(
    keys: npt.NDArray[np.uint64], values: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[Any]]:
    """Return the distinct keys, sorted, and for each a hash of the set of its values, which is not 0."""
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]) | (values[1:] != values[:-1])
    keys, values = keys[first], values[first]
    distinct, starts = np.unique(keys, return_index=True)
    sums = np.add.reduceat(values, starts)  # modulo 2^64
    return distinct, np.maximum(sums & np.uint64(0xFFFFFFFF), 1)


def word_classes(vocab: Vocab, forms: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the ambiguity class and the lemmas of words, (words, 2); 0 for words that are not in the lexicon.

    forms (npt.NDArray[np.uint64]): The FORM_ATTRS of each word, (words, 2).
    RAISES (MindRootError): If the vocabulary has no lexicon.
    """
    table = vocab.lookups.get_table(TABLE, None)
    if table is None:
        raise MindRootError(
            f"The embedding needs the lexicon that it was trained with, the table {TABLE!r} of nlp.vocab.lookups, but "
            "this pipeline has none. If the component comes from another pipeline, copy the table: "
            f"nlp.vocab.lookups.set_table({TABLE!r}, other.vocab.lookups.get_table({TABLE!r})), or use `spacy mindroot "
            "add`. To train it, name the files in [initialize.before_init], as `init-config --lexicon` does."
        )
    known, classes, lemmas = (np.frombuffer(table[name], dtype=dtype) for name, dtype in _COLUMNS.items())
    found = np.zeros((len(forms), 2), dtype=np.uint64)
    for attr in range(len(FORM_ATTRS) - 1, -1, -1):  # the first one that is known is the last to be written
        places = np.minimum(np.searchsorted(known, forms[:, attr]), len(known) - 1)
        hits = known[places] == forms[:, attr]
        found[hits, 0], found[hits, 1] = classes[places[hits]], lemmas[places[hits]]
    return found


def known_share(table: Table, words: Sequence[str]) -> float:
    """Return the share of some words that a lexicon has."""
    known = np.frombuffer(table["forms"], dtype=_COLUMNS["forms"])
    hashes = np.array([[get_string_id(word), get_string_id(word.lower())] for word in words], dtype=np.uint64)
    return float(np.isin(hashes, known).any(axis=1).mean()) if words else 0.0


def describe_lexicon(vocab: Vocab) -> list[dict[str, Any]]:
    """Return `name`, `readings` and `format` of each file of a lexicon; `source`, `licence` and `url` if known."""
    table = vocab.lookups.get_table(TABLE, None)
    return [] if table is None else list(table["about"])
