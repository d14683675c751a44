# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Python's access to rule_search.hh, the search for the best labelled tree under rules, which runs without the GIL.

The caller validates arguments.
"""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from ._fault cimport CFault, CFaultKind
from .fault import Fault, FaultKind
from .rules import Found

cdef extern from "rule_tables.hh" namespace "mindroot" nogil:
    cdef cppclass RuleTables:
        int n_labels, n_classes, n_head_kinds
        const int32_t* class_of
        const double* prices
        int n_unique, n_leaf, n_planar
        const uint8_t* masks
        const double* mask_prices
        const uint8_t* other
        const uint8_t* paired

    cdef cppclass PreparedRules:
        void prepare(const RuleTables&, int) except +

    cdef cppclass LabelRows[Label]:
        const Label* scores
        const int64_t* cells
        size_t size
        const int32_t* shared

cdef extern from "rule_search.hh" namespace "mindroot" nogil:
    cdef cppclass RulesFound:
        CFault fault
        cbool found
        double value, bound
        int64_t nodes
        vector[int32_t] heads, labels

    RulesFound _search "mindroot::search_rules"[Label](
        const double*, const LabelRows[Label]&, int, const int32_t*, const int32_t*, const PreparedRules&, int64_t,
        cbool, double*
    )

cdef extern from "arcs_on_demand.hh" namespace "mindroot" nogil:
    cdef cppclass ArcsOnDemand:
        vector[int64_t] dependents, heads, cells
        cbool begin(const double*, int, double) except +
        cbool bounded(const double*)
        cbool extend(const double*, double) except +

ctypedef fused real:
    float
    double


cdef class Prepared:
    """Compiled rules in the form of the core, which refers to their arrays."""

    cdef PreparedRules rules
    cdef object arrays

    def __init__(self, compiled):
        cdef const int32_t[::1] class_of = compiled.class_of
        cdef const double[:, :, :, ::1] prices = compiled.prices
        cdef const uint8_t[:, ::1] masks = compiled.masks
        cdef const double[::1] mask_prices = compiled.mask_prices
        cdef const uint8_t[::1] other = compiled.other
        cdef const uint8_t[::1] paired = compiled.paired
        cdef RuleTables tables
        tables.n_labels, tables.n_classes, tables.n_head_kinds = prices.shape[3], masks.shape[1], prices.shape[1]
        tables.n_unique, tables.n_leaf, tables.n_planar = compiled.counts
        tables.class_of, tables.prices, tables.masks = &class_of[0], &prices[0, 0, 0, 0], &masks[0, 0]
        tables.mask_prices, tables.other, tables.paired = &mask_prices[0], &other[0], &paired[0]
        self.rules.prepare(tables, <int>prices.shape[0])
        self.arrays = class_of, prices, masks, mask_prices, other, paired


cdef _result(RulesFound& found, int n, int64_t nodes):
    """Return the result of a search as Python has it. `nodes` were visited before."""
    if found.fault.kind != CFaultKind.none:
        return Fault([*FaultKind][<int>found.fault.kind - 1], 0, found.fault.dependent, found.fault.head)
    heads = labels = None
    cdef size_t size = n * sizeof(int32_t)
    if found.found:
        heads = np.frombuffer(bytearray((<char*>found.heads.data())[:size]), dtype=np.int32)
        labels = np.frombuffer(bytearray((<char*>found.labels.data())[:size]), dtype=np.int32)
    return Found(heads, labels, found.value, found.bound, nodes + found.nodes)


def search(
    const double[:, ::1] arcs, const real[:, :, ::1] labels, const int32_t[::1] kinds, const int32_t[::1] head_kinds,
    rules, int64_t max_nodes, bint projective=False, const int32_t[:, ::1] rows_of_arcs=None,
):
    """Return the best valid tree of one sentence, of at least one token and one label.

    arcs, (n, n+1): arc scores. labels, (n, n+1, labels): the score of each label of each arc; with rows_of_arcs, (rows,
    1, labels): the row that each arc has, perhaps together with others. kinds, (n,), and head_kinds, (n+1,): the kinds
    of the tokens as dependents, and of ROOT and the tokens as heads. After max_nodes relaxations, the search ends as
    soon as it has a valid tree. To find one, it goes depth-first from then on, for at most as many again, and if there
    are rules about crossing arcs, over projective trees only.

    Returns Found; or a Fault if a score, or the sum for an arc and a label, is NaN or +inf, or there is no memory.
    """
    cdef Prepared prepared = rules.prepared
    cdef LabelRows[real] rows
    rows.scores = &labels[0, 0, 0]
    if rows_of_arcs is not None:
        rows.shared = &rows_of_arcs[0, 0]
    cdef RulesFound found
    cdef int n = <int>arcs.shape[0]
    with nogil:
        found = _search(
            &arcs[0, 0], rows, n, &kinds[0], &head_kinds[0], prepared.rules, max_nodes, projective, NULL
        )
    return _result(found, n, 0)


cdef inline _array(vector[int64_t]& numbers):
    return np.frombuffer(bytearray((<char*>numbers.data())[: numbers.size() * sizeof(int64_t)]), dtype=np.int64)


def search_on_demand(
    const double[:, ::1] arcs, score_arcs, const int32_t[::1] kinds, const int32_t[::1] head_kinds, rules,
    int64_t max_nodes, bint projective=False, double within=4.0,
):
    """Return the best valid tree of one sentence. The labels of few arcs are scored: those that could be in it.

    The result is that of `search`, apart from ties and the number of nodes. score_arcs takes dependents, from 0, and
    heads, 0 = ROOT, arrays of int64, and returns the scores of all labels of each arc, float32, (arcs, labels), or
    None. No score may be greater than 0. Arcs are scored at once that are worse than the best one of their token by
    `within` at most.

    Returns None if the search has to be repeated with the labels of all arcs: score_arcs has returned None, there may
    be no valid tree, the limit was reached, or a score is greater than 0, NaN or +inf.
    """
    cdef Prepared prepared = rules.prepared
    cdef ArcsOnDemand demand
    cdef LabelRows[float] rows
    cdef RulesFound found
    cdef vector[double] best
    cdef const float[:, ::1] scores
    cdef int n = <int>arcs.shape[0]
    cdef int64_t nodes = 0
    if not demand.begin(&arcs[0, 0], n, within):
        return None
    array = None
    while True:
        more = score_arcs(_array(demand.dependents), _array(demand.heads))
        if more is None:
            return None
        array = more if array is None else np.concatenate([array, more])
        scores = array
        best.resize(demand.cells.size())
        rows.scores, rows.cells, rows.size = &scores[0, 0], demand.cells.data(), demand.cells.size()
        with nogil:
            found = _search(
                &arcs[0, 0], rows, n, &kinds[0], &head_kinds[0], prepared.rules, max_nodes, projective, best.data()
            )
        if found.fault.kind != CFaultKind.none or not found.found or found.bound > found.value:
            return None
        if not demand.bounded(best.data()):
            return None
        if not demand.extend(best.data(), found.value):
            return _result(found, n, nodes)
        nodes += found.nodes
