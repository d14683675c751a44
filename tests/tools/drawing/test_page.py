"""Web pages: one style, escaped text, and pictures as they are."""

from spacy_mindroot.tools.drawing.drawing import write_line
from spacy_mindroot.tools.drawing.style import TEMPLATES, fill_template


def figure(name="<one>", **other):
    values = {
        "name": name,
        "expected": "",
        "trees": [("best tree", write_line("key", "<picture>").to_svg())],
        "rows": [("", "<name>"), ("1", "<cell>")],
    }
    return values | other


def test_text_is_escaped_and_svg_is_not():
    page = fill_template(TEMPLATES / "page.html.jinja", title="<t>\ufffe", key=["<svg/>"], figures=[figure()])
    assert "<title>&lt;t&gt;\\ufffe</title>" in page and "<bdi>&lt;one&gt;</bdi>" in page and "<svg/>" in page
    assert (
        ">&lt;picture&gt;</text>" in page
        and "<th>&lt;name&gt;</th></tr>\n<tr><td><bdi>1</bdi></td><td><bdi>&lt;cell&gt;</bdi></td>" in page
    )


def test_pages_and_fragments_have_the_same_style():
    page, fragment = (
        fill_template(TEMPLATES / f"{form}.html.jinja", title="t", key=[], figures=[figure(rows=[])])
        for form in ("page", "fragment")
    )
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert (
        "prefers-color-scheme:dark" in style and ".mindroot figure {" in style and f"<style>{style}</style>" in fragment
    )
    assert "<details>" not in fragment and 'class="legend"' not in fragment


def test_a_theme_may_be_fixed():
    for theme, other in (("dark", "#ffffff"), ("light", "#161b22")):
        page = fill_template(TEMPLATES / "page.html.jinja", theme=theme, title="t", key=[], figures=[])
        style = page.partition("<style>")[2].partition("</style>")[0]
        assert f'content="{theme}"' in page and f"color-scheme:{theme}" in style
        assert "prefers-color-scheme" not in style and other not in style


def test_other_templates_extend_the_page(tmp_path):
    (tmp_path / "own.jinja").write_text('{% extends "page.html.jinja" %}{% block content %}{{ text }}{% endblock %}')
    page = fill_template(tmp_path / "own.jinja", title="t", text="<x>")
    assert "&lt;x&gt;</main>" in page and "<figure>" not in page
