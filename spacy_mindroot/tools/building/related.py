"""Related treebanks, mixed into the training set of a small one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from ...conllu import Sentence, read_conllu
from ...conllu.columns import DEPREL, FEATS, LEMMA, XPOS
from ...conllu.marks import SentenceWriter
from ...conllu.treebanks import COMMENT
from ...errors import CorpusError
from .treebank import Mixture, Related, Treebank, checked_sentences, find_parts, licence_of

__all__ = ["TARGET_SHARE", "mix_treebanks"]

TARGET_SHARE = 0.25  # of the mixed sentences, if the treebank itself has fewer


def mix_treebanks(treebank: Treebank, sources: Sequence[Path]) -> Mixture:
    """Write mixed.conllu, the training set with those of related treebanks, next to train.conllu: `treebank.mixture`.

    The related sentences are made similar to those of the treebank. A label that the treebank does not have loses its
    subtype. Features that the treebank does not have are removed. Lemmas and language-specific tags (XPOS) are removed:
    they are learnt from the treebank alone. The sentences of the treebank are repeated until they are a quarter of all.

    sources (Sequence[Path]): The related treebanks, as folders or files. If one has parts, its training set is taken,
        or its development set if it has no other. Test sets are never read.
    """
    own = treebank.file("train")
    assert own is not None
    labels: set[str] = set()
    features: set[str] = set()
    for sentence in read_conllu(own):
        labels.update(sentence.labels)
        features.update(chain.from_iterable(cell.split("|") for cell in sentence.column(FEATS)))
    path = treebank.folder / "mixed.conllu"
    digest = hashlib.sha256()
    found = []
    with open(path, "wb") as file:
        writer = SentenceWriter(file)
        for source in sources:
            related, files = _part_to_mix(source)
            for sentence in checked_sentences(files):
                _adapt(sentence, labels, features)
                related.sentences += 1
                related.words += len(sentence)
                digest.update(writer.write(sentence, {COMMENT: related.name}))
            if not related.sentences:
                raise CorpusError(f"There are no sentences in the related treebank {source}.")
            found.append(related)
        total = sum(each.sentences for each in found)
        of_own = treebank.parts["train"].sentences
        copies = max(1, round(TARGET_SHARE / (1 - TARGET_SHARE) * total / of_own))
        for _ in range(copies):
            for sentence in read_conllu(own):
                digest.update(writer.write(sentence))
    treebank.mixture = Mixture(path, found, copies, digest.hexdigest())
    return treebank.mixture


def _part_to_mix(source: Path) -> tuple[Related, list[Path]]:
    name, files, unused = find_parts(source, "related treebank")
    part = next((part for part in ("train", "dev", "") if part in files), None)
    if part is None:
        raise CorpusError(f"There is only a test set in the related treebank {source}. Test sets are not trained on.")
    licence, _ = licence_of(source)
    return Related(name, part, licence=licence, unused=unused), files[part]


def _adapt(sentence: Sentence, labels: set[str], features: set[str]) -> None:
    """Make the annotation of a sentence similar to that of a treebank with these labels and features."""
    rows = zip(sentence.labels, sentence.column(FEATS), strict=True)
    for word, (label, feats) in enumerate(rows, 1):
        if label not in labels:
            sentence.replace(word, DEPREL, label.partition(":")[0])
        kept = [feature for feature in feats.split("|") if feature in features]
        sentence.replace(word, FEATS, "|".join(kept) or "_")
        sentence.replace(word, LEMMA, "_")
        sentence.replace(word, XPOS, "_")
