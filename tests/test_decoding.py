"""decode() and decode_batch(): what they accept, what they refuse, and the messages."""

import os
import subprocess
import sys
import threading
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from generators import DATE, NO_NUMBERS, random_scores
from spacy_mindroot import MindRootError, constrain_scores, decode, decode_batch, decoding, errors, greedy_heads, unpad
from spacy_mindroot.scores import LAYOUTS

INF = np.inf
EXAMPLE = np.array([[3, 8, 8, 2], [9, 2, 3, 4], [5, 4, 0, 7]])  # best: [2, 0, 1]


def test_the_worked_example_of_the_paper():
    scores = [[90, 0, -INF, -INF, 20], [40, -INF, 0, 50, -INF], [-INF, 10, 30, 0, 70], [-INF, -INF, 60, -INF, 0]]
    assert decode(scores).tolist() == [0, 3, 1, 2]
    assert decode(scores, single_root=False).tolist() == [0, 0, 4, 2]


@pytest.mark.parametrize(
    "scores",
    [
        EXAMPLE.astype(np.float16),
        EXAMPLE.astype(np.float32),
        EXAMPLE.astype(np.float64),
        EXAMPLE.astype(np.longdouble),
        EXAMPLE.astype(np.int8),
        EXAMPLE.astype(np.uint64),
        EXAMPLE.astype(">f4"),
        np.asfortranarray(EXAMPLE, dtype=np.float32),
        np.repeat(np.repeat(EXAMPLE, 2, axis=0), 3, axis=1).astype(np.float32)[::2, ::3],
        EXAMPLE[::-1, ::-1].astype(np.float64)[::-1, ::-1],
        np.rec.fromarrays([EXAMPLE.astype("i1"), EXAMPLE.astype("f4")], names="pad,scores")["scores"],
        EXAMPLE.tolist(),
    ],
    ids=[
        "float16",
        "float32",
        "float64",
        "longdouble",
        "int8",
        "uint64",
        "byteswapped",
        "fortran",
        "strided",
        "reversed",
        "unaligned",
        "list",
    ],
)
def test_any_dtype_and_memory_layout(scores):
    before = np.array(scores)
    if isinstance(scores, np.ndarray):
        scores.flags.writeable = False
    heads = decode(scores)
    assert heads.tolist() == [2, 0, 1]
    assert heads.dtype == np.int32
    assert np.array_equal(scores, before)


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert decode(EXAMPLE.astype(ml_dtypes.bfloat16)).tolist() == [2, 0, 1]


def test_input_is_read_in_place(rng, monkeypatch):
    """No copy on the way to the core for float32 and float64, whatever the strides."""
    seen = []
    monkeypatch.setattr("spacy_mindroot.decoding._core.decode", lambda scores, *_: seen.append(scores))
    for dtype in (np.float32, np.float64):
        square = rng.normal(size=(6, 6)).astype(dtype)
        for scores, layout in (
            (square[1:], "root_column"),
            (square[::-1][:5], "root_column"),
            (square, "square"),
            (square, "square_transposed"),
        ):
            decode(scores, layout=layout)
            assert np.shares_memory(seen[-1], square)


def test_layouts_give_the_same_tree(rng):
    for _ in range(50):
        scores = random_scores("normal", 6, rng)
        square = np.full((7, 7), np.nan)
        square[1:] = scores
        diagonal = scores[:, 1:].copy()
        np.fill_diagonal(diagonal, scores[:, 0])
        expected = decode(scores).tolist()
        assert decode(square, layout="square").tolist() == expected
        assert decode(square.T, layout="square_transposed").tolist() == expected
        assert decode(diagonal, layout="root_diagonal").tolist() == expected
        assert greedy_heads(square.T, layout="square_transposed").tolist() == greedy_heads(scores).tolist()


@pytest.mark.parametrize(
    ("scores", "layout"),
    [([], "root_column"), (np.empty((0, 1)), "root_column"), (np.empty((0, 0)), "root_column"),
     (np.empty((0, 0)), "root_diagonal"),
     (np.zeros((1, 1)), "square"), (np.zeros((1, 1)), "square_transposed")],
)  # fmt: skip
def test_no_tokens(scores, layout):
    assert decode(scores, layout=layout).shape == (0,)
    assert decode_batch([scores, scores], layout=layout)[1].shape == (0,)


def test_one_token_is_the_root():
    assert decode([[-3.0, np.nan]]).tolist() == [0]


# ---------------------------------------------------------------------------------------------------------------------
# Batches


def test_padded_batches(rng):
    lengths = [3, 0, 5, 1]
    padded = np.full((4, 5, 6), 50.0)
    expected = []
    for k, n in enumerate(lengths):
        padded[k, :n, : n + 1] = random_scores("normal", n, rng)
        expected.append(decode(padded[k, :n, : n + 1]).tolist())
    assert [heads.tolist() for heads in decode_batch(padded, lengths)] == expected
    assert [heads.tolist() for heads in decode_batch(list(padded), lengths)] == expected
    square = np.full((4, 6, 6), 50.0)
    square[:, 1:] = padded
    assert [heads.tolist() for heads in decode_batch(square, lengths, layout="square")] == expected


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_written_to_an_unpadded_batch_is_written_to_the_batch(layout):
    """A loss writes its gradient so."""
    lengths = [3, 1]
    padded = np.full((2, 6, 6), np.nan, np.float32)
    matrices = unpad(padded, lengths, layout=layout)
    assert [matrix.shape for matrix in matrices] == [(3, 4), (1, 2)]
    for matrix in matrices:
        matrix[:] = 1
    assert np.isfinite(padded).sum() == (0 if layout == "root_diagonal" else 3 * 4 + 1 * 2)
    with pytest.raises(errors.ScoresShapeError, match="a single one"):
        unpad(padded[0], layout=layout)


def test_flat_batch_is_read_in_place_whatever_its_stride(rng, monkeypatch):
    wide = rng.normal(size=28).astype(np.float32)
    flat = wide[::2]
    expected = decode(flat[:12].reshape(3, 4)).tolist() + [0]
    assert decode_batch(flat, [3, 0, 1]).tolist() == expected
    seen = []
    monkeypatch.setattr("spacy_mindroot.decoding._core.decode_flat", lambda flat, *rest: seen.append(flat) or [])
    decode_batch(flat, [3, 0, 1])
    assert np.shares_memory(seen[0], wide)


def test_batches_of_nothing():
    assert decode_batch([]) == []
    assert decode_batch(np.empty(0), []).shape == (0,)
    assert decode_batch(np.empty(0), [0, 0]).shape == (0,)


def test_an_iterator_and_mixed_dtypes():
    batch = (EXAMPLE.astype(dtype) for dtype in (np.float32, np.float64, np.int32))
    assert [heads.tolist() for heads in decode_batch(batch)] == [[2, 0, 1]] * 3


@pytest.mark.parametrize(
    ("scores", "lengths", "says"),
    [
        (np.zeros(11), [3], ["11", "12"]),
        (np.zeros(13), [3], ["13", "12"]),
        (np.zeros(12), None, ["lengths"]),
        (np.zeros(12), [3.0], ["lengths"]),
        (np.zeros(12), [-4], ["lengths"]),
        (np.zeros(12), [[3]], ["lengths"]),
        (np.zeros(12), [[3], [1, 2]], ["lengths"]),
        (np.zeros(2), np.array([2**64 - 1, 1], dtype=np.uint64), ["lengths"]),
        (np.zeros(12), [2**62, 2**62, 2**62, 2**62, 3], ["lengths"]),
        (np.zeros(12), [2**29, 3], ["12 scores"]),
        (np.zeros((3, 4)), None, ["decode()"]),
        ([np.zeros((3, 4))], [3, 3], ["1 matrices", "2 lengths"]),
        ([np.zeros((3, 4))] * 2, [3], ["2 matrices", "1 lengths"]),
        ([np.zeros((3, 4)), np.zeros((3, 4))], [3, 4], ["sentence 2", "(4, 5)", "(3, 4)"]),
        ([np.zeros((3, 4)), np.zeros((3, 5))], None, ["sentence 2", "(3, 5)"]),
    ],
)
def test_batches_that_do_not_fit(scores, lengths, says):
    with pytest.raises(errors.ScoresShapeError) as caught:
        decode_batch(scores, lengths)
    assert all(part in str(caught.value) for part in says), str(caught.value)


def test_flat_scores_have_one_layout():
    with pytest.raises(errors.ScoresShapeError, match="root_column"):
        decode_batch(np.zeros(16), [3], layout="square")


def test_a_fault_in_a_batch_names_its_sentence():
    bad = EXAMPLE.astype(float)
    bad[1, 3] = np.nan
    flat = np.concatenate([EXAMPLE.ravel(), [1.0, 0.0], bad.ravel()])
    for batch, projective in product([([EXAMPLE, [[1, 0]], bad], None), (flat, [3, 1, 3])], [False, True]):
        with pytest.raises(errors.InvalidScoreError, match="sentence 3 of the batch") as caught:
            decode_batch(*batch, projective=projective)
        assert (caught.value.sentence, caught.value.dependent, caught.value.head) == (2, 2, 3)


# ---------------------------------------------------------------------------------------------------------------------
# Bad input

FORBID = -INF
BAD = {
    "nan": ([[1, 0, 0], [0, np.nan, 0]], errors.InvalidScoreError, ["dependent 2", "head 1", "NaN"]),
    "nan_of_root": ([[np.nan, 0, 0], [0, 1, 0]], errors.InvalidScoreError, ["dependent 1", "head 0 (ROOT)", "NaN"]),
    "negative_nan": ([[1, 0, 0], [0, -np.nan, 0]], errors.InvalidScoreError, ["NaN"]),
    "inf": ([[1, 0, INF], [0, 1, 0]], errors.InvalidScoreError, ["dependent 1", "head 2", "+inf"]),
    "no_head": ([[1, 0, 0], [FORBID, FORBID, 0]], errors.NoHeadError, ["dependent 2", "no head"]),
    "no_root": ([[FORBID, 0, 1], [FORBID, 1, 0]], errors.NoRootError, ["root", "layout"]),
    "no_root_one_token": ([[FORBID, 1]], errors.NoRootError, ["root"]),
    "unreachable": (
        [[1, 0, 1, 1], [FORBID, FORBID, 0, 1], [FORBID, FORBID, 1, 0]], errors.NoTreeError, ["dependent 2", "path"],
    ),
    "only_two_roots": (
        [[1, 0, FORBID], [1, FORBID, 0]],
        errors.NoTreeError,
        ["dependents 1 and 2", "single root", "single_root=False"],
    ),
    "only_two_roots_one_a_cycle": (
        [[1, 0, FORBID, FORBID], [1, FORBID, 0, 5], [1, FORBID, 4, 0]], errors.NoTreeError, ["dependents 1 and 2"],
    ),
    "square": (np.zeros((3, 3)), errors.ScoresShapeError, ["square_transposed", "root_diagonal", "(3, 3)"]),
    "too_wide": (np.zeros((3, 5)), errors.ScoresShapeError, ["(3, 5)", "(n, n+1)"]),
    "too_tall": (np.zeros((5, 3)), errors.ScoresShapeError, ["(5, 3)"]),
    "no_tokens_but_columns": (np.zeros((0, 5)), errors.ScoresShapeError, ["(0, 5)"]),
    "one_dimension": (np.zeros(4), errors.ScoresShapeError, ["2 dimensions", "found 1"]),
    "three_dimensions": (np.zeros((3, 4, 2)), errors.ScoresShapeError, ["reduce_labels", "unpad"]),
    "scalar": (1.0, errors.ScoresShapeError, ["found 0"]),
    "strings": ([["1", "2"]], errors.ScoresTypeError, ["<U1"]),
    "objects": (np.array([[1, None]]), errors.ScoresTypeError, ["object"]),
    "booleans": (np.ones((1, 2), dtype=bool), errors.ScoresTypeError, ["bool"]),
    "complex": (np.ones((1, 2), dtype=complex), errors.ScoresTypeError, ["complex"]),
    "ragged": ([[1, 2], [3]], errors.ScoresTypeError, ["equal lengths"]),
    "mask": (np.ma.masked_equal([[1.0, 0.0]], 0), errors.ScoresTypeError, ["filled(-np.inf)"]),
}  # fmt: skip


@pytest.mark.parametrize(("scores", "error", "says"), BAD.values(), ids=BAD)
def test_bad_input(scores, error, says):
    """A ValueError of a class of its own that says what is wrong, where, and what to do; alone and in a batch."""
    before = np.array(scores) if isinstance(scores, np.ndarray) else None
    with pytest.raises(error) as caught:
        decode(scores)
    assert isinstance(caught.value, ValueError)
    assert all(part in str(caught.value) for part in says), str(caught.value)
    with pytest.raises(error, match="sentence 2 of the batch"):
        decode_batch([EXAMPLE, scores])
    if before is not None:
        assert np.array_equal(scores, before, equal_nan=before.dtype.kind == "f")


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_array_of_scores(value):
    """Never another error than this package's, and never a tree."""
    for call in (decode, greedy_heads, constrain_scores, decode_batch, lambda value: decode_batch([EXAMPLE, value])):
        with pytest.raises(MindRootError):
            call(value)
    for first in (EXAMPLE, EXAMPLE.astype(float)):  # which the core reads after conversion, and in place
        with pytest.raises((errors.ScoresTypeError, errors.ScoresShapeError), match="sentence 2 of the batch"):
            decode_batch([first, value])


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_layout_and_no_lengths(value):
    for call in (decode, greedy_heads, constrain_scores, lambda value, layout: decode_batch([value], layout=layout)):
        with pytest.raises(errors.ScoresShapeError, match="no layout"):
            call(EXAMPLE, layout=value)
    if value is not None:
        for scores in ([EXAMPLE], EXAMPLE.ravel(), EXAMPLE[np.newaxis]):
            with pytest.raises(errors.ScoresShapeError, match="lengths are one number of tokens"):
                decode_batch(scores, value)
    if value is not True:  # which numpy makes an int, next to one
        with pytest.raises(errors.ScoresShapeError, match="lengths are one number of tokens"):
            decode_batch([EXAMPLE, EXAMPLE], [3, value])


def test_any_error_of_a_foreign_array_is_one_of_ours():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise AttributeError("no such device")

    with pytest.raises(errors.ScoresTypeError, match="no such device"):
        decode(Broken())
    with pytest.raises(errors.ScoresShapeError, match="lengths are"):
        decode_batch([EXAMPLE], Broken())


def test_a_long_double_beyond_float64_is_infinite():
    with pytest.raises(errors.InvalidScoreError, match="inf"):
        decode(np.array([["1e4000", "0"]]).astype(np.longdouble))


def test_a_layout_is_compared_by_its_letters():
    assert decode(EXAMPLE.astype(float), layout="".join(["root_", "column"])).tolist() == [2, 0, 1]


def test_an_error_inside_an_iterator_is_not_hidden():
    def batch():
        yield EXAMPLE
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        decode_batch(batch())


def test_scores_near_the_largest_double(rng):
    """The same tree as under the scores divided by a power of two, whatever the layout in memory."""
    for n in (2, 3, 6, 12):
        for _ in range(30):
            scores = rng.integers(-7, 8, (n, n + 1)).astype(float)
            large = scores * 2.0**1021
            for single_root in (True, False):
                expected = decode(scores, single_root=single_root).tolist()
                assert decode(large, single_root=single_root).tolist() == expected
                assert decode(np.asfortranarray(large), single_root=single_root).tolist() == expected
                assert decode_batch([large], single_root=single_root)[0].tolist() == expected


def test_unknown_layout():
    for call in (decode, greedy_heads, lambda scores, layout: decode_batch([scores], layout=layout)):
        with pytest.raises(errors.ScoresShapeError, match="'transposed'.*square_transposed"):
            call(EXAMPLE, layout="transposed")


def test_two_roots_are_no_fault_where_they_are_allowed():
    assert decode([[1, 0, -INF], [1, -INF, 0]], single_root=False).tolist() == [0, 0]


def test_strided_scores_are_checked_too():
    for value, score in ((np.nan, "NaN"), (INF, r"\+inf")):
        scores = np.zeros((20, 21), order="F")
        scores[11, 17] = value
        with pytest.raises(errors.InvalidScoreError, match=f"head 17 .*for dependent 12 is {score}"):
            decode(scores)


def test_no_root_names_no_token():
    with pytest.raises(errors.NoRootError) as caught:
        decode([[FORBID, 0, 1], [FORBID, 1, 0]])
    assert (caught.value.dependent, caught.value.head) == (0, 0)


@pytest.mark.parametrize("single_root", [True, False])
def test_self_arcs_are_never_read(rng, single_root):
    for value in (np.nan, INF, -INF, 1e9):
        for _ in range(30):
            scores = random_scores("tied", 5, rng)
            expected = decode(scores, single_root=single_root).tolist()
            scores[np.arange(5), np.arange(5) + 1] = value
            assert decode(scores, single_root=single_root).tolist() == expected


# ---------------------------------------------------------------------------------------------------------------------
# Threads and memory


@pytest.mark.parametrize("n_threads", [2, 3, 8])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("projective", [True, False])
def test_the_number_of_threads_changes_nothing(rng, projective, single_root, n_threads):
    kinds = ("normal", "tied", "root_attractive")
    batch = [random_scores(kinds[k % 3], rng.integers(0, 50), rng, np.float32) for k in range(400)]
    flat, lengths = np.concatenate([scores.ravel() for scores in batch]), [len(scores) for scores in batch]
    which = {"single_root": single_root, "projective": projective}
    alone = [decode(scores, **which) for scores in batch]
    threaded = decode_batch(batch, n_threads=n_threads, **which)
    assert [heads.tolist() for heads in threaded] == [heads.tolist() for heads in alone]
    flat_heads = decode_batch(flat, lengths, n_threads=n_threads, **which)
    assert flat_heads.tolist() == np.concatenate(alone).tolist()


def test_the_first_fault_is_named_whichever_thread_finds_it(rng):
    batch = [random_scores("normal", 9, rng) for _ in range(300)]
    for k in (299, 150, 40):
        batch[k][3, 0] = np.nan
        with pytest.raises(errors.InvalidScoreError, match=f"sentence {k + 1} of the batch"):
            decode_batch(batch, n_threads=4)


def test_without_constraints_nothing_is_asked_of_them(monkeypatch):
    """Reading them would double the cost of a short sentence."""
    monkeypatch.delattr(decoding, "read_constraints")
    assert decode(EXAMPLE).tolist() == decode(EXAMPLE, required=(), forbidden=()).tolist() == [2, 0, 1]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc, to count threads")
@pytest.mark.parametrize("n_threads", [1, 3])
def test_so_many_threads_run_and_python_goes_on_meanwhile(rng, n_threads):
    """A Python thread watches while others decode. It runs only if they do not hold the GIL."""
    batch = [random_scores("normal", 60, rng, np.float32)] * 60_000
    seen, stop = [], threading.Event()

    def watch():
        while not stop.is_set():
            seen.append(len(os.listdir("/proc/self/task")))

    watcher = threading.Thread(target=watch)
    watcher.start()
    while not seen:
        pass
    before, calls = max(seen), len(seen)
    decode_batch(batch, n_threads=n_threads)
    during = seen[calls:]
    stop.set()
    watcher.join()
    assert len(during) > 3
    assert max(during) == before + n_threads - 1


@pytest.mark.parametrize(
    "n_threads", [0, -1, 1.5, "2", None, True, DATE, int, 10**6, pytest.param(10**5000, id="of 5000 digits")]
)
def test_a_wrong_number_of_threads(n_threads):
    with pytest.raises(errors.CountError, match="n_threads is .*a number of threads"):
        decode_batch([EXAMPLE], n_threads=n_threads)


MEMORY = """
import os, resource
import numpy as np
from spacy_mindroot import decode, decode_batch

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def added(work):
    read, write = os.pipe()
    if os.fork() == 0:
        before = peak()
        work()
        os.write(write, str(peak() - before).encode())
        os._exit(0)
    os.wait()
    return int(os.read(read, 100))

n, rng = 2000, np.random.default_rng(0)
tokens = np.arange(n)
tree, crowded, nested, pairs = (rng.random((n, n + 1)) for _ in range(4))
tree[tokens, tokens] = 9
crowded[:, 0] += 100
nested[tokens[1:], tokens[1:]] = 9
nested[0, 2:] = 8 - tokens[1:] / n
pairs[tokens, (tokens ^ 1) + 1] = 9  # as many contracted nodes as there can be
by_columns = np.asfortranarray(pairs)
cells = 8 * n * n
print(added(lambda: decode(tree)) / cells)
print(max(added(lambda: decode(scores)) for scores in (crowded, nested, pairs, by_columns)) / cells)

batch = [rng.random((n, n + 1)) for n in range(1, 30)] + [np.full((3, 4), -np.inf)]

def run(rounds):
    for _ in range(rounds):
        for scores in batch:
            try:
                decode(scores)
            except ValueError:
                pass
        decode_batch(batch[:-1])
        decode_batch(batch[:-1], n_threads=2)

run(20)
print(added(lambda: run(1100)))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory as Linux counts it")
def test_memory():
    """Stage 1 takes none, the worst case at most 1.6 n^2 doubles more; it is flat over 100,000 sentences."""
    printed = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True).stdout
    in_stage_1, at_worst, growth = (float(number) for number in printed.split())
    assert in_stage_1 < 0.1  # a megabyte or so of Python's own
    assert 0.5 < at_worst <= 1.6
    assert growth < 2**23  # 80 bytes a sentence
