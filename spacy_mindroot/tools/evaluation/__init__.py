"""Evaluates pipelines on UD treebanks, from gold tokens or from raw text: by the CoNLL 2018 script, and more."""

__all__: list[str] = []
