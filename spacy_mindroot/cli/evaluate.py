"""`spacy mindroot evaluate`: the scores of the CoNLL 2018 shared task, and what its script lacks."""

from __future__ import annotations

from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import srsly
import typer
from wasabi import table

from ..conllu import conllu_files, read_conllu
from ..conllu.files import CONLLU_SUFFIXES
from ..conllu.marks import SentenceWriter
from ..errors import CorpusError
from ..tools.evaluation.official import load_script
from ..tools.evaluation.predicting import predict, sentences_in
from ..tools.evaluation.report import OFFICIAL_HEADER, Evaluation, evaluate, measure_rows, official_rows, to_json
from ..tools.gold import load_pipeline
from .files import check_paths, errors_as_messages, model_folder, outputs, printable

__all__ = ["run"]


def run(
    model: str,
    corpus: Path,
    raw: bool,
    json: Path | None,
    output: Path | None,
    surface_tokens: bool | None = None,
    code: Path | None = None,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot evaluate --help`."""
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
    with errors_as_messages(nothing_written=json is not None or output is not None):
        reads = {"MODEL": model_folder(model), "GOLD": corpus, "--code": code}
        check_paths(reads, {"--json": json, "--output": output})
        gold = [sentence for file in conllu_files(corpus) for sentence in read_conllu(file)]
        load_script()  # so that a missing package is known before parsing
        if not gold:
            raise CorpusError(f"There are no sentences in {corpus}.")
        with outputs() as opened, ExitStack() as stack:
            kept = None if output is None else stack.enter_context(opened(output))
            report = None if json is None else stack.enter_context(opened(json))
            if is_output:
                tokens = "those of the output"
                system = list(read_conllu(Path(model)))
            else:
                tokens = "raw text" if raw else "gold"
                text = predict(load_pipeline(model), gold, raw=raw, surface_tokens=surface_tokens)
                system = sentences_in(text, printable(output or model))
            found = evaluate(gold, system)
            if kept is not None:
                writer = SentenceWriter(kept)
                for sentence in system:
                    writer.write(sentence)
            if report is not None:
                facts = {"model": printable(model), "corpus": printable(corpus), "tokens": tokens}
                report.write((srsly.json_dumps(_facts(facts) | to_json(found), indent=2) + "\n").encode("utf8"))
        _print(found)


def _facts(facts: dict[str, Any]) -> dict[str, Any]:
    names = ("spacy-mindroot", "spacy", "numpy", "udtools")
    return facts | {"versions": {name: version(name) for name in names}}


def _print(found: Evaluation) -> None:
    typer.echo(table(official_rows(found), header=OFFICIAL_HEADER, divider=True, aligns=("l", *"rrrr"), max_col=60))
    typer.echo(table(measure_rows(found), aligns=("l", "r"), max_col=60))
