"""Configuration of the documentation site: `sphinx-build -W docs docs/_build`."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "spacy-mindroot"
author = "The authors of spacy-mindroot"
copyright = "the authors of spacy-mindroot, MIT licence"
version = release = installed_version("spacy-mindroot")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "spacy_docstrings",
    "from_code",
]
exclude_patterns = ["_build", "release"]
root_doc = "index"

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

default_role = "code-or-link"
autodoc_default_options = {"members": True, "member-order": "groupwise"}
autodoc_typehints = "none"  # types are in the docstrings, with shapes
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = f"spacy-mindroot {release}"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_favicon = "_static/favicon.svg"
html_theme_options = {
    "source_repository": "https://github.com/spacy-mindroot/spacy-mindroot/",
    "source_branch": "main",
    "source_directory": "docs/",
    "footer_icons": [
        {"name": "GitHub", "url": "https://github.com/spacy-mindroot/spacy-mindroot", "html": "GitHub", "class": ""}
    ],
}
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
