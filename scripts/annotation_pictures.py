"""Makes the pictures of the page `annotate` in the documentation: `python -m scripts.annotation_pictures`.

Annotates sentences of the demo treebank in a browser, with a parser that is trained on the others. Needs Chromium.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.annotation import Annotator, Done, RealPage, opened
from spacy_mindroot.annotation.treebank import copied
from spacy_mindroot.conllu import Sentence, read_conllu
from spacy_mindroot.conllu.columns import DEPREL, HEAD

ROOT = Path(__file__).parents[1]
TREEBANK = ROOT / "assets" / "treebank"


def without_trees(sentence: Sentence) -> Sentence:
    """Return a sentence without heads and labels."""
    sentence = copied(sentence)
    for word in range(1, len(sentence) + 1):
        sentence.replace(word, HEAD, "_")
        sentence.replace(word, DEPREL, "_")
    return sentence


def write(path: Path, sentences: list[Sentence]) -> Path:
    path.write_bytes(b"".join(sentence.closed() for sentence in sentences))
    return path


def with_keys(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
        page.evaluate("() => window.settled()")


def picture(page: Any, out: Path, width: int, height: int, scheme: str = "light") -> None:
    """Write what is shown in a window of some size."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.wait_for_timeout(600)  # until the table and the list are there
    page.evaluate("() => { document.querySelector('#notice').textContent = ''; return window.settled() }")
    page.screenshot(path=str(out))


def make_all(out: Path, train: Callable[[RealPage], None]) -> list[Path]:
    """Make all pictures, and return their paths.

    train (Callable): Called with the first page, on which the demo's training set is accepted.
    """
    files = [out / f"annotate{name}.png" for name in ("", "-dark", "-phone", "-second")]
    known = list(read_conllu(TREEBANK / "train.conllu"))
    new = list(read_conllu(TREEBANK / "test.conllu"))
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "demo.conllu", known + [without_trees(each) for each in new])
        with opened(path, "--rules", "ud", "--every", "0", "--lang", "en") as real:
            page = real.page
            train(real)
            decide_one(real, known + new)
            with_keys(page, "Tab")
            picture(page, files[0], 1100, 760)
            picture(page, files[1], 1100, 760, "dark")
            picture(page, files[2], 390, 844)
        one = write(Path(folder) / "one.conllu", new)
        for each in new:
            heads = each.heads
            for word, head in enumerate(heads, 1):
                if head and heads[head - 1] and (word + len(heads)) % 7 == 0:
                    each.replace(word, HEAD, str(heads[head - 1]))
        two = write(Path(folder) / "two.conllu", new)
        with opened(one, "--second", str(two), "--out", str(Path(folder) / "agreed.conllu")) as real:
            picture(real.page, files[3], 1100, 700)
    return files


def decide_one(real: RealPage, gold: list[Sentence]) -> None:
    """Put the least certain arc of those that are wrong right."""
    annotator, view = Annotator(real, gold), real.view()
    own = gold[view["number"]]
    arcs = list(zip(own.heads, own.labels, strict=True))
    done = Done(view["number"], len(arcs), 0)
    wrong = annotator.wrong(view, arcs)
    annotator.go_to(done, view, wrong[:1])
    annotator.choose(done, view, wrong[0], arcs[wrong[0] - 1])


def train_parser(real: RealPage) -> None:
    with_keys(real.page, "R")
    real.page.wait_for_function("() => /trained on/.test(document.querySelector('#parser').textContent)")
    real.page.wait_for_selector(".alternative")


if __name__ == "__main__":
    for made in make_all(ROOT / "docs", train_parser):
        print(f"{made}: {made.stat().st_size / 1000:.0f} kB")
