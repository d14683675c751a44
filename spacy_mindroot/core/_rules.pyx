# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Python's access to the search for the best labelled tree under rules, which is in rules.hh and runs without the GIL.

The caller validates arguments.
"""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from .fault import Fault, FaultKind
from .rules_reference import Found

cdef extern from "rules.hh" namespace "mindroot" nogil:
    cdef enum class CFaultKind "mindroot::FaultKind"(int):
        none
        not_finite
        no_memory

    cdef cppclass CFault "mindroot::Fault":
        CFaultKind kind
        int dependent
        int head

    cdef cppclass RuleTables:
        int n_labels, n_classes, n_head_kinds
        const int32_t* class_of
        const double* prices
        int n_unique, n_leaf, n_planar
        const uint8_t* unique
        const uint8_t* leaf
        const uint8_t* below
        const uint8_t* planar
        const uint8_t* other
        const uint8_t* paired
        const double* unique_prices
        const double* leaf_prices
        const double* planar_prices

    cdef cppclass RulesFound:
        CFault fault
        cbool found
        double value, bound
        int64_t nodes
        vector[int32_t] heads, labels

    RulesFound _search "mindroot::search_rules"[Label](
        const double*, const Label*, int, const int32_t*, const int32_t*, const RuleTables&, int64_t, cbool
    )

ctypedef fused real:
    float
    double


cdef inline const uint8_t* _bytes(const uint8_t[:, ::1] array) noexcept:
    return &array[0, 0] if array.shape[0] and array.shape[1] else NULL


cdef inline const double* _doubles(const double[::1] array) noexcept:
    return &array[0] if array.shape[0] else NULL


def search(
    const double[:, ::1] arcs, const real[:, :, ::1] labels, const int32_t[::1] kinds, const int32_t[::1] head_kinds,
    rules, int64_t max_nodes, bint projective=False,
):
    """Return the best valid tree of one sentence, of at least one token and one label. See `rules_reference.search`."""
    cdef const int32_t[::1] class_of = rules.class_of
    cdef const double[:, :, :, ::1] prices = rules.prices
    cdef const uint8_t[:, ::1] unique = rules.unique
    cdef const uint8_t[:, :, ::1] leaf = rules.leaf
    cdef const uint8_t[:, ::1] planar = rules.planar
    cdef const uint8_t[::1] other = rules.other
    cdef const uint8_t[::1] paired = rules.paired
    cdef const double[::1] unique_prices = rules.unique_prices
    cdef const double[::1] leaf_prices = rules.leaf_prices
    cdef const double[::1] planar_prices = rules.planar_prices
    cdef RuleTables tables
    tables.n_labels = <int>labels.shape[2]
    tables.n_classes = rules.n_classes
    tables.n_head_kinds = <int>prices.shape[1]
    tables.class_of = &class_of[0]
    tables.prices = &prices[0, 0, 0, 0]
    tables.n_unique = <int>unique.shape[0]
    tables.n_leaf = <int>leaf.shape[1]
    tables.n_planar = <int>planar.shape[0]
    tables.unique = _bytes(unique)
    tables.leaf = &leaf[0, 0, 0] if tables.n_leaf else NULL
    tables.below = &leaf[1, 0, 0] if tables.n_leaf else NULL
    tables.planar = _bytes(planar)
    tables.other = &other[0] if tables.n_planar else NULL
    tables.paired = &paired[0] if tables.n_planar else NULL
    tables.unique_prices = _doubles(unique_prices)
    tables.leaf_prices = _doubles(leaf_prices)
    tables.planar_prices = _doubles(planar_prices)
    cdef RulesFound found
    cdef int n = <int>arcs.shape[0]
    with nogil:
        found = _search(&arcs[0, 0], &labels[0, 0, 0], n, &kinds[0], &head_kinds[0], tables, max_nodes, projective)
    if found.fault.kind == CFaultKind.not_finite:
        return Fault(FaultKind.NOT_FINITE, 0, found.fault.dependent, found.fault.head)
    if found.fault.kind == CFaultKind.no_memory:
        return Fault(FaultKind.NO_MEMORY, 0, 0, 0)
    heads = found_labels = None
    cdef size_t size = n * sizeof(int32_t)
    if found.found:
        heads = np.frombuffer(bytearray((<char*>found.heads.data())[:size]), dtype=np.int32)
        found_labels = np.frombuffer(bytearray((<char*>found.labels.data())[:size]), dtype=np.int32)
    return Found(heads, found_labels, found.value, found.bound, found.nodes)
