"""The experiment of Zmigrod, Vieira and Cotterell (2020) with parsers of our own: `spacy project run treebanks`."""
