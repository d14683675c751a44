"""A tokenizer for spaCy that is learnt from a treebank, with multiword tokens."""

__all__: list[str] = []
