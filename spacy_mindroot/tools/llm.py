"""The task spacy-mindroot.Parse.v1 of spacy-llm: prompts a language model for parses, and decodes its answers.

It implements the protocol of spacy-llm, which need not be installed for this module to be imported.
"""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Literal, NamedTuple, Tuple  # noqa: UP035 - spacy-llm looks for these

from jinja2 import Template
from spacy.tokens import Doc
from spacy.training import Example

from ..conllu import read_conllu
from ..conllu.repair import is_complete
from ..doc.reading import read_annotated, sentence_bounds
from ..errors import CorpusError, MissingScoresError
from ..labels import UD_RELATIONS, UD_ROOT
from ..pipeline.answer_scores import ANSWERS, AnswerScores
from ..pipeline.mind_root import MindRoot
from ..pipeline.tree_scorer import TreeScorer
from ..scores import to_count
from ..trees import nonprojective_arcs

__all__ = ["AnswerWarning", "ParseTask", "answer_schema", "count_tokens", "make_parse_task"]

_TEMPLATE = """\
You annotate sentences{% if language %} in {{ language }}{% endif %} in the style of Universal Dependencies.
Give the head and the relation of each word. The words are numbered from 1. A head is the number of another word, or \
0 for the root. Exactly one word has the head 0 and the relation root, and there are no cycles.
Relations: {{ labels | join(", ") }}
Answer with JSON alone: an object with the lists "words", "heads" and "deprels", each with one item per word.
{% for example in examples %}
Sentence: {{ example.numbered }}
Answer: {{ example.answer }}
{% endfor %}
Sentence: {{ numbered }}
Answer:"""


class AnswerWarning(UserWarning):
    """A language model gave no answer that can be used, so a Doc has no trees."""


class _Parsed(NamedTuple):
    """A sentence of a treebank, as an example in a prompt."""

    words: list[str]
    numbered: str
    answer: str
    forms: frozenset[str]


def count_tokens(text: str) -> int:
    """Return about how many tokens a text takes: one for every four letters or digits of a word, one for other signs.

    >>> from spacy_mindroot.tools.llm import count_tokens
    >>> count_tokens('{"heads": [2, 0]}')
    11
    """
    return len(re.findall(r"\w{1,4}|[^\w\s]", text))


def answer_schema(words: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of the answer for a sentence, for interfaces that enforce one.

    It fixes the words, the numbers that are heads and the labels. That the heads form a tree, no schema can say.
    """

    def lists(items: dict[str, Any]) -> dict[str, Any]:
        return {"type": "array", "items": items, "minItems": len(words), "maxItems": len(words)}

    return {
        "type": "object",
        "properties": {
            "words": lists({"type": "string", "enum": list(dict.fromkeys(words))}),
            "heads": lists({"type": "integer", "minimum": 0, "maximum": len(words)}),
            "deprels": lists({"type": "string", "enum": list(labels)}),
        },
        "required": ["words", "heads", "deprels"],
        "additionalProperties": False,
    }


def make_parse_task(
    examples: Path | None = None,
    n_examples: int = 3,
    choose: Literal["similar", "hard"] = "similar",
    max_words: int = 30,
    samples: int = 1,
    labels: list[str] | None = None,
    language: str = "",
    template: str | None = None,
) -> "ParseTask":
    """Make a task that parses each sentence of a Doc.

    The tree of a single answer is the nearest one with exactly one root; several answers vote. What was wrong is in
    `doc._.mind_root_report`. If there is no answer that can be used for a sentence, the Doc keeps its answers in
    `doc.user_data["mindroot_answers"]`, gets no trees, and an `AnswerWarning` says why.

    examples (Optional[Path]): CoNLL-U file with sentences that may be examples in the prompts.
    n_examples (int): The number of examples in a prompt. As many as the context length of the model allows.
    choose (str): "similar": the examples that share the most words with the sentence, rare words above all. "hard":
        for all sentences those with the most non-projective arcs, and then with the most different labels.
    max_words (int): The number of words that an example has at most.
    samples (int): The number of answers for each sentence. Give the model a temperature above 0 if it is more than 1.
    labels (Optional[list[str]]): All labels. By default, those in the examples, the most frequent first; without any,
        the relations of Universal Dependencies.
    language (str): The name of the language in the prompt, such as "Irish".
    template (Optional[str]): A Jinja template in place of the default one. It gets `language`, `labels`, `examples`
        (with `numbered` and `answer`), `words` and `numbered`, the words with their numbers.
    """
    if choose not in ("similar", "hard"):
        raise CorpusError(f'choose is {choose!r}. It must be "similar" or "hard".')
    to_count(n_examples, "n_examples", what="examples", least=0)
    to_count(samples, "samples", what="answers")
    found, seen = _read_examples(examples, max_words)
    if labels is None:
        labels = [label for label, _ in seen.most_common()] or sorted([*UD_RELATIONS, UD_ROOT])
    return ParseTask(
        examples=found,
        n_examples=n_examples,
        is_similar=choose == "similar",
        samples=samples,
        labels=labels,
        language=language,
        template=_TEMPLATE if template is None else template,
    )


@dataclass
class ParseTask:
    """Parses with a language model. See `make_parse_task` for the settings."""

    examples: list[_Parsed]
    n_examples: int
    is_similar: bool
    samples: int
    labels: list[str]
    language: str
    template: str

    def __post_init__(self) -> None:
        self._rendered = Template(self.template)
        self._component = MindRoot(scores=AnswerScores(labels=list(self.labels)))
        count = Counter(form for example in self.examples for form in example.forms)
        self._weights = {form: math.log((1 + len(self.examples)) / n) for form, n in count.items()}

    def generate_prompts(
        self, docs: Iterable[Doc], context_length: int | None = None
    ) -> Iterable[Tuple[Iterable[str], Iterable[Doc]]]:  # noqa: UP006
        """Yield for each Doc its prompts, `samples` for each sentence, and the Doc as often; once without sentences."""
        for doc in docs:
            prompts = [
                prompt
                for sentence in read_annotated(doc)
                for prompt in [self.prompt(sentence.words, context_length)] * self.samples
            ]
            yield prompts, [doc] * max(1, len(prompts))

    def parse_responses(self, shards: Iterable[Iterable[Doc]], responses: Iterable[Iterable[Any]]) -> Iterable[Doc]:
        """Yield each Doc with the trees that its answers stand for."""
        for own_shards, own in zip(shards, responses, strict=True):
            doc, answers = next(iter(own_shards)), list(own)
            firsts = range(0, self.samples * len(sentence_bounds(doc)), self.samples)
            doc.user_data[ANSWERS] = [{"answers": answers[first : first + self.samples]} for first in firsts]
            try:
                yield self._component(doc)
            except MissingScoresError as error:
                warnings.warn(str(error), AnswerWarning, stacklevel=2)
                yield doc

    def scorer(self, examples: Iterable[Example]) -> dict[str, Any]:
        """Evaluate trees; see `TreeScorer`."""
        return TreeScorer()(examples)

    def prompt(self, words: Sequence[str], context_length: int | None = None) -> str:
        """Return the prompt for a sentence."""
        examples = self._chosen(words)
        while True:
            text: str = self._rendered.render(
                language=self.language, labels=self.labels, examples=examples, words=words, numbered=_numbered(words)
            )
            if not examples or context_length is None or count_tokens(text) <= context_length:
                return text
            examples = examples[1:]  # the best example is the last

    def _chosen(self, words: Sequence[str]) -> list[_Parsed]:
        """Return the examples for a sentence, the best one last, and never the sentence itself."""
        others = [example for example in self.examples if example.words != list(words)]
        if self.is_similar:
            forms = _forms(words)
            others.sort(
                key=lambda each: (
                    -sum(self._weights[form] for form in each.forms & forms) / math.sqrt(len(each.words)),
                    each.words,
                )
            )
        return others[: self.n_examples][::-1]


def _read_examples(path: Path | None, max_words: int) -> tuple[list[_Parsed], "Counter[str]"]:
    """Return the sentences of a treebank that may be examples, the hardest first, and its labels."""
    ranked, labels = [], Counter[str]()
    for sentence in [] if path is None else read_conllu(path):
        own = sentence.labels
        if not is_complete(sentence):
            continue
        labels.update(own)
        if len(own) <= max_words:
            answer = {"words": sentence.words, "heads": sentence.heads, "deprels": own}
            text = json.dumps(answer, ensure_ascii=False)
            parsed = _Parsed(sentence.words, _numbered(sentence.words), text, _forms(sentence.words))
            hardness = (int(nonprojective_arcs(sentence.heads).sum()), len(set(own)), len(own))
            ranked.append((hardness, parsed))
    if path is not None and not ranked:
        raise CorpusError(f"There are no sentences with trees of up to {max_words} words in {path}.")
    ranked.sort(key=lambda pair: (tuple(-number for number in pair[0]), pair[1].words))
    return [parsed for _, parsed in ranked], labels


def _numbered(words: Sequence[str]) -> str:
    return " ".join(f"{number}:{word}" for number, word in enumerate(words, 1))


def _forms(words: Sequence[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)
