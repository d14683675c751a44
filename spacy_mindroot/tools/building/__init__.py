"""Builds an installable pipeline from a treebank: data, training, evaluation, model card and wheel."""

__all__: list[str] = []
