"""Matrix products: by a fixed rule, on one thread, and for our own layers only."""

import multiprocessing
import pickle
import sys
import threading

import numpy as np
import pytest
import spacy
from thinc.api import Linear, NumpyOps, Ops, chain

from spacy_mindroot.arc_scorer import products
from spacy_mindroot.arc_scorer.bilstm import BiLSTM
from spacy_mindroot.arc_scorer.embedding import build_ngram_hash_embed
from spacy_mindroot.arc_scorer.encoder import build_cnn_bilstm
from spacy_mindroot.arc_scorer.products import (
    NumpyProducts,
    make_product_setter,
    on_one_thread,
    one_thread,
    products_in_use,
    set_products,
)


class FakeThreads:
    """Stands in for an OpenBLAS, and keeps all numbers that were set."""

    def __init__(self, count):
        self.count, self.history = count, []
        self.lock, self.users, self.before = threading.Lock(), 0, 1

    def get(self):
        return self.count

    def set(self, count):
        self.count = count
        self.history.append(count)


@pytest.fixture
def threads(monkeypatch):
    fake = FakeThreads(8)
    monkeypatch.setattr(products, "_threads", fake)
    return fake


def test_the_number_of_threads_is_restored(threads):
    with one_thread():
        assert threads.count == 1
        with one_thread():
            assert threads.count == 1
        assert threads.count == 1
    assert threads.history == [1, 8]
    with pytest.raises(ZeroDivisionError), one_thread():
        1 / 0  # noqa: B018
    assert threads.count == 8


def test_a_single_thread_stays_as_it_is(threads):
    threads.count = 1
    with one_thread():
        pass
    assert threads.history == []


def test_sections_that_overlap_in_two_threads(threads):
    """The first one to end must not set the threads of the other."""
    inside, leave = threading.Event(), threading.Event()

    def other():
        with one_thread():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with one_thread():
        thread.start()
        assert inside.wait(10)
    assert threads.count == 1
    leave.set()
    thread.join()
    assert threads.count == 8 and threads.history == [1, 8]


def test_forward_and_backprop_run_on_one_thread(threads):
    seen = []

    @on_one_thread
    def forward(model, inputs, is_train):
        seen.append(threads.count)
        return inputs, lambda d_outputs: seen.append(threads.count)

    forward(Linear(2, 2), None, True)[1](None)
    assert seen == [1, 1] and threads.count == 8
    NumpyProducts().gemm(np.ones((2, 2), dtype="f"), np.ones((2, 2), dtype="f"))
    assert threads.history == [1, 8] * 3


def test_without_an_openblas(monkeypatch, threads):
    threads.get = threads.set = None
    with one_thread():
        pass
    assert set(kinds(set_products(Linear(2, 2)))) == {NumpyOps}


class Found:
    """Stands in for a ThreadpoolController, which has found libraries at some paths."""

    def __init__(self, *paths):
        kinds = {"get_num_threads": lambda self: self.filepath, "set_num_threads": None}
        self.lib_controllers = [type("Library", (), {"filepath": path, **kinds})() for path in paths]

    def select(self, **wanted):
        assert wanted == {"internal_api": "openblas"}
        return self


@pytest.mark.parametrize(
    ("paths", "chosen"),
    [
        ((), None),
        (("/env/lib/libopenblas.so",), "/env/lib/libopenblas.so"),
        (("/x/scipy.libs/a.so", "/x/numpy.libs/b.so"), "/x/numpy.libs/b.so"),
    ],
)
def test_which_openblas(monkeypatch, paths, chosen):
    monkeypatch.setattr(products, "ThreadpoolController", lambda: Found(*paths))
    get, _ = products._find_functions()
    assert (None if get is None else get()) == chosen


def test_numpy_of_this_machine():
    """Wheels of numpy for Linux contain an OpenBLAS, whose threads are found and set."""
    real = products._threads
    if real.get is None:
        pytest.skip("numpy's BLAS is not an OpenBLAS that can be reached")
    before = real.get()
    with one_thread():
        assert real.get() == 1
    assert real.get() == before >= 1


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_fork_in_the_middle(threads):
    """The lock may be held at that moment, by a thread that the child does not have."""
    real = products._Threads()
    with real.lock:
        real.users = 3
        queue = multiprocessing.get_context("fork").SimpleQueue()
        child = multiprocessing.get_context("fork").Process(target=lambda: queue.put((real.lock.locked(), real.users)))
        child.start()
        child.join()
    assert queue.get() == (False, 0)


@pytest.mark.parametrize("trans1", [False, True])
@pytest.mark.parametrize("trans2", [False, True])
def test_products_are_those_of_blis(rng, trans1, trans2):
    x = rng.normal(size=(7, 5) if trans1 else (5, 7)).astype("f")
    y = rng.normal(size=(3, 7) if trans2 else (7, 3)).astype("f")
    out = np.empty((5, 3), dtype="f")
    expected = NumpyOps().gemm(x, y, trans1=trans1, trans2=trans2)
    ops = pickle.loads(pickle.dumps(NumpyProducts()))
    np.testing.assert_allclose(ops.gemm(x, y, trans1=trans1, trans2=trans2), expected, rtol=1e-5)
    assert ops.gemm(x, y, out=out, trans1=trans1, trans2=trans2) is out
    np.testing.assert_allclose(out, expected, rtol=1e-5)


def kinds(model):
    return [type(node.ops) for node in model.walk()]


def test_set_products():
    model = chain(Linear(2, 2), Linear(2, 2))
    assert set_products(model, "numpy") is model and set(kinds(model)) == {NumpyProducts}
    assert not any(node.ops.use_blis for node in model.walk())
    set_products(model, "blis")
    assert set(kinds(model)) == {NumpyOps} and all(node.ops.use_blis for node in model.walk())


def test_auto_follows_from_the_libraries_alone(threads, monkeypatch):
    """A measurement would choose by how busy the machine is, and the two round differently."""
    monkeypatch.setattr(NumpyOps, "gemm", None)
    assert set(kinds(set_products(Linear(2, 2), "auto"))) == {NumpyProducts}
    threads.get = threads.set = None
    assert set(kinds(set_products(Linear(2, 2), "auto"))) == {NumpyOps}


@pytest.mark.parametrize("chosen", ["numpy", "blis"])
def test_the_meta_of_a_saved_pipeline_keeps_what_it_was_trained_with(chosen, threads, tmp_path):
    other = {"numpy": "blis", "blis": "numpy"}[chosen]
    nlp = spacy.blank("en", config={"nlp": {"after_pipeline_creation": callback(chosen)}})
    assert nlp.meta["products"] == "blis"  # nothing to multiply yet
    nlp.add_pipe("senter")
    nlp = spacy.util.load_model_from_config(nlp.config)
    assert nlp.meta["products"] == products_in_use(nlp) == chosen
    nlp.initialize()
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path, config={"nlp": {"after_pipeline_creation": callback(other)}})
    assert products_in_use(loaded) == other and loaded.meta["products"] == chosen


def callback(products):
    return {"@callbacks": "spacy-mindroot.set_products.v1", "products": products}


@pytest.mark.parametrize("ops", [Ops(), NumpyOps(use_blis=False)], ids=["another device", "chosen by the user"])
def test_other_operations_are_left_alone(ops):
    model = BiLSTM(4, 4)
    model.ops = ops
    for choice in ("numpy", "auto", "blis"):
        assert set_products(model, choice).ops is ops


def test_the_callback_reaches_all_components_and_no_other_pipeline():
    nlp, other = spacy.blank("en"), spacy.blank("en")
    for pipeline in (nlp, other):
        for name in ("tok2vec", "tagger", "sentencizer"):
            pipeline.add_pipe(name)
    nlp.disable_pipe("tagger")
    assert make_product_setter("numpy")(nlp) is nlp
    for name in ("tok2vec", "tagger"):
        assert dict(nlp.components)[name].model.ops.use_blis is False
        assert set(kinds(dict(nlp.components)[name].model)) == {NumpyProducts}
        assert set(kinds(other.get_pipe(name).model)) == {NumpyOps}


@pytest.mark.parametrize("products", ["numpy", "blis"])
def test_a_layer_multiplies_on_one_thread(products, threads, monkeypatch):
    """On several, a sentence of 250 tokens took 5 to 100 times as long where the cores were busy."""
    seen = []

    def spy(product):
        return lambda *arguments, **options: seen.append(threads.count) or product(*arguments, **options)

    monkeypatch.setattr(np, "matmul", spy(np.matmul))
    if products == "numpy":
        monkeypatch.setattr(NumpyOps, "gemm", spy(NumpyOps.gemm))
    layer, X = set_products(build_cnn_bilstm(8), products), [np.ones((5, 8), dtype="f")]
    layer.initialize(X=X)
    Y, backprop = layer.begin_update(X)
    forward = len(seen)
    backprop(Y)
    assert len(seen) > forward > 0 and set(seen) == {1} and threads.count == 8


def products_of(model):
    return {type(node.ops) for node in model.walk()}


@pytest.mark.parametrize("build", ["embedding", "encoder"])
def test_a_copy_has_the_products_of_the_original(build):
    """As `nlp.replace_listeners` makes one: thinc's copies begin with the default."""
    if build == "encoder":
        model, X = build_cnn_bilstm(8), [np.ones((3, 8), dtype="f")]
    else:
        model, X = build_ngram_hash_embed(8, ["NORM"], [20]), [spacy.blank("en")("a cat")]
    model.initialize(X=X)
    for chosen, expected in (("numpy", NumpyProducts), ("blis", NumpyOps)):
        copied = set_products(model, chosen).copy()
        assert products_of(copied) == {NumpyOps}
        copied.predict(X)
        assert products_of(copied) == {expected}
        again = copied.copy()
        again.predict(X)
        assert products_of(again) == {expected}


def test_the_choice_is_not_saved():
    """The config of a pipeline makes it anew."""
    saved = set_products(build_cnn_bilstm(8), "numpy")
    saved.initialize()
    loaded = set_products(build_cnn_bilstm(8), "blis").from_bytes(saved.to_bytes())
    loaded.predict([np.ones((3, 8), dtype="f")])
    assert products_of(loaded) == {NumpyOps}
