"""The long runs, at a small size: they go through, and their checks hold."""

import pytest


@pytest.fixture(scope="module")
def longruns():
    return __import__("benchmarks.longruns", fromlist=["longruns"])


def test_memory_is_measured_over_any_number_of_sentences(longruns):
    for run in longruns.MEMORY.values():
        first, last, seconds = longruns.measure_memory(run, 2000)
        assert first > 0 and last < first + (64 << 20) and seconds > 0


def test_a_pipeline_shared_by_threads_and_one_left_half_way(longruns):
    assert longruns.shared_by_threads(threads=4, count=40)
    assert longruns.abandoned_pipe(rounds=5)
