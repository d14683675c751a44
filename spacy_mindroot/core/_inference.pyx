# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Python's access to partition functions, marginals and samples. The headers do the work, without the GIL.

The caller makes sure that there is a tree.
"""
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, uint64_t
from libcpp cimport bool as cbool

cdef extern from "sampling.hh" namespace "mindroot" nogil:
    cdef cppclass Scores[T]:
        const T* data
        ptrdiff_t row_stride, column_stride
        int n

    void _sample_trees "mindroot::sample_trees"[T](
        const Scores[T]&, const int32_t*, size_t, uint64_t, int32_t*
    ) except +

cdef extern from "masks.hh" namespace "mindroot" nogil:
    double MASKED
    void _forbid_masks "mindroot::forbid_masks"(double*, int, cbool, cbool, double) except +

cdef extern from "inside_outside.hh" namespace "mindroot" nogil:
    double _log_partition "mindroot::log_partition"[T](const Scores[T]&, cbool, cbool, double*) except +

ctypedef fused real:
    float
    double


cdef Scores[real] _scores(const real[:, :] matrix) noexcept nogil:
    cdef Scores[real] scores
    scores.n = <int>matrix.shape[0]
    scores.data = &matrix[0, 0] if scores.n > 0 else NULL
    scores.row_stride = matrix.strides[0] // <ptrdiff_t>sizeof(real)
    scores.column_stride = matrix.strides[1] // <ptrdiff_t>sizeof(real)
    return scores


def log_partition(const real[:, :] scores, double[:, ::1] marginals, bint single_root=True, bint projective=False):
    """Return the logarithm of the partition function, and write the probability of each arc to `marginals`.

    scores, (n, n+1): float32 or float64, with any strides. The self arcs don't matter. marginals: float64, laid out
    like the scores; None saves the time to compute them. `single_root`, `projective`: the trees that the distribution
    is over. If there is no projective tree, -inf is returned, and `marginals` stay as they are.
    """
    cdef double found
    cdef double* target = NULL
    if scores.shape[0] == 0:
        return 0.0
    if marginals is not None:
        target = &marginals[0, 0]
    with nogil:
        found = _log_partition(_scores(scores), single_root, projective, target)
    return found


def forbid_masks(double[:, ::1] scores, bint single_root=True, bint projective=False, double temperature=1):
    """Set arcs that are masked with large finite numbers to -inf, in place. See masks.hh.

    The scores are as for `log_partition`, float64, divided by the temperature.
    """
    if scores.shape[0] > 0:
        with nogil:
            _forbid_masks(&scores[0, 0], <int>scores.shape[0], single_root, projective, MASKED / temperature)


def sample_trees(const real[:, :] scores, const int32_t[::1] roots, uint64_t seed, int32_t[:, ::1] heads):
    """Write a random tree to each row of `heads`, int32, (size, n). Its probability is in proportion to exp(weight).

    The scores are as for `log_partition`. roots, (size,), int32: the only root of each tree, counted from 0; None for
    trees with any number of roots. The same seed gives the same trees on every platform.
    """
    cdef const int32_t* root = NULL
    if heads.shape[0] == 0 or heads.shape[1] == 0:
        return
    if roots is not None:
        root = &roots[0]
    with nogil:
        _sample_trees(_scores(scores), root, heads.shape[0], seed, &heads[0, 0])
