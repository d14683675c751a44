"""The root's label in all its spellings."""

import pytest

from spacy_mindroot.labels import NO_LABEL, SPACY_ROOT, UD_ROOT, is_root_label


@pytest.mark.parametrize(
    ("label", "is_root"),
    [
        ("root", True),
        ("ROOT", True),
        ("Root", True),
        ("root:x", True),
        ("root||obj", True),  # spaCy's pseudo-projective labels: the first part is the label of the arc itself
        ("ROOT||root", True),
        ("root:x||obj", True),
        ("obj||root", False),
        ("obj||ROOT", False),
        ("obj:x||root", False),
        ("rootless", False),
        ("x:root", False),
        ("_", False),
        ("", False),
        (None, False),
    ],
)
def test_what_is_the_roots_label(label, is_root):
    assert is_root_label(label) == is_root


def test_spellings():
    assert is_root_label(UD_ROOT) and is_root_label(SPACY_ROOT) and {"_", ""} == NO_LABEL
