"""Repeats the experiment of Zmigrod, Vieira and Cotterell (2020): `spacy project run treebanks`."""
