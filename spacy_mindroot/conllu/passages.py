"""The registered corpus reader spacy-mindroot.PassageCorpus.v1: Docs of several sentences, as in raw text."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Callable, Iterator
from itertools import accumulate, islice, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from spacy.attrs import DEP, ENT_IOB, ENT_TYPE, HEAD, LEMMA, MORPH, POS, SENT_START, TAG
from spacy.language import Language
from spacy.parts_of_speech import NAMES as IDS_TO_POS
from spacy.symbols import SPACE
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus, Example
from spacy.training.augment import dont_augment
from spacy.training.corpus import walk_corpus
from spacy.vocab import Vocab

from ..doc.extensions import describe
from ..doc.reading import sentence_bounds, sentence_lengths
from ..doc.targets import join_targets, move_targets, read_targets, write_targets
from ..doc.words import GROUP, copy_tokens, multiword_tokens, part_of, set_multiword_tokens
from ..errors import CorpusError
from .corpus import ConlluCorpus
from .treebanks import mark_docs, treebank_of

__all__ = ["PassageCorpus", "read_taught"]

# White space between and within sentences. An empty line is found between sentences only; a line may end anywhere.
_BETWEEN = ("\n\n", "\n\n", "\n\n\n", "\n")
_WITHIN = ("\n", "\n", " ", "\t")
_COPIED = (TAG, POS, MORPH, LEMMA, HEAD, DEP, ENT_IOB, ENT_TYPE)


class PassageCorpus:
    """A corpus of passages: Docs of several consecutive sentences, with gold tokens.

    The sentences of consecutive Docs are joined: how a corpus is divided into Docs does not matter.

    A Doc without sentence boundaries, such as one that has only named entities, is a passage of its own.

    path (Optional[Path]): A .spacy file or a folder of them; or a CoNLL-U file, or a folder of which all files
        *.conllu, *.conllup and *.cupt are read. CoNLL-U may be compressed with gzip (*.gz).
    min_sentences (int): The smallest number of sentences in a passage. Only the last passage may have fewer.
    max_sentences (int): The greatest number of sentences in a passage. Sizes are drawn at random so that passages of
        each size have the same share of the sentences.
    divisions (int): The number of times that the corpus is read, each time divided into other passages. spaCy reads a
        training corpus once and then shuffles it in each epoch, so an epoch has this many copies of each sentence.
    newlines (float): The share of sentences after which white space is inserted, such as an empty line, and the share
        of sentences in which it is. It attaches to the token before it, with the label `dep`. Raw text has such tokens,
        and treebanks do not.
    limit (int): The maximum number of sentences to read; 0 for all.
    seed (int): Seed of the random numbers. The same seed gives the same passages.
    surface_tokens (bool): Whether the tokens of CoNLL-U are multiword tokens instead of the words in them. See
        `conllu.sentences_to_doc`.
    distilled (Optional[Path]): A .spacy file of further sentences, one in each Doc, with the distributions of teachers,
        for a student: see `arc_scorer.distillation`. They are read once, without a limit.
    tags_from_pos (bool): Whether words of CoNLL-U without XPOS get their UPOS as tag, so that a tagger can be trained.
        Otherwise, they have no tag.
    augmenter (Optional[Callable]): One of spaCy's augmenters, applied to each passage.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        min_sentences: int = 1,
        max_sentences: int = 10,
        divisions: int = 1,
        newlines: float = 0.0,
        limit: int = 0,
        seed: int = 0,
        surface_tokens: bool = False,
        tags_from_pos: bool = True,
        distilled: Path | None = None,
        augmenter: Callable[[Language, Example], Iterator[Example]] | None = None,
    ) -> None:
        if path is None:
            raise CorpusError(
                "spacy-mindroot.PassageCorpus.v1: the corpus has no path. Set it in the config, or on the command line "
                "(`--paths.train` and `--paths.dev`)."
            )
        if not 1 <= min_sentences <= max_sentences or divisions < 1 or limit < 0 or not 0 <= newlines <= 1:
            raise CorpusError(
                "spacy-mindroot.PassageCorpus.v1: expected 1 <= min_sentences <= max_sentences, divisions >= 1, "
                f"limit >= 0 and 0 <= newlines <= 1, but found min_sentences = {min_sentences}, max_sentences = "
                f"{max_sentences}, divisions = {divisions}, limit = {limit}, newlines = {newlines}."
            )
        self.path = Path(path)
        self.sizes = np.arange(min_sentences, max_sentences + 1)
        self.divisions = divisions
        self.newlines = newlines
        self.limit = limit
        self.seed = seed
        self.surface_tokens = surface_tokens
        self.tags_from_pos = tags_from_pos
        self.distilled = None if distilled is None else Path(distilled)
        self.augmenter = augmenter or dont_augment
        self._conllu: ConlluCorpus | None = None

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Iterate over the passages of the corpus.

        YIELDS (Example): The predicted Doc has the tokens and nothing else.
        RAISES (CorpusError): If there are no sentences, no Doc has sentence boundaries, `distilled` can't be read or is
            empty, or one of its Docs has no distributions or several sentences.
        RAISES (ConlluError): For the first sentence that is not CoNLL-U, or has several roots or a cycle.
        """
        sentences = list(islice(self._sentences(nlp), self.limit or None))
        if not sentences:
            raise CorpusError(f"{self.path} has no sentences. It should be a .spacy file, or CoNLL-U, or a folder.")
        if all(sentence_lengths(doc) is None for doc in sentences):
            raise CorpusError(
                f"{self.path}: {describe(sentences[0])}, the first Doc, has no sentence boundaries, nor has any other. "
                "Passages are made of sentences. Annotate them, or read the corpus with spacy.Corpus.v1."
            )
        rng = np.random.default_rng(self.seed)
        yield from self._passages(nlp, sentences, self.divisions, rng)
        if self.distilled is not None:
            yield from self._passages(nlp, list(read_taught(nlp.vocab, self.distilled)), 1, rng)

    def _passages(
        self, nlp: Language, sentences: list[Doc], divisions: int, rng: np.random.Generator
    ) -> Iterator[Example]:
        for _ in range(divisions):
            start = 0
            while start < len(sentences):
                size = int(rng.choice(self.sizes, p=(1 / self.sizes) / (1 / self.sizes).sum()))
                passage = sentences[start : start + size]
                if without := [k for k, doc in enumerate(passage) if sentence_lengths(doc) is None]:
                    passage = passage[: max(1, without[0])]
                reference = passage[0] if without[:1] == [0] else self._join(nlp.vocab, passage, rng)
                start += len(passage)
                predicted = copy_tokens(reference)
                mark_docs(reference, [predicted], [treebank_of(sentence) for sentence in passage])
                yield from self.augmenter(nlp, Example(predicted, reference))

    def _sentences(self, nlp: Language) -> Iterator[Doc]:
        """Yield a Doc for each sentence. A Doc without sentence boundaries comes as it is."""
        if not self._is_spacy():
            if self._conllu is None:  # kept, since it logs the size of the corpus only once
                self._conllu = ConlluCorpus(self.path, surface_tokens=self.surface_tokens)
            for example in self._conllu(nlp):
                yield _with_tags(example.reference) if self.tags_from_pos else example.reference
            return
        yield from self._of_docs(nlp, self.path)

    def _of_docs(self, nlp: Language, path: Path) -> Iterator[Doc]:
        for doc in Corpus(path).read_docbin(nlp.vocab, walk_corpus(path, ".spacy")):
            bounds = sentence_bounds(doc)
            multiword = multiword_tokens(doc)
            yield from [doc] if len(bounds) == 1 else (part_of(doc, *bound, multiword) for bound in bounds)

    def _is_spacy(self) -> bool:
        if self.path.is_dir():
            return any(self.path.rglob("*.spacy"))
        return self.path.suffix == ".spacy" and self.path.exists()

    def _join(self, vocab: Vocab, sentences: list[Doc], rng: np.random.Generator) -> Doc:
        """Return one Doc of these sentences, perhaps with white space."""
        begins = list(accumulate(map(len, sentences), initial=0))
        doc = sentences[0]
        if len(sentences) > 1:
            doc = Doc.from_docs(sentences, ensure_whitespace=False, exclude=["tensor", "user_data"])
            write_targets(doc, join_targets(sentences))
        is_start = np.zeros(len(doc), dtype=bool)
        is_start[begins[:-1]] = True
        inserted = self._draw_white_space(begins, rng) if self.newlines and not doc.spans.keys() - {GROUP} else {}
        if inserted:
            doc, is_start = _insert_white_space(vocab, doc, is_start, inserted)
        elif len(sentences) == 1:
            return doc
        # After the heads, from which spaCy derives other sentence starts if they are incomplete or tangled.
        doc.from_array([SENT_START], np.where(is_start, 1, -1).astype(np.int64).view(np.uint64))
        return doc

    def _draw_white_space(self, begins: list[int], rng: np.random.Generator) -> dict[int, str]:
        """Return the white space to insert, by the token before which it is inserted."""
        inserted = {}
        for start, end in pairwise(begins):
            if start and rng.random() < self.newlines:
                inserted[start] = str(rng.choice(_BETWEEN))
            if end - start > 1 and rng.random() < self.newlines:
                inserted[int(rng.integers(start + 1, end))] = str(rng.choice(_WITHIN))
        return inserted


def read_taught(vocab: Vocab, path: Path) -> Iterator[Doc]:
    """Yield the Docs of a file that `distill` has made.

    RAISES (CorpusError): If it can't be read or is empty, or a Doc has no distributions or several sentences.
    """
    try:
        docs = list(DocBin().from_disk(path).get_docs(vocab))
    except Exception as error:  # of the system, zlib, msgpack, numpy or spaCy
        raise CorpusError(f"{path} (distilled) can't be read as a .spacy file: {error}") from error
    if not docs:
        raise CorpusError(f"{path} (distilled) has no sentences. Leave it out, or let teachers label some text.")
    for number, doc in enumerate(docs, 1):
        count = len(sentence_bounds(doc))
        if count != 1 or read_targets(doc) is None:
            what = f"has {count} sentences" if count != 1 else "does not have doc._.arc_targets"
            raise CorpusError(
                f"{path}, Doc {number} {what}. Expected Docs as `arc_scorer.distillation.distill` yields them: one "
                "sentence each, with the distributions of teachers. Save them with DocBin(store_user_data=True)."
            )
        yield doc


def _with_tags(doc: Doc) -> Doc:
    """Set the tag of tokens without one to their part of speech."""
    tags, pos = doc.to_array((TAG, POS)).T
    missing = (tags == 0) & (pos != 0)
    if missing.any():
        names = {number: doc.vocab.strings.add(IDS_TO_POS[number]) for number in set(pos[missing].tolist())}
        tags[missing] = [names[number] for number in pos[missing].tolist()]
        doc.from_array([TAG], tags)
    return doc


def _insert_white_space(
    vocab: Vocab, doc: Doc, is_start: npt.NDArray[np.bool_], inserted: dict[int, str]
) -> tuple[Doc, npt.NDArray[np.bool_]]:
    """Return a Doc with tokens of white space, and which of its tokens begin a sentence.

    They are annotated as spaCy's whitespace augmenter does it. Each attaches to the token before it.

    is_start (np.ndarray): Whether a sentence begins at each token of `doc`.
    inserted (dict[int, str]): The white space, by the token of `doc` before which it is inserted; never the first one.
        Within named entities and multiword tokens, none is.
    """
    array = doc.to_array(_COPIED)
    iob = _COPIED.index(ENT_IOB)
    multiword = multiword_tokens(doc)
    inside = {i for token in multiword for i in range(token.start + 1, token.end)}
    inserted = {at: text for at, text in sorted(inserted.items()) if array[at, iob] != 1 and at not in inside}
    places = np.array(list(inserted), dtype=np.int64)
    old = np.arange(len(doc))
    new = old + np.searchsorted(places, old, side="right")  # where each token comes to stand
    blank = places + np.arange(len(places))
    head = _COPIED.index(HEAD)
    heads = new[old + array[:, head].view(np.int64)] - new

    rows = np.zeros((len(doc) + len(places), len(_COPIED)), dtype=np.uint64)
    rows[new] = array
    rows[new, head] = heads.astype(np.int64).view(np.uint64)
    words, spaces = [""] * len(rows), [False] * len(rows)
    for token, at in zip(doc, new.tolist(), strict=True):
        words[at], spaces[at] = token.text, bool(token.whitespace_)
    values = {
        TAG: vocab.strings.add("_SP"),
        POS: SPACE,
        MORPH: vocab.morphology.add(""),
        LEMMA: 0,
        HEAD: int(np.int64(-1).view(np.uint64)),
        DEP: vocab.strings.add("dep"),
        ENT_IOB: 2,
    }
    for at, text in zip(blank.tolist(), inserted.values(), strict=True):
        words[at] = text
        spaces[at - 1] &= text[0] == " "
        values[LEMMA] = vocab.strings.add(text)
        rows[at] = [values.get(attr, 0) if doc.has_annotation(attr) else 0 for attr in _COPIED]
    result = Doc(vocab, words=words, spaces=spaces)
    result.from_array(list(_COPIED), rows)
    set_multiword_tokens(
        result,
        [each._replace(start=int(new[each.start]), end=int(new[each.end - 1]) + 1) for each in multiword],
    )
    if (targets := read_targets(doc)) is not None:
        write_targets(result, move_targets(targets, new))
    starts = np.zeros(len(rows), dtype=bool)
    starts[new] = is_start
    return result, starts
