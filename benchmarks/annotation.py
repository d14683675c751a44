"""A simulated annotator: works through the real page, key by key, until every sentence equals the gold file.

One decision makes the arc to one word right, head and label. The annotator knows the gold tree, and takes, for a word
at fault, the first of these that helps: an alternative by one key (1 to 6), the root by one key (r), any head by its
number (h), any label by its name (l); two of them if need be. Words at fault are met in the order of the page, from
doubt to doubt.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from spacy_mindroot.annotation.journal import Journal
from spacy_mindroot.annotation.session import Session
from spacy_mindroot.annotation.suggestions import Suggester
from spacy_mindroot.annotation.training import Trainer
from spacy_mindroot.annotation.treebank import Treebank, copied
from spacy_mindroot.conllu import Sentence, read_conllu
from spacy_mindroot.conllu.columns import DEPS, LEMMA
from spacy_mindroot.tools.gold import load_pipeline
from spacy_mindroot.web.annotate import Annotation

from .runs import note_run, read_runs

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Done:
    """The work on a sentence. A decision is about one word; those of heads are the ones that change its head."""

    number: int
    tokens: int
    trained: int  # sentences that the parser had learnt; 0 for none
    wrong: int = 0  # arcs at fault in the tree that was suggested first
    wrong_heads: int = 0
    decisions: int = 0
    single: int = 0  # of these, by a single key
    of_heads: int = 0
    of_heads_single: int = 0
    keys: int = 0  # all keys, with those that move from word to word, and Enter
    milliseconds: list[float] = field(default_factory=list)  # from a key to the new picture


def blank(sentence: Sentence) -> Sentence:
    """Return a sentence with words alone."""
    sentence = copied(sentence)
    for word in range(1, len(sentence) + 1):
        for column in range(LEMMA, DEPS + 1):
            sentence.replace(word, column, "_")
    return sentence


def prepare(gold: Sequence[Sentence], path: Path) -> None:
    """Write the file to annotate, unless there is one from an earlier run."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(blank(sentence).closed() for sentence in gold))


@contextmanager
def opened(path: Path, *options: str) -> Iterator[RealPage]:
    """Start the server and the browser, and yield the page."""
    from playwright.sync_api import sync_playwright

    browser_path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if browser_path is None:
        raise SystemExit("This benchmark needs Chromium: apt-get install chromium")
    command = [sys.executable, "-m", "spacy_mindroot", "annotate", str(path), "--no-browser", "--port", "0", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = next(line for line in server.stdout if "http" in line).split()[-1]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
            page.set_default_timeout(600_000)
            page.goto(address)
            page.wait_for_selector("#tree svg")
            yield RealPage(page)
            browser.close()
    finally:
        server.terminate()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


class RealPage:
    """The page in a browser."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def view(self) -> dict[str, Any]:
        """Return what is shown of the sentence."""
        view: dict[str, Any] = self.page.evaluate("async () => (await window.settled(), window.annotation.view)")
        return view

    def selected(self) -> int:
        word: int = self.page.evaluate("() => window.annotation.selected")
        return word

    def asks(self) -> bool:
        """Whether a dialog waits for a choice."""
        asks: bool = self.page.evaluate("async () => (await window.settled(), document.querySelector('#choice').open)")
        return asks

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            if key in ("h", "l") and len(keys) == 1:
                self.page.wait_for_selector("#choice[open]")

    def times(self) -> list[float]:
        """Return the milliseconds of all decisions since the last call."""
        all_times: list[float] = self.page.evaluate("""() => {
            const all = performance.getEntriesByName('decision').map((each) => each.duration);
            performance.clearMeasures('decision');
            return all;
        }""")
        return all_times

    def trained(self) -> int:
        """Wait until no parser is being trained, and return on how many sentences the one in use was."""
        self.page.wait_for_function("() => !/training|preparing/.test(document.querySelector('#parser').textContent)")
        self.page.evaluate("() => window.settled()")
        found = re.fullmatch(r"trained on (\d+)", self.page.text_content("#parser"))
        return int(found[1]) if found else 0


class StandIn:
    """Does with keys what the page does, without a browser. The tests compare the two."""

    def __init__(self, annotation: Annotation) -> None:
        self._annotation, self._session = annotation, annotation.session
        self._dialog, self._typed = "", ""
        annotation.begin()
        self._show(self._session.after(None) or 0)

    def _show(self, number: int, selected: int = 0) -> None:
        self._view = self._session.view(number)
        self._selected = selected or (self._view["doubt"] or [1])[0]

    def view(self) -> dict[str, Any]:
        return self._view

    def selected(self) -> int:
        return self._selected

    def asks(self) -> bool:
        return bool(self._dialog)

    def times(self) -> list[float]:
        return []

    def trained(self) -> int:
        while self._annotation.trainer.progress is not None:
            time.sleep(0.05)
            self._annotation.poll()
        self._show(self._view["number"])
        return self._annotation.trainer.trained

    def press(self, *keys: str) -> None:
        for key in keys:
            self._press(key)

    def _press(self, key: str) -> None:
        view, word = self._view, self._selected
        if self._dialog and key != "Enter":
            self._typed += key
        elif self._dialog:
            dialog, typed, self._dialog, self._typed = self._dialog, self._typed, "", ""
            if dialog == "h":
                labels = self._session.suggester.labels_of(
                    self._session.suggester.scores(self._session.treebank[view["number"]]), word, int(typed)
                )
                known = view["labels"][word - 1] if view["heads"][word - 1] > 0 else "_"
                label = next(iter(labels), known)
                self._decide(word, int(typed), label)
                self._dialog = "l" if label == "_" else ""
            else:
                self._decide(word, view["heads"][word - 1], typed)
        elif key in ("h", "l"):
            self._dialog = key
        elif key == "Tab":
            doubt = view["doubt"]
            self._selected = doubt[(doubt.index(word) + 1) % len(doubt) if word in doubt else 0]
        elif key.startswith("Arrow"):
            self._selected += 1 if key == "ArrowRight" else -1
        elif key == "r":
            self._decide(word, 0, "root")
        elif key == "Enter":
            self._session.act(view["number"], {"do": "accept"})
            self._annotation.accepted()
            following = self._session.after(view["number"])
            self._show(view["number"] if following is None else following)
        else:
            kind, first = ("otherLabels", 4) if int(key) > 3 else ("alternatives", 1)
            head, label, _ = view[kind][word - 1][int(key) - first]
            self._decide(word, head, label)

    def _decide(self, word: int, head: int, label: str) -> None:
        self._session.act(self._view["number"], {"do": "arc", "word": word, "head": head, "label": label})
        self._show(self._view["number"], word)


class Annotator:
    """Makes one sentence after the other equal to the gold trees."""

    def __init__(self, page: RealPage | StandIn, gold: Sequence[Sentence]) -> None:
        self.page, self.gold = page, gold

    def press(self, done: Done, *keys: str) -> None:
        self.page.press(*keys)
        done.keys += len(keys)

    def sentence(self) -> Done:
        """Annotate and accept the sentence that is shown, once no parser is being trained."""
        trained = self.page.trained()
        view = self.page.view()
        own = self.gold[view["number"]]
        arcs = list(zip(own.heads, own.labels, strict=True))
        done = Done(view["number"], len(arcs), trained)
        wrong = self.wrong(view, arcs)
        done.wrong, done.wrong_heads = len(wrong), sum(view["heads"][k - 1] != arcs[k - 1][0] for k in wrong)
        while wrong:
            self.go_to(done, view, wrong)
            word, choices = self.page.selected(), []
            moved = view["heads"][word - 1] != arcs[word - 1][0]
            while (view["heads"][word - 1], view["labels"][word - 1]) != arcs[word - 1]:
                choices.append(self.choose(done, view, word, arcs[word - 1]))
                view = self.page.view()
            single = choices == [1]
            done.decisions += 1
            done.single += single
            done.of_heads += moved
            done.of_heads_single += moved and choices[0] == 1  # the label may take another key
            wrong = self.wrong(view, arcs)
        done.milliseconds = self.page.times()
        self.press(done, "Enter")
        return done

    def wrong(self, view: dict[str, Any], arcs: Sequence[tuple[int, str]]) -> list[int]:
        """Return the words at fault, in the order in which Tab leads to them, and then those that were decided."""
        found = {k for k, arc in enumerate(zip(view["heads"], view["labels"], strict=True), 1) if arc != arcs[k - 1]}
        return [word for word in view["doubt"] if word in found] + sorted(found - {*view["doubt"]})

    def go_to(self, done: Done, view: dict[str, Any], wrong: Sequence[int]) -> None:
        """Go to a word at fault, by the fewest keys: Tab, or the arrows."""
        now, doubt = self.page.selected(), view["doubt"]
        ways = []
        for word in wrong:
            step = "ArrowRight" if word > now else "ArrowLeft"
            ways.append([step] * abs(word - now))
            if word in doubt:
                start = doubt.index(now) if now in doubt else -1
                ways.append(["Tab"] * ((doubt.index(word) - start) % (len(doubt) + (start < 0))))
        self.press(done, *min(ways, key=len))
        self.page.view()

    def choose(self, done: Done, view: dict[str, Any], word: int, arc: tuple[int, str]) -> int:
        """Bring the arc to a word nearer to what it should be, and return by how many keys."""
        head, label = arc
        others = {
            tuple(each[:2]): str(k)
            for first, kind in ((1, "alternatives"), (4, "otherLabels"))
            for k, each in enumerate(view[kind][word - 1], first)
        }
        of_head = [key for (other, _), key in others.items() if other == head]
        if self.page.asks():
            keys = [*label, "Enter"]  # without a parser, the page asks for the label of a new head
        elif arc in others:
            keys = [others[arc]]
        elif head == 0:
            keys = ["r"]
        elif view["heads"][word - 1] != head and of_head:
            keys = of_head[:1]
        else:
            opener, typed = ("l", label) if view["heads"][word - 1] == head else ("h", str(head))
            self.press(done, opener)
            keys = [*typed, "Enter"]
        self.press(done, *keys)
        return len(keys)


def run_all(
    treebank: Path, sentences: int, work: Path, results: Path, every: int, *, browser: bool = True
) -> Iterator[Done]:
    """Annotate the sentences that are not done yet, and add each to the results."""
    gold = list(islice(read_conllu(treebank), sentences))
    path = work / treebank.name
    prepare(gold, path)
    real = opened(path, "--order", "file", "--every", str(every))
    with real if browser else stood_in(path, every) as page:
        annotator = Annotator(page, gold)
        for _ in range(len(gold) - len(read_runs(results))):
            done = annotator.sentence()
            note_run(results, done)
            yield done


@contextmanager
def stood_in(path: Path, every: int) -> Iterator[StandIn]:
    """Begin an annotation, and yield the stand-in for its page."""
    journal = Journal(path.with_name(f"{path.name}.annotation"))
    trainer = Trainer(journal.folder)
    kept = trainer.kept()
    suggester = Suggester(None if kept is None else load_pipeline(kept))
    session = Session(Treebank(path), journal, suggester)
    try:
        yield StandIn(Annotation(session, trainer, every=every, ordered=False))
    finally:
        trainer.stop()
        journal.close()


def rows(runs: Sequence[Done], bins: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each range of sentences, and one for all: see `HEADER`."""
    edges = [0, *(edge for edge in bins if edge < len(runs)), len(runs)]
    for low, high in [*pairwise(edges), (0, len(runs))]:
        own = runs[low:high]
        tokens = sum(each.tokens for each in own)

        def share(name: str, of: int, own: Sequence[Done] = own) -> str:
            return f"{sum(getattr(each, name) for each in own) / max(1, of):.2f}"

        decisions, of_heads = (sum(getattr(each, name) for each in own) for name in ("decisions", "of_heads"))
        yield (
            f"{low + 1} to {high}",
            f"{tokens:,}",
            share("wrong", tokens),
            share("decisions", tokens),
            share("single", decisions),
            share("wrong_heads", tokens),
            share("of_heads", tokens),
            share("of_heads_single", of_heads),
            share("keys", tokens),
        )


HEADER = (
    "sentences", "tokens", "arcs wrong at first", "decisions", "by one key", "heads wrong at first", "of heads",
    "by one key", "keys",
)  # fmt: skip


def latency(runs: Sequence[Done]) -> Iterator[tuple[str, str, str]]:
    """Yield ranges of lengths, with the number of decisions and the median time from a key to the new picture."""
    for low, high in ((1, 20), (20, 40), (40, 80), (80, 1000)):
        times = [time for each in runs if low <= each.tokens < high for time in each.milliseconds]
        if times:
            yield f"{low} to {high - 1} words", f"{len(times):,}", f"{np.median(times):.0f} ms"
