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
from .files import if_given, opened_to_write, outputs
from .paths import PathsError, check_paths
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
    check: bool = typer.Option(False, "--check"),
    unrepaired: bool = typer.Option(False, "--unrepaired"),
    conllu: Path | None = typer.Option(None, "--conllu", metavar="FILE", exists=True, dir_okay=False),
    text: Path | None = typer.Option(None, "--text", metavar="FILE", exists=True, dir_okay=False),
    labels: str | None = typer.Option(None, "--known-labels", metavar="NAME,...|FILE"),
    report: Path | None = options.report("what is wrong with each answer"),
) -> None:
    """Decode the best single-rooted tree of every sentence in a score file, or of the answers of a language model.

    Of a score file, writes CoNLL-U with the best label of each arc, and prints a table: the number of sentences, the
    number whose best unconstrained tree is multi-rooted and, if the file has gold heads, UAS without and with the root
    constraint (percent of all tokens, punctuation included).

    --kbest and --confidence add comments to the CoNLL-U. Numbers have six digits. One comment per tree, best first,
    as in `# tree_1 = weight=-3.25 logprob=-0.18 heads=2,0,2 deprels=nsubj,root,obj` (logprob only with
    --confidence); the first is the tree that is written below. With --confidence also `# tree_logprob = -0.18`, the
    log-probability of that tree; `# tree_margin = 1.5`, the weight by which it beats the next best (inf if there is
    no other); `# expected_uas = 0.87`, the mean probability of its heads; and, in MISC, HeadProb and HeadEntropy (in
    nats).

    Answers are JSON lines, one per sentence: `words`, `heads` and `deprels`. `heads` is a list; several, of samples,
    which vote; or the log-probabilities of each word's head. See the documentation for all forms. What is wrong with
    an answer is named. Without any head that can be used, HEAD stays empty, and `repair --prior` can parse the
    sentence.

    scores: Score file (.npz) with the arrays `lens` and `arc`, and optionally `words`, `labels`, `label_best`,
        `heads` and `deprels`; or answers (.jsonl).
    out: CoNLL-U file to write, or - for standard output. Without it, only the table is printed.
    show: Number of changed sentences to print, each with its trees without and with the root constraint.
    projective: Write the best trees without crossing arcs; next best trees and probabilities are those of such trees,
        too (default: off).
    check: Answers only: write no CoNLL-U. Print everything that is wrong with the answers; exit status 1 if anything
        is (default: off).
    unrepaired: Answers only: write the heads of single answers as they are, for `repair` (default: off).
    conllu: Answers only: CoNLL-U with the sentences, in the same order, to write HEAD and DEPREL into (default: the
        words in the answers).
    text: Answers only: text with the words of one sentence per line, with spaces between them (default: the words
        in the answers).
    labels: Answers only: all labels, or a CoNLL-U file that has them. Others count as unknown (default: any).
    """
    from ..tools.audit.decoded import Totals, before_and_after, to_conllu
    from .answering import AnswerDecoder, is_answers, known_labels

    labels_file = labels if labels is not None and Path(labels).is_file() else None
    reads = {"SCORES": scores, "--conllu": conllu, "--text": text, "--known-labels": labels_file}
    check_paths(reads, {"OUT": out, "--report": report})
    if is_answers(scores):
        if (check and out is not None) or (conllu is not None and text is not None) or show:
            raise PathsError("--check goes without OUT, --conllu without --text, and --show is for score files.")
        decoder = AnswerDecoder(
            scores, known_labels(labels), kbest, confidence, projective, unrepaired=unrepaired, check=check, say=say
        )
        with outputs() as opened, if_given(opened, report) as decoder.report, if_given(opened, out) as file:
            decoder.decode(conllu, text, file)
        say(decoder.summary())
        found(decoder.to_json())
        if check and decoder.found_faults:
            raise typer.Exit(1)
        return
    if check or unrepaired or conllu or text or labels or report:
        raise PathsError(
            "--check, --unrepaired, --conllu, --text, --known-labels and --report are for answers (.jsonl)."
        )
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
                    written = to_conllu(
                        each.sentence, heads, kbest=kbest, confidence=confidence, projective=projective, sent_id=named
                    )
                    file.write(written.encode("utf8"))
    changed = [k for k, each in enumerate(decoded) if each.multi_rooted]
    for k in changed[:show]:
        say(before_and_after(decoded[k], number=k + 1))
    say(totals.table())
    found(totals.to_json())
