"""Parses as HTML and SVG: what they say, for any Doc, with or without probabilities."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

import spacy_mindroot
from spacy_mindroot import MindRootError, render
from spacy_mindroot.doc.words import MultiwordToken, set_multiword_tokens
from spacy_mindroot.inference import marginals
from spacy_mindroot.tools.drawing import style
from spacy_mindroot.tools.drawing.render import Picture, percent, picture_of, render_parses
from spacy_mindroot.tools.parses import parses_of

SCORES = np.log(np.array([[0.1, 1e-9, 0.8, 0.1], [0.8, 0.1, 1e-9, 0.1], [0.5, 0.1, 0.4, 1e-9]]))


@pytest.fixture
def nlp():
    return spacy.blank("en")


def parsed(nlp, words=("They", "left", "early"), matrices=(SCORES,), **settings):
    name = "mind_root"
    if name in nlp.pipe_names:
        nlp.remove_pipe(name)
    parser = nlp.add_pipe(name, config={"keep_scores": True, "confidence": True, **settings})
    doc = Doc(nlp.vocab, words=list(words))
    doc._.arc_scores = list(matrices)
    return parser(doc)


def arcs(drawing, kind):
    html = drawing if isinstance(drawing, str) else drawing.content
    return re.findall(rf'<path class="arc (?:above|below) ([^"]*{kind}[^"]*)"', html)


def test_arcs_have_the_class_of_their_probability(nlp):
    doc = parsed(nlp)
    svg = picture_of(parses_of(doc)[0]).content
    found = marginals(SCORES)
    assert [round(token._.head_prob, 2) for token in doc] == [0.88, 0.86, 0.72]
    assert arcs(svg, "p") == ["p4", "p4", "p3"]
    assert ">dep 72%</text>" in svg and "They: dep. Probability of the head: 88%" in svg
    # the next best head of "early" has 16 %
    assert arcs(svg, "next") == ["next"] and f"They → early: {found[2, 1]:.0%}, the next best head" in svg
    assert arcs(picture_of(parses_of(doc)[0], close=0.3), "next") == []


def test_the_next_best_heads_need_scores_but_the_colours_do_not(nlp):
    doc = parsed(nlp, keep_scores=False)
    (parse,) = parses_of(doc)
    assert parse.marginals is None and parse.next_best(1) is None
    assert arcs(picture_of(parse), "p") == ["p4", "p4", "p3"] and not arcs(picture_of(parse), "next")
    without = parsed(nlp, confidence=False)
    np.testing.assert_allclose(parses_of(without)[0].head_prob, parses_of(parsed(nlp))[0].head_prob)


def test_a_doc_without_probabilities_is_drawn_plainly(nlp):
    doc = Doc(nlp.vocab, words=["a", "b"], heads=[1, 1], deps=["det", "ROOT"])
    html = render(doc)
    assert arcs(html, "") == ["", ""] or len(re.findall('class="arc above"', html)) == 2
    assert "Probability" not in html and "As a table" not in html and ">root<" in html


def test_corrected_heads_have_no_probability_of_the_old_ones(nlp):
    doc = parsed(nlp, keep_scores=False)
    doc[0].head = doc[2]
    assert parses_of(doc)[0].head_prob[0] is None


@pytest.mark.parametrize("form", ["fragment", "page", "svg"])
def test_all_forms_are_well_formed_and_need_no_script(nlp, form):
    result = render(parsed(nlp), form=form)
    shown = (result._repr_html_(), result._repr_svg_())
    assert isinstance(result, Picture) and shown == ((None, result) if form == "svg" else (result, None))
    for bad in ("<script", "http://", "https://", "onclick"):
        assert bad not in result.replace("http://www.w3.org/2000/svg", "")
    assert ("prefers-color-scheme:dark" in result and "var(" in result) is (form != "svg")
    body = re.sub(r"<!DOCTYPE html>\n|<meta[^>]*>", "", result)
    ElementTree.fromstring(body)


def test_the_next_best_trees_can_be_stepped_through(nlp):
    doc = parsed(nlp, kbest=9)
    trees = next(doc.sents)._.trees
    page = ElementTree.fromstring(re.sub(r"<!DOCTYPE html>\n|<meta[^>]*>", "", render([doc, doc], form="page")))
    groups = [e for e in page.iter("div") if e.get("class") == "trees"]
    assert len(groups) == 2 and len(trees) > 3
    for group in groups:
        labels, boxes = group.findall("label"), group.findall("div")
        assert len(labels) == len(boxes) == len(trees)
        assert [label.find("input").get("checked") is not None for label in labels] == [True] + [False] * (
            len(trees) - 1
        )
        assert len({label.find("input").get("name") for label in labels}) == 1
        for number, ((_, weight), label, box) in enumerate(zip(trees, labels, boxes, strict=True), 1):
            assert "".join(label.itertext()).strip() == (
                "best tree" if number == 1 else f"{number}: weight −{trees[0][1] - weight:.2f}"
            )
            assert len([e for e in box.iter() if e.get("class", "").startswith("arc above")]) == 3
    assert len({group.find("label/input").get("name") for group in groups}) == 2
    (parse,) = parses_of(doc)
    other = parse.with_tree(*parse.trees[1][:2])
    assert other.heads == trees[1][0].tolist() and other.head_prob == [
        parse.marginals[token, head] for token, head in enumerate(other.heads)
    ]
    same = [a == b or a == 0 for a, b in zip(other.heads, parse.heads, strict=True)]
    assert [bool(label) for label in other.labels] == same and not all(same)
    doc._.arc_labels, doc._.arc_label_names = [np.eye(3, 4, dtype=np.uint8)], ["det", "obj"]
    assert parses_of(doc)[0].trees[1][1] == [
        label or ("obj" if token == head else "det")
        for token, (label, head) in enumerate(zip(other.labels, other.heads, strict=True))
    ]
    assert 'class="trees"' not in render(parsed(nlp))


def test_themes(nlp):
    doc = parsed(nlp)
    light, dark = (render(doc, form="svg", theme=theme) for theme in ("auto", "dark"))
    assert light == render(doc, form="svg", theme="light") and 'class="more"' not in light
    for name, colour in style._LIGHT.items():
        assert f'"{colour}"' not in dark, name
    assert re.sub('="#\\w+"', "", light) == re.sub('="#\\w+"', "", dark)
    for theme in ("auto", "dark"):
        assert ("prefers-color-scheme" in render(doc, theme=theme)) is (theme == "auto")
    with pytest.raises(MindRootError, match="theme is 'blue'"):
        render(doc, theme="blue")


def test_text_is_escaped(nlp):
    doc = parsed(nlp, words=["<script>alert(1)</script>", "&amp;", "\u202eabc"])
    for form in ("fragment", "page", "svg"):
        html = render(doc, form=form, title="<script>")
        assert "<script" not in html and "\u202e" not in html
        assert "&lt;script&gt;alert(1)" in html and "&amp;amp;" in html


@pytest.mark.parametrize("character", ["\ufffe", "\uffff", "\x00", "\x1f", "\x85", "\U0010ffff", "\u2028"])
def test_characters_that_xml_forbids_are_spelled_out(nlp, character):
    doc = parsed(nlp, words=[f"a{character}", "b", "c"])
    doc[1].dep_ = f"x{character}"
    for form in ("fragment", "page", "svg"):
        html = render(doc, form=form, title=f"t{character}")
        ElementTree.fromstring(re.sub(r"<!DOCTYPE html>\n|<meta[^>]*>", "", html))
        assert character not in html and f"{ord(character):x}" in html


def test_sentences_spans_and_several_docs(nlp):
    doc = parsed(nlp, words=["They", "left", "early"] * 2, matrices=[SCORES, SCORES])
    assert len(parses_of(doc)) == 2
    second = list(doc.sents)[1]
    assert len(parses_of(second)) == 1
    assert render(second, form="svg").count('<text class="word') == 3
    assert render([doc, second]).count("<figure>") == 3
    with pytest.raises(MindRootError, match='2 sentences, but form = "svg"'):
        render(doc, form="svg")
    with pytest.raises(MindRootError, match="within a sentence"):
        render(doc[1:3])
    with pytest.raises(MindRootError, match="form is 'png'"):
        render(doc, form="png")
    assert render(nlp.make_doc("")).count("<figure>") == 0


def test_tokens_without_a_head_are_drawn_without_an_arc(nlp):
    doc = Doc(nlp.vocab, words=["a", "b"], sent_starts=[True, False])
    (parse,) = parses_of(doc)
    assert parse.heads == [None, None]
    assert 'class="arc' not in picture_of(parse).content


def test_gold_heads_are_drawn_where_they_differ(nlp):
    (parse,) = parses_of(parsed(nlp))
    html = picture_of(parse._replace(gold=[(2, "nsubj"), (0, "root"), (1, "advmod")]), close=2).content
    assert arcs(html, "gold") == ["gold"] and "They → early: advmod, in the file" in html


def test_the_table_has_the_lemmas_of_a_doc(nlp):
    doc = parsed(nlp)
    headings = re.findall("<th>(.*?)</th>", render(doc))
    assert headings == ["", "word", "label", "head", "probability", "next best head"]
    doc[1].lemma_ = "leave"
    table = re.findall("<tr>(.*?)</tr>", render(doc))
    assert re.findall("<th>(.*?)</th>", table[0]) == [*headings[:2], "lemma", *headings[2:]]
    cells = [re.findall("<td><bdi>(.*?)</bdi></td>", row) for row in table[1:]]
    assert [row[:4] for row in cells] == [
        ["1", "They", "", "dep"],
        ["2", "left", "leave", "root"],
        ["3", "early", "", "dep"],
    ]
    assert {len(row) for row in cells} == {7}


def test_the_key_names_what_is_drawn(nlp):
    (parse,) = parses_of(parsed(nlp))
    gold = parse._replace(gold=[(2, "nsubj"), (0, "root"), (1, "advmod")])
    keys = [render_parses([each], close=close) for each, close in ((parse, 2), (parse, 0.15), (gold, 0.15))]
    assert all(f'class="arc p{k}"' in keys[0] for k in range(6))
    assert [("next best head</text>" in key, "head in the file</text>" in key) for key in keys] == [
        (False, False),
        (True, False),
        (True, True),
    ]
    assert "Probability of the head:" not in render(parsed(nlp, confidence=False, keep_scores=False))


def test_right_to_left(nlp):
    doc = parsed(nlp, words=["ذهب", "الولد", "صباحا"])
    first, *_, last = (float(x) for x in re.findall(r'class="word"[^>]* x="([\d.]+)"', render(doc)))
    assert first > last
    first, *_, last = (
        float(x) for x in re.findall(r'class="word"[^>]* x="([\d.]+)"', render(doc, right_to_left=False))
    )
    assert first < last


def test_constraints_are_respected(nlp):
    doc = parsed(nlp)
    doc._.arc_constraints = {"required": [(0, 2)]}
    (parse,) = parses_of(nlp.get_pipe("mind_root")(doc))
    assert parse.heads[0] == 3 and parse.head_prob[0] == 1.0


def test_percentages():
    assert [percent(p) for p in (None, 0.0, 0.001, 0.5, 0.999, 1.0)] == ["", "0%", "<1%", "50%", ">99%", "100%"]


def test_render_is_in_the_package():
    assert spacy_mindroot.render is render and "render" in spacy_mindroot.__all__


def test_multiword_tokens_are_drawn_as_words_with_their_form_bracketed(nlp):
    deps = ["ROOT", "case", "det", "nmod"]
    doc = Doc(nlp.vocab, ["Vente", "d", "u", "jour"], spaces=[True, False, True, False], heads=[0, 3, 3, 0], deps=deps)
    set_multiword_tokens(doc, [MultiwordToken(1, 3, ("de", "le"))])
    for vertical, surface in ((False, ">du<"), (True, ">(du)<")):
        svg = render(doc, form="svg", vertical=vertical)
        assert all(f">{word}<" in svg for word in ("Vente", "de", "le", "jour")) and svg.count(surface) == 1
        assert svg.count('class="bracket"') == (not vertical)
    assert r"{\footnotesize (du)}" in render(doc, form="tikz")
    set_multiword_tokens(doc, [])
    assert ">du<" not in render(doc, form="svg") and ">d<" in render(doc, form="svg")
