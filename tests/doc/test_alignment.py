"""One-to-one alignment of reference tokens and predicted tokens."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_mindroot.doc.alignment import UNALIGNED, one_to_one

VOCAB = spacy.blank("xx").vocab


def example(predicted, reference):
    docs = [Doc(VOCAB, words=words, spaces=[False] * len(words)) for words in (predicted, reference)]
    return Example(*docs)


@pytest.mark.parametrize(
    ("predicted", "reference", "to_reference", "to_predicted"),
    [
        (["ab", "c"], ["ab", "c"], [0, 1], [0, 1]),
        (["ab", "c"], ["a", "b", "c"], [UNALIGNED, 2], [UNALIGNED, UNALIGNED, 1]),
        (["a", "b", "c"], ["ab", "c"], [UNALIGNED, UNALIGNED, 1], [UNALIGNED, 2]),
        (["ab", "cd"], ["a", "bc", "d"], [UNALIGNED, UNALIGNED], [UNALIGNED] * 3),
    ],
)
def test_only_one_to_one_counts(predicted, reference, to_reference, to_predicted):
    forth, back = one_to_one(example(predicted, reference))
    assert forth.tolist() == to_reference and back.tolist() == to_predicted
