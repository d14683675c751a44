"""The key of pictures."""

from spacy_mindroot.tools.drawing.key import draw_key


def test_the_key_names_what_is_drawn():
    short, long = (draw_key(next_best=more, gold=more) for more in (False, True))
    assert len(long) == len(short) + 2 and all(each.width > 0 and each.height > 0 for each in long)
    assert "next best head" in long[-2].content and "head in the file" in long[-1].content
    assert all(f'class="arc p{k}"' in "".join(each.content for each in short) for k in range(6))
