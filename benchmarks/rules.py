"""Trees under rules: violations and accuracy before and after, certified optimality, time, and Stanza's repair.

Score files have the best label of each arc alone. The other labels share the rest of its probability equally.
"""

from __future__ import annotations

import importlib.util
import io
import re
import subprocess
import sys
import tempfile
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import NumpyOps, set_current_ops

from spacy_mindroot import Rules, decode, learn_rules
from spacy_mindroot.conllu import Sentence, read_conllu, read_pieces
from spacy_mindroot.conllu.repair import pos_of_sentence
from spacy_mindroot.conllu.sentence import DEPREL, HEAD
from spacy_mindroot.core.rules import Found
from spacy_mindroot.pipeline.valid_trees import pos_of_rules
from spacy_mindroot.rules import UD, Unique
from spacy_mindroot.rules.labelled import Problem

from .training import convert, make_config, train_pipeline

SUBJECTS_OBJECTS = UD.only(["too-many-subjects", "too-many-objects"])
OF_POS = [name for name in UD.names if "upos" in name]
CLASSES = {
    "subjects and objects": ("too-many",),
    "punctuation and crossing": ("punct-", "leaf-punct"),
    "dependents of function words": ("leaf-",),
    "part of speech against relation": ("rel-upos", "upos-rel"),
    "other": ("",),
}


@dataclass(frozen=True)
class Scored:
    """A sentence with all its scores, and its gold tree."""

    arcs: np.ndarray
    labels: np.ndarray
    heads: list[int]
    deprels: list[str]
    pos: list[str | None]  # for the search
    gold_pos: list[str | None]


@dataclass
class Outcome:
    """Results of one way to decode a treebank. Times in seconds of CPU time per sentence."""

    tokens: int = 0
    heads: int = 0
    labelled: int = 0
    certified: int = 0
    sentences: int = 0
    nodes: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    violations: Counter[str] = field(default_factory=Counter)

    @property
    def uas(self) -> float:
        return 100 * self.heads / self.tokens

    @property
    def las(self) -> float:
        return 100 * self.labelled / self.tokens

    def of_class(self, name: str) -> int:
        """Violations of a class; each belongs to the first class that has it."""
        return sum(count for rule, count in self.violations.items() if class_of(rule) == name)


def class_of(rule: str) -> str:
    return next(name for name, prefixes in CLASSES.items() if rule.startswith(prefixes))


def read_scored(path: Path, treebanks: Path) -> tuple[list[str], list[Scored], Rules]:
    """Return labels, sentences and learnt rules: a score file, with parts of speech from the gold test set."""
    with np.load(path) as arrays:
        names = arrays["labels"].tobytes().decode().split("\n")
        lengths, arc, best = arrays["lens"], arrays["arc"], arrays["label_best"]
        log_p = np.minimum(arrays["label_logp"].astype(np.float32), -1e-4)
        heads, deprels = arrays["heads"], arrays["deprels"]
    folder = treebanks / f"UD_{path.stem}"
    (test,), (train,) = (list(folder.glob(f"*-ud-{part}.conllu")) for part in ("test", "train"))
    sentences, at, token = [], 0, 0
    for gold, n in zip(read_conllu(test), lengths.tolist(), strict=True):
        own = slice(at, at + n * (n + 1))
        at, token = own.stop, token + n
        rest = np.log(-np.expm1(log_p[own]) / (len(names) - 1)).reshape(n, n + 1, 1)
        scores = np.repeat(rest, len(names), axis=2)
        labels = best[own].reshape(n, n + 1, 1).astype(np.int64)
        np.put_along_axis(scores, labels, log_p[own].reshape(n, n + 1, 1), axis=2)
        own_heads = heads[token - n : token].tolist()
        own_deprels = [names[k] for k in deprels[token - n : token]]
        matrix = arc[own].reshape(n, n + 1)
        pos = pos_of_sentence(gold)
        sentences.append(Scored(matrix, scores, own_heads, own_deprels, pos, pos))
    trees = ((own.heads, own.labels, pos_of_sentence(own)) for own in read_conllu(train))
    return names, sentences, learn_rules(trees)


def measure(names: Sequence[str], sentences: Sequence[Scored], learnt: Rules) -> dict[str, Outcome]:
    """Return the outcome of each way to decode; "gold" has the violations of the gold trees."""
    ways: dict[str, Rules | None] = {
        "single-rooted": None,
        "best labels": Rules(),
        "subjects and objects": SUBJECTS_OBJECTS,
        "ud": UD,
        "ud without parts of speech": UD.without(OF_POS),
        "learnt": learnt,
        "learnt without parts of speech": learnt.without([name for name in learnt.names if name in OF_POS]),
    }
    found = {name: Outcome() for name in ("gold", *ways)}
    for own in sentences:
        found["gold"].violations.update(v.rule for v in UD.violations(own.heads, own.deprels, own.gold_pos))
        for name, rules in ways.items():
            outcome = found[name]
            began = time.process_time()
            if rules is None:
                heads = decode(own.arcs)
                labels = own.labels[np.arange(len(heads)), heads].argmax(axis=1)
                nodes, certified = 1, True
            else:
                tree = Problem(own.arcs, own.labels, names, rules, own.pos).search()
                assert isinstance(tree, Found) and tree.heads is not None and tree.labels is not None
                heads, labels, nodes, certified = tree.heads, tree.labels, tree.nodes, tree.bound <= tree.value
            outcome.seconds.append(time.process_time() - began)
            outcome.nodes.append(nodes)
            outcome.certified += certified
            count(outcome, own, heads.tolist(), [names[k] for k in labels])
    return found


def count(outcome: Outcome, own: Scored, heads: list[int], labels: list[str]) -> None:
    """Count what is right, labels up to the colon, and the violations."""
    outcome.sentences += 1
    outcome.tokens += len(heads)
    for head, label, gold, deprel in zip(heads, labels, own.heads, own.deprels, strict=True):
        right = head == gold
        outcome.heads += right
        outcome.labelled += right and label.partition(":")[0].lower() == deprel.partition(":")[0]
    outcome.violations.update(v.rule for v in UD.violations(heads, labels, own.gold_pos))


# ---------------------------------------------------------------------------------------------------------------------
# The validator of Universal Dependencies.


def validated(path: Path, treebanks: Path) -> Iterator[tuple[str, Counter[str]]]:
    """Yield the errors of the validator by class, level 3: of gold trees, single-rooted trees, and trees under "ud".

    path (Path): A score file.
    treebanks (Path): The folder with the treebanks. `udvalidate` must be in the PATH.
    """
    names, sentences, _ = read_scored(path, treebanks)
    (test,) = (treebanks / f"UD_{path.stem}").glob("*-ud-test.conllu")
    for way in ("gold", "single-rooted", "ud"):
        with tempfile.NamedTemporaryFile("wb", suffix=".conllu") as file:
            parsed = iter(sentences)
            for piece in read_pieces(io.BytesIO(test.read_bytes()), test.name):
                if isinstance(piece, bytes):
                    file.write(piece)
                    continue
                if way != "gold":
                    own = next(parsed)
                    heads, labels = tree_of(own, names, UD if way == "ud" else None)
                    for word, (head, label) in enumerate(zip(heads, labels, strict=True), 1):
                        piece.replace(word, HEAD, str(head))
                        piece.replace(word, DEPREL, label)
                file.write(piece.to_bytes())
            file.flush()
            command = ["udvalidate", "--lang", "ud", "--level", "3", "--no-warnings", "--max-err", "0", file.name]
            said = subprocess.run(command, capture_output=True, text=True, check=False)
        found: Counter[str] = Counter()
        for rule in re.findall(r"\[L3 SYNTAX ([\w-]+)\]", said.stdout + said.stderr):
            found[class_of(rule)] += 1
        yield way, found


def tree_of(own: Scored, names: Sequence[str], rules: Rules | None) -> tuple[list[int], list[str]]:
    """Return the best valid tree and its labels; without rules, the single-rooted tree with the best labels."""
    if rules is None:
        heads = decode(own.arcs)
        labels = own.labels[np.arange(len(heads)), heads].argmax(axis=1)
    else:
        tree = Problem(own.arcs, own.labels, names, rules, own.pos).search()
        assert isinstance(tree, Found) and tree.heads is not None and tree.labels is not None
        heads, labels = tree.heads, tree.labels
    return heads.tolist(), [names[k] for k in labels]


# ---------------------------------------------------------------------------------------------------------------------
# Our own scorer, with all labels.


def train_and_save(source: Path, folder: Path, seconds: float, seed: int = 0) -> Language:
    """Return our default CPU pipeline, trained on a UD treebank; kept in a folder, so that it is trained once."""
    name = source.name.removeprefix("UD_")
    path = folder / f"{name}-{seconds:g}-{seed}"
    if not path.exists():
        with tempfile.TemporaryDirectory() as temporary:
            treebank = Path(temporary) / name
            convert(source, treebank)
            nlp, _ = train_pipeline(make_config("mindroot", treebank, seed), treebank, seed=seed, seconds=seconds)
        nlp.to_disk(path)
    return load(path)


def load(path: Path) -> Language:
    """Return a trained pipeline, on the CPU."""
    set_current_ops(NumpyOps(use_blis=False))
    return spacy.load(path)


def score_with(nlp: Language, test: Path) -> tuple[list[str], list[Scored], Rules]:
    """Return labels, sentences and learnt rules: the scores of our scorer on the gold tokens and sentences of a file.

    Parts of speech are those that the pipeline predicts, or the gold ones if it predicts none. Rules are learnt from
    the training set in the same folder.
    """
    (train,) = test.parent.glob("*-ud-train.conllu")
    scorer = nlp.get_pipe("arc_scorer")
    gold = list(read_conllu(test))
    docs = [Doc(nlp.vocab, words=own.words, sent_starts=[True, *[False] * (len(own) - 1)]) for own in gold]
    for name, pipe in nlp.pipeline:
        if name != "mind_root":
            docs = list(pipe.pipe(docs) if hasattr(pipe, "pipe") else map(pipe, docs))
    assert scorer is not None
    names, sentences = [], []
    for doc, own in zip(docs, gold, strict=True):
        names = list(doc._.arc_label_names)
        (matrix,), (labels,) = doc._.arc_scores, doc._.arc_labels
        log_p = matrix - matrix.max(axis=1, keepdims=True)
        scores = labels.scores_of_all_arcs()
        gold_pos = pos_of_sentence(own)
        sentences.append(Scored(log_p, scores, own.heads, own.labels, pos_of_rules(doc) or gold_pos, gold_pos))
    trees = ((own.heads, own.labels, pos_of_sentence(own)) for own in read_conllu(train))
    return names, sentences, learn_rules(trees)


def time_mind_root(nlp: Language, test: Path, repeats: int = 5) -> Iterator[tuple[str, float, float, float]]:
    """Yield the time of `mind_root` without rules, with "ud" and with "learnt", in seconds per sentence.

    The mean and the worst of the sentences one by one, and the mean in a stream.
    """
    (train,) = test.parent.glob("*-ud-train.conllu")
    mind_root: Any = nlp.get_pipe("mind_root")
    trees = ((own.heads, own.labels, pos_of_sentence(own)) for own in read_conllu(train))
    mind_root.valid_trees.learnt = learn_rules(trees)
    sentences = list(read_conllu(test))
    times: dict[Any, list[list[float]]] = {None: [], "ud": [], "learnt": []}
    streams: dict[Any, list[float]] = {setting: [] for setting in times}
    for _ in range(repeats):
        for setting, seen in times.items():
            mind_root.rules = setting
            docs = _scored_docs(nlp, sentences)
            began = time.process_time()
            for _ in mind_root.pipe(docs):
                pass
            streams[setting].append((time.process_time() - began) / len(docs))
            round_times = []
            for doc in _scored_docs(nlp, sentences):
                began = time.process_time()
                mind_root(doc)
                round_times.append(time.process_time() - began)
            seen.append(round_times)
    mind_root.rules = None
    for setting, seen in times.items():
        each = np.min(seen, axis=0)
        yield str(setting), float(each.mean()), float(each.max()), min(streams[setting])


def _scored_docs(nlp: Language, sentences: Sequence[Sentence]) -> list[Doc]:
    """Return a Doc for each sentence, with gold parts of speech, after all components before `mind_root`."""
    docs = [
        Doc(
            nlp.vocab,
            words=own.words,
            pos=[tag or "X" for tag in pos_of_sentence(own)],
            sent_starts=[True, *[False] * (len(own) - 1)],
        )
        for own in sentences
    ]
    for name, pipe in nlp.pipeline:
        if name != "mind_root":
            docs = list(pipe.pipe(docs) if hasattr(pipe, "pipe") else map(pipe, docs))
    return docs


# ---------------------------------------------------------------------------------------------------------------------
# Stanza's repair.


def load_stanza(folder: Path) -> Callable[..., Any]:
    """Return `resolve_head_constraint_violations` from an unpacked wheel of Stanza. Its module needs no torch."""
    vocab = types.ModuleType("stanza.models.common.vocab")
    vocab.VOCAB_PREFIX_SIZE = 0  # type: ignore[attr-defined]
    for name in ("stanza", "stanza.models", "stanza.models.common"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules["stanza.models.common.vocab"] = vocab
    for name, path in (
        ("stanza.models.common.chuliu_edmonds", "common/chuliu_edmonds.py"),
        ("stanza.models.depparse.head_constraints", "depparse/head_constraints.py"),
    ):
        spec = importlib.util.spec_from_file_location(name, folder / "stanza" / "models" / path)
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    found: Callable[..., Any] = sys.modules[
        "stanza.models.depparse.head_constraints"
    ].resolve_head_constraint_violations
    return found


@dataclass
class Against:
    """Our search against Stanza's repair, on the sentences whose single-rooted tree breaks one of Stanza's rules."""

    sentences: int = 0
    lower: int = 0  # sentences in which our weight is lower
    higher: int = 0
    gain: float = 0.0
    left_theirs: int = 0  # sentences with violations left
    left_ours: int = 0
    seconds_theirs: float = 0.0
    seconds_ours: float = 0.0


def against_stanza(names: Sequence[str], sentences: Sequence[Scored], folder: Path) -> Against:
    """Compare on the same scores. Stanza counts these labels and no others, so our rules exclude all other subtypes."""
    resolve = load_stanza(folder)
    theirs = sys.modules["stanza.models.depparse.head_constraints"]
    groups = theirs.SINGLETON_DEPREL_GROUPS.items()
    rules = Rules(
        unique=[
            Unique(
                tuple(group), name, excluding=tuple(n for n in names if n.partition(":")[0] in group and n not in group)
            )
            for name, group in groups
        ]
    )

    class Vocab:
        def unmap(self, numbers: Sequence[int]) -> list[str]:
            return [names[k] for k in numbers]

    found = Against()
    for own in sentences:
        n = len(own.heads)
        arcs = np.full((n + 1, n + 1), -np.inf, dtype=own.arcs.dtype)
        arcs[1:] = own.arcs
        arcs[0, 0] = 0
        arcs[np.arange(1, n + 1), np.arange(1, n + 1)] = -np.inf
        labels = np.concatenate([np.full((1, n + 1, len(names)), -10.0), own.labels])
        tree = np.array([0, *decode(own.arcs)])
        raw = [names[k] for k in labels[np.arange(1, n + 1), tree[1:]].argmax(axis=1)]
        if not theirs.find_head_constraint_violations(tree, raw):
            continue
        theirs_took, ours_took = [], []
        for _ in range(2):  # the faster one counts
            began = time.process_time()
            heads, numbers = resolve(arcs.copy(), labels, tree, Vocab())
            theirs_took.append(time.process_time() - began)
        for _ in range(2):
            began = time.process_time()
            ours = Problem(own.arcs, own.labels, names, rules).search()
            ours_took.append(time.process_time() - began)
        found.seconds_theirs += min(theirs_took)
        found.seconds_ours += min(ours_took)
        assert isinstance(ours, Found) and ours.heads is not None and ours.labels is not None
        tokens = np.arange(n)
        weight = float((own.arcs[tokens, heads[1:]] + own.labels[tokens, heads[1:], numbers]).astype(np.float64).sum())
        violated = theirs.find_head_constraint_violations(heads, [names[k] for k in numbers])
        found.sentences += 1
        found.left_theirs += bool(violated)
        found.left_ours += bool(rules.violations(ours.heads, [names[k] for k in ours.labels]))
        if not violated:
            found.lower += ours.value < weight - 1e-3
            found.higher += ours.value > weight + 1e-3
            found.gain += ours.value - weight
    return found


if __name__ == "__main__":
    train_and_save(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
