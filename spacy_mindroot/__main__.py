"""Runs the commands of `spacy mindroot` as `python -m spacy_mindroot`."""

from __future__ import annotations

from .cli import mindroot

if __name__ == "__main__":
    mindroot(prog_name="python -m spacy_mindroot")
