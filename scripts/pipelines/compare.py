"""One run of the scoreboard: trains a contestant on a treebank, and evaluates it once on the test set.

`python -m scripts.pipelines.compare FOLDER CONTESTANT SEED SECONDS RESULTS MODEL [RELATED...]` is a run in a process of
its own, on one thread. Its result is a line of RESULTS, and the pipeline is written to the folder MODEL. RELATED are
folders of related treebanks to mix in.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from spacy.language import Language

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.errors import MindRootError
from spacy_mindroot.tools.building.build import build
from spacy_mindroot.tools.building.card import Description
from spacy_mindroot.tools.building.related import mix_treebanks
from spacy_mindroot.tools.building.treebank import prepare_treebank
from spacy_mindroot.tools.evaluation.predicting import predict, words_per_cpu_second
from spacy_mindroot.tools.evaluation.report import evaluate, to_json

from .contestants import BUILT, save, train_contestant
from .scoreboard import config_number
from .udpipe import UDPIPE, predict_udpipe, train_udpipe

__all__ = ["run"]


def run(
    source: Path, contestant: str, seed: int, seconds: float, model: Path, related: Sequence[Path] = ()
) -> dict[str, Any]:
    """Train and evaluate a contestant, and write its pipeline to the folder `model` (UDPipe's: to a file).

    A build that was interrupted is resumed.
    """
    with tempfile.TemporaryDirectory() as folder:
        treebank = prepare_treebank(source, Path(folder) / "corpus")
        test = treebank.file("test")
        if test is None:
            raise SystemExit(f"There is no test set in {source}.")
        gold, sentences = list(read_conllu(test)), treebank.parts["train"].sentences
        facts = {
            "treebank": source.name.removeprefix("UD_"),
            "contestant": contestant,
            "seed": seed,
            "budget": seconds,
            "sentences": sentences,
            "date": time.strftime("%Y-%m-%d"),
        }
        if contestant == BUILT:
            made = build(source, model, Description(""), minutes=seconds / 60, seeds=[seed], speed=False)
            return facts | {
                "cpu_seconds": made["training"]["cpu_seconds"],
                "steps": made["training"]["steps"],
                "config": config_number(sentences),
                "gold": made["gold tokens"],
                "raw": made["raw text"],
                "versions": _versions(),
            }
        if contestant == UDPIPE:
            cpu = train_udpipe(treebank, model)
            found = {
                mode: to_json(evaluate(gold, predict_udpipe(model, gold, raw=mode == "raw")))
                for mode in ("gold", "raw")
            }
            size = round(model.stat().st_size / 1e6, 1)
            return facts | found | {"cpu_seconds": round(cpu, 1), "megabytes": size}
        mixture = mix_treebanks(treebank, related) if related else None
        nlp, trained = train_contestant(contestant, treebank, seconds=seconds, seed=seed, mixture=mixture)
        return facts | {
            "members": len(trained),
            "steps": trained[0].steps,
            "best_step": trained[0].best_step,
            "cpu_seconds": round(sum(each.cpu_seconds for each in trained), 1),
            "components": nlp.pipe_names,
            "config": config_number(sentences, mixed=mixture is not None),
            **({"mixture": mixture.facts()} if mixture is not None else {}),
            "megabytes": save(nlp, model),
            "words_per_cpu_second": words_per_cpu_second(nlp, gold),
            "gold": _evaluated(nlp, gold, raw=False),
            "raw": _evaluated(nlp, gold, raw=True),
            "versions": _versions(),
        }


def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("spacy-mindroot", "spacy", "thinc", "numpy", "udtools")}


def _evaluated(nlp: Language, gold: list[Any], *, raw: bool) -> dict[str, Any]:
    try:
        return to_json(evaluate(gold, predict(nlp, gold, raw=raw, surface_tokens=False, show=False)))
    except MindRootError as error:
        return {"error": str(error)[:300]}


if __name__ == "__main__":
    source, contestant, seed, seconds, results, model, *related = sys.argv[1:]
    found = run(Path(source), contestant, int(seed), float(seconds), Path(model), [Path(each) for each in related])
    Path(results).parent.mkdir(parents=True, exist_ok=True)
    with open(results, "a", encoding="utf8") as file:
        file.write(json.dumps(found) + "\n")
    print(found["treebank"], contestant, {name: found.get(name) for name in ("steps", "cpu_seconds")}, flush=True)
