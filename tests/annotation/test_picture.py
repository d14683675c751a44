"""The picture of a sentence in work: classes by which the page finds words and arcs, and no markup of the user's."""

import re
from xml.etree import ElementTree

from annotation_helpers import BLANK, rows
from conllu_samples import FULL, sentences_in

from spacy_mindroot.annotation.picture import draw
from spacy_mindroot.annotation.suggestions import Suggester, Suggestion
from spacy_mindroot.trees import MISSING


def tree(heads, labels):
    n = len(heads)
    return Suggestion(heads, labels, [0.6] * n, [0.9] * n, None, [[]] * n, [[]] * n)


def classes(svg):
    return [set(each.get("class", "").split()) for each in ElementTree.fromstring(svg).iter()]


def test_words_and_arcs_have_their_numbers():
    (sentence,) = sentences_in(rows("They/2/nsubj left/0/root early/2/advmod"))
    svg = draw(sentence, tree([2, 0, 2], ["nsubj", "root", "advmod"]), fixed=[1], changed=[2], faulty=[3])
    found = classes(svg)
    for number, kind in ((1, "fixed"), (2, "changed"), (3, "faulty")):
        assert any({"word", f"t{number}"} <= each for each in found)
        for part in ("arc", "label"):
            assert any({part, f"d{number}", kind} <= each for each in found)
    assert not any({"p2", "d1"} <= each for each in found), "what is decided has no probability"
    assert any({"p2", "d2"} <= each for each in found)


def test_an_incomplete_tree_is_drawn():
    sentence = sentences_in(BLANK)[0]
    svg = draw(sentence, Suggester(None).suggest(None, {}, [MISSING] * 3, ["_"] * 3))
    assert svg.count("<text") == 3


def test_differences_of_a_second_annotator_are_below():
    (sentence,) = sentences_in(rows("They/2/nsubj left/0/root early/2/advmod"))
    second = [(2, "obj"), (0, "root"), (2, "advmod")]
    found = classes(draw(sentence, tree([2, 0, 2], ["nsubj", "root", "advmod"]), second=second))
    assert any({"gold", "below", "arc", "d1"} <= each for each in found)
    assert not any({"gold", "d2"} <= each or {"gold", "d3"} <= each for each in found)


def test_multiword_tokens_and_other_directions():
    (sentence,) = sentences_in(FULL)
    for vertical in (False, True):
        svg = draw(sentence, tree(sentence.heads, sentence.labels), vertical=vertical)
        assert "Vámonos" in svg
    width, height = (int(re.search(rf' {name}="(\d+)"', svg)[1]) for name in ("width", "height"))
    assert height > 6 * 20 and width < 600


def test_text_is_no_markup():
    (sentence,) = sentences_in(rows("<script>alert(1)</script>/0/root".replace("</", "<|")).replace("<|", "</"))
    svg = draw(sentence, tree([0], ['"><img onerror=x>']))
    tags = {each.tag.rpartition("}")[2] for each in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "g", "path", "rect", "text", "title"}
