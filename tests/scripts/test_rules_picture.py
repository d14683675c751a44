"""The picture of docs/rules.md shows the example of that page as it is."""

import re

from scripts import rules_picture


def test_the_picture_is_up_to_date_and_on_the_page():
    picture = rules_picture.draw()
    assert rules_picture.OUT.read_text("utf8") == picture, "run python -m scripts.rules_picture"
    page = (rules_picture.OUT.parent / "rules.md").read_text("utf8")
    assert "(rules.svg)" in page and "25.5" in picture and "24.5" in picture
    assert re.findall(r">(nsubj|obj)<", picture) == ["nsubj", "nsubj", "nsubj", "obj"]


def test_the_page_has_the_scores_of_the_picture():
    page = (rules_picture.OUT.parent / "rules.md").read_text("utf8")
    code = page.partition("```python\n")[2].partition("```")[0]
    values: dict = {}
    exec(code.partition("free =")[0], values)
    assert (values["arcs"] == rules_picture.ARCS).all() and (values["scores"] == rules_picture.label_scores()).all()
