"""The rules of Universal Dependencies, against the validator itself."""

import io
from collections import Counter

import pytest
from udtools import Validator

from generators import random_tree
from spacy_mindroot.rules import UD

UPOS = ["NOUN", "PROPN", "VERB", "ADJ", "ADV", "AUX", "PRON", "DET", "ADP", "PART", "NUM", "SYM", "CCONJ", "PUNCT"]
DEPRELS = [
    *(
        "nsubj",
        "nsubj:pass",
        "csubj",
        "nsubj:outer",
        "obj",
        "obj",
        "obj",
        "obl",
        "det",
        "nummod",
        "advmod",
        "expl",
        "aux",
        "cop",
    ),
    *("case", "mark", "cc", "punct", "fixed", "goeswith", "clf", "conj", "flat", "appos", "root", "compound"),
]
PUNCTUATED = ["punct", "obj", "nsubj", "case"]


@pytest.mark.parametrize(("deprels", "count"), [(DEPRELS, 150), (PUNCTUATED, 100)])
def test_the_preset_finds_what_the_validator_finds(deprels, count, rng):
    validator = Validator(lang="ud", level=3, output=None)
    seen = Counter()
    for _ in range(count):
        n = int(rng.integers(2, 9))
        heads = random_tree(n, rng)
        labels, pos = rng.choice(deprels, n).tolist(), rng.choice(UPOS, n).tolist()
        if rng.random() < 0.8:
            labels[int((heads == 0).argmax())] = "root"
        rows = [
            f"{i}\tw{i}\tw\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n"
            for i, (tag, head, label) in enumerate(zip(pos, heads, labels, strict=True), 1)
        ]
        text = " ".join(f"w{i}" for i in range(1, n + 1))
        state = validator.validate_file_handle(io.StringIO(f"# sent_id = 1\n# text = {text}\n{''.join(rows)}\n"))
        theirs = Counter(
            incident.testid for incident in state.error_tracker if incident.testid in UD.names and incident.level == 3
        )
        ours = Counter()
        for name in UD.names:
            own = UD.only([name]).violations(heads, labels, pos)
            # The validator reports a head with too many dependents once.
            ours[name] = len({violation.head for violation in own}) if name.startswith("too-many") else len(own)
        if "goeswith" in labels:  # permits adverbial modifiers and punctuation that no rule can express
            for name in ("rel-upos-advmod", "leaf-goeswith"):
                assert ours.pop(name) >= theirs.pop(name, 0)
        assert +ours == theirs, (heads, labels, pos)
        seen += theirs
    if deprels is DEPRELS:
        assert set(seen) >= set(UD.names) - {"leaf-goeswith"}, set(UD.names) - set(seen)
    assert seen["punct-is-nonproj"] > 3 and seen["punct-causes-nonproj"] > 3
