"""The comparison of operations, without a GPU: the same operations agree, and wrong ones do not."""

import numpy as np
import pytest
from spacy import util
from thinc.api import NumpyOps
from typer.testing import CliRunner

from scorer_helpers import DeviceOps, gold_docs


@pytest.fixture(scope="module")
def gpu():
    return __import__("benchmarks.gpu", fromlist=["gpu"])


class Wrong(NumpyOps):
    """Matrix products that are wrong by one in a hundred."""

    def gemm(self, *args, **kwargs):
        return super().gemm(*args, **kwargs) * np.float32(1.01)


def test_numpy_against_numpy(gpu):
    found = dict(gpu.compare(NumpyOps(), NumpyOps()))
    assert len(found) > 12 and set(found.values()) == {0.0}


def test_the_ways_of_a_device_compute_what_those_of_the_host_do(gpu):
    """With numpy's arrays in both: every layer and loss, outputs and gradients."""
    for name, error in gpu.compare(NumpyOps(), DeviceOps()):
        assert error < gpu.TOLERANCE, name


def test_wrong_products_are_found(gpu):
    found = dict(gpu.compare(NumpyOps(), Wrong()))
    without_gemm = {"CharacterNGrams", *(name for name in found if name.startswith("loss")), "BiLSTM"}
    assert {name for name, error in found.items() if error > gpu.TOLERANCE} >= found.keys() - without_gemm


def test_what_differs(gpu):
    one = {"a": np.array([1.0, -np.inf]), "b": np.zeros(3)}
    assert gpu.difference(one, {name: array.copy() for name, array in one.items()}) == 0
    assert gpu.difference(one, one | {"a": np.array([1.5, -np.inf])}) == 0.5
    for wrong in (
        {"a": one["a"]},
        one | {"a": np.array([1.0, 2.0])},
        one | {"b": np.zeros((3, 1))},
        one | {"b": np.full(3, np.nan)},
    ):
        assert gpu.difference(one, wrong) == float("inf")
    assert gpu.difference({}, {}) == float("inf")


def test_training_and_transfers(gpu, checkout):
    """On operations that count as a device: the same losses and heads, a transfer of arcs, and five for labels."""
    config = util.load_config(checkout / "configs" / "cpu-small.cfg")
    gold = gold_docs(count=6, per_doc=1)
    texts = [[token.text for token in doc] for doc in gold]
    nlp, losses, speed = gpu.train(config, gold, NumpyOps(), steps=4, batch=3)
    other, losses_of_other, _ = gpu.train(config, gold, DeviceOps(), steps=4, batch=3)
    assert speed > 0 and losses == pytest.approx(losses_of_other, rel=1e-3) and losses[0] != losses[-1]
    heads, speed, _ = gpu.predict(nlp, texts, NumpyOps(), batch=2)
    heads_of_other, _, transfers = gpu.predict(other, texts, DeviceOps(), batch=2)
    assert speed > 0 and transfers == 1 + 5 and [len(h) for h in heads] == [len(t) for t in texts]
    assert heads == heads_of_other


def test_it_says_so_where_there_is_no_gpu(gpu):
    from thinc.compat import has_cupy_gpu

    if has_cupy_gpu:
        pytest.skip("there is a GPU")
    main = __import__("benchmarks.__main__", fromlist=["app"])
    result = CliRunner().invoke(main.app, ["gpu"])
    assert result.exit_code == 1 and "no GPU" in result.output
