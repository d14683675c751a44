"""The registered tokenizer spacy-mindroot.Tokenizer.v1, which spaCy's `[initialize.tokenizer]` trains."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import DummyTokenizer, logger, registry
from spacy.vocab import Vocab

from ..doc.words import MultiwordToken, divide, set_multiword_tokens
from ..errors import CorpusError, TrainingError
from .boundaries import Boundaries
from .learning import Sentence, join, sentences_of
from .multiword import Multiword

__all__ = ["LearntTokenizer", "make_tokenizer"]

_FOLDS = 4
_MOST_COMPARED = 2000  # sentences by which it is decided whether rules help
_VERSION = 1
_SPACY_TOKENIZER = {"@tokenizers": "spacy.Tokenizer.v1"}
_STRINGS = re.compile(r"\S+")


def make_tokenizer() -> Callable[[Language], "LearntTokenizer"]:
    """Make a tokenizer that learns from the training corpus what is a token, and which tokens are several words.

    It works for any language. Where spaCy's tokenizer for the language ends tokens is a feature, if that helps and the
    packages that it needs are installed.
    """
    return LearntTokenizer.for_language


class LearntTokenizer(DummyTokenizer):  # type: ignore[misc]
    """Divides texts into tokens as a treebank does. See `make_tokenizer`.

    The text of the Doc is always the text that was given. The words of a multiword token divide its surface form, and
    `norm_` is the form of the word: see `spacy_mindroot.doc.words`. A token with more words than characters is not
    divided.

    vocab (Vocab): The vocabulary of the pipeline.
    rules (Callable[[str], Doc]): spaCy's tokenizer for the language.
    """

    def __init__(self, vocab: Vocab, rules: Callable[[str], Doc]) -> None:
        self.vocab = vocab
        self._rules = rules
        self.boundaries = Boundaries()
        self.multiword = Multiword()

    @classmethod
    def for_language(cls, nlp: Language) -> "LearntTokenizer":
        """Make an untrained tokenizer for a pipeline."""
        own = nlp.Defaults.config.get("nlp", {}).get("tokenizer", _SPACY_TOKENIZER)
        try:
            rules = registry.resolve({"tokenizer": own})["tokenizer"](nlp)
        except ImportError:  # of a package for this language
            rules = registry.resolve({"tokenizer": _SPACY_TOKENIZER})["tokenizer"](nlp)
        return cls(nlp.vocab, rules)

    def __reduce__(self) -> Any:
        return _restore, (self.vocab, self._rules, self.to_bytes())

    def __call__(self, text: str) -> Doc:
        """Tokenize a text.

        text (str): The text.
        RETURNS (Doc): Its tokens. `doc.text` equals `text`.
        RAISES (CorpusError): If the text has half of a character (a lone surrogate), which spaCy can't store.
        """
        try:
            text.encode("utf8")
        except UnicodeEncodeError as error:
            raise CorpusError(
                f"character {error.start} of the text is half of a character (a surrogate), which spaCy can't store."
            ) from error
        words: list[str] = []
        spaces: list[bool] = []
        multiword: list[tuple[int, Sequence[str]]] = []  # the first token of each, and the forms of its words
        divides, allowed = bool(self.multiword), self.multiword.allowed
        open_: list[tuple[int, str]] = []  # tokens that may be several words
        end = 0
        for start, stop, pieces in self.boundaries.strings(text):
            if start > end:
                _add_space(words, spaces, text[end:start])
            first = len(words)
            words += pieces.words
            spaces += pieces.spaces
            end = stop
            if len(pieces.sizes) == len(pieces.words) and not divides:
                continue
            for size in pieces.sizes:
                if size > 1:
                    multiword.append((first, words[first : first + size]))
                elif divides and allowed(words[first]):
                    open_.append((first, words[first]))
                first += size
        _add_space(words, spaces, text[end:])
        if open_:
            multiword = self._divide(words, spaces, open_, multiword)
        doc = Doc(self.vocab, words=words, spaces=spaces)
        if multiword:
            found = (MultiwordToken(start, start + len(forms), tuple(forms)) for start, forms in multiword)
            set_multiword_tokens(doc, found)
        return doc

    def _divide(
        self,
        words: list[str],
        spaces: list[bool],
        tokens: Sequence[tuple[int, str]],
        multiword: Sequence[tuple[int, Sequence[str]]],
    ) -> list[tuple[int, Sequence[str]]]:
        """Divide tokens into words, in place, and return all multiword tokens."""
        found = dict(multiword)
        divided: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}  # the parts of each token and their forms
        for at, surface in tokens:
            forms = self.multiword.words(surface, _at(words, at - 1), _at(words, at + 1))
            parts = divide(surface, forms) if len(forms) > 1 else None
            if parts is not None:
                divided[at] = parts, forms
        moved: list[tuple[int, Sequence[str]]] = []
        new_words: list[str] = []
        new_spaces: list[bool] = []
        done = 0
        for at in sorted({*found, *divided}):
            new_words += words[done:at]
            new_spaces += spaces[done:at]
            moved.append((len(new_words), divided[at][1] if at in divided else found[at]))
            done = at
            if at in divided:
                parts = divided[at][0]
                new_words += parts
                new_spaces += [False] * (len(parts) - 1) + [spaces[at]]
                done += 1
        words[:] = new_words + words[done:]
        spaces[:] = new_spaces + spaces[done:]
        return moved

    def initialize(self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None) -> None:
        """Learn from a corpus. spaCy calls this when a pipeline is initialized.

        get_examples (Callable[[], Iterable[Example]]): The corpus. The tokens and white space of the references count.
        nlp (Optional[Language]): The pipeline.
        RAISES (CorpusError): If there are no tokens.
        """
        sentences = sentences_of(example.reference for example in get_examples())
        if not sentences:
            raise CorpusError("The corpus has no tokens, so the tokenizer can't learn from it.")
        if all(space for sentence in sentences for space in sentence.spaces[:-1]):
            logger.warning(
                "In the training corpus, there is white space after every token (no SpaceAfter=No in CoNLL-U). The "
                "tokenizer will divide texts at white space alone."
            )
        multiword = [token for sentence in sentences for token in sentence.tokens if len(token[1]) > 1]
        added_up = sum("".join(words) == surface for surface, words in multiword)
        in_place = 2 * added_up > len(multiword)  # most words are in the text as they are
        self.boundaries = Boundaries(self._rule_ends if self._rules_help(sentences, in_place) else None)
        self.boundaries.learn(join(sentences, words=in_place))
        self.multiword = Multiword()
        self.multiword.learn(
            [
                (surface, words if not in_place or "".join(words) != surface else (surface,))
                for surface, words in sentence.tokens
            ]
            for sentence in sentences
        )
        logger.info("The tokenizer has learnt from %d sentences.", len(sentences))

    def _rules_help(self, sentences: Sequence[Sentence], in_place: bool) -> bool:
        """Whether fewer places are wrong with rules, by cross-validation."""
        sentences = sentences[:_MOST_COMPARED]
        folds = min(_FOLDS, len(sentences))
        if folds < 2:
            return True
        wrong = {True: 0, False: 0}
        size = -(-len(sentences) // folds)
        for fold in range(folds):
            held_out = join(sentences[fold * size : (fold + 1) * size], words=in_place)
            rest = join([*sentences[: fold * size], *sentences[(fold + 1) * size :]], words=in_place)
            for with_rules in wrong:
                boundaries = Boundaries(self._rule_ends if with_rules else None)
                boundaries.learn(rest)
                for text, labels in held_out:
                    wrong[with_rules] += int((boundaries.labels_of(text) != labels).sum())
        return wrong[True] < wrong[False]

    def _rule_ends(self, chunk: str) -> list[int]:
        if not isinstance(self._rules, Tokenizer):  # one that knows words with spaces in them
            return [token.idx + len(token) for token in self._rules(chunk)]
        return [
            string.start() + token.idx + len(token)
            for string in _STRINGS.finditer(chunk)
            for token in self._rules(string.group())
        ]

    def to_bytes(self, *, exclude: Iterable[str] = (), **_: Any) -> bytes:
        """Return what has been learnt as bytes."""
        state = {
            "version": _VERSION,
            "rules": "" if self.boundaries.rules is None else type(self._rules).__name__,
            "boundaries": self.boundaries.to_dict(),
            "multiword": self.multiword.to_dict(),
        }
        found: bytes = srsly.msgpack_dumps(state)
        return found

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = (), **_: Any) -> "LearntTokenizer":
        """Restore what has been learnt.

        RAISES (TrainingError): If the bytes are not those of a tokenizer.
        """
        return self._restored(data, "The bytes")

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = (), **_: Any) -> None:
        """Save what has been learnt as a file."""
        Path(path).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = (), **_: Any) -> "LearntTokenizer":
        """Restore what has been learnt from a file.

        RAISES (TrainingError): If the file is damaged.
        """
        return self._restored(Path(path).read_bytes(), f"The file {path}")

    def _restored(self, data: bytes, source: str) -> "LearntTokenizer":
        try:
            state = srsly.msgpack_loads(data)
            if state["version"] != _VERSION:
                raise ValueError(f"version {state['version']!r}")
            found, rules = type(self._rules).__name__, state["rules"]
            if rules not in ("", found):
                raise ValueError(
                    f"it needs spaCy's {rules}, but for this language, there is only {found}. Is a package missing?"
                )
            boundaries = Boundaries.from_dict(state["boundaries"], self._rule_ends if rules else None)
            self.boundaries, self.multiword = boundaries, Multiword.from_dict(state["multiword"])
        except Exception as error:  # of msgpack, numpy, or a missing key
            raise TrainingError(f"{source} is not a tokenizer of spacy-mindroot, or is damaged: {error}") from error
        return self


def _restore(vocab: Vocab, rules: Callable[[str], Doc], data: bytes) -> LearntTokenizer:
    return LearntTokenizer(vocab, rules).from_bytes(data)


def _at(words: Sequence[str], k: int) -> str:
    return words[k] if 0 <= k < len(words) else ""


def _add_space(words: list[str], spaces: list[bool], space: str) -> None:
    """Add white space as spaCy represents it: one space belongs to the token before it; more of it is a token."""
    if words and space[:1] == " ":
        spaces[-1] = True
        space = space[1:]
    if space:
        words.append(space)
        spaces.append(False)
