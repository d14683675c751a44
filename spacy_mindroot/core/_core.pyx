# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Arrays in, heads out, without the GIL. The algorithm is in the headers; validation is the caller's.

What is called once a sentence reads buffers itself: typed memoryviews and fused types cost more than a short sentence.
"""
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_RECORDS_RO, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t, int64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from .fault import Fault

cdef extern from "decode.hh" namespace "mindroot" nogil:
    cdef cppclass Sentence:
        const void* data
        ptrdiff_t row_stride, column_stride
        int n
        cbool is_double
        int32_t* heads

    ctypedef enum FaultKind "mindroot::FaultKind":
        pass

    cdef cppclass CFault "mindroot::Fault":
        FaultKind kind
        int dependent
        int head

    CFault _decode "mindroot::decode_sentence"(const Sentence&, cbool)
    CFault _greedy_graph "mindroot::greedy_graph"(const Sentence&)
    size_t _decode_batch "mindroot::decode_batch"(const Sentence*, size_t, cbool, int, CFault*)
    cbool _is_tree "mindroot::is_tree"(const int32_t*, int, int*)

cdef extern from "kbest.hh" namespace "mindroot" nogil:
    CFault _k_best "mindroot::k_best"(const Sentence&, size_t, cbool, vector[int32_t]&)

cdef extern from "projective.hh" namespace "mindroot" nogil:
    CFault _decode_projective "mindroot::decode_projective"(const Sentence&, cbool)

ctypedef fused real:
    float
    double

cdef object _ndarray = np.ndarray  # a C variable, which is quicker to look up
cdef Py_ssize_t MOST_TOKENS = 1 << 30  # so that the number of a token, and of a node, is an int

# In the order of FaultKind in arborescence.hh.
_KINDS = ("", "not_finite", "no_head", "no_arborescence", "no_single_root", "no_memory", "no_projective")


cdef object _fault(CFault fault, Py_ssize_t sentence):
    return Fault(_KINDS[<int>fault.kind], sentence, fault.dependent, fault.head)


cdef bint _read(object array, Sentence* sentence) except -1:
    """Is the array a matrix (n, n+1) of native, aligned float32 or float64, with any strides? Then where its scores are.

    The pointers stay good as long as the caller keeps the array: it is not resized, since there is a second reference to it.
    """
    cdef Py_buffer view
    cdef ptrdiff_t size
    if type(array) is not _ndarray:
        return False
    PyObject_GetBuffer(array, &view, PyBUF_RECORDS_RO)
    size = view.itemsize
    cdef bint readable = (
        view.ndim == 2 and view.shape[1] == view.shape[0] + 1 and view.shape[0] < MOST_TOKENS
        and (view.format[0] == b"f" or view.format[0] == b"d") and view.format[1] == 0
        and <size_t>view.buf % size == 0 and view.strides[0] % size == 0 and view.strides[1] % size == 0
    )
    if readable:
        sentence.data = view.buf
        sentence.row_stride = view.strides[0] // size
        sentence.column_stride = view.strides[1] // size
        sentence.n = <int>view.shape[0]
        sentence.is_double = view.format[0] == b"d"
    PyBuffer_Release(&view)
    return readable


cdef Sentence _sentence(object array) except *:
    cdef Sentence sentence
    if not _read(array, &sentence):
        raise TypeError("not an array that is_readable()")
    return sentence


cdef int32_t* _room(object heads, Py_ssize_t n) except? NULL:
    """Where `heads` are to be written: a contiguous int32 array of at least n."""
    cdef Py_buffer view
    PyObject_GetBuffer(heads, &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    cdef bint fits = view.ndim == 1 and view.shape[0] >= n and view.format[0] == b"i" and view.format[1] == 0
    cdef int32_t* room = <int32_t*>view.buf
    PyBuffer_Release(&view)
    if not fits:
        raise TypeError(f"not room for {n} heads")
    return room


def is_readable(array):
    """Does the core read this array as it is: (n, n+1), float32 or float64, native and aligned, of any strides?"""
    cdef Sentence sentence
    return _read(array, &sentence)


def decode(scores, heads, bint single_root=True):
    """Heads of the best tree of one sentence, written to `heads`.

    `scores` is an array that `is_readable`; `heads` is int32 (n,).
    Returns None, or the `Fault` that says why there is no such tree.
    """
    cdef Sentence sentence = _sentence(scores)
    cdef CFault fault
    sentence.heads = _room(heads, sentence.n)
    with nogil:
        fault = _decode(sentence, single_root)
    return _fault(fault, 0) if <int>fault.kind else None


def greedy_heads(scores, heads):
    """The best head of every token, written to `heads`; they need not form a tree. Returns None or a `Fault`."""
    cdef Sentence sentence = _sentence(scores)
    cdef CFault fault
    sentence.heads = _room(heads, sentence.n)
    with nogil:
        fault = _greedy_graph(sentence)
    return _fault(fault, 0) if <int>fault.kind else None


def decode_projective(scores, heads, bint single_root=True):
    """Heads of the best projective tree of one sentence: as `decode`."""
    cdef Sentence sentence = _sentence(scores)
    cdef CFault fault
    sentence.heads = _room(heads, sentence.n)
    with nogil:
        fault = _decode_projective(sentence, single_root)
    return _fault(fault, 0) if <int>fault.kind else None


def k_best(scores, size_t k, bint single_root=True):
    """Heads of the k best trees of one sentence of at least one token, or of as many as there are, best first.

    Returns their bytes, int32 (trees, n), or the `Fault` that says why there is none.
    """
    cdef Sentence sentence = _sentence(scores)
    cdef CFault fault
    cdef vector[int32_t] trees
    with nogil:
        fault = _k_best(sentence, k, single_root, trees)
    if <int>fault.kind:
        return _fault(fault, 0)
    return bytearray((<char*>trees.data())[:trees.size() * sizeof(int32_t)])


cdef int _place(vector[Sentence]& sentences, object heads) except -1:
    """The heads of all sentences go end to end into one array."""
    cdef size_t k
    cdef Py_ssize_t tokens = 0
    for k in range(sentences.size()):
        tokens += sentences[k].n
    cdef int32_t* room = _room(heads, tokens)
    for k in range(sentences.size()):
        sentences[k].heads = room
        room += sentences[k].n
    return 0


cdef list _decode_sentences(vector[Sentence]& sentences, bint single_root, int n_threads):
    cdef vector[CFault] faults
    cdef size_t faulty = 0, k
    faults.resize(sentences.size())
    with nogil:
        faulty = _decode_batch(sentences.data(), sentences.size(), single_root, n_threads, faults.data())
    if faulty == 0:
        return []
    return [_fault(faults[k], k) for k in range(faults.size()) if <int>faults[k].kind]


def decode_batch(list matrices, heads, bint single_root=True, int n_threads=1):
    """Heads of a list of matrices, each as for `decode`, written end to end to `heads`; the sentences are spread over threads.

    Returns a list of `Fault`, empty if all is well.
    """
    cdef vector[Sentence] sentences
    sentences.reserve(len(matrices))
    for matrix in matrices:
        sentences.push_back(_sentence(matrix))
    _place(sentences, heads)
    return _decode_sentences(sentences, single_root, n_threads)


def measure(const int64_t[::1] lengths):
    """The tokens of sentences of these lengths, and their arc scores (2^62 for any more). None if a length is out of range."""
    cdef int64_t tokens = 0, scores = 0, most = <int64_t>1 << 62
    cdef Py_ssize_t k
    for k in range(lengths.shape[0]):
        if not 0 <= lengths[k] < MOST_TOKENS:
            return None
        tokens += lengths[k]
        scores = min(most, scores + lengths[k] * (lengths[k] + 1))
    return tokens, scores


def decode_flat(
    const real[:] flat, const int64_t[::1] lengths, heads, bint single_root=True, int n_threads=1
):
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
    _place(sentences, heads)
    return _decode_sentences(sentences, single_root, n_threads)


def is_tree(const int32_t[::1] heads):
    """Do the heads (0 = ROOT) form a tree, with any number of roots?"""
    cdef vector[int] above
    if heads.shape[0] == 0:
        return True
    above.resize(heads.shape[0] + 1)
    return _is_tree(&heads[0], <int>heads.shape[0], above.data())
