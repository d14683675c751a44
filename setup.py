"""The extension modules; everything else is in setup.cfg."""

import os
import sys
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, ExecError, PlatformError

WINDOWS = sys.platform == "win32"


class BuildExtensions(build_ext):
    """Builds the extension modules in parallel, or says what is missing.

    Editable installs share a folder, so that `pip install -e` compiles again only what has changed.
    """

    def finalize_options(self):
        if getattr(self, "editable_mode", False):
            self.build_lib = self.build_temp = os.path.join("build", "editable")
        if self.parallel is None:
            self.parallel = os.cpu_count()
        super().finalize_options()

    def build_extensions(self):
        translated = cythonize(self.extensions, force=self.force)  # one after the other: Cython has global state
        for extension, new in zip(self.extensions, translated, strict=True):
            extension.sources = new.sources
        super().build_extensions()

    def run(self):
        try:
            super().run()
        except (CompileError, ExecError, PlatformError, FileNotFoundError) as error:
            compiler = "Microsoft C++ Build Tools" if WINDOWS else "GCC or Clang, in the PATH"
            raise SystemExit(
                f"error: the compiled core of spacy-mindroot could not be built ({error}). Building from source needs "
                f"a C++17 compiler: {compiler}. The wheels on the package index need none: `pip install "
                "spacy-mindroot`, with a recent pip, takes one where your platform has it."
            ) from error


setup(
    cmdclass={"build_ext": BuildExtensions},
    ext_modules=[
        Extension(
            f"spacy_mindroot.{name}",
            [f"spacy_mindroot/{name.replace('.', '/')}.pyx"],
            include_dirs=["spacy_mindroot/core", "spacy_mindroot/arc_scorer", "spacy_mindroot/tokenizer"],
            depends=[
                "setup.py",
                "spacy_mindroot/core/_fault.pxd",
                *sorted(glob("spacy_mindroot/*/*.hh")),
            ],
            language="c++",
            # -g0: Python's own flags ask for debug symbols, which would be most of the modules.
            extra_compile_args=["/std:c++17", "/O2"] if WINDOWS else ["-std=c++17", "-O3", "-g0", "-pthread", *options],
            extra_link_args=[] if WINDOWS else ["-pthread"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        )
        for name, options in (
            ("core._core", ()),
            ("core._inference", ()),
            ("core._rules", ()),
            ("doc._annotate", ()),
            ("tokenizer._boundaries", ()),
            # Products and sums of floats in one instruction; square roots of vectors.
            ("arc_scorer._lstm", ("-ffp-contract=fast",)),
            ("arc_scorer._layers", ("-ffp-contract=fast", "-fno-math-errno")),
        )
    ],
)
