# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Typed memoryviews in, partition functions, marginals and samples out, without the GIL. The algorithms are in the headers; the
caller has made sure that there is a tree."""
from libc.stddef cimport ptrdiff_t, size_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

cdef extern from "matrix_tree.hh" namespace "mindroot" nogil:
    cdef cppclass Scores[T]:
        const T* data
        ptrdiff_t row_stride, column_stride
        int n

    double _matrix_tree "mindroot::matrix_tree"[T](const Scores[T]&, cbool, double*) except +

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
