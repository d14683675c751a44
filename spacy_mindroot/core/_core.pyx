# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Python's access to the decoders, which are in the headers and run without the GIL. The caller validates arguments.

Functions that are called for every sentence read buffers themselves: typed memoryviews and fused types would take
longer than decoding a short sentence.
"""
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_RECORDS_RO, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t, int64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from ._fault cimport CFault
from .fault import Fault, FaultKind

cdef extern from "projective.hh" namespace "mindroot" nogil:
    cdef cppclass Sentence:
        const void* data
        ptrdiff_t row_stride, column_stride
        int n
        cbool is_double
        int32_t* heads

    CFault _decode "mindroot::decode_sentence"(const Sentence&, cbool, cbool)
    CFault _greedy_graph "mindroot::greedy_graph"(const Sentence&)
    size_t _decode_batch "mindroot::decode_batch"(const Sentence*, size_t, cbool, cbool, int, CFault*)
    cbool _is_tree "mindroot::is_tree"(const int32_t*, int, int*)

cdef extern from "kbest.hh" namespace "mindroot" nogil:
    CFault _k_best "mindroot::k_best"(const Sentence&, size_t, cbool, cbool, vector[int32_t]&)
    CFault _best_others "mindroot::best_others"(const Sentence*, size_t, cbool, double*, double*, char*)

cdef extern from "confidence.hh" namespace "mindroot" nogil:
    cdef cppclass Mixture:
        double temperature, lapse
        cbool projective

    void _confidence_batch "mindroot::confidence_batch"(
        const Sentence*, size_t, const Mixture&, double*, double*, double*, double**
    ) except +

ctypedef fused real:
    float
    double

cdef object _ndarray = np.ndarray  # a C variable is faster to look up
cdef Py_ssize_t MOST_TOKENS = 1 << 30  # the number of a token or a node must fit into an int

_KINDS = (None, *FaultKind)


cdef object _fault(CFault fault, Py_ssize_t sentence):
    return Fault(_KINDS[<int>fault.kind], sentence, fault.dependent, fault.head)


cdef bint _read(object array, Sentence* sentence) except -1:
    """Whether the array is a matrix (n, n+1) of native, aligned float32 or float64, with any strides.

    If so, its location is written to `sentence`. The pointers are valid as long as the caller keeps the array. NumPy
    does not resize it meanwhile, since there is more than one reference to it.
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
    """The memory of `heads`, a contiguous int32 array of at least n."""
    cdef Py_buffer view
    PyObject_GetBuffer(heads, &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    cdef bint fits = view.ndim == 1 and view.shape[0] >= n and view.format[0] == b"i" and view.format[1] == 0
    cdef int32_t* room = <int32_t*>view.buf
    PyBuffer_Release(&view)
    if not fits:
        raise TypeError(f"not a writable, contiguous int32 array of at least {n} heads")
    return room


def is_readable(array):
    """Whether the core can read this array: (n, n+1), float32 or float64, native, aligned, with any strides."""
    cdef Sentence sentence
    return _read(array, &sentence)


def decode(scores, heads, bint single_root=True, bint projective=False):
    """Write the heads of the best tree of one sentence to `heads`, int32, (n,). Return a Fault if there is none.

    scores[i, j] is the score of head j (0 = ROOT) for token i+1. `is_readable` must be true of the array.
    `single_root`: whether exactly one token must have ROOT as its head. `projective`: whether to consider only trees
    without crossing arcs. After a fault, the heads are undefined.
    """
    cdef Sentence sentence = _sentence(scores)
    cdef CFault fault
    sentence.heads = _room(heads, sentence.n)
    with nogil:
        fault = _decode(sentence, single_root, projective)
    return _fault(fault, 0) if <int>fault.kind else None


def greedy_heads(scores, heads):
    """Write the best head of each token to `heads`. They need not form a tree. Otherwise like `decode`."""
    cdef Sentence sentence = _sentence(scores)
    cdef CFault fault
    sentence.heads = _room(heads, sentence.n)
    with nogil:
        fault = _greedy_graph(sentence)
    return _fault(fault, 0) if <int>fault.kind else None


def k_best(scores, size_t k, bint single_root=True, bint projective=False):
    """Return the heads of the k best trees of one sentence, or of all trees if there are fewer, best first.

    They are the bytes of int32 (trees, n); or a Fault says why there is no tree. The arguments are as for `decode`, the
    sentence has at least one token, and k is at least 1.
    """
    cdef Sentence sentence = _sentence(scores)
    cdef CFault fault
    cdef vector[int32_t] trees
    with nogil:
        fault = _k_best(sentence, k, single_root, projective, trees)
    if <int>fault.kind:
        return _fault(fault, 0)
    return bytearray((<char*>trees.data())[:trees.size() * sizeof(int32_t)])


cdef Py_ssize_t _place(vector[Sentence]& sentences, object heads) except -1:
    """Let the heads of all sentences lie end to end in one array. Returns the number of tokens."""
    cdef size_t k
    cdef Py_ssize_t tokens = 0
    for k in range(sentences.size()):
        tokens += sentences[k].n
    cdef int32_t* room = _room(heads, tokens)
    for k in range(sentences.size()):
        sentences[k].heads = room
        room += sentences[k].n
    return tokens


cdef Py_ssize_t _read_all(list matrices, object heads, vector[Sentence]& sentences) except -1:
    """Read a batch, whose heads lie end to end. Returns the number of tokens."""
    sentences.reserve(len(matrices))
    for matrix in matrices:
        sentences.push_back(_sentence(matrix))
    return _place(sentences, heads)


cdef list _decode_sentences(vector[Sentence]& sentences, bint single_root, bint projective, int n_threads):
    cdef vector[CFault] faults
    cdef size_t faulty = 0, k
    faults.resize(sentences.size())
    with nogil:
        faulty = _decode_batch(sentences.data(), sentences.size(), single_root, projective, n_threads, faults.data())
    if faulty == 0:
        return []
    return [_fault(faults[k], k) for k in range(faults.size()) if <int>faults[k].kind]


def decode_batch(list matrices, heads, bint single_root=True, int n_threads=1, bint projective=False):
    """Decode a list of matrices, each as for `decode`, and write their heads to `heads`, end to end.

    The sentences are spread over threads. Returns the faults in the order of the sentences, an empty list if there are
    none.
    """
    cdef vector[Sentence] sentences
    _read_all(matrices, heads, sentences)
    return _decode_sentences(sentences, single_root, projective, n_threads)


def best_others(
    list matrices, heads, double[::1] own, double[::1] other, char[::1] found, bint projective=False
):
    """Find the best single-rooted tree of each sentence other than a given one. Return a Fault if memory runs out.

    matrices: each as for `decode`, with a tree. heads, (tokens,): the given trees, int32, end to end. own, other,
    (tokens,): the score of each arc of the given tree and of the other tree is written to them; 0 where they are the
    same. found, (sentences,): whether there is another tree, int8.
    """
    cdef vector[Sentence] sentences
    cdef CFault fault
    cdef Py_ssize_t tokens = _read_all(matrices, heads, sentences)
    if own.shape[0] < tokens or other.shape[0] < tokens or found.shape[0] < <Py_ssize_t>sentences.size():
        raise ValueError("not enough room for the results")
    if tokens == 0:
        return None
    with nogil:
        fault = _best_others(sentences.data(), sentences.size(), projective, &own[0], &other[0], &found[0])
    return _fault(fault, 0) if <int>fault.kind else None


def confidence(
    list matrices, heads, double temperature, double lapse,
    double[::1] head_prob, double[::1] head_entropy, double[::1] tree_logprob, list marginals=None,
    bint projective=False,
):
    """Write the probability and the entropy of each head of given trees, and the log-probability of each tree.

    matrices: each as for `decode`, with a single-rooted tree and no score beyond 2 ** 1000. heads, (tokens,): such a
    tree of each sentence, int32, end to end. temperature, lapse: see confidence.hh. The results are float64: head_prob
    and head_entropy, (tokens,), end to end; tree_logprob, (sentences,); and marginals, the probability of each arc, one
    array (n, n+1) per sentence, or None. projective: whether only trees without crossing arcs count, as the given trees
    must be.
    """
    cdef vector[Sentence] sentences
    cdef vector[double*] all_arcs
    cdef Mixture mixture
    cdef Py_ssize_t tokens = _read_all(matrices, heads, sentences), k
    cdef double[:, ::1] room
    cdef double** targets = NULL
    if min(head_prob.shape[0], head_entropy.shape[0]) < tokens or tree_logprob.shape[0] < <Py_ssize_t>len(matrices):
        raise ValueError("not enough room for the results")
    if tokens == 0:
        for k in range(len(matrices)):
            tree_logprob[k] = 0
        return
    if marginals is not None:
        for k in range(len(matrices)):
            room = marginals[k]
            if room.shape[0] != sentences[k].n or room.shape[1] != sentences[k].n + 1:
                raise ValueError("not enough room for the marginals")
            all_arcs.push_back(&room[0, 0] if sentences[k].n else NULL)
        targets = all_arcs.data()
    mixture.temperature, mixture.lapse, mixture.projective = temperature, lapse, projective
    with nogil:
        _confidence_batch(
            sentences.data(), sentences.size(), mixture, &head_prob[0], &head_entropy[0], &tree_logprob[0], targets
        )


def measure(const int64_t[::1] lengths):
    """Return the number of tokens and of arc scores (at most 2^62) of sentences of these lengths.

    Returns None if a length is out of range.
    """
    cdef int64_t tokens = 0, scores = 0, most = <int64_t>1 << 62
    cdef Py_ssize_t k
    for k in range(lengths.shape[0]):
        if not 0 <= lengths[k] < MOST_TOKENS:
            return None
        tokens += lengths[k]
        scores = min(most, scores + lengths[k] * (lengths[k] + 1))
    return tokens, scores


def decode_flat(
    const real[:] flat, const int64_t[::1] lengths, heads, bint single_root=True, int n_threads=1,
    bint projective=False,
):
    """Like `decode_batch`, for matrices that are stored end to end in `flat`. `lengths` holds the n of each."""
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
    return _decode_sentences(sentences, single_root, projective, n_threads)


def is_tree(const int32_t[::1] heads):
    """Whether the heads (0 = ROOT) form a tree, with any number of roots."""
    cdef vector[int] above
    if heads.shape[0] == 0:
        return True
    above.resize(heads.shape[0] + 1)
    return _is_tree(&heads[0], <int>heads.shape[0], above.data())
