"""Matrix products: with numpy's BLAS on one thread, or with BLIS, as in thinc.

The two round differently, so the choice follows from the libraries alone, never from a measurement: training with the
same seed gives the same pipeline. It is made by layer, since thinc keeps its operations (`Ops`) in each node of a
model. Other pipelines in the process are not affected.
"""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar

from spacy.language import Language
from thinc.api import Model, NumpyOps
from threadpoolctl import ThreadpoolController

__all__ = [
    "NumpyProducts",
    "make_product_setter",
    "on_one_thread",
    "one_thread",
    "products_in_use",
    "set_products",
]

ModelT = TypeVar("ModelT", bound=Model)

_KEY = "products"  # in the meta of a pipeline
_CHOSEN = "products"  # the attribute that holds the type of operations chosen for a layer; it is never saved


class NumpyProducts(NumpyOps):
    """thinc's operations for CPUs, with numpy's matrix products on one thread in place of BLIS."""

    def __init__(self, device_type: str = "cpu", device_id: int = -1) -> None:
        super().__init__(device_type, device_id, use_blis=False)

    def gemm(self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
        if _threads.users:  # in one_thread() already
            return super().gemm(x, y, out=out, trans1=trans1, trans2=trans2)
        with one_thread():
            return super().gemm(x, y, out=out, trans1=trans1, trans2=trans2)


class _Threads:
    """The number of threads of numpy's BLAS, if that is an OpenBLAS. The functions are None if it is not."""

    def __init__(self) -> None:
        self.get, self.set = _find_functions()
        self.reset()
        if hasattr(os, "register_at_fork"):  # another thread may hold the lock
            os.register_at_fork(after_in_child=self.reset)

    def reset(self) -> None:
        self.lock = threading.Lock()
        self.users = 0  # calls of one_thread() in progress, in all threads of the process
        self.before = 1


def _find_functions() -> tuple[Callable[[], int] | None, Callable[[int], None] | None]:
    """Return OpenBLAS's functions for the number of threads. If other packages have one too, numpy's is meant."""
    found = ThreadpoolController().select(internal_api="openblas").lib_controllers
    own = [library for library in found if "numpy" in Path(library.filepath).parent.name] or found
    return (own[0].get_num_threads, own[0].set_num_threads) if own else (None, None)


_threads = _Threads()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run numpy's products on one thread, and restore the number of threads afterwards.

    A layer computes many small products. Sharing one among several threads gains little on idle cores. On busy cores,
    where the threads wait for each other, it takes up to a hundred times as long. The setting holds for the whole
    process, so that products in other Python threads use one thread, too, in the meantime. There is no effect if
    numpy's BLAS is not an OpenBLAS.
    """
    threads = _threads
    if threads.get is None or threads.set is None:
        yield
        return
    with threads.lock:
        if threads.users == 0:
            threads.before = threads.get()
            if threads.before != 1:
                threads.set(1)
        threads.users += 1
    try:
        yield
    finally:
        with threads.lock:
            threads.users -= 1
            if threads.users == 0 and threads.before != 1:
                threads.set(threads.before)


def on_one_thread(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate the forward function of a layer: it and the backprop that it returns run in `one_thread()`.

    A layer that is a copy gets the products of the original first, since `Model.copy` leaves thinc's default.
    """

    @wraps(forward)
    def forward_on_one_thread(model: Any, inputs: Any, is_train: bool) -> Any:
        if type(model.ops) is NumpyOps and model.attrs.get(_CHOSEN) is NumpyProducts:
            set_products(model, "numpy")
        with one_thread():
            outputs, backprop = forward(model, inputs, is_train)

        def backprop_on_one_thread(d_outputs: Any) -> Any:
            with one_thread():
                return backprop(d_outputs)

        return outputs, backprop_on_one_thread

    return forward_on_one_thread


def set_products(model: ModelT, products: Literal["auto", "numpy", "blis"] = "auto") -> ModelT:
    """Choose the matrix products of all layers of a model that run on thinc's `NumpyOps`, and return the model.

    Layers on other operations (a GPU, Apple's Accelerate, `NumpyOps(use_blis=False)`) are left as they are. A copy of
    one of our embeddings or encoders, as `nlp.replace_listeners` makes one, chooses the same at its first call.

    model (Model): The model.
    products (str): "numpy" for numpy's BLAS, on one thread; "blis" for thinc's default; "auto" for numpy's if it is an
        OpenBLAS, as in its wheels for Linux and Windows, and else for thinc's default. An OpenBLAS is about as fast as
        BLIS on processors without AVX, and 2 to 4 times as fast on others. The number of threads of another BLAS can't
        be set, and products on several threads may be very slow.
    """
    to_numpy = products == "numpy" or (products == "auto" and _threads.get is not None)
    for node in model.walk():
        if to_numpy and type(node.ops) is NumpyOps and node.ops.use_blis:
            node.ops = NumpyProducts()
        elif not to_numpy and type(node.ops) is NumpyProducts:
            node.ops = NumpyOps()
        # A type, which thinc can't write: the config of a pipeline decides when it is loaded.
        node.attrs[_CHOSEN] = type(node.ops)
    return model


def products_in_use(nlp: Language) -> str:
    """Return "numpy" if any layer of a pipeline uses numpy's products, and else "blis"."""
    for model in _models(nlp):
        if any(type(node.ops) is NumpyProducts for node in model.walk()):
            return "numpy"
    return "blis"


def make_product_setter(products: Literal["auto", "numpy", "blis"] = "auto") -> Callable[[Language], Language]:
    """Return a callback that chooses the matrix products of a pipeline.

    It is for `after_pipeline_creation` in the `[nlp]` block of a config. It covers all components, spaCy's own
    included. The choice is in `nlp.meta["products"]`. A saved pipeline keeps the one that it was trained with there.

    products (str): See `set_products`.
    """

    def set_products_of_pipeline(nlp: Language) -> Language:
        for model in _models(nlp):
            set_products(model, products)
        nlp.meta[_KEY] = products_in_use(nlp)
        return nlp

    return set_products_of_pipeline


def _models(nlp: Language) -> Iterator[Model]:
    for _, component in nlp.components:
        model = getattr(component, "model", None)
        if isinstance(model, Model):
            yield model
