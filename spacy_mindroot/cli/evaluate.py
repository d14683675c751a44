"""`spacy mindroot evaluate`: the scores of the CoNLL 2018 shared task, and what its script lacks."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import typer

from ..errors import CorpusError
from ..escapes import printable
from ..tables import text_table
from . import options
from .files import if_given, outputs
from .paths import check_paths, model_folder
from .printing import found, say
from .running import command

__all__ = ["evaluate_cli"]


@command("output", tables=True)
def evaluate_cli(
    model: str = options.model(),
    gold: Path = typer.Argument(..., metavar="GOLD", exists=True),
    raw: bool = typer.Option(False, "--raw"),
    output: Path | None = typer.Option(
        None, "--output", "--out", "-o", metavar="FILE", dir_okay=False, callback=options.ending(*options.CONLLU)
    ),
    surface_tokens: bool | None = options.surface_tokens("Without --raw: parse", "GOLD"),
    code: Path | None = options.code("-c"),
) -> None:
    """Evaluate a pipeline with the official script of UD, from gold tokens or from raw text.

    Prints the scores of the CoNLL 2018 shared task: tokens, sentences, words, UPOS, XPOS, UFeats, lemmas, UAS, LAS,
    CLAS, MLAS and BLEX. A metric whose column is empty in GOLD is left out. Then what that script lacks: exact match,
    root accuracy, the share of single-rooted trees, non-projective arcs, and how well the probabilities of heads are
    calibrated.

    The raw text is that of GOLD, in paragraphs (`# newpar`, `# newdoc`), or in one piece if it has none. A word counts
    as right only if its token is right, too; "Words" says how well the pipeline's words agree with GOLD's. With --raw,
    the last table compares with the scores from gold tokens and sentences: what it costs to find both.

    Needs the extra `evaluate`.

    model: Pipeline with any parser; or the output of a parser on the same text, as a CoNLL-U file (.conllu).
    gold: Treebank: a CoNLL-U file, or a folder of them.
    raw: Parse the raw text: the pipeline finds tokens and sentences itself (default: gold tokens and sentences).
    output: CoNLL-U file to write the pipeline's output to, with the probability of each head as HeadProb in MISC,
        if there is one (default: none).
    """
    from ..conllu import conllu_files, read_conllu
    from ..conllu.files import CONLLU_SUFFIXES
    from ..conllu.marks import SentenceWriter
    from ..tools.evaluation.official import load_script
    from ..tools.evaluation.predicting import predict
    from ..tools.evaluation.report import (
        COST_HEADER,
        OFFICIAL_HEADER,
        cost_rows,
        evaluate,
        measure_rows,
        official_rows,
        to_json,
    )
    from ..tools.gold import load_pipeline

    is_output = Path(model).is_file() or model.removesuffix(".gz").endswith(CONLLU_SUFFIXES)
    if is_output and (raw or surface_tokens is not None):
        raise typer.BadParameter(
            "MODEL is the output of a parser, which has tokens already. Leave out --raw, --surface-tokens and --words.",
            param_hint="MODEL",
        )
    if raw and surface_tokens is not None:
        raise typer.BadParameter(
            "the tokens of raw text are those of the pipeline's tokenizer. Leave out --surface-tokens and --words.",
            param_hint="--raw",
        )
    reads = {"MODEL": model_folder(model), "GOLD": gold, "--code": code}
    check_paths(reads, {"--output": output})
    annotated = [sentence for file in conllu_files(gold) for sentence in read_conllu(file)]
    load_script()  # so that a missing package is known before parsing
    if not annotated:
        raise CorpusError(f"There are no sentences in {gold}.")
    with outputs() as opened, if_given(opened, output) as conllu:
        from_gold = None
        if is_output:
            tokens = "those of the output"
            system = list(read_conllu(Path(model)))
        else:
            tokens = "raw text" if raw else "gold"
            nlp = load_pipeline(model)
            system = predict(nlp, annotated, raw=raw, surface_tokens=surface_tokens)
            if raw:
                from_gold = evaluate(annotated, predict(nlp, annotated))
        own = evaluate(annotated, system)
        if conllu is not None:
            writer = SentenceWriter(conllu)
            for sentence in system:
                writer.write(sentence)
    say(text_table(official_rows(own), OFFICIAL_HEADER))
    say(text_table(measure_rows(own)))
    if from_gold is not None:
        say(text_table(cost_rows(own, from_gold), COST_HEADER))
    facts = {
        "model": printable(model),
        "corpus": printable(gold),
        "tokens": tokens,
        "versions": {name: version(name) for name in ("spacy-mindroot", "spacy", "numpy", "udtools")},
    }
    found(facts | to_json(own) | ({"gold": to_json(from_gold)} if from_gold is not None else {}))
