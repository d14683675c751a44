"""`spacy mindroot decode`: a score file in, CoNLL-U, a table and pictures of trees out."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import typer
from tqdm import tqdm
from wasabi import table

from ..audit.evaluation import unlabelled_attachment_score
from ..conllu import format_sentence
from ..core.fault import Fault
from ..decoding import Heads, decode_matrices
from ..errors import MindRootError, ScoreFileError
from ..faults import decoding_error
from ..inference.arc_confidence import confidence_of, margin
from ..inference.next_best import kbest_matrix
from ..score_file import read_score_file
from ..scored import ScoredSentence, decode_both, raise_fault
from ..trees import count_roots, tree_weight
from .files import opened_to_write, tolerant_streams
from .text_trees import side_by_side, tree_lines

_BATCH = 1000  # sentences, between one step of the progress bar and the next


class Decoded(NamedTuple):
    """The best trees of the sentences of a score file, and the seconds it took to find those with a single root.

    `projective` are the best of those without crossing arcs, None where they are not asked for.
    """

    unconstrained: list[Heads]
    single_root: list[Heads]
    seconds: float
    projective: list[Heads] | None = None

    def to_write(self) -> list[Heads]:
        return self.single_root if self.projective is None else self.projective

    def malformed(self) -> list[int]:
        """The sentences (indexes) whose best unconstrained tree has more than one root."""
        return [k for k, heads in enumerate(self.unconstrained) if count_roots(heads) > 1]


def run(
    scores: Path, out: Path | None, show: int, nbest: int = 1, probs: bool = False, projective: bool = False
) -> None:
    """The command, with its errors as messages. See `spacy mindroot decode --help`."""
    to_stdout = str(out) == "-"
    tolerant_streams()
    try:
        if out is not None and out.exists() and out.samefile(scores):
            raise ScoreFileError(f"{out} is the score file itself. Write the trees to another.")
        sentences = read_score_file(scores)
        decoded = decode_sentences(sentences, source=str(scores))
        if projective:
            decoded = decoded._replace(projective=decode_projective(sentences, source=str(scores)))
        if out is not None:
            with opened_to_write(out) as file:
                for k, (sentence, heads) in enumerate(zip(sentences, decoded.to_write(), strict=True), 1):
                    if len(heads):
                        text = to_conllu(sentence, heads, nbest=nbest, probs=probs, sent_id=f"{scores.stem}-{k}")
                        file.write(text.encode("utf8"))
    except BrokenPipeError:  # `... - | head`
        raise
    except (MindRootError, OSError) as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        if out is not None:
            typer.echo("Nothing was written.", err=True)
        raise typer.Exit(1) from error

    for k in decoded.malformed()[:show]:
        typer.echo(
            before_and_after(sentences[k], decoded.unconstrained[k], decoded.single_root[k], number=k + 1),
            err=to_stdout,
        )
    typer.echo(summary(sentences, decoded), err=to_stdout)


def decode_sentences(sentences: list[ScoredSentence], *, source: str) -> Decoded:
    """Decodes all sentences, without and with the root constraint.

    RAISES (DecodingError): For the first sentence that has no tree with a single root. It names `source`.
    """
    unconstrained: list[Heads] = []
    single_root: list[Heads] = []
    seconds = 0.0
    with tqdm(total=len(sentences), unit=" sentences", disable=None, delay=1, leave=False) as progress:
        for start in range(0, len(sentences), _BATCH):
            batch = sentences[start : start + _BATCH]
            decoded = decode_both(batch, source=source, first=start)
            unconstrained += decoded.unconstrained
            single_root += decoded.single_root
            seconds += decoded.seconds
            progress.update(len(batch))
    return Decoded(unconstrained, single_root, seconds)


def decode_projective(sentences: list[ScoredSentence], *, source: str) -> list[Heads]:
    """The best projective trees with one root. Raises DecodingError for the first sentence that has none."""
    found, faults = decode_matrices([sentence.scores for sentence in sentences], projective=True)
    raise_fault(faults, sentences, source=source, projective=True)
    return found


def to_conllu(sentence: ScoredSentence, heads: Heads, *, nbest: int, probs: bool, sent_id: str) -> str:
    """A sentence with its tree; and, if asked for, with its best trees and how probable they are (see `--help`)."""
    comments: list[str] = []
    misc = None
    if nbest > 1:
        heads, comments = _tree_comments(sentence, nbest, probs)
    if probs:
        confidence = confidence_of(sentence.scores, heads)
        ahead = margin(sentence.scores, heads, _best_trees(sentence, 2))
        comments += [f"tree_logprob = {confidence.tree_logprob:.6g}", f"tree_margin = {ahead:.6g}"]
        misc = [
            f"HeadEntropy={entropy:.4f}|HeadProb={prob:.4f}"
            for prob, entropy in zip(confidence.head_prob, confidence.head_entropy, strict=True)
        ]
    return format_sentence(
        sentence.words, heads.tolist(), sentence.labels(heads), sent_id=sent_id, comments=comments, misc=misc
    )


def _tree_comments(sentence: ScoredSentence, nbest: int, probs: bool) -> tuple[Heads, list[str]]:
    """The best tree, and a comment for each of the n best."""
    trees = _best_trees(sentence, nbest)
    comments = []
    for number, (heads, weight) in enumerate(trees, 1):
        logprob = f" logprob={confidence_of(sentence.scores, heads).tree_logprob:.6g}" if probs else ""
        labels = ",".join("_".join(label.split()) for label in sentence.labels(heads))
        comments.append(
            f"tree_{number} = weight={weight:.6g}{logprob} heads={','.join(map(str, heads.tolist()))} deprels={labels}"
        )
    return trees[0][0], comments


def _best_trees(sentence: ScoredSentence, k: int) -> list[tuple[Heads, float]]:
    trees = kbest_matrix(sentence.scores, k)
    if isinstance(trees, Fault):  # no memory
        raise decoding_error(trees, sentence.scores, words=sentence.words)
    return trees


def summary(sentences: list[ScoredSentence], decoded: Decoded) -> str:
    """The table that the command prints."""
    tokens = sum(map(len, decoded.single_root))
    malformed = len(decoded.malformed())
    share = f" ({malformed / len(sentences):.2%})" if sentences else ""
    rows = [
        ("Sentences", f"{len(sentences):,}"),
        ("Tokens", f"{tokens:,}"),
        ("Unconstrained optimum has more than one root", f"{malformed:,}{share}"),
    ]
    gold = [sentence.gold_heads for sentence in sentences if sentence.gold_heads is not None]
    if gold:
        found = [("UAS, unconstrained", decoded.unconstrained), ("UAS, single root", decoded.single_root)]
        if decoded.projective is not None:
            found.append(("UAS, single root, projective", decoded.projective))
        for name, heads in found:
            rows.append((name, f"{100 * unlabelled_attachment_score(heads, gold):.2f}"))
    if decoded.seconds:
        rows.append(("Tokens per second, decoding only", f"{tokens / decoded.seconds:,.0f}"))
    return str(table(rows, aligns=("l", "r"), max_col=60))


def before_and_after(sentence: ScoredSentence, before: Heads, after: Heads, *, number: int) -> str:
    """The unconstrained and the single-rooted tree of a sentence beside each other; a star marks what has changed."""
    changed = (np.flatnonzero(before != after) + 1).tolist()
    columns = []
    for title, heads in (("unconstrained", before), ("single root", after)):
        roots = count_roots(heads)
        title = f"{title}: {roots} root{'s' if roots > 1 else ''}, weight {tree_weight(sentence.scores, heads):.2f}"
        columns.append([title, "", *tree_lines(sentence.words, heads.tolist(), sentence.labels(heads), marked=changed)])
    return "\n".join([f"\nSentence {number}: {' '.join(sentence.words)}", "", *side_by_side(*columns)])
