"""The extension module; everything else is in setup.cfg."""

import sys

from setuptools import Extension, setup

WINDOWS = sys.platform == "win32"

setup(
    ext_modules=[
        Extension(
            "spacy_mindroot.core._core",
            ["spacy_mindroot/core/_core.pyx"],
            include_dirs=["spacy_mindroot/core"],
            depends=[
                f"spacy_mindroot/core/{name}.hh" for name in ("rows", "arborescence", "root_constraint", "parallel", "decode")
            ],
            language="c++",
            extra_compile_args=["/std:c++17", "/O2"] if WINDOWS else ["-std=c++17", "-O3", "-pthread"],
            extra_link_args=[] if WINDOWS else ["-pthread"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        )
    ],
)
