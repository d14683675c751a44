# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Typed memoryviews in, partition functions, marginals and samples out, without the GIL. The algorithms are in the headers; the
caller has made sure that there is a tree."""
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, uint64_t
from libcpp cimport bool as cbool

cdef extern from "sampling.hh" namespace "mindroot" nogil:
    cdef cppclass Scores[T]:
        const T* data
        ptrdiff_t row_stride, column_stride
        int n

    double _matrix_tree "mindroot::matrix_tree"[T](const Scores[T]&, cbool, double*) except +
    void _sample_trees "mindroot::sample_trees"[T](
        const Scores[T]&, const int32_t*, size_t, uint64_t, int32_t*
    ) except +

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


def matrix_tree(const real[:, :] scores, double[:, ::1] marginals, bint single_root=True):
    """The logarithm of the partition function. Writes the marginals to `marginals`, (n, n+1), unless that is None.

    `scores` is (n, n+1), float32 or float64, with any strides.
    """
    cdef double log_partition
    cdef double* target = NULL
    if scores.shape[0] == 0:
        return 0.0
    if marginals is not None:
        target = &marginals[0, 0]
    with nogil:
        log_partition = _matrix_tree(_scores(scores), single_root, target)
    return log_partition


def sample_trees(const real[:, :] scores, const int32_t[::1] roots, uint64_t seed, int32_t[:, ::1] heads):
    """Writes a tree, in proportion to its exp(weight), to each row of `heads`, (size, n).

    `roots`, (size,), tells the token that alone hangs on ROOT in each; None for any number of arcs from ROOT.
    """
    cdef const int32_t* root = NULL
    if heads.shape[0] == 0 or heads.shape[1] == 0:
        return
    if roots is not None:
        root = &roots[0]
    with nogil:
        _sample_trees(_scores(scores), root, heads.shape[0], seed, &heads[0, 0])
