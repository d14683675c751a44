"""Exchange with Grew and ArboratorGrew: a sentence as a graph in JSON and back, and the trees of several users."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import ConlluError
from ..scores import shown
from ..trees import MISSING
from .columns import DEPREL, DEPS, FEATS, FORM, LEMMA, MISC, UPOS, XPOS
from .sentence import Sentence

__all__ = ["newest_trees", "to_grew", "trees_of_users", "with_grew"]

_COLUMNS = {"form": FORM, "lemma": LEMMA, "upos": UPOS, "xpos": XPOS}
_RAW_MISC = "__RAW_MISC__"
_NOT_FEATS = {*_COLUMNS, "textform", "wordform"}


def to_grew(sentence: Sentence) -> dict[str, Any]:
    """Return a sentence as a graph, as Grew writes and reads it in JSON.

    `nodes` has the features of each word, by its number, and of ROOT, "0"; `edges` the arcs, those of DEPS with
    `enhanced = yes`; `order` the words; and `meta` the comments. Multiword tokens and empty nodes are left out:
    `with_grew` has the sentence to take them from.
    """
    nodes: dict[str, dict[str, str]] = {"0": {"form": "__0__"}}
    edges: list[dict[str, Any]] = []
    columns = {name: sentence.column(number) for name, number in _COLUMNS.items()}
    rest = zip(*(sentence.column(number) for number in (FEATS, MISC, DEPREL, DEPS)), sentence.heads, strict=True)
    for word, (feats, misc, label, deps, head) in enumerate(rest, 1):
        node = {name: cells[word - 1] for name, cells in columns.items() if name == "form" or cells[word - 1] != "_"}
        node |= _features(feats)
        if misc != "_":
            node[_RAW_MISC] = misc
        nodes[str(word)] = node
        if head != MISSING:
            edges.append({"src": str(head), "label": _to_edge(label), "tar": str(word)})
        for each in deps.split("|") if deps != "_" else ():
            source, _, name = each.partition(":")
            if "." not in source:
                edges.append({"src": source, "label": _to_edge(name) | {"enhanced": "yes"}, "tar": str(word)})
    pairs = (comment[1:].partition("=") for comment in sentence.comments)
    meta = {name.strip(): value.strip() for name, equals, value in pairs if equals}
    return {"meta": meta, "nodes": nodes, "edges": edges, "order": list(nodes)}


def with_grew(sentence: Sentence, graph: Mapping[str, Any]) -> list[int]:
    """Write the heads, labels, lemmas, tags and features of a graph to the sentence that it was made of, in place.

    Everything else stays: comments, multiword tokens, empty nodes, DEPS and MISC; in FEATS, what is no feature of Grew,
    such as `fem`; and the label of a word that had no head and has none now.

    graph (Mapping): As `to_grew` returns it, or as Grew has changed it.
    RETURNS (list[int]): The words (from 1) that have changed.
    RAISES (ConlluError): If the words are others, a word has two heads, or a value does not fit into a cell. Heads need
        not form a tree.
    """
    n = len(sentence)
    nodes = graph.get("nodes")
    names = {"0", *map(str, range(1, n + 1))}
    if not isinstance(nodes, Mapping) or {*nodes} - {"0"} != names - {"0"}:
        raise sentence.fault(1, f"begins a sentence of {n} words, but the graph has others.")
    given = zip(sentence.heads, sentence.labels, strict=True)
    heads, labels = [MISSING] * n, [label if head == MISSING else "_" for head, label in given]
    for edge in graph.get("edges", ()):
        label = edge.get("label", "_")
        label = {"1": label} if isinstance(label, str) else label
        if label.get("enhanced") == "yes":
            continue
        source, target = str(edge.get("src")), str(edge.get("tar"))
        if source not in names or target not in names - {"0"}:
            raise sentence.fault(1, f"begins a sentence without the words of the edge {source} -> {target}.")
        word = int(target)
        if heads[word - 1] != MISSING:
            raise sentence.fault(word, f"has two heads in the graph, {heads[word - 1]} and {source}.")
        heads[word - 1], labels[word - 1] = int(source), _cell(sentence, word, _from_edge(label))
    changed = set()
    for word in range(1, n + 1):
        node = nodes[str(word)]
        if node.get("form") != sentence.words[word - 1]:
            raise sentence.fault(word, f"is {sentence.words[word - 1]!r}, but {node.get('form')!r} in the graph.")
        feats = {name: value for name, value in node.items() if _is_feature(name)}
        cell = sentence.rows[word - 1][FEATS].decode()
        before = _features(cell)
        if before != feats:
            same = {name for name, value in feats.items() if before.get(name) == value}
            parts = [part for part in cell.split("|") if part != "_" and _name(part) in same | {""}]
            parts += [f"{name}={value}" for name, value in feats.items() if name not in same]
            parts.sort(key=lambda part: part.partition("=")[0].lower())
            sentence.replace(word, FEATS, _cell(sentence, word, "|".join(parts) or "_"))
            changed.add(word)
        for name in ("lemma", "upos", "xpos"):
            cell = _cell(sentence, word, node.get(name, "_"))
            if cell.encode() != sentence.rows[word - 1][_COLUMNS[name]]:
                sentence.replace(word, _COLUMNS[name], cell)
                changed.add(word)
    return sorted(changed | {*sentence.replace_arcs(heads, labels)})


def trees_of_users(sentences: Iterable[Sentence]) -> dict[str, list[Sentence]]:
    """Return the sentences of each user of ArboratorGrew, by the comment `user_id`; "" for those without."""
    found: dict[str, list[Sentence]] = {}
    for sentence in sentences:
        found.setdefault(sentence.comment("user_id") or "", []).append(sentence)
    return found


def newest_trees(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return one tree of each sentence, the one with the latest comment `timestamp`, in the order of the sentences.

    A sentence is known by its `sent_id`. Trees without a timestamp are the oldest; of equally old ones, the last wins.

    RAISES (ConlluError): If a sentence has no `sent_id`, or a timestamp is no number.
    """
    found: dict[str, tuple[float, Sentence]] = {}
    for sentence in sentences:
        name = sentence.sent_id
        if name is None:
            raise sentence.fault(1, "begins a sentence without a comment sent_id, which tells its trees apart.")
        stamp = sentence.comment("timestamp")
        try:
            time = -1.0 if stamp is None else float(stamp)
        except ValueError as error:
            raise ConlluError(f"{sentence.source}:{sentence.line}: the timestamp {stamp!r} is no number.") from error
        if name not in found or time >= found[name][0]:
            found[name] = (time, sentence)
    return [sentence for _, sentence in found.values()]


def _is_feature(name: str) -> bool:
    return name not in _NOT_FEATS and name[:1] not in ("", "_")


def _name(part: str) -> str:
    """Return the name of the feature in a part of FEATS; "" if Grew has no feature for it."""
    name, equals, _ = part.partition("=")
    return name if equals and _is_feature(name) else ""


def _features(cell: str) -> dict[str, str]:
    return {_name(part): part.partition("=")[2] for part in cell.split("|") if _name(part)}


def _cell(sentence: Sentence, word: int, value: object) -> str:
    """Return a value of the graph as a cell."""
    if not isinstance(value, str) or re.search(r"[\t\r\n\ud800-\udfff]", value):
        raise sentence.fault(word, f"has {shown(value)} in the graph, which no cell of CoNLL-U can hold.")
    return value or "_"


def _to_edge(label: str) -> dict[str, str]:
    """Return a label as the features of an edge: `obl:arg@x` is 1 = obl, 2 = arg, deep = x."""
    name, at, deep = label.partition("@")
    main, colon, sub = name.partition(":")
    return {"1": main, **({"2": sub} if colon else {}), **({"deep": deep} if at else {})}


def _from_edge(label: Mapping[str, str]) -> str:
    name = label.get("1", "_")
    return name + "".join(f"{mark}{label[key]}" for key, mark in (("2", ":"), ("deep", "@")) if key in label)
