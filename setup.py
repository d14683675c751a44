"""The extension modules; everything else is in setup.cfg."""

import sys

from setuptools import Extension, setup

WINDOWS = sys.platform == "win32"
HEADERS = (
    *("rows", "arborescence", "root_constraint", "parallel", "decode"),
    *("kbest", "projective", "numbers", "matrix_tree", "sampling"),
)

setup(
    ext_modules=[
        Extension(
            f"spacy_mindroot.{name}",
            [f"spacy_mindroot/{name.replace('.', '/')}.pyx"],
            include_dirs=["spacy_mindroot/core", "spacy_mindroot/arc_scorer"],
            depends=[*(f"spacy_mindroot/core/{header}.hh" for header in HEADERS), "spacy_mindroot/arc_scorer/lstm.hh"],
            language="c++",
            extra_compile_args=["/std:c++17", "/O2"] if WINDOWS else ["-std=c++17", "-O3", "-pthread", *options],
            extra_link_args=[] if WINDOWS else ["-pthread"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        )
        for name, options in (
            ("core._core", ()),
            ("core._inference", ()),
            ("pipeline._annotate", ()),
            ("arc_scorer._lstm", ("-ffp-contract=fast",)),  # products and sums of floats in one instruction
        )
    ],
)
