"""Repeats the experiment of Zmigrod, Vieira and Cotterell (2020) with parsers of our own. See `spacy project run treebanks`."""
