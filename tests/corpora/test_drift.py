"""Which shards are said to drift."""

from spacy_mindroot.corpora.drift import drifting


def manifest(values, words=5000):
    return [{"shard": f"{k:06}", "expected_uas": value, "words": words} for k, value in enumerate(values)]


def test_a_shard_of_another_language(rng):
    usual = rng.normal(0.85, 0.004, 40)
    found = drifting(manifest([*usual[:20], 0.55, *usual[20:], 0.97]))
    assert list(found) == ["000020", "000041"]
    assert found["000020"][0] == 0.55 and abs(found["000020"][1] - 0.85) < 0.01


def test_shards_that_differ_no_more_than_all_do(rng):
    assert drifting(manifest(rng.normal(0.85, 0.02, 400))) == {}
    assert drifting(manifest([0.85] * 40 + [0.875])) == {}  # no spread at all, and a small difference
    assert list(drifting(manifest([0.85] * 40 + [0.81]))) == ["000040"]


def test_too_few_to_tell():
    assert drifting(manifest([0.85] * 6 + [0.4])) == {}
    assert drifting(manifest([0.85] * 40) + manifest([0.4], words=900)) == {}
    assert drifting([{"shard": "a", "words": 5000}] * 40) == {}
