"""The arguments and options of `spacy mindroot parse`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["parse_cli"]


def parse_cli(
    model: str = options.model("Pipeline that parses: the path of a folder, or the name of an installed package"),
    inputs: list[str] = typer.Argument(
        ...,
        metavar="IN",
        help="Files, folders, patterns or URLs (s3://...) of .txt, .jsonl, .conllu, .parquet and .spacy; the first "
        "three may be compressed with gzip (.gz)",
    ),
    out: Path = typer.Option(
        ...,
        "--out",
        "-o",
        metavar="FOLDER",
        help="Folder to write. Run the same command again to go on",
        file_okay=True,
        callback=options.ending(),
    ),
    format: str = typer.Option(
        "conllu",
        "--format",
        "-f",
        metavar="NAME",
        help="Format of the output: conllu, conllu.gz, spacy, jsonl or parquet",
    ),
    text_column: str = typer.Option(
        "text",
        "--text-column",
        metavar="NAME",
        help="Key or column with the text of a document, in JSON lines or Parquet",
    ),
    id_column: str | None = typer.Option(
        None,
        "--id-column",
        metavar="NAME",
        help="Key or column with the id of a document (default: id, if there is one)",
    ),
    paragraphs: bool = typer.Option(
        False,
        "--paragraphs",
        help="Documents in .txt files are separated by empty lines (default: each line is a document)",
    ),
    workers: int | None = typer.Option(
        None,
        "--workers",
        "-w",
        metavar="N",
        min=1,
        help="Number of processes to parse with. Needs the extra `dask` (default: parse in this process)",
    ),
    scheduler: str | None = typer.Option(
        None,
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a Dask cluster to parse on: tcp://HOST:8786. Needs the extra `dask` (default: none)",
    ),
    shard_words: int = typer.Option(
        200_000,
        "--shard-words",
        metavar="N",
        min=1,
        help="About the number of words in a shard, which is one output file",
    ),
    retries: int = typer.Option(
        2,
        "--retries",
        metavar="N",
        min=0,
        help="How often a shard is tried again after its worker has died, or after an error in reading it",
    ),
    confidence: bool = options.confidence("the probability of each head and of each tree"),
    kbest: int = options.kbest(),
    metrics: Path | None = typer.Option(
        None,
        "--metrics",
        metavar="FILE",
        help="File to write counts, times and the memory of each worker to, as JSON (default: none)",
        dir_okay=False,
        callback=options.ending(".json"),
    ),
    code: Path | None = options.code(),
    force: bool = typer.Option(
        False, "--force", "-F", help="Remove what an earlier run has written to FOLDER, and start over (default: off)"
    ),
) -> None:
    """Parse a corpus, however large, into a folder.

    The input is cut into shards. Each becomes one file, which appears when it is complete. If the command or a worker
    is killed, run the same command again: it parses what is missing.

    FOLDER also gets manifest.json (the pipeline, the settings and the input), manifest.jsonl (each complete shard, with
    its counts and digest), rejected.jsonl (each document that could not be read or parsed, and why) and failed.jsonl
    (each shard that failed). Exit status 1 if a shard failed, or if every document was rejected.
    """
    from ..parse import run

    run(
        model,
        inputs,
        out,
        format=format,
        text_column=text_column,
        id_column=id_column,
        paragraphs=paragraphs,
        workers=workers,
        scheduler=scheduler,
        shard_words=shard_words,
        retries=retries,
        confidence=confidence,
        kbest=kbest,
        metrics=metrics,
        code=code,
        force=force,
    )
