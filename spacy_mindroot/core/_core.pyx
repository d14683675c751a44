# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Typed memoryviews in, heads out, without the GIL. The algorithm is in the headers; validation is the caller's."""
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t, int64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from .fault import Fault

cdef extern from "decode.hh" namespace "mindroot" nogil:
    cdef cppclass Scores[T]:
        const T* data
        ptrdiff_t row_stride, column_stride
        int n

    cdef cppclass Sentence:
        const void* data
        ptrdiff_t row_stride, column_stride
        int n
        cbool is_double

    ctypedef enum FaultKind "mindroot::FaultKind":
        pass

    cdef cppclass CFault "mindroot::Fault":
        FaultKind kind
        int dependent
        int head

    CFault _decode "mindroot::decode"[T](const Scores[T]&, int32_t*, cbool)
    CFault _greedy_graph "mindroot::greedy_graph"[T](const Scores[T]&, int32_t*)
    size_t _decode_batch "mindroot::decode_batch"(const Sentence*, size_t, int32_t*, cbool, CFault*)
    cbool _is_tree "mindroot::is_tree"(const int32_t*, int, int*)
    int _count_roots "mindroot::count_roots"(const int32_t*, int)

cdef extern from "kbest.hh" namespace "mindroot" nogil:
    CFault _k_best "mindroot::k_best"[T](const Scores[T]&, size_t, cbool, vector[int32_t]&)

cdef extern from "projective.hh" namespace "mindroot" nogil:
    CFault _decode_projective "mindroot::decode_projective"[T](const Scores[T]&, int32_t*, cbool)

ctypedef fused real:
    float
    double

# In the order of FaultKind in arborescence.hh.
_KINDS = ("", "not_finite", "no_head", "no_arborescence", "no_single_root", "no_memory", "no_projective")


cdef object _fault(CFault fault, Py_ssize_t sentence):
    return Fault(_KINDS[<int>fault.kind], sentence, fault.dependent, fault.head)


cdef Scores[real] _scores(const real[:, :] matrix) noexcept nogil:
    cdef Scores[real] scores
    scores.n = <int>matrix.shape[0]
    scores.data = &matrix[0, 0] if scores.n > 0 else NULL
    scores.row_stride = matrix.strides[0] // <ptrdiff_t>sizeof(real)
    scores.column_stride = matrix.strides[1] // <ptrdiff_t>sizeof(real)
    return scores


cdef Sentence _sentence(const real[:, :] matrix) noexcept nogil:
    cdef Scores[real] scores = _scores(matrix)
    cdef Sentence sentence
    sentence.data = scores.data
    sentence.row_stride = scores.row_stride
    sentence.column_stride = scores.column_stride
    sentence.n = scores.n
    sentence.is_double = real is double
    return sentence


def decode(const real[:, :] scores, int32_t[::1] heads, bint single_root=True):
    """Heads of the best tree of one sentence, written to `heads`.

    `scores` is (n, n+1), float32 or float64, with any strides; `heads` is int32 (n,).
    Returns None, or the `Fault` that says why there is no such tree.
    """
    cdef CFault fault
    if scores.shape[0] == 0:
        return None
    with nogil:
        fault = _decode(_scores(scores), &heads[0], single_root)
    return _fault(fault, 0) if <int>fault.kind else None


def greedy_heads(const real[:, :] scores, int32_t[::1] heads):
    """The best head of every token, written to `heads`; they need not form a tree. Returns None or a `Fault`."""
    cdef CFault fault
    if scores.shape[0] == 0:
        return None
    with nogil:
        fault = _greedy_graph(_scores(scores), &heads[0])
    return _fault(fault, 0) if <int>fault.kind else None


def decode_projective(const real[:, :] scores, int32_t[::1] heads, bint single_root=True):
    """Heads of the best projective tree of one sentence, written to `heads`. Returns None or a `Fault`."""
    cdef CFault fault
    if scores.shape[0] == 0:
        return None
    with nogil:
        fault = _decode_projective(_scores(scores), &heads[0], single_root)
    return _fault(fault, 0) if <int>fault.kind else None


def k_best(const real[:, :] scores, size_t k, bint single_root=True):
    """Heads of the k best trees of one sentence of at least one token, or of as many as there are, best first.

    Returns their bytes, int32 (trees, n), or the `Fault` that says why there is none.
    """
    cdef CFault fault
    cdef vector[int32_t] trees
    with nogil:
        fault = _k_best(_scores(scores), k, single_root, trees)
    if <int>fault.kind:
        return _fault(fault, 0)
    return bytearray((<char*>trees.data())[:trees.size() * sizeof(int32_t)])


cdef list _decode_sentences(vector[Sentence]& sentences, int32_t[::1] heads, bint single_root):
    cdef vector[CFault] faults
    cdef size_t faulty = 0, k
    faults.resize(sentences.size())
    if heads.shape[0] > 0:
        with nogil:
            faulty = _decode_batch(sentences.data(), sentences.size(), &heads[0], single_root, faults.data())
    if faulty == 0:
        return []
    return [_fault(faults[k], k) for k in range(faults.size()) if <int>faults[k].kind]


def decode_batch(list matrices, int32_t[::1] heads, bint single_root=True):
    """Heads of a list of (n, n+1) matrices, written end to end to `heads`. Returns a list of `Fault`, empty if all is well."""
    cdef vector[Sentence] sentences
    cdef const float[:, :] singles
    cdef const double[:, :] doubles
    sentences.reserve(len(matrices))
    for matrix in matrices:  # the list keeps the arrays alive, so the pointers stay good without the views
        if matrix.itemsize == sizeof(double):
            doubles = matrix
            sentences.push_back(_sentence(doubles))
        else:
            singles = matrix
            sentences.push_back(_sentence(singles))
    return _decode_sentences(sentences, heads, single_root)


def decode_flat(const real[:] flat, const int64_t[::1] lengths, int32_t[::1] heads, bint single_root=True):
    """The same for (n, n+1) matrices that lie end to end in `flat`; `lengths` holds each n."""
    cdef vector[Sentence] sentences
    cdef Sentence sentence
    cdef Py_ssize_t k, at = 0
    sentences.reserve(lengths.shape[0])
    sentence.column_stride = flat.strides[0] // <ptrdiff_t>sizeof(real)
    sentence.is_double = real is double
    for k in range(lengths.shape[0]):
        sentence.n = <int>lengths[k]
        sentence.row_stride = (sentence.n + 1) * sentence.column_stride
        sentence.data = &flat[at] if sentence.n > 0 else NULL
        sentences.push_back(sentence)
        at += lengths[k] * (lengths[k] + 1)
    return _decode_sentences(sentences, heads, single_root)


def relative_heads(
    const int32_t[::1] heads, const int64_t[::1] lengths, int64_t[::1] offsets, int64_t[::1] starts
):
    """Heads of several sentences, end to end, as distances from the token to its head, 0 for a root.

    Writes these to `offsets`, and to `starts` 1 for the first token of a sentence and -1 for the others. Returns the first
    sentence whose heads are not a tree with a single root, and stops there; -1 if there is none.
    """
    cdef vector[int] seen
    cdef Py_ssize_t k, at = 0
    cdef int n, i
    seen.resize(heads.shape[0])
    for k in range(lengths.shape[0]):
        n = <int>lengths[k]
        if n == 0:
            continue
        if not _is_tree(&heads[at], n, seen.data()) or _count_roots(&heads[at], n) != 1:
            return k
        for i in range(n):
            offsets[at + i] = heads[at + i] - 1 - i if heads[at + i] else 0
            starts[at + i] = -1 if i else 1
        at += n
    return -1


def is_tree(const int32_t[::1] heads):
    """Do the heads (0 = ROOT) form a tree, with any number of roots?"""
    cdef vector[int] seen
    if heads.shape[0] == 0:
        return True
    seen.resize(heads.shape[0])
    return _is_tree(&heads[0], <int>heads.shape[0], seen.data())
