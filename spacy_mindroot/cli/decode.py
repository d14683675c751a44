"""`spacy mindroot decode`: reads a score file; writes CoNLL-U, a table and trees as text."""

from __future__ import annotations

from pathlib import Path

import typer
from tqdm import tqdm

from ..decoding import decode_matrices
from ..escapes import printable
from ..score_file import read_score_file
from ..scored import DecodedSentence, decode_sentences, raise_fault
from . import options
from .files import opened_to_write
from .paths import check_paths
from .printing import found, say
from .running import command

__all__ = ["decode_cli"]


@command("out", tables=True)
def decode_cli(
    scores: Path = typer.Argument(..., metavar="SCORES", exists=True, dir_okay=False),
    out: Path | None = typer.Argument(
        None, metavar="OUT", dir_okay=False, callback=options.ending(*options.CONLLU), allow_dash=True
    ),
    show: int = typer.Option(0, "--show", "-s", metavar="N", min=0),
    kbest: int = options.kbest("as comments in the CoNLL-U"),
    confidence: bool = options.confidence(
        "the probability of each head (HeadProb in MISC) and of each tree (comments)"
    ),
    projective: bool = typer.Option(False, "--projective"),
) -> None:
    """Decode the best single-rooted tree of every sentence in a score file.

    Writes CoNLL-U with the best label of each arc, and prints a table: the number of sentences, the number whose best
    unconstrained tree is multi-rooted and, if the file has gold heads, UAS without and with the root constraint
    (percent of all tokens, punctuation included).

    --kbest and --confidence add comments to the CoNLL-U. Numbers have six digits. One comment per tree, best first,
    as in `# tree_1 = weight=-3.25 logprob=-0.18 heads=2,0,2 deprels=nsubj,root,obj` (logprob only with
    --confidence); the first is the tree that is written below. With --confidence also `# tree_logprob = -0.18`, the
    log-probability of that tree; `# tree_margin = 1.5`, the weight by which it beats the next best (inf if there is
    no other); and, in MISC, HeadProb and HeadEntropy (in nats).

    scores: Score file (.npz) with the arrays `lens` and `arc`, and optionally `words`, `labels`, `label_best`,
        `heads` and `deprels`.
    out: CoNLL-U file to write, or - for standard output. Without it, only the table is printed.
    show: Number of changed sentences to print, each with its trees without and with the root constraint.
    projective: Write the best trees without crossing arcs; next best trees and probabilities are those of such trees,
        too (default: off).
    """
    from ..tools.audit.decoded import Totals, before_and_after, to_conllu

    check_paths({"SCORES": scores}, {"OUT": out})
    sentences = read_score_file(scores)
    source = printable(scores)
    trees = None
    if projective:
        trees, faults = decode_matrices([sentence.scores for sentence in sentences], projective=True)
        raise_fault(faults, sentences, source=source, projective=True)
    decoded: list[DecodedSentence] = []
    totals = Totals()
    every = decode_sentences(sentences, source=source)
    for each in tqdm(every, total=len(sentences), unit=" sentences", disable=None, delay=1, leave=False):
        totals.add(each, None if trees is None else trees[len(decoded)])
        decoded.append(each)
    if out is not None:
        stem = printable(scores.stem)
        with opened_to_write(out) as file:
            for k, each in enumerate(decoded):
                heads = each.single_root if trees is None else trees[k]
                if len(heads):
                    named = f"{stem}-{k + 1}"
                    text = to_conllu(
                        each.sentence, heads, kbest=kbest, confidence=confidence, projective=projective, sent_id=named
                    )
                    file.write(text.encode("utf8"))
    changed = [k for k, each in enumerate(decoded) if each.multi_rooted]
    for k in changed[:show]:
        say(before_and_after(decoded[k], number=k + 1))
    say(totals.table())
    found(totals.to_json())
