"""Ends of tokens: what is learnt, what it costs, and that texts stay whole."""

import random

import numpy as np
import pytest

from spacy_mindroot.tokenizer.boundaries import Boundaries, LabelledText

SENTENCES = [
    "Ann |left| at 3.30 p.m.| .",
    "Don|'t| go|,| Ann|!",
    "He| can|'t| sing|,| she| said|.",
    "In| 1999| we| left| (|all| of| us|)|.",
    "Is| it| Tom|'s|?",
    "We| met| Dr.| Who| at| 9.15|.",
]


def labelled(text, *, words="+"):
    """A text in which a bar stands after tokens that no space ends, and a plus between words of a multiword token."""
    characters, labels = [], []
    for k, character in enumerate(text):
        if character == "|":
            labels[-1] = 1
        elif character == words:
            labels[-1] = 2
        else:
            characters.append(character)
            after = text[k + 1 : k + 2]
            labels.append(int(not character.isspace() and (not after or after.isspace())))
    return LabelledText("".join(characters), np.array(labels, np.int8))


def learnt(texts, **options):
    boundaries = Boundaries(**options)
    boundaries.learn([labelled(text) for text in texts])
    return boundaries


def divided(boundaries, text):
    return [word for _, _, pieces in boundaries.strings(text) for word in pieces.words]


def test_what_was_learnt_is_found_again():
    texts = [text.replace("| ", " ").replace(" |", " ") for text in SENTENCES]
    boundaries = learnt(texts)
    for text in texts:
        plain, labels = labelled(text)
        assert (boundaries.labels_of(plain) == labels).all()
    assert divided(boundaries, "She can't go, Tom!") == ["She", "can", "'t", "go", ",", "Tom", "!"]


def test_untrained_texts_are_divided_at_white_space():
    assert divided(Boundaries(), "(Don't)  go\n\tAnn!") == ["(Don't)", "go", "Ann!"]


def test_writing_without_spaces():
    texts = ["我|爱|北京|。", "他|爱|北京|。", "北京|很|大|。", "我|很|好|。"]
    assert divided(learnt(texts), "他很好。我爱北京。") == ["他", "很", "好", "。", "我", "爱", "北京", "。"]


def test_words_with_a_space_inside():
    """A space within a token has to be of a kind that was seen there: between digits, here."""

    def number(text):
        plain, labels = labelled(text)
        for k in range(1, len(plain) - 1):
            if plain[k] == " " and plain[k - 1].isdigit() and plain[k + 1].isdigit():
                labels[k - 1] = 0
        return LabelledText(plain, labels)

    boundaries = Boundaries()
    boundaries.learn([number(text) for text in ("il paye 10 000 euros", "avec 25 000 gens", "les 10 000 amis")])
    assert divided(boundaries, "elle paye 10 000 euros") == ["elle", "paye", "10 000", "euros"]
    assert divided(boundaries, "10  000 a\n10") == ["10", "000", "a", "10"]


def test_words_within_multiword_tokens():
    boundaries = learnt(["ev+de+ki|.", "okul+da+ki|.", "iş+te+ki ev|.", "ev|.", "okul|."])
    ((_, _, pieces),) = boundaries.strings("evdeki.")
    assert pieces.words == ("ev", "de", "ki", ".") and pieces.sizes == (3, 1)


def test_no_boundary_divides_what_is_one_character_to_a_reader():
    boundaries = learnt(["a|b|c|.", "d|e|f|."])
    for text in ("e\u0301a", "\U0001f469\u200d\U0001f680!", "\U0001f44d\U0001f3fd", "\U0001f1eb\U0001f1f7" * 2, "क्षि"):
        ends = {k for k, label in enumerate(boundaries.labels_of(text)) if label}
        for k in ends - {len(text) - 1}:
            assert text[k + 1] not in "\u0301\u200d\U0001f3fd्ि" and text[k] != "\u200d"
            assert not (text[k] == "\U0001f1eb" and text[k + 1] == "\U0001f1f7")


def test_unless_the_corpus_does_so():
    boundaries = learnt(["e|\u0301|.", "a|\u0301|."])
    assert not boundaries.whole_clusters and divided(boundaries, "e\u0301.") == ["e", "\u0301", "."]


def test_rules_are_a_feature():
    """Of strings that say nothing else, since they differ from all others."""
    rng = random.Random(1)

    def made(n):
        for _ in range(n):
            yield "".join(rng.choice("abcdefgh") for _ in range(6))

    rules = {text: [3, 6] if rng.random() < 0.5 else [6] for text in made(400)}
    texts = [f"{text[:3]}|{text[3:]}" if ends == [3, 6] else text for text, ends in rules.items()]
    boundaries = learnt(texts[:300], rules=rules.__getitem__)
    right = sum(divided(boundaries, text.replace("|", "")) == text.split("|") for text in texts[300:])
    assert right > 95


def test_stored_and_restored_it_finds_the_same(tmp_path):
    boundaries = learnt([text.replace("| ", " ") for text in SENTENCES])
    again = Boundaries.from_dict(boundaries.to_dict(), None)
    assert (again.weights == boundaries.weights).all() and again.joined == boundaries.joined
    text = "Ann's can't (or won't) 3.30, really?! "
    assert (again.labels_of(text) == boundaries.labels_of(text)).all()


def test_the_same_seed_gives_the_same():
    texts = [labelled(text.replace("| ", " ")) for text in SENTENCES]
    weights = []
    for seed in (1, 1, 2):
        boundaries = Boundaries()
        boundaries.learn(texts, seed=seed)
        weights.append(boundaries.weights)
    assert (weights[0] == weights[1]).all() and (weights[0] != weights[2]).any()


def test_what_is_kept_for_other_texts_depends_on_what_follows():
    boundaries = learnt(["at 9 p.m.| Ann left|.", "at 9 p.m. today|."])
    for text in ("p.m. Ann", "p.m. today", "p.m. Ann", "p.m.\nAnn", "p.m."):
        assert (boundaries.labels_of(text) == Boundaries.from_dict(boundaries.to_dict(), None).labels_of(text)).all()


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "a" * 10_000, "( " * 5000, "😀" * 5000, "\0", "\ud800", "\u0301", "\r\n"]
)
def test_any_text(text):
    boundaries = learnt([sentence.replace("| ", " ") for sentence in SENTENCES])
    labels = boundaries.labels_of(text)
    assert len(labels) == len(text)
    assert "".join(divided(boundaries, text)) == "".join(text.split())
