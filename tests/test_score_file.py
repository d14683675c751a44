"""Score files: what is written is read, what does not fit is named, and no file takes more memory than it may."""

import contextlib
import io
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from spacy_mindroot import errors, read_score_file, score_file, write_score_file
from spacy_mindroot.scores import LAYOUTS

SCORES = [np.array([[1, 0]]), np.array([[0, 0, 2], [1, -np.inf, 0]])]
ALL = {
    "scores": SCORES,
    "words": [["Yes"], ["They", "win"]],
    "labels": ["root", "nsubj"],
    "best_labels": [np.zeros((1, 2), int), np.ones((2, 3), int)],
    "gold_heads": [[0], [2, -1]],
    "gold_labels": [["root"], ["nsubj", "obj"]],
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "scores.npz"


def assert_same(sentences, given):
    assert len(sentences) == len(given["scores"])
    for k, sentence in enumerate(sentences):
        n = len(given["scores"][k])
        assert np.array_equal(sentence.scores, given["scores"][k])
        assert sentence.words == (given["words"][k] if "words" in given else ["_"] * n)
        for name in ("best_labels", "gold_heads", "gold_labels"):
            found = getattr(sentence, name)
            assert (found is None) == (name not in given) and (found is None or np.array_equal(found, given[name][k]))


@pytest.mark.parametrize(
    "left_out",
    [
        (),
        ("words",),
        ("gold_labels",),
        ("gold_heads", "gold_labels"),
        ("labels", "best_labels"),
        ("best_labels",),
        ("words", "labels", "best_labels", "gold_heads", "gold_labels"),
    ],
)
def test_what_is_written_is_read(path, left_out):
    given = {name: value for name, value in ALL.items() if name not in left_out}
    write_score_file(path, **given)
    sentences = read_score_file(path)
    assert_same(sentences, given)
    if not left_out:
        assert sentences[0].label_names == ["root", "nsubj", "obj"]
    assert os.listdir(path.parent) == ["scores.npz"]


def test_random_corpora(path, rng):
    for _ in range(20):
        lengths = rng.integers(0, 9, size=rng.integers(0, 12)).tolist()
        given = {
            "scores": [rng.normal(size=(n, n + 1)).astype(np.float32) for n in lengths],
            "words": [[rng.choice(["a", "ß", "🙂", "\x85x"[1:]]) for _ in range(n)] for n in lengths],
            "labels": [f"l{i}" for i in range(300)],
            "best_labels": [rng.integers(0, 300, (n, n + 1)) for n in lengths],
            "gold_heads": [rng.integers(-1, n + 1, n) for n in lengths],
            "gold_labels": [[f"l{rng.integers(400)}" for _ in range(n)] for n in lengths],
        }
        write_score_file(path, **given)
        assert_same(read_score_file(path), given)


def test_white_space_in_words_empty_words_and_empty_labels(path):
    write_score_file(path, scores=SCORES, words=[["a\nb\t c"], ["\u2028", ""]], gold_heads=ALL["gold_heads"],
                     gold_labels=[["x"], ["x", ""]])  # fmt: skip
    sentences = read_score_file(path)
    assert [sentence.words for sentence in sentences] == [["a b c"], ["_", "_"]]
    assert sentences[1].gold_labels == ["x", ""]


def test_a_label_that_is_listed_twice_keeps_the_numbers_of_the_others(path):
    write_score_file(path, scores=SCORES[:1], labels=["a", "a", "b"], best_labels=[[[2, 1]]], gold_heads=[[0]],
                     gold_labels=[["b"]])  # fmt: skip
    (sentence,) = read_score_file(path)
    assert sentence.label_names == ["a", "a", "b"] and sentence.best_labels.tolist() == [[2, 1]]
    assert sentence.gold_labels == ["b"]


def test_scores_of_any_dtype_and_finite_scores_stay_finite(path):
    for scores in ([[1, 2]], np.array([[1, 2]], dtype=np.float16), np.array([[1, 2]], dtype=">f8")):
        write_score_file(path, scores=[scores])
        assert read_score_file(path)[0].scores.dtype == np.float32
    write_score_file(path, scores=[[[1e300, -np.inf]]])
    assert read_score_file(path)[0].scores.tolist() == [[1e300, -np.inf]]


def test_the_file_is_named_as_it_is_told(tmp_path):
    write_score_file(tmp_path / "scores", scores=SCORES)
    write_score_file(str(tmp_path / "scores.v2.npz"), scores=SCORES)
    assert sorted(os.listdir(tmp_path)) == ["scores", "scores.v2.npz"]
    assert len(read_score_file(tmp_path / "scores")) == 2


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_written_as_the_same_file(path, layout, rng):
    scores = [rng.normal(size=(n, n + 1)).astype(np.float32) for n in (3, 1, 5)]
    best = [rng.integers(0, 2, size=matrix.shape) for matrix in scores]

    def laid_out(matrix):
        n = len(matrix)
        square = np.zeros((n + 1, n + 1), matrix.dtype)
        square[1:] = matrix
        diagonal = matrix[:, 1:].copy()
        np.fill_diagonal(diagonal, matrix[:, 0])
        return {"root_column": matrix, "square": square, "square_transposed": square.T, "root_diagonal": diagonal}[
            layout
        ]

    write_score_file(
        path, scores=map(laid_out, scores), labels=["a", "b"], best_labels=map(laid_out, best), layout=layout
    )
    for sentence, matrix, labels in zip(read_score_file(path), scores, best, strict=True):
        inside = ~np.eye(len(matrix), len(matrix) + 1, 1, dtype=bool)
        np.testing.assert_array_equal(sentence.scores[inside], matrix[inside])
        np.testing.assert_array_equal(sentence.best_labels[inside], labels[inside])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"layout": "diagonal"}, "there is no layout"),
        ({"scores": 3}, "`scores` must be a list or another iterable; found 3"),
        ({"scores": [np.zeros((1, 2)), np.zeros((2, 2))]}, "sentence 2 (index 1): a square matrix"),
        ({"scores": [np.zeros((1, 2)), [["a", "b", "c"]] * 2]}, "sentence 2 (index 1): arc scores are real"),
        ({"words": [["a"]]}, "scores for 2 sentences, but `words` for 1"),
        ({"words": [["a"], ["b"]]}, "there are 2 tokens, but `words` of sentence 2 (index 1) is for 1"),
        ({"words": [["a"], "bc"]}, "`words` of sentence 2 (index 1) must be a list"),
        ({"words": [["a"], ["b", 3]]}, "`words` of sentence 2 (index 1) must be strings; found"),
        ({"words": [["a"], ["b", "\ud800"]]}, "`words` can't be written as UTF-8"),
        ({"labels": "ab"}, "`labels` must be a list or another iterable; found 'ab'"),
        ({"labels": ["a", None]}, "None is no label"),
        ({"labels": ["a\nb"]}, "'a\\nb' is no label"),
        ({"labels": None}, "`best_labels` are indexes into `labels`"),
        ({"labels": ["one"]}, "sentence 2 (index 1): `best_labels` has numbers from 1 to 1; they must be from 0 to 0"),
        ({"best_labels": [np.zeros((1, 2), int)]}, "`best_labels` for 1"),
        ({"best_labels": [np.zeros((1, 2), int), np.zeros((2, 2), int)]}, "has shape (2, 2), but the scores ask for"),
        ({"best_labels": [np.zeros((1, 2)), np.zeros((2, 3), int)]}, "sentence 1 (index 0): `best_labels` has dtype"),
        ({"best_labels": [[[0], [1, 2]], np.zeros((2, 3), int)]}, "sentence 1 (index 0): `best_labels` can't be read"),
        ({"gold_heads": None}, "`gold_labels` go with `gold_heads`"),
        ({"gold_heads": [[0], [2, 3]]}, "sentence 2 (index 1): `gold_heads` has numbers from 2 to 3"),
        ({"gold_heads": [[-2], [2, 0]]}, "sentence 1 (index 0): `gold_heads` has numbers from -2 to -2"),
        ({"gold_heads": [[0], [2, None]]}, "sentence 2 (index 1): `gold_heads` has dtype object"),
        ({"gold_labels": [["root"], ["a"]]}, "there are 2 tokens, but `gold_labels` of sentence 2 (index 1) is for 1"),
        ({"gold_labels": [["root"], ["a", "b\nc"]]}, "'b\\nc' is no label"),
    ],
)
def test_arguments_that_do_not_fit(path, change, says):
    path.write_bytes(b"what was there")
    with pytest.raises(errors.ScoreFileError) as caught:
        write_score_file(path, **(ALL | change))
    assert says in str(caught.value) and str(path) in str(caught.value)
    assert path.read_bytes() == b"what was there" and os.listdir(path.parent) == ["scores.npz"]


def test_an_interrupted_write_leaves_the_file_that_was_there(path, monkeypatch):
    write_score_file(path, **ALL)
    before = path.read_bytes()

    def fail(file, **arrays):
        file.write(b"half of it")
        raise OSError("No space left on device")

    monkeypatch.setattr(score_file.np, "savez_compressed", fail)
    with pytest.raises(OSError, match="No space"):
        write_score_file(path, scores=SCORES)
    assert path.read_bytes() == before and os.listdir(path.parent) == ["scores.npz"]


@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
def test_links_are_followed_and_modes_are_kept(tmp_path):
    (tmp_path / "there").mkdir()
    real = tmp_path / "there" / "scores.npz"
    real.write_bytes(b"")
    real.chmod(0o640)
    (tmp_path / "link.npz").symlink_to(real)
    write_score_file(tmp_path / "link.npz", scores=SCORES)
    assert (tmp_path / "link.npz").is_symlink() and real.stat().st_mode & 0o777 == 0o640
    assert len(read_score_file(real)) == 2
    write_score_file("/dev/null", scores=SCORES)
    assert not os.path.isfile("/dev/null")
    code = "from spacy_mindroot import write_score_file; write_score_file('/dev/stdout', scores=[[[1, 0]]])"
    (tmp_path / "piped.npz").write_bytes(subprocess.run([sys.executable, "-c", code], capture_output=True).stdout)
    assert len(read_score_file(tmp_path / "piped.npz")) == 1
    with pytest.raises(OSError):
        write_score_file(tmp_path / "there", scores=SCORES)
    with pytest.raises(OSError, match="^[^ ]*nowhere: there is no such folder to write x.npz to"):
        write_score_file(tmp_path / "nowhere" / "x.npz", scores=SCORES)


# ---------------------------------------------------------------------------------------------------------------------
# Files that claim more than they hold


def npz(path, *, method=zipfile.ZIP_DEFLATED, **members):
    """A file of arrays, or of members as they are."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, value in members.items():
            with archive.open(f"{name}.npy", "w") as file:
                if isinstance(value, bytes):
                    file.write(value)
                else:
                    np.lib.format.write_array(file, np.asarray(value))


def header(shape, dtype="<f4", data=b""):
    """The header of an array of any shape, whatever follows."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": dtype})
    return file.getvalue() + data


ONE = {"lens": [1], "arc": np.zeros(2, np.float32)}
BAD = {
    "lengths_beyond_the_scores": ({"lens": [2**26], "arc": np.zeros(12)}, "`arc` has shape (12,)"),
    "lengths_whose_squares_overflow": ({"lens": [2**29] * 40, "arc": np.zeros(12)}, "`arc` has shape (12,)"),
    "lengths_out_of_range": ({"lens": [2**31], "arc": np.zeros(12)}, "`lens` has numbers from 2147483648"),
    "negative_lengths": ({"lens": [-1], "arc": np.zeros(0)}, "`lens` has numbers from -1"),
    "float_lengths": ({"lens": [1.0], "arc": np.zeros(2)}, "`lens` has dtype float64; it holds ints"),
    "huge_header": (ONE | {"arc": header((10**12,))}, "`arc` claims shape (1000000000000,)"),
    "header_that_overflows": (ONE | {"arc": header((2**62, 2**62))}, "`arc` claims shape"),
    "negative_header": (ONE | {"arc": header((-2,), data=bytes(8))}, "`arc` claims shape (-2,)"),
    "one_byte_short": (ONE | {"arc": header((2,), data=bytes(7))}, "8 bytes, but the file has 7"),
    "pickle": (ONE | {"arc": header((1,), "|O", b"cos\nsystem\n(S'false'\ntR.")}, "never read"),
    "no_header": (ONE | {"arc": b"\0" * 100}, "`arc` is not an array"),
    "broken_header": (ONE | {"arc": b"\x93NUMPY\1\0\4\0{'a'"}, "can't be read"),
    "unknown_version": (ONE | {"arc": b"\x93NUMPY\7\0" + bytes(90)}, "version of numpy's format, (7, 0)"),
    "no_version": (ONE | {"arc": b"\x93NUMPY"}, "version of numpy's format, ()"),
    "no_lengths": ({"arc": np.zeros(2)}, "no array `lens`"),
    "no_scores": ({"lens": [1]}, "no array `arc`"),
    "words_for_others": (ONE | {"words": np.frombuffer(b"a\nb", np.uint8)}, "`words` has shape (2,)"),
    "words_as_strings": (ONE | {"words": np.array(["a"])}, "`words` must be the bytes"),
    "labels_without_names": (ONE | {"label_best": np.zeros(2, np.uint8)}, "`label_best` has indexes into `labels`"),
    "heads_beyond_the_sentence": (
        {"lens": [1, 0, 2], "arc": np.zeros(8), "heads": [1, 2, 3]},
        "`heads` of sentence 3 (index 2): the head of token 2 is 3",
    ),
    "scores_as_strings": (ONE | {"arc": np.array(["a", "b"])}, "`arc`: arc scores are real numbers"),
    "scores_as_dates": (ONE | {"arc": np.zeros(2, "M8[D]")}, "`arc`: arc scores are real numbers"),
}  # fmt: skip


@pytest.mark.parametrize(("members", "says"), BAD.values(), ids=BAD)
def test_files_that_are_none(path, members, says):
    npz(path, **members)
    with pytest.raises(errors.ScoreFileError) as caught:
        read_score_file(path)
    assert says in str(caught.value) and str(path) in str(caught.value), str(caught.value)


def test_other_compression_is_refused(path):
    """LZMA may ask for a dictionary of 4 GB, whatever the size of the file."""
    npz(path, method=zipfile.ZIP_LZMA, **ONE)
    with pytest.raises(errors.ScoreFileError, match="compressed in a way"):
        read_score_file(path)


@pytest.mark.parametrize("cut", [0, 1, 10, 100, 300])
def test_truncated_files(path, cut):
    write_score_file(path, **ALL)
    path.write_bytes(path.read_bytes()[:-cut] if cut else b"")
    with pytest.raises(errors.ScoreFileError, match="can't be read as an .npz"):
        read_score_file(path)
    with pytest.raises(errors.ScoreFileError, match="No such file"):
        read_score_file(path.with_name("nothing"))


def test_damaged_bytes_never_end_in_another_error(path, rng):
    write_score_file(path, **ALL)
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    for _ in range(300):
        damaged = whole.copy()
        damaged[rng.integers(0, len(whole), rng.integers(1, 4))] ^= rng.integers(1, 256, dtype=np.uint8)
        path.write_bytes(damaged.tobytes())
        with contextlib.suppress(errors.ScoreFileError):
            assert len(read_score_file(path)) < 3


LARGE = 200 << 20
BOMBS = {
    "scores": {"lens": [1], "arc": header((LARGE // 4,), data=bytes(LARGE))},
    "header": {"lens": [1], "arc": b"\x93NUMPY\2\0" + (LARGE - 20).to_bytes(4, "little") + bytes(LARGE - 20)},
    "sentences": {"lens": header((40 << 20,), "|u1", bytes(40 << 20)), "arc": np.zeros(0)},
    "words": {**ONE, "words": header((40 << 20,), "|u1", b"a\n" * (20 << 20))},
    "labels": {**ONE, "labels": header((40 << 20,), "|u1", b"a\n" * (20 << 20))},
}
MEASURE = """
import resource, sys
from spacy_mindroot import errors, read_score_file
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_score_file(sys.argv[1])
except errors.ScoreFileError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory as Linux counts it")
@pytest.mark.parametrize("members", BOMBS.values(), ids=BOMBS)
def test_compressed_bombs_take_little_memory(path, members):
    npz(path, **members)
    assert path.stat().st_size < 1 << 20
    run = subprocess.run([sys.executable, "-c", MEASURE, path], capture_output=True, text=True, check=True)
    kilobytes, message = run.stdout.split(" ", 1)
    assert "more than 200 times its size" in message and int(kilobytes) < 130 << 10


def test_a_large_but_regular_file_that_was_written_here_is_read(path):
    """Compressed, it would look like a bomb."""
    n, sentences = 100, 900
    scores = [np.zeros((n, n + 1), np.float32)] * sentences
    labels = [np.zeros((n, n + 1), np.uint8)] * sentences
    write_score_file(path, scores=scores, labels=["a"], best_labels=labels)
    assert len(read_score_file(path)) == sentences
    write_score_file(path, scores=[np.zeros((1, 2), np.float32)] * 200_000)
    assert len(read_score_file(path)) == 200_000
