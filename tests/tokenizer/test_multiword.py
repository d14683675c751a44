"""Which tokens are several words."""

import pytest

from spacy_mindroot.tokenizer.multiword import Edit, Multiword, edit_of


@pytest.mark.parametrize(
    ("surface", "words", "edit"),
    [
        ("du", ["de", "le"], Edit(True, "u", "e", ("le",))),
        ("Aux", ["À", "les"], Edit(True, "aux", "à", ("les",))),
        ("facelo", ["facer", "lo"], Edit(True, "lo", "r", ("lo",))),
        ("dámelo", ["dá", "me", "lo"], Edit(True, "melo", "", ("me", "lo"))),
        ("bbyt", ["b", "h", "byt"], Edit(False, "b", "", ("b", "h"))),
    ],
)
def test_edits(surface, words, edit):
    assert edit_of(surface, words) == edit
    assert edit.apply(surface) == tuple(words)


def test_edits_keep_the_case():
    edit = edit_of("du", ["de", "le"])
    assert edit.apply("Du") == ("De", "le") and edit.apply("DU") == ("DE", "LE")
    assert edit_of("lbyt", ["l", "byt"]).apply("LBYT") == ("L", "BYT")


def one(*words):
    return [(word, (word,)) for word in words]


def learnt(*texts):
    multiword = Multiword()
    multiword.learn(texts)
    return multiword


DU = ("du", ("de", "le"))


def test_contractions_are_looked_up_and_other_words_with_their_ends_are_whole():
    multiword = learnt(
        [*one("il", "va"), DU, *one("parc", ".")], one("tu", "as", "vu", "un", "menu"), [DU, *one("lait")]
    )
    assert multiword.words("du", "va", "village") == ("de", "le")
    assert multiword.words("Du", "", "village") == ("De", "le")
    for word in ("tu", "vu", "menu", "inconnu"):
        assert multiword.words(word, "", "") == (word,)


def test_context_decides_where_a_form_is_sometimes_one_word():
    des = ("des", ("de", "les"))
    texts = []
    for noun in ("chats", "chiens", "amis", "gens"):
        texts += [[*one("parle"), des, *one(noun, ".")], one("vois", "des", noun, ".")]
    multiword = learnt(*texts * 3)
    assert multiword.words("des", "parle", "enfants") == ("de", "les")
    assert multiword.words("des", "vois", "enfants") == ("des",)


def test_forms_that_were_never_seen_are_divided_by_their_ends():
    stems = ["face", "come", "bebe", "colle", "move", "perde", "vende", "rompe", "corre", "le"]
    texts = [[*one("vai"), (f"{stem}lo", (f"{stem}r", "lo")), *one("hoxe")] for stem in stems]
    texts += [one("un", word, "bo") for word in ("melo", "pelo", "sol", "can", "libro", "castelo")]
    multiword = learnt(*texts)
    assert multiword.words("temelo", "vai", "hoxe") == ("temer", "lo")
    assert multiword.words("libro", "un", "bo") == ("libro",)


def test_nothing_to_learn():
    multiword = learnt(one("a", "b"))
    assert not multiword and multiword.words("a", "", "b") == ("a",)


def test_restored_it_is_the_same():
    multiword = learnt([*one("va"), DU, *one("parc")], one("tu"))
    again = Multiword.from_dict(multiword.to_dict())
    assert again.to_dict() == multiword.to_dict() and again.words("du", "va", "x") == ("de", "le")


def test_no_word_is_empty():
    """An edit that takes a clitic from the end leaves nothing of the clitic alone."""
    forms = [(f"{verb}lo", (verb, "lo")) for verb in ("facendo", "dicendo", "dando")]
    found = Multiword()
    found.learn([[form, ("di", ("di",))] for form in forms] * 3)
    assert found.words("vedendolo", "", "") == ("vedendo", "lo")
    for surface in ("lo", "Lo", "LO"):
        assert found.allowed(surface) == [] and found.words(surface, "", "") == (surface,)


def test_characters_that_are_two_in_lower_case():
    edit = edit_of("İyi", ("x", "yi"))
    assert edit.apply("İyi") == ("X", "yi")
