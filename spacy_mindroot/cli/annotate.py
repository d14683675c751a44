"""`spacy mindroot annotate`: a page in the browser on which a treebank is annotated."""

from __future__ import annotations

import shutil
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import CorpusError
from ..escapes import printable
from . import options
from .files import opened_to_write
from .paths import PathsError, check_paths, model_folder, rules_file
from .printing import found, say
from .running import command, warn

if TYPE_CHECKING:
    from ..annotation.treebank import Treebank
    from ..rules import Rules

__all__ = ["annotate_cli"]

_PORT = 8765
_SUPPORT = 20  # cases of a rule that is learnt from what is accepted
_LEARNT = "learnt"

Order = StrEnum("Order", "RANK FILE")


@command(tables=True)
def annotate_cli(
    treebank: Path = typer.Argument(..., metavar="TREEBANK"),
    model: str | None = typer.Option(None, "--model", "-m", metavar="MODEL"),
    rules: str | None = typer.Option(None, "--rules", metavar="RULES"),
    order: Order = typer.Option(Order.RANK, "--order", metavar="rank|file"),
    review: bool = typer.Option(False, "--review"),
    second: Path | None = typer.Option(None, "--second", metavar="FILE", exists=True, dir_okay=False),
    out: Path | None = options.out_file(only=True),
    every: int = typer.Option(20, "--every", metavar="N", min=0),
    provenance: bool = typer.Option(False, "--provenance"),
    lang: str = options.language(),
    port: int | None = typer.Option(None, "--port", "-p", metavar="N", min=0, max=65535),
    host: str = typer.Option("127.0.0.1", "--host", metavar="HOST"),
    name: list[str] = typer.Option([], "--host-name", metavar="HOST"),
    browser: bool = typer.Option(True, "--browser/--no-browser"),
    code: Path | None = options.code(),
) -> None:
    """Annotate a CoNLL-U file on a page in the browser, with the suggestions of a parser.

    The parser's tree is drawn with the probability of each arc. A key takes the next best head with its label; what is
    decided stays, and the rest is decoded anew, exactly. Each sentence that is accepted is written to the file at once;
    all else of the file keeps its bytes. The parser is trained on what is accepted, in the background. Without a
    parser, the first ten sentences are annotated by hand, and one is trained from these. The key ? shows the keys.

    Steps and parser are kept in the folder TREEBANK.annotation, so that the work goes on where it ended.

    Needs the extra `annotate`.

    treebank: CoNLL-U file to annotate, in place unless --out names another. If it is missing or empty, the page asks
        for text.
    model: Pipeline with an arc_scorer and a mind_root, which is trained further (default: train from nothing).
    rules: Rules whose violations are marked: ud, for the syntax of Universal Dependencies; learnt, from the sentences
        that are accepted; or a JSON file of rules (default: none).
    order: Order of the sentences: by the expected number of wrong heads per word, or as in the file.
    review: Check sentences that have a tree, too. The parser keeps their arcs (default: they count as accepted).
    second: Trees of another annotator for the same sentences: the page shows where they differ from TREEBANK, and the
        agreement is printed. Needs --out (default: none).
    out: File to annotate in place of TREEBANK, whose content it has at first (default: TREEBANK itself).
    every: Train when so many sentences have been accepted; 0 for never, but by the key R.
    provenance: Write to MISC whether the head of each word was decided by the annotator: HeadFrom (default: off).
    lang: Language code of a parser that is trained from nothing.
    port: Port of the server; 0 for any that is free (default: 8765, or any that is free).
    host: Address of the server. Other than a loopback address, it lets others in who know the printed address.
    name: Host name under which the server is known, such as that of a proxy, besides localhost, --host and IP
        addresses. Can be given several times (default: none).
    browser: Open the page in the browser.
    """
    rules_of_file = None if rules == _LEARNT else rules_file(rules)
    reads = {"TREEBANK": None if out is None else treebank, "--second": second, "MODEL": model and model_folder(model)}
    writes = {"TREEBANK": treebank} if out is None else {"--out": out}
    check_paths(reads | {"--rules": rules_of_file, "--code": code}, writes)
    if second is not None and out is None:
        raise PathsError("--second compares two files, which both stay as they are. Name the result with --out.")
    for path in filter(None, (treebank, out)):
        if path.is_dir() or str(path) == "-":
            raise PathsError(f"{printable(path)} is not a file. Give a single file in CoNLL-U.")
    if out is not None and not treebank.exists():
        raise PathsError(f"{printable(treebank)}: there is no such file.")
    from ..annotation.agreement import agreement_table, paired_sentences
    from ..annotation.journal import Journal
    from ..annotation.session import Session
    from ..annotation.suggestions import Suggester
    from ..annotation.training import Trainer
    from ..annotation.treebank import Treebank
    from ..tools.gold import load_pipeline
    from .serve import web

    server = web("guard")
    page = web("annotate")
    pairs = paired_sentences(treebank, second) if second is not None else []
    path = treebank if out is None else out
    if out is not None and not out.exists():
        with opened_to_write(out) as copy, open(treebank, "rb") as source:
            shutil.copyfileobj(source, copy)
    file = Treebank(path)
    journal = Journal(path.with_name(f"{path.name}.annotation"))
    if journal.skipped:
        shown = ", ".join(map(str, journal.skipped[:5]))
        warn(f"The journal in {printable(journal.folder)} has lines that can't be read and don't count: {shown}.")
    trainer = Trainer(journal.folder, lang, model)
    kept = trainer.kept()
    suggester = Suggester(None if kept is None else load_pipeline(kept))
    known = _rules(rules, file)
    session = Session(file, journal, suggester, known, bool(review), {}, provenance, lang)
    if session.changed:
        warn(f"Another program has changed accepted sentences: {session.changed:,}. They are taken as they are now.")
    if pairs:
        if [session.base(k).words for k in range(len(file))] != [one.words for one, _ in pairs]:
            journal.close()
            raise CorpusError(f"{printable(path)} has other words than {printable(treebank)}. Choose another --out.")
        table, figures = agreement_table(pairs)
        say(table)
        found(figures)
        arcs = (list(zip(other.heads, other.labels, strict=True)) for _, other in pairs)
        session.second = dict(zip(file.keys, arcs, strict=True))
    annotation = page.Annotation(session, trainer, every=every, ordered=order == Order.RANK)
    listening = server.listen(host, _PORT if port is None else port, or_any=port is None)
    address = f"{server.url_of(listening)}#{page.token_in(journal.folder)}"

    def started() -> None:
        typer.echo(f"Annotate {printable(path)} at {address}")
        say("Ctrl-C ends the server. Every step is kept.")
        if browser:
            import webbrowser

            webbrowser.open(address)

    if not server.is_loopback(host):
        warn(f"Whoever reaches {host} and knows the address can annotate, and nothing is encrypted on its way.")
    try:
        annotation.begin()
        guarded = server.Guard(page.make_app(annotation, address.partition("#")[2]), host=host, names=name)
        server.run(guarded, listening, started)
    finally:
        trainer.stop()
        journal.close()
    say(f"{len(session.accepted()):,} of {len(file):,} sentences in {printable(path)} are accepted.")


def _rules(rules: str | None, file: Treebank) -> Rules | None:
    from ..conllu.repair import is_complete, pos_of_sentence
    from ..rules import learn_rules, to_rules

    if rules is None:
        return None
    if rules != _LEARNT:
        return to_rules(rules, what="--rules")
    trees = [(each.heads, each.labels, pos_of_sentence(each)) for each in file if is_complete(each)]
    return learn_rules(trees, min_support=_SUPPORT)
