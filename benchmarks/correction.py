"""Whether `spacy mindroot suspect` finds annotation errors, and what correcting in the order of `rank` gains.

For the first, some gold heads are corrupted, and looked for. For the second, an annotator is simulated who gives the
gold heads of some words of new sentences. The parser is then trained again, with these heads and no others of them
("left out"), or with the best trees that contain them, by the first parser ("parsed").
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config_from_str

from spacy_mindroot import constrain_scores, decode, decode_batch, is_tree
from spacy_mindroot.conllu import Sentence, sentence_to_doc
from spacy_mindroot.conllu.columns import DEPREL, HEAD, UPOS
from spacy_mindroot.inference import marginals
from spacy_mindroot.labels import UD_ROOT
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.correction.suspicion import cross_validated, order_suspects
from spacy_mindroot.tools.folds import find_documents, split_documents, train, with_steps
from spacy_mindroot.tools.gold import GoldSentence, read_corpus

from .runs import note_run, read_runs
from .training_size import blank_docs, gold_docs, make_parser, matrices, measure, treebank_part


@dataclass(frozen=True)
class Detection:
    """The corrupted heads that were found, as shares.

    precision (dict[str, float]): The share of corrupted heads among the first 1 % of tokens, by criterion.
    """

    treebank: str
    config: str
    sentences: int
    tokens: int
    corrupted: int
    folds: int
    steps: int
    seed: int
    cpu_seconds: float
    precision: dict[str, float]
    recall_5: float
    parsers: int = 1


def corrupt(sentences: list[GoldSentence], share: float, seed: int) -> set[tuple[int, int]]:
    """Give a share of the words another head, at random, in place. Each sentence stays a tree with one root.

    RETURNS: The numbers of the sentences, from 0, and of the words, from 1.
    """
    rng = np.random.default_rng(seed)
    words = [(k, i) for k, sentence in enumerate(sentences) for i in range(len(sentence.words))]
    wanted = round(share * len(words))
    changed: set[tuple[int, int]] = set()
    for at in rng.permutation(len(words)).tolist():
        if len(changed) == wanted:
            break
        k, i = words[at]
        heads, own = sentences[k].heads, int(sentences[k].heads[i])
        for head in rng.permutation(len(heads) + 1).tolist():
            if head not in (0, i + 1, own) and own != 0:
                heads[i] = head
                if is_tree(heads, single_root=True):
                    conllu = sentences[k].conllu
                    assert conllu is not None
                    conllu.replace(i + 1, 6, str(head))
                    changed.add((k, i + 1))
                    break
                heads[i] = own
    return changed


def detect(path: Path, *, most: int, optimize: str, folds: int, steps: int, seed: int, parsers: int = 1) -> Detection:
    """Corrupt heads of a treebank, and look for them by cross-validation."""
    sentences = list(read_corpus(path, spacy.blank("xx").vocab))[:most]
    corrupted = corrupt(sentences, 0.01, seed)
    config = with_steps(load_config_from_str(make_config("xx", optimize, [], None)), steps)
    began = time.process_time()
    documents, _ = find_documents(sentences, folds)
    parts = split_documents(documents, folds, seed)
    suspects = list(cross_validated(sentences, parts, config, steps=steps, seed=seed, parsers=parsers))
    seconds = time.process_time() - began
    tokens = len(suspects)
    precision = {}
    orders = {what: order_suspects(suspects, what) for what in ("heads", "both")}
    orders["marginal probability"] = sorted(suspects, key=lambda each: each.head_prob)
    orders["difference of probabilities"] = sorted(suspects, key=lambda each: each.given_prob - each.other_given_prob)
    for name, ordered in orders.items():
        first = ordered[: round(0.01 * tokens)]
        precision[name] = 100 * sum((each.sentence, each.word) in corrupted for each in first) / len(first)
    first = orders["heads"][: round(0.05 * tokens)]
    return Detection(
        treebank=path.parent.name.removeprefix("UD_"),
        config=optimize,
        sentences=len(sentences),
        tokens=tokens,
        corrupted=len(corrupted),
        folds=folds,
        steps=steps,
        seed=seed,
        cpu_seconds=seconds,
        precision=precision,
        recall_5=100 * sum((each.sentence, each.word) in corrupted for each in first) / len(corrupted),
        parsers=parsers,
    )


SHARES = (0.05, 0.1, 0.2, 0.4)  # of the tokens of new sentences that are annotated
OTHERS = ("left out", "parsed")
ORDERS = ("random tokens", "rank --by token", "random sentences", "rank --by sentence")


@dataclass(frozen=True)
class Correction:
    """One run: a parser trained on sentences with all heads, and on others with the heads of a share of their tokens.

    share (float): The share of annotated tokens; 0 before any, 1 for all.
    others (str): The heads of the other tokens of the new sentences: "left out", or "parsed".
    """

    treebank: str
    first: int
    new: int
    steps: int
    order: str
    share: float
    seed: int
    tokens: int
    cpu_seconds: float
    uas: float
    ece: float
    others: str = "left out"


class Parse(NamedTuple):
    """The arc scores of a sentence, the best label of each arc, as an index, and the names of labels."""

    scores: np.ndarray
    labels: np.ndarray
    names: list[str]


def parses_of(nlp: Language, sentences: Sequence[GoldSentence]) -> list[Parse]:
    """Return the arcs and labels of sentences by a parser."""
    found = []
    with nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index("arc_scorer") + 1]):
        for doc in nlp.pipe(blank_docs(nlp, sentences)):
            labels = doc._.arc_labels[0]
            n = len(doc)
            rows, heads = np.repeat(np.arange(n), n + 1), np.tile(np.arange(n + 1), n)
            names = [str(name) for name in doc._.arc_label_names]
            found.append(Parse(doc._.arc_scores[0], np.asarray(labels[rows, heads]).reshape(n, n + 1), names))
    return found


def choose(order: str, head_prob: Sequence[np.ndarray], share: float, seed: int) -> list[np.ndarray]:
    """Return which tokens are annotated: for each sentence, a mask of its tokens.

    head_prob (Sequence[np.ndarray]): The probability of each head of the parse, by sentence.
    share (float): The share of tokens. The last sentence may be annotated in part.
    """
    lengths = [len(each) for each in head_prob]
    flat = np.concatenate(head_prob)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    rng = np.random.default_rng(seed)
    if order == "random tokens":
        tokens = rng.permutation(len(flat))
    elif order == "rank --by token":
        tokens = np.argsort(flat, kind="stable")
    else:
        rate = np.array([(1 - each).mean() for each in head_prob])
        by = rng.permutation(len(lengths)) if order == "random sentences" else np.argsort(-rate, kind="stable")
        place = np.empty(len(by), dtype=int)
        place[by] = np.arange(len(by))
        tokens = np.argsort(place[sentence], kind="stable")
    known = np.zeros(len(flat), dtype=bool)
    known[tokens[: round(share * len(flat))]] = True
    return np.split(known, np.cumsum(lengths)[:-1])


def partly_annotated(
    nlp: Language,
    sentences: Sequence[GoldSentence],
    known: Sequence[np.ndarray],
    parses: Sequence[Parse] | None = None,
) -> list[Doc]:
    """Return Docs with the gold heads and labels of some tokens, without tags.

    parses (Optional[Sequence[Parse]]): The best tree that contains these heads gives the others. Without parses, other
        tokens have no head, and there is no Doc of a sentence without any.
    """
    docs = []
    for k, (sentence, mask) in enumerate(zip(sentences, known, strict=True)):
        if not mask.any() and parses is None:
            continue
        gold = sentence.conllu
        assert gold is not None
        copy = Sentence(gold.source, gold.line, list(gold.lines), gold.columns)
        for word, annotated in enumerate(mask.tolist(), 1):
            copy.replace(word, UPOS, "_")
            if not annotated and parses is None:
                copy.replace(word, HEAD, "_")
        if parses is not None:
            required = [(word, int(sentence.heads[word - 1])) for word in (np.flatnonzero(mask) + 1).tolist()]
            heads = decode(constrain_scores(parses[k].scores, required=required))
            for i in np.flatnonzero(~mask).tolist():
                copy.replace(i + 1, HEAD, str(heads[i]))
                label = parses[k].names[int(parses[k].labels[i, heads[i]])]
                copy.replace(i + 1, DEPREL, UD_ROOT if heads[i] == 0 else label)
        docs.append(sentence_to_doc(nlp.vocab, copy))
        docs[-1]._.conllu = None
    return docs


def simulate(
    folder: Path,
    *,
    first: int,
    new: int,
    steps: int,
    seed: int,
    orders: Sequence[str],
    shares: Sequence[float],
    done: set,
    others: str = "left out",
) -> Iterator[Correction]:
    """Yield a run for each order and share that is not done, and before them the parser without new heads."""
    vocab = spacy.blank("xx").vocab
    every = treebank_part(folder, "train", vocab)
    order = np.random.default_rng(seed).permutation(len(every)).tolist()
    known, pool = ([every[k] for k in part] for part in (order[:first], order[first : first + new]))
    test = treebank_part(folder, "test", vocab)
    treebank = folder.name.removeprefix("UD_")
    tokens = sum(len(each.words) for each in pool)

    def trained(masks: Sequence[np.ndarray], by: Sequence[Parse] | None) -> tuple[Language, dict, float]:
        began = time.process_time()
        nlp = make_parser("efficiency", steps, seed)
        docs = gold_docs(nlp, known) + partly_annotated(nlp, pool, masks, by)
        return nlp, train(nlp, docs, steps, seed), time.process_time() - began

    def assessed(nlp: Language, averages: dict, seconds: float, name: str, share: float) -> Correction:
        with nlp.use_params(averages):
            found = measure(matrices(nlp, test), test)
        return Correction(
            treebank,
            first,
            new,
            steps,
            name,
            share,
            seed,
            round(share * tokens),
            round(seconds, 1),
            round(found["uas"], 3),
            round(found["ece"], 3),
            others,
        )

    wanted = [(name, share) for share, name in product(shares, orders) if (treebank, name, share, seed) not in done]
    if not wanted:
        return
    nlp, averages, seconds = trained([np.zeros(len(each.words), dtype=bool) for each in pool], None)
    if (treebank, "none", 0.0, seed) not in done:
        yield assessed(nlp, averages, seconds, "none", 0.0)
    with nlp.use_params(averages):
        parses = parses_of(nlp, pool)
    scores = [each.scores for each in parses]
    heads = decode_batch(scores)
    probabilities = [p[np.arange(len(own)), own] for p, own in zip(map(marginals, scores), heads, strict=True)]
    for name, share in wanted:
        masks = choose(name, probabilities, share, seed)
        yield assessed(*trained(masks, parses if others == "parsed" else None), name, share)


def simulate_all(
    data: Path,
    treebanks: Sequence[str],
    *,
    first: int,
    new: int,
    steps: int,
    seeds: int,
    orders: Sequence[str],
    shares: Sequence[float],
    results: Path,
    others: str = "left out",
) -> Iterator[Correction]:
    """Do the runs that are not in a file yet, and add each to the file."""
    for seed, treebank in product(range(1, seeds + 1), treebanks):
        done = {
            (each["treebank"], each["order"], each["share"], each["seed"])
            for each in read_runs(results)
            if (each["first"], each["new"], each["steps"]) == (first, new, steps)
            and each.get("others", "left out") == others
        }
        folder = data / "ud" / f"UD_{treebank}"
        settings = {"first": first, "new": new, "steps": steps, "orders": orders, "shares": shares, "others": others}
        for found in simulate(folder, seed=seed, done=done, **settings):
            note_run(results, found)
            yield found


def simulated_means(runs: Sequence[dict]) -> dict[tuple[str, str, float], list[float]]:
    """Return the UAS of all seeds, by treebank (with numbers of sentences and steps), order and share."""
    groups: dict[tuple[str, str, float], list[float]] = {}
    for each in runs:
        name = f"{each['treebank']}, {each['first']} + {each['new']}, {each['steps']} steps"
        name += ", others parsed" if each.get("others") == "parsed" else ""
        groups.setdefault((name, each["order"], each["share"]), []).append(each["uas"])
    return groups
