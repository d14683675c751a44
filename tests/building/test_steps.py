"""Steps are not repeated once they are done."""

import pytest
import srsly

from spacy_mindroot.building.steps import Steps


def chain(path, facts=None):
    return Steps(path, {"data": 1} if facts is None else facts)


def run(steps, made, needs=None):
    """Run two steps; `made` collects the names of those that are made."""
    return [steps.run(name, lambda name=name: made.append(name) or {"of": name}, needs=needs) for name in ("a", "b")]


def test_what_is_done_is_not_done_again(tmp_path):
    path, made = tmp_path / "x.json", []
    assert run(chain(path), made) == [({"of": "a"}, True), ({"of": "b"}, True)]
    assert run(chain(path), made) == [({"of": "a"}, False), ({"of": "b"}, False)]
    assert made == ["a", "b"]
    assert srsly.read_json(path) == {"facts": {"data": 1}, "a": {"of": "a"}, "b": {"of": "b"}}


def test_other_facts_begin_anew(tmp_path):
    path, made = tmp_path / "x.json", []
    run(chain(path), made)
    run(chain(path, {"data": 2}), made)
    assert made == ["a", "b"] * 2


def test_a_missing_file_is_made_again_with_what_follows(tmp_path):
    path, made = tmp_path / "x.json", []
    run(chain(path), made)
    assert chain(path).run("a", lambda: made.append("a"), needs=tmp_path / "gone") == (None, True)
    again = chain(path)
    again.run("a", lambda: made.append("a"), needs=tmp_path / "gone")
    again.run("b", lambda: made.append("b"))
    assert made == ["a", "b", "a", "a", "b"]


def test_an_interruption_keeps_what_was_done(tmp_path):
    path, made = tmp_path / "x.json", []

    def fails():
        raise KeyboardInterrupt

    steps = chain(path)
    steps.run("a", lambda: made.append("a"))
    with pytest.raises(KeyboardInterrupt):
        steps.run("b", fails)
    run(chain(path), made)
    assert made == ["a", "b"]


@pytest.mark.parametrize("content", [b"", b'{"facts"', b"[]", b"\xff", b'{"facts": 3}'])
def test_a_damaged_file_begins_anew(tmp_path, content):
    path, made = tmp_path / "x.json", []
    path.write_bytes(content)
    run(chain(path), made)
    assert made == ["a", "b"]
