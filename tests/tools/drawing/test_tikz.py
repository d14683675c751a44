"""Parses as LaTeX: what they say, and that LaTeX reads them."""

import re
import shutil
import subprocess

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_mindroot import render


def test_text_for_latex(tmp_path):
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("mind_root", config={"keep_scores": True, "confidence": True})
    doc = Doc(nlp.vocab, words=["R&D_", "{50 %}", "é\\"], pos=["NOUN", "X", "X"])
    doc._.arc_scores = [np.log([[0.1, 1e-9, 0.8, 0.1], [0.8, 0.1, 1e-9, 0.1], [0.5, 0.1, 0.4, 1e-9]])]
    doc = parser(doc)
    latex = render([doc, doc], form="tikz")
    assert latex.count("\\begin{dependency}") == 2
    assert r"R\symbol{38}D\_ \& \{50 \%\} \& é\textbackslash{} \\" in latex and r"\footnotesize NOUN" in latex
    assert r"{2}{1}{dep 88\%}" in latex and r"edge below, edge style={draw={rgb,255:red,91" in latex
    assert re.search(r"\\deproot\[edge unit distance=\d+ex,[^\n]*\]\{2\}\{root 86\\%\}", latex)
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        pytest.skip("LaTeX is not installed")
    if subprocess.run(["kpsewhich", "tikz-dependency.sty", "environ.sty"], capture_output=True).stdout.count(b"\n") < 2:
        pytest.skip("tikz-dependency is not installed")
    head = "\\documentclass{article}\\usepackage{tikz-dependency}\\begin{document}\n"
    (tmp_path / "a.tex").write_text(f"{head}{latex}\\end{{document}}\n", "utf8")
    subprocess.run(["pdflatex", "-halt-on-error", "a.tex"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
